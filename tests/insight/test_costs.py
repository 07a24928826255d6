"""The costs of single instructions."""

import pytest
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.insight.costs import costs
from cyclelens.analyzer.microarchitectures import registry


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
