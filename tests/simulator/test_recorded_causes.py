"""The scheduler, the memory and the renamer record what a uop waits for; others only read it."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.simulation import Trace
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from testkit.blocks import block_of
from testkit.wide_core import WIDE

CORES = ("SNB", "HSW", "SKL", "ICL", "GNR", "ZEN2", "ZEN5")


def traced(code: str, name: str) -> Trace:
    core = WIDE if name == "WIDE" else registry.get(name)
    request = RunRequest(trace=True, min_cycles=300)
    trace = simulate(block_of(code, name, loop=False), core, request=request).trace
    assert trace is not None
    return trace


# Those whose tables let stores wait for their data.
@pytest.mark.parametrize("name", ["SNB", "HSW", "SKL", "GNR"])
@pytest.mark.parametrize(
    ("code", "address_last"),
    [
        # Three multiplications make the data or the address; a load reads what was stored.
        pytest.param("480fafc0" * 3 + "488906488b0e", False, id="the data come last"),
        pytest.param("480faff6" * 3 + "48890e488b1e", True, id="the address comes last"),
    ],
)
def test_a_load_is_late_by_the_part_of_the_store_that_came_last(
    name: str, code: str, address_last: bool
) -> None:
    """Data that come last make a load wait after it has left."""
    trace = traced(code, name)
    waits = 0
    for row, inputs in zip(trace.rows, trace.inputs, strict=True):
        memory = [each for each in inputs if each.value == "memory"]
        if row.executed is None or row.dispatched is None or not memory:
            continue
        (data,) = memory
        late = row.executed > row.dispatched + 5
        if late and data.ready is not None:
            assert row.executed >= data.ready
        waits += late
    assert waits or address_last


@pytest.mark.parametrize("name", CORES)
def test_a_load_that_finds_its_data_is_late_by_none(name: str) -> None:
    trace = traced("488b0e488b5640", name)
    latencies = {
        row.executed - row.dispatched
        for row in trace.rows
        if row.executed is not None and row.dispatched is not None
    }
    assert len(latencies) == 1


@pytest.mark.parametrize(
    ("name", "code", "held"),
    [
        pytest.param("SKL", "0faef0488906", "fence", id="mfence; a store"),
        pytest.param("SKL", "0fa2", "fence", id="cpuid"),
        pytest.param("ZEN5", "0faee8", "fence", id="lfence on a core of macro-ops"),
        pytest.param("SKL", "48f7f7", "unit", id="div rdi"),
        pytest.param("SKL", "f0480fc106", "unit", id="lock xadd"),
    ],
)
def test_who_holds_a_uop_back_though_its_inputs_are_there(name: str, code: str, held: str) -> None:
    assert held in {recorded.held for recorded in traced(code, name).scheduling}


@pytest.mark.parametrize("name", ["WIDE", "ZEN2", "ZEN3", "ZEN4", "ZEN5"])
def test_the_full_one_of_several_schedulers_is_the_one_its_culprit_waits_in(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry._MODELS, "WIDE", WIDE)
    core = registry.get(name)
    trace = traced("480fafc0" * 4 + "488b0c06" * 2, name)
    rows = (*trace.rows, *trace.later)
    buffers = [scheduler.buffer for scheduler in core.schedulers]
    full = [each for each in trace.refusals if each.what in buffers and each.uop is not None]
    assert full or len(buffers) < 2
    for refusal in full:
        assert refusal.uop is not None
        port = rows[refusal.uop].port
        if port:  # it left before the run ended
            unit = core.units.names.index(port)
            assert refusal.what == buffers[core.scheduler_of_units[unit]]


@pytest.mark.parametrize("name", CORES)
def test_a_uop_is_allowed_to_leave_when_its_way_from_the_renamer_is_over(name: str) -> None:
    core = registry.get(name)
    trace = simulate(block_of("480fafc04801c1", name, loop=False), core, request=RunRequest(trace=True)).trace
    assert trace is not None
    for row, recorded in zip(trace.rows, trace.scheduling, strict=True):
        if recorded.allowed is not None:
            assert row.issued is not None
            assert recorded.allowed == row.issued + core.issue_to_dispatch_delay
            assert row.ready is None or row.ready >= recorded.allowed


@pytest.mark.parametrize("name", ["SNB", "HSW", "SKL", "ICL", "GNR"])
def test_what_came_last_is_an_input_of_the_run(name: str) -> None:
    """Of ``add rax, rbx`` the first waits for nothing, each other one for the addition before it."""
    trace = traced("4801d8", name)
    found = [
        None if recorded.last is None else inputs[recorded.last].ready
        for recorded, inputs in zip(trace.scheduling, trace.inputs, strict=True)
    ]
    assert trace.inputs[0] == ()
    assert [(each.producer, each.value) for inputs in trace.inputs[1:20] for each in inputs] == [
        (row, "RAX") for row in range(19)
    ]
    assert None not in found[1:20]
    assert found[0] is None
    assert found[1:20] == [inputs[0].ready for inputs in trace.inputs[1:20]]


@pytest.mark.parametrize("name", CORES)
@pytest.mark.parametrize(
    ("code", "slowest"),
    [
        ("4883c001480fafc04883c001", 1),  # add rax, 1; imul rax, rax; add rax, 1
        ("480fafc04883c001480fafc0", 2),  # of two multiplications the later one
        ("480fafc04883c001", 0),
        ("4883c001488b0446", 1),  # add rax, 1; mov rax, [rsi+rax*2]
    ],
)
def test_a_chain_from_round_to_round_is_laid_to_its_slowest_instruction(
    code: str, slowest: int, name: str
) -> None:
    looped = f"{code}49ffcf75{256 - len(code) // 2 - 5:02x}"  # dec r15; jnz
    account = simulate(block_of(looped, name), registry.get(name), request=RunRequest(account=True)).account
    assert account is not None
    lost = {place: slots for (cause, place), slots in account.lost.items() if cause.why == "dependency"}
    assert lost.keys() == {slowest}
    assert lost[slowest] > account.slots / 2
