"""Values that no stage can count with end in one clear exception: the core checks no index of its own."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.macro_ops import LoadQueue, StoreGathering
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role, UnitSet, UopKind
from cyclelens.analyzer.model.uops import Block, InstructionTemplate, MacroOps, UopTemplate, ValueKind
from cyclelens.analyzer.simulator.core import simulate
from cyclelens.analyzer.simulator.failures import SimulationStuck
from msgspec.structs import replace
from testkit.blocks import block_of
from testkit.face_mutations import mutated_case


def test_random_values_end_in_a_figure_or_in_a_clear_exception() -> None:
    """No exception of another kind, and no crash."""
    found = Counter(
        mutated_case(random.Random(f"41 {number}")).outcome().split(":")[0] for number in range(250)
    )
    assert found["figure"] > 50
    assert found["ValueError"] > 50


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("issue_width", 0),
        ("retire_width", -1),
        ("idq_size", 1 << 40),
        ("predecode_block_bytes", 12),
        ("predecode_block_bytes", 8),
    ],
)
def test_a_core_names_the_parameter_that_is_out_of_range(parameter: str, value: int) -> None:
    core = replace(registry.get("SKL"), **{parameter: value})
    with pytest.raises(ValueError, match=f"SKL: {parameter} is {value}; it must be"):
        simulate(block_of("4801d8", "SKL", loop=False), core)


@pytest.mark.parametrize("size", [48, 128, 1 << 15])
def test_a_chunk_of_gathered_stores_is_at_most_a_line(size: int) -> None:
    core = registry.get("ZEN4")
    assert core.macro_ops
    changed = replace(core, macro_ops=replace(core.macro_ops, store_chunk_bytes=size))
    with pytest.raises(
        ValueError, match=f"store_chunk_bytes is {size}; it must be 0 or a power of two up to 64"
    ):
        simulate(block_of("48890648894708", "ZEN4", loop=False), changed)


def _load(**changes: object) -> InstructionTemplate:
    """A load whose uop is changed."""
    (template,) = block_of("488b07", "SKL", loop=False).instructions
    uops: tuple[UopTemplate, ...] = tuple(replace(uop, **changes) for uop in template.uops)
    return replace(template, uops=uops)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (_load(divider_cycles=-1), "the time of a divider is -1"),
        (_load(kind=UopKind.STORE_DATA), "stores data without an address"),
        (_load(memory_operand=3), "there is no memory operand 3"),
        (replace(_load(), idq_uops=(2,)), "its IDQ uops have 2 parts, but there are 1"),
        (replace(_load(), fused_with_previous=True), "half of a macro-fused pair stands alone"),
        (replace(_load(), tp=1 << 40), "no number that fits"),
        (_load(outputs=(((ValueKind.REGISTER, "RAX"), (5,)),)), "no number that fits"),
        (replace(_load(), uop_count=0), "accesses memory, but takes no uops"),
        (_load(kind=UopKind.COMPUTE), "a uop has an address, but accesses no memory"),
        (replace(_load(), tp_after_wait=-1), "the throughput after a wait is -1"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_instruction_says_what_is_out_of_range(template: InstructionTemplate, message: str) -> None:
    block = replace(block_of("488b07", "SKL", loop=False), entries=(template,))
    with pytest.raises(ValueError, match=message):
        simulate(block, registry.get("SKL"))


def test_the_second_of_a_fused_pair_has_no_uops() -> None:
    """Nothing would decode them. In straight-line code the first instruction follows the last one."""
    block = block_of("488b07480fafc3", "SKX", loop=False)
    load, product = block.instructions
    pair = (replace(load, fused_with_previous=True), replace(product, fused_with_next=True))
    with pytest.raises(ValueError, match="instruction 1 of the block: the second of a fused pair has uops"):
        simulate(replace(block, entries=pair), registry.get("SKX"))


def test_two_instructions_in_turn_do_not_join_their_next() -> None:
    """They would fill an issue group without end. One may: here the loads of pop, which takes no slot."""
    core = registry.get("ARL")
    block = block_of("505853 59", "ARL", loop=True)
    *others, last = block.instructions
    one = replace(block, entries=(*others, replace(last, joins_next=True)))
    assert simulate(one, core).cycles_per_iteration >= 1.0
    two = (replace(each, joins_next=each.uop_count == 1) for each in (others[1], last))
    with pytest.raises(
        ValueError, match="instruction 1 of the block joins the next one, which joins another"
    ):
        simulate(replace(block, entries=tuple(two)), core)


def test_no_instruction_joins_the_next_where_macro_ops_are_counted() -> None:
    """The account of slots would miss it."""
    block = block_of("480fafc3 90", "ZEN3", loop=False)
    product, nop = block.instructions
    joined = replace(block, entries=(replace(product, joins_next=True), nop))
    with pytest.raises(ValueError, match="ZEN3: a move joins the next one; here it has a macro-op"):
        simulate(joined, registry.get("ZEN3"))


def test_only_a_move_is_carried_out_with_the_next_operation() -> None:
    block = block_of("f0480fc106 90", "ZEN4", loop=False)
    exchange, nop = block.instructions
    assert exchange.macro_ops
    moves = replace(exchange, macro_ops=replace(exchange.macro_ops, moves=True))
    with pytest.raises(ValueError, match="instruction 1 of the block: it moves no register to another one"):
        simulate(replace(block, entries=(moves, nop)), registry.get("ZEN4"))


@pytest.mark.parametrize("entries", [1 << 40, -1])
def test_what_an_instruction_takes_in_the_op_cache_has_a_range(entries: int) -> None:
    block = block_of("488b07", "ZEN5", loop=False)
    (template,) = block.instructions
    changed = replace(template, macro_ops=replace(template.macro_ops or MacroOps(), entries=entries))
    with pytest.raises(ValueError, match=f"the cost in macro-ops is {entries}"):
        simulate(replace(block, entries=(changed,)), registry.get("ZEN5"))


def test_only_general_purpose_registers_are_followed() -> None:
    """For the addresses of later accesses. Here lock xadd [rsi], rax writes a register of another name."""
    block = block_of("f0480fc106", "ZEN3", loop=False)
    (template,) = block.instructions
    outputs = tuple(replace(each, canonical="nothing") for each in template.register_outputs)
    with pytest.raises(ValueError, match=r"the register that is followed is \d+; it must be -1 to 15"):
        changed = replace(template, register_outputs=outputs)
        simulate(replace(block, entries=(changed,)), registry.get("ZEN3"))


def test_a_load_on_a_unit_of_stores_is_no_store() -> None:
    """Ice Lake's rule for two stores of one cycle (Z1) is not about it; a checked build sees its reads."""
    core = registry.get("ICL")
    block = block_of("488b0648894708", "ICL", loop=False)
    load, store = block.instructions
    data = core.units.having(Role.STORE_DATA)
    uops = tuple(replace(uop, units=data) for uop in load.uops)
    moved = replace(block, entries=(replace(load, uops=uops), store))
    assert simulate(moved, core).cycles_per_iteration >= 1.0


