"""Turns the source lines of CodeView, in the sections ``.debug$S`` of COFF objects, into DWARF, which
``line_tables.py`` reads.

Layouts: ``cvinfo.h`` of Microsoft's microsoft-pdb and "CodeView Line Tables" of LLVM's documents for
CodeView, "DWARF Debugging Information Format, Version 4" for DWARF. A piece of code with lines becomes a
compilation unit.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence

from cyclelens.analyzer.frontend.objects.elf_format import text_at
from cyclelens.analyzer.frontend.objects.elf_writer import (
    ABSOLUTE_64,
    ForeignRelocation,
    ForeignSection,
    ForeignSymbol,
)
from cyclelens.analyzer.frontend.statements.directives import leb128
from msgspec import Struct

_SIGNATURE = b"\4\0\0\0"
_SUBSECTION = struct.Struct("<II")
_LINES, _STRINGS, _FILES = 0xF2, 0xF3, 0xF4
_LINES_HEADER = struct.Struct("<IHHI")
_BLOCK = struct.Struct("<III")
_LINE = struct.Struct("<II")
_COLUMNS = struct.Struct("<HH")
_WITH_COLUMNS = 0x1
_LINE_NUMBER = 0xFFFFFF
_NO_LINE = 0xF00000
"""Line numbers from here on say that a debugger should step over or into the code."""

_ABBREVIATIONS = bytes([1, 0x11, 0, 0x10, 0x17, 0x11, 0x01, 0x12, 0x06, 0, 0, 0])
"""DW_TAG_compile_unit without children: stmt_list (sec_offset), low_pc (addr), high_pc (data4)."""
_OPERANDS = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1])
"""Number of operands of the standard opcodes 1 to 9."""
_COPY, _ADVANCE, _ADVANCE_LINE, _SET_FILE, _SET_COLUMN = 1, 2, 3, 4, 5
_END, _SET_ADDRESS = b"\0\1\1", b"\0\x09\2"


class _CodeViewPiece(Struct, frozen=True):
    """A contiguous piece of code with lines."""

    section: int
    """Number of the section with the field for the address."""
    field: int
    """Offset of that field."""
    size: int
    rows: tuple[tuple[int, int, int, int], ...]
    """Offset in the piece, number of the file in the object's table, line from 1, column from 1 or 0."""


def with_code_view(
    sections: Sequence[ForeignSection],
    symbols: Sequence[ForeignSymbol],
    relocations: Iterable[ForeignRelocation],
) -> tuple[list[ForeignSection], list[ForeignSymbol], list[ForeignRelocation]]:
    """The parts of an object with its lines as DWARF. Damaged line information is left out."""
    parts = list(sections), list(symbols), list(relocations)
    try:
        return _with_lines(*parts)
    except (struct.error, IndexError, ValueError):
        return parts


def _with_lines(
    sections: list[ForeignSection], symbols: list[ForeignSymbol], relocations: list[ForeignRelocation]
) -> tuple[list[ForeignSection], list[ForeignSymbol], list[ForeignRelocation]]:
    names: dict[int, str] = {}
    pieces: list[_CodeViewPiece] = []
    for number, section in enumerate(sections, 1):
        if section.name == ".debug$S" and section.content.startswith(_SIGNATURE):
            parts = list(_subsections(section.content))
            names = names or _names(section.content, parts)
            for kind, start, end in parts:
                if kind == _LINES:
                    pieces.append(_piece(section.content, number, start, end))
    fields = {(each.section, each.offset): each for each in relocations}
    info, lines = bytearray(), bytearray()
    added: list[ForeignRelocation] = []
    first = len(sections) + 1
    for piece in pieces:
        target = fields.get((piece.section, piece.field))
        if target is None or not piece.rows:
            continue
        unit = struct.pack("<HIBBIQI", 4, 0, 8, 1, len(lines), 0, piece.size) + b"\0"
        places = [(first + 1, len(info) + 4 + 12)]
        program, place = _program(piece, names)
        places.append((first + 2, len(lines) + place))
        info += struct.pack("<I", len(unit)) + unit
        lines += program
        for section_number, offset in places:
            added.append(
                ForeignRelocation(
                    section_number, offset, ABSOLUTE_64, target.symbol, target.addend, target.target
                )
            )
    made = [(".debug_abbrev", _ABBREVIATIONS), (".debug_info", bytes(info)), (".debug_line", bytes(lines))]
    tables = [
        ForeignSection(name, content, len(content), 1, is_code=False, is_loaded=False)
        for name, content in made
    ]
    return [*sections, *tables] if info else sections, symbols, [*relocations, *added]


