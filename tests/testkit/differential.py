"""Compares the front end's bytes for a text with those of the assembler that the text is written for.

A text has marked regions, each the code of one section between two labels. What only a linker
knows (the fields that relocations name) is left out of the comparison.
"""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Syntax
from cyclelens.analyzer.model.source import AssembledFile, Severity, SourceLine
from msgspec import Struct, field

COMMANDS = {
    "gas": ("as", "--64", "-L", "-o", "x.o", "x.s"),
    "nasm": ("nasm", "-f", "elf64", "-o", "x.o", "x.s"),
}
TIME_LIMIT = 5.0
"""Seconds for one run, which takes some milliseconds."""
_FIELDS = {1: 8, 2: 4, 4: 4, 9: 4, 10: 4, 11: 4, 12: 2, 13: 2, 14: 1, 15: 1, 24: 8, 41: 4, 42: 4}
"""Bytes of the field of a relocation, by the number of its type (ELF ABI for x86-64, table 4.9)."""
_ERROR = re.compile(r"^x\.s:(\d+): (?:Error|error): .*", re.MULTILINE)
_FRAME = re.compile(r"cyclelens-|^(?:begin|end)_\w+:|^bits |^section |^\.intel_syntax")
_SYMBOLS, _RELOCATIONS, _EMPTY = 2, 4, 8


class Section(Struct, frozen=True):
    """A section of an object file."""

    code: bytes
    left_open: set[int]
    """Offsets of the bytes that the linker fills in."""


