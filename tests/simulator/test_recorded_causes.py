"""The scheduler, the memory and the renamer record for whom a uop waits: others only read it."""

from __future__ import annotations

import pytest
from blocks import block_of
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.simulator.pipeline import simulate
from cyclelens.analyzer.simulator.reuse import AnyPipeline, Pipelines
from cyclelens.analyzer.simulator.tables.constants import (
    HELD_BY_DIVIDER,
    HELD_BY_FENCE,
    HELD_BY_UNIT,
    LOAD,
    NONE,
    RETIRING,
    RS_FULL,
    SCHEDULERS,
    STORE_ADDRESS,
    STORE_DATA,
)
from cyclelens.analyzer.simulator.wanted import Wanted
from wide_core import WIDE

CORES = ("SNB", "HSW", "SKL", "ICL", "GNR", "ZEN2", "ZEN5")


def ran(code: str, name: str) -> AnyPipeline:
    core = WIDE if name == "WIDE" else registry.get(name)
    pipeline = Pipelines(Caches()).started(block_of(code, name, loop=False), core)
    pipeline.run(10, 300)
    return pipeline


def finished(pipeline: AnyPipeline, *kinds: int) -> list[int]:
    columns = pipeline.columns
    kind = pipeline.program.u_kind
    return [
        uop for uop in range(columns.uops) if kind[columns.static[uop]] in kinds and columns.executed[uop] > 0
    ]


# Those whose tables let stores wait for their data.
@pytest.mark.parametrize("name", ["SNB", "HSW", "SKL", "GNR"])
@pytest.mark.parametrize(
    ("code", "last"),
    [
        # Three multiplications make the data or the address; a load reads what was stored.
        pytest.param("480fafc0" * 3 + "488906488b0e", STORE_DATA, id="the data come last"),
        pytest.param("480faff6" * 3 + "48890e488b1e", STORE_ADDRESS, id="the address comes last"),
    ],
)
def test_a_load_is_late_by_the_part_of_the_store_that_came_last(name: str, code: str, last: int) -> None:
    pipeline = ran(code, name)
    columns, kind = pipeline.columns, pipeline.program.u_kind
    loads = finished(pipeline, LOAD)
    late = [columns.late_by[uop] for uop in loads if columns.late_by[uop] != NONE]
    if last == STORE_DATA:
        assert late
    assert {kind[columns.static[uop]] for uop in late} <= {last}
    for uop in loads:
        store = columns.store[uop]
        if store != NONE:
            known = max(columns.store_address[store], columns.store_data[store])
            assert (columns.late_by[uop] != NONE) == (columns.executed[uop] > columns.dispatched[uop] + 5), (
                uop
            )
            assert columns.late_by[uop] in (NONE, columns.store_last[store])
            assert columns.executed[uop] >= known


@pytest.mark.parametrize("name", CORES)
def test_a_load_that_finds_its_data_is_late_by_none(name: str) -> None:
    pipeline = ran("488b0e488b5640", name)
    loads = finished(pipeline, LOAD)
    assert loads
    assert all(pipeline.columns.late_by[uop] == NONE for uop in loads)


@pytest.mark.parametrize(
    ("name", "code", "held"),
    [
        pytest.param("SKL", "0faee8488b06", HELD_BY_FENCE, id="lfence; a load"),
        pytest.param("SKL", "0faef0488906", HELD_BY_FENCE, id="mfence; a store"),
        pytest.param("SKL", "0fa2", HELD_BY_FENCE, id="cpuid"),
        pytest.param("ZEN5", "0faee8", HELD_BY_FENCE, id="lfence on a core of macro-ops"),
        pytest.param("SKL", "48f7f7", HELD_BY_DIVIDER, id="div rdi"),
        pytest.param("SKL", "f0480fc106", HELD_BY_UNIT, id="lock xadd"),
    ],
)
def test_who_holds_a_uop_back_though_its_inputs_are_there(name: str, code: str, held: int) -> None:
    pipeline = ran(code, name)
    columns = pipeline.columns
    assert held in {columns.held[uop] for uop in range(columns.uops)}


@pytest.mark.parametrize("name", ["WIDE", "ZEN2", "ZEN3", "ZEN4", "ZEN5"])
def test_the_full_one_of_several_schedulers_is_the_one_its_culprit_waits_in(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry._MODELS, "WIDE", WIDE)
    core = registry.get(name)
    pipeline = ran("480fafc0" * 4 + "488b0c06" * 2, name)
    columns = pipeline.columns
    several = len(core.schedulers) > 1
    full = [cycle for cycle in range(pipeline.cycle) if columns.refusal[cycle] % RETIRING == RS_FULL]
    assert full or not several
    for cycle in full:
        unit = columns.port[columns.refused_by[cycle]]
        if unit >= 0:  # it left before the run ended
            assert columns.refusal[cycle] // SCHEDULERS == several * (1 + core.scheduler_of_units[unit])


@pytest.mark.parametrize("name", CORES)
def test_a_uop_is_allowed_to_leave_when_its_way_from_the_renamer_is_over(name: str) -> None:
    core = registry.get(name)
    trace = simulate(block_of("480fafc04801c1", name, loop=False), core, wanted=Wanted(trace=True)).trace
    assert trace is not None
    for row, recorded in zip(trace.rows, trace.scheduling, strict=True):
        if recorded.allowed is not None:
            assert row.issued is not None
            assert recorded.allowed == row.issued + core.issue_to_dispatch_delay
            assert row.ready is None or row.ready >= recorded.allowed
