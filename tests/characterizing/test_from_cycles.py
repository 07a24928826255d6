"""Slots and units from cycles alone: the rules that say when a figure is certain."""

from itertools import pairwise

import pytest
from cyclelens.analyzer.characterizing.front_end import FrontEnds
from cyclelens.analyzer.characterizing.instances import variant
from cyclelens.analyzer.characterizing.machines import ALL_THE_SAME, RepeatedRun, SimulatedMachine
from cyclelens.analyzer.characterizing.ports import Blockers
from cyclelens.analyzer.characterizing.throughput import spread
from cyclelens.analyzer.characterizing.unit_times import KnownUops, sums
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry

WIDTH = 4


def made(store, name):
    facts = next(f for form in store.forms() for f in store.candidates("SKL", form) if f.name == name)
    found = variant(facts, Matcher("SKL"), store)
    assert not isinstance(found, str), found
    return found


class Renamer:
    """A machine of four slots a cycle on which ``add`` has as many as stated; by the number of them in a
    block, a number of cycles is added, and for each that stands behind another one another number."""

    def __init__(self, slots, delays=None, in_a_row=0.0):
        self._slots, self._delays, self._in_a_row = slots, delays or {}, in_a_row

    def run(self, code, start=ALL_THE_SAME):
        names = [each.mnemonic for each in decode(code)]
        adds = [number for number, name in enumerate(names) if name == "add"]
        pairs = sum(later - earlier == 1 for earlier, later in pairwise(adds))
        slots = len(names) + (self._slots - 1) * len(adds)
        return RepeatedRun(slots / WIDTH + self._delays.get(len(adds), 0.0) + self._in_a_row * pairs)

    def straight(self, code):
        return "not asked"


@pytest.mark.parametrize(
    ("slots", "delays", "found"),
    [
        (1, {}, 1),
        (3, {}, 3),
        # One slot cannot be too many, so that no other number is asked.
        (1, {2: 9.0, 1: 9.0}, 1),
        # Four in a block wait for something else; two and one show the same.
        (3, {4: 5.0}, 3),
        # One shows it, among two numbers of zero idioms.
        (3, {4: 5.0, 2: 5.0}, 3),
        # Only four show it.
        (3, {2: 5.0, 1: 5.0}, None),
        # No whole number, however many there are.
        (2.5, {}, None),
        # Four slots are the most that come out of decoders; microcode comes in its own time.
        (4, {}, 4),
        (5, {}, None),
        # Within 0.3 slots of a whole number, and beyond.
        (2.25, {}, 2),
        (2.35, {}, None),
    ],
)
def test_slots_are_what_two_numbers_of_instances_show(store, slots, delays, found):
    front_ends = FrontEnds(Renamer(slots, delays))
    assert front_ends.of(made(store, "ADD_01 (R64, R64)")).slots == found


def test_jumps_that_fuse_are_found_where_some_are_slow(store):
    """Skylake's uop cache holds no jump that meets the end of 32 bytes."""
    model = registry.get("SKL")
    front_ends = FrontEnds(SimulatedMachine(model, store, counted=False))
    found = front_ends.of(made(store, "ADD (R64, I8)")).fuses_with
    assert found == frozenset(
        f"J{name}" for name in ("B", "NB", "Z", "NZ", "BE", "NBE", "L", "NL", "LE", "NLE")
    )


def test_instances_stand_apart_where_slots_are_found(store):
    """What waits for the one before it, as microcode in a row may, does not make slots more."""
    assert FrontEnds(Renamer(3, in_a_row=2.0)).of(made(store, "ADD_01 (R64, R64)")).slots == 3


@pytest.mark.parametrize(
    ("instances", "others", "text"),
    [("ab", 8, "...a....b."), ("a", 3, "..a."), ("abcd", 12, "..a...b...c...d."), ("abc", 9, "..a...b...c.")],
)
def test_instances_are_spread_evenly(instances, others, text):
    made = spread([each.encode() for each in instances], [b"."] * others)
    assert made.decode() == text


A, B, AB, ABC = (frozenset(name) for name in ("A", "B", "AB", "ABC"))


@pytest.mark.parametrize(
    ("adds", "blurred"),
    [
        ({AB: 1.0, A: 0.15, B: 0.0}, False),  # by chance
        ({AB: 1.0, A: 0.16, B: 0.0}, True),
        ({AB: 1.0, ABC: 1.0}, False),  # it cannot avoid a set with its own in it
    ],
)
def test_what_adds_to_a_block_that_it_could_avoid_is_blurred(adds, blurred):
    assert KnownUops((AB,), adds).blurred is blurred


def test_a_store_adds_to_the_blocks_of_both_its_uops():
    assert not KnownUops((A, B), {A: 1.0, B: 1.0, ABC: 1.0}).blurred


def test_a_sum_may_be_off_by_a_third_of_a_uop():
    known = [KnownUops((A,), {A: 1.0})]
    assert list(sums({A: 2.34}, known, 4)) == [{A: 2}]
    assert list(sums({A: 2.5}, known, 4)) == []
    assert list(sums({A: 3.0}, known, 2)) == []  # more than there is room for


def test_a_blocking_instruction_has_registers_to_choose_from(store):
    """``cmp al, 0`` reads RAX, whichever register an instance among such instructions writes."""
    units = frozenset("0156")
    blockers = Blockers()
    for name in ("CMP (AL, 0)", "TEST (R64, R64)"):
        blockers.offer(made(store, name), RepeatedRun(0.25, 1.0), units)
    ((_, blocker),) = blockers.ascending(sse=False)
    assert blocker.variant.facts.name == "TEST (R64, R64)"
