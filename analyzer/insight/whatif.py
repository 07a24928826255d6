"""What-if: changes the block or the core and simulates again.

A ``BlockEdit`` can be written as text: its figure is that of the edited text. Other changes price something
(a latency, a dependency, a size) and have no text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle
from math import lcm
from types import MappingProxyType

from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.insight.accumulators import Accumulator, accumulators, free_registers
from cyclelens.analyzer.insight.capacities import OPTIONAL, SIZES, ChangeError, changed
from cyclelens.analyzer.insight.dependencies import dependencies
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.insight.false_dependencies import false_dependency
from cyclelens.analyzer.insight.loop_steps import UnrolledLoop, unrolled
from cyclelens.analyzer.isa.counted_loop import back
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.isa.register_use import with_register
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.variants import variant
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.microarchitecture import Microarchitecture, UpperHalfRule
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.units import UnitSet, UnitUse, UopKind
from cyclelens.analyzer.model.uops import Block, InstructionTemplate, UopTemplate, Value, ValueKind
from cyclelens.analyzer.simulator import rounds_to_settle, simulate
from cyclelens.analyzer.simulator.failures import SimulationStuck
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.uops.block import build_block
from cyclelens.analyzer.uops.registers import canonical
from msgspec import Struct
from msgspec.structs import replace

_NEW = -1
"""Index of an instruction that the original block does not have."""
NO_LATENCIES: Mapping[int, int] = MappingProxyType({})
_ROUNDS = 10
"""Rounds, as for a prediction."""


class ChangeResult(Struct, frozen=True):
    """The result of a change."""

    change: str
    """Description of the change; empty for no change."""
    cycles_per_iteration: float
    """Per original iteration, even if several were unrolled."""
    bottlenecks: tuple[str, ...]


class BlockEdit(Struct, frozen=True):
    """Changes to the text; ``|`` combines two."""

    removed: frozenset[int] = frozenset()
    """Indices of the instructions that are left out."""
    times: int = 1
    """Unroll factor of the loop body; its branch, and what fuses with it, occurs once."""
    split: tuple[tuple[Accumulator, int], ...] = ()
    """(accumulator, number of registers that share its work in turn). The body is
    repeated as often as that needs."""
    cleared: frozenset[int] = frozenset()
    """Indices of the instructions whose false dependency is cleared first."""
    alignment: int | None = None
    """Address of the first byte within a 64-byte line; None leaves it unchanged."""
    apart: bool = False
    """Legacy SSE is written with VEX, or vzeroupper separates it from 256-bit code: no
    upper halves have to be kept."""

    @property
    def copies(self) -> int:
        """How often the loop's body occurs."""
        return lcm(self.times, *(accumulator.copies(registers) for accumulator, registers in self.split))

    @property
    def complexity(self) -> tuple[int, int, int]:
        """What a programmer has to write: copies of the body, registers, and single statements."""
        return self.copies, sum(registers for _, registers in self.split), len(self.cleared | self.removed)

    def __or__(self, other: BlockEdit) -> BlockEdit:
        """Both edits; ``other`` wins where they conflict."""
        return BlockEdit(
            self.removed | other.removed,
            lcm(self.times, other.times),
            tuple((dict(self.split) | dict(other.split)).items()),
            self.cleared | other.cleared,
            self.alignment if other.alignment is None else other.alignment,
            self.apart or other.apart,
        )


