"""Lists all bounds and decides which apply; also predicts from the bounds alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cyclelens.analyzer.bounds.baseline import baseline
from cyclelens.analyzer.bounds.decoder import decoder_bound
from cyclelens.analyzer.bounds.dependencies import dependency_bound
from cyclelens.analyzer.bounds.dependency_graph import CriticalChains
from cyclelens.analyzer.bounds.dsb import dsb_bound
from cyclelens.analyzer.bounds.issue import issue_bound
from cyclelens.analyzer.bounds.lines import load_bound, store_bound
from cyclelens.analyzer.bounds.lsd import lsd_bound
from cyclelens.analyzer.bounds.ports import port_bound
from cyclelens.analyzer.bounds.predecoder import predecoder_bound
from cyclelens.analyzer.bounds.symbolic import Aliasing
from cyclelens.analyzer.bounds.throughput import throughput_bound
from cyclelens.analyzer.bounds.upper_halves import upper_half_bound
from cyclelens.analyzer.model.choices import Model
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.simulation import Simulation
from cyclelens.analyzer.model.uops import Block

_FRONT_END = {
    "Predecoder": predecoder_bound,
    "Decoder": decoder_bound,
    "DSB": dsb_bound,
    "LSD": lsd_bound,
}


def compute_bounds(
    block: Block,
    microarchitecture: Microarchitecture,
    simulation: Simulation | None,
    critical: CriticalChains | None = None,
    *,
    apart: bool = True,
) -> Mapping[str, float]:
    """Bound -> cycles per iteration: ``Predecoder Decoder DSB LSD Issue Ports Loads Stores Dependencies``,
    ``Throughput``, ``Upper halves``. Bounds that are zero or do not apply are absent.

    With a simulation, only the front-end parts that the block really used count, and moves load the ports as
    often as they were not eliminated. Without one, every part that the block could use counts. ``critical``:
    the block's critical chains, if already known. ``apart``: different registers point to different memory.
    """
    if not block.instructions:
        return {}
    if simulation is None:
        parts = _possible(block, microarchitecture)
        elimination = None
    else:
        parts = _used(simulation)
        elimination = simulation.elimination
    bounds = {name: _FRONT_END[name](block, microarchitecture) for name in parts}
    bounds["Issue"] = issue_bound(block, microarchitecture)
    bounds["Ports"] = port_bound(block, microarchitecture, elimination)
    bounds["Loads"] = load_bound(block, microarchitecture)
    bounds["Stores"] = store_bound(block, microarchitecture, apart=apart)
    bounds["Upper halves"] = upper_half_bound(block)
    bounds["Dependencies"] = (
        dependency_bound(block, microarchitecture)
        if critical is None
        else float(critical.cycles_per_iteration)
    )
    cycles = None if simulation is None else simulation.cycles_per_iteration
    throughput = throughput_bound(block, microarchitecture, cycles)
    if throughput > bounds["Dependencies"]:
        # The chain of an instruction that waits for itself has its throughput already.
        bounds["Throughput"] = throughput
    return {name: value for name, value in bounds.items() if value}


def _possible(block: Block, microarchitecture: Microarchitecture) -> list[str]:
    parts = ["Predecoder", "Decoder"]
    if block.loop:
        parts.append("DSB")
        parts += ["LSD"] * microarchitecture.lsd_enabled
    return parts


def _used(simulation: Simulation) -> list[str]:
    sources = set(simulation.first_sources)
    parts = []
    if "MITE" in sources:
        if not sources & {"DSB", "LSD"}:
            parts.append("Predecoder")
        parts.append("Decoder")
    return parts + [name for name in ("DSB", "LSD") if name in sources]


def predict_analytically(block: Block, microarchitecture: Microarchitecture) -> float:
    """Cycles per iteration as the largest bound, without simulation (Facile, the analytic model of the uiCA
    group). The front end is guessed from the block, moves count as eliminated, and all registers except RSP
    and RBP are assumed to point to the same memory.

    The block should be built for alignment 0. Raises ValueError for a block without instructions.
    """
    if not block.instructions:
        raise ValueError("a block without instructions has no throughput")
    bounds = [
        issue_bound(block, microarchitecture),
        port_bound(block, microarchitecture),
        load_bound(block, microarchitecture),
        store_bound(block, microarchitecture, apart=False),
        dependency_bound(block, microarchitecture, Aliasing.STACK),
    ]
    front_end = _assumed_front_end(block, microarchitecture)
    bounds += [_FRONT_END[part](block, microarchitecture) for part in front_end]
    return max(bounds)


ANALYTIC: Mapping[Model, Callable[[Block, Microarchitecture], float]] = {
    Model.BOUNDS: predict_analytically,
    Model.BASELINE: baseline,
}
"""The models that do not simulate: cycles per iteration of a block built for alignment 0."""


def _assumed_front_end(block: Block, microarchitecture: Microarchitecture) -> tuple[str, ...]:
    own = [template for template in block.instructions if not template.fused_with_previous]
    if not block.loop or own[-1].jcc_erratum:
        return "Predecoder", "Decoder"
    uops = sum(template.mite_uops for template in own)
    if microarchitecture.lsd_enabled and uops <= microarchitecture.idq_size:
        return ("LSD",)
    return ("DSB",)
