"""Finds the regions of functions in an object file.

A function's regions are what IACA's byte markers enclose, otherwise its innermost loops, otherwise its basic
blocks. Every region keeps its alignment in the file.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence

from cyclelens.analyzer.frontend.control_flow import blocks, control_flow
from cyclelens.analyzer.frontend.control_flow.blocks import FoundRuns
from cyclelens.analyzer.frontend.control_flow.branching import Ending, of_blocks
from cyclelens.analyzer.frontend.control_flow.control_flow import TransferKind, kind_of
from cyclelens.analyzer.frontend.control_flow.loop_parts import Loop, is_in_one_piece, scattered
from cyclelens.analyzer.frontend.control_flow.loops import FoundLoop, MadeRegion, branchings, first_blocks
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.elf_format import (
    FOR_LINK_TIME,
    Function,
    LinePlace,
    ObjectFileError,
)
from cyclelens.analyzer.frontend.objects.machine_data import without_data
from cyclelens.analyzer.frontend.objects.machine_flow import (
    MachineCode,
    Surroundings,
    code_of,
    is_padding,
    near,
)
from cyclelens.analyzer.frontend.objects.sampled import OTHER_CODE, Placed, in_file
from cyclelens.analyzer.frontend.source.markers import MAXIMUM_REGIONS, Span
from cyclelens.analyzer.frontend.source.problems import make_problem
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.model.source import (
    UNKNOWN_LINE,
    AssembledFile,
    Branching,
    CompiledInstruction,
    Counts,
    JumpPlace,
    Placement,
    Problem,
    Region,
    Severity,
    SourceLine,
)
from cyclelens.analyzer.profiles.profile import Profile
from msgspec.structs import replace

MAXIMUM_FUNCTION = 1 << 20
"""Maximum bytes of an analysed function."""
MAXIMUM_FUNCTIONS = 100
"""Maximum functions that are analysed without being named."""
_LEAVING = r"ret|retf|iret|ud2|hlt|jmp"
_IACA_START = b"\xbb\x6f\x00\x00\x00\x64\x67\x90"
_IACA_END = b"\xbb\xde\x00\x00\x00\x64\x67\x90"

_FOLLOWED_BYTES = 1 << 16
"""Bytes of functions that are read only because others call or jump to them, to follow control flow."""

_Named = tuple[str, FoundRuns, FoundLoop | None]
"""Name, executed instructions, and facts about a detected loop."""


class _FunctionListing:
    """Instructions of functions and of those that they call. Places are indices in ``machine``."""

    def __init__(self, file: ObjectFile, wanted: Sequence[Function]) -> None:
        self.machine = MachineCode()
        self.lines: dict[int, LinePlace | None] = {}
        """Source places of the wanted functions' instructions, by address."""
        self._file = file
        self.caches = file.caches
        self._owners: list[Function] = []
        """Function of each instruction."""
        self._known = outermost(file.functions or file.unnamed())
        self._starts = [function.address for function in self._known]
        for function in sorted(self._followed(wanted), key=lambda function: function.address):
            address = function.address
            if self._owners and address < self.machine.ends[-1]:
                continue  # overlapping symbols
            inside = [entry for entry in file.entries if address < entry < function.end]
            code = file.code(function)
            for at, length, instruction in without_data(code, address, inside, file.data, file.caches):
                self.machine.add(at, length, instruction, function.origin)
                self._owners.append(function)
        self.targets = [self._target(place) for place in range(len(self._owners))]
        """For each instruction the place of its jump target."""
        for function in wanted:
            addresses = [self.machine.addresses[place] for place in self.within(function)]
            self.lines.update(zip(addresses, file.places(function, addresses), strict=True))

    def within(self, function: Function) -> range:
        """Places of a function's instructions."""
        addresses = self.machine.addresses
        return range(bisect_left(addresses, function.address), bisect_left(addresses, function.end))

    def loops(self) -> list[Loop]:
        """Loops of all code that was read."""
        return control_flow.find_loops(code_of(self.machine, Surroundings(self._file)), self._file.caches)

    def source_line(self, place: int) -> SourceLine:
        """An instruction with its source line."""
        instruction, address = self.machine.instructions[place], self.machine.addresses[place]
        assert instruction is not None, "no region has data"
        origin, line = self._owners[place].origin, self.lines.get(address)
        text, target = instruction.text, self.machine.target(place)
        if target is not None:
            text = f"{text.rpartition(' ')[0]} {(target - origin) % (1 << 64):#x}"
        number, column, file = (UNKNOWN_LINE, 0, "") if line is None else (line.line, line.column, line.file)
        code = instruction.code
        address_read = near(instruction, self.machine.ends[place])
        if address_read is not None:
            # The address replaces the distance, so that all instructions that read the same place look alike.
            distance = address_read - self.machine.ends[place]
            before = len(code) - instruction.immediate_bits // 8
            at = code.rfind(distance.to_bytes(4, "little", signed=True), 0, before)
            code = code[:at] + (address_read % (1 << 31)).to_bytes(4, "little") + code[at + 4 :]
        source = (number, column, column, text, code, "object file")
        return SourceLine(*source, address=address - origin, file=file)

    def made(self) -> Iterator[CompiledInstruction]:
        """Instructions of the wanted functions whose source line is known."""
        for address, line in self.lines.items():
            instruction = self.machine.instructions[self.machine.at[address]] if line is not None else None
            if line is not None and instruction is not None:
                yield CompiledInstruction(instruction.code, line.file, line.line, line.column, line.inlined)

    def placed(self, run: Sequence[int]) -> Iterator[Placed]:
        """Instructions of a run with their addresses."""
        for at in run:
            instruction = self.machine.instructions[at]
            assert instruction is not None, "no region has data"
            yield self.machine.addresses[at], instruction

    def placement(self, run: Sequence[int]) -> Placement:
        """Placement of a run's first instruction."""
        if not run:
            return Placement()
        owner = self._owners[run[0]]
        return Placement.in_section(self.machine.addresses[run[0]] - owner.origin, owner.alignment)

    def jump(self, place: int) -> JumpPlace:
        """Location and text of an instruction, for messages."""
        line = self.source_line(place)
        return JumpPlace(line.line, line.text, line.address)

    def endings(self, runs: Sequence[Sequence[int]]) -> list[Ending]:
        """How control leaves each run, and the run that it jumps to."""
        starts = {run[0]: number for number, run in enumerate(runs)}
        found: list[Ending] = []
        for run in runs:
            instruction, target = self.machine.instructions[run[-1]], self.targets[run[-1]]
            assert instruction is not None, "no region has data"
            kind = None if instruction.mnemonic in blocks.FALLING_BACK else kind_of(instruction.mnemonic)
            if kind is TransferKind.JUMP and instruction.branch_displacement is None:
                kind = TransferKind.SWITCH
            found.append((kind, None if target is None else starts.get(target)))
        return found

    def is_way_out(self, place: int) -> bool:
        """Whether control does not continue after the instruction."""
        instruction = self.machine.instructions[place]
        return instruction is not None and re.fullmatch(_LEAVING, instruction.mnemonic) is not None

    # Functions that are read

    def _followed(self, wanted: Sequence[Function]) -> Iterator[Function]:
        """The functions that contain the wanted ones, and those that they lead to, nearest first."""
        seen: set[int] = set()
        left = deque(self._containing(function.address) or function for function in wanted)
        free = len(left)
        size = 0
        while left:
            function = left.popleft()
            free -= 1
            if function.address in seen:
                continue
            seen.add(function.address)
            if free < 0:
                size += function.size
                if size > _FOLLOWED_BYTES:
                    continue
            yield function
            end = function.address
            for instruction in decode(self._file.code(function), self._file.caches):
                end += instruction.length
                if instruction.branch_displacement is not None:
                    target = end + instruction.branch_displacement
                    if not function.address <= target < function.end:
                        other = self._containing(target)
                        left += [] if other is None else [other]

    def _containing(self, address: int) -> Function | None:
        at = bisect_right(self._starts, address) - 1
        found = self._known[at] if at >= 0 else None
        return found if found is not None and address < found.end else None

    def _target(self, place: int) -> int | None:
        instruction, target = self.machine.instructions[place], self.machine.target(place)
        if target is None or instruction is None or instruction.mnemonic in blocks.FALLING_BACK:
            return None
        return self.machine.at.get(target)


