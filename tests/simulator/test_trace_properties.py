"""Properties of every block's events: order, widths, ports, and agreement of figures with events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Model, Pointers
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.simulation import LineUsage, Simulation, TraceRow
from cyclelens.analyzer.model.uops import Block, InstructionTemplate
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.failures import Cancelled
from cyclelens.analyzer.simulator.run_request import RunRequest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace
from testkit.blocks import block_of

INSTRUCTIONS = {
    "add rax, rbx": "4801d8",
    "add rbx, rax": "4801c3",
    "or r8, rcx": "4909c8",
    "adc rax, rbx": "4811d8",
    "inc rcx": "48ffc1",
    "imul rax, rcx": "480fafc1",
    "div ecx": "f7f1",
    "shl rax, cl": "48d3e0",
    "cmovbe rcx, rdx": "480f46ca",
    "lea rax, [rbx + 2*rcx + 8]": "488d444b08",
    "mov rax, rbx": "4889d8",
    "mov rbx, rax": "4889c3",
    "mov ah, bl": "88dc",
    "movzx edx, ah": "0fb6d4",
    "xor eax, eax": "31c0",
    "nop": "90",
    "nop, eight bytes": "0f1f840000000000",
    "mov rdx, 64-bit": "48baf0debc9a78563412",
    "add ax, 0x1234": "66053412",
    "mov rax, [rax]": "488b00",
    "mov rdi, [rsi]": "488b3e",
    "mov [rsi], rax": "488906",
    "mov [rsi + rdi], rax": "4889043e",
    "add rax, [rsi + rdi]": "4803043e",
    "add qword ptr [rsi], 1": "48830601",
    "push rax": "50",
    "pop rcx": "59",
    "mov rbx, [rsp + 8]": "488b5c2408",
    "movaps xmm0, xmm1": "0f28c1",
    "pxor xmm1, xmm1": "660fefc9",
    "addps xmm0, xmm1": "0f58c1",
    "divps xmm0, xmm1": "0f5ec1",
    "cld": "fc",
    "lock add [rsi], eax": "f00106",
    "lfence": "0faee8",
    "mfence": "0faef0",
    "jz, not taken": "7400",
    "unknown": "0f0b",
}
DEC_JNZ = "49ffcf75f0"


class Case(Struct, frozen=True):
    """A block with its microarchitecture."""

    block: Block
    model: Microarchitecture

    def run(self, *, trace: bool = True, trace_rounds: int | None = None, details: bool = True) -> Simulation:
        """A short simulation."""
        return simulate(
            self.block,
            self.model,
            request=RunRequest(
                min_rounds=4, min_cycles=120, trace=trace, trace_rounds=trace_rounds, details=details
            ),
        )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Short blocks of the instructions above, as a loop or unrolled, at any offset, on any chip."""
    names = draw(st.lists(st.sampled_from(sorted(INSTRUCTIONS)), min_size=1, max_size=10))
    code = "".join(INSTRUCTIONS[name] for name in names)
    loop = draw(st.booleans())
    alignment = draw(st.integers(0, 63))
    model = registry.get(draw(st.sampled_from(registry.names())))
    block = block_of(code + DEC_JNZ * loop, model.name, loop=loop, alignment=alignment)
    return Case(block, model)


# The same examples on every run: a failure is always reproducible.
examples = settings(max_examples=60, deadline=None, derandomize=True)


def rows_of(simulation: Simulation) -> tuple[TraceRow, ...]:
    assert simulation.trace is not None
    return simulation.trace.rows


def fused_uops(rows: Iterable[TraceRow]) -> list[TraceRow]:
    """The first row of every fused uop; sync and merge uops are fused uops of their own."""
    found = []
    last: object = None
    for row in rows:
        key = (row.round, row.instruction, row.idq_uop, row.fused_uop)
        if row.kind in ("sync", "merge") or (row.kind == "uop" and key != last):
            found.append(row)
        last = key if row.kind == "uop" else None
    return found


def is_divider(template: InstructionTemplate, row: TraceRow) -> bool:
    """True for the uop that holds the divider."""
    if row.kind != "uop":
        return False
    fused = sum(template.idq_uops[: row.idq_uop]) + row.fused_uop
    return template.uops[sum(template.fused_uops[:fused]) + row.uop].divider_cycles > 0