class Experiment:
    """A predicted block and the changes that can be made to it. Instructions are given by index."""

    def __init__(
        self,
        prediction: Prediction,
        store: FactsStore,
        *,
        latencies: Mapping[int, int] = NO_LATENCIES,
        options: ModelOptions = DEFAULT,
        settled: bool = False,
        cancel: Callable[[], bool] | None = None,
    ) -> None:
        """``latencies``: requested by the text, in cycles, by instruction index. ``options``: those of the
        prediction.

        ``settled``: simulate until even buffers much larger than today's are full; this takes longer, and the
        figure may differ slightly from the prediction.
        """
        self.prediction = prediction
        self.options = options
        self.model = variant(registry.get(prediction.microarchitecture), options)
        self._store = store
        self._settled = settled
        self._cancel = cancel
        self._instructions = [template.instruction for template in prediction.instructions]
        self._latencies = latencies
        self._loop = prediction.mode is Mode.LOOP
        self.block = self._build(range(len(self._instructions)), self._instructions)
        self.accumulators = tuple(accumulators(self.block.instructions, dependencies(prediction).edges))

    def baseline(self) -> ChangeResult:
        """The result without a change."""
        return self._run("", self.block)

    def edited(self, edit: BlockEdit, change: str = "") -> ChangeResult:
        """The text with an edit applied. Raises ChangeError if the edit is impossible."""
        end = self.loop_end
        body = [number for number in range(end) if number not in edit.removed]
        closing = [number for number in range(end, len(self._instructions)) if number not in edit.removed]
        if not body + closing:
            raise ChangeError("the block has only this instruction")
        if edit.times > 1 and not (self._loop and body and closing):
            raise ChangeError("only a loop with a branch at its end can be unrolled")
        times = edit.copies
        order, instructions = [], []
        for number, instruction in self._copies(body, closing, times):
            if number in edit.cleared:
                order.append(_NEW)
                instructions.append(self._zero_idiom(number))
            order.append(number)
            instructions.append(instruction)
        taken: set[str] = set()
        for accumulator, registers in edit.split:
            free = [
                name for name in free_registers(self.block.instructions, accumulator) if name not in taken
            ]
            if len(free) < registers - 1:
                raise ChangeError(f"too few registers are free to split {accumulator.name}")
            taken.update(free[: registers - 1])
            _split(order, instructions, accumulator, (accumulator.register, *free[: registers - 1]))
        if self._loop and closing and instructions[-1].branch_displacement is not None:
            length = sum(instruction.length for instruction in instructions[:-1])
            instructions[-1:] = decode(back(instructions[-1].code, length))
        model = replace(self.model, upper_halves=UpperHalfRule.FREE) if edit.apart else self.model
        block = self._build(order, instructions, edit.alignment, model)
        return self._run(change, block, model=model, iterations=times)

    @property
    def unrolls(self) -> bool:
        """Whether several iterations at once compute the same: the loop ends by a count, not by its data."""
        try:
            return self._loop and unrolled(UnrolledLoop(self.block.instructions), 2) is not None
        except ValueError:
            return False

    def _copies(
        self, body: Sequence[int], closing: Sequence[int], times: int
    ) -> Iterator[tuple[int, Instruction]]:
        """Copies of the body and the end of the loop, each instruction with its index. Pointers and counters
        advance once for all copies where the loop allows that, as in the rewrites of loops.

        Raises ChangeError if an instruction cannot be encoded.
        """
        kept = [*body, *closing]
        if times > 1:
            loop = UnrolledLoop([self.block.instructions[number] for number in kept])
            try:
                found = unrolled(loop, times)
            except ValueError as error:
                raise ChangeError(f"the loop cannot be unrolled: {error}") from None
            if found is not None:
                for index, code in found:
                    number = kept[index]
                    changed = code != self._instructions[number].code
                    yield number, decode(code)[0] if changed else self._instructions[number]
                yield kept[-1], self._instructions[kept[-1]]
                return
        for number in [*list(body) * times, *closing]:
            yield number, self._instructions[number]

    def _zero_idiom(self, instruction: int) -> Instruction:
        found = false_dependency(self._instructions[instruction])
        if found is None:
            raise ChangeError("the instruction has no false dependency")
        (cleared,) = decode(found.code)
        return cleared

    def swapped(self, one: int, other: int, change: str = "") -> ChangeResult:
        """The block with two instructions swapped."""
        order = list(range(len(self._instructions)))
        order[one], order[other] = order[other], order[one]
        return self._run(change, self._build(order, [self._instructions[number] for number in order]))

    def with_latency(self, instruction: int, cycles: int, change: str = "") -> ChangeResult:
        """An instruction whose results take ``cycles`` from its inputs (from its
        loads if it also computes)."""
        return self._run(change, self._replaced(instruction, lambda old: _with_latency(old, cycles)))

    def with_ports(self, instruction: int, ports: str, change: str = "") -> ChangeResult:
        """An instruction whose computing uops may use other ports (all its uops if none computes). Raises
        ChangeError for unknown ports."""
        try:
            units = self.model.units.parse(ports)
        except ValueError as error:
            raise ChangeError(f"{self.model.name}: {error}") from error
        return self._run(change, self._replaced(instruction, lambda old: _with_units(old, units)))

    def without_input(self, instruction: int, value: str, change: str = "") -> ChangeResult:
        """An instruction without its dependency on a register or flag group (``C``, ``SPAZO``).

        Raises ChangeError if the instruction does not read it.
        """
        key = canonical(value.upper())
        uops = self.block.instructions[instruction].uops
        if not any(_is_value(item, key) for uop in uops for item in uop.inputs):
            raise ChangeError(f"the instruction does not read {value}")
        return self._run(change, self._replaced(instruction, lambda old: _without_input(old, key)))

    def replaced(
        self, instruction: int, change: Callable[[InstructionTemplate], InstructionTemplate], words: str = ""
    ) -> ChangeResult:
        """The block with a changed template for an instruction and the branch that fuses with it."""
        templates = list(self.block.instructions)
        templates[instruction] = change(templates[instruction])
        if templates[instruction].fused_with_next:
            templates[instruction + 1] = change(templates[instruction + 1])
        return self._run(words, replace(self.block, entries=tuple(templates)))

    def replaced_everywhere(
        self, change: Callable[[InstructionTemplate], InstructionTemplate], model: Microarchitecture
    ) -> ChangeResult:
        """The block with all templates changed, on a variant of the core."""
        templates = tuple(change(template) for template in self.block.instructions)
        return self._run("", replace(self.block, entries=templates), model=model)

    def with_load_latency(self, cycles: int, change: str = "") -> ChangeResult:
        """All loads take ``cycles``; fast pointer chasing still takes one less."""
        templates = tuple(_with_load_latency(template, cycles) for template in self.block.instructions)
        return self._run(change, replace(self.block, entries=templates))

    def with_parameter(self, name: str, value: str, change: str = "") -> ChangeResult:
        """The block on a core with another parameter. Raises ChangeError if it cannot be changed."""
        if SIZES.get(name, name) in OPTIONAL.values() and not self.options.limited:
            raise ChangeError(f"{name} is a limit only with --resources on")
        return self._run(change, self.block, model=changed(self.model, name, value))

    def with_model(self, model: Microarchitecture) -> ChangeResult:
        """The unchanged block on a variant of the core."""
        return self._run("", self.block, model=model)

    def _build(
        self,
        order: Sequence[int],
        instructions: Sequence[Instruction],
        alignment: int | None = None,
        model: Microarchitecture | None = None,
    ) -> Block:
        """A block of these instructions; ``order`` has the original index of each."""
        place = self.prediction.alignment if alignment is None else alignment
        core, loop = model or self.model, self._loop
        block = build_block(instructions, core, self._store, loop=loop, alignment=place, options=self.options)
        asked = {at: self._latencies[number] for at, number in enumerate(order) if number in self._latencies}
        return with_latencies(block, asked) if asked else block

    def _replaced(
        self, instruction: int, change: Callable[[InstructionTemplate], InstructionTemplate]
    ) -> Block:
        templates = list(self.block.instructions)
        templates[instruction] = change(templates[instruction])
        return replace(self.block, entries=tuple(templates))

    def _run(
        self, change: str, block: Block, *, model: Microarchitecture | None = None, iterations: int = 1
    ) -> ChangeResult:
        model = model or self.model
        rounds = rounds_to_settle(block, model) if self._settled else _ROUNDS
        try:
            simulation = simulate(
                block,
                model,
                request=RunRequest(min_rounds=rounds),
                options=self.options,
                cancel=self._cancel,
                caches=self._store.caches,
            )
        except SimulationStuck:
            raise ChangeError(f"with {change or 'this'} nothing would get through the pipeline") from None
        prediction = explain(block, model, simulation, self.options)
        return ChangeResult(change, prediction.cycles_per_iteration / iterations, prediction.bottlenecks)

    @property
    def loop_end(self) -> int:
        """Index of what closes the loop: the branch and what fuses with it; the block's
        length if there is none."""
        end = len(self.block.instructions)
        if self._loop and end and self.block.instructions[-1].is_branch:
            end -= 1
            if end and self.block.instructions[end].fused_with_previous:
                end -= 1
        return end


