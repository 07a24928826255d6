"""Simulates a single pass: from an empty pipeline to the retirement of the last instruction.

That is the cost of a function whose caller waits for it, between calls of other functions. The code comes
from the uop cache, the data from the first-level cache, and branches are predicted correctly: a hot function
that is called now and then. Enough long NOPs follow that nothing else is in flight with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cyclelens.analyzer.insight.assumption_codes import ONE_PASS
from cyclelens.analyzer.insight.dependencies import dependencies_of
from cyclelens.analyzer.insight.explain import bare, explain, front_end_shares
from cyclelens.analyzer.insight.runs import Runs
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.result import Assumption, OnePass, Prediction
from cyclelens.analyzer.model.simulation import Simulation, Trace
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.uops.upper_halves import may_mix
from msgspec.structs import replace

_NOP = bytes.fromhex("0f1f840000000000")
"""Eight bytes, so that the uops of a window of NOPs fit in the uop cache."""
CLEARS = bytes.fromhex("c5f877")
"""VZEROUPPER: callers and callees leave no upper halves of vector registers in use."""
_MARGIN = 16
_TOUCHES = 0.98

Build = Callable[[Sequence[Instruction]], Block]
"""Builds a block, with its code in the uop cache, from instructions."""


def simulate_once(
    build: Build, instructions: Sequence[Instruction], runs: Runs, *, trace: bool
) -> Simulation:
    """One pass, with figures like those of one iteration.

    ``trace``: record every event with its causes. Raises like ``simulate``.
    """
    nops = decode(_NOP * (runs.microarchitecture.reorder_buffer_size + _MARGIN))
    if may_mix(instructions):
        nops += decode(CLEARS)
    request = RunRequest(min_rounds=1, min_cycles=0, trace=True, trace_rounds=None if trace else 1)
    simulation = simulate(
        build((*instructions, *nops)),
        runs.microarchitecture,
        request=request,
        options=runs.options,
        cancel=runs.cancel,
        caches=runs.caches,
    )
    assert simulation.trace is not None, "it was asked for"
    return _cut(simulation, simulation.trace, len(instructions), keep=trace)


def _cut(simulation: Simulation, trace: Trace, count: int, *, keep: bool) -> Simulation:
    """The simulation without everything after the first ``count`` instructions."""
    end = next((at for at, row in enumerate(trace.rows) if row.round or row.instruction >= count), None)
    rows = trace.rows[:end]
    cycles = 1 + max((row.retired for row in rows if row.retired is not None), default=0)

    def known(row: int | None) -> int | None:
        return row if row is not None and row < len(rows) else None

    shown = replace(
        trace,
        rows=rows,
        cycles=cycles,
        inputs=trace.inputs[: len(rows)],
        scheduling=trace.scheduling[: len(rows)],
        later=(),
        refusals=tuple(replace(each, uop=known(each.uop)) for each in trace.refusals[:cycles]),
        unfinished=tuple(map(known, trace.unfinished[:cycles])),
    )
    return replace(
        simulation,
        cycles_per_iteration=float(cycles),
        simulated_cycles=cycles,
        first_round=0,
        last_round=0,
        usage=simulation.usage[:count],
        merge_usage=simulation.merge_usage[:count],
        sync_usage=simulation.sync_usage[:count],
        first_sources=simulation.first_sources[:count],
        elimination=simulation.elimination[:count],
        renamed_loads=simulation.renamed_loads[:count],
        colliding_loads=simulation.colliding_loads[:count],
        merging_stores=simulation.merging_stores[:count],
        failed_forwards=simulation.failed_forwards[:count],
        lsd_unroll=0,
        period=None,
        trace=shown if keep else None,
    )


def of(block: Block, microarchitecture: Microarchitecture, simulation: Simulation) -> OnePass:
    """The figure of a pass over a block, with its critical path."""
    graph = dependencies_of(block, microarchitecture)
    path = tuple((step.instruction, step.latency, step.value) for step in graph.path_steps)
    return OnePass(round(simulation.cycles_per_iteration), path, graph.path_cycles)


def predicted(block: Block, simulation: Simulation, runs: Runs, *, causes: bool) -> Prediction:
    """A prediction whose figure is that of the pass.

    Its bottleneck is the largest of critical path, issue and ports.
    """
    once = of(block, runs.microarchitecture, simulation)
    prediction = replace(bare(block, simulation), mode=Mode.ONCE, once=once)
    if not causes:
        return prediction
    steady = explain(block, runs.microarchitecture, simulation, runs.options).bounds
    front_end = ("Predecoder", "Decoder", "LSD")
    bounds = {name: value for name, value in steady.items() if name not in front_end}
    bounds["Dependencies"] = float(once.path_cycles)
    most = max(bounds.values())
    named = sorted(name for name, value in bounds.items() if value >= _TOUCHES * most > 0)
    return replace(
        prediction,
        bottlenecks=tuple(named),
        bounds=bounds,
        front_end=front_end_shares(simulation),
        chain=tuple((instruction, latency) for instruction, latency, _ in once.path if latency),
        tied_chains=1,
    )


def assumption(once: OnePass) -> Assumption:
    """What the figure of a pass assumes."""
    message = (
        f"One pass ({once.cycles} cycles) begins with an empty pipeline and ends with the retirement of its "
        "last instruction; its code comes from the uop cache as far as it fits, and its branches are "
        "predicted."
    )
    return Assumption(ONE_PASS, message, values={"cycles": once.cycles, "critical_path": once.path_cycles})
