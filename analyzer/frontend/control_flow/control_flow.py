"""Control flow of a file's code and its loops, for texts, listings and object files.

Places are numbers that count up within a section: statements or instructions, as the file's reader chooses.
Only control transfers are listed. A loop is a natural loop: a back edge to a place that dominates its source,
and everything that reaches that edge. Unknown control flow may hide a loop but never creates one, because a
place with unknown predecessors is an entry.

Hand-written kernels often enter a loop in its middle. Therefore a cycle of jumps within a function that has
only one path around is a loop wherever it is entered.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import pairwise

from cyclelens.analyzer.common.recent import Caches, Recent
from cyclelens.analyzer.frontend.control_flow.graphs import Cycle, find_cycles, reached
from cyclelens.analyzer.frontend.control_flow.loop_parts import Flow, Loop, PlaceRange
from cyclelens.analyzer.frontend.statements.jumps import JUMPS
from msgspec import Struct

_MOST_SWITCHED = 100_000
"""Maximum edges from switches to places; all further places count as entries."""
_DEEPEST_CALL = 50
"""Depth of nested calls that are followed to learn whether they return."""


class TransferKind(IntEnum):
    """How control leaves a place."""

    BRANCH = 0
    """To the target or to the next place."""
    JUMP = 1
    """To the target."""
    CALL = 2
    """To the target, then to the next place if the callee returns. A call to code outside the file is assumed
    to return."""
    LEAVE = 3
    """To the caller, or to code outside the file."""
    STOP = 4
    """Execution ends here."""
    SWITCH = 5
    """To one of several places, or to an unknown one."""


_MOST_SHAPES = 10_000
_RETURNS = frozenset(
    f"{name}{suffix}"
    for name in ("ret", "retn", "retf", "lret", "iret", "sysret", "sysexit")
    for suffix in ("", "w", "l", "q", "d")
)
_NEVER_RETURNS = (
    r"_?_?abort|_?_?exit|_Exit|quick_exit|exit_group|__assert\w*fail\w*|__stack_chk_fail\w*|__\w*chk_fail|"
    r"__fortify_fail\w*|_*(?:sig)?longjmp\w*|pthread_exit|thrd_exit|v?errx?|"
    r"__cxa_(?:throw\w*|rethrow|bad_\w+|call_\w+|pure_virtual|deleted_virtual)|_Unwind_Resume\w*|"
    r"__clang_call_terminate|_ZSt(?:9terminatev|10unexpectedv|\d+__throw_\w+)|"
    r"_(?:ZN|R)\w*(?:9panicking|_failed|_fail|handle_alloc_error|12handle_error|capacity_overflow|begin_panic|"
    r"rust_panic\w*|7process(?:4exit|5abort))\w*"
)
"""Functions of the C library and of the C++ and Rust runtimes."""
_COLD = r"\.cold(?:\.\d+)?$"


def kind_of(mnemonic: str) -> TransferKind | None:
    """How control leaves an instruction; None if it continues. Callers have to check for indirect jumps and
    calls. ``mnemonic`` is in lower case."""
    if mnemonic in JUMPS:
        return {"jmp": TransferKind.JUMP, "call": TransferKind.CALL}.get(
            mnemonic.removesuffix("q"), TransferKind.BRANCH
        )
    if mnemonic in _RETURNS or mnemonic == "ljmp":
        return TransferKind.LEAVE
    return TransferKind.STOP if mnemonic in ("ud2", "ud2a", "ud1", "ud0") else None


def never_returns(function: str) -> bool:
    """Whether a function's name tells that it never returns."""
    return re.fullmatch(_NEVER_RETURNS, function) is not None


class Transfer(Struct, frozen=True):
    """A place with a control transfer."""

    place: int
    kind: TransferKind
    target: int | None = None


class Code(Struct, frozen=True):
    """The code of a file."""

    sections: Sequence[int]
    """First place of each range of code that is not entered from the place before, and the end of the last
    range."""
    transfers: Sequence[Transfer]
    """In ascending order. Targets are places of the code."""
    functions: Sequence[int]
    """First places of functions, ascending."""
    entries: Collection[int]
    """Places with unknown predecessors."""
    switches: Mapping[int, Sequence[int]]
    """Known targets by place of each switch."""
    is_code: Callable[[int, int], bool]
    """``is_code(first, end)``: whether the range holds more than padding and data."""
    section: Callable[[int], int]
    """Section of a place. Places of one section may have gaps between them."""