_Profile = tuple[Profile, str] | None
"""A recorded profile, and the file's path when it was recorded."""


def regions_of(
    file: ObjectFile,
    functions: Iterable[Function],
    regions: Regions = Regions.AUTO,
    *,
    whole: bool = False,
    profile: _Profile = None,
) -> AssembledFile:
    """The regions of functions. ``regions``: ``loops`` and ``both`` (with IACA's markers) work as for texts;
    ``auto`` and ``markers`` take the loops of a function without markers. ``whole``: a function without loops
    is a region, too. Raises ``ObjectFileError`` if code cannot be read."""
    analysed: list[Branching] = []
    problems: list[Problem] = []
    made: list[MadeRegion] = []
    wanted = list(functions)
    for function in wanted:
        if len(file.code(function)) > MAXIMUM_FUNCTION:
            raise ObjectFileError(
                f"'{function.name}' has {function.size:,} bytes; only functions of up to "
                f"{MAXIMUM_FUNCTION:,} are analysed"
            )
    listing = _FunctionListing(file, wanted)
    loops = listing.loops()
    named = [
        each for function in wanted for each in _named(file, listing, function, loops, regions, whole=whole)
    ]
    if len(named) > MAXIMUM_REGIONS:
        message = (
            f"Only the first {MAXIMUM_REGIONS:,} of {len(named):,} regions are analysed: name a function."
        )
        problems.append(make_problem("too-many-regions", message, UNKNOWN_LINE, 0, 0, Severity.WARNING))
    sampled = None if profile is None else in_file(profile[0], file, profile[1])
    if sampled is not None and sampled.is_empty:
        sampled = None
        message = (
            "The profile is of other code: none of its addresses is in this file. For libraries, "
            "position-independent programs and objects, record symbols: perf script -F brstacksym, or "
            "perf annotate."
        )
        problems.append(make_problem("not-in-profile", message, UNKNOWN_LINE, 0, 0, Severity.WARNING))
    counts: dict[str, Counts] | None = None if sampled is None else {}
    for name, code, loop in named[:MAXIMUM_REGIONS]:
        own = _regions(listing, name, code)
        if sampled is not None and counts is not None:
            placed = [list(listing.placed(run)) for run in code.runs]
            if sampled.is_of(each for run in placed for each in run):
                counts.update(zip((region.name for region in own), map(sampled.counts, placed), strict=True))
            else:
                message = OTHER_CODE.format(name)
                problems.append(_about(name, "no-profile", message, Severity.WARNING))
        branching = None
        if loop is not None:
            if not code.numbers and not is_in_one_piece(code.runs[0]):
                problems.append(_about(name, "scattered-loop", scattered(name)))
        elif code.numbers:
            all_of_it = Region(name, own[0].first_line, own[-1].last_line)
            branching = of_blocks(all_of_it, own, listing.endings(code.runs))
            if branching is None or not branching.paths:
                message = f"its {len(own)} basic blocks are analysed one by one."
                problems.append(_about(name, "inner-branch", f"'{name}' branches within itself: {message}"))
        span = Span(name, 0, 0, own[0].first_line, own[-1].last_line, 0, 0)
        made.append(MadeRegion(span, own, branching, loop, code.numbers))
    kept, message, _ = first_blocks(made)
    if message:
        problems.append(make_problem("too-many-regions", message, UNKNOWN_LINE, 0, 0, Severity.WARNING))
    analysed += [one.branching for one in kept if one.branching is not None]
    for span, branching, message in branchings(kept):
        analysed += [] if branching is None else [branching]
        problems += [_about(span.name, "inner-branch", message)] if message else []
    return AssembledFile(
        tuple(region for one in kept for region in one.regions),
        tuple(problems),
        "intel",
        tuple(analysed),
        counts=counts,
        made=tuple(listing.made()),
    )


