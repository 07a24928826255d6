"""Turns a listing into instructions: jump targets, the statements of regions, loops, and functions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.frontend.control_flow import control_flow
from cyclelens.analyzer.frontend.control_flow.blocks import FoundRuns
from cyclelens.analyzer.frontend.control_flow.loops import FoundLoop, name_loops
from cyclelens.analyzer.frontend.files.listings import ListedBytes, Listing
from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError
from cyclelens.analyzer.frontend.objects.machine_flow import (
    PADDING,
    MachineCode,
    Surroundings,
    code_of,
    is_padding,
)
from cyclelens.analyzer.frontend.source.lexer import SYMBOL
from cyclelens.analyzer.frontend.source.markers import Span
from cyclelens.analyzer.frontend.source.scanner import LineIndex
from cyclelens.analyzer.frontend.statements.jumps import JUMPS, Jump
from cyclelens.analyzer.frontend.statements.layout import Piece
from cyclelens.analyzer.frontend.statements.operand_types import BranchTarget
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.source import JumpPlace, SourceLine
from msgspec import Struct, field
from msgspec.structs import replace

_LABEL = r'^(?:\s*(?:"[^"\n]+"|[\w.$?@%~#]+)\s*:(?![:=]))+'
_PLAIN_NAME = re.compile(SYMBOL)
_IACA_BEGIN, _IACA_END = bytes.fromhex("bb6f000000"), bytes.fromhex("bbde000000")
_IACA_BYTES = bytes.fromhex("646790")
_LONGEST_INSTRUCTION = 15
_APART = 32
"""Bit position above which the addresses of two sections differ."""


class SectionCode(Struct):
    """Code of one section: a piece per instruction (or directive) with its listing entry."""

    name: str
    pieces: list[Piece]
    listed: list[ListedBytes]
    firsts: list[int]
    """For each piece the index of the first one of the same statement."""
    caches: Caches = field(default_factory=Caches)
    """Caches of decoded instructions."""
    _texts: dict[int, list[str]] = field(default_factory=dict)
    """Texts of a statement's pieces, by its first piece; filled on demand."""

    def source_line(self, at: int, place_of: Callable[[int], tuple[tuple[int, int, int], str]]) -> SourceLine:
        """Source line of a piece. ``place_of``: line number -> ((line, column, end column) of its content,
        content)."""
        piece, listed = self.pieces[at], self.listed[at]
        text = self._text(at)
        place, content = place_of(listed.line)
        use = "" if text in content else _without_label(content)
        return SourceLine(*place, text, piece.code, piece.backend, use=use)

    def jump(self, at: int) -> JumpPlace:
        """Location and text of a piece, for messages."""
        return JumpPlace(self.listed[at].line, self._text(at))

    def _text(self, at: int) -> str:
        first = self.firsts[at]
        if first not in self._texts:
            behind = bisect_right(self.firsts, first, lo=first)
            self._texts[first] = _texts(self.listed[at], self.pieces[first:behind], self.caches)
        return self._texts[first][at - first]


EMPTY = SectionCode("", [], [], [])


class ListedCode(Struct, frozen=True):
    """A region with its section and its pieces."""

    span: Span
    section: SectionCode
    pieces: list[int]
    runs: FoundRuns | None = None
    """Execution order; None for marked code."""
    loop: FoundLoop | None = None
    """Other facts about a detected loop."""
    is_function: bool = False


def sections(
    listing: Listing, user_lines: Callable[[int], int], backend: str, caches: Caches
) -> dict[str, SectionCode]:
    """Sections with resolved jumps. ``user_lines``: line of the listing -> line of the file."""
    found: dict[str, SectionCode] = {}
    for listed in listing.statements:
        if (line := user_lines(listed.line)) != listed.line:
            listed = replace(listed, line=line)
        section = found.setdefault(listed.section, SectionCode(listed.section, [], [], [], caches))
        if listed.is_data or (listed.is_alignment and not _jumps(listed, caches)):
            parts: list[Piece] = [Piece(listed.code, backend, offset=listed.address)]
        else:
            parts = list(_instructions(listed, backend, caches))
        section.firsts += [len(section.pieces)] * len(parts)
        section.pieces += parts
        section.listed += [listed] * len(parts)
    for section in found.values():
        _resolve(section)
    return found


