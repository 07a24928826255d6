"""Entry point for experiments with a predicted region, used by comparisons, rewrites and costs, and for
single instructions."""

from __future__ import annotations

from collections.abc import Iterable

from cyclelens.analyzer.engine.workspace import Cancel, Workspace
from cyclelens.analyzer.insight.whatif import Experiment
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import extensions, registry
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.model.result import (
    Prediction,
    RegionAnalysis,
)
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.uops.block import build_block
from msgspec.structs import replace


def experiment(
    workspace: Workspace,
    region: RegionAnalysis,
    prediction: Prediction,
    options: ModelOptions = DEFAULT,
    cancel: Cancel | None = None,
) -> Experiment:
    """The experiments possible with a region that was predicted with these ``options``."""
    return Experiment(prediction, workspace.store, latencies=region.latencies, options=options, cancel=cancel)


def traced(
    workspace: Workspace,
    region: RegionAnalysis,
    prediction: Prediction,
    options: ModelOptions = DEFAULT,
    cancel: Cancel | None = None,
) -> Prediction:
    """The prediction with the whole trace of its simulation. Raises ``Cancelled``."""
    trace = prediction.simulation.trace
    if prediction.mode is Mode.ONCE or (trace is not None and trace.inputs):
        return prediction
    tried = experiment(workspace, region, prediction, options)
    simulation = simulate(
        tried.block,
        tried.model,
        request=RunRequest(trace=True),
        options=options,
        cancel=cancel,
        caches=workspace.caches,
    )
    return replace(prediction, simulation=simulation)


def templates(
    workspace: Workspace, codes: Iterable[bytes], microarchitecture: str
) -> list[InstructionTemplate]:
    """Single instructions as a core runs them, each form once; those that the core lacks are omitted. Raises
    ``TablesUnavailable``."""
    model = registry.get(microarchitecture)
    found: dict[str, InstructionTemplate] = {}
    for code in codes:
        instructions = decode(code, workspace.store.caches)
        if len(instructions) == 1 and not extensions.missing(instructions, [model.name]):
            template = build_block(instructions, model, workspace.store, loop=False).instructions[0]
            found.setdefault(template.name, template)
    return list(found.values())
