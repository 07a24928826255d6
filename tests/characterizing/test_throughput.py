"""Throughput: which blocks are run, and what the tables predict for them."""

import pytest
from cyclelens.analyzer.characterizing.comparison import table_throughput
from cyclelens.analyzer.characterizing.instances import UNCHANGED, ZERO_IDIOM, variant
from cyclelens.analyzer.characterizing.machines import ALL_THE_SAME, RepeatedRun
from cyclelens.analyzer.characterizing.ports import table_ports
from cyclelens.analyzer.characterizing.throughput import throughput
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry

FOUR_UNITS = 4


def named(store, core, name):
    return next(f for form in store.forms() for f in store.candidates(core, form) if f.name == name)


def found(store, name, machine):
    """The throughput of a variant of ZEN4 on a machine."""
    made = variant(named(store, "ZEN4", name), Matcher("ZEN4"), store)
    assert not isinstance(made, str), made
    run = throughput(machine, made)
    assert not isinstance(run, str), run
    return run.cycles


class Waiting:
    """A machine whose four units execute all but zero idioms and moves. A block takes as long as its longest
    dependence too, unless it ends in what ``breaks``: then its rounds overlap. By the instruction named."""

    def __init__(self, mnemonic, breaks):
        self._mnemonic, self._breaks = mnemonic, breaks

    def run(self, code, start=ALL_THE_SAME):
        block = decode(code)
        own = [each for each in block if each.mnemonic == self._mnemonic]
        busy = sum(each.code != ZERO_IDIOM and each.mnemonic != "mov" for each in block) / FOUR_UNITS
        return RepeatedRun(busy if self._breaks(block) else max(busy, self._longest(own)))

    def straight(self, code):
        return "not asked"

    def _longest(self, own):
        registers = [each.operands[0].register for each in own]
        return max(registers.count(name) for name in registers)


class WaitingForFlags(Waiting):
    def _longest(self, own):
        return len(own)


def test_a_zero_idiom_ends_a_dependence_through_flags_without_a_unit(store):
    """A comparison takes one, so that no number of instances would show what the units allow."""
    machine = WaitingForFlags("sbb", lambda block: block[-1].code == ZERO_IDIOM)
    assert found(store, "SBB_19 (R64, R64)", machine) == 1 / FOUR_UNITS
    without = WaitingForFlags("sbb", lambda block: block[-1].mnemonic == "test")
    assert 1 / FOUR_UNITS < found(store, "SBB_19 (R64, R64)", without) < 0.3


def test_instances_of_few_registers_are_repeated(store):
    """Two registers are free, so that two instances would take a cycle."""

    def all_new(block):
        written = {each.operands[0].register for each in block if each.mnemonic == "and"}
        moved = [each.operands for each in block if each.mnemonic == "mov"]
        return len(written) == len(moved) and all(source.register == UNCHANGED for _, source in moved)

    assert found(store, "AND_R4 (R8l, I8)", Waiting("and", all_new)) == 1 / FOUR_UNITS


@pytest.mark.parametrize(
    ("core", "name", "expected"),
    [
        ("SKL", "NOP", 1 / 4),
        # Two share a slot.
        ("ZEN4", "NOP", 1 / 12),
        ("ZEN4", "NOP (M32)", 1 / 12),
        ("ZEN4", "ADD (M64, R64)", 1 / 2),
        ("ZEN4", "XADD_LOCK (M32, R32)", 8),
    ],
)
def test_what_the_tables_let_expect(store, core, name, expected):
    facts, model = named(store, core, name), registry.get(core)
    assert table_throughput(facts, table_ports(facts, model) or {}, model) == pytest.approx(expected)