def entries_of(functions: Mapping[int, str]) -> list[int]:
    """Function entries from outside; ``functions`` has names by place. Parts that a compiler moved elsewhere
    (``f.cold``) are not entered from outside."""
    return [place for place, name in functions.items() if not re.search(_COLD, name)]


def give_to_switches(
    switches: Mapping[int, list[int]], taken: Collection[int], functions: Mapping[int, str]
) -> list[int]:
    """Add places whose addresses are taken to the targets of the switches in their function. A part that a
    compiler moved elsewhere (``f.cold``) belongs to its function. Returns the other places; function
    beginnings are among them, because callers go there. ``functions`` has names by place."""
    starts = sorted(functions)

    def function_of(place: int) -> int | str:
        at = bisect_right(starts, place) - 1
        return (at >= 0 and re.sub(_COLD, "", functions[starts[at]])) or at

    by_function: dict[int | str, list[list[int]]] = {}
    for place, targets in switches.items():
        by_function.setdefault(function_of(place), []).append(targets)
    left: list[int] = []
    edges = 0
    for place in sorted(taken):
        is_called = place in functions and not re.search(_COLD, functions[place])
        sources = [] if is_called else by_function.get(function_of(place), [])
        edges += len(sources)
        for targets in sources if sources and edges <= _MOST_SWITCHED else [left]:
            targets.append(place)
    return left


class _Shapes:
    """Cached loops by graph; an edit changes the graph of one function only."""

    def __init__(self, caches: Caches) -> None:
        self.cycles: Recent[tuple[object, ...], list[Cycle]] = caches.recent(_MOST_SHAPES)


def find_loops(code: Code, caches: Caches) -> list[Loop]:
    """All loops, ordered by their lowest places; outer loops before the loops inside them."""
    finder = _Finder(code, caches.of(_Shapes))
    loops = [loop for spans in finder.cyclic_spans() for loop in finder.loops_within(spans)]
    # Of two loops that begin at the same place, the outer one was found later.
    loops.reverse()
    return sorted(loops, key=lambda loop: loop.lowest)


def _bodies(cycles: Sequence[Cycle], order: dict[int, int]) -> dict[int, range]:
    """The numbers of each loop's nodes, by header: its own nodes first, then those of each inner loop. Adds
    each node's number to ``order``. ``cycles``: inner loops come before outer ones."""
    sizes: dict[int, int] = {}
    for cycle in cycles:
        sizes[cycle.header] = len(cycle.nodes) + sum(sizes[inner.header] for inner in cycle.inner)
    bodies: dict[int, range] = {}
    free = 0
    for cycle in reversed(cycles):
        if cycle.header not in bodies:
            bodies[cycle.header] = range(free, free := free + sizes[cycle.header])
        at = bodies[cycle.header].start
        for node in cycle.nodes:
            order[node] = at
            at += 1
        for inner in cycle.inner:
            bodies[inner.header] = range(at, at := at + sizes[inner.header])
    return bodies


