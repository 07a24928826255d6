"""Makes an object file with one function out of plain machine code, as from JIT compilers and dumps."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

from cyclelens.analyzer.frontend.source.lexer import COMMENT_SIGN
from cyclelens.analyzer.isa.decoder import decode
from msgspec import Struct

NAME = "code"
"""Name of the function."""
_HEADER, _SECTION, _SYMBOL = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ"), "<IBBHQQ"
_ALIGNMENT = 64
_RELOCATION = struct.Struct("<QQq")
_HEX = r"(?i)(?:0x|\\x)?([0-9a-f]+)h?,?"
_COMMENT = f"{COMMENT_SIGN}.*"


class RawCodeError(ValueError):
    """The text is not machine code; the message is for the user."""


def from_hexadecimal(text: str) -> bytes:
    """Bytes of a text such as ``48 01 d8``, ``4801d8`` or ``0x48, 0x01`` in any number of lines. ``#``, ``;``
    and ``//`` begin comments. Raises RawCodeError."""
    code = bytearray()
    for number, line in enumerate(text.splitlines(), 1):
        words = re.sub(_COMMENT, "", line).replace("\\x", " ").replace(",", " ").split()
        for word in words:
            found = re.fullmatch(_HEX, word)
            if found is None or len(found[1]) % 2:
                raise RawCodeError(f"line {number}: '{word[:20]}' is not a row of hexadecimal bytes")
            code += bytes.fromhex(found[1])
    return bytes(code)


def object_of(code: bytes) -> bytes:
    """An ELF file with the code as its only function, at a multiple of 64 bytes. Raises RawCodeError if the
    bytes are not all instructions."""
    if not code:
        raise RawCodeError("the text has no code")
    at = 0
    for instruction in decode(code):
        if not instruction.mnemonic:
            raise RawCodeError(f"there is no valid instruction at byte {at:#x}")
        at += instruction.length
    return elf_of([CodeSection(".text", 0, code, _ALIGNMENT, [MadeSymbol(NAME, 0, len(code))])])


class MadeSymbol(Struct, frozen=True):
    """A symbol to write."""

    name: str
    address: int
    """Address as other programs show it."""
    size: int
    is_function: bool = True


class MadeRelocation(Struct, frozen=True):
    """A field that a linker fills in."""

    address: int
    kind: int
    """Relocation type of the ELF ABI for x86-64, table 4.9."""
    symbol: str


class CodeSection(Struct, frozen=True):
    """A section with code."""

    name: str
    address: int
    """Address of its first byte."""
    code: bytes
    alignment: int
    symbols: Sequence[MadeSymbol] = ()
    relocations: Sequence[MadeRelocation] = ()


def elf_of(sections: Sequence[CodeSection], *, is_linked: bool = False) -> bytes:
    """An ELF file with these sections: a program if ``is_linked``, otherwise an object, whose addresses are
    relative to each section."""
    strings, names = bytearray(b"\0"), bytearray(b"\0")

    def put(pool: bytearray, text: str) -> int:
        pool += text.encode() + b"\0"
        return len(pool) - len(text.encode()) - 1

    symbols = bytearray(struct.calcsize(_SYMBOL))
    numbers: dict[str, int] = {}
    count = 1
    for number, section in enumerate(sections, 1):
        for symbol in section.symbols:
            value = symbol.address if is_linked else symbol.address - section.address
            kind = 0x12 if symbol.is_function else 0
            symbols += struct.pack(_SYMBOL, put(strings, symbol.name), kind, 0, number, value, symbol.size)
            count += 1
    for symbol_name in dict.fromkeys(each.symbol for section in sections for each in section.relocations):
        symbols += struct.pack(_SYMBOL, put(strings, symbol_name), 0x10, 0, 0, 0, 0)
        numbers[symbol_name] = count
        count += 1
    table = len(sections) + 1
    # Name, kind, flags, address, content, link, info, alignment, entry size.
    rows: list[tuple[int, int, int, int, bytes, int, int, int, int]] = []
    for section in sections:
        address = section.address if is_linked else 0
        rows.append((put(names, section.name), 1, 6, address, section.code, 0, 0, section.alignment, 0))
    entry = struct.calcsize(_SYMBOL)
    rows.append((put(names, ".symtab"), 2, 0, 0, bytes(symbols), table + 1, 1, 8, entry))
    rows.append((put(names, ".strtab"), 3, 0, 0, bytes(strings), 0, 0, 1, 0))
    for number, section in enumerate(sections, 1):
        if section.relocations and not is_linked:
            fields = b"".join(
                _RELOCATION.pack(each.address - section.address, numbers[each.symbol] << 32 | each.kind, -4)
                for each in section.relocations
            )
            name = put(names, f".rela{section.name}")
            rows.append((name, 4, 0, 0, fields, table, number, 8, _RELOCATION.size))
    rows.append((put(names, ".shstrtab"), 3, 0, 0, b"", 0, 0, 1, 0))
    rows[-1] = (*rows[-1][:4], bytes(names), *rows[-1][5:])
    place, headers = _HEADER.size, bytearray(_SECTION.size)
    for name, kind, flags, address, content, link, info, alignment, entry_size in rows:
        here = (address, place, len(content))
        headers += _SECTION.pack(name, kind, flags, *here, link, info, alignment, entry_size)
        place += len(content)
    identity = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    kind = 2 if is_linked else 1
    last = len(rows)
    header = (identity, kind, 62, 1, 0, 0, place, 0, _HEADER.size, 0, 0, _SECTION.size, last + 1, last)
    return _HEADER.pack(*header) + b"".join(row[4] for row in rows) + headers
