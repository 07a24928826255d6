"""Uops' waits: every cycle of a uop has a cause, and the cause fits the code."""

from __future__ import annotations

import itertools

import pytest
from cyclelens.analyzer.insight import vocabulary
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.insight.waits import Timeline, Wait, timeline
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.simulation import TraceRow
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from msgspec.structs import replace
from testkit.blocks import block_of
from testkit.narrowing import some

LOOP = "49ffcf"
BLOCKS = {
    "chain: imul rax, rax; add rbx, rax": "480fafc04801c3",
    "one port: four imul": "480fafc1" + "480fafd1" + "480faff1" + "480faff9",
    "divider: div ecx": "f7f1",
    "stores: mov [rsi], rax; mov rbx, [rsi]": "488906488b1e",
    "memory operand: add rax, [rsi + rdi]": "4803043e",
    "fences: lfence; mov rdi, [rsi]; mfence": "0faee8488b3e0faef0",
    "stack: push rax; pop rcx; mov rbx, [rsp + 8]": "5059488b5c2408",
    "prefix: add ax, 0x1234": "66053412",
    "eliminated and idioms: mov rax, rbx; xor eax, eax; nop": "4889d831c090",
    "halves: mov ah, bl; add rax, rbx": "88dc4801d8",
    "microcode: cld": "fc",
    "vectors: addps xmm0, xmm1; divps xmm0, xmm1": "0f58c10f5ec1",
    "two stores: mov [rsi], rax; mov [rdi], rax": "488906488907",
}


def predicted(code: str, name: str = "SKL", options: ModelOptions = PUBLISHED) -> Prediction:
    block, model = block_of(code, name), registry.get(name)
    return explain(block, model, simulate(block, model, request=RunRequest(trace=True), options=options))


def drawn(code: str, name: str = "SKL", options: ModelOptions = PUBLISHED) -> Timeline:
    return timeline(predicted(code, name, options))


def looped(code: str) -> str:
    body = code + LOOP
    return body + f"75{0x100 - len(body) // 2 - 2:02x}"


def causes(shown: Timeline, instruction: int, round_number: int = 5) -> dict[str, Wait]:
    """The waits of all uops of an instruction in one round."""
    return {
        wait.cause: wait
        for row, waits in zip(shown.rows, shown.waits, strict=True)
        if (row.round, row.instruction) == (round_number, instruction)
        for wait in waits
    }


def waited_for(shown: Timeline, wait: Wait) -> TraceRow:
    """The uop that another one waited for."""
    assert wait.uop is not None
    return shown.row(wait.uop)


@pytest.mark.parametrize("name", ["SNB", "SKL", "ICL", "GNR", "ZEN2", "ZEN5"])
@pytest.mark.parametrize("block", BLOCKS)
def test_every_cycle_of_a_uop_has_a_cause(block, name):
    for code in (BLOCKS[block], looped(BLOCKS[block])):
        shown = drawn(code, name)
        for row, waits in zip(shown.rows, shown.waits, strict=True):
            if row.kind == "fused":
                assert waits == ()
                continue
            assert {wait.cause for wait in waits} <= vocabulary.of(name).waits.keys()
            assert all(wait.begin < wait.end for wait in waits)
            assert row.issued is not None
            own = [wait for wait in waits if wait.begin >= row.issued]
            if row.ready is not None:
                assert row.executed is not None
                # Issue to dispatch to execution without a gap; a uop retires a cycle later at the earliest.
                assert own[0].begin == row.issued
                ends = {wait.end for wait in own}
                assert {row.dispatched, row.executed} <= ends
                assert all(wait.begin in {row.issued, row.executed + 1, *ends} for wait in own)
            assert max((wait.end for wait in own), default=row.retired) in (row.retired, row.executed)
            before = [wait for wait in waits if wait.begin < row.issued and wait.cause != "decode"]
            assert not before or before[-1].end == row.issued


