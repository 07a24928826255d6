"""A function as a graph of instructions with their effects, as the checks for mistakes read it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from cyclelens.analyzer.common.recent import Caches, Recent
from cyclelens.analyzer.frontend.control_flow.control_flow import TransferKind, never_returns
from cyclelens.analyzer.frontend.control_flow.functions import FoundFunction
from cyclelens.analyzer.frontend.encoding.instructions import Encoded
from cyclelens.analyzer.frontend.programs.program import Program, StatementKind
from cyclelens.analyzer.frontend.regions.statement_code import Content, RefusedStatement
from cyclelens.analyzer.frontend.statements.directives import Alignment
from cyclelens.analyzer.frontend.statements.jumps import Jump
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.isa.effects import Effects, effects
from cyclelens.analyzer.isa.register_use import address_registers
from cyclelens.analyzer.isa.stack import StackChange, sets_frame, stack_change
from msgspec import Struct

FLAGS = frozenset("CPAZSO")
_REMEMBERED = 1 << 14


class Mistake(Struct, frozen=True):
    """A likely mistake at a statement, as the checks report it."""

    code: str
    message: str
    """``{0}`` stands for the line of the first of ``others``, ``{1}`` for that of the second."""
    index: int
    """Its statement."""
    others: tuple[int, ...] = ()
    """Statements that the message names."""


class InstructionEffects(Struct, frozen=True):
    """What an instruction does, wherever it stands."""

    mnemonic: str
    """As the decoder names it."""
    effects: Effects
    stack: StackChange
    addresses: frozenset[str]
    """Registers in its address."""
    sets_frame: bool
    """It copies RSP to RBP."""


class _Known:
    """Effects by code, empty for other bytes than one instruction; an edit changes few instructions."""

    def __init__(self, caches: Caches) -> None:
        self.effects: Recent[bytes, tuple[InstructionEffects] | tuple[()]] = caches.recent(_REMEMBERED)


class FunctionStep(Struct, frozen=True):
    """An instruction of a function."""

    index: int
    """Of its statement."""
    written: str
    """Its mnemonic in the text."""
    does: InstructionEffects
    leaves: TransferKind | None
    """How control leaves it; None if it continues."""
    mnemonic: str
    reads: frozenset[str]
    writes: frozenset[str]
    is_call: bool
    is_return: bool


class FunctionFlow(Struct):
    """The instructions of a function that control reaches from its start, the first one first."""

    name: str
    steps: Sequence[FunctionStep]
    successors: Sequence[Sequence[int]]
    """Steps that may follow each step; none behind the last instruction of the function."""
    is_declared: bool
    """The text declares it, so that it has the calling convention of the others."""

    def reached(self, start: Iterable[int], beyond: Callable[[int], bool]) -> Iterator[int]:
        """Steps on paths from ``start``. A path ends behind a step for which ``beyond`` is false."""
        seen, left = set[int](), deque(start)
        while left:
            at = left.popleft()
            if at in seen:
                continue
            seen.add(at)
            yield at
            if beyond(at):
                left.extend(self.successors[at])


def function_flow(
    program: Program,
    function: FoundFunction,
    contents: Mapping[int, Content | RefusedStatement],
    transfers: Mapping[int, tuple[TransferKind, str]],
    caches: Caches,
) -> FunctionFlow | None:
    """The graph of a function; None if part of it is unknown: data among its code, a jump through a table,
    a statement that cannot be encoded. ``transfers``: those of the program (``transfers_of``)."""
    indices, codes = [], []
    for index in range(function.first, function.last):
        content = contents.get(index)
        if content is None or isinstance(content, Alignment):
            continue
        is_instruction = program.statements[index].kind is StatementKind.INSTRUCTION
        if not is_instruction or not isinstance(content, Encoded | Jump):
            return None
        indices.append(index)
        if isinstance(content, Jump):
            codes.append(content.encode(content.sizes[0] or content.sizes[1], 0))
        else:
            codes.append(content.code)
    found: list[FunctionStep] = []
    targets: list[str] = []
    effects = caches.of(_Known).effects.each(codes, lambda code: _effects(code, caches))
    for index, does in zip(indices, effects, strict=True):
        leaves, target = transfers.get(index, (None, ""))
        if not does or leaves is TransferKind.SWITCH:
            return None
        if leaves is TransferKind.CALL and target and never_returns(target):
            leaves = TransferKind.STOP
        found.append(_step(index, program.statements[index].text, does[0], leaves))
        targets.append(target)
    return _linked(program, function, found, targets)


def _step(index: int, text: str, does: InstructionEffects, leaves: TransferKind | None) -> FunctionStep:
    return FunctionStep(
        index,
        text.split(None, 1)[0],
        does,
        leaves,
        does.mnemonic,
        does.effects.read,
        does.effects.written,
        is_call=leaves is TransferKind.CALL,
        is_return=leaves is TransferKind.LEAVE and does.mnemonic == "ret",
    )


def _effects(code: bytes, caches: Caches) -> tuple[InstructionEffects] | tuple[()]:
    instructions = decode(code, caches)
    if len(instructions) != 1:
        return ()
    mnemonic = instructions[0].mnemonic
    addresses, stack = address_registers(code), stack_change(code)
    return (InstructionEffects(mnemonic, effects(code), stack, addresses, sets_frame(code)),)


def _linked(
    program: Program, function: FoundFunction, found: Sequence[FunctionStep], targets: Sequence[str]
) -> FunctionFlow | None:
    """The steps with their successors, without those that control does not reach."""
    places = {step.index: at for at, step in enumerate(found)}
    following: list[list[int]] = []
    for at, (step, target) in enumerate(zip(found, targets, strict=True)):
        kind = step.leaves
        continues = kind in (None, TransferKind.CALL, TransferKind.BRANCH)
        after = [at + 1] if continues and at + 1 < len(found) else []
        if kind in (TransferKind.BRANCH, TransferKind.JUMP, TransferKind.CALL) and target:
            label = program.find_label(target, step.index)
            inside = None if label is None else _place(places, label.index, found[-1].index)
            if kind is TransferKind.CALL:
                # A call to the next instruction reads the instruction pointer.
                if inside == at + 1:
                    return None
            elif inside is not None:
                after.append(inside)
        following.append(after)
    name, is_declared = function.name, function.is_declared
    flow = FunctionFlow(name, found, following, is_declared)
    live = sorted(flow.reached([0] if found else [], lambda at: True))
    numbers = {at: number for number, at in enumerate(live)}
    successors = [[numbers[to] for to in following[at]] for at in live]
    return FunctionFlow(name, [found[at] for at in live], successors, is_declared)


def _place(places: Mapping[int, int], index: int, last: int) -> int | None:
    """The step at a statement or behind it; None outside of the function."""
    if index < min(places):
        return None
    while index <= last:
        if index in places:
            return places[index]
        index += 1
    return None


def spread(
    flow: FunctionFlow,
    start: frozenset[str],
    behind: Callable[[int, frozenset[str]], frozenset[str]],
) -> list[frozenset[str]]:
    """The names that may hold in front of each step: those of ``start`` in front of the first one, and
    ``behind(step, names)`` behind each."""
    before: list[frozenset[str]] = [frozenset()] * len(flow.steps)
    waiting: Collection[int] = [0] if flow.steps else []
    if flow.steps:
        before[0] = start
    done = set[int]()
    while waiting:
        later = set[int]()
        for at in waiting:
            done.add(at)
            after = behind(at, before[at])
            for to in flow.successors[at]:
                merged = before[to] | after
                if merged != before[to] or to not in done:
                    before[to] = merged
                    later.add(to)
        waiting = sorted(later)
    return before
