"""Where control goes in the code of a file, and which parts of it are loops; for texts, listings and objects.

Places are numbers that count up within a section, statements or instructions as it suits the reader of the
file; only those that control does not go on from are listed. A loop is a natural loop: an edge back to
a place that dominates where it comes from, and all that leads to that edge. What is not known may hide a loop
and makes none: a place that may be come to in unknown ways is an entry. People who write kernels by hand like
to enter a loop in its middle, though: a cycle of jumps within a function that has only one way around is a
loop wherever it is entered.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import pairwise

from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.common.named_tuple import NamedTuple
from cyclelens.analyzer.common.patterns import pattern
from cyclelens.analyzer.common.recent import Caches, Recent
from cyclelens.analyzer.frontend.control_flow.graphs import Cycle, find_cycles, reached
from cyclelens.analyzer.frontend.control_flow.loop_parts import Block, Flow, Loop
from cyclelens.analyzer.frontend.statements.jumps import JUMPS

_MOST_SWITCHED = 100_000
"""Ways from switches to places; all further places are taken for entries."""
_DEEPEST_CALL = 50
"""Calls within calls that are followed to learn whether they come back."""


class TransferKind(IntEnum):
    """How control leaves a place."""

    BRANCH = 0
    """To its target, or on."""
    JUMP = 1
    """To its target."""
    CALL = 2
    """To its target, and on if that comes back. A call of what the file does not hold goes on."""
    LEAVE = 3
    """To the caller, or to code that is not in the file."""
    STOP = 4
    """Nowhere."""
    SWITCH = 5
    """To one of several places, or to one that is not known."""


_MOST_SHAPES = 10_000
_RETURNS = frozenset(
    f"{name}{suffix}"
    for name in ("ret", "retn", "retf", "lret", "iret", "sysret", "sysexit")
    for suffix in ("", "w", "l", "q", "d")
)
_NEVER_RETURNS = pattern(
    r"_?_?abort|_?_?exit|_Exit|quick_exit|exit_group|__assert\w*fail\w*|__stack_chk_fail\w*|__\w*chk_fail|"
    r"__fortify_fail\w*|_*(?:sig)?longjmp\w*|pthread_exit|thrd_exit|v?errx?|"
    r"__cxa_(?:throw\w*|rethrow|bad_\w+|call_\w+|pure_virtual|deleted_virtual)|_Unwind_Resume\w*|"
    r"__clang_call_terminate|_ZSt(?:9terminatev|10unexpectedv|\d+__throw_\w+)|"
    r"_(?:ZN|R)\w*(?:9panicking|_failed|_fail|handle_alloc_error|12handle_error|capacity_overflow|begin_panic|"
    r"rust_panic\w*|7process(?:4exit|5abort))\w*"
)
"""The C library, the runtimes of C++ and Rust."""
_COLD = pattern(r"\.cold(?:\.\d+)?$")


def kind_of(mnemonic: str) -> TransferKind | None:
    """How control leaves an instruction; None if it goes on. Jumps and calls that are not direct are
    for the caller to tell. ``mnemonic``: in lower case."""
    if mnemonic in JUMPS:
        return {"jmp": TransferKind.JUMP, "call": TransferKind.CALL}.get(
            mnemonic.removesuffix("q"), TransferKind.BRANCH
        )
    if mnemonic in _RETURNS or mnemonic == "ljmp":
        return TransferKind.LEAVE
    return TransferKind.STOP if mnemonic in ("ud2", "ud2a", "ud1", "ud0") else None


def never_returns(function: str) -> bool:
    """Is it known by its name that a function does not come back?"""
    return _NEVER_RETURNS.fullmatch(function) is not None


class Transfer(NamedTuple):
    """A place that control does not go on from."""

    place: int
    kind: TransferKind
    target: int | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """The code of a file."""

    sections: Sequence[int]
    """The first place of each stretch of code that nothing goes on to, and the one behind the last."""
    transfers: Sequence[Transfer]
    """In order. Targets are places of the code."""
    functions: Sequence[int]
    """Where functions begin, in order."""
    entries: Collection[int]
    """Places that control may come to in ways that are not known."""
    switches: Mapping[int, Sequence[int]]
    """By place of each switch where it may go, as far as known."""
    is_code: Callable[[int, int], bool]
    """Is there more than padding and data from one place up to another?"""
    section: Callable[[int], int]
    """The section of the file that a place is in. There may be gaps between the places of one."""


def entries_of(functions: Mapping[int, str]) -> list[int]:
    """Where control comes to from outside, of functions with their names by place: not to the part that a
    compiler put elsewhere (``f.cold``)."""
    return [place for place, name in functions.items() if not _COLD.search(name)]


def give_to_switches(
    switches: Mapping[int, list[int]], taken: Collection[int], functions: Mapping[int, str]
) -> list[int]:
    """Add the places whose addresses are taken to where the switches of their function go; the part of it
    that a compiler put elsewhere (``f.cold``) belongs to it. Returns the others: where a function begins, its
    callers go. ``functions``: names by place."""
    starts = sorted(functions)

    def function_of(place: int) -> int | str:
        at = bisect_right(starts, place) - 1
        return (at >= 0 and _COLD.sub("", functions[starts[at]])) or at

    by_function: dict[int | str, list[list[int]]] = {}
    for place, targets in switches.items():
        by_function.setdefault(function_of(place), []).append(targets)
    left: list[int] = []
    edges = 0
    for place in sorted(taken):
        is_called = place in functions and not _COLD.search(functions[place])
        sources = [] if is_called else by_function.get(function_of(place), [])
        edges += len(sources)
        for targets in sources if sources and edges <= _MOST_SWITCHED else [left]:
            targets.append(place)
    return left


class _Shapes:
    """The loops of graphs that were looked at: an edit changes that of one function."""

    def __init__(self, caches: Caches) -> None:
        self.cycles: Recent[tuple[object, ...], list[Cycle]] = caches.recent(_MOST_SHAPES)


def find_loops(code: Code, caches: Caches) -> list[Loop]:
    """All loops in the order of their lowest places, those that hold others before these."""
    finder = _Finder(code, caches.of(_Shapes))
    loops = [loop for spans in finder.cyclic_spans() for loop in finder.loops_within(spans)]
    # Of two that begin at the same place the outer one was found later.
    loops.reverse()
    return sorted(loops, key=lambda loop: loop.lowest)


class _Finder:
    def __init__(self, code: Code, known: _Shapes) -> None:
        self._code = code
        self._known = known.cycles
        self._places = [transfer.place for transfer in code.transfers]
        self._ends = frozenset(code.sections)
        calls = {
            target for _, kind, target in code.transfers if kind is TransferKind.CALL and target is not None
        }
        self._entries = {*code.entries, *calls}
        starts = {*code.sections, *code.functions, *self._entries}
        for place, kind, target in code.transfers:
            if kind is not TransferKind.CALL:
                starts.add(place + 1)
                if target is not None:
                    starts.add(target)
        for targets in code.switches.values():
            starts.update(targets)
        self._starts = sorted(starts)
        """Where blocks begin."""
        self._switches = sorted(code.switches)
        self._returns: dict[int, bool] = {}
        """By what is called."""

    # Which parts of the code may hold loops

    def cyclic_spans(self) -> Iterator[list[tuple[int, int]]]:
        """Stretches, from the first place to the last one, that no jump leads out of or into: those with
        jumps back, and together those with jumps from one to the other."""
        edges = [
            (place, target)
            for place, kind, target in self._code.transfers
            if target is not None and kind is not TransferKind.CALL
        ]
        edges += [(place, target) for place, targets in self._code.switches.items() for target in targets]
        crossing = {edge for edge in edges if self._section(edge[0]) != self._section(edge[1])}
        ends = [(min(edge), max(edge)) for edge in edges if edge not in crossing]
        # What control goes on to from where it enters another section belongs together.
        last = [
            place
            for place, kind, _ in self._code.transfers
            if kind not in (TransferKind.BRANCH, TransferKind.CALL)
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

    # Their blocks

    def loops_within(self, spans: Sequence[tuple[int, int]]) -> Iterator[Loop]:
        """The loops of stretches that belong together, inner ones first."""
        flow, entries = self._flow(spans)
        guessed = tuple(at for at, block in enumerate(flow.blocks) if block.end - 1 in self._code.switches)
        called = tuple(at for at, block in enumerate(flow.blocks) if block.first in self._entries)
        key = (tuple(entries), guessed, called, *map(tuple, flow.successors))
        cycles = self._known[key]
        if cycles is None:
            certain = [
                [] if at in guessed else [to for to in following if to not in called]
                for at, following in enumerate(flow.successors)
            ]
            cycles = self._known[key] = find_cycles(flow.successors, entries, certain)
        found: dict[int, Loop] = {}
        for cycle in cycles:
            nodes = tuple(sorted(cycle.nodes))
            inner = tuple(found[loop.header] for loop in cycle.inner)
            lowest = min([flow.blocks[nodes[0]].first, *(loop.lowest for loop in inner)])
            found[cycle.header] = Loop(flow, nodes, cycle.header, inner, lowest)
        yield from found.values()

    def _flow(self, spans: Sequence[tuple[int, int]]) -> tuple[Flow, list[int]]:
        """The blocks of stretches, and those that control comes to from outside."""
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
            if at in live or not self._code.is_code(*block):
                continue
            # Nothing that is known leads here: a switch of the function does, or something outside of it.
            around = (ending.get(place + 1) for place in self._switches_around(block.first))
            switches = [source for source in around if source in live]
            for source in switches:
                successors[source].append(at)
            if not switches:
                entries.append(at)
            reached(successors, [at], live)
        jumps = [beginning.get(self._target(block)) for block in blocks]
        sections = [self._code.section(block.first) for block in blocks]
        return Flow(blocks, successors, jumps, sections), entries

    def _blocks(self, low: int, high: int) -> Iterator[Block]:
        starts = self._starts[bisect_right(self._starts, low) : bisect_right(self._starts, high)]
        stops = {
            transfer.place + 1
            for transfer in self._between(low, high)
            if transfer.kind is TransferKind.CALL and not self._goes_on(transfer)
        }
        bounds = [low, *(sorted(stops.union(starts)) if stops else starts), high + 1]
        return (Block(first, end) for first, end in pairwise(bounds) if first < end)

    def _between(self, low: int, high: int) -> Sequence[Transfer]:
        return self._code.transfers[bisect_left(self._places, low) : bisect_right(self._places, high)]

    def _following(self, block: Block) -> Iterator[int]:
        """The places that control may go to from the end of a block."""
        transfer = self._at(block.end - 1)
        if (transfer is None or self._goes_on(transfer)) and block.end not in self._ends:
            yield block.end
        if (target := self._target(block)) >= 0:
            yield target
        yield from self._code.switches.get(block.end - 1, ())

    def _target(self, block: Block) -> int:
        """The place that the jump at the end of a block goes to, -1 if there is none or it is not known."""
        transfer = self._at(block.end - 1)
        if transfer is None or transfer.target is None or transfer.kind is TransferKind.CALL:
            return -1
        return transfer.target

    def _at(self, place: int) -> Transfer | None:
        at = bisect_left(self._places, place)
        return self._code.transfers[at] if at < len(self._places) and self._places[at] == place else None

    def _is_come_to(self, place: int) -> bool:
        """Does control go on to here from what stands before?"""
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
        """The switches of the function that a place is in."""
        functions = self._code.functions
        after = bisect_right(functions, place)
        low = functions[after - 1] if after else 0
        begin = bisect_left(self._switches, low)
        end = bisect_left(self._switches, functions[after]) if after < len(functions) else len(self._switches)
        return self._switches[begin:end]

    # Which calls come back

    def _goes_on(self, transfer: Transfer, depth: int = 0) -> bool:
        """May control go on behind the place? ``depth``: calls that are being followed."""
        if transfer.kind is TransferKind.CALL:
            return transfer.target is None or self._comes_back(transfer.target, depth)
        return transfer.kind is TransferKind.BRANCH

    def _comes_back(self, start: int, depth: int) -> bool:
        """May what is called return? Taken for granted while it is being found out, and where calls are
        nested deeply."""
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
