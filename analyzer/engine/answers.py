"""Answers one query: the prediction of a region's code on one core, at all its possible positions, with
causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cyclelens.analyzer.engine.workspace import CachedAnswer, Cancel, Workspace
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.insight import one_pass
from cyclelens.analyzer.insight.addresses import accesses
from cyclelens.analyzer.insight.assumption_codes import ONE_POSITION
from cyclelens.analyzer.insight.assumptions import assumptions
from cyclelens.analyzer.insight.calls import carried_arguments
from cyclelens.analyzer.insight.explain import bare, explain
from cyclelens.analyzer.insight.findings import find
from cyclelens.analyzer.insight.memory_levels.streams import data_levels
from cyclelens.analyzer.insight.one_pass import simulate_once
from cyclelens.analyzer.insight.overlaps import overlaps
from cyclelens.analyzer.insight.port_binding import port_binding
from cyclelens.analyzer.insight.positions import alone, one_so_far, positions, unknown_offset, usual
from cyclelens.analyzer.insight.runs import Runs
from cyclelens.analyzer.insight.whatif import with_latencies
from cyclelens.analyzer.insight.work import inferred
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures.variants import variant
from cyclelens.analyzer.model.analysis_options import Detail
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.machine_file import MachineFile
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.result import Assumption, PortBinding, Position, Prediction
from cyclelens.analyzer.model.simulation import Simulation
from cyclelens.analyzer.model.source import Origin, Placement
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.uops.block import build_block
from cyclelens.analyzer.uops.left_out import LeftOut, what_counts
from cyclelens.analyzer.uops.upper_halves import may_mix
from msgspec import Struct
from msgspec.structs import replace

_QUICK_BYTES = 16 * 1024
"""Bytes of code, summed over all positions, that the first quick answer still simulates (about 15 ms). Later
ones, after an edit, simulate one position only."""


class RegionQuery(Struct, frozen=True):
    """A query about a region on one core."""

    name: str
    code: bytes
    instructions: tuple[Instruction, ...]
    """The instructions of ``code``."""
    model: Microarchitecture
    loop: bool
    placement: Placement
    latencies: Mapping[int, int]
    """Latencies that the text overrides, by instruction index."""
    options: ModelOptions
    detail: Detail
    origin: Origin
    assumed_path: tuple[Assumption, ...]
    """The path through the region that the query is about, if there are several."""
    forks: tuple[int, ...]
    """The instructions after which paths diverge."""
    once: bool = False
    """Simulate one pass from an empty pipeline."""
    is_function: bool = False
    """Simulate one pass in addition to the steady state."""
    machine: MachineFile | None = None
    """What was measured on a machine with this core."""


class Run(Struct, frozen=True):
    """Simulates the code of a query on a core."""

    query: RegionQuery
    core: Microarchitecture
    """The variant of the model that the options select."""
    store: FactsStore
    cancel: Cancel | None

    def block(self, alignment: int) -> Block:
        """The code at an offset within a 64-byte line."""
        return self.built(self.query.instructions, self.query.loop, alignment)

    def built(self, instructions: Sequence[Instruction], loop: bool, alignment: int) -> Block:
        """A block of code that begins with that of the query. ``loop``: it is delivered by the uop cache."""
        block = build_block(
            instructions,
            self.core,
            self.store,
            loop=loop,
            alignment=alignment,
            options=self.query.options,
        )
        if self.query.latencies:
            block = with_latencies(block, self.query.latencies)
        return block

    def simulation(self, block: Block) -> Simulation:
        """The simulation with everything that the options request."""
        return simulate(
            block,
            self.core,
            request=RunRequest(
                trace=self.query.detail.trace,
                trace_rounds=self.query.detail.trace_rounds,
                details=self.query.detail.causes,
                account=self.query.detail.causes,
            ),
            options=self.query.options,
            cancel=self.cancel,
            caches=self.store.caches,
        )

    def positions(
        self, offsets: Sequence[int], block: Block, simulation: Simulation, known: dict[bytes, Position]
    ) -> tuple[Position, ...]:
        """The figures at all positions. ``block`` and ``simulation`` are those of one position; results are
        added to ``known``."""
        if len(offsets) == 1:
            return alone(block, simulation)

        def moved(alignment: int) -> Block:
            """The same entries at another offset: those of macro-ops do not depend on it."""
            return replace(block, alignment=alignment)

        build = moved if self.core.macro_ops else self.block
        return positions(build, offsets, self.others(), (block, simulation), known)

    def one_pass(self, alignment: int, *, trace: bool) -> Simulation:
        """Simulate one pass of the code, from an empty pipeline."""

        def build(instructions: Sequence[Instruction]) -> Block:
            return self.built(instructions, True, alignment)

        return simulate_once(build, self.query.instructions, self.others(), trace=trace)

    def others(self) -> Runs:
        """Runs other blocks to explain this one."""
        return Runs(self.core, self.query.options, self.cancel, self.store.caches)


def answer(workspace: Workspace, query: RegionQuery, cancel: Cancel | None) -> CachedAnswer | LeftOut:
    """The cached or new answer, or why there is no figure if an essential instruction has no record. Raises
    ``Cancelled`` and ``TooManyUopsError``."""
    detail, model, placement = query.detail, query.model, query.placement
    code, assumed_path, forks = query.code, query.assumed_path, query.forks
    repeated = (query.loop, query.once, query.is_function)
    about = (code, model.name, repeated, tuple(query.latencies.items()), query.options, query.machine)
    # Positions are the same with and without a trace.
    places = workspace.places.get((*about, placement))
    here = (query.origin, query.name, model.name, placement.known)
    latest = workspace.latest.get(here)
    hurried = (
        places is None
        and detail.quick
        and len(placement.offsets) > 1
        and (latest is not None or len(placement.offsets) * len(code) > _QUICK_BYTES)
    )
    rest = (detail.causes, detail.alternatives, tuple(each.message for each in assumed_path), forks)
    request_key = (*about, placement, hurried, *rest)
    # Port bindings are tried after the first answer, which a user waits for.
    bindings = detail.alternatives and detail.causes and not detail.quick
    key = (*request_key, detail.trace, detail.trace_rounds if detail.trace else None, bindings)
    found = workspace.asked(key)
    if found is not None:
        return found
    run = Run(query, variant(model, query.options), workspace.store, cancel)
    if query.once:
        passed = _once(run)
        return passed if isinstance(passed, LeftOut) else workspace.remember(key, passed)
    # Usually the position shown is the same as before the last edit; it is simulated once for both purposes.
    last, same_everywhere = latest or (0, False)
    shown = usual(places) if places else placement.offsets[last]
    block = run.block(shown)
    lacking = what_counts(block.instructions, workspace.store)
    if lacking is not None:
        return lacking
    simulation = run.simulation(block)
    if places is None and not hurried:
        figures = workspace.figures.get(about)
        if figures is None:
            figures = workspace.figures[about] = {}
        places = run.positions(placement.offsets, block, simulation, figures)
        workspace.places[*about, placement] = places
        if usual(places) != shown:
            block = run.block(usual(places))
            simulation = run.simulation(block)
    if places is not None and detail.causes:
        index = placement.offsets.index(block.alignment)
        workspace.latest[here] = index, len({each.cycles_per_iteration for each in places}) == 1
    # Causes depend neither on a trace nor on other port bindings.
    plain = workspace.known((*request_key, False, None, False)) if detail.trace or bindings else None
    if plain is not None:
        found = plain.of(simulation)
    elif detail.causes:
        first = workspace.known((*about, placement, True, *rest, False, None, False))
        explained = _explained(run, block, simulation, first)
        if places is None:
            explained = one_so_far(explained, block, len(placement.offsets), same_everywhere)
        else:
            explained = _placed(run, block, explained, places)
        found = CachedAnswer(explained, find(explained))
    else:
        found = CachedAnswer(replace(bare(block, simulation), positions=places or ()), ())
    if query.is_function and detail.causes and plain is None:
        found = replace(found, prediction=_with_pass(run, block, found.prediction))
    if detail.trace and plain is None:
        workspace.remember((*request_key, False, None, False), found.of(replace(simulation, trace=None)))
    if bindings:
        range_of = _port_binding(workspace, (*about, block.alignment), run, block, found.prediction)
        found = replace(found, prediction=replace(found.prediction, port_binding=range_of))
    return workspace.remember(key, found)


def _port_binding(
    workspace: Workspace, at: tuple[object, ...], run: Run, block: Block, prediction: Prediction
) -> PortBinding | None:
    """The cached or new range of figures under other port bindings, for code at its position."""
    known = workspace.bindings.get(at)
    if known is None:
        known = workspace.bindings[at] = (port_binding(block, prediction, run.others()),)
    return known[0]


def _once(run: Run) -> CachedAnswer | LeftOut:
    """The answer for one pass, at the assumed position."""
    query = run.query
    alignment = query.placement.offsets[0]
    behind = decode(one_pass.CLEARS) if may_mix(query.instructions) else ()
    block = run.built((*query.instructions, *behind), False, alignment)
    block = replace(block, entries=block.entries[: len(query.instructions)])
    lacking = what_counts(block.instructions, run.store)
    if lacking is not None:
        return lacking
    simulation = run.one_pass(alignment, trace=query.detail.trace)
    prediction = one_pass.predicted(block, simulation, run.others(), causes=query.detail.causes)
    prediction = replace(prediction, machine=query.machine)
    if not query.detail.causes or prediction.once is None:
        return CachedAnswer(prediction, ())
    told = assumptions(prediction, accesses(block.instructions), query.forks)
    prediction = replace(
        prediction, assumptions=(one_pass.assumption(prediction.once), *query.assumed_path, *told)
    )
    return CachedAnswer(prediction, find(prediction))


def _with_pass(run: Run, block: Block, prediction: Prediction) -> Prediction:
    """The prediction of a function with the cycles of one call."""
    simulation = run.one_pass(block.alignment, trace=False)
    once = one_pass.of(block, run.core, simulation)

    def build(instructions: Sequence[Instruction]) -> Block:
        return run.built(instructions, run.query.loop, block.alignment)

    carried = carried_arguments(build, run.query.instructions, prediction.cycles_per_iteration, run.others())
    assumed = (one_pass.assumption(once), *carried, *prediction.assumptions)
    return replace(prediction, once=once, assumptions=assumed)


def _explained(run: Run, block: Block, simulation: Simulation, first: CachedAnswer | None) -> Prediction:
    """A simulation with its causes and the assumptions that follow from its instructions. ``first``: the
    earlier answer for the same code, before all positions were simulated."""
    if first is not None and first.prediction.alignment == block.alignment:
        assumed = tuple(each for each in first.prediction.assumptions if each.code != ONE_POSITION)
        known = replace(first.prediction, assumptions=assumed)
        return replace(known, simulation=simulation, account=simulation.account)
    accessed = accesses(block.instructions)
    prediction = replace(explain(block, run.core, simulation, run.query.options), machine=run.query.machine)
    prediction = replace(
        prediction, work=inferred(block.instructions, accessed), data=data_levels(prediction, accessed)
    )
    assumed = assumptions(prediction, accessed, run.query.forks)
    return replace(prediction, assumptions=run.query.assumed_path + assumed)


def _placed(run: Run, block: Block, prediction: Prediction, places: tuple[Position, ...]) -> Prediction:
    """The prediction, completed with the results at all possible positions."""
    prediction = replace(prediction, positions=places)
    assumed = (*prediction.assumptions, *unknown_offset(prediction, run.query.placement))
    if run.query.detail.alternatives:
        # Accesses that could overlap in memory for some data, with their cost.
        accessed, cycles = accesses(block.instructions), prediction.cycles_per_iteration
        assumed += overlaps(block, accessed, cycles, run.others())
    return replace(prediction, assumptions=assumed)
