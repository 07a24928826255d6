"""Reads COFF objects, as compilers for Windows write them ("PE Format", Microsoft; for ``/bigobj``,
``ANON_OBJECT_HEADER_BIGOBJ`` of ``winnt.h``).

Only objects: programs and libraries for Windows have their symbols and lines in other files.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence

from cyclelens.analyzer.frontend.objects.code_view import with_code_view
from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError, text_at
from cyclelens.analyzer.frontend.objects.elf_writer import (
    ABSOLUTE_32,
    ABSOLUTE_64,
    RELATIVE_32,
    ForeignRelocation,
    ForeignSection,
    ForeignSymbol,
    elf_object,
)
from cyclelens.analyzer.frontend.objects.formats import is_big_coff

_HEADER = struct.Struct("<HHIIIHH")
_SECTION = struct.Struct("<8sIIIIIIHHI")
_BIG_HEADER = struct.Struct("<HHHHI16sIIIIIII")
_SYMBOL, _BIG_SYMBOL = struct.Struct("<8sIhHBB"), struct.Struct("<8sIiHBB")
_RELOCATION = struct.Struct("<IIH")
_CODE, _NO_BYTES, _MORE_RELOCATIONS, _DISCARDED, _LEFT_OUT = 0x20, 0x80, 0x01000000, 0x02000000, 0x800
_EXTERNAL, _STATIC, _FUNCTION = 2, 3, 0x20
_ADDR64, _ADDR32, _ADDR32NB, _REL32, _REL32_5, _SECREL = 1, 2, 3, 4, 9, 0xB
_ALIGNED_BY_DEFAULT = 16
_AMD64 = 0x8664


def elf_of_coff(data: bytes) -> bytes:
    """The object as an ELF object. Raises ``ObjectFileError``."""
    try:
        if is_big_coff(data):
            *_, count, symbols_at, symbol_count = _BIG_HEADER.unpack_from(data)
            machine, first, entry = _BIG_HEADER.unpack_from(data)[3], _BIG_HEADER.size, _BIG_SYMBOL
            if machine != _AMD64:
                raise ObjectFileError("this is COFF code for another processor; only 64-bit x86 is analysed")
        else:
            _, count, _, symbols_at, symbol_count, _, _ = _HEADER.unpack_from(data)
            first, entry = _HEADER.size, _SYMBOL
        strings = _strings(data, symbols_at, symbol_count, entry)
        headers = [_SECTION.unpack_from(data, first + number * _SECTION.size) for number in range(count)]
        numbers, symbols = _symbols(data, symbols_at, symbol_count, strings, entry)
        sections = [_section(data, header, strings) for header in headers]
        relocations = [
            each
            for number, header in enumerate(headers, 1)
            for each in _relocations(data, number, header, sections[number - 1], numbers)
        ]
    except (struct.error, IndexError, KeyError):
        raise ObjectFileError(
            "the file is damaged: its tables of sections, symbols and relocations contradict each other"
        ) from None
    symbols += _tables(sections, relocations)
    if not any(section.name == ".debug_info" for section in sections):
        return elf_object(*with_code_view(sections, symbols, relocations))
    return elf_object(sections, symbols, relocations)


def _tables(
    sections: Sequence[ForeignSection], relocations: Iterable[ForeignRelocation]
) -> Iterator[ForeignSymbol]:
    """Jump tables within code, as data: addresses side by side. Two fields of instructions are never so close
    together."""
    runs: list[list[int]] = []
    """Section, first offset, offset behind the last, number of fields."""
    for each in sorted(relocations, key=lambda field: (field.section, field.offset)):
        width = {ABSOLUTE_32: 4, ABSOLUTE_64: 8}.get(each.kind)
        if width is None or not sections[each.section - 1].is_code:
            continue
        if not runs or [each.section, each.offset] != [runs[-1][0], runs[-1][2]]:
            runs.append([each.section, each.offset, each.offset, 0])
        runs[-1][2:] = [each.offset + width, runs[-1][3] + 1]
    for section, start, end, fields in runs:
        if fields > 1:
            yield ForeignSymbol("", section, start, end - start, is_data=True)


def section_of(
    data: bytes, header: tuple[bytes | int, ...], symbols_at: int, symbol_count: int
) -> ForeignSection:
    """A section of a program, by its header and the place of the symbols."""
    return _section(data, header, _strings(data, symbols_at, symbol_count, _SYMBOL))


def symbols_of(data: bytes, symbols_at: int, symbol_count: int) -> list[ForeignSymbol]:
    """The symbols of a program. Raises ``struct.error`` if they are not in the file."""
    if not symbols_at:
        return []
    return _symbols(
        data, symbols_at, symbol_count, _strings(data, symbols_at, symbol_count, _SYMBOL), _SYMBOL
    )[1]


def _strings(data: bytes, symbols_at: int, symbol_count: int, entry: struct.Struct) -> bytes:
    return data[symbols_at + symbol_count * entry.size :] if symbols_at else b""


def _section(data: bytes, header: tuple[bytes | int, ...], strings: bytes) -> ForeignSection:
    raw, _, _, size, start, _, _, _, _, flags = header
    assert isinstance(raw, bytes) and isinstance(size, int) and isinstance(start, int)
    assert isinstance(flags, int)
    name = raw.rstrip(b"\0").decode("utf-8", "replace")
    if name.startswith("/") and name[1:].isdecimal():
        name = text_at(strings, int(name[1:]))
    has_bytes = start != 0 and not flags & _NO_BYTES
    content = data[start : start + size] if has_bytes else b""
    if has_bytes and len(content) < size:
        raise ObjectFileError("the file is damaged: it ends within a section; is the copy complete?")
    exponent = flags >> 20 & 15
    is_loaded = not flags & (_DISCARDED | _LEFT_OUT)
    alignment = 1 << exponent - 1 if exponent else _ALIGNED_BY_DEFAULT
    return ForeignSection(name, content, size, alignment, bool(flags & _CODE), is_loaded)


def _symbols(
    data: bytes, start: int, count: int, strings: bytes, entry: struct.Struct
) -> tuple[dict[int, int], list[ForeignSymbol]]:
    """Index in the list by number in the table, and the symbols."""
    numbers: dict[int, int] = {}
    found: list[ForeignSymbol] = []
    number = 0
    while number < count:
        raw, value, section, kind, storage, further = entry.unpack_from(data, start + number * entry.size)
        if raw.startswith(b"\0\0\0\0"):
            name = text_at(strings, int.from_bytes(raw[4:], "little"))
        else:
            name = raw.rstrip(b"\0").decode("utf-8", "replace")
        numbers[number] = len(found)
        is_section = storage == _STATIC and further and value == 0 and kind != _FUNCTION
        found.append(
            ForeignSymbol(
                "" if is_section else name,
                max(section, 0),
                value if section > 0 else 0,
                is_function=kind == _FUNCTION and section > 0,
                is_global=storage == _EXTERNAL,
            )
        )
        number += 1 + further
    return numbers, found


def _relocations(
    data: bytes,
    number: int,
    header: tuple[bytes | int, ...],
    section: ForeignSection,
    numbers: dict[int, int],
) -> Iterator[ForeignRelocation]:
    start, count, flags = header[5], header[7], header[9]
    assert isinstance(start, int) and isinstance(count, int) and isinstance(flags, int)
    if flags & _MORE_RELOCATIONS and count == 0xFFFF:
        count = int.from_bytes(data[start : start + 4], "little")
        start, count = start + _RELOCATION.size, count - 1
    for each in range(count):
        offset, symbol, kind = _RELOCATION.unpack_from(data, start + each * _RELOCATION.size)
        width = 8 if kind == _ADDR64 else 4
        inside = int.from_bytes(section.content[offset : offset + width], "little", signed=True)
        index = numbers[symbol]
        if _REL32 <= kind <= _REL32_5:
            # The distance counts from the instruction's end, which is up to five bytes behind the field.
            addend = inside - 4 - (kind - _REL32)
            yield ForeignRelocation(number, offset, RELATIVE_32, index, addend)
        elif kind == _ADDR64:
            yield ForeignRelocation(number, offset, ABSOLUTE_64, index, inside)
        elif kind in (_ADDR32, _ADDR32NB, _SECREL):
            yield ForeignRelocation(number, offset, ABSOLUTE_32, index, inside)