def used_port(case: Case, row: TraceRow) -> str:
    """Z3: the uop that holds the divider takes the turn of port 0, whatever port it was bound to. Cores that
    count macro-ops have no such rule: there a uop holds the unit that it was given (M21)."""
    on_ports = case.model.macro_ops is None
    return "0" if on_ports and is_divider(case.block.instructions[row.instruction], row) else row.port


def events(row: TraceRow) -> Iterator[tuple[str, int]]:
    """The events that happened, in the order of the pipeline."""
    for name in (
        *("predecoded", "removed_from_iq", "added_to_idq"),
        *("issued", "ready", "dispatched", "executed", "retired"),
    ):
        cycle = getattr(row, name)
        if cycle is not None:
            yield name, cycle


def largest(cycles: Iterable[object]) -> int:
    """How often the most frequent value occurs."""
    return max(Counter(cycles).values(), default=0)


@examples
@given(cases())
def test_events_are_in_causal_order(case: Case) -> None:
    """A uop is predecoded, decoded, queued, issued, ready, dispatched, executed and retired, in this order,
    with at least a cycle between queueing and issue, dispatch and completion, completion and retirement."""
    for row in rows_of(case.run()):
        happened = list(events(row))
        assert all(earlier <= later for (_, earlier), (_, later) in pairwise(happened)), row
        if row.kind == "fused":
            continue
        assert row.issued is not None
        assert row.executed is not None
        assert row.retired is not None
        assert row.added_to_idq is None or row.added_to_idq < row.issued
        assert row.executed < row.retired
        fast = case.model.macro_ops is not None
        if row.dispatched is None:
            # A fence that needs no unit waits on cores that count macro-ops.
            assert row.executed == row.issued or (fast and row.executed > row.issued)
        else:
            assert row.ready is not None
            assert row.ready >= row.issued + (1 if fast else case.model.issue_to_dispatch_delay)
            assert row.executed >= row.dispatched + (1 if fast else 2)


@examples
@given(cases())
def test_issue_and_retirement_are_in_program_order(case: Case) -> None:
    """Only dispatch and completion are out of order."""
    rows = fused_uops(rows_of(case.run()))
    for field in ("issued", "retired"):
        cycles = [getattr(row, field) for row in rows]
        assert cycles == sorted(cycles)


@examples
@given(cases())
def test_widths(case: Case) -> None:
    """No cycle issues, retires or dispatches more than the microarchitecture can."""
    rows = rows_of(case.run())
    slots = fused_uops(rows)
    assert largest(row.issued for row in slots) <= case.model.issue_width
    assert largest(row.retired for row in slots) <= case.model.retire_width
    assert largest((row.dispatched, used_port(case, row)) for row in rows if row.dispatched is not None) <= 1
    predecoded = {(row.round, row.instruction): row.predecoded for row in rows if row.predecoded is not None}
    assert largest(predecoded.values()) <= case.model.predecode_width


@examples
@given(cases())
def test_delivery_widths(case: Case) -> None:
    """No cycle gets more IDQ uops from the DSB or from microcode than these deliver."""
    heads = {
        (row.round, row.instruction, row.idq_uop): row
        for row in rows_of(case.run())
        if row.kind == "uop" and row.added_to_idq is not None
    }
    for source, width in (("DSB", case.model.dsb_width), ("MS", case.model.ms_width)):
        assert largest(row.added_to_idq for row in heads.values() if row.source == source) <= width


@examples
@given(cases())
def test_ports_are_allowed_ones(case: Case) -> None:
    """A uop runs on one of its ports; a uop without any never becomes ready; only moves are eliminated."""
    templates = case.block.instructions
    for row in rows_of(case.run()):
        allowed = case.model.units.parse(row.ports).names if row.ports else ()
        if row.port == "elim":
            assert templates[row.instruction].eliminable_move
        elif allowed:
            assert row.port in allowed
            assert row.dispatched is not None
        else:
            assert (row.port, row.ready, row.dispatched) == ("", None, None)


@examples
@given(cases())
def test_fused_uops_stay_together(case: Case) -> None:
    """R3, 3.10: what shares an IDQ uop enters the queue and issues together, what shares a fused uop
    retires together. Macro-ops of one instruction may be dispatched one after the other."""
    apart = case.model.macro_ops is not None
    rows = [row for row in rows_of(case.run()) if row.kind == "uop"]
    idq: dict[tuple[int | None, ...], set[tuple[object, ...]]] = {}
    fused: dict[tuple[int, ...], set[object]] = {}
    for row in rows:
        key = (row.round, row.instruction, row.idq_uop)
        issued = row.fused_uop if apart else row.issued
        idq.setdefault((*key, issued), set()).add((row.source, row.added_to_idq, row.issued))
        fused.setdefault((*key, row.fused_uop), set()).add(row.retired)
    assert {len(each) for each in idq.values()} == {1}
    assert {len(each) for each in fused.values()} == {1}