@pytest.mark.parametrize("name", ["ZEN3", "ZEN4", "ZEN5"])
def test_an_input_may_be_needed_before_the_uop_begins(name: str) -> None:
    """pcmpestri xmm0, xmm1, 1: two cycles more from EDX than from the vectors, by the tables."""
    block = block_of("660f3a61c10149ffcf75f5", name, loop=True)
    assert any(late < 0 for uop in block.instructions[0].uops for late in uop.late)
    assert simulate(block, registry.get(name)).cycles_per_iteration >= 3.0


def _refusal(block: Block, core: Microarchitecture) -> str:
    """What is said of the block on the core; empty if the stages can count with it, however long it takes."""
    try:
        simulate(block, core)
    except ValueError as error:
        return str(error)
    except SimulationStuck:
        pass
    return ""


MOST_TIME = 1 << 20
LIMITS: dict[str, tuple[int, int, str]] = {
    "mite_uops": (1, 1 << 12, "number of decoded uops"),
    "ms_uops": (0, 1 << 12, "number of microcode uops"),
    "available_simple_decoders": (0, 1 << 12, "number of simple decoders"),
    "tp": (0, MOST_TIME, "throughput"),
    "tp_after_wait": (0, MOST_TIME, "throughput after a wait"),
    "rsp_change": (-(1 << 20), 1 << 20, "step of the stack pointer"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_the_last_values_in_range_are_taken_and_the_next_ones_are_not(name: str) -> None:
    least, most, words = LIMITS[name]
    block, core = block_of("488b07", "SKL", loop=False), registry.get("SKL")
    said = {
        value: _refusal(replace(block, entries=(replace(_load(), **{name: value}),)), core)
        for value in (least - 1, least, most, most + 1)
    }
    zero = "it has IDQ uops, but none is decoded"
    low = f"the {words} is {least - 1}; it must be {least} to {most}" if name != "mite_uops" else zero
    assert said == {
        least - 1: f"MOV (R64, M64): {low}",
        least: "",
        most: "",
        most + 1: f"MOV (R64, M64): the {words} is {most + 1}; it must be {min(least, 0)} to {most}",
    }


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (_load(divider_cycles=MOST_TIME), ""),
        (_load(divider_cycles=MOST_TIME + 1), "the time of a divider is 1048577; it must be 0 to 1048576"),
        (_load(outputs=(((ValueKind.REGISTER, "RAX"), MOST_TIME),)), ""),
        (
            _load(outputs=(((ValueKind.REGISTER, "RAX"), MOST_TIME + 1),)),
            "the latency is 1048577; it must be 0 to 1048576",
        ),
        (
            _load(outputs=(((ValueKind.REGISTER, "RAX"), -1),)),
            "the latency is -1; it must be 0 to 1048576",
        ),
        (_load(units=UnitSet(0, (), "", "")), "one of its uops has no unit"),
        (replace(_load(), idq_uops=(-1, 2)), "the size of one of its IDQ uops is -1"),
        (replace(_load(), fused_uops=(2,)), "its fused uops have 2 parts, but there are 1"),
        (
            replace(_load(), joins_next=True, idq_uops=(1, 0)),
            "it cannot join the next instruction, for it is no single uop",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_both_sides_of_what_an_instruction_may_be(template: InstructionTemplate, message: str) -> None:
    block = replace(block_of("488b07", "SKL", loop=False), entries=(template,))
    assert _refusal(block, registry.get("SKL")) == (f"MOV (R64, M64): {message}" if message else "")


def test_a_block_has_instructions_and_begins_within_a_line() -> None:
    block, core = block_of("488b07", "SKL", loop=False), registry.get("SKL")
    assert _refusal(replace(block, entries=()), core) == "a block needs at least one instruction"
    for alignment in (0, 63):
        assert _refusal(replace(block, alignment=alignment), core) == ""
    for alignment in (-1, 64):
        said = _refusal(replace(block, alignment=alignment), core)
        assert said == f"a block's alignment is 0 to 63, not {alignment}"


def test_a_core_says_which_rules_it_cannot_have() -> None:
    """Two sizes of the tables: chunks that stores are gathered in, and loads in their queue."""
    block, core = block_of("488907", "ZEN4", loop=False), registry.get("ZEN4")
    rules = core.macro_ops
    assert rules is not None
    for chunks, said in ((16, ""), (17, "stores are gathered in 17 chunks; at most 16 fit")):
        gathering = replace(rules, store_gathering=StoreGathering(chunks=chunks, in_flight=0, restart=0))
        assert _refusal(block, replace(core, macro_ops=gathering)) == said
    none = replace(core, macro_ops=replace(rules, store_gathering=None))
    assert _refusal(block, none) == "ZEN4 gathers stores, but has no rules for it"
    for entries, said in ((127, ""), (128, "a load queue has 128 entries; there is room for fewer")):
        queue = replace(rules, load_queue=LoadQueue(entries=entries, held=22))
        assert _refusal(block, replace(core, macro_ops=queue)) == said
    named = replace(core, policies=replace(core.policies, addition="owed_constants"))
    assert _refusal(block, named) == "ZEN4 counts macro-ops and can have no addition"
    older = registry.get("SKL")
    late = replace(older, policies=replace(older.policies, late_operands="wasted_slots"))
    assert (
        _refusal(block_of("488907", "SKL", loop=False), late)
        == "SKL counts uops and can have no late_operands"
    )
    unknown = replace(older, policies=replace(older.policies, picker="none"))
    assert _refusal(block_of("488907", "SKL", loop=False), unknown).startswith(
        "SKL names the policy 'none'; there are"
    )