def _jumps(listed: ListedBytes, caches: Caches) -> bool:
    """Whether NASM filled the gap with a jump to its end, as it does with long gaps."""
    instructions = decode(listed.code[:_LONGEST_INSTRUCTION], caches)
    return bool(instructions) and instructions[0].mnemonic == "jmp"


def _instructions(listed: ListedBytes, backend: str, caches: Caches) -> Iterator[Piece]:
    offset = listed.address
    for instruction in decode(listed.code, caches):
        piece = Piece(instruction.code, backend, offset=offset)
        # A zero distance in the long form is a field that the linker fills in.
        is_open = not instruction.branch_displacement and instruction.length > 2
        if instruction.mnemonic in JUMPS and instruction.branch_displacement is not None and not is_open:
            target = str(offset + instruction.length + instruction.branch_displacement)
            piece.jump = Jump(instruction.mnemonic, JUMPS[instruction.mnemonic], BranchTarget(target))
        offset += instruction.length
        yield piece


def _texts(listed: ListedBytes, parts: Sequence[Piece], caches: Caches) -> list[str]:
    """Written text of each piece, if the pieces can be matched with the statements; otherwise the decoded
    text."""
    written = [] if listed.unlike else [text.strip() for text in _without_label(listed.text).split(";")]
    if len(parts) == 1 and (listed.is_data or not listed.unlike):
        return [_without_label(listed.text)]
    if len(written) == len(parts):
        return written
    decoded = (decode(part.code, caches) for part in parts)
    return ["; ".join(each.text or each.code.hex() for each in instructions) for instructions in decoded]


def _without_label(text: str) -> str:
    return re.sub(_LABEL, "", text).strip()


def _resolve(section: SectionCode) -> None:
    places: dict[int, int] = {}
    for at, piece in enumerate(section.pieces):
        if piece.code:
            places.setdefault(piece.offset, at)
    for piece in section.pieces:
        if piece.jump is not None:
            piece.target = places.get(int(piece.jump.target.text))


def within(
    found: dict[str, SectionCode], span: Span, lines: LineIndex, text: str
) -> tuple[SectionCode, list[int]] | None:
    """The pieces of a region's statements, in the section of the first one that is not data."""
    chosen: list[tuple[SectionCode, list[int]]] = []
    for section in found.values():
        inside = [
            at
            for at, listed in enumerate(section.listed)
            if span.first_line <= listed.line <= span.last_line
            and span.start <= lines.content(listed.line, text)[0] < span.end
        ]
        while inside and section.listed[inside[0]].is_alignment:
            # Padding before the first instruction does not belong to the region.
            del inside[0]
        if inside:
            chosen.append((section, inside))
    code = [item for item in chosen if any(not item[0].listed[at].is_data for at in item[1])]
    return next(iter(code or chosen), None)


def loops(
    listing: Listing,
    found: dict[str, SectionCode],
    user_lines: Callable[[int], int],
    lines: LineIndex,
    text: str,
    caches: Caches,
) -> list[ListedCode]:
    """Loops of the code; a loop with code in several sections has one entry for each section."""
    machine = MachineCode()
    origins: list[tuple[SectionCode, int]] = []
    for number, section in enumerate(found.values()):
        if section.name in listing.code_sections:
            base = None if listing.object is None else listing.object.base(section.name)
            for at, piece in enumerate(section.pieces):
                origin = number << _APART if base is None else base
                machine.add(piece.offset + origin, len(piece.code), _instruction(section, at), origin)
                origins.append((section, at))
    around = None if listing.object is None else Surroundings(listing.object)
    found_loops = control_flow.find_loops(code_of(machine, around), caches)
    known: dict[int, tuple[str, int]] = {}
    for loop in found_loops:
        section, at = origins[loop.lowest]
        name, line = listing.labels.get((section.name, section.pieces[at].offset), ("", -1))
        line = user_lines(line) if line >= 0 else section.listed[at].line
        known[loop.key] = name if _PLAIN_NAME.fullmatch(name) else "", line
    names = name_loops(found_loops, known)

    def jump_at(place: int) -> JumpPlace:
        section, at = origins[place]
        return section.jump(at)

    result: list[ListedCode] = []
    for loop in found_loops:
        parts, is_path = loop.parts
        loop_found = FoundLoop(loop, jump_at)
        by_section: dict[str, list[tuple[int, list[int]]]] = {}
        for number, part in enumerate(parts, 1):
            run = [origins[place][1] for place in part.block.places]
            by_section.setdefault(origins[part.block.first][0].name, []).append((number, run))
        for section_name, own in by_section.items():
            section = found[section_name]
            runs = [run for _, run in own]
            pieces = sorted(at for run in runs for at in run)
            line = (
                known[loop.key][1] if section is origins[loop.lowest][0] else section.listed[pieces[0]].line
            )
            span = _span(names[loop.key], line, section.listed[pieces[-1]].line, lines, text)
            executed = FoundRuns.of_loop(runs, () if is_path else [number for number, _ in own])
            result.append(ListedCode(span, section, pieces, executed, loop_found))
    return result


