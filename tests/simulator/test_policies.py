"""Every policy that a core can name is there, and has the interface of its kind."""

from importlib import import_module

import pytest
from blocks import block_of
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Model, Pointers
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.simulator import policies
from cyclelens.analyzer.simulator.back_end.addition import Addition
from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.back_end.commit_rule import CommitRule
from cyclelens.analyzer.simulator.back_end.dispatch_rule import DispatchRule
from cyclelens.analyzer.simulator.back_end.elimination import Elimination
from cyclelens.analyzer.simulator.back_end.late_operands import LateOperands
from cyclelens.analyzer.simulator.back_end.load_renaming import LoadRenaming
from cyclelens.analyzer.simulator.back_end.memory_renaming import MemoryRenaming
from cyclelens.analyzer.simulator.back_end.picker import Picker
from cyclelens.analyzer.simulator.back_end.scheduler_choice import SchedulerChoice
from cyclelens.analyzer.simulator.front_end.front_end import FrontEnd
from cyclelens.analyzer.simulator.pipeline import simulate
from cyclelens.analyzer.simulator.wanted import Wanted
from msgspec.structs import replace

HARDWARE = ModelOptions(model=Model.HARDWARE)
INTERFACES = (
    (policies.FRONT_ENDS, FrontEnd),
    (policies.MACRO_FRONT_ENDS, FrontEnd),
    (policies.BINDINGS, Binding),
    (policies.BINDINGS_BY_CHANCE, Binding),
    (policies.SCHEDULER_CHOICES, SchedulerChoice),
    (policies.SCHEDULER_CHOICES_BY_CHANCE, SchedulerChoice),
    (policies.ELIMINATIONS, Elimination),
    (policies.ADDITIONS, Addition),
    (policies.MEMORY_RENAMINGS, MemoryRenaming),
    (policies.LOAD_RENAMINGS, LoadRenaming),
    (policies.PICKERS, Picker),
    (policies.MACRO_PICKERS, Picker),
    (policies.LATE_OPERANDS, LateOperands),
    (policies.DISPATCH_RULES, DispatchRule),
    (policies.STORE_COMMITS, CommitRule),
    (policies.MACRO_STORE_COMMITS, CommitRule),
)


@pytest.mark.parametrize(
    ("place", "interface"),
    [
        pytest.param(place, interface, id=name)
        for named, interface in INTERFACES
        for name, place in named.items()
    ],
)
def test_policies_have_their_interface(place: tuple[str, str], interface: type) -> None:
    file, name = place
    policy = getattr(import_module(f"cyclelens.analyzer.simulator.{file}"), name)
    assert issubclass(policy, interface)
    assert policy is not interface


def test_other_rules_of_binding_are_policies_too() -> None:
    assert set(policies.OTHER_BINDINGS) <= policies.BINDINGS.keys()
    assert set(policies.OTHER_SCHEDULER_CHOICES) <= policies.SCHEDULER_CHOICES.keys()
    for name in registry.names():
        core = registry.get(name)
        tried = list(policies.other_bindings(core, ModelOptions()))
        assert len({(other.policies.binding, options.port_seed) for other, options in tried}) == len(tried)
        assert [options.port_seed for _, options in tried][-len(policies.SEEDS) :] == list(policies.SEEDS)
        assert core.policies.binding not in [other.policies.binding for other, _ in tried]
        measured = [other.policies for other, _ in policies.other_bindings(core, HARDWARE)]
        assert not [each for each in measured if each.hardware_binding]
        assert (core.policies.hardware_binding or core.policies.binding) not in [
            each.binding for each in measured
        ]


def test_ablations_take_the_place_of_policies() -> None:
    assert policies.ABLATIONS.keys() == {"simple_front_end", "random_ports"}
    for file, name in policies.ABLATIONS.values():
        policy = getattr(import_module(f"cyclelens.analyzer.simulator.{file}"), name)
        assert issubclass(policy, FrontEnd | Binding)


@pytest.mark.parametrize(
    ("kind", "code", "without"),
    [
        # add rax, 1; add rax, 1: a chain that the renamer carries out.
        pytest.param("addition", "4883c0014883c001", 2, id="addition"),
        # add qword ptr [rsi], 1: through memory.
        pytest.param("memory_renaming", "48830601", 5, id="memory_renaming"),
    ],
)
@pytest.mark.parametrize("name", ["ADL", "GNR", "LNL"])
def test_a_core_without_a_policy_of_the_renamer_does_without_its_rule(
    name: str, kind: str, code: str, without: float
) -> None:
    core = registry.get(name)
    block = block_of(f"{code}49ffcf75{251 - len(code) // 2:02x}", name, loop=True)
    bare = replace(core, policies=replace(core.policies, **{kind: ""}))
    assert simulate(block, core).cycles_per_iteration <= 1.5
    assert simulate(block, bare).cycles_per_iteration >= without


def test_a_policy_that_is_not_there_is_refused_by_name() -> None:
    core = registry.get("GNR")
    block = block_of("90", "GNR", loop=False)
    for kind in ("binding", "addition", "memory_renaming", "elimination", "picker", "front_end"):
        wrong = replace(core, policies=replace(core.policies, **{kind: "none_such"}))
        with pytest.raises(ValueError, match="GNR names the policy 'none_such'; there are "):
            simulate(block, wrong)


OF_MACRO_OPS = ("ZEN3", "ZEN4", "ZEN5")


