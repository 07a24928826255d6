"""Parses listings of GNU as and NASM: the bytes, section and labels of each line.

A listing shows the expansion of macros, all of which belongs to the line that uses the macro.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from io import BytesIO

from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.source.lexer import without_comments
from msgspec import Struct, field

_GNU_LINE = r"\s*(\d+)(?: ([0-9a-f]{4,}|\?{4,}) ([0-9A-F]+(?: [0-9A-F]+)*))?\s*"
_GNU_CONTINUED = r"\s*(\d+)\s+([0-9A-F]{2,}(?: [0-9A-F]+)*)\s*"
_GNU_DEPTH = r"(?s)(>*)\s*(.*)"
_NASM_LINE = (
    r" *(\d+) (?:([0-9A-F]{8}) ((?:[0-9A-F]+|[\[({][0-9A-F]+[\])}]|<(?:rep|bin) [0-9A-F]+h>|\?+|-)+))?"
)
_NASM_LEVEL = r"\s*<(\d+)> ?"
_NASM_TIMES = r"(?i)\s*(?:[\w.$%?@]+:?\s+)?times\b"
_NASM_PIECE = r"([0-9A-F]+)|[\[({]([0-9A-F]+)[\])}]|<(rep|bin) ([0-9A-F]+)h>|(\?+)|-"
_NASM_NOTHING = rb"(?im)(?:^[ \d]{6} {30}<\d++>[ \t]*+(?!\[?[ \t]*se[cg]|[\w.$?@%~#]++[ \t]*:|\")[^\n]*+\n)++"
"""Lines of macros, which make up most of a listing: no code, no label, no section or segment directive."""
_NASM_TEXT = 40
"""Column where the source begins in a NASM listing."""
_MAXIMUM_REPEATED = 1 << 16

_LABEL = re.compile(r'\s*(?:"([^"\n]+)"|([A-Za-z_.$?@%][\w.$?@%~#]*|\d+))\s*:(?![:=])')
_GNU_SECTION = r"(?i)\s*\.(text|data|bss|section|pushsection|popsection|previous)\b\s*\"?([\w.$]*)\"?(.*)"
_NASM_SECTION = r"(?i)\s*\[?\s*(?:section|segment)\s+([\w.$]+)([^\]\n;]*)\]?"
_NASM_ABSOLUTE = r"(?i)\s*\[?\s*(?:absolute|struc)\b"
"""What follows has addresses of its own, and no code."""
_NASM_STRUCTURE_END = r"(?i)\s*endstruc\b"
_NASM_SWITCH = r"(?i)\s*\[?\s*(?:section|segment)\b"
_GNU_DATA = (
    r"(?i)\s*(?:[\w.$]+:\s*)*\.(?:byte|[248]byte|d?c\.\w|hword|short|value|word|int|long|quad|octa|float|"
    r"single|double|ascii|asciz|string\d*|zero|skip|space|fill|org|incbin|[su]leb128)\b"
)
_NASM_DATA = r"(?i)\s*(?:[\w.$%?@]+:?\s+)?(?:times\s+\S+\s+)?(?:d[bwdqtoyz]|res[bwdqtoyz]|incbin)\b"
_ALIGNMENT = r"(?i)\s*(?:[\w.$]+:\s*)*\.?(?:p2|b)?align[wl]?(?:mode)?\b"


class ListedBytes(Struct):
    """Bytes of one statement, or of several on one line."""

    line: int
    """Zero-based line of the file that the assembler read."""
    section: str
    address: int
    """Bytes from the start of the section."""
    code: bytes
    text: str
    """Source text; for macros, as written in their definition."""
    unlike: bool = False
    """Macros may have changed ``text`` before it was encoded."""

    @property
    def is_data(self) -> bool:
        """Whether a data directive made the bytes."""
        return bool(re.match(_GNU_DATA, self.text) or re.match(_NASM_DATA, self.text))

    @property
    def is_alignment(self) -> bool:
        """Whether an alignment directive made the bytes."""
        return bool(re.match(_ALIGNMENT, self.text))


class Listing(Struct):
    """A parsed listing in file order. ``labels``: (section, address) -> (name, line). ``alignments``: bytes
    by section. ``object``: the assembled object, if it can be read."""

    statements: list[ListedBytes] = field(default_factory=list)
    labels: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)
    code_sections: set[str] = field(default_factory=lambda: {".text"})
    alignments: dict[str, int] = field(default_factory=dict)
    object: ObjectFile | None = None


class _ListedSection(Struct):
    """Statements of a listing that follow a section directive."""

    first: int
    """Index of its first statement."""
    section: str
    """Name in the directive, if there is one."""
    is_sure: bool
    """The directive is in the text itself, not in a macro or an included file."""


class _Sections(Struct):
    """Section that receives the next bytes."""

    current: str = ".text"
    previous: str = ".text"
    stack: list[tuple[str, str]] = field(default_factory=list)

    def gnu(self, text: str, listing: Listing) -> None:
        if (match := re.match(_GNU_SECTION, text)) is None:
            return
        word, name, rest = match[1].lower(), match[2], match[3]
        if word == "popsection":
            if self.stack:
                self.current, self.previous = self.stack.pop()
            return
        if word == "pushsection":
            self.stack.append((self.current, self.previous))
        if word == "previous":
            name = self.previous
        elif word in ("text", "data", "bss"):
            name = f".{word}"
        flags = re.search(r'"([a-zA-Z]*)"', rest)
        if name.startswith(".text") or (flags and "x" in flags[1]):
            listing.code_sections.add(name)
        self.previous, self.current = self.current, name

    def nasm(self, text: str, listing: Listing) -> None:
        if match := re.match(_NASM_SECTION, text):
            self.current = match[1]
            words = match[2].lower().split()
            if match[1].lower().startswith(".text") or ("exec" in words and "noexec" not in words):
                listing.code_sections.add(match[1])


def read_gnu(text: str) -> Listing:
    """Parse a listing of ``as -almn``, which includes macro expansions."""
    listing, sections = Listing(), _Sections()
    waiting: list[tuple[str, int]] = []
    for line in text.split("\n"):
        left, tab, source = line.partition("\t")
        if not tab:
            if listing.statements and (match := re.fullmatch(_GNU_CONTINUED, left)):
                listing.statements[-1].code += bytes.fromhex(match[2])
            continue
        match = re.fullmatch(_GNU_LINE, left)
        if match is None:
            continue
        depth = re.fullmatch(_GNU_DEPTH, source)
        assert depth is not None, "everything in it is optional"
        statement = depth[2]
        sections.gnu(statement, listing)
        waiting += ((name, int(match[1]) - 1) for name in _labels(statement))
        # The expansion of a repetition follows its end, where it is also listed a second time.
        if match[2] is None or re.match(r"\s*\.endr\b", statement, re.IGNORECASE):
            continue
        address = int(match[2], 16) if match[2][0] != "?" else 0
        code = bytes.fromhex(match[3])
        listed = ListedBytes(int(match[1]) - 1, sections.current, address, code, statement)
        _add(listing, listed, waiting)
    return listing


def read_nasm(content: bytes, file: ObjectFile | None = None) -> Listing:
    """Parse a listing of ``nasm -l``, which may have a hundred megabytes of macros. ``file``: the object that
    NASM made."""
    listing, sections = Listing(), _Sections()
    waiting: list[tuple[str, int]] = []
    labels: list[tuple[int, tuple[str, int]]] = []
    listed_sections: list[_ListedSection] = []
    user_line, continued, repeats, is_absolute = 0, False, False, False
    for raw in BytesIO(re.sub(_NASM_NOTHING, b"", content)):
        line = raw.decode("utf-8", "replace").rstrip("\n")
        match = re.match(_NASM_LINE, line)
        if match is None:
            continue
        source = line[_NASM_TEXT:] if len(line) > _NASM_TEXT else ""
        level = re.match(_NASM_LEVEL, line[match.end() :])
        if not continued and (level is None or (repeats and level[1] == "1")):
            # Lines of a repetition follow its end, with their own numbers.
            user_line = int(match[1]) - 1
            repeats = repeats if level else source.strip().lower().startswith("%endrep")
        if re.match(_NASM_SWITCH, source):
            sections.nasm(source, listing)
            listed_sections.append(_ListedSection(len(listing.statements), sections.current, level is None))
            is_absolute = False
        is_absolute = is_absolute or re.match(_NASM_ABSOLUTE, source) is not None
        if is_absolute:
            is_absolute = re.match(_NASM_STRUCTURE_END, source) is None
            continue
        if not continued:
            waiting += ((name, user_line) for name in _labels(source))
        data = match[3]
        if data is None:
            continued = False
            continue
        if continued and listing.statements:
            listing.statements[-1].code = _nasm_bytes(data, listing.statements[-1].code)
        else:
            code = _nasm_bytes(data)
            unlike = level is not None
            listed = ListedBytes(user_line, sections.current, int(match[2], 16), code, source.strip(), unlike)
            labels += ((len(listing.statements), label) for label in waiting)
            waiting.clear()
            listing.statements.append(listed)
        continued = data.endswith("-")
    if file is not None:
        _settle(listing, listed_sections, file)
    for number, label in labels:
        listed = listing.statements[number]
        listing.labels.setdefault((listed.section, listed.address), label)
    _fit_repeated(listing, file)
    return listing


def _settle(listing: Listing, listed_sections: Sequence[_ListedSection], file: ObjectFile) -> None:
    """Assign statements after section directives in macros to the sections that have their bytes in the
    object. Listings include untaken macro branches, and names with unexpanded parameters."""
    codes = {name: file.section(name)[0] for name in file.names_of_code}
    ends = [*(listed_section.first for listed_section in listed_sections), len(listing.statements)][1:]
    for listed_section, end in zip(listed_sections, ends, strict=True):
        own = listing.statements[listed_section.first : end]
        if listed_section.is_sure or not own:
            continue
        same = {
            name: sum(code[one.address : one.address + len(one.code)] == one.code for one in own)
            for name, code in codes.items()
        }
        found = max(same, key=lambda name: (same[name], name == listed_section.section), default="")
        if 2 * same.get(found, 0) > len(own):
            listing.code_sections.add(found)
        elif listed_section.section in listing.code_sections:
            found = ""
        else:
            found = listed_section.section
        for listed in own:
            listed.section = found


def _fit_repeated(listing: Listing, file: ObjectFile | None) -> None:
    """Fit repeated bytes to the room before the next address. In `EB0D90<rep Dh>` only the last byte repeats,
    and in `7483<rep 3h>` a later copy of the jump may take more bytes than the first. Only the next address
    tells."""
    following: dict[str, int] = {}
    for listed in reversed(listing.statements):
        code = file.section(listed.section)[0] if file is not None else b""
        room = following.get(listed.section, len(code) or listed.address) - listed.address
        if 0 < room < len(listed.code):
            listed.code = listed.code[:room]
        elif room > len(listed.code) and re.match(_NASM_TIMES, listed.text):
            made = code[listed.address : listed.address + room]
            listed.code = made if len(made) == room else listed.code
        following[listed.section] = listed.address


def _nasm_bytes(data: str, code: bytes = b"") -> bytes:
    """Bytes of a statement, appended to ``code``. Brackets contain addresses that the linker fills in.
    Repeated bytes may be too many."""
    for match in re.finditer(_NASM_PIECE, data):
        if match[1] or match[2]:
            code += bytes.fromhex(match[1] or match[2])
        elif match[3]:
            count = min(int(match[4], 16), _MAXIMUM_REPEATED)
            code = code * count if match[3] == "rep" else bytes(count)
        elif match[5]:
            code += bytes(len(match[5]) // 2)
    return code


def _labels(source: str) -> Iterator[str]:
    position = 0
    while match := _LABEL.match(source, position):
        yield match[1] or match[2]
        position = match.end()


def _add(listing: Listing, listed: ListedBytes, waiting: list[tuple[str, int]]) -> None:
    for label in waiting:
        listing.labels.setdefault((listed.section, listed.address), label)
    waiting.clear()
    listing.statements.append(listed)


def lines_of_repetitions(listing: Listing, lines: Sequence[str]) -> None:
    """Move statements that GNU as lists at a `.endr` to the lines of the repetition's body with the same
    text."""
    bodies = dict(_repetitions(lines))
    positions: dict[int, int] = {}
    for listed in listing.statements:
        end = listed.line
        body = bodies.get(end, [])
        wanted, first = _normal(listed.text), positions.get(end, 0)
        for step in range(len(body)):
            number = (first + step) % len(body)
            if body[number][1] == wanted:
                positions[end] = number + 1
                listed.line = body[number][0]
                break


def _repetitions(lines: Sequence[str]) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """Line of each `.endr` with the statements of its body and their lines."""
    opened: list[int] = []
    for number, line in enumerate(lines):
        word = line.strip().lower()
        if re.match(r"\.(?:rept|rep|irpc?)\b", word):
            opened.append(number)
        elif re.match(r"\.endr\b", word) and opened:
            inside = range(opened.pop() + 1, number)
            yield number, [(at, _normal(part)) for at in inside for part in lines[at].split(";")]


def _normal(text: str) -> str:
    """A statement without labels, comments and blanks."""
    text = without_comments(text)
    while match := _LABEL.match(text):
        text = text[match.end() :]
    return re.sub(r"\s+", "", text).lower()
