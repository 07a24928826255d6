"""Functions of an object file to regions: what ``frontend`` is for a text.

The regions of a function are what IACA's byte markers enclose, or else its innermost loops, or else its basic
blocks. Every region lies where it lies in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from cyclelens.analyzer.assembly import blocks
from cyclelens.analyzer.assembly.decoder import decode
from cyclelens.analyzer.assembly.elf import Function, LinePlace, ObjectFile, ObjectFileError
from cyclelens.analyzer.assembly.loops import innermost
from cyclelens.analyzer.assembly.problems import make_problem
from cyclelens.analyzer.assembly.regions import MAXIMUM_REGIONS
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.source import (
    UNKNOWN_LINE,
    AssembledFile,
    Placement,
    Problem,
    Region,
    Severity,
    SourceLine,
)

MAXIMUM_FUNCTION = 1 << 20
"""Bytes of a function that is looked at."""
MAXIMUM_FUNCTIONS = 100
"""Functions that are analysed without being named."""
_PADDING = frozenset(["nop", "int3"])
_LEAVING = re.compile(r"ret|retf|iret|ud2|hlt|jmp")
_IACA_START = b"\xbb\x6f\x00\x00\x00\x64\x67\x90"
_IACA_END = b"\xbb\xde\x00\x00\x00\x64\x67\x90"

_Run = tuple[str, Sequence[int]]
"""A name and the positions of instructions."""


@dataclass(frozen=True, slots=True)
class _Listing:
    """A function's instructions, by position."""

    function: Function
    instructions: Sequence[Instruction]
    addresses: Sequence[int]
    targets: Sequence[int | None]
    """Position of the instruction that a jump goes to."""
    places: Sequence[LinePlace | None]


def regions_of(
    file: ObjectFile, functions: Iterable[Function], regions: str = "markers", *, whole: bool = False
) -> AssembledFile:
    """The regions of functions. ``regions``: ``loops`` and ``both`` (with IACA's markers) as for texts;
    ``markers`` takes the loops of a function that has no markers. ``whole``: a function without loops is a
    region too. Raises ``ObjectFileError`` if code cannot be read.
    """
    found: list[Region] = []
    problems: list[Problem] = []
    for function in functions:
        listing = _read(file, function)
        for name, run in _runs(file, listing, regions, whole=whole):
            found += _regions(listing, name, run, problems)
    if len(found) > MAXIMUM_REGIONS:
        message = f"Only the first {MAXIMUM_REGIONS:,} regions are analysed: name a function."
        problems.append(make_problem("too-many-regions", message, UNKNOWN_LINE, 0, 0))
        del found[MAXIMUM_REGIONS:]
    return AssembledFile(tuple(found), tuple(problems), "intel")


def named_regions(file: ObjectFile, name: str | None, regions: str) -> AssembledFile:
    """The regions of one function, or of all functions with loops if none is named. Raises
    ``ObjectFileError`` if there is nothing of that kind."""
    if name is not None:
        found = regions_of(file, [file.find(name)], regions, whole=True)
        message = f"'{name}' has no code"
    else:
        found = regions_of(file, _all_functions(file), regions)
        message = "no function has a loop: choose one with --function NAME, and its basic blocks are analysed"
    if not found.regions:
        raise ObjectFileError(message)
    return found


def _all_functions(file: ObjectFile) -> Sequence[Function]:
    functions = outermost(file.functions or file.unnamed())
    if not functions:
        raise ObjectFileError("the file has no function: neither symbols nor tables for unwinding name one")
    if len(functions) > MAXIMUM_FUNCTIONS:
        raise ObjectFileError(
            f"the file has {len(functions):,} functions: choose one with --function NAME; --list-functions "
            "lists them"
        )
    return functions


def outermost(functions: Iterable[Function]) -> list[Function]:
    """Without second names, and without those that lie within others."""
    found: list[Function] = []
    for function in sorted(functions, key=lambda function: (function.address, -function.size)):
        if not found or function.end > found[-1].end:
            found.append(function)
    return found


