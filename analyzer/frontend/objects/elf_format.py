"""ELF files: headers, sections, symbols, and what damaged ones are refused with."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.common.named_tuple import NamedTuple

if TYPE_CHECKING:
    pass

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


@dataclass(frozen=True, slots=True)
class Function:
    """A stretch of code with a name."""

    name: str
    """The symbol as it is in the file; the address where there is none."""
    address: int
    """Of the first byte, in the layout of this program."""
    size: int
    """Bytes."""
    origin: int
    """What to subtract for the address that other programs show."""
    alignment: int
    """Bytes of which the linker puts ``origin`` at a multiple; those of a line where it is done."""

    @property
    def end(self) -> int:
        """Behind the last byte."""
        return self.address + self.size


@dataclass(frozen=True, slots=True)
class LinePlace:
    """A line of a source file, both as the compiler wrote them down; line and column count from zero."""

    file: str
    line: int
    column: int
    inlined: str = ""
    """The function of the system's or the compiler's, ``_mm_add_ps``, that the line asks for by name and that
    the instruction comes from."""


class Header(NamedTuple):
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


@dataclass(frozen=True, slots=True)
class Section:
    index: int
    name: str
    address: int
    origin: int
    alignment: int
    code: bytes

    @property
    def end(self) -> int:
        return self.address + len(self.code)


@dataclass(frozen=True, slots=True)
class Symbol:
    name: str
    kind: int
    binding: int
    section: int
    value: int
    size: int

    @property
    def is_entry(self) -> bool:
        """Does it say so itself that it is a function, may other files jump there, or has it a size?"""
        is_plain = self.kind == NOTYPE and (self.binding != _LOCAL or self.size > 0)
        return self.kind in (FUNCTION, _INDIRECT) or is_plain


def check_header(data: bytes) -> None:
    if not data.startswith(MAGIC):
        raise ObjectFileError("this is no ELF file")
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
    """All of them; ``check_header`` has seen that the table is whole."""
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
    """A table without a last entry that is cut off."""
    return content[: len(content) // entry.size * entry.size]


def symbol_entry(image: bytes | bytearray, symbols: Header, number: int) -> tuple[int, ...]:
    """An entry of a table of symbols. Raises ObjectFileError if the table has no such one."""
    place = symbols.offset + number * SYMBOL.size
    if place + SYMBOL.size > min(symbols.offset + symbols.size, len(image)):
        raise ObjectFileError("the file is damaged: a relocation names a symbol that is not in its table")
    return SYMBOL.unpack_from(image, place)


def function_of(symbol: Symbol, section: Section, borders: list[int]) -> Function:
    """A symbol's stretch of code: without a size, up to where another function begins or ends, or to the
    section's end."""
    size = symbol.size
    if not size:
        after = bisect_right(borders, symbol.value)
        size = (borders[after] if after < len(borders) else section.end) - symbol.value
    inside = section.address <= symbol.value < section.end
    size = min(size, section.end - symbol.value) if inside else 0
    return Function(symbol.name, symbol.value, size, section.origin, section.alignment)


def unnamed_function(address: int, size: int, section: Section) -> Function:
    """A stretch of code that no symbol tells of, called as its address."""
    name = f"{address - section.origin:#x}"
    return Function(name, address, size, section.origin, section.alignment)