def _split(
    order: Sequence[int],
    instructions: list[Instruction],
    accumulator: Accumulator,
    registers: Sequence[str],
) -> None:
    """Rotates an accumulator's updates through ``registers``. ``order``: original
    index of each instruction."""
    turns = cycle(registers)
    for place, number in enumerate(order):
        if number in accumulator.updates:
            try:
                code = with_register(instructions[place].code, accumulator.register, next(turns))
            except ValueError as error:
                raise ChangeError(f"{accumulator.name} cannot be another register: {error}") from None
            (instructions[place],) = decode(code)


def _result_uops(template: InstructionTemplate) -> set[int]:
    """Indices of the computing uops; of all uops with results if none computes."""
    computing = {number for number, uop in enumerate(template.uops) if uop.kind == UopKind.COMPUTE}
    return computing or {number for number, uop in enumerate(template.uops) if uop.outputs}


def with_latencies(block: Block, latencies: Mapping[int, int]) -> Block:
    """The block with other latencies, in cycles by instruction index."""
    templates = tuple(
        _with_latency(template, latencies[index]) if index in latencies else template
        for index, template in enumerate(block.instructions)
    )
    return replace(block, entries=templates)


def _with_latency(template: InstructionTemplate, cycles: int) -> InstructionTemplate:
    chosen = _result_uops(template)
    uops = tuple(
        _slower(uop, cycles) if number in chosen else uop for number, uop in enumerate(template.uops)
    )
    loads = any(uop.kind == UopKind.LOAD for uop in template.uops) and any(
        uop.kind == UopKind.COMPUTE for uop in template.uops
    )
    pairs = {
        key: old if loads and key[0] in ("addr", "mem") else cycles for key, old in template.latencies.items()
    }
    return replace(template, uops=uops, latencies=pairs)