@pytest.mark.parametrize("name", OF_MACRO_OPS)
@pytest.mark.parametrize(
    "kind",
    ["front_end", "binding", "elimination", "memory_renaming", "picker", "store_commit", "late_operands"],
)
def test_a_core_of_macro_ops_is_built_from_the_policies_that_it_names(name: str, kind: str) -> None:
    core = registry.get(name)
    block = block_of("90", name)
    wrong = replace(core, policies=replace(core.policies, **{kind: "none_such"}))
    with pytest.raises(ValueError, match=f"{name} names the policy 'none_such'; there are "):
        simulate(block, wrong)


@pytest.mark.parametrize("name", OF_MACRO_OPS)
@pytest.mark.parametrize("kind", ["addition", "dispatch_rule"])
def test_a_rule_that_the_stages_of_macro_ops_never_ask_for_is_refused(name: str, kind: str) -> None:
    core = registry.get(name)
    intels = {"addition": "owed_constants", "dispatch_rule": "load_words"}
    wrong = replace(core, policies=replace(core.policies, **{kind: intels[kind]}))
    with pytest.raises(ValueError, match=f"{name} counts macro-ops and can have no {kind}"):
        simulate(block_of("90", name), wrong)


def test_a_rule_for_macro_ops_is_refused_on_a_core_that_counts_uops() -> None:
    core = registry.get("SKL")
    wrong = replace(core, policies=replace(core.policies, late_operands="wasted_slots"))
    with pytest.raises(ValueError, match="SKL counts uops and can have no late_operands"):
        simulate(block_of("90", "SKL"), wrong)


# What each rule of macro-ops does, seen by giving a core another one: the block, and the cycles per iteration
# with the rule of its own and with the other. Each block leaves no other limit near.
OTHER_RULES = [
    # add qword ptr [rsi], 1: through memory.
    pytest.param("ZEN5", "48830601", "memory_renaming", "", 1.0, 7.0, id="memory renaming"),
    # mov rbx, rax; mov rax, rbx, four times: a chain that the renamer carries out, four a cycle as decoded.
    pytest.param("ZEN5", "4889c34889d8" * 4, "elimination", "", 2.0, 8.0, id="moves"),
    # The other renamer's rule, without a slot for values that registers share.
    pytest.param(
        "ZEN5", "4889c34889d8" * 4, "elimination", "shared_slots", 2.0, 8.0, id="moves without slots"
    ),
    # Stores to two chunks of 32 bytes, and to two lines.
    pytest.param(
        "ZEN5", "4889064889464048894680488986c0000000", "store_commit", "one_chunk", 2.0, 4.0, id="stores"
    ),
]


@pytest.mark.parametrize(("name", "code", "kind", "other", "own_cycles", "other_cycles"), OTHER_RULES)
def test_another_rule_makes_the_difference_that_it_stands_for(
    name: str, code: str, kind: str, other: str, own_cycles: float, other_cycles: float
) -> None:
    core = registry.get(name)
    assert core.macro_ops is not None
    changed = replace(
        core,
        policies=replace(core.policies, **{kind: other}),
        macro_ops=replace(core.macro_ops, store_chunk_bytes=32),
        move_elimination_gpr_slots=0,
    )
    block = block_of(code, name)
    assert simulate(block, core).cycles_per_iteration == pytest.approx(own_cycles, abs=0.1)
    assert simulate(block, changed).cycles_per_iteration == pytest.approx(other_cycles, abs=0.1)


def test_a_core_names_the_order_of_its_vector_units() -> None:
    core = registry.get("ZEN5")
    assert core.macro_ops is not None
    # pxor xmm0, xmm1: any of the four can take it, and it waits for the one before.
    block = block_of("660fefc1", "ZEN5")
    for first in core.macro_ops.pipes:
        others = tuple(pipe for pipe in core.macro_ops.pipes if pipe != first)
        ordered = replace(core, macro_ops=replace(core.macro_ops, pipes=(first, *others)))
        trace = simulate(block, ordered, wanted=Wanted(trace=True)).trace
        assert trace is not None
        assert {row.port for row in trace.rows if row.port} == {first}


HELD_BACK = {
    "wide_memory": "c5fc1006c5fc104e20",  # two loads of 32 bytes
    "store_pairs": "48890648898680000000",  # stores to two lines
    "load_words": "488b06488b0e488b16",  # three loads of one word
}
"""A block for every dispatch rule in which units hold each other back."""


@pytest.mark.parametrize("rule", policies.DISPATCH_RULES)
def test_a_dispatch_rule_records_whom_it_holds_back_and_for_whom(rule: str) -> None:
    cores = [core for core in map(registry.get, registry.names()) if core.policies.dispatch_rule == rule]
    assert cores, "no core has it"
    for core in cores:
        block = block_of(HELD_BACK[rule], core.name)
        trace = simulate(
            block, core, wanted=Wanted(trace=True), options=ModelOptions(assume=Pointers.SAME)
        ).trace
        assert trace is not None
        rows = trace.rows
        held = [
            (row, rows[recorded.behind])
            for row, recorded in zip(rows, trace.scheduling, strict=True)
            if recorded.queued == "pair" and recorded.behind is not None
        ]
        assert held, core.name
        for row, other in held:
            assert row.ready is not None and row.dispatched is not None and other.dispatched is not None
            assert row.ready <= other.dispatched < row.dispatched
