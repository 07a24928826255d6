"""Reads programs and libraries for Windows ("PE Format", Microsoft).

Their functions are those that they export, those of their symbol table (MinGW writes one), and those with an
entry for unwinding, which have an address instead of a name. Source lines are in a separate file (``.pdb``).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from cyclelens.analyzer.frontend.objects.coff import section_of, symbols_of
from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError, text_at
from cyclelens.analyzer.frontend.objects.elf_writer import ForeignSection, ForeignSymbol, elf_object
from msgspec.structs import replace

_HEADER = struct.Struct("<4sHHIIIHH")
_OPTIONAL_64 = 0x20B
_IMAGE_BASE, _DIRECTORIES = 24, 108
"""Offsets in the optional header."""
_SECTION = struct.Struct("<8sIIIIIIHHI")
_EXPORTS, _UNWINDING = 0, 3
_EXPORT_TABLE = struct.Struct("<IIHHIIIIIII")
_UNWOUND = struct.Struct("<III")
_CHAINED = 0x4
_AMD64 = 0x8664
_MOST_EXPORTS = 1_000_000


def elf_of_windows_program(data: bytes) -> bytes:
    """The program as an ELF program. Raises ``ObjectFileError``."""
    start = int.from_bytes(data[0x3C:0x40], "little")
    try:
        _, machine, count, _, symbols_at, symbol_count, size, _ = _HEADER.unpack_from(data, start)
        optional = start + _HEADER.size
        if machine != _AMD64 or struct.unpack_from("<H", data, optional)[0] != _OPTIONAL_64:
            raise ObjectFileError(
                "this is a Windows program for another processor; only 64-bit x86 is analysed"
            )
        (base,) = struct.unpack_from("<Q", data, optional + _IMAGE_BASE)
        directories = [
            struct.unpack_from("<II", data, optional + _DIRECTORIES + 4 + 8 * number)
            for number in range(min(struct.unpack_from("<I", data, optional + _DIRECTORIES)[0], 16))
        ]
        headers = [
            _SECTION.unpack_from(data, optional + size + number * _SECTION.size) for number in range(count)
        ]
        sections = [_section(data, header, base, symbols_at, symbol_count) for header in headers]
        image = _WindowsImage(sections, base)
        symbols = [
            replace(symbol, value=symbol.value + (sections[symbol.section - 1].address or 0))
            for symbol in symbols_of(data, symbols_at, symbol_count)
            if 0 < symbol.section <= len(sections)
        ]
        symbols += image.exported(*directories[_EXPORTS]) if len(directories) > _EXPORTS else ()
        known = {symbol.value for symbol in symbols if symbol.name}
        unwound = list(image.unwound(*directories[_UNWINDING])) if len(directories) > _UNWINDING else []
    except (struct.error, IndexError):
        raise ObjectFileError("the file is damaged: its headers and tables contradict each other") from None
    symbols += [symbol for symbol in unwound if symbol.value not in known]
    # The linker's marks of empty tables lie where a function begins.
    functions = {symbol.value for symbol in symbols if symbol.is_function}
    symbols = [symbol for symbol in symbols if symbol.is_function or symbol.value not in functions]
    return elf_object(sections, symbols, ())


def _section(
    data: bytes, header: tuple[bytes | int, ...], base: int, symbols_at: int, symbol_count: int
) -> ForeignSection:
    found = section_of(data, header, symbols_at, symbol_count)
    virtual_size, address, flags = header[1], header[2], header[9]
    assert isinstance(virtual_size, int) and isinstance(address, int) and isinstance(flags, int)
    content = found.content[:virtual_size] if virtual_size else found.content
    return replace(found, content=content, size=len(content) or virtual_size, address=base + address)


class _WindowsImage:
    """The program in memory."""

    def __init__(self, sections: Sequence[ForeignSection], base: int) -> None:
        self._sections = sections
        self._base = base

    def _read(self, address: int, size: int) -> bytes:
        """Bytes at an address relative to the base. Raises IndexError if they are not in the file."""
        for section in self._sections:
            start = self._base + address - (section.address or 0)
            if 0 <= start <= len(section.content) - size:
                return section.content[start : start + size]
        raise IndexError

    def _text(self, address: int) -> str:
        for section in self._sections:
            start = self._base + address - (section.address or 0)
            if 0 <= start < len(section.content):
                return text_at(section.content, start)
        return ""

    def _place(self, address: int) -> tuple[int, int] | None:
        """Number of the section with code that contains a relative address, and the address; None if none
        does."""
        for number, section in enumerate(self._sections, 1):
            if section.is_code and 0 <= self._base + address - (section.address or 0) < len(section.content):
                return number, self._base + address
        return None

    def exported(self, table: int, size: int) -> Iterator[ForeignSymbol]:
        """The exported functions; those forwarded to another library are left out."""
        if not size:
            return
        *_, functions, names, places, names_at, numbers_at = _EXPORT_TABLE.unpack(
            self._read(table, _EXPORT_TABLE.size)
        )
        if max(functions, names) > _MOST_EXPORTS:
            raise IndexError
        addresses = [each for (each,) in struct.iter_unpack("<I", self._read(places, 4 * functions))]
        listed = struct.iter_unpack("<I", self._read(names_at, 4 * names))
        numbers = struct.iter_unpack("<H", self._read(numbers_at, 2 * names))
        for (name,), (number,) in zip(listed, numbers, strict=True):
            if place := self._place(addresses[number]):
                yield ForeignSymbol(self._text(name), *place, is_function=True, is_global=True)

    def unwound(self, table: int, size: int) -> Iterator[ForeignSymbol]:
        """The functions with an entry for unwinding, named by their address; a part of another function has a
        chained entry."""
        if not size:
            return
        for begin, end, details in _UNWOUND.iter_unpack(self._read(table, size - size % _UNWOUND.size)):
            place = self._place(begin)
            if place and end > begin and not self._read(details, 1)[0] >> 3 & _CHAINED:
                name = f"{place[1]:#x}"
                yield ForeignSymbol(name, *place, end - begin, is_function=True)