def named_regions(
    file: ObjectFile, name: str | None, regions: Regions, profile: _Profile = None
) -> AssembledFile:
    """The regions of one function, or of all functions with loops if ``name`` is None. Raises
    ``ObjectFileError`` if there are none."""
    if name is not None:
        found = regions_of(file, [file.find(name)], regions, whole=True, profile=profile)
        message = f"'{name}' has no code"
    else:
        functions = _all_functions(file)
        found = regions_of(file, functions, regions, profile=profile)
        if not found.regions and regions == Regions.AUTO:
            found = regions_of(file, functions, regions, whole=True, profile=profile)
        message = "no function has a loop: choose one with --function NAME to analyse it as a whole"
    if not found.regions:
        raise ObjectFileError(message)
    return found


def _all_functions(file: ObjectFile) -> Sequence[Function]:
    functions = outermost(file.functions or file.unnamed())
    if not functions and file.is_for_link_time:
        raise ObjectFileError(f"this is {FOR_LINK_TIME}")
    if not functions:
        raise ObjectFileError("the file has no function: neither symbols nor unwind tables name one")
    if len(functions) > MAXIMUM_FUNCTIONS:
        raise ObjectFileError(
            f"the file has {len(functions):,} functions: choose one with --function NAME; --list-functions "
            "lists them"
        )
    return functions


def outermost(functions: Iterable[Function]) -> list[Function]:
    """Functions without aliases and without those inside others."""
    found: list[Function] = []
    for function in sorted(functions, key=lambda function: (function.address, -function.size)):
        if not found or function.end > found[-1].end:
            found.append(function)
    return found


