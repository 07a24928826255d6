"""Objects and programs of Windows and macOS, compiled here or changed into another layout."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

WINDOWS, MACOS = "x86_64-pc-windows-msvc", "x86_64-apple-macos11"
_PLAIN = ("-fno-stack-protector", "-fasynchronous-unwind-tables")
"""Nothing that only a system's library has; entries for unwinding, as programs have them."""
_CLASS = bytes.fromhex("c7a1bad1eebaa94baf20faf66aa4dcb8")


def compiled(folder: Path, text: str, target: str, *options: str) -> Path:
    """An object of this C. Skips the test without clang."""
    if shutil.which("clang") is None:
        pytest.skip("clang is not installed")
    (folder / "code.c").write_text(text)
    command = [
        "clang",
        f"--target={target}",
        "-O2",
        "-ffreestanding",
        *_PLAIN,
        *options,
        "-c",
        "code.c",
        "-o",
        "made.o",
    ]
    subprocess.run(command, check=True, cwd=folder)
    return folder / "made.o"


def linked(folder: Path, linkers: Sequence[str], *arguments: str) -> Path:
    """A program or library that the first of these linkers that is installed makes of ``made.o``. Skips the
    test without any."""
    linker = next(filter(shutil.which, linkers), None)
    if linker is None:
        pytest.skip(f"none of {', '.join(linkers)} is installed")
    subprocess.run([linker, *arguments], check=True, cwd=folder, capture_output=True)
    return folder / "linked"


def big(coff: bytes) -> bytes:
    """A COFF object in the layout of ``/bigobj``: a longer header, and wider numbers of sections."""
    machine, count, when, symbols_at, symbols, _, _ = struct.unpack_from("<HHIIIHH", coff)
    longer = 56 - 20
    header = struct.pack(
        "<HHHHI16sIIIIIII", 0, 0xFFFF, 2, machine, when, _CLASS, 0, 0, 0, 0, count, 0, symbols
    )
    sections = bytearray()
    for number in range(count):
        fields = list(struct.unpack_from("<8sIIIIIIHHI", coff, 20 + 40 * number))
        for place in (4, 5, 6):
            fields[place] += longer if fields[place] else 0
        sections += struct.pack("<8sIIIIIIHHI", *fields)
    table = b""
    number = 0
    while number < symbols:
        name, value, section, kind, storage, further = struct.unpack_from(
            "<8sIhHBB", coff, symbols_at + 18 * number
        )
        table += struct.pack("<8sIiHBB", name, value, section, kind, storage, further)
        for _ in range(further):
            number += 1
            table += coff[symbols_at + 18 * number : symbols_at + 18 * number + 18] + bytes(2)
        number += 1
    body = coff[20 + 40 * count : symbols_at]
    start = len(header) + len(sections) + len(body)
    header = header[:48] + struct.pack("<I", start) + header[52:]
    return header + bytes(sections) + body + table + coff[symbols_at + 18 * symbols :]


def fat(thin: bytes) -> bytes:
    """A Mach-O file for two processors, the second of which is x86-64."""
    front = struct.pack(">II", 0xCAFEBABE, 2)
    front += struct.pack(">5I", 0x0100000C, 0, 4096, 16, 12)
    front += struct.pack(">5I", 0x01000007, 3, 8192, len(thin), 12)
    return front.ljust(8192, b"\0") + thin
