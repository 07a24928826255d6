"""Rules of one maker act on that maker's cores alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cyclelens.analyzer.bounds.dsb import dsb_bound
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.microarchitecture import Microarchitecture, Policies
from testkit.blocks import block_of, templates_of
from testkit.simulated import cycles, simulated

# Yes, no, or what else the rule says. A new core adds a column: of each rule it has to say whether it has it.
TABLE = """
                                  SNB IVB HSW BDW SKL SKX KBL CFL CLX ICL TGL RKL ZEN ZEN+ ZEN2 ZEN3 ZEN4 ZEN5
length_changing_prefix_penalty      3   3   3   3   3   3   3   3   3   3   3   3   0    0    0    0    0    0
pop_rsp_needs_complex_decoder       y   y   y   y   y   y   y   y   y   y   y   y   -    -    -    -    -    -
pop_rsp_ends_decode_group           y   y   y   y   -   -   -   -   -   -   -   -   -    -    -    -    -    -
fusible_on_last_decoder             -   -   -   -   y   y   y   y   y   y   y   y   y    y    y    y    y    y
several_uops_need_complex_decoder   y   y   y   y   y   y   y   y   y   y   y   y   -    -    -    -    -    -
fusible_waits_for_next              y   y   y   y   y   y   y   y   y   y   y   y   -    -    -    -    -    -
branch_ends_decode_group            y   y   y   y   y   y   y   y   y   y   y   y   y    y    y    y    y    y
fuses_across_lines                  -   -   -   -   -   -   -   -   -   -   -   -   y    y    y    y    y    y
branch_across_blocks_costs_a_block  y   y   y   y   y   y   y   y   y   y   y   y   -    -    -    -    -    -
large_immediate_takes_slot          y   y   y   y   y   y   y   y   y   y   y   y   -    -    -    -    -    -
crowded_prefixes_uncacheable        y   y   y   y   y   y   y   y   y   y   y   y   -    -    -    -    -    -
dsb_loses_width_across_blocks       -   -   -   -   y   y   y   y   y   y   y   y   -    -    -    -    -    -
dsb_serves_rounds_together          -   -   -   -   -   -   -   -   -   -   -   -   -    -    -    y    y    y
dsb_lines_per_cycle                 -   -   -   -   -   -   -   -   -   -   -   -   1    1    1    -    -    -
jcc_erratum                         -   -   -   -   y   y   y   y   y   -   -   -   -    -    -    -    -    -
both_halves_cacheable               -   -   -   -   y   y   y   y   y   -   -   -   -    -    -    -    -    -
lsd_enabled                         y   y   y   y   -   -   -   -   y   y   y   y   -    -    -    -    -    -
stack_offset_limit                192 192 192 192 192 192 192 192 192 192 192 192   -    -    -    -    -    -
high8_renamed                       y   y   y   y   y   y   y   y   y   -   -   -   -    -    -    -    -    -
movzx_high8_alias_eliminated        y   y   -   -   -   -   -   -   -   -   -   -   -    -    -    -    -    -
all_gpr_aliases_overwritten         -   -   y   y   y   y   y   y   y   y   y   y   y    y    y    y    y    y
fast_pointer_chasing                y   y   y   y   y   y   y   y   y   -   -   -   -    -    -    -    -    -
closed_by_512_bit                   -   -   -   -  p1  p1  p1  p1  p1  p1  p1  p1   -    -    -    -    -    -
lsd_has_borders                     y   y   y   y   y   y   y   y   y   y   y   y   y    y    y    y    y    y
shift_result_without_flags          -   -   -   -   -   -   -   -   -   -   -   -   -    -    -    -    -    -
stores_wait_for_data                -   -   -   -   -   -   -   -   -   y   y   y   -    -    -    -    -    -
tracks_values                       -   -   -   -   -   -   -   -   -   -   -   -   -    -    -    -    -    -
fuses_moves                         -   -   -   -   -   -   -   -   -   -   -   -   -    -    -    -    -    -
chained_addition_cycles             0   0   0   0   0   0   0   0   0   0   0   0   0    0    0    0    0    0
schedulers_take_whole_groups        -   -   -   -   -   -   -   -   -   -   -   -   -    -    -    -    -    -
"""
NEWER = """
                                    ADL SPR MTL GNR LNL ARL
