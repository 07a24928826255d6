"""Parses the output of disassemblers that print columns: addresses, machine code and instructions.

Addresses and code are optional, one at a time. Supports radare2, IDA, Ghidra, Binary Ninja, WinDbg, x64dbg,
Visual Studio, VTune, ``dumpbin /disasm``, Intel XED, NDISASM, ``otool -tv``, listings of GNU as and NASM,
``objdump --no-addresses``, ``perf annotate --asm-raw``, Capstone's cstool,
``go tool objdump``, V8 (``--print-opt-code``), listings of MASM
(``ml64 /Fl``), and Compiler Explorer with opcodes. A single row does not tell such a dump from other text, so
the rows have to fit each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.frontend.source.dumps import COMMENT, OBJECT, SECTION, Dump, DumpRow, DumpSection
from cyclelens.analyzer.isa.decoder import decode
from msgspec import Struct, field

_PAIRS = r"[0-9a-fA-F]{2}(?:[ :]?[0-9a-fA-F]{2})*(?![0-9a-zA-Z:])"
_TEXT = r"(?P<text>[A-Za-z({.].*)"
_ART = r"(?:[^\w\n\"#;/(@$%.]|[/.](?=[-: \t]))*+"
"""Arrows and lines."""
_COLUMNS = (
    re.compile(
        rf"^XDIS (?P<address>[0-9a-f]+):[ \t]+\w+[ \t]+\w+[ \t]+(?P<code>{_PAIRS})[ \t]+{_TEXT}", re.MULTILINE
    ),
    # V8: address, offset, code.
    re.compile(
        rf"^0x(?P<address>[0-9a-f]{{4,16}})[ \t]+[0-9a-f]{{1,6}}[ \t]{{2,}}(?P<code>{_PAIRS})"
        rf"[ \t]{{2,}}{_TEXT}",
        re.MULTILINE,
    ),
    # Arrows and indentation, a line number, a section, and then the columns.
    re.compile(
        rf"^{_ART}(?:\d{{1,7}}[ \t]+)?(?:\.?\w+:(?=[0-9A-F]{{8}}))?(?:0x)?"
        r"(?P<address>[0-9a-fA-F]{4,16}(?:`[0-9a-f]{8})?|[0-9a-fA-F]{2,3}(?=:)):?"
        rf"[ \t|]+\^?(?P<code>{_PAIRS})[ \t|]+{_TEXT}",
        re.MULTILINE,
    ),
    # cstool; its addresses may be short.
    re.compile(
        rf"^[ ]?(?P<address>[0-9a-f]{{1,16}})  (?P<code>{_PAIRS})  +(?P<text>[a-z].*\t.*|[a-z]+$)",
        re.MULTILINE,
    ),
    # go tool objdump.
    re.compile(
        rf"^[ \t]+\S+:\d+[ \t]+0x(?P<address>[0-9a-f]+)[ \t]+(?P<code>{_PAIRS})[ \t]+{_TEXT}", re.MULTILINE
    ),
    re.compile(
        rf"^(?:(?:[ \t]*[bB]\+>)?{_ART}(?=0x))?"
        r"(?:\.?\w+:(?=[0-9A-F]{8})|0x(?=[0-9a-f]{4})|(?=[0-9a-fA-F]{16}[ \t]))"
        r"(?P<address>[0-9a-fA-F]{4,16})(?:[ \t]+<(?P<place>[^>\n]*)>)?[ \t]+"
        rf"(?:[^\x00-\x7f][ \t]+)?{_TEXT}",
        re.MULTILINE,
    ),
    re.compile(
        r"^[ \t]*+(?:\d+\.\d+[ \t]+)?(?!d[bdwq][ \t])"
        r"(?P<code>[0-9a-f]{2}(?: [0-9a-f]{2})*)[ \t]+(?P<text>[a-z({].*)",
        re.MULTILINE,
    ),
)
"""Rows with address and code (five kinds), without code, and without addresses. A dump has one kind."""
_OF_MASM = re.compile(r"^[ \t]?[0-9A-F]{8}[ \t]+[0-9A-F]{2}(?: [0-9A-F]{2})*[/|] ", re.MULTILINE)
"""A row of MASM that no other program prints: a mark follows the prefixes."""
_MASM = re.compile(
    r"^[ \t]?(?P<address>[0-9A-F]{8})[ \t]+"
    r"(?P<code>[0-9A-F]{2}(?:[/|]? [0-9A-F]{2}\b)*)(?P<numbers>(?: (?:[0-9A-F]{4}){1,4})*)"
    r"(?: [RE])?[ \t]+" + _TEXT,
    re.MULTILINE,
)
_MARK = r"[:/|]"
_MORE = rf"^[ \t]*(?:\d+[ \t]{{2,}})?-?(?P<code>{_PAIRS})(?: [RE])?[ \t|]*$"
"""Rest of an instruction's code, on a line of its own."""
_HEADER = (
    r"^(?:\d+[ \t]+)?(?:[0-9a-f]+ )?(?:<(?P<exact>.+)>|(?P<name>[^\s;#][^\[\n]*?)(?:[ \t]+\[.*\])?):[ \t]*$"
)
_GO = r"TEXT[ \t]+(\S+)\(SB\)"
_PLACE = r"(?P<name>.+?)(?:\+(?P<offset>\d+|0x[0-9a-f]+))?"
_BY_NAME = rf"(?P<jump>\w+)[ \t]+{_PLACE}"
"""A jump to a place in a function: ``jne sum+2``."""
_WITHIN = r".*\+(?:0x)?[0-9a-f]+"
"""Name of a block inside a function."""
_PROC = r"^(?:\S+:[0-9A-F]+|[ \t]?[0-9A-F]{8})[ \t]+(?P<name>\S+)[ \t]+(?:proc|PROC)\b"
_UNREAD = r"^[ \t]*(?:0x)?[0-9a-fA-F]{8,16}:?[ \t]+[0-9a-fA-F]{2}\b(?!.*\|[^|\n]+\|[ \t]*$)"
"""A line that looks like a row of another disassembler, unless it is one of a hexadecimal dump."""
_NO_INSTRUCTION = r"\S+:$|(?:\S+[ \t]+(?:proc|endp)|public)\b"
_USUAL_ALIGNMENT = 16
_LONGEST = 15
_FEWEST = 2
"""Minimum rows of a dump."""