@examples
@given(cases())
def test_rows_follow_the_templates(case: Case) -> None:
    """Every round has each instruction's uops in order, nested as its template says."""

    def nesting(template: InstructionTemplate) -> list[tuple[int, int, int, str]]:
        sizes, uops = iter(template.fused_uops), iter(template.uops)
        return [
            (idq, fused, number, next(uops).units.text)
            for idq, slots in enumerate(template.idq_uops)
            for fused in range(slots)
            for number in range(next(sizes))
        ]

    expected = [
        (position, *place)
        for position, template in enumerate(case.block.instructions)
        for place in nesting(template)
    ]
    result = case.run()
    rows = [row for row in rows_of(result) if row.kind == "uop"]
    for number in range(result.last_round + 1):
        found = [
            (row.instruction, row.idq_uop, row.fused_uop, row.uop, row.ports)
            for row in rows
            if row.round == number
        ]
        assert found == expected


# Fences, a locked access, the divider, the stack engine, high-8 registers, eliminated moves, a store.
BUSY = "0faef0f00106f7f15088dc0fb6d44889d84889c30f28c1488906"
OPTIONS = (
    ModelOptions(),
    ModelOptions(model=Model.HARDWARE),
    ModelOptions(port_seed=3),
    ModelOptions(unfused_reorder_buffer=True),
    ModelOptions(resources=True, assume=Pointers.STACK),
)


@examples
@given(cases(), st.sampled_from(OPTIONS))
def test_same_input_same_output(case: Case, options: ModelOptions) -> None:
    """No state survives a run, though a run's pipeline serves the next."""

    def run(block: Block) -> Simulation:
        return simulate(
            block, case.model, request=RunRequest(min_rounds=4, min_cycles=120, trace=True), options=options
        )

    first = run(case.block)
    run(block_of(BUSY + DEC_JNZ, case.model.name, loop=True))
    assert run(case.block) == first
    # Few pipelines are kept: after runs with so many other models this one is made anew.
    for _ in range(20):
        model = replace(case.model)
        simulate(case.block, model, request=RunRequest(min_rounds=2, min_cycles=20), options=options)
    assert run(case.block) == first


@examples
@given(cases())
def test_the_figure_does_not_depend_on_the_requested_details(case: Case) -> None:
    """The trace and the details come from the same run as the figure."""
    full, quiet, bare = case.run(), case.run(trace=False), case.run(trace=False, details=False)
    assert quiet.trace is None
    assert bare.trace is None
    for name in Simulation.__struct_fields__:
        if name != "trace":
            assert getattr(quiet, name) == getattr(full, name), name
    assert bare.cycles_per_iteration == full.cycles_per_iteration
    assert (bare.first_round, bare.last_round) == (full.first_round, full.last_round)


@examples
@given(cases(), st.integers(0, 30))
def test_a_short_trace_is_the_beginning_of_the_long_one(case: Case, rounds: int) -> None:
    full, short = case.run(), case.run(trace_rounds=rounds)
    assert rows_of(short) == tuple(row for row in rows_of(full) if row.round < rounds)
    assert replace(short, trace=None) == replace(full, trace=None)


@examples
@given(cases())
def test_the_figure_follows_from_the_events(case: Case) -> None:
    """5.2: distance of the last instruction's retirements in the first and last relevant round."""
    result = case.run()
    instructions = case.block.instructions
    key = len(instructions) - 1 - instructions[-1].fused_with_previous
    retired = {row.round: row.retired for row in rows_of(result) if row.instruction == key}
    first, last = retired[result.first_round], retired[result.last_round]
    assert first is not None
    assert last is not None
    rounds = result.last_round - result.first_round
    expected = round((last - first) / rounds, 2) if rounds else float(last)
    assert result.cycles_per_iteration == expected


