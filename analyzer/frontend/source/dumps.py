"""Parses the output of disassemblers: lines with addresses and machine code, or instructions.

Supports ``objdump -d`` with most of its options and ``llvm-objdump -d``, gdb's ``x/i`` and ``disassemble``
with all modifiers, ``perf annotate --stdio``, and MSVC's listings with machine code (``cl /FAc``, ``/FAcs``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cyclelens.analyzer.frontend.source.chunks import SourceText
from msgspec import Struct, field

_BYTES = r"[0-9a-f]{2}(?:[ ][0-9a-f]{2})*(?![0-9a-zA-Z])"
_PERCENT = r"^[ \t]*(?:\d+(?:\.\d+)?[ \t]+)*:[ \t]*"
"""Prefix of a line of ``perf annotate``: shares, or numbers of samples (``-n``)."""
_PREFIXED = r"(?P<address>[0-9a-f]{16}) <(?P<name>[^>]+)>[ \t]+(?P<rest>[a-z(].*)"
"""A row of ``--prefix-addresses``."""
_COLOUR = r"\x1b\[[0-9;]*m"
_ROW = (
    r"(?:[=-]>)?[ \t]*(?:[^\s\[<>]+\[(?=0x\w+\]))?(?:0x)?(?P<address>[0-9a-f]{1,16})\]?"
    r"(?:[ \t]*<(?P<name>.*?)>)?:(?:[ \t]+|$)(?P<rest>.*)"
)
_MSVC_ROW = rf"[ \t]+(?P<address>[0-9a-f]{{5,8}})\t(?P<rest>{_BYTES}.*)"
_MSVC_MORE = rf"\t(?P<rest>{_BYTES}.*)"
_ART = re.compile(r"[-|/\\+>X<= ]*(?=[0-9a-f]{2}[ \t]|[a-z(])")
"""Arrows of ``--visualize-jumps``."""
_CODE = re.compile(rf"({_BYTES})[ \t]*(.*)")
_HEADER = r"(?:\d+[ \t]+)?(?P<address>[0-9a-f]{8,16})[ \t]+<(?P<name>.+)>:[ \t]*$"
SECTION = re.compile(r"(?:\d+[ \t]+)?Disassembly of section (?P<name>\S+):")
_GDB = r"Dump of assembler code for function (?P<name>.+):[ \t]*$"
_PROC = r"([\w@?$]+)[ \t]+PROC\b"
OBJECT = re.compile(r"\S+\.(?:o|obj):[ \t]+file format")
_OFFSET = r"(?P<name>.*?)\+(?:0x)?[0-9a-f]+$"
_RELOCATION = (
    r"(?P<address>[0-9a-f]+):[ \t]+(?P<kind>R_X86_64_\w+)[ \t]+(?P<name>[^\s+-]\S*?)(?:[-+]0x[0-9a-f]+)?$"
)
_TELLING = re.compile(
    rf"^(?:[ \t]*[0-9a-f]+:[ \t]+(?:[-|/\\+>X ]*){_BYTES}[ \t]+[a-z(]"
    r"|.*\bfile format elf64-x86-64|.*\bDisassembly of section \S+:|Dump of assembler code for "
    r"|(?:[=-]>)?[ \t]*0x[0-9a-f]+(?:[ \t]*<[^>\n]*>)?:[ \t]+[0-9a-z]"
    r"|(?:->)?[ \t]*[^\s\[]+\[0x[0-9a-f]+\] <\+\d+>:[ \t]"
    r"|[ \t]*\d+(?:\.\d+)?[ \t]+:[ \t]+[0-9a-f]+:"
    r"|[0-9a-f]{16} <[^>\n]+>[ \t]+[a-z(]"
    r"|[ \t]*[0-9a-f]+:[ \t]+[a-z]\w*[ \t]+[0-9a-f]+ <[^>\n]+>"
    rf"|[ \t]+[0-9a-f]{{5}}\t{_BYTES}[ \t]+\w)",
    re.MULTILINE,
)
_OF_CAPITALS = re.compile(
    r"^[ \t]*(?:\d*[A-F][0-9A-F]*:[ \t]+[0-9A-F]{2}|\d+:[ \t]+(?:\d\d )*(?:[A-F][0-9A-F]|\d[A-F])) ",
    re.MULTILINE,
)
"""A row of ``dumpbin``, which prints hexadecimal digits in capitals: ``dump_columns`` reads those."""
COMMENT = re.compile(r"[ \t]*(?:#|;|//|[ \t]<.*>[ \t]*$).*$")
_LARGEST_GAP = 1 << 16
"""Maximum bytes between two rows of a part."""
_FAR_AWAY = 1 << 65
_FEWEST = 2
"""Minimum rows of a dump."""


class DumpRow(Struct):
    """An instruction of a dump."""

    line: int
    column: int
    """Column of the instruction's text; lines and columns are zero-based."""
    address: int
    code: bytes
    """Empty if the dump does not show it."""
    text: str
    """Text as in the dump, without comments."""

    @property
    def end_column(self) -> int:
        """Column after the text."""
        return self.column + len(self.text)


class Relocation(Struct, frozen=True):
    """A field that a linker fills in."""

    address: int
    kind: str
    """``R_X86_64_PC32`` ..."""
    symbol: str