class Object(Struct):
    """The parts of an object file that the comparison needs."""

    sections: dict[int, Section] = field(default_factory=dict)
    symbols: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Section and offset by name."""


def read_object(data: bytes) -> Object:
    """The sections and symbols of an ELF64 object."""
    result = Object()
    table, size, count = *struct.unpack_from("<Q", data, 40), *struct.unpack_from("<HH", data, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + number * size) for number in range(count)]
    for number, (_, kind, _, _, offset, length, *_) in enumerate(headers):
        code = b"" if kind == _EMPTY else data[offset : offset + length]
        result.sections[number] = Section(code, set())
    for number, (_, kind, _, _, _, _, link, info, *_) in enumerate(headers):
        entries = result.sections[number].code
        if kind == _SYMBOLS:
            names = result.sections[link].code
            for name, _, _, section, value, _ in struct.iter_unpack("<IBBHQQ", entries):
                spelled = names[name : names.index(b"\0", name)].decode()
                result.symbols[spelled] = section, value
        elif kind == _RELOCATIONS:
            for offset, what, _ in struct.iter_unpack("<QQq", entries):
                width = _FIELDS[what & 0xFFFFFFFF]
                result.sections[info].left_open.update(range(offset, offset + width))
    return result


class Assembled(Struct, frozen=True):
    """The result of an assembler: an object, or its message."""

    made: Object | None
    said: str


def by_assembler(text: str, language: str, folder: Path) -> Assembled:
    """Assemble a text with ``gas`` or ``nasm``, in a folder for its files."""
    (folder / "x.s").write_text(text, encoding="utf-8")
    command = COMMANDS[language]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=TIME_LIMIT
        )
    except subprocess.TimeoutExpired:
        # GNU as itself hangs over some symbols that depend on themselves.
        return Assembled(None, "")
    if done.returncode:
        return Assembled(None, done.stderr)
    return Assembled(read_object((folder / "x.o").read_bytes()), done.stderr)


_FILL = re.compile(r"\.(?:p2align|balign|align|nops)")


class Difference(Struct, frozen=True):
    """``kind``: ``bytes``, ``taken`` (we have a figure for what the assembler refuses), ``refused`` (the
    assembler takes what we refuse)."""

    kind: str
    message: str


def differences(
    text: str, language: str, folder: Path, *, syntax: Syntax = Syntax.AUTO, programs: bool = False
) -> list[Difference]:
    """Where the front end and the assembler disagree. ``programs``: the front end may ask others."""
    return compare(text, language, folder, syntax=syntax, programs=programs).differences


class Comparison(Struct, frozen=True):
    """``regions``: how many have a figure and were compared, with ``statements`` that make bytes."""

    differences: list[Difference]
    regions: int = 0
    statements: int = 0


def compare(
    text: str, language: str, folder: Path, *, syntax: Syntax = Syntax.AUTO, programs: bool = False
) -> Comparison:
    """The differences, and how much was compared."""
    expected = by_assembler(text, language, folder)
    found = assemble(text, SourceOptions(syntax=syntax, allow_external_programs=programs))
    if expected.made is None:
        return Comparison(list(_taken(found, expected.said)))
    lines = text.split("\n")
    refused = [
        Difference("refused", f"{problem.line + 1}: {lines[problem.line].strip()}: {problem.message}")
        for problem in found.problems
        if problem.severity is Severity.ERROR
    ]
    whole = [region for region in found.regions if not region.incomplete]
    if len(whole) < len(found.regions) or not found.regions:
        refused = refused or [Difference("refused", "no region")]
    statements = sum(bool(line.code) for region in whole for line in region.lines)
    compared = list(_compared(found, expected.made, is_whole=not refused))
    if compared and not (refused or programs or [*_compared(found, expected.made, is_whole=False)]):
        # Distances alone differ: over statements of no region, maybe, that only a program can encode.
        return compare(text, language, folder, syntax=syntax, programs=True)
    return Comparison([*compared, *refused], len(whole), statements)


def reduced(lines: Sequence[str], is_different: Callable[[str], bool]) -> list[str]:
    """The fewest lines of a text that still give different bytes. Lines that say how to read it
    stay."""
    kept = list(lines)
    size = len(kept) // 2
    while size:
        at, before = 0, len(kept)
        while at < len(kept):
            framing = [line for line in kept[at : at + size] if _FRAME.search(line)]
            fewer = kept[:at] + framing + kept[at + size :]
            if len(fewer) == len(kept):
                at += size
            elif is_different("\n".join([*fewer, ""])):
                kept = fewer
                at += len(framing)
            else:
                at += size
        size = size // 2 if size > 1 or len(kept) == before else 1
    return kept


def _taken(found: AssembledFile, said: str) -> Iterator[Difference]:
    """Statements that the assembler refuses, in regions that have a figure."""
    for match in _ERROR.finditer(said):
        line = int(match[1]) - 1
        for region in found.regions:
            if not region.incomplete and any(each.line == line for each in region.lines):
                yield Difference("taken", match[0])


def _compared(found: AssembledFile, made: Object, *, is_whole: bool) -> Iterator[Difference]:
    """``is_whole``: nothing of the text is refused; else distances over that may be other ones, and only the
    sizes of what makes them are compared."""
    names = dict.fromkeys(region.name.partition(".")[0] for region in found.regions)
    for name in names:
        own = [region for region in found.regions if region.name.partition(".")[0] == name]
        if any(region.incomplete for region in own):
            continue
        lines = [line for region in own for line in region.lines]
        number, begin = made.symbols[f"begin_{name}"]
        last, end = made.symbols[f"end_{name}"]
        if last != number:
            continue  # it ends in another section
        section = made.sections[number]
        code, left_open = section.code, section.left_open
        offset = begin
        for line in lines:
            length = len(line.code)
            wanted = code[offset : min(offset + length, end)]
            count = length if is_whole else int(not line.text.startswith("."))
            ours, theirs = (_masked(each[:count], offset, left_open) for each in (line.code, wanted))
            if len(wanted) < length or ours != theirs:
                seen = f"{line.code.hex()} for {code[offset : offset + max(length, 8)].hex()}"
                yield Difference("bytes", f"{line.line + 1}: {line.text}: {seen}")
                break
            offset += length + _jumped_over(line)
        else:
            if offset != end:
                yield Difference("bytes", f"{name} has {offset - begin} bytes in place of {end - begin}")


def _jumped_over(line: SourceLine) -> int:
    """Bytes of a fill behind the jump over them, which are never executed."""
    is_jump = _FILL.match(line.text) and line.code[:1] in (b"\xeb", b"\xe9") and len(line.code) in (2, 5)
    return int.from_bytes(line.code[1:], "little") if is_jump else 0


def _masked(code: bytes, offset: int, left_open: set[int]) -> bytes:
    if not left_open:
        return code
    return bytes(0 if offset + at in left_open else byte for at, byte in enumerate(code))


def marked(body: Sequence[str], name: str = "r0", comment: str = "#") -> list[str]:
    """Lines of code as a region, behind a NOP: what is aligned at its beginning would lie in front of it."""
    return [
        f"{comment} cyclelens-begin {name}",
        f"begin_{name}: nop",
        *body,
        f"end_{name}:",
        f"{comment} cyclelens-end",
    ]
