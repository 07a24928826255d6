"""The formats of object files: ELF, and objects in COFF and Mach-O, which are turned into ELF."""

from __future__ import annotations

from cyclelens.analyzer.frontend.objects.elf_format import MAGIC


def is_object(data: bytes) -> bool:
    """Whether a file's content is machine code in a format that ``elf_of`` takes."""
    return data.startswith((MAGIC, _MACH_O)) or _is_coff(data)


def as_elf(data: bytes) -> bytes:
    """An object file as ELF; other content stays as it is. Raises ``ObjectFileError`` if it is damaged, or
    not for x86-64."""
    if data.startswith(_MACH_O):
        from cyclelens.analyzer.frontend.objects.mach_o import elf_of_mach_o

        return elf_of_mach_o(data)
    if _is_coff(data):
        from cyclelens.analyzer.frontend.objects.coff import elf_of_coff

        return elf_of_coff(data)
    return data


_MACH_O = b"\xcf\xfa\xed\xfe"
_COFF = b"\x64\x86"
"""IMAGE_FILE_MACHINE_AMD64, the first field of the header."""


def _is_coff(data: bytes) -> bool:
    """The machine, a whole header, and no optional header, which only programs have."""
    return data.startswith(_COFF) and len(data) >= 20 and data[16:18] == b"\0\0"