@pytest.mark.parametrize("block", BLOCKS)
def test_who_is_named_was_there(block):
    shown = drawn(looped(BLOCKS[block]))
    for number, (row, waits) in enumerate(zip(shown.rows, shown.waits, strict=True)):
        for wait in waits:
            if wait.uop is None:
                continue
            other = shown.row(wait.uop)
            if wait.cause == "port":
                assert row.dispatched is not None
                assert (other.port, other.dispatched) == (row.port, row.dispatched - 1)
            elif wait.cause in ("input", "slots", "order"):
                assert wait.uop < number or wait.cause == "order"
            elif wait.cause == "full":
                assert other.issued is not None and other.issued < wait.end


def test_a_chain_waits_for_its_inputs_and_is_the_critical_one():
    shown = drawn(looped(BLOCKS["chain: imul rax, rax; add rbx, rax"]))
    wait = causes(shown, 1)["input"]
    assert wait.value == "RAX"
    assert (waited_for(shown, wait).instruction, waited_for(shown, wait).round) == (0, 5)
    on_chain = {shown.row(edge.consumer).instruction for edge in shown.chain}
    assert on_chain == {0}


def steps(shown: Timeline) -> list[tuple[tuple[int, int, int], tuple[int, int, int]]]:
    """The critical chain as it was executed: round, instruction and uop of both ends."""
    places = [(row.round, row.instruction, row.uop) for row in shown.rows]
    return sorted((places[edge.producer], places[edge.consumer]) for edge in shown.chain)


@pytest.mark.parametrize(
    ("name", "code", "path"),
    [
        ("SKL", "480fafc0 4883c001", [(0, 0), (1, 0)]),  # imul rax, rax; add rax, 1
        # The load of add rax, [rsi] is not on it.
        ("SKL", "480306 48c1e003", [(0, 1), (1, 0)]),  # and shl rax, 3
    ],
)
def test_the_chain_goes_from_uop_to_uop_and_round_to_round(name, code, path):
    shown = drawn(looped(code.replace(" ", "")), name)
    last = max(row.round for row in shown.rows)
    places = [(round_number, *step) for round_number in range(last + 1) for step in path]
    assert steps(shown)[: 4 * len(path)] == list(itertools.pairwise(places))[: 4 * len(path)]


def test_uops_for_one_port_wait_for_it():
    shown = drawn(looped(BLOCKS["one port: four imul"]))
    assert causes(shown, 3)["port"].value == "1"


@pytest.mark.parametrize(
    ("name", "code", "behind"),
    [
        pytest.param("ICL", "488906498907", 0, id="mov [rsi], rax; mov [r15], rax: two lines"),
        pytest.param("SNB", "c5fe6f06c5fe6f4e20", 0, id="two vmovdqu ymm, [rsi]: loads of 256 bits"),
        pytest.param("SNB", "c5fe7f06488907", 0, id="vmovdqu [rsi], ymm0: a store of 256 bits, and another"),
    ],
)
def test_two_that_may_not_leave_together_wait_for_each_other(name, code, behind):
    shown = drawn(looped(code), name)
    pairs = [wait for waits in shown.waits for wait in waits if wait.cause == "pair"]
    assert pairs
    assert behind in {shown.row(wait.uop).instruction for wait in pairs if wait.uop is not None}


def test_a_uop_that_finished_in_time_delays_no_retirement():
    """NOPs behind a chain of loads: the last of a group wait for the width alone."""
    shown = drawn(looped("488b00" + "90" * 30))
    rows = list(zip(shown.rows, shown.waits, strict=True))
    behind = {
        waited_for(shown, wait).instruction for _, waits in rows for wait in waits if wait.cause == "order"
    }
    assert behind == {0}
    assert "width" in {wait.cause for _, waits in rows for wait in waits}


