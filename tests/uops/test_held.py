"""What AMD's slow instructions occupy, and the slots of dispatch that microcode loses, at each limit of M21
and M39."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import Trait
from cyclelens.analyzer.uops import held
from cyclelens.analyzer.uops.macro_units import Draft

UNITS = registry.get("ZEN3").units
ALUS, SHIFTERS = UNITS.of(0b1111), UNITS.of(0b0110)
PIPES, ADDERS = UNITS.of(0b1111 << 8), UNITS.of(0b0110 << 8)


def subject(measured: float | None, **fields: Any) -> Any:
    """An instruction of six per cycle with this throughput."""
    rules = SimpleNamespace(
        microcode_keeps_dispatch=True,
        loads_per_cycle=3,
        vector_loads_per_cycle=2,
        stores_committed_per_cycle=1,
    )
    figures = SimpleNamespace(throughput=measured, divider_cycles=fields.pop("divider_cycles", None))
    values: dict[str, Any] = {
        "rules": rules,
        "prepared": SimpleNamespace(
            figures=figures, register_outputs=fields.pop("register_outputs", ("RAX",))
        ),
        "issue_width": 6,
        "branch": False,
        "memory": (),
        "reads": (),
        "writes": (),
        "vector": False,
        "alus": ALUS,
        "units": UNITS,
        "only": lambda units: UNITS.of(units.mask & -units.mask),
    }
    return SimpleNamespace(**(values | fields))


@pytest.mark.parametrize(
    ("measured", "macro_ops", "fields", "lost"),
    [
        (4.0, 3, {}, 16),  # six slots for three of the cycles, and one, without its own
        (4.0, 10, {}, 9),
        (1.0, 3, {}, 0),
        (1.5, 3, {}, 1),
        (1.9, 2, {}, 0),  # no microcode
        (2.0, 1, {}, 6),  # as slow as microcode
        (1.99, 1, {}, 0),
        (2.0, 1, {"memory": (0,)}, 0),
        (2.0, 3, {"memory": (0,)}, 4),
        (10.0, 3, {}, 52),  # longer ones wait for something else
        (10.1, 3, {}, 0),
        (4.0, 3, {"reads": (0,), "writes": (0,)}, 0),  # memory that it changes
        (4.0, 3, {"reads": (0,), "writes": (1,)}, 16),
        (4.0, 3, {"branch": True}, 0),
        (4.0, 3, {"divider_cycles": 4}, 0),
        (None, 3, {}, 0),
    ],
)
def test_slots_that_microcode_keeps_empty(
    measured: float | None, macro_ops: int, fields: dict[str, Any], lost: int
) -> None:
    made = subject(measured, **fields)
    assert held.lost_slots(made, macro_ops) == lost
    made.rules.microcode_keeps_dispatch = False
    assert held.lost_slots(made, macro_ops) == 0


def computing(units: Any, kind: UopKind = UopKind.COMPUTE, busy: float = 0) -> Draft:
    return Draft(kind, units, busy=busy)


@pytest.mark.parametrize(
    ("measured", "fields", "uops", "busy"),
    [
        (4.0, {}, [computing(SHIFTERS)], [4.0]),
        (0.9, {}, [computing(SHIFTERS)], [0]),  # less than a cycle
        (None, {}, [computing(SHIFTERS)], [0]),
        # One unit is kept for what others leave of the time.
        (4.0, {}, [computing(SHIFTERS), computing(ALUS)], [4.0, 0]),
        (4.0, {}, [computing(UNITS.of(0b10)), computing(UNITS.of(0b10))], [3.0, 0]),
        (4.0, {}, [computing(UNITS.of(0b10)), computing(UNITS.of(0b10), busy=2)], [2.0, 2]),
        # Two thirds of loads, slots and stores explain it to five percent.
        (1.05, {"reads": (0, 1, 2)}, [computing(ALUS)], [0]),
        (1.06, {"reads": (0, 1, 2)}, [computing(ALUS)], [1.06]),
        (2.1, {"writes": (0, 1)}, [computing(ALUS)], [0]),
        (2.2, {"writes": (0, 1)}, [computing(ALUS)], [2.2]),
        (1.05, {"vector": True, "reads": (0, 1)}, [computing(ADDERS)], [0]),
        (1.06, {"vector": True, "reads": (0, 1)}, [computing(ADDERS)], [1.06]),
        # The pipes of vectors before the ALUs, whatever has fewer choices.
        (4.0, {"vector": True}, [computing(ALUS), computing(ADDERS), computing(PIPES)], [0, 4.0, 0]),
        # A store alone: the unit of its data.
        (3.0, {"vector": True}, [computing(ADDERS, UopKind.STORE_DATA)], [3.0]),
        (3.0, {}, [computing(ALUS, UopKind.STORE_DATA)], [0]),
    ],
)
def test_what_a_slow_instruction_keeps(
    measured: float | None, fields: dict[str, Any], uops: list[Draft], busy: list[float]
) -> None:
    made = [Draft(each.kind, each.units, busy=each.busy) for each in uops]
    held.hold(subject(measured, **fields), made, 1)
    assert [each.busy for each in made] == busy
    assert not any(each.traits for each in made)


def test_others_avoid_the_unit_that_is_kept_if_they_have_a_choice() -> None:
    made = [computing(SHIFTERS), computing(ALUS), computing(UNITS.of(0b10))]
    held.hold(subject(4.0), made, 1)
    assert [each.units.mask for each in made] == [0b0100, 0b1101, 0b10]
    assert [each.busy for each in made] == [0, 0, 4.0]


@pytest.mark.parametrize(("macro_ops", "blocks"), [(2, False), (3, True)])
def test_microcode_keeps_other_microcode_waiting_and_no_unit(macro_ops: int, blocks: bool) -> None:
    made = [computing(SHIFTERS), computing(ALUS)]
    held.hold(subject(4.0), made, macro_ops)
    assert made[0].traits == (Trait.ALONE if blocks else Trait.NONE)
    assert made[0].busy == 4.0
    assert made[0].units.mask.bit_count() == (2 if blocks else 1)


def test_what_is_alone_or_divides_is_explained() -> None:
    for trait in (Trait.ALONE, Trait.DIVIDES):
        made = [Draft(UopKind.COMPUTE, SHIFTERS, traits=trait)]
        held.hold(subject(9.0), made, 1)
        assert made[0].busy == 0


@pytest.mark.parametrize(("measured", "busy"), [(1.05, 0), (2.1, 0), (2.11, 2.11)])
def test_a_load_of_512_bits_takes_two_slots(measured: float, busy: float) -> None:
    for wide in (Trait.WIDE, Trait.NONE):
        made = [Draft(UopKind.COMPUTE, ADDERS, traits=wide)]
        held.hold(subject(measured, vector=True, reads=(0, 1)), made, 1)
        assert made[0].busy == (busy if wide else measured if measured > 1.06 else 0)


@pytest.mark.parametrize(("outputs", "busy"), [(("RAX",), [2.0, 0, 0]), ((), [0, 0, 2.0])])
def test_without_a_result_the_last_uop_on_the_unit_takes_the_time(
    outputs: tuple[str, ...], busy: list[float]
) -> None:
    """Behind an earlier one, microcode that only stores would keep the retire queue full."""
    made = [Draft(UopKind.COMPUTE, UNITS.of(1 << 8)) for _ in range(2)]
    made.append(Draft(UopKind.STORE_DATA, UNITS.of(1 << 8)))
    held.hold(subject(4.0, vector=True, writes=(0,), register_outputs=outputs), made, 3)
    assert [uop.busy for uop in made] == busy
