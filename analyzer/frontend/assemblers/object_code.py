"""Reads code from object files that our own assembler runs made; ``elf.py`` reads untrusted ones."""

from __future__ import annotations

import struct
from collections.abc import Mapping

_SECTION = struct.Struct("<IIQQQQIIQQ")
_EXECUTABLE = 4


def code_sections(elf: bytes) -> Mapping[str, bytes]:
    """Bytes of the sections with code, by name; empty if this is not an ELF64 object."""
    if elf[:5] != b"\x7fELF\2":
        return {}
    (table,), (count, strings) = struct.unpack_from("<Q", elf, 0x28), struct.unpack_from("<HH", elf, 0x3C)
    headers = [_SECTION.unpack_from(elf, table + number * _SECTION.size) for number in range(count)]
    names = headers[strings][4]
    found = {}
    for header in headers:
        start = names + header[0]
        if header[2] & _EXECUTABLE and header[5]:
            name = elf[start : elf.index(b"\0", start)].decode("ascii", "replace")
            found[name] = elf[header[4] : header[4] + header[5]]
    return found