length_changing_prefix_penalty        3   3   3   3   3   3
pop_rsp_needs_complex_decoder         y   y   y   y   y   y
pop_rsp_ends_decode_group             -   -   -   -   -   -
fusible_on_last_decoder               -   -   -   -   -   -
several_uops_need_complex_decoder     y   y   y   y   y   y
fusible_waits_for_next                y   y   y   y   y   y
branch_ends_decode_group              -   -   -   -   -   -
fuses_across_lines                    -   -   -   -   -   -
branch_across_blocks_costs_a_block    y   y   y   y   y   y
large_immediate_takes_slot            -   -   -   -   -   -
crowded_prefixes_uncacheable          -   -   -   -   -   -
dsb_loses_width_across_blocks         -   -   -   -   -   -
dsb_serves_rounds_together            y   y   y   y   y   y
dsb_lines_per_cycle                   -   -   -   -   -   -
jcc_erratum                           -   -   -   -   -   -
both_halves_cacheable                 -   -   -   -   -   -
lsd_enabled                           y   -   y   -   -   -
stack_offset_limit                  192 192 192 192 192 192
high8_renamed                         -   -   -   -   -   -
movzx_high8_alias_eliminated          -   -   -   -   -   -
all_gpr_aliases_overwritten           y   y   y   y   y   y
fast_pointer_chasing                  -   -   -   -   -   -
closed_by_512_bit                     -  p1   -  p1   -   -
lsd_has_borders                       -   -   -   -   -   -
shift_result_without_flags            y   y   y   y   y   y
stores_wait_for_data                  y   y   y   y   y   y
tracks_values                         y   y   y   y   y   y
fuses_moves                           -   -   y   y   y   y
chained_addition_cycles               2   2   2   2   0   0
schedulers_take_whole_groups          y   y   y   y   -   -
"""
_OLD, *_ROWS = (line.split() for line in TABLE.strip().splitlines())
_NEW, *_NEW_ROWS = (line.split() for line in NEWER.strip().splitlines())
_NAMES = _OLD + _NEW
_ROWS = [[*old, *new[1:]] for old, new in zip(_ROWS, _NEW_ROWS, strict=True)]
_COVES = "ADL SPR MTL GNR LNL ARL"
_MACRO = "ZEN3 ZEN4 ZEN5"
_OF_UOPS = " ".join(name for name in _NAMES if name not in _MACRO.split())
POLICIES = {
    "dispatch_rule": {
        "SNB IVB": "wide_memory",
        "HSW BDW SKL SKX KBL CFL CLX": "",
        "ICL TGL RKL": "store_pairs",
        "ADL SPR MTL GNR": "load_words",
        "LNL ARL": "",
        "ZEN ZEN+ ZEN2 ZEN3 ZEN4 ZEN5": "",
    },
    "store_commit": {
        "SNB IVB HSW BDW SKL SKX KBL CFL CLX ICL TGL RKL ZEN ZEN+ ZEN2": "",
        _COVES: "one_line",
        "ZEN3 ZEN4": "gathered",
        "ZEN5": "two_stores",
    },
    "binding": {
        "SNB IVB": "six_ports",
        "HSW BDW SKL SKX KBL CFL CLX": "eight_ports",
        "ICL TGL RKL": "ten_ports",
        "ADL SPR MTL GNR": "twelve_ports",
        "ZEN ZEN+ ZEN2 LNL ARL": "fewest_waiting",
        _MACRO: "emptiest_scheduler",
    },
    "hardware_binding": {
        "SNB IVB HSW BDW": "loads_in_turn",
        "SKL SKX KBL CFL CLX ICL TGL RKL ADL SPR MTL GNR LNL ARL": "",
        "ZEN ZEN+ ZEN2 ZEN3 ZEN4 ZEN5": "",
    },
    "addition": {
        "SNB IVB HSW BDW SKL SKX KBL CFL CLX ICL TGL RKL ZEN ZEN+ ZEN2 ZEN3 ZEN4 ZEN5": "",
        _COVES: "owed_constants",
    },
    "memory_renaming": {
        "SNB IVB HSW BDW SKL SKX KBL CFL CLX ZEN ZEN+ ZEN2": "",
        "ICL TGL RKL": "learnt_loads",
        _COVES: "learnt_pairs",
        "ZEN3": "stack_or_learnt",
        "ZEN4": "same_names",
        "ZEN5": "same_registers",
    },
    "elimination": {_OF_UOPS: "shared_slots", _MACRO: "every_move"},
    "picker": {
        "SNB IVB HSW BDW SKL SKX KBL CFL CLX ICL TGL RKL LNL ARL ZEN ZEN+ ZEN2": "bound_unit",
        "ADL SPR MTL GNR": "shared_results",
        _MACRO: "oldest_ready",
    },
    "late_operands": {_OF_UOPS: "", "ZEN3 ZEN4": "", "ZEN5": "wasted_slots"},
    "front_end": {_OF_UOPS: "mite_dsb_lsd", _MACRO: "op_cache"},
}
INTEL = tuple(name for name in _NAMES if not name.startswith("ZEN"))
OLD_INTEL = tuple(name for name in INTEL if name in _OLD)
AMD = tuple(name for name in _NAMES if name.startswith("ZEN"))


def written(model: Microarchitecture, field: str) -> str:
    value = getattr(model, field)
    if isinstance(value, bool):
        return "y" if value else "-"
    text = str(getattr(value, "label", value))
    return "-" if text in ("", "None") else text


@pytest.mark.parametrize("row", _ROWS, ids=[row[0] for row in _ROWS])
def test_every_core_has_the_rules_that_it_should_have(row: list[str]) -> None:
    field, *expected = row
    assert [written(registry.get(name), field) for name in _NAMES] == expected


def test_the_table_has_every_switch() -> None:
    switches = {name for name, kind in Microarchitecture.__annotations__.items() if kind == "bool"}
    assert switches <= {row[0] for row in _ROWS}


@pytest.mark.parametrize("kind", POLICIES)
def test_every_core_has_its_own_policies(kind: str) -> None:
    found = {name: getattr(registry.get(name).policies, kind) for name in _NAMES}
    expected = {name: policy for names, policy in POLICIES[kind].items() for name in names.split()}
    assert found == expected


def test_the_tables_have_every_policy() -> None:
    assert POLICIES.keys() == set(Policies.__struct_fields__)


def test_a_core_that_carries_out_additions_says_up_to_which_sum() -> None:
    for name in _NAMES:
        core = registry.get(name)
        assert bool(core.policies.addition) == bool(core.add_offset_limit), name


def test_dividers_are_those_of_the_maker() -> None:
    """Z3: Intel's leads through port 0, on Lion Cove there are two; AMD's two lead through the unit that was
    chosen."""
    for name in INTEL:
        through = ["P1", "V0"] if name in ("LNL", "ARL") else ["0"]
        assert [divider.through for divider in registry.get(name).dividers] == through
    for name in AMD:
        if registry.get(name).macro_ops is not None:
            continue  # these state the busy units uop by uop
        assert [divider.through for divider in registry.get(name).dividers] == [None, None]


# -- what they do to a figure --------------------------------------------------------------------------------

ADDS = 2 * "4801de4801df4901d84901d94901da4901db4901dc4901dd"


def fuses_at_line_start(name: str) -> bool:
    """cmp rax, rcx ends a 64-byte line, je begins the next."""
    return templates_of("4839c874bb", name, alignment=61)[0].fused_with_next


def cycle_of_one_block(name: str) -> bool:
    """A loop of two uops within 32 bytes: whether its bound by the uop cache is a whole cycle."""
    return dsb_bound(block_of("48ffc049ffcf75f8", name, loop=True), registry.get(name)) == 1


def synchronises_pops(name: str) -> bool:
    """30 times pop rax: whether something brings RSP up to date."""
    return any(simulated(30 * "58", name, loop=False).sync_usage)


@pytest.mark.parametrize(
    ("rule", "has", "cores"),
    [
        ("A1: no fusion at the start of a line", lambda name: not fuses_at_line_start(name), INTEL),
        (
            "6.2: a loop within 32 bytes, or within a window of the op cache",
            cycle_of_one_block,
            tuple(
                name for name in _NAMES if name in (*OLD_INTEL, "ZEN", "ZEN+", "ZEN2", "ZEN3", "ZEN4", "ZEN5")
            ),
        ),
        ("E3: long runs of pop synchronise", synchronises_pops, INTEL),
        (
            "Z1: two stores through two pointers leave one after the other",
            lambda name: cycles("48890648891f", name, loop=False) == 2,
            tuple(name for name in _NAMES if name != "ZEN5"),
        ),
        (
            "Z3: a division takes a port from the additions",
            lambda name: cycles("c5f05ec2" + ADDS, name, loop=False) > 4.25,
            OLD_INTEL,
        ),
    ],
)
def test_a_rule_acts_on_its_own_cores(rule: str, has: Callable[[str], bool], cores: tuple[str, ...]) -> None:
    assert [name for name in _NAMES if has(name)] == list(cores), rule
