"""Sets of a core's units: their names, notation and differences."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.units import MOST_UNITS, Role, Units, UnitUse, UopKind, unit

PORTS = Units([unit(name, "ALU") for name in "0156AB"], prefix="p")
NAMED = Units(
    [
        *(unit(f"ALU{number}", "ALU") for number in range(3)),
        *(unit(f"AGU{number}", "load, store address") for number in range(2)),
        unit("ST", "store data"),
    ],
    letters={"0": "ALU0", "1": "ALU1"},
    sets={"LD": (UopKind.LOAD, "AGU0 AGU1"), "STD": (UopKind.STORE_DATA, "ALU0 ALU1 ALU2")},
)


@pytest.mark.parametrize(
    ("units", "mask", "text", "label"),
    [
        (PORTS, 0b1111, "0156", "p0156"),
        (PORTS, 0b110000, "AB", "pAB"),
        (NAMED, 0b111, "ALU012", "ALU012"),
        (NAMED, 0b1101, "ALU02+AGU0", "ALU02+AGU0"),
        (NAMED, 0b100000, "ST", "ST"),
        (Units([unit("9", "ALU"), unit("10", "ALU")], prefix="p"), 0b11, "9,10", "p9,10"),
        (PORTS, 0, "", ""),
    ],
)
def test_a_set_is_written_short(units: Units, mask: int, text: str, label: str) -> None:
    assert (units.of(mask).text, units.of(mask).label) == (text, label)
    assert units.of(mask) is units.of(mask)


@pytest.mark.parametrize("text", ["0156", "p0156", "0 1 5 6", "p0,p156"])
def test_what_a_user_writes_for_ports(text: str) -> None:
    assert PORTS.parse(text).names == ("0", "1", "5", "6")


@pytest.mark.parametrize("text", ["ALU01", "ALU0 ALU1", "ALU0,ALU1", "ALU0+ALU1"])
def test_what_a_user_writes_for_named_units(text: str) -> None:
    assert NAMED.parse(text).names == ("ALU0", "ALU1")


@pytest.mark.parametrize("text", ["", "9", "p", "ALU9", "FP0"])
def test_other_texts_are_named_in_the_message(text: str) -> None:
    with pytest.raises(ValueError, match=f"'{text}'"):
        PORTS.parse(text)


def test_tables_name_sets_by_letters_or_as_a_whole() -> None:
    """What the uops of a set do comes from the name of the set, or else from what its units can do."""
    assert NAMED.use("01", 2) == UnitUse(UopKind.COMPUTE, NAMED.named(["ALU0", "ALU1"]), 2)
    assert NAMED.use("LD", 1).kind is UopKind.LOAD
    assert NAMED.use("STD", 1) == UnitUse(UopKind.STORE_DATA, NAMED.having(Role.ALU), 1)
    with pytest.raises(ValueError, match="'23' is not a set of the units"):
        NAMED.use("23", 1)


def test_no_core_has_more_units_than_a_mask_has_bits() -> None:
    with pytest.raises(ValueError, match=str(MOST_UNITS)):
        Units([unit(f"U{number}", "ALU") for number in range(MOST_UNITS + 1)])


@pytest.mark.parametrize("name", registry.names())
def test_every_core_knows_all_units_that_its_records_name(name: str) -> None:
    model = registry.get(name)
    store = open_store()
    texts = {
        text
        for form in store.forms()
        for facts in store.candidates(model.facts_name, form)
        for figures in (facts.base, facts.same_register, facts.indexed)
        for text, _ in figures.ports or ()
    }
    store.close()
    assert texts
    for text in texts:
        assert model.units.use(text, 1).units.mask
