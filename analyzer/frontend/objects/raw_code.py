"""Makes an object file with one function out of plain machine code, as from JIT compilers and dumps."""

from __future__ import annotations

import re

from cyclelens.analyzer.frontend.objects.elf_writer import ForeignSection, ForeignSymbol, elf_object
from cyclelens.analyzer.frontend.source.lexer import COMMENT_SIGN
from cyclelens.analyzer.isa.decoder import decode

NAME = "code"
"""Name of the function."""
_ALIGNMENT = 64
_LONGEST = 15
"""Bytes of the longest instruction."""
_HEX = r"(?i)(?:0x|\\x)?([0-9a-f]+)h?,?"
_COMMENT = f"{COMMENT_SIGN}.*"
_ROW = r"[ \t]*(?:0x)?[0-9a-fA-F]+(?:[ \t]+<[^>]*>)?:[ \t]+|[0-9a-fA-F]{8}  (?=[0-9a-fA-F]{2} )"
"""The address before a row of gdb's ``x/xb``, of xxd, hexdump or HotSpot."""
_AS_TEXT = r"[ ]{2}(?:\|.*\|[ \t]*|(?![0-9a-fA-F]{2}(?: |$))\S.*)$"
"""The same bytes as text, behind a row."""
_END = r"[0-9a-fA-F]{8}[ \t]*$"
"""The last line of hexdump."""
_AROUND = r"[ \t]*\[/?[A-Z][\w ]*\][ \t]*$|^[A-Za-z_][\w \t\[\]*]*=[ \t]*(?:\{|$)|\}[ \t]*;?[ \t]*$|\""
"""HotSpot's headings, what C has around an array, and quotes."""


class RawCodeError(ValueError):
    """The text is not machine code; the message is for the user."""


def from_hexadecimal(text: str) -> bytes:
    """Bytes of a text such as ``48 01 d8``, ``4801d8`` or ``0x48, 0x01`` in any number of lines. ``#``, ``;``
    and ``//`` begin comments. Addresses before the bytes, and the text behind them in a hexadecimal dump, do
    not count. Raises RawCodeError."""
    code = bytearray()
    is_dump = False
    for number, line in enumerate(text.splitlines(), 1):
        if row := re.match(_ROW, line):
            is_dump, line = True, re.sub(_AS_TEXT, "", line[row.end() :]).replace("|", " ")
        elif is_dump and re.match(_END, line):
            continue
        words = re.sub(_COMMENT, "", re.sub(_AROUND, "", line)).replace("\\x", " ").replace(",", " ").split()
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
            is_cut = bool(decode(code[at:] + bytes(_LONGEST))[0].mnemonic)
            what = "the code ends within the instruction" if is_cut else "there is no valid instruction"
            raise RawCodeError(f"{what} at byte {at:#x}")
        at += instruction.length
    section = ForeignSection(".text", code, len(code), _ALIGNMENT, is_code=True, is_loaded=True)
    return elf_object([section], [ForeignSymbol(NAME, 1, 0, len(code), is_function=True)], ())
