"""Measures code on this machine: ``measure``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import overload

from cyclelens.analysis import Source, analysis_of
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.prediction import Predictor
from cyclelens.analyzer.engine.shared import shared_workspace
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.measuring.blocks import measure_block
from cyclelens.analyzer.measuring.harness import Harness
from cyclelens.analyzer.measuring.inputs import with_pairs
from cyclelens.analyzer.measuring.predicted import compare
from cyclelens.analyzer.measuring.region import Comparison
from cyclelens.analyzer.measuring.requests import DISTINCT
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions, Target
from cyclelens.analyzer.model.choices import Clocks, Mode, Pages, Pointers, Regions, Repetition
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.arguments import cores_named, one_of
from cyclelens.results import Measurement, Measurements


@overload
def measure(
    source: bytes | bytearray | memoryview,
    *,
    arch: str = ...,
    mode: str = ...,
    clock: str = ...,
    pages: str = ...,
    runs: int = ...,
) -> Measurement: ...


@overload
def measure(
    source: Source,
    *,
    arch: str = ...,
    region: str | None = ...,
    function: str | None = ...,
    regions: str = ...,
    inputs: Mapping[str, int] | None = ...,
    clock: str = ...,
    pages: str = ...,
    runs: int = ...,
) -> Measurements: ...


def measure(
    source: bytes | bytearray | memoryview | Source,
    *,
    arch: str = "native",
    mode: str = "unroll",
    region: str | None = None,
    function: str | None = None,
    regions: str = "auto",
    inputs: Mapping[str, int] | None = None,
    clock: str = "auto",
    pages: str = "private",
    runs: int = 3,
) -> Measurement | Measurements:
    """Measure code on this machine, in a sandbox, and compare it with the prediction for ``arch``: a block of
    machine code (``bytes``; ``mode`` is ``unroll``, ``loop`` or ``copies``), or the regions of a text or
    file, as in ``analyze``.

    ``inputs``: registers and memory at the start, ``{"rsi": 0x10000, "[0x10008]": 7}``. ``clock``: ``auto``,
    ``counters`` or ``time-stamps``. ``pages``: ``private`` or ``shared``. ``runs``: processes per figure.

    **This runs the code.** docs/measuring.md says what the sandbox prevents. Raises ``CannotMeasure`` if this
    machine cannot measure, ValueError and OSError as ``analyze``.
    """
    one_of("clock", clock, tuple(Clocks))
    one_of("pages", pages, tuple(Pages))
    if runs < 1:
        raise ValueError(f"runs={runs!r}: at least 1 is needed")
    model = registry.native() if registry.is_native(arch) else registry.get(arch)
    with shared_workspace() as workspace, Harness(clock=Clocks(clock), pages=Pages(pages)) as harness:
        if not isinstance(source, (str, os.PathLike)):
            return _measured_block(workspace, harness, bytes(source), model, mode, runs)

        given = with_pairs(DISTINCT, ((name, "=", str(value)) for name, value in (inputs or {}).items()))
        one_of("regions", regions, tuple(Regions))
        core = None if model is None else model.name
        options = AnalysisOptions(
            SourceOptions(regions=Regions(regions), region=region, function=function),
            Target(cores_named(core), forced=frozenset() if core is None else frozenset({"arch"})),
        )
        analysis = analysis_of(Analyzer(workspace), source, options)
        found = (
            (each.region.name, compare(harness, each, model, inputs=given, runs=runs))
            for each in analysis.regions
        )
        return Measurements(
            _measurement(name, each, core or "", harness.clock.source) for name, each in found
        )


def _measured_block(
    workspace: Workspace, harness: Harness, code: bytes, model: Microarchitecture | None, mode: str, runs: int
) -> Measurement:
    one_of("mode", mode, tuple(Repetition))
    repeated = Repetition(mode)
    found = measure_block(harness, code.hex(), repeated, runs)
    predicted = None
    if model is not None:
        copies = None if repeated is Repetition.COPIES else 1
        kind = Mode.UNROLL if repeated is Repetition.UNROLL else Mode.LOOP
        options = ModelOptions(assume=Pointers.SAME)
        predicted = (
            Predictor(workspace)
            .predict_batch([code], model.name, kind, 0, options, copies)[0]
            .cycles_per_iteration
        )
    return Measurement(
        name="",
        cycles_per_iteration=found.cycles,
        spread=found.spread,
        predicted=predicted,
        arch="" if model is None else model.name,
        clock=harness.clock.source,
        agrees=Comparison(predicted, found, code).agrees,
        problem=found.problem,
        steady_states=tuple((state.cycles, state.share) for state in found.states),
    )


def _measurement(name: str, found: Comparison, arch: str, clock: str) -> Measurement:
    return Measurement(
        name=name,
        cycles_per_iteration=found.measured.cycles,
        spread=found.measured.spread,
        predicted=found.predicted,
        arch=arch,
        clock=clock,
        agrees=found.agrees,
        causes=found.causes,
        problem=found.measured.problem,
        steady_states=tuple((state.cycles, state.share) for state in found.measured.states),
    )
