"""What a change would do: the block or the microarchitecture is changed in one point and simulated again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.insight.dependencies import dependencies
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.variants import variant
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.units import UnitSet, UnitUse, UopKind
from cyclelens.analyzer.model.uops import Block, InstructionTemplate, UopTemplate, Value, ValueKind
from cyclelens.analyzer.simulator.pipeline import SimulationStuck, rounds_to_settle, simulate
from cyclelens.analyzer.uops.block import build_block
from cyclelens.analyzer.uops.registers import canonical

NO_LATENCIES: Mapping[int, int] = MappingProxyType({})
_ROUNDS = 10
"""As for a prediction."""


class ChangeError(ValueError):
    """A change that makes no sense; the message is for the user."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a change leads to."""

    change: str
    """In words; empty for no change."""
    cycles_per_iteration: float
    """Of the original iteration, also where several were unrolled."""
    bottlenecks: tuple[str, ...]


class Experiment:
    """One predicted block and what can be done to it. Instructions are named by position."""

    def __init__(
        self,
        prediction: Prediction,
        store: FactsStore,
        *,
        latencies: Mapping[int, int] = NO_LATENCIES,
        options: ModelOptions = PUBLISHED,
        settled: bool = False,
        cancel: Callable[[], bool] | None = None,
    ) -> None:
        """``latencies``: in cycles, that the text asks for, by index of instruction. ``options``: those of
        the prediction. ``settled``: simulate until even buffers much larger than
        today's have filled up. Takes longer, and the figure may differ a little from the prediction."""
        self.prediction = prediction
        self.options = options
        self.model = variant(registry.get(prediction.microarchitecture), options)
        self._store = store
        self._settled = settled
        self._cancel = cancel
        self._instructions = [template.instruction for template in prediction.instructions]
        self._latencies = latencies
        self._loop = prediction.mode == "loop"
        self.block = self._build(range(len(self._instructions)))

    def baseline(self) -> Outcome:
        """The block as it is."""
        return self._run("", self.block)

    def without(self, instruction: int, change: str = "") -> Outcome:
        """One instruction removed. Raises ChangeError if it is the only one."""
        rest = [number for number in range(len(self._instructions)) if number != instruction]
        if not rest:
            raise ChangeError("the block has only this instruction")
        return self._run(change, self._build(rest))

    def swapped(self, one: int, other: int, change: str = "") -> Outcome:
        """Two instructions in each other's place."""
        order = list(range(len(self._instructions)))
        order[one], order[other] = order[other], order[one]
        return self._run(change, self._build(order))

    def unrolled(self, times: int, change: str = "") -> Outcome:
        """The body of a loop ``times`` in a row before its branch, the counter of every copy kept out.

        Raises ChangeError if the block is no loop with a branch at its end.
        """
        end = self._loop_end()
        body, closing = list(range(end)), list(range(end, len(self._instructions)))
        if not self._loop or not closing or not body:
            raise ChangeError("only a loop with a branch at its end can be unrolled")
        return self._run(change, self._build(body * times + closing), iterations=times)

    def aligned(self, alignment: int, change: str = "") -> Outcome:
        """The block at another address, bytes within a 64-byte line."""
        return self._run(change, self._build(range(len(self._instructions)), alignment))

    def with_latency(self, instruction: int, cycles: int, change: str = "") -> Outcome:
        """An instruction whose results take ``cycles`` from its inputs (from its loads if it computes)."""
        return self._run(change, self._replaced(instruction, lambda old: _with_latency(old, cycles)))

    def with_ports(self, instruction: int, ports: str, change: str = "") -> Outcome:
        """An instruction whose computing uops may use other ports (all of its uops if none computes)."""
        try:
            units = self.model.units.parse(ports)
        except ValueError as error:
            raise ChangeError(f"{self.model.name}: {error}") from error
        return self._run(change, self._replaced(instruction, lambda old: _with_units(old, units)))

    def without_input(self, instruction: int, value: str, change: str = "") -> Outcome:
        """An instruction that does not wait for a register or flag group (``C``, ``SPAZO``) that it reads.

        Raises ChangeError if it does not read it.
        """
        key = canonical(value.upper())
        uops = self.block.instructions[instruction].uops
        if not any(_is_value(item, key) for uop in uops for item in uop.inputs):
            raise ChangeError(f"the instruction does not read {value}")
        return self._run(change, self._replaced(instruction, lambda old: _without_input(old, key)))

    def with_load_latency(self, cycles: int, change: str = "") -> Outcome:
        """All loads take ``cycles``; fast pointer chasing still takes one less."""
        templates = tuple(_with_load_latency(template, cycles) for template in self.block.instructions)
        return self._run(change, replace(self.block, entries=templates))

    def with_parameter(self, name: str, value: str, change: str = "") -> Outcome:
        """A microarchitecture with another parameter. Raises ChangeError for one that cannot be changed."""
        if SIZES.get(name, name) in OPTIONAL.values() and not self.options.limited:
            raise ChangeError(f"{name} is a limit only with --resources on")
        return self._run(change, self.block, model=changed(self.model, name, value))

    def with_model(self, model: Microarchitecture, change: str = "") -> Outcome:
        """The block as it is on another version of the microarchitecture."""
        return self._run(change, self.block, model=model)

    def _build(self, order: Sequence[int], alignment: int | None = None) -> Block:
        """A block of the original's instructions, given by their positions there."""
        place = self.prediction.alignment if alignment is None else alignment
        block = build_block(
            [self._instructions[number] for number in order],
            self.model,
            self._store,
            loop=self._loop,
            alignment=place,
            options=self.options,
        )
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
    ) -> Outcome:
        model = model or self.model
        rounds = rounds_to_settle(block, model) if self._settled else _ROUNDS
        try:
            simulation = simulate(block, model, min_rounds=rounds, options=self.options, cancel=self._cancel)
        except SimulationStuck:
            raise ChangeError(f"with {change or 'this'} nothing would get through the pipeline") from None
        prediction = explain(block, model, simulation)
        return Outcome(change, prediction.cycles_per_iteration / iterations, prediction.bottlenecks)

    def _loop_end(self) -> int:
        """Position of what closes the loop: the branch, with what fuses with it."""
        end = len(self.block.instructions)
        if end and self.block.instructions[-1].is_branch:
            end -= 1
            if end and self.block.instructions[end].fused_with_previous:
                end -= 1
        return end


