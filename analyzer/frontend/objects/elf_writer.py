"""Writes the parts of a COFF or Mach-O object, of a disassembly, or of plain machine code as an ELF object,
which all further code reads.

COFF and Mach-O hold the same things in another layout: sections, symbols and relocations, and DWARF in
sections of its own. So there is one reader of functions, loops and lines, and one place for every rule about
them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from cyclelens.analyzer.frontend.objects.elf_format import FUNCTION, NOTYPE, OBJECT, SYMBOL, ObjectFileError
from msgspec import Struct

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_RELOCATION = struct.Struct("<QQq")
_PROGBITS, _SYMBOLS, _STRINGS, _RELOCATIONS, _NO_BYTES = 1, 2, 3, 4, 8
_WRITABLE_DATA, _CODE = 0x3, 0x6
_RELOCATABLE, _PROGRAM, _X86_64 = 1, 2, 62
_SECTION_SYMBOL = 3
MAXIMUM_SECTIONS = 30_000
"""ELF counts its sections, and those of their relocations, in 16 bits."""
ABSOLUTE_64, RELATIVE_32, ABSOLUTE_32 = 1, 2, 10
"""R_X86_64_64, R_X86_64_PC32 and R_X86_64_32."""


class ForeignSection(Struct, frozen=True):
    """A section of an object."""

    name: str
    content: bytes
    """Empty for data without bytes in the file."""
    size: int
    alignment: int
    is_code: bool
    is_loaded: bool
    """It is in memory when the program runs; false for line information."""
    address: int | None = None
    """Of a program's section; None in an object."""


class ForeignSymbol(Struct, frozen=True):
    """A symbol of an object."""

    name: str
    section: int
    """Number of its section, from 1; 0 if another file defines it."""
    value: int
    """Offset in the section; in a program, the address."""
    size: int = 0
    is_function: bool = False
    is_data: bool = False
    is_global: bool = False


class ForeignRelocation(Struct, frozen=True):
    """A field that a linker fills in, with the meaning of ELF."""

    section: int
    """Number of the section with the field, from 1."""
    offset: int
    kind: int
    symbol: int | None
    """Index in the list of symbols; None: the beginning of ``target``."""
    addend: int
    target: int = 0
    """Number of the section that the field refers to, if there is no symbol."""


def elf_object(
    sections: Sequence[ForeignSection],
    symbols: Sequence[ForeignSymbol],
    relocations: Iterable[ForeignRelocation],
) -> bytes:
    """An ELF object with these parts, in this order; a program if the sections have addresses. Symbols and
    sections must exist where one refers to them; otherwise ELF's reader says that the file is damaged. Raises
    ``ObjectFileError`` if there are more sections than ELF counts."""
    strings, names = bytearray(b"\0"), bytearray(b"\0")

    def put(pool: bytearray, text: str) -> int:
        start = len(pool)
        pool += text.encode("utf-8", "replace") + b"\0"
        return start

    if len(sections) > MAXIMUM_SECTIONS:
        raise ObjectFileError(
            f"the object has {len(sections):,} sections; at most {MAXIMUM_SECTIONS:,} are read"
        )
    relocations = list(relocations)
    table = bytearray(SYMBOL.size)
    for symbol in symbols:
        kind = FUNCTION if symbol.is_function else OBJECT if symbol.is_data else NOTYPE
        value, size = symbol.value % (1 << 64), symbol.size
        table += SYMBOL.pack(
            put(strings, symbol.name), symbol.is_global << 4 | kind, 0, symbol.section, value, size
        )
    beginnings: dict[int, int] = {}
    """Number of the symbol of a section."""
    for target in sorted({each.target for each in relocations if each.symbol is None}):
        beginnings[target] = len(table) // SYMBOL.size
        table += SYMBOL.pack(0, _SECTION_SYMBOL, 0, target, 0, 0)
    fields: dict[int, bytearray] = {}
    for each in relocations:
        number = beginnings[each.target] if each.symbol is None else 1 + each.symbol
        fields.setdefault(each.section, bytearray()).extend(
            _RELOCATION.pack(each.offset, number << 32 | each.kind, each.addend)
        )
    rows = [
        (
            put(names, section.name),
            _PROGBITS if section.content or not section.size else _NO_BYTES,
            (_CODE if section.is_code else _WRITABLE_DATA) if section.is_loaded else 0,
            section.content,
            section.size,
            (0, 0, section.alignment, 0),
            section.address or 0,
        )
        for section in sections
    ]
    where = len(sections) + 1
    rows.append(
        (put(names, ".symtab"), _SYMBOLS, 0, bytes(table), len(table), (where + 1, 1, 8, SYMBOL.size), 0)
    )
    rows.append((put(names, ".strtab"), _STRINGS, 0, bytes(strings), len(strings), (0, 0, 1, 0), 0))
    for number, entries in fields.items():
        heading = put(names, f".rela{sections[number - 1].name}")
        details = (where, number, 8, _RELOCATION.size)
        rows.append((heading, _RELOCATIONS, 0, bytes(entries), len(entries), details, 0))
    name = put(names, ".shstrtab")
    rows.append((name, _STRINGS, 0, bytes(names), len(names), (0, 0, 1, 0), 0))
    place, headers = _HEADER.size, bytearray(_SECTION.size)
    for name, kind, flags, content, size, (link, info, alignment, entry), address in rows:
        headers += _SECTION.pack(name, kind, flags, address, place, size, link, info, alignment, entry)
        place += len(content)
    identity = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    sizes = (_HEADER.size, 0, 0, _SECTION.size, len(rows) + 1, len(rows))
    is_program = any(section.address is not None for section in sections)
    kind = _PROGRAM if is_program else _RELOCATABLE
    header = _HEADER.pack(identity, kind, _X86_64, 1, 0, 0, place, 0, *sizes)
    return b"".join((header, *(row[3] for row in rows), headers))