class _Finder:
    def __init__(self, code: Code, known: _Shapes) -> None:
        self._code = code
        self._known = known.cycles
        self._places = [transfer.place for transfer in code.transfers]
        self._ends = frozenset(code.sections)
        calls = {
            transfer.target
            for transfer in code.transfers
            if transfer.kind is TransferKind.CALL and transfer.target is not None
        }
        self._entries = {*code.entries, *calls}
        starts = {*code.sections, *code.functions, *self._entries}
        for transfer in code.transfers:
            if transfer.kind is not TransferKind.CALL:
                starts.add(transfer.place + 1)
                if transfer.kind is not TransferKind.BRANCH:
                    starts.add(self._behind_padding(transfer.place + 1))
                if transfer.target is not None:
                    starts.add(transfer.target)
        for targets in code.switches.values():
            starts.update(targets)
        self._starts = sorted(starts)
        """First places of blocks."""
        self._switches = sorted(code.switches)
        self._returns: dict[int, bool] = {}
        """Whether a callee returns."""

    def _behind_padding(self, first: int) -> int:
        """The first code behind padding that control does not come to; ``first`` if there is no padding."""
        place, is_code = first, self._code.is_code
        while place not in self._ends and not is_code(place, place + 1):
            place += 1
        return place if place not in self._ends and is_code(first, place + 1) else first

    # Code ranges that may hold loops

    def cyclic_spans(self) -> Iterator[list[tuple[int, int]]]:
        """Ranges (first and last place) that no jump enters or leaves and that contain backward jumps. Ranges
        connected by jumps are grouped."""
        edges = [
            (transfer.place, transfer.target)
            for transfer in self._code.transfers
            if transfer.target is not None and transfer.kind is not TransferKind.CALL
        ]
        edges += [(place, target) for place, targets in self._code.switches.items() for target in targets]
        crossing = {edge for edge in edges if self._section(edge[0]) != self._section(edge[1])}
        ends = [(min(edge), max(edge)) for edge in edges if edge not in crossing]
        # The code from a target in another section up to the next transfer belongs together.
        last = [
            transfer.place
            for transfer in self._code.transfers
            if transfer.kind not in (TransferKind.BRANCH, TransferKind.CALL)
        ]
        for place, target in crossing:
            at = bisect_left(last, target)
            same = at < len(last) and self._section(last[at]) == self._section(target)
            ends += [(place, place), (target, last[at] if same else target)]
        spans: list[tuple[int, int]] = []
        for low, high in sorted(ends):
            if spans and low <= spans[-1][1]:
                spans[-1] = spans[-1][0], max(high, spans[-1][1])
            else:
                spans.append((low, high))
        lows = [low for low, _ in spans]

        def span_of(place: int) -> int:
            return bisect_right(lows, place) - 1

        group = list(range(len(spans)))

        def group_of(span: int) -> int:
            while group[span] != span:
                group[span] = span = group[group[span]]
            return span

        for place, target in crossing:
            group[group_of(span_of(place))] = group_of(span_of(target))
        cyclic = {group_of(span_of(edge[0])) for edge in edges if edge[1] <= edge[0] or edge in crossing}
        members: dict[int, list[tuple[int, int]]] = {}
        for number, span in enumerate(spans):
            if group_of(number) in cyclic:
                members.setdefault(group_of(number), []).append(span)
        yield from members.values()

    def _section(self, place: int) -> int:
        return bisect_right(self._code.sections, place)

    # Blocks of these ranges

    def loops_within(self, spans: Sequence[tuple[int, int]]) -> Iterator[Loop]:
        """Loops of a group of ranges, inner ones first."""
        flow, entries = self._flow(spans)
        guessed = tuple(at for at, block in enumerate(flow.blocks) if block.end - 1 in self._code.switches)
        called = tuple(at for at, block in enumerate(flow.blocks) if block.first in self._entries)
        key = (tuple(entries), guessed, called, *map(tuple, flow.successors))
        cycles = self._known.get(key)
        if cycles is None:
            certain = [
                [] if at in guessed else [to for to in following if to not in called]
                for at, following in enumerate(flow.successors)
            ]
            cycles = self._known[key] = find_cycles(flow.successors, entries, certain)
        bodies = _bodies(cycles, flow.order)
        found: dict[int, Loop] = {}
        for cycle in cycles:
            nodes = tuple(sorted(cycle.nodes))
            inner = tuple(found[loop.header] for loop in cycle.inner)
            lowest = min([flow.blocks[nodes[0]].first, *(loop.lowest for loop in inner)])
            depth = 1 + max((loop.depth for loop in inner), default=-1)
            found[cycle.header] = Loop(flow, nodes, cycle.header, inner, lowest, bodies[cycle.header], depth)
        yield from found.values()

    def _flow(self, spans: Sequence[tuple[int, int]]) -> tuple[Flow, list[int]]:
        """Blocks of the ranges, and indices of those that are entered from outside."""
        blocks = [block for low, high in spans for block in self._blocks(low, high)]
        beginning = {block.first: at for at, block in enumerate(blocks)}
        ending = {block.end: at for at, block in enumerate(blocks)}
        successors = [
            list(dict.fromkeys(beginning[place] for place in self._following(block) if place in beginning))
            for block in blocks
        ]
        entries = [at for at, block in enumerate(blocks) if block.first in self._entries]
        entries += [beginning[low] for low, _ in spans if self._is_come_to(low)]
        live: set[int] = set()
        reached(successors, entries, live)
        for at, block in enumerate(blocks):
            if at in live or not self._code.is_code(block.first, block.end):
                continue
            # Unreached code: a switch of the function leads here, or something outside the function.
            around = (ending.get(place + 1) for place in self._switches_around(block.first))
            switches = [source for source in around if source in live]
            for source in switches:
                successors[source].append(at)
            if not switches:
                entries.append(at)
            reached(successors, [at], live)
        jumps = [beginning.get(self._target(block)) for block in blocks]
        sections = [self._code.section(block.first) for block in blocks]
        return Flow(blocks, successors, jumps, sections, {}), entries

    def _blocks(self, low: int, high: int) -> Iterator[PlaceRange]:
        starts = self._starts[bisect_right(self._starts, low) : bisect_right(self._starts, high)]
        between = slice(bisect_left(self._places, low), bisect_right(self._places, high))
        stops = {
            transfer.place + 1
            for transfer in self._code.transfers[between]
            if transfer.kind is TransferKind.CALL and not self._goes_on(transfer)
        }
        bounds = [low, *(sorted(stops.union(starts)) if stops else starts), high + 1]
        return (PlaceRange(first, end) for first, end in pairwise(bounds) if first < end)

    def _following(self, block: PlaceRange) -> Iterator[int]:
        """Places that control may go to from the end of a block."""
        transfer = self._at(block.end - 1)
        if (transfer is None or self._goes_on(transfer)) and block.end not in self._ends:
            yield block.end
        if (target := self._target(block)) >= 0:
            yield target
        yield from self._code.switches.get(block.end - 1, ())

    def _target(self, block: PlaceRange) -> int:
        """Target of the jump at the end of a block; -1 if there is no jump or its target is unknown."""
        transfer = self._at(block.end - 1)
        if transfer is None or transfer.target is None or transfer.kind is TransferKind.CALL:
            return -1
        return transfer.target

    def _at(self, place: int) -> Transfer | None:
        at = bisect_left(self._places, place)
        return self._code.transfers[at] if at < len(self._places) and self._places[at] == place else None

    def _is_come_to(self, place: int) -> bool:
        """Whether control reaches this place from the code before it."""
        while place not in self._entries:
            if place in self._ends:
                return False
            transfer = self._at(place - 1)
            if transfer is not None and not self._goes_on(transfer):
                return False
            before = self._starts[bisect_left(self._starts, place) - 1]
            if self._code.is_code(before, place):
                return True
            place = before
        return True

    def _switches_around(self, place: int) -> Sequence[int]:
        """Switches of the function around a place."""
        functions = self._code.functions
        after = bisect_right(functions, place)
        low = functions[after - 1] if after else 0
        begin = bisect_left(self._switches, low)
        end = bisect_left(self._switches, functions[after]) if after < len(functions) else len(self._switches)
        return self._switches[begin:end]

    # Calls that return

    def _goes_on(self, transfer: Transfer, depth: int = 0) -> bool:
        """Whether control may continue after a transfer. ``depth``: number of calls being followed."""
        if transfer.kind is TransferKind.CALL:
            return transfer.target is None or self._comes_back(transfer.target, depth)
        return transfer.kind is TransferKind.BRANCH

    def _comes_back(self, start: int, depth: int) -> bool:
        """Whether a callee may return. Assumed while it is being determined (recursion), and where calls nest
        too deeply."""
        known = self._returns.get(start)
        if known is None:
            self._returns[start] = True
            known = self._returns[start] = depth >= _DEEPEST_CALL or self._leads_out(start, depth)
        return known

    def _leads_out(self, start: int, depth: int) -> bool:
        left, seen = [start], set()
        while left:
            place = left.pop()
            at = bisect_left(self._places, place)
            section = self._section(place)
            if at == len(self._places) or self._section(self._places[at]) != section:
                return True
            if at in seen:
                continue
            seen.add(at)
            transfer = self._code.transfers[at]
            if transfer.kind in (TransferKind.LEAVE, TransferKind.SWITCH):
                return True
            if transfer.kind in (TransferKind.BRANCH, TransferKind.JUMP) and transfer.target is not None:
                left.append(transfer.target)
            if self._goes_on(transfer, depth + 1):
                left.append(transfer.place + 1)
        return False
