"""The formats of object files: ELF; objects in COFF and Mach-O, which ``conversion.py`` turns into ELF."""

from __future__ import annotations

from cyclelens.analyzer.frontend.objects.elf_format import MAGIC

_MACH_O = b"\xcf\xfa\xed\xfe"
_COFF = b"\x64\x86"
"""IMAGE_FILE_MACHINE_AMD64, the first field of the header."""


def is_object(data: bytes) -> bool:
    """Whether a file's content is machine code in a format that ``as_elf`` takes."""
    return data.startswith(MAGIC) or is_mach_o(data) or is_coff(data)


def is_mach_o(data: bytes) -> bool:
    """Whether a file's content begins as a 64-bit Mach-O file."""
    return data.startswith(_MACH_O)


def is_coff(data: bytes) -> bool:
    """The machine, a whole header, and no optional header, which only programs have."""
    return data.startswith(_COFF) and len(data) >= 20 and data[16:18] == b"\0\0"
