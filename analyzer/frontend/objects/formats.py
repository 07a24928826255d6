"""The formats of object files: ELF; COFF and Mach-O, which ``conversion.py`` turns into ELF."""

from __future__ import annotations

from cyclelens.analyzer.frontend.objects.elf_format import MAGIC

_MACH_O = b"\xcf\xfa\xed\xfe"
_COFF = b"\x64\x86"
"""IMAGE_FILE_MACHINE_AMD64, the first field of the header."""

_BIG_COFF = bytes.fromhex("c7a1bad1eebaa94baf20faf66aa4dcb8")
"""Class of a /bigobj header (``bigobj`` in LLVM's ``COFF.h``)."""


def is_object(data: bytes) -> bool:
    """Whether a file's content is machine code in a format that ``as_elf`` takes."""
    return data.startswith(MAGIC) or any(
        known(data) for known in (is_mach_o, is_fat, is_coff, is_big_coff, is_windows_program)
    )


def is_mach_o(data: bytes) -> bool:
    """Whether a file's content begins as a 64-bit Mach-O file."""
    return data.startswith(_MACH_O)


def is_coff(data: bytes) -> bool:
    """The machine, a whole header, and no optional header, which only programs have."""
    return data.startswith(_COFF) and len(data) >= 20 and data[16:18] == b"\0\0"


def is_big_coff(data: bytes) -> bool:
    """A COFF object with more sections than the ordinary header counts (``/bigobj``)."""
    return data.startswith(b"\0\0\xff\xff") and data[12:28] == _BIG_COFF


def is_fat(data: bytes) -> bool:
    """A Mach-O file for several processors; Java's classes begin with the same bytes, and then have a
    version of at least 45."""
    return data.startswith(b"\xca\xfe\xba\xbe") and len(data) >= 8 and int.from_bytes(data[4:8], "big") < 45


def is_windows_program(data: bytes) -> bool:
    """A program or library for Windows (PE)."""
    start = int.from_bytes(data[0x3C:0x40], "little")
    return data.startswith(b"MZ") and data[start : start + 4] == b"PE\0\0"