class DumpSection(Struct):
    """A section of a dump, or the whole dump."""

    name: str
    rows: list[DumpRow] = field(default_factory=list)
    functions: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Name and line of functions, by first address."""
    relocations: list[Relocation] = field(default_factory=list)


class Dump(Struct):
    """A parsed dump."""

    parts: list[DumpSection] = field(default_factory=list)
    is_object: bool = False
    """The dump says that it shows an object file, which is not linked yet."""


def looks_like(source: SourceText) -> bool:
    """Whether the text has lines that only a dump has."""
    return source.has(_TELLING.search) and not source.has(_OF_CAPITALS.search)


def read(source: SourceText) -> Dump | None:
    """The text as a dump; None if it is not one."""
    if not looks_like(source):
        return None
    dump = _Reader().read(source.text)
    return dump if sum(len(part.rows) for part in dump.parts) >= _FEWEST else None


class _Reader:
    def __init__(self) -> None:
        self._dump = Dump()
        self._name: tuple[str, int] | None = None
        """Name and line of the function that begins at the next row."""
        self._gdb: tuple[str, int] | None = None
        """Name and line of the function that gdb shows; its rows may be in source order."""
        self._last = ""
        """Function name in the last row."""

    def read(self, text: str) -> Dump:
        for number, line in enumerate(text.splitlines()):
            self._line(number, re.sub(_COLOUR, "", line))
        for part in self._dump.parts:
            part.rows.sort(key=lambda row: row.address)
        self._dump.parts = [piece for part in self._dump.parts for piece in _pieces(part)]
        return self._dump

    def _part(self) -> DumpSection:
        if not self._dump.parts:
            self._dump.parts.append(DumpSection(".text"))
        return self._dump.parts[-1]

    def _line(self, number: int, line: str) -> None:
        percent = re.match(_PERCENT, line)
        start = percent.end() if percent else len(line) - len(line.lstrip())
        content = line[start:]
        self._dump.is_object |= OBJECT.match(content) is not None
        if match := SECTION.match(content):
            self._dump.parts.append(DumpSection(match["name"]))
            self._name, self._gdb, self._last = None, None, ""
        elif match := re.match(_GDB, content):
            self._gdb, self._last = (match[1], number), match[1]
        elif match := re.match(_PROC, content):
            self._name, self._last = (match[1], number), match[1]
        elif match := re.match(_HEADER, content):
            self._part().functions[int(match["address"], 16)] = match["name"], number
            self._last, self._name = match["name"], None
        elif (match := re.match(_RELOCATION, content)) and self._part().rows:
            self._part().relocations.append(Relocation(int(match[1], 16), match["kind"], match["name"]))
        elif match := re.match(_ROW, content) or re.match(_PREFIXED, content):
            self._row(number, line, start + match.start("rest"), match)
        elif match := re.match(_MSVC_ROW, line) or (
            # The bytes of the last row may continue.
            re.match(_MSVC_MORE, line) if self._part().rows and not self._part().rows[-1].text else None
        ):
            self._row(number, line, match.start("rest"), match)

    def _row(self, number: int, line: str, column: int, match: re.Match[str]) -> None:
        groups = match.groupdict()
        art = _ART.match(line, column)
        column = art.end() if art else column
        code, text = b"", line[column:]
        if found := _CODE.match(line, column):
            code, text, column = bytes.fromhex(found[1]), found[2], found.start(2)
        text = COMMENT.sub("", text).rstrip()
        rows = self._part().rows
        address = int(groups["address"], 16) if groups.get("address") else -1
        is_more = bool(rows and rows[-1].code and code) and address in (
            -1,
            rows[-1].address + len(rows[-1].code) if rows else -1,
        )
        if is_more and (not text or not rows[-1].text):
            rows[-1].code += code
            if text:
                rows[-1].line, rows[-1].column, rows[-1].text = number, column, text
            return
        if address < 0 or not (code or text):
            return
        if rows and address <= rows[-1].address:
            if any(row.address == address for row in rows):
                return  # shown before, as in gdb's context lines around a stop
            if self._gdb is None or not (groups.get("name") or "").startswith("+"):
                self._dump.parts.append(DumpSection(self._part().name))
        self._begin(number, address, groups.get("name"))
        self._part().rows.append(DumpRow(number, column, address, code, text))

    def _begin(self, number: int, address: int, place: str | None) -> None:
        """Record the beginnings of functions, as given by headers or by rows themselves."""
        functions = self._part().functions
        if self._name is not None:
            functions[address] = self._name
            self._name = None
        elif place and self._gdb is not None and place.startswith("+"):
            offset = place[1:]
            functions.setdefault(address - int(offset) if offset.isdecimal() else address, self._gdb)
        elif place:
            match = re.match(_OFFSET, place)
            name = match["name"] if match else place
            if name != self._last:
                functions.setdefault(address, (name, number))
            self._last = name


def _pieces(part: DumpSection) -> Iterator[DumpSection]:
    """Split a part at large gaps between addresses."""
    cuts = [
        at
        for at in range(1, len(part.rows))
        if part.rows[at].address > part.rows[at - 1].address + _LARGEST_GAP
    ]
    for first, end in zip([0, *cuts], [*cuts, len(part.rows)], strict=True):
        rows = part.rows[first:end]
        if not rows:
            continue
        low = 0 if first == 0 else rows[0].address
        high = part.rows[end].address if end < len(part.rows) else _FAR_AWAY
        yield DumpSection(
            part.name,
            rows,
            {at: each for at, each in part.functions.items() if low <= at < high},
            [each for each in part.relocations if low <= each.address < high],
        )


def functions_of(part: DumpSection) -> Iterator[tuple[str, int, int, int]]:
    """Name, line, first and end address of each function; code before the first one is named ``code``."""
    first, end = part.rows[0].address, part.rows[-1].address + max(len(part.rows[-1].code), 1)
    starts = dict(part.functions)
    if not any(address <= first for address in starts):
        starts[first] = "code", part.rows[0].line
    ordered = sorted(address for address in starts if address < end)
    for address, behind in zip(ordered, [*ordered[1:], end], strict=True):
        if behind > first:
            name, line = starts[address]
            yield name, line, max(address, first), behind