def _slower(uop: UopTemplate, cycles: int) -> UopTemplate:
    return replace(uop, outputs=tuple((value, cycles) for value, _ in uop.outputs))


def _with_units(template: InstructionTemplate, units: UnitSet) -> InstructionTemplate:
    computing = any(uop.kind == UopKind.COMPUTE for uop in template.uops)
    uops = tuple(
        replace(uop, units=units)
        if uop.units.mask and (uop.kind == UopKind.COMPUTE or not computing)
        else uop
        for uop in template.uops
    )
    uses = tuple(UnitUse(uop.kind, uop.units, 1) for uop in uops if uop.units.mask)
    return replace(template, uops=uops, uses=uses)


def _is_value(item: Value, key: str) -> bool:
    return item[0] != ValueKind.INTERNAL and item[1] == key


def _without_input(template: InstructionTemplate, key: str) -> InstructionTemplate:
    uops = tuple(
        replace(uop, inputs=tuple(item for item in uop.inputs if not _is_value(item, key)))
        for uop in template.uops
    )
    # The bound on dependencies must not see it either.
    pairs = {pair: 0 if _reads(template, pair, key) else old for pair, old in template.latencies.items()}
    # An eliminated move would pass the value on without reading its input.
    return replace(template, uops=uops, eliminable_move=False, latencies=pairs)


def _reads(template: InstructionTemplate, pair: tuple[str, int, str, int], key: str) -> bool:
    kind, position = pair[0], pair[1]
    if kind == "flag":
        return template.flag_inputs[position] == key
    operands = {"reg": template.register_inputs, "addr": template.address_inputs}.get(kind)
    return operands is not None and operands[position].canonical == key


def _with_load_latency(template: InstructionTemplate, cycles: int) -> InstructionTemplate:
    loads = [uop for uop in template.uops if uop.kind == UopKind.LOAD]
    if not loads:
        return template
    more = cycles - max((latency for uop in loads for _, latency in uop.outputs), default=cycles)
    uops = tuple(_slower(uop, cycles) if uop.kind == UopKind.LOAD else uop for uop in template.uops)
    pairs = {
        pair: max(old + more, 1) if pair[0] in ("addr", "mem") and pair[2] != "mem" else old
        for pair, old in template.latencies.items()
    }
    return replace(template, uops=uops, latencies=pairs)