def _read(file: ObjectFile, function: Function) -> _Listing:
    code = file.code(function)
    if len(code) > MAXIMUM_FUNCTION:
        raise ObjectFileError(
            f"'{function.name}' has {len(code):,} bytes; functions of up to {MAXIMUM_FUNCTION:,} are analysed"
        )
    instructions = decode(code)
    ends = list(accumulate((item.length for item in instructions), initial=function.address))
    addresses = ends[:-1]
    position = {address: at for at, address in enumerate(addresses)}
    targets = [
        position.get(end + item.branch_displacement)
        if item.branch_displacement is not None and item.mnemonic not in blocks.FALLING_BACK
        else None
        for item, end in zip(instructions, ends[1:], strict=True)
    ]
    return _Listing(function, instructions, addresses, targets, file.places(function, addresses))


def _runs(file: ObjectFile, listing: _Listing, regions: str, *, whole: bool) -> Iterator[_Run]:
    """Which instructions are wanted; ``whole``: those of the function if nothing else is."""
    name = listing.function.name
    marked = [] if regions == "loops" else list(_marked(file.code(listing.function), listing))
    for number, run in enumerate(marked, 1):
        yield f"{name}.iaca-{number}", run
    if marked and regions == "markers":
        return
    inside = {at for run in marked for at in run}
    jumps = ((at, target) for at, target in enumerate(listing.targets) if target is not None)
    loops = [range(target, jump + 1) for target, jump in innermost(jumps) if target not in inside]
    for number, run in enumerate(loops, 1):
        yield f"{name}.loop-{number}", run
    if whole and not loops and not marked:
        last = len(listing.instructions)
        while last and listing.instructions[last - 1].mnemonic in _PADDING:
            last -= 1
        if last:
            yield name, range(last)


def _marked(code: bytes, listing: _Listing) -> Iterator[Sequence[int]]:
    """What stands between the bytes that IACA's macros put into the code."""
    start = code.find(_IACA_START)
    while start >= 0:
        end = code.find(_IACA_END, start)
        if end < 0:
            return
        first, last = (listing.function.address + at for at in (start + len(_IACA_START), end))
        yield [at for at, address in enumerate(listing.addresses) if first <= address < last]
        start = code.find(_IACA_START, end)


def _regions(listing: _Listing, name: str, run: Sequence[int], problems: list[Problem]) -> Iterator[Region]:
    """The region, or its basic blocks if it branches within itself."""
    # Ways out of a loop are taken to fall through; those of a whole function end their block.
    leaving = (
        {at for at in run if _LEAVING.fullmatch(listing.instructions[at].mnemonic)}
        if name == listing.function.name
        else ()
    )
    parts = blocks.cut(listing.targets, run, leaving)
    if len(parts) == 1:
        yield _region(listing, name, parts[0])
        return
    message = f"'{name}' branches within itself: its {len(parts)} basic blocks are analysed one by one."
    problems.append(make_problem("inner-branch", message, UNKNOWN_LINE, 0, 0, Severity.INFORMATION))
    for number, part in enumerate(parts, 1):
        yield _region(listing, f"{name}.{number}", part)


def _region(listing: _Listing, name: str, run: Sequence[int]) -> Region:
    lines = tuple(_source_line(listing, at) for at in run)
    known = [line.line for line in lines if line.line != UNKNOWN_LINE] or [UNKNOWN_LINE]
    is_loop = bool(run) and listing.targets[run[-1]] == run[0]
    function = listing.function
    offset = listing.addresses[run[0]] - function.origin if run else 0
    placement = Placement.in_section(offset, function.alignment)
    return Region(name, min(known), max(known), {}, lines, is_loop, placement=placement)


def _source_line(listing: _Listing, at: int) -> SourceLine:
    instruction, place = listing.instructions[at], listing.places[at]
    address = listing.addresses[at] - listing.function.origin
    text = instruction.text
    if instruction.branch_displacement is not None:
        target = address + instruction.length + instruction.branch_displacement
        text = f"{text.rpartition(' ')[0]} {target % (1 << 64):#x}"
    line, column, file = (UNKNOWN_LINE, 0, "") if place is None else (place.line, place.column, place.file)
    return SourceLine(
        line,
        column,
        column,
        text,
        instruction.code,
        "object file",
        address=address,
        file=file,
    )