OPTIONAL = {
    "lb": "load_buffer_size",
    "lm": "load_matrix_size",
    "sb": "store_buffer_size",
    "bb": "branch_buffer_size",
    "int": "integer_registers",
    "vec": "vector_registers",
    "regs": "all_registers",
}
"""Short names of capacities that are limits only where the model has them (``ModelOptions.limited``)."""

SIZES = {
    "rob": "reorder_buffer_size",
    "rs": "reservation_station_size",
    "idq": "idq_size",
    "iq": "instruction_queue_size",
    **OPTIONAL,
}
"""Short names of all capacities."""


def changed(model: Microarchitecture, name: str, value: str) -> Microarchitecture:
    """The microarchitecture with another whole number or yes/no parameter."""
    field = SIZES.get(name, name)
    numbers: dict[str, object] = {item.name: getattr(model, item.name) for item in fields(model)}
    current = numbers.get(field)
    new: dict[str, Any]
    if isinstance(current, bool):
        words = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
        if value.lower() not in words:
            raise ChangeError(f"'{value}': {field} is yes or no")
        new = {field: words[value.lower()]}
        return replace(model, **new)
    if not isinstance(current, int) and field not in OPTIONAL.values():
        known = ", ".join(sorted(key for key, old in numbers.items() if isinstance(old, int)))
        raise ChangeError(f"'{name}' is no parameter that can be changed; those are {known}")
    least = least_value(model, field)
    # How uops are bound to ports is known for as many a cycle as the processor issues, and for no more.
    most = model.issue_width if field == "issue_width" else _MOST
    if not value.isdecimal() or not least <= int(value) <= most:
        raise ChangeError(f"'{value}': {field} is a whole number from {least} to {most}")
    new = {field: int(value)}
    return replace(model, **new)


