"""Which published throughputs the tables keep for reports (D11)."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.facts.published import attribute, beyond_units
from cyclelens.analyzer.facts.zen import VariantDescription
from cyclelens.analyzer.model.facts import Figures, Latency, OperandFacts

ONE_UOP = Figures(uops=1, retire_slots=1, ports=(("0156", 1),))
FLAGS = OperandFacts(
    1, "FLAGS", "flags", read=True, written=True, flags_read=frozenset("C"), flags_written=frozenset("C")
)
REGISTER = OperandFacts(1, "REG0", "reg", read=True, written=True, registers=("RAX", "RCX"))
ACCUMULATOR = OperandFacts(1, "REG0", "reg", read=True, written=True, registers=("EAX",))
PART, WHOLE = (
    OperandFacts(1, "REG0", "reg", written=True, registers=("RAX",)),
    OperandFacts(2, "REG1", "reg", read=True, registers=("AL",)),
)
LOADED = OperandFacts(1, "MEM0", "mem", read=True)


def kept(
    cycles: float,
    *operands: OperandFacts,
    base: Figures = ONE_UOP,
    core: str = "SKL",
    category: str = "BINARY",
    chain: int | None = None,
    pair: tuple[int, int] = (1, 1),
    name: str = "ADD (R64, R64)",
) -> float | None:
    return beyond_units(
        {"published": f"{cycles:.2f}"},
        base,
        VariantDescription(name, category, operands, ""),
        {} if chain is None else {pair: Latency(cycles=chain)},
        core,
    )


def test_the_fewest_stated_cycles_count() -> None:
    assert attribute({"TP_loop": "1.50", "TP_unrolled": "1.25"}) == {"published": "1.25"}
    assert attribute({"TP_loop": "1.50"}) == {"published": "1.50"}
    assert attribute({"TP_ports": "1.00"}) == {}


@pytest.mark.parametrize(
    ("cycles", "base", "expected"),
    [
        (0.25, ONE_UOP, None),
        (0.30, ONE_UOP, None),
        (0.32, ONE_UOP, 0.32),
        (1.09, Figures(uops=1, retire_slots=1, ports=(("0", 1),)), None),
        (1.12, Figures(uops=1, retire_slots=1, ports=(("0", 1),)), 1.12),
        (1.16, Figures(uops=2, retire_slots=2, ports=(("ALU012", 1), ("ALU0", 1))), 1.16),
        (2.16, Figures(uops=12, retire_slots=12), None),
        (2.16, Figures(uops=12, retire_slots=6), None),
        (1.0, Figures(uops=4, retire_slots=4, ports=(("LD", 4),)), None),
        (399.0, ONE_UOP, 399.0),
        (400.0, ONE_UOP, None),
    ],
)
def test_units_and_issue_explain(cycles: float, base: Figures, expected: float | None) -> None:
    assert kept(cycles, base=base) == expected


@pytest.mark.parametrize("operands", [(FLAGS,), (ACCUMULATOR,)])
def test_a_chain_that_every_instance_has_explains(operands: tuple[OperandFacts, ...]) -> None:
    assert kept(1.0, *operands, chain=1) is None
    assert kept(1.2, *operands, chain=1) == 1.2
    # Instructions that break a chain take slots of their own.
    assert kept(0.5, *operands, chain=1) is None
    assert kept(1.5, *operands, chain=4) == 1.5
    # Slow instructions are named whatever their chain.
    assert kept(4.0, *operands, chain=4) == 4.0


def test_a_chain_through_any_register_does_not() -> None:
    assert kept(1.0, REGISTER, chain=1) == 1.0


def test_a_register_and_a_part_of_it_are_one_chain() -> None:
    assert kept(1.0, PART, WHOLE, chain=1, pair=(2, 1)) is None


def test_stores_decide_on_zen() -> None:
    stored = OperandFacts(1, "MEM0", "mem", written=True)
    assert kept(3.0, stored, core="ZEN3") is None
    assert kept(3.0, LOADED, stored, core="ZEN3") is None
    assert kept(3.0, core="ZEN3") == 3.0
    assert kept(3.0, stored, core="ZEN5") == 3.0


def test_a_load_has_its_time_on_zen() -> None:
    """Two loads begin per cycle at least, one of 512 bits. Zen 2 takes a cycle for RCPPS, from memory too."""
    assert kept(1.0, LOADED, core="ZEN2") == 1.0
    assert kept(0.55, LOADED, core="ZEN2") is None
    wide = OperandFacts(1, "MEM0", "mem", read=True, width=512)
    assert kept(1.05, wide, core="ZEN4") is None
    assert kept(2.0, wide, core="ZEN4") == 2.0


def test_zen_5_has_four_units_for_loads_of_integers() -> None:
    vector = OperandFacts(2, "REG1", "reg", written=True, registers=("XMM0",))
    loads = Figures(uops=1, retire_slots=1, ports=(("LD", 1),))
    assert kept(0.5, LOADED, base=loads, core="ZEN5") == 0.5
    assert kept(0.5, LOADED, vector, base=loads, core="ZEN5") is None


@pytest.mark.parametrize("category", ["COND_BR", "RET", "SYSTEM", "IOSTRINGOP", "NOP", "WIDENOP"])
def test_categories_without_a_throughput_of_their_own(category: str) -> None:
    assert kept(3.0, category=category) is None


@pytest.mark.parametrize("name", ["JMP (Rel8)", "JMP (Rel32)", "MOVSB_REPE", "SCASQ_REPNE"])
def test_branches_in_place_and_repetitions(name: str) -> None:
    assert kept(3.0, name=name) is None
    assert kept(3.0, name="JMP (R64)") == 3.0


@pytest.mark.parametrize(
    "name", ["ADD (R16, I16)", "CMP (AX, I16)", "TEST (M16, I16)", "IMUL (R16, R16, I16)"]
)
def test_a_length_changing_prefix_costs_what_its_decoding_costs(name: str) -> None:
    """2.42 cycles were published of cmp ax, 1000 on Alder Lake; from the op cache it has no such cost."""
    assert kept(2.5, name=name) is None
    assert kept(2.5, name=name.replace("I16)", "I8)")) == 2.5
    assert kept(2.5, name="ENTER (I16, I8)") == 2.5
