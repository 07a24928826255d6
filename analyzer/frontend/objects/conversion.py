"""Turns COFF, programs for Windows, and Mach-O into ELF."""

from __future__ import annotations

import struct

from cyclelens.analyzer.frontend.objects.coff import elf_of_coff
from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError
from cyclelens.analyzer.frontend.objects.formats import (
    is_big_coff,
    is_coff,
    is_fat,
    is_mach_o,
    is_windows_program,
)
from cyclelens.analyzer.frontend.objects.mach_o import elf_of_mach_o, x86_64_of
from cyclelens.analyzer.frontend.objects.windows_program import elf_of_windows_program


def as_elf(data: bytes) -> bytes:
    """An object or a program as ELF; other content stays as it is. Raises ``ObjectFileError`` if it is
    damaged, or not for x86-64."""
    if is_fat(data):
        data = x86_64_of(data)
    try:
        if is_mach_o(data):
            return elf_of_mach_o(data)
        if is_coff(data) or is_big_coff(data):
            return elf_of_coff(data)
        if is_windows_program(data):
            return elf_of_windows_program(data)
    except struct.error:
        raise ObjectFileError("the file is damaged: a number in its tables is too large") from None
    return data