_NOTABLE = 0.005
"""Cycles; figures have two decimals."""


def least_value(model: Microarchitecture, field: str) -> int:
    """Below this a parameter makes no sense: nothing would move any more."""
    if field in OPTIONAL.values():
        return 1
    if field == "idq_size":
        # Of a smaller one the DSB would ask for more room than there is, and the LSD place more than fits.
        return max(model.dsb_width + model.issue_width, _LSD_BATCH // 4)
    if field == "instruction_queue_size":
        return model.predecode_width
    if field.endswith("_size"):
        return model.issue_width
    return 1 if field.endswith(("_width", "_bytes")) else 0


_LSD_BATCH = 64
"""IDQ uops; the LSD never places more at once."""
_MOST = 10_000
"""Largest value of a parameter; time and memory grow with it."""
_MOST_INSTRUCTIONS = 100
"""Instructions up to which each is removed in turn: every change is a simulation."""


def sensitivity(experiment: Experiment, places: Sequence[str]) -> list[Callable[[], Outcome | None]]:
    """Every change that is tried without being asked for: each is simulated when it is called, and gives
    None if it makes no sense for this block. ``places``: what to call each instruction."""
    model = experiment.model
    count = len(experiment.block.instructions)
    changes: list[Callable[[], Outcome]] = []
    if 1 < count <= _MOST_INSTRUCTIONS:
        changes += [
            partial(experiment.without, number, f"without {places[number]}") for number in range(count)
        ]
    tried = set()
    for edge in dependencies(experiment.prediction).edges:
        key = (edge.consumer, edge.value)
        if (edge.critical or edge.carried) and edge.value != "memory" and key not in tried:
            tried.add(key)
            value = f"{wording.value(edge.name)} of {places[edge.producer]}"
            change = f"{places[edge.consumer]} does not wait for {value}"
            # Makes no sense for the stack engine's RSP: no uop reads it.
            changes.append(partial(experiment.without_input, edge.consumer, edge.value, change))
    if experiment.prediction.mode == "loop":
        changes += [partial(experiment.unrolled, times, f"unrolled {times} times") for times in (2, 4)]
    changes += [
        partial(experiment.aligned, alignment, f"alignment {alignment}")
        for alignment in (0, 16, 32, 48)
        if alignment != experiment.prediction.alignment
    ]
    for name in ("rs", "rob", *(OPTIONAL if experiment.options.limited else ())):
        size = getattr(model, SIZES[name])
        if size is None:
            continue
        value = 2 * size
        change = f"{SIZES[name]} {value} instead of {size}"
        changes.append(partial(experiment.with_parameter, name, str(value), change))
    return [partial(_if_sensible, change) for change in changes]


def _if_sensible(change: Callable[[], Outcome]) -> Outcome | None:
    try:
        return change()
    except ChangeError:
        return None


def helpful(base: Outcome, tried: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes that save something that shows in two decimals, the best first."""
    return [
        outcome
        for outcome in sorted(tried, key=lambda outcome: outcome.cycles_per_iteration)
        if base.cycles_per_iteration - outcome.cycles_per_iteration > _NOTABLE
    ]


def _result_uops(template: InstructionTemplate) -> set[int]:
    """The computing uops; all that have results if none computes."""
    computing = {number for number, uop in enumerate(template.uops) if uop.kind == UopKind.COMPUTE}
    return computing or {number for number, uop in enumerate(template.uops) if uop.outputs}


def with_latencies(block: Block, latencies: Mapping[int, int]) -> Block:
    """A block in which some instructions, given by their index, have another latency in cycles."""
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
    # What the bound on dependencies sees goes too.
    pairs = {pair: 0 if _reads(template, pair, key) else old for pair, old in template.latencies.items()}
    # An eliminated move would hand the value on without looking at its input.
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