class _DumpBuilder(Struct):
    """A dump while it is read. ``at``: address of the next row, for rows without one."""

    dump: Dump = field(default_factory=Dump)
    header: tuple[str, int] | None = None
    at: int = 0
    bases: dict[str, int] = field(default_factory=dict)
    """Addresses of functions, as rows say them: ``<sum+7>``."""

    def section(self, name: str) -> DumpSection:
        """Begin a section."""
        self.dump.parts.append(DumpSection(name))
        self.at = 0
        return self.dump.parts[-1]

    @property
    def part(self) -> DumpSection:
        """The current section."""
        return self.dump.parts[-1] if self.dump.parts else self.section(".text")

    def add(self, row: DumpRow) -> None:
        """Append a row, unless its address was shown before."""
        part = self.part
        if part.rows and row.address <= part.rows[-1].address:
            if any(each.address == row.address for each in part.rows):
                return
            part = self.section(part.name)
        if self.header is not None:
            part.functions[row.address] = self.header
            self.header = None
        part.rows.append(row)
        self.at = row.address + len(row.code)


def read(source: SourceText) -> Dump | None:
    """The text as a dump; None if it is not one."""
    for columns in (_MASM,) if source.has(_OF_MASM.search) else _COLUMNS:
        if source.has(columns.search):
            dump, unread = _read(source.text, columns)
            rows = [row for part in dump.parts for row in part.rows]
            if len(rows) >= max(_FEWEST, unread) and _fit(
                rows, "code" in columns.groupindex, "address" in columns.groupindex
            ):
                dump.parts = [part for part in dump.parts if part.rows]
                return dump
    return None