@pytest.mark.parametrize(
    ("block", "cause", "other"),
    [
        # Older uops take all slots of a cycle, or the renamer inserts a merge of its own.
        ("one port: four imul", "slots", "renamer"),
        ("halves: mov ah, bl; add rax, rbx", "renamer", "slots"),
    ],
)
def test_an_issue_slot_is_taken_or_refused(block, cause, other):
    found = {wait.cause for waits in drawn(looped(BLOCKS[block])).waits for wait in waits}
    assert cause in found
    assert other not in found


def test_a_division_waits_for_the_divider():
    # sqrtps xmm0, xmm1, which does not read what the one before wrote
    wait = causes(drawn(looped("0f51c1")), 0)["divider"]
    assert wait.end - wait.begin > 3


def test_a_load_waits_for_what_is_stored():
    shown = drawn(looped(BLOCKS["stores: mov [rsi], rax; mov rbx, [rsi]"]))
    wait = causes(shown, 1)["store"]
    assert waited_for(shown, wait).instruction == 0


@pytest.mark.parametrize("name", ["ZEN3", "ZEN4", "ZEN5"])
@pytest.mark.parametrize("before", ["", "f30f58c1"])  # addss xmm0, xmm1
def test_a_load_that_forwards_waits_for_address_and_data_as_one_input(name, before):
    shown = drawn(looped(before + "f30f110f" + "f30f100f"), name)  # movss [rdi], xmm1; movss xmm1, [rdi]
    load = 2 if before else 1
    wait = causes(shown, load)["input"]
    assert wait.value == "memory"
    assert waited_for(shown, wait).instruction == load - 1


def test_an_instruction_waits_for_a_decoder():
    # Behind a length-changing prefix, unrolled: it comes through the decoders.
    shown = drawn(BLOCKS["prefix: add ax, 0x1234"] + LOOP)
    wait = causes(shown, 0, 6)["decode"]
    (row,) = [row for row in shown.rows if (row.round, row.instruction) == (6, 0)]
    assert (wait.begin, wait.end) == (row.predecoded, row.removed_from_iq)


def test_fences_are_named():
    shown = drawn(looped(BLOCKS["fences: lfence; mov rdi, [rsi]; mfence"]))
    assert "fence" in {wait.cause for waits in shown.waits for wait in waits}


def test_a_full_reorder_buffer_is_named_with_who_keeps_it_full():
    # A chain of divpd, and NOPs, which never enter the scheduler.
    shown = drawn(looped("660f5ec0" + "90" * 40))
    full = [wait for waits in shown.waits for wait in waits if wait.cause == "full"]
    assert {wait.value for wait in full} == {"ROB"}
    assert {waited_for(shown, wait).instruction for wait in full} == {0}


def test_a_full_load_buffer_is_named():
    # A chain of divpd, and loads that do not wait for it.
    limited = ModelOptions(resources=True)
    shown = drawn(looped("660f5ec0" + "488b1e" * 20), options=limited)
    assert "load buffer" in {wait.value for waits in shown.waits for wait in waits}


def spans(rows: list[TraceRow], cycles: int) -> dict[str, list[tuple[int, int]]]:
    """Stays in each buffer: an instruction is in the IQ between predecoder and decoder, a front-end uop in
    the IDQ between decoder and renamer, a uop in the scheduler between renamer and port, and a fused uop in
    the reorder buffer between renamer and retirement."""
    found: dict[str, list[tuple[int, int]]] = {"IQ": [], "IDQ": [], "RS": [], "ROB": []}

    def note(buffer: str, begin: int | None, end: int | None) -> None:
        if begin is not None:
            found[buffer].append((begin, cycles if end is None else end))

    seen: set[tuple[object, ...]] = set()
    for row in rows:
        own = (row.round, row.instruction)
        if row.kind != "merge" and own not in seen:
            seen.add(own)
            note("IQ", row.predecoded, row.removed_from_iq)
        extra = object() if row.kind in ("merge", "sync") else None
        if row.kind == "sync" or (row.kind == "uop" and (row.fused_uop, row.uop) == (0, 0)):
            note("IDQ", row.added_to_idq, row.issued)
        if row.port and row.port != "elim":
            note("RS", row.issued, row.dispatched)
        fused = (*own, row.idq_uop, row.fused_uop, extra)
        if row.kind != "fused" and fused not in seen:
            seen.add(fused)
            note("ROB", row.issued, row.retired)
    return found


