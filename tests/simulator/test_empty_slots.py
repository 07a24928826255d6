"""A stage that leaves issue slots empty records why, and because of which uop or instruction."""

from __future__ import annotations

from collections import Counter

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.options import DEFAULT, PUBLISHED, ModelOptions
from cyclelens.analyzer.model.simulation import Trace
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.core import REFUSALS
from cyclelens.analyzer.simulator.run_request import RunRequest
from testkit.blocks import block_of
from testkit.wide_core import WIDE

LOOP = "49ffcf75"
ISSUE_GROUP = REFUSALS.index("issue group")
"""The reasons before it lie in the front end."""
KERNELS = {
    "a chain": "480fafc0",  # imul rax, rax
    "NOPs": "90909090",
    "a prefix that changes the length": "66053412",  # add ax, 0x1234
    "a fence": "0faee84801c0",  # lfence; add rax, rax
    "microcode": "0fa2",  # cpuid
    "a merge": "88dc01c80fb6d4",  # mov ah, bl; add eax, ecx; movzx edx, ah
    "loads": "488b00488b4808",
    "a store": "4883060148890e",
    "divisions": "0f5ec1" * 8,
}


def traced(block: Block, name: str, options: ModelOptions = DEFAULT) -> Trace:
    request = RunRequest(trace=True, min_cycles=300)
    trace = simulate(block, registry.get(name), request=request, options=options).trace
    assert trace is not None
    return trace


@pytest.mark.parametrize("loop", [True, False], ids=["loop", "unrolled"])
@pytest.mark.parametrize("code", KERNELS.values(), ids=KERNELS.keys())
@pytest.mark.parametrize("name", ["SNB", "SKL", "ICL", "GNR", "ZEN2", "ZEN4", "ZEN5"])
def test_every_empty_slot_has_a_reason_and_someone_to_blame(name: str, code: str, loop: bool) -> None:
    trace = traced(block_of(code + f"{LOOP}{251 - len(code) // 2:02x}" * loop, name, loop=loop), name)
    rows = (*trace.rows, *trace.later)
    width = registry.get(name).issue_width
    heads = {(row.round, row.instruction, row.kind, row.idq_uop, row.fused_uop): row.issued for row in rows}
    issued = Counter(heads.values())
    reasons = 0
    for cycle, refusal in enumerate(trace.refusals):
        if issued[cycle] == width:
            assert refusal.what == "", cycle
            continue
        reasons += 1
        if refusal.what in REFUSALS[ISSUE_GROUP:] or refusal.full:
            # The uop to blame was issued before, or is the next to be issued.
            assert refusal.uop is not None, cycle
            own = rows[refusal.uop].issued
            assert not refusal.full or (own is not None and own < cycle), cycle
        elif cycle < len(trace.refusals) - 1:
            assert refusal.what in REFUSALS[1:ISSUE_GROUP], cycle
    assert reasons or code == KERNELS["NOPs"]


@pytest.mark.parametrize("name", ["SKL", "ICL", "ZEN5"])
def test_a_full_scheduler_blames_a_uop_that_is_in_it(name: str) -> None:
    trace = traced(block_of("480fafc0" + LOOP + "f7", name, options=PUBLISHED), name, PUBLISHED)
    rows = (*trace.rows, *trace.later)
    full = [
        (cycle, rows[refusal.uop])
        for cycle, refusal in enumerate(trace.refusals)
        if refusal.full and refusal.what.startswith("RS") and refusal.uop is not None
    ]
    assert full
    for cycle, row in full:
        assert row.issued is not None and row.issued < cycle
        assert row.dispatched is None or row.dispatched >= cycle


def test_retirement_is_blamed_only_where_it_took_all_that_it_could() -> None:
    """Where the oldest uop is not finished, that uop is what others wait for, whatever retired before it."""
    trace = traced(block_of("488b00" + "90" * 60 + LOOP + "bc", "SKL"), "SKL")  # a chain of loads
    rows = (*trace.rows, *trace.later)
    retired = Counter(row.retired for row in rows)
    width = registry.get("SKL").retire_width
    blamed = 0
    for cycle, row in enumerate(trace.unfinished):
        if row is not None:
            blamed += 1
            executed = rows[row].executed
            assert executed is None or executed >= cycle, cycle
        elif cycle > 100:  # the pipeline is full
            assert retired[cycle] == width, cycle
    assert blamed


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        pytest.param("480fafc0", "back end: RS INT full, dependency", id="imul rax, rax"),
        pytest.param("f20f5ec1" * 4, "back end: RS VEC full, dependency", id="divsd xmm0, xmm1"),
    ],
)
def test_one_of_several_schedulers_that_is_full_is_named(
    code: str, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry._MODELS, "WIDE", WIDE)
    block = block_of(code + f"{LOOP}{251 - len(code) // 2:02x}", "WIDE")
    account = simulate(block, WIDE, request=RunRequest(account=True)).account
    assert account is not None
    main = account.main_cause()
    assert main is not None
    assert f"{main.area}: {main.what} full, {main.why}" == cause


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        pytest.param("480fafc0", "back end: RS integer full, dependency", id="imul rax, rax"),
        pytest.param("49890049894808" * 3, "back end: RS address full, port", id="six stores"),
    ],
)
def test_a_core_that_counts_macro_ops_names_what_is_full(code: str, cause: str) -> None:
    block = block_of(code + f"{LOOP}{251 - len(code) // 2:02x}", "ZEN5")
    account = simulate(block, registry.get("ZEN5"), request=RunRequest(account=True)).account
    assert account is not None
    main = account.main_cause()
    assert main is not None
    assert f"{main.area}: {main.what} full, {main.why}" == cause


@pytest.mark.parametrize("code", KERNELS.values(), ids=KERNELS.keys())
@pytest.mark.parametrize("name", ["SKL", "ICL", "GNR", "ZEN5"])
def test_runs_are_the_same_whether_they_are_watched_or_not(name: str, code: str) -> None:
    """A run that records no reasons leaves none behind in the pipeline that the next run uses."""
    core = registry.get(name)
    block = block_of(code + f"{LOOP}{251 - len(code) // 2:02x}", name)
    watched = simulate(block, core, request=RunRequest(account=True))
    unwatched = simulate(block, core)
    again = simulate(block, core, request=RunRequest(account=True))
    assert watched.account is not None
    assert watched.account == again.account
    assert unwatched.usage == watched.usage
    assert unwatched.cycles_per_iteration == watched.cycles_per_iteration