def _subsections(content: bytes) -> Iterator[tuple[int, int, int]]:
    """Kind, start and end of each."""
    at = len(_SIGNATURE)
    while at + _SUBSECTION.size <= len(content):
        kind, size = _SUBSECTION.unpack_from(content, at)
        at += _SUBSECTION.size
        yield kind, at, min(at + size, len(content))
        at += size + -size % 4


def _names(content: bytes, parts: Iterable[tuple[int, int, int]]) -> dict[int, str]:
    """Names of the files by their offset in the table of files, which is in one section per object."""
    places = {kind: (start, end) for kind, start, end in parts}
    if _STRINGS not in places or _FILES not in places:
        return {}
    strings = content[slice(*places[_STRINGS])]
    start, end = places[_FILES]
    found, at = {}, start
    while at + 6 <= end:
        name, size = struct.unpack_from("<IB", content, at)
        found[at - start] = text_at(strings, name)
        at += 6 + size + -(6 + size) % 4
    return found


def _piece(content: bytes, section: int, start: int, end: int) -> _CodeViewPiece:
    _, _, flags, size = _LINES_HEADER.unpack_from(content, start)
    rows: list[tuple[int, int, int, int]] = []
    at = start + _LINES_HEADER.size
    while at + _BLOCK.size <= end:
        file, count, length = _BLOCK.unpack_from(content, at)
        if length < _BLOCK.size:
            raise ValueError("a block of lines has no length")
        columns = at + _BLOCK.size + count * _LINE.size
        for number in range(min(count, (end - at) // _LINE.size)):
            offset, packed = _LINE.unpack_from(content, at + _BLOCK.size + number * _LINE.size)
            column = 0
            if flags & _WITH_COLUMNS:
                column, _ = _COLUMNS.unpack_from(content, columns + number * _COLUMNS.size)
            line = packed & _LINE_NUMBER
            rows.append((offset, file, 0 if line >= _NO_LINE else line, column))
        at += length
    return _CodeViewPiece(section, start, size, tuple(sorted(rows)))


def _program(piece: _CodeViewPiece, names: dict[int, str]) -> tuple[bytes, int]:
    """A line program, and the offset of its address in it."""
    files = list(dict.fromkeys(file for _, file, _, _ in piece.rows))
    listed = b"".join(names.get(file, "?").encode("utf-8", "replace") + b"\0\0\0\0" for file in files)
    # Shortest instruction, operations in one, statements by default, no special opcodes, no folders.
    header = bytes([1, 1, 1, 0, 1, len(_OPERANDS) + 1]) + _OPERANDS + b"\0" + listed + b"\0"
    code = bytearray(_SET_ADDRESS + bytes(8))
    place, line = 0, 1
    for offset, file, wanted, column in piece.rows:
        code += bytes([_ADVANCE]) + leb128("uleb128", max(offset - place, 0))
        code += bytes([_SET_FILE]) + leb128("uleb128", files.index(file) + 1)
        code += bytes([_SET_COLUMN]) + leb128("uleb128", column)
        code += bytes([_ADVANCE_LINE]) + leb128("sleb128", wanted - line) + bytes([_COPY])
        place, line = max(offset, place), wanted
    code += bytes([_ADVANCE]) + leb128("uleb128", max(piece.size - place, 0)) + _END
    front = struct.pack("<HI", 4, len(header)) + header
    whole = struct.pack("<I", len(front) + len(code)) + front
    return whole + bytes(code), len(whole) + len(_SET_ADDRESS)
