"""Turns objects in COFF and Mach-O into ELF."""

from __future__ import annotations

from cyclelens.analyzer.frontend.objects.coff import elf_of_coff
from cyclelens.analyzer.frontend.objects.formats import is_coff, is_mach_o
from cyclelens.analyzer.frontend.objects.mach_o import elf_of_mach_o


def as_elf(data: bytes) -> bytes:
    """An object file as ELF; other content stays as it is. Raises ``ObjectFileError`` if it is damaged, or
    not for x86-64."""
    if is_mach_o(data):
        return elf_of_mach_o(data)
    if is_coff(data):
        return elf_of_coff(data)
    return data
