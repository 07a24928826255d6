"""Makes an object file with one function out of plain machine code, as from JIT compilers and dumps."""

from __future__ import annotations

import re

from cyclelens.analyzer.frontend.objects.elf_writer import ForeignSection, ForeignSymbol, elf_object
from cyclelens.analyzer.frontend.source.lexer import COMMENT_SIGN
from cyclelens.analyzer.isa.decoder import decode

NAME = "code"
"""Name of the function."""
_ALIGNMENT = 64
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
    section = ForeignSection(".text", code, len(code), _ALIGNMENT, is_code=True, is_loaded=True)
    return elf_object([section], [ForeignSymbol(NAME, 1, 0, len(code), is_function=True)], ())