def _named(
    file: ObjectFile,
    listing: _FunctionListing,
    function: Function,
    loops: Sequence[Loop],
    regions: Regions,
    *,
    whole: bool,
) -> Iterator[_Named]:
    """The wanted instructions; ``whole``: those of the function if there is nothing else."""
    name, own = function.name, listing.within(function)
    marked = [] if regions == Regions.LOOPS else list(_marked(file.code(function), function, listing))
    for number, run in enumerate(marked, 1):
        yield f"{name}.iaca-{number}", _cut(listing, run), None
    if marked and regions in (Regions.AUTO, Regions.MARKERS):
        return
    inside = {at for run in marked for at in run}
    mine = [loop for loop in loops if loop.lowest in own and loop.lowest not in inside]
    marks = [] if regions == Regions.LOOPS else file.marks(function)
    if marks:
        yield from _between(listing, own, mine, marks)
        if regions in (Regions.AUTO, Regions.MARKERS):
            return
    counts = Counter[str]()
    for loop in mine:
        kind = "outer" if loop.inner else "loop"
        counts[kind] += 1
        yield _of_loop(listing, loop, f"{name}.{kind}-{counts[kind]}")
    if whole and not mine and not marked:
        last = own.stop
        while last > own.start and is_padding(listing.machine.instructions[last - 1]):
            last -= 1
        if last > own.start:
            run = [at for at in range(own.start, last) if listing.machine.instructions[at] is not None]
            # Exits of a loop are assumed to fall through; exits of a whole function end their block.
            leaving = {at for at in run if listing.is_way_out(at)}
            is_function = run[-1] in leaving
            yield name, replace(_cut(listing, run, leaving), is_function=is_function), None


def _between(
    listing: _FunctionListing, own: range, loops: Sequence[Loop], marks: Iterable[tuple[str, int, int]]
) -> Iterator[_Named]:
    """Loops between marks, named after the mark and numbered if there are several. Without a loop, all code
    between the marks."""
    addresses = listing.machine.addresses
    for name, first, end in marks:
        found = [loop for loop in loops if first <= addresses[loop.lowest] < end]
        for number, loop in enumerate(found, 1):
            yield _of_loop(listing, loop, name if len(found) == 1 else f"{name}-{number}")
        if not found:
            inside = [at for at in own if first <= addresses[at] < end]
            run = [at for at in inside if listing.machine.instructions[at] is not None]
            if run:
                yield name, _cut(listing, run), None


def _of_loop(listing: _FunctionListing, loop: Loop, name: str) -> _Named:
    parts, is_path = loop.parts
    code = FoundRuns.of_loop(
        [part.block.places for part in parts], () if is_path else range(1, len(parts) + 1)
    )
    return name, code, FoundLoop(loop, listing.jump)


def _cut(listing: _FunctionListing, run: Sequence[int], leaving: Collection[int] = ()) -> FoundRuns:
    runs = blocks.cut(listing.targets, run, leaving)
    return FoundRuns(runs, range(1, len(runs) + 1) if len(runs) > 1 else ())


def _marked(code: bytes, function: Function, listing: _FunctionListing) -> Iterator[Sequence[int]]:
    """Code between the bytes of IACA's macros."""
    start = code.find(_IACA_START)
    while start >= 0:
        end = code.find(_IACA_END, start)
        if end < 0:
            return
        first, last = (function.address + at for at in (start + len(_IACA_START), end))
        machine = listing.machine
        yield [
            at
            for at in listing.within(function)
            if first <= machine.addresses[at] < last and machine.instructions[at] is not None
        ]
        start = code.find(_IACA_START, end)


def _regions(listing: _FunctionListing, name: str, code: FoundRuns) -> list[Region]:
    """The region, or its basic blocks if it branches within itself."""
    if not code.numbers:
        regions = [_region(listing, name, code.runs[0])]
    else:
        numbered = zip(code.numbers, code.runs, strict=True)
        blocks = [_region(listing, f"{name}.{number}", run) for number, run in numbered]
        regions = [replace(block, block_of=name) for block in blocks]
    return [replace(region, is_function=True) for region in regions] if code.is_function else regions


def _about(region: str, code: str, message: str, severity: Severity = Severity.INFORMATION) -> Problem:
    return replace(make_problem(code, message, UNKNOWN_LINE, 0, 0, severity), region=region)


def _region(listing: _FunctionListing, name: str, run: Sequence[int]) -> Region:
    lines = tuple(listing.source_line(at) for at in run)
    known = [line.line for line in lines if line.line != UNKNOWN_LINE] or [UNKNOWN_LINE]
    is_loop = bool(run) and listing.targets[run[-1]] == run[0]
    placement = listing.placement(run)
    placement = placement if is_in_one_piece(run) else placement.pinned()
    # Placeholder distances make instructions differ from the function's own.
    instructions = decode(b"".join(line.code for line in lines), listing.caches)
    first, last = min(known), max(known)
    return Region(name, first, last, {}, lines, is_loop, placement=placement, instructions=instructions)