def _span(name: str, line: int, last_line: int, lines: LineIndex, text: str) -> Span:
    """The place of code from one line to another, or of the first one if the other is above it."""
    start, end = lines.content(line, text)
    _, column, end_column = lines.span(start, end)
    last_line = max(last_line, line)
    return Span(name, start, lines.content(last_line, text)[1], line, last_line, column, end_column)


def _instruction(section: SectionCode, at: int) -> Instruction | None:
    """Instruction of a piece. None for data, except a return that is written as bytes."""
    piece, listed = section.pieces[at], section.listed[at]
    if not piece.code or (listed.is_alignment and piece.jump is None):
        return PADDING
    is_short = not listed.is_data or len(piece.code) <= _LONGEST_INSTRUCTION
    instructions = decode(piece.code, section.caches) if is_short else ()
    if listed.is_data and not (instructions and instructions[-1].mnemonic == "ret"):
        return None
    return instructions[-1]


def functions(
    listing: Listing,
    found: dict[str, SectionCode],
    user_lines: Callable[[int], int],
    lines: LineIndex,
    text: str,
) -> Iterator[ListedCode]:
    """All functions, in the order of their sections. ``user_lines``: line of the listing -> line of the
    file."""
    file = listing.object
    if file is None:
        return
    try:
        known = file.functions
    except ObjectFileError:
        return
    for section in found.values():
        base = file.base(section.name)
        if base is None or section.name not in listing.code_sections:
            continue
        for function in known:
            if function.origin != base:
                continue
            first, end = function.address - base, function.end - base
            inside = [at for at, piece in enumerate(section.pieces) if first <= piece.offset < end]
            while inside and (section.listed[inside[-1]].is_data or _fills(section, inside[-1])):
                inside.pop()
            if not inside:
                continue
            label = listing.labels.get((section.name, first))
            line = section.listed[inside[0]].line
            if label is not None and label[1] >= 0:
                line = min(user_lines(label[1]), line)
            span = _span(function.name, line, section.listed[inside[-1]].line, lines, text)
            yield ListedCode(span, section, inside, is_function=True)


def _fills(section: SectionCode, at: int) -> bool:
    """Whether a piece is only padding."""
    code = section.pieces[at].code
    return not code or section.listed[at].is_alignment or all(map(is_padding, decode(code, section.caches)))


def iaca(found: dict[str, SectionCode], lines: LineIndex, text: str) -> Iterator[ListedCode]:
    """Regions between IACA markers."""
    number = 0
    for section in found.values():
        first = -1
        for at, piece in enumerate(section.pieces):
            if piece.code not in (_IACA_BEGIN, _IACA_END) or not (
                end := _behind_bytes(section.pieces, at + 1)
            ):
                continue
            if piece.code == _IACA_BEGIN:
                first = end
            elif first >= 0:
                number += 1
                opening, last_line = section.listed[first - 1].line, section.listed[at].line
                start, stop = lines.content(opening, text)
                line, column, end_column = lines.span(start, stop)
                last = max(line, last_line)
                span = Span(f"iaca-{number}", start, stop, line, last, column, end_column)
                yield ListedCode(span, section, list(range(first, at)))
                first = -1


def _behind_bytes(pieces: Sequence[Piece], at: int) -> int:
    """Index after the three bytes that complete a marker; 0 if they are missing."""
    code = b""
    while len(code) < len(_IACA_BYTES) and at < len(pieces):
        code += pieces[at].code
        at += 1
    return at if code == _IACA_BYTES else 0