@pytest.mark.parametrize("name", ["SNB", "ICL"])
@pytest.mark.parametrize("block", BLOCKS)
def test_the_buffers_hold_what_is_between_two_events(block, name):
    prediction = predicted(looped(BLOCKS[block]), name)
    trace = some(prediction.simulation.trace)
    expected = spans([*trace.rows, *trace.later], trace.cycles)
    charts = timeline(prediction, 60).occupancy
    for chart in charts:
        stays = expected.pop(chart.buffer.name)
        for cycle in range(0, len(chart.counts), 7):
            assert chart.counts[cycle] == sum(begin < cycle <= end for begin, end in stays), chart.buffer.name
    assert not any(expected.values()), "only what is never used is left out"


@pytest.mark.parametrize("name", registry.names())
def test_a_buffer_counts_as_full_when_its_stage_finds_it_so(name):
    core = registry.get(name)
    # Macro-ops are dispatched behind retirement and picks: what was full is so at the end of the cycle.
    late = core.macro_ops is not None
    refused = set()
    # Chains: of imul, of divpd beside NOPs, of loads with additions that wait for them.
    for code in ("480fafc0" * 8, "660f5ec0" + "90" * 40, "488b1b" + "4801d8" * 6):
        block = block_of(looped(code), name)
        prediction = explain(block, core, simulate(block, core, request=RunRequest(trace=True)))
        trace = prediction.simulation.trace
        assert trace is not None
        charts = {one.buffer.name: one for one in timeline(prediction).occupancy}
        # The trace does not say in which scheduler uops are that leave it after the end.
        for cycle, refusal in enumerate(trace.refusals[: trace.cycles // 3]):
            chart = charts.get(refusal.what)
            if chart is not None and refusal.full and cycle + late < len(chart.counts):
                assert chart.counts[cycle + late] > chart.buffer.stalls_above, (cycle, refusal)
                refused.add(refusal.what)
        if not late:
            issues = {row.issued for row in (*trace.rows, *trace.later)}
            for chart in charts.values():
                buffer = chart.buffer
                if buffer.name not in ("IQ", "IDQ"):
                    full = {cycle for cycle, count in enumerate(chart.counts) if count > buffer.stalls_above}
                    assert not full & issues, buffer
    assert refused


def test_ports_say_who_was_dispatched_when():
    shown = drawn(looped(BLOCKS["one port: four imul"]))
    for port, cycles in shown.ports.items():
        for cycle, number in cycles.items():
            assert (shown.row(number).port, shown.row(number).dispatched) == (port, cycle)


def test_only_some_rounds_if_they_are_many():
    prediction = predicted(looped(BLOCKS["one port: four imul"]))
    shown = timeline(prediction, 60)
    assert 40 < len(shown.rows) <= 60
    assert shown.rows[-1].round == shown.rows[-2].round
    assert timeline(prediction, 1).rows[-1].round == 2


def test_without_a_trace_there_is_nothing_to_explain():
    block = block_of("90", "SKL")
    with pytest.raises(ValueError, match="without a trace"):
        timeline(explain(block, registry.get("SKL"), simulate(block, registry.get("SKL"))))


def test_a_timeline_ends_when_its_last_uop_has_retired():
    shown = drawn(looped(BLOCKS["one port: four imul"]))
    assert shown.cycles == max(row.retired for row in shown.rows if row.retired is not None) + 1
    assert replace(shown, rows=()).cycles == 0