def _read(text: str, columns: re.Pattern[str]) -> tuple[Dump, int]:
    """The rows, and the number of lines that look like rows but are none."""
    found = _DumpBuilder()
    is_open = False
    unread = 0
    for number, line in enumerate(text.splitlines()):
        if match := columns.match(line):
            is_open = _row(found, number, match)
            if header := re.match(_PROC, line):
                found.header = header["name"], number
        elif is_open and (match := re.match(_MORE, line)):
            row = found.part.rows[-1]
            row.code += _numbers(match["code"]) if columns is _MASM else _bytes(match["code"])
            found.at = row.address + len(row.code)
        elif match := SECTION.match(line):
            found.section(match["name"])
        elif match := re.match(_GO, line):
            found.header = match[1], number
        elif (match := re.match(_HEADER, line)) and not re.fullmatch(_WITHIN, match["name"] or ""):
            found.header = match["exact"] or match["name"], number
            if match["name"]:
                # Compiler Explorer leaves out the padding before a function.
                found.at += -found.at % _USUAL_ALIGNMENT
        else:
            is_open = False
            unread += re.match(_UNREAD, line) is not None
            if header := re.match(_PROC, line):
                found.header = header["name"], number
            found.dump.is_object |= OBJECT.match(line) is not None
    for row in [row for part in found.dump.parts for row in part.rows if not row.code]:
        match = re.fullmatch(_BY_NAME, row.text)
        if match and (base := found.bases.get(match["name"])) is not None:
            row.text = f"{match['jump']} {base + int(match['offset'] or '0', 0):#x}"
    return found.dump, unread


def _row(found: _DumpBuilder, number: int, match: re.Match[str]) -> bool:
    """Add a row. Whether the next line may continue its code."""
    groups = match.groupdict()
    text = COMMENT.sub("", match["text"]).rstrip(" \t|")
    if not text or re.match(_NO_INSTRUCTION, text):
        return False
    address = int(groups["address"].replace("`", ""), 16) if groups.get("address") else found.at
    if place := re.fullmatch(_PLACE, groups.get("place") or ""):
        base = address - int(place["offset"] or "0", 0)
        if place["name"] not in found.bases:
            found.bases[place["name"]] = base
            found.header = found.header or (place["name"], number)
    code = _bytes(groups.get("code") or "") + _numbers(groups.get("numbers") or "")
    found.add(DumpRow(number, match.start("text"), address, code, text))
    return bool(code)


def _bytes(pairs: str) -> bytes:
    return bytes.fromhex(re.sub(_MARK, "", pairs))


def _numbers(shown: str) -> bytes:
    """Displacements and constants, which MASM shows as numbers of several bytes."""
    return b"".join(bytes.fromhex(each)[::-1] for each in shown.split())


def _fit(rows: Sequence[DumpRow], has_code: bool, has_addresses: bool) -> bool:
    """Whether most rows fit their neighbours, or without addresses have the code of what they name."""
    if has_addresses:
        fitting = sum(
            behind.address == row.address + len(row.code)
            if has_code
            else 0 < behind.address - row.address <= _LONGEST
            for row, behind in pairwise(rows)
        )
        return 2 * fitting >= len(rows) - 1
    return 2 * sum(map(is_of_its_code, rows)) > len(rows)


def is_of_its_code(row: DumpRow) -> bool:
    """Whether a row's code is one instruction, and its text may be that. ``c0 equ 100`` is none, because
    ``c0`` alone is no instruction, and ``aa equ 5`` none, because ``aa`` is STOSB. Names differ between
    disassemblers, but not in their first letter."""
    instruction = decode(row.code)[0]
    if instruction.length != len(row.code) or not instruction.mnemonic:
        return False
    return any(word[0] == instruction.mnemonic[0] for word in row.text.lower().split())