@examples
@given(cases())
def test_usage_is_the_average_of_the_events(case: Case) -> None:
    """5.4: sums over the relevant rounds, divided by their number."""
    result = case.run()
    rounds = result.last_round - result.first_round + 1
    relevant = [row for row in rows_of(result) if result.first_round <= row.round <= result.last_round]

    def check(usage: LineUsage, rows: list[TraceRow], *, own: bool) -> None:
        heads = [row for row in fused_uops(rows) if row.fused_uop == 0] if own else []
        ports = Counter(row.port for row in rows if row.port not in ("", "elim"))
        assert usage.issued == pytest.approx(len(fused_uops(rows)) / rounds)
        assert usage.executed == pytest.approx(ports.total() / rounds)
        assert usage.ports == pytest.approx({port: count / rounds for port, count in ports.items()})
        sources = Counter(row.source for row in heads)
        assert usage.sources == pytest.approx({name: count / rounds for name, count in sources.items()})

    for position, template in enumerate(case.block.instructions):
        mine = [row for row in relevant if row.instruction == position]
        own = [row for row in mine if row.kind == "uop"]
        check(result.usage[position], own, own=True)
        extras = {"merge": result.merge_usage[position], "sync": result.sync_usage[position]}
        for kind, usage in extras.items():
            rows = [row for row in mine if row.kind == kind]
            assert (usage is None) == (not rows)
            if usage is not None:
                check(usage, rows, own=False)
        eliminated = sum(row.port == "elim" for row in own)
        assert result.elimination[position] == pytest.approx(1 - eliminated / rounds)
        divider = sum(template.divider_cycles for row in own if row.port and is_divider(template, row))
        assert result.usage[position].divider == pytest.approx(divider / rounds)
        assert result.first_sources[position] == (own[0].source if own else "")
    busy = Counter(row.port for row in relevant if row.port not in ("", "elim"))
    assert result.busiest_port == pytest.approx(max(busy.values(), default=0) / rounds)


@examples
@given(cases())
def test_never_faster_than_issue(case: Case) -> None:
    """6.5: over the relevant rounds, issue slots bound the rate."""
    result = case.run()
    slots = sum(template.retire_slots for template in case.block.instructions if template.uops)
    issued: dict[int, int] = {}
    for row in rows_of(result):
        if row.kind == "uop" and row.issued is not None:
            issued.setdefault(row.round, row.issued)
    rounds = max(issued)
    # From the first slot of round 0 to the first slot of the last round.
    assert issued[rounds] - issued[0] + 1 >= rounds * slots / case.model.issue_width


def test_long_runs_are_never_faster_than_issue() -> None:
    """6.5: nor is the figure of a loop without stalls, on any chip."""
    for name in registry.names():
        for uops in range(2, 24, 3):
            # No NOPs: Zen 4 takes two for one macro-op.
            block = block_of("31c0" * (uops - 1) + DEC_JNZ, name)
            model = registry.get(name)
            figure = simulate(block, model, request=RunRequest(details=False)).cycles_per_iteration
            assert figure >= round(uops / model.issue_width, 2) - 0.01


def test_stop_conditions() -> None:
    """5.1: a run has at least the rounds and cycles asked for, whichever takes longer."""
    model = registry.get("SKL")
    fast, slow = block_of("90", "SKL"), block_of("48f7f1", "SKL")
    assert simulate(fast, model, request=RunRequest(min_rounds=10, min_cycles=300)).simulated_cycles > 300
    assert simulate(fast, model, request=RunRequest(min_rounds=10, min_cycles=300)).last_round > 1000
    long = simulate(slow, model, request=RunRequest(min_rounds=40, min_cycles=1))
    assert long.last_round >= 38
    assert long.simulated_cycles > 40 * 30


def test_cancellation() -> None:
    """The caller can stop a run at any time, and a caller that does not changes nothing."""
    block, model = block_of("4801d8", "SKL"), registry.get("SKL")
    with pytest.raises(Cancelled):
        simulate(block, model, cancel=lambda: True)
    answers = iter([False, False, True])
    with pytest.raises(Cancelled):
        simulate(block, model, request=RunRequest(min_cycles=100_000), cancel=lambda: next(answers))
    assert simulate(block, model, cancel=lambda: False) == simulate(block, model)


@pytest.mark.parametrize("loop", [True, False])
def test_empty_block(loop: bool) -> None:
    """There is nothing to predict."""
    with pytest.raises(ValueError, match="at least one instruction"):
        simulate(Block((), "SKL", loop), registry.get("SKL"))
