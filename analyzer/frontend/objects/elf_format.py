"""ELF headers, sections and symbols, and the errors for damaged files."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from msgspec import Struct

MAGIC = b"\x7fELF"
_HEADER_SIZE = 64
_ELF64, _X86_64 = 2, 62
_OTHER_MACHINES = {3: "32-bit x86", 8: "MIPS", 20: "PowerPC", 21: "PowerPC", 40: "ARM", 183: "AArch64"} | {
    243: "RISC-V"
}
NOTYPE, OBJECT, FUNCTION, _INDIRECT = 0, 1, 2, 10
_LOCAL = 0
_SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
"""Name, kind and binding, visibility, section, value, size."""


class ObjectFileError(ValueError):
    """The file, or the function in it, cannot be analysed; the message is for the user."""


class Function(Struct, frozen=True):
    """A named range of code."""

    name: str
    """Symbol as it is in the file; the address if there is none."""
    address: int
    """Address of the first byte in this program's layout."""
    size: int
    """Bytes."""
    origin: int
    """Subtracted from an address to get the one that other programs show."""
    alignment: int
    """The linker places ``origin`` at a multiple of this many bytes; 64 for linked files."""

    @property
    def end(self) -> int:
        """Address after the last byte."""
        return self.address + self.size


class LinePlace(Struct, frozen=True):
    """A place in a source file as the compiler recorded it; line and column are zero-based."""

    file: str
    line: int
    column: int
    inlined: str = ""
    """Inlined function of the system or the compiler, such as ``_mm_add_ps``, that the line calls and the
    instruction comes from."""


class Header(Struct, frozen=True):
    """A section header."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


class ElfSection(Struct, frozen=True):
    index: int
    name: str
    address: int
    origin: int
    alignment: int
    code: bytes

    @property
    def end(self) -> int:
        return self.address + len(self.code)


class Symbol(Struct, frozen=True):
    name: str
    kind: int
    binding: int
    section: int
    value: int
    size: int

    @property
    def is_entry(self) -> bool:
        """Whether the symbol is a function, or an untyped one that is global or has a size."""
        is_plain = self.kind == NOTYPE and (self.binding != _LOCAL or self.size > 0)
        return self.kind in (FUNCTION, _INDIRECT) or is_plain


FOR_LINK_TIME = (
    "an object of -flto, which has no machine code yet: compile without -flto, or give the linked program"
)
FOREIGN_OBJECTS = {
    b"MZ": "a program for DOS or 16-bit Windows: only 64-bit x86 can be analysed",
    b"\0\0\xff\xff": "an object of /GL, which has no machine code yet: compile without /GL, or give the "
    "linked program",
    b"BC\xc0\xde": FOR_LINK_TIME,
    b"\x4c\x01": "a COFF object for 32-bit x86: only 64-bit x86 can be analysed",
    b"\x64\xaa": "a COFF object for AArch64: only 64-bit x86 can be analysed",
}
"""What compilers for macOS and Windows write, by its first bytes."""


def check_header(data: bytes) -> None:
    if not data.startswith(MAGIC):
        foreign = (said for magic, said in FOREIGN_OBJECTS.items() if data.startswith(magic))
        raise ObjectFileError(f"this is {next(foreign, 'not an ELF file')}")
    if len(data) < _HEADER_SIZE:
        raise ObjectFileError("the file is damaged: it ends within its header; is the copy complete?")
    machine = int.from_bytes(data[18:20], "little" if data[5] == 1 else "big")
    if data[4] != _ELF64 or data[5] != 1 or machine != _X86_64:
        other = _OTHER_MACHINES.get(machine)
        if machine == _X86_64:
            other = "x86-64 with 32-bit addresses (x32)"
        raise ObjectFileError(
            f"this is code for {other or 'another processor'}; only 64-bit x86 can be analysed"
        )
    table, size, count = (
        int.from_bytes(data[at : at + width], "little") for at, width in ((0x28, 8), (0x3A, 2), (0x3C, 2))
    )
    if not table:
        raise ObjectFileError("the file has no section headers: its functions cannot be found")
    if size != _SECTION.size:
        raise ObjectFileError("the file is damaged: its section headers have a wrong size")
    if not count and table + size <= len(data):  # more than fit into the field
        count = int.from_bytes(data[table + 0x20 : table + 0x28], "little")
    if table + size * max(count, 1) > len(data):
        raise ObjectFileError(
            "the file is damaged: it ends before its section headers; is the copy complete?"
        )


def section_headers(data: bytes) -> Iterator[Header]:
    """All section headers; ``check_header`` has verified that the table is complete."""
    table, count = int.from_bytes(data[0x28:0x30], "little"), int.from_bytes(data[0x3C:0x3E], "little")
    if not count:
        count = Header(*_SECTION.unpack_from(data, table)).size
    for number in range(count):
        yield Header(*_SECTION.unpack_from(data, table + number * _SECTION.size))


def damaged(error: Exception) -> ObjectFileError:
    detail = str(error).splitlines()[0][:80] if str(error) else ""
    return ObjectFileError(f"the file is damaged ({type(error).__name__}{': ' if detail else ''}{detail})")


def text_at(names: bytes, offset: int) -> str:
    end = names.find(b"\0", offset)
    return names[offset : end if end >= 0 else len(names)].decode("utf-8", "replace")


def whole_entries(content: bytes, entry: struct.Struct) -> bytes:
    """A table without an incomplete last entry."""
    return content[: len(content) // entry.size * entry.size]


def symbol_entry(image: bytes | bytearray, symbols: Header, number: int) -> tuple[int, ...]:
    """Entry of a symbol table. Raises ObjectFileError if there is no such entry."""
    place = symbols.offset + number * SYMBOL.size
    if place + SYMBOL.size > min(symbols.offset + symbols.size, len(image)):
        raise ObjectFileError("the file is damaged: a relocation names a symbol that is not in its table")
    return SYMBOL.unpack_from(image, place)


def function_of(symbol: Symbol, section: ElfSection, borders: list[int]) -> Function:
    """The code of a symbol. Without a size it extends to the next beginning or end of a function, or to the
    end of the section."""
    size = symbol.size
    if not size:
        after = bisect_right(borders, symbol.value)
        size = (borders[after] if after < len(borders) else section.end) - symbol.value
    inside = section.address <= symbol.value < section.end
    size = min(size, section.end - symbol.value) if inside else 0
    return Function(symbol.name, symbol.value, size, section.origin, section.alignment)


def unnamed_function(address: int, size: int, section: ElfSection) -> Function:
    """A range of code without a symbol, named by its address."""
    name = f"{address - section.origin:#x}"
    return Function(name, address, size, section.origin, section.alignment)


def no_such_function(name: str, known: Iterable[str], *, has_symbols: bool) -> str:
    """Message that a file has no function of this name, with names that come near."""
    names = sorted(set(known))
    if not names:
        return (
            f"there is no function '{name}': the file has no symbols (it is stripped); give an address "
            "such as 0x1139, or a file with symbols"
        )
    # A mangled name contains the plain one.
    close = get_close_matches(name, names) + [other for other in names if name.lower() in other.lower()]
    hint = "; --list-functions lists all"
    if close:
        hint = f"; did you mean {' or '.join(list(dict.fromkeys(close))[:3])}?"
    stripped = "" if has_symbols else " (the file is stripped: only functions that it exports have names)"
    return f"there is no function '{name}'{stripped}{hint}"
