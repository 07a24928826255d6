"""The costs of single instructions."""

import pytest
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.insight.costs import Cost, _cost, _rank, costs
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.facts import Figures
from msgspec.structs import replace
from testkit.factories import facts
from testkit.unit_sets import unit_uses


@pytest.fixture(scope="module")
def skylake():
    return costs(open_store(), "SKL")


@pytest.mark.parametrize(
    ("mnemonic", "operands", "shown"),
    [
        ("add", ("R64", "R64"), "1 uop p0156 · latency 1 · 0.25 cycles"),
        ("vfmadd231ps", ("YMM", "YMM", "YMM"), "1 uop p01 · latency 4 · 0.50 cycles"),
        ("popcnt", ("R64", "R64"), "1 uop p1 · latency 3 · 1.00 cycles"),
        ("vdivpd", ("YMM", "YMM", "YMM"), "1 uop p0 · latency 13 · 8.00 cycles"),
        ("jne", ("Rel8",), "1 uop p6 · 1.00 cycles"),
        ("lea", ("R64", "[B]"), "1 uop p15 · latency 1 · 0.50 cycles"),
    ],
)
def test_the_typical_variant_comes_first(skylake, mnemonic, operands, shown):
    first = skylake[mnemonic][0]
    assert (first.operands, first.short) == (operands, shown)


def test_conditions_have_all_their_names(skylake):
    assert {"jz", "je", "ja", "jnbe", "setge", "cmovne", "cmovo", "movslq"} <= set(skylake)
    assert not any("_" in name or "lock" in name for name in skylake)


def test_what_a_microarchitecture_does_not_have_is_not_offered():
    assert "vfmadd231ps" not in costs(open_store(), "SNB")


@pytest.mark.parametrize("core", [name for name in registry.names() if registry.get(name).facts_name != name])
def test_a_core_has_costs_even_if_its_tables_have_another_name(core: str) -> None:
    assert costs(open_store(), core)["add"][0].operands == ("R64", "R64")


@pytest.mark.parametrize(
    ("sooner", "later"),
    [
        *(("AL CL", f"R64 {memory}") for memory in ("M64", "Moffs", "MEM", "VSIB_YMM")),  # no memory
        ("XMM XMM", "R64 CL"),  # no special operands, of which a number is none
        ("R64 I8", "R64 CL"),
        ("R64 CL", "R64 CL DX"),
        *zip(("R64", "YMM", "XMM", "R32", "ZMM"), ("YMM", "XMM", "R32", "ZMM", "R8"), strict=True),
        ("R64 R64 R64", "R64 I8"),  # no number
        ("R64 R64", "R64"),  # two of them, or nearly
        ("R64 R64", "R64 R64 R64"),
        ("R64 R64 R64", "R64 R64 R64 R64"),
        ("R64", "R64 R64 R64"),  # fewer letters
        ("R64 I8", "R64 I32"),
    ],
)
def test_which_of_two_forms_is_the_more_typical(sooner: str, later: str) -> None:
    assert _rank(tuple(sooner.split())) < _rank(tuple(later.split()))


@pytest.mark.parametrize(
    ("figures", "cycles"),
    [
        ({"uops": 1, "retire_slots": 1}, 0.25),  # four are issued per cycle
        ({"uops": 0, "retire_slots": 0}, 0.25),
        ({"uops": 6}, 1.5),
        ({"uops": 6, "retire_slots": 2}, 0.5),
        ({"uops": 1, "ports": (("06", 3),)}, 1.5),
        ({"uops": 1, "tp": 5.0, "throughput": 4.0, "divider_cycles": 3}, 5.0),
        ({"uops": 1, "tp": 3.0, "throughput": 5.0, "divider_cycles": 4}, 5.0),
        ({"uops": 1, "tp": 4.0, "throughput": 3.0, "divider_cycles": 5}, 5.0),
    ],
)
def test_the_slowest_of_slots_ports_and_what_is_stated_counts(
    figures: dict[str, object], cycles: float
) -> None:
    record = replace(facts(), base=replace(Figures(), **figures))
    assert _cost(record, (), registry.get("SKL")).throughput == cycles


def test_what_is_not_known_is_not_shown() -> None:
    unknown = Cost((), None, (), None, 1.0, False)
    assert (unknown.short, unknown.latency_text) == ("? uops · 1.00 cycles", "")
    several = Cost((), 3, unit_uses(("01", 2), ("5", 1)), (3, 5), 2.0, True)
    assert several.short == "3 uops 2×p01 p5 · latency 3 to 5 · 2.00 cycles"
