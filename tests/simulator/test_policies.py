"""Every policy that a core can name exists and has the interface of its kind."""

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Model, Pointers
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.simulator import core, simulate
from cyclelens.analyzer.simulator.core import POLICIES
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.simulator.variants import other_bindings
from msgspec.structs import replace
from testkit.blocks import block_of

HARDWARE = ModelOptions(model=Model.HARDWARE)
INTERFACES = {
    "front_end": core.FrontEnd,
    "macro_front_end": core.FrontEnd,
    "binding": core.Binding,
    "random_binding": core.Binding,
    "scheduler_choice": core.SchedulerChoice,
    "random_scheduler_choice": core.SchedulerChoice,
    "elimination": core.Elimination,
    "macro_elimination": core.Elimination,
    "addition": core.Addition,
    "memory_renaming": core.MemoryRenaming,
    "load_renaming": core.LoadRenaming,
    "picker": core.Picker,
    "macro_picker": core.Picker,
    "random_macro_picker": core.Picker,
    "late_operands": core.LateOperands,
    "dispatch_rule": core.DispatchRule,
    "store_commit": core.CommitRule,
    "macro_store_commit": core.CommitRule,
    "ablation": core.FrontEnd | core.Binding,
}


def test_every_kind_of_policy_has_an_interface() -> None:
    assert core.POLICIES.keys() == INTERFACES.keys()


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, named in core.POLICIES.items() for name in named]
)
def test_policies_have_their_interface(kind: str, name: str) -> None:
    policy = core.POLICIES[kind][name]
    assert issubclass(policy, INTERFACES[kind])
    assert policy is not INTERFACES[kind]


def _rule(microarchitecture: Microarchitecture, hardware: str = "") -> tuple[str, tuple[str, ...]]:
    """What binds uops to units: a policy, and an order of pipes."""
    rules = microarchitecture.macro_ops
    return hardware or microarchitecture.policies.binding, () if rules is None else rules.pipes


def test_other_rules_of_binding_are_policies_too() -> None:
    for name in registry.names():
        own = registry.get(name)
        tried = list(other_bindings(own, ModelOptions()))
        known = {"binding", "random_binding"}
        if own.macro_ops is not None:
            known = {"scheduler_choice", "random_scheduler_choice"}
        names = {policy for kind in known for policy in core.POLICIES[kind]}
        assert {other.policies.binding for other, _ in tried} <= names
        assert len({(_rule(other), options.port_seed) for other, options in tried}) == len(tried)
        assert [options.port_seed for _, options in tried][-8:] == list(range(1, 9))
        assert _rule(own) not in [_rule(other) for other, _ in tried]
        measured = [other for other, _ in other_bindings(own, HARDWARE)]
        assert not [each for each in measured if each.policies.hardware_binding]
        assert _rule(own, own.policies.hardware_binding) not in [_rule(each) for each in measured]


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
]


@pytest.mark.parametrize(("name", "code", "kind", "other", "own_cycles", "other_cycles"), OTHER_RULES)
def test_another_rule_makes_the_difference_that_it_stands_for(
    name: str, code: str, kind: str, other: str, own_cycles: float, other_cycles: float
) -> None:
    core = registry.get(name)
    changed = replace(core, policies=replace(core.policies, **{kind: other}))
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
        trace = simulate(block, ordered, request=RunRequest(trace=True)).trace
        assert trace is not None
        assert {row.port for row in trace.rows if row.port} == {first}


HELD_BACK = {
    "wide_memory": "c5fc1006c5fc104e20",  # two loads of 32 bytes
    "store_pairs": "48890648898680000000",  # stores to two lines
    "load_words": "488b06488b0e488b16",  # three loads of one word
}
"""A block for every dispatch rule in which units hold each other back."""


@pytest.mark.parametrize("rule", POLICIES["dispatch_rule"])
def test_a_dispatch_rule_records_whom_it_holds_back_and_for_whom(rule: str) -> None:
    cores = [each for each in map(registry.get, registry.names()) if each.policies.dispatch_rule == rule]
    assert cores, "no core has it"
    for each in cores:
        block = block_of(HELD_BACK[rule], each.name)
        trace = simulate(
            block, each, request=RunRequest(trace=True), options=ModelOptions(assume=Pointers.SAME)
        ).trace
        assert trace is not None
        rows = trace.rows
        held = [
            (row, rows[recorded.behind])
            for row, recorded in zip(rows, trace.scheduling, strict=True)
            if recorded.queued == "pair" and recorded.behind is not None
        ]
        assert held, each.name
        for row, other in held:
            assert row.ready is not None and row.dispatched is not None and other.dispatched is not None
            assert row.ready <= other.dispatched < row.dispatched
