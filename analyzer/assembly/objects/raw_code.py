"""Machine code by itself, as JIT compilers and dumps have it: made an object file of one function."""

from __future__ import annotations

import re
import struct

from cyclelens.analyzer.assembly.text.lexer import COMMENT_SIGN
from cyclelens.analyzer.decoding.decoder import decode
from cyclelens.analyzer.patterns import pattern

NAME = "code"
"""Of the function."""
_HEADER, _SECTION, _SYMBOL = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ"), "<IBBHQQ"
_ALIGNMENT = 64
_NAMES = b"\0.text\0.symtab\0.strtab\0"
_HEX = pattern(r"(?:0x|\\x)?([0-9a-f]+)h?,?", re.IGNORECASE)
_COMMENT = pattern(f"{COMMENT_SIGN}.*")


class RawCodeError(ValueError):
    """It is no machine code; the message is for the user."""


def from_hexadecimal(text: str) -> bytes:
    """The bytes that are written down: ``48 01 d8``, ``4801d8``, ``0x48, 0x01``, on any number of lines; what
    stands behind ``#``, ``;`` or ``//`` is a comment. Raises RawCodeError."""
    code = bytearray()
    for number, line in enumerate(text.splitlines(), 1):
        words = _COMMENT.sub("", line).replace("\\x", " ").replace(",", " ").split()
        for word in words:
            found = _HEX.fullmatch(word)
            if found is None or len(found[1]) % 2:
                raise RawCodeError(f"line {number}: '{word[:20]}' is no row of hexadecimal bytes")
            code += bytes.fromhex(found[1])
    return bytes(code)


def object_of(code: bytes) -> bytes:
    """An ELF file with the code as its function, at a multiple of 64 bytes. Raises RawCodeError if not all of
    it is instructions."""
    if not code:
        raise RawCodeError("there is no code in it")
    at = 0
    for instruction in decode(code):
        if not instruction.mnemonic:
            raise RawCodeError(f"there is no valid instruction at byte {at:#x}")
        at += instruction.length
    symbols = bytes(struct.calcsize(_SYMBOL)) + struct.pack(_SYMBOL, 1, 0x12, 0, 1, 0, len(code))
    strings = b"\0" + NAME.encode() + b"\0"
    contents = (code, symbols, strings, _NAMES)
    starts = [_HEADER.size + sum(map(len, contents[:number])) for number in range(len(contents) + 1)]
    sections = bytes(_SECTION.size)
    for name, kind, flags, number, link, info, alignment, entry in (
        (b".text", 1, 6, 0, 0, 0, _ALIGNMENT, 0),
        (b".symtab", 2, 0, 1, 3, 1, 8, struct.calcsize(_SYMBOL)),
        (b".strtab", 3, 0, 2, 0, 0, 1, 0),
        (b".strtab", 3, 0, 3, 0, 0, 1, 0),
    ):
        place = (0, starts[number], len(contents[number]))
        sections += _SECTION.pack(_NAMES.index(name), kind, flags, *place, link, info, alignment, entry)
    identity = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header = (identity, 1, 62, 1, 0, 0, starts[-1], 0, _HEADER.size, 0, 0, _SECTION.size, 5, 4)
    return _HEADER.pack(*header) + b"".join(contents) + sections
