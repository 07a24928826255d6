"""Which uops share an issue slot, and which of those share a place in the decoders (rules G1 to G4)."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.uops.fusion import fuse, laminate
from hypothesis import given
from hypothesis import strategies as st
from testkit.blocks import block_of, template_of
from testkit.unit_sets import uops_on

LOADED_STORE = uops_on("23", "0156", "237", "4")


def test_read_modify_write_in_two_slots() -> None:
    """G1: load with compute, address with data."""
    assert fuse(LOADED_STORE, 2) == (2, 2)
    assert laminate(LOADED_STORE, (2, 2), 2) == (1, 1)


def test_read_modify_write_in_three_slots() -> None:
    """G1, G2: the load keeps its partner; address and data issue apart but are decoded as one."""
    assert fuse(LOADED_STORE, 3) == (2, 1, 1)
    assert laminate(LOADED_STORE, (2, 1, 1), 2) == (1, 2)


def test_read_modify_write_in_four_slots() -> None:
    """G1, G2: nothing shares an issue slot, and the decoders still see two pairs."""
    assert fuse(LOADED_STORE, 4) == (1, 1, 1, 1)
    assert laminate(LOADED_STORE, (1, 1, 1, 1), 2) == (2, 2)


def test_only_memory_uops_take_a_successor() -> None:
    """G1: a compute uop stands alone while slots are left; the last slot takes the rest."""
    assert fuse(uops_on("0", "1", "5"), 2) == (1, 2)
    assert fuse(uops_on("23", "1", "5"), 2) == (2, 1)
    assert fuse(uops_on("4", "1", "5"), 2) == (1, 2)


def test_no_fusion_if_the_rest_would_run_short() -> None:
    """G1: a memory uop stays alone if its successor is needed for another slot."""
    assert fuse(uops_on("23", "23", "0"), 3) == (1, 1, 1)
    assert fuse(uops_on("23", "23", "0"), 2) == (2, 1)


def test_a_fused_pair_takes_no_successor() -> None:
    """G2: only a single memory uop joins its successor; a fused pair does not grow."""
    assert laminate(uops_on("23", "0", "1", "5"), (2, 1, 1), 2) == (1, 2)


@pytest.mark.parametrize(
    ("code", "name", "fused", "laminated"),
    [
        ("4801043e", "SNB", (1, 1, 1, 1), (2, 2)),
        ("4801043e", "SKL", (2, 1, 1), (1, 2)),
        ("480106", "SNB", (2, 2), (1, 1)),
        ("480106", "SKL", (2, 2), (1, 1)),
        ("4803043e", "SNB", (1, 1), (2,)),
        ("4803043e", "SKL", (2,), (1,)),
        ("c5f458043e", "SKL", (1, 1), (2,)),
        ("4889043e", "SNB", (1, 1), (2,)),
        ("4889043e", "HSW", (2,), (1,)),
        ("50", "SKL", (2,), (1,)),
    ],
    ids=[
        "rmw-indexed-snb",
        "rmw-indexed-skl",
        "rmw-snb",
        "rmw-skl",
        "load-indexed-snb",
        "load-indexed-skl",
        "three-operands-indexed-skl",
        "store-indexed-snb",
        "store-indexed-hsw",
        "push-skl",
    ],
)
def test_real_instructions(code: str, name: str, fused: tuple[int, ...], laminated: tuple[int, ...]) -> None:
    """G3: fewer slots than uops is micro-fusion, fewer IDQ uops than slots is unlamination."""
    template = template_of(code, name)
    assert (template.fused_uops, template.idq_uops) == (fused, laminated)


@pytest.mark.parametrize("name", ["ADL", "SPR", "GNR", "ARL", "LNL"])
def test_stores_that_commit_together_are_fused_uops_of_their_own(name: str) -> None:
    """ENTER has four stores. A fused uop with more than a cycle's two never retired (Z5)."""
    template = template_of("c8000000", name)
    assert sum(template.fused_uops) == len(template.uops)
    last = template.uops[-template.fused_uops[-1] :]
    assert [uop.kind for uop in last].count(UopKind.STORE_DATA) == 1
    assert simulate(block_of("c8000000", name, loop=False), registry.get(name)).cycles_per_iteration > 8


def test_microcode_part() -> None:
    """G4: as many IDQ uops as are decoded come first, the others are microcode's."""
    template = template_of("fc", "SKL")
    assert (template.mite_uops, template.ms_uops) == (1, 3)
    assert len(template.idq_uops) == 3, "an instruction with fewer slots has a shorter microcode part"


@given(
    st.lists(st.sampled_from(["23", "237", "7", "4", "0156", ""]), min_size=1, max_size=12),
    st.integers(1, 12),
    st.integers(1, 12),
)
def test_every_uop_is_in_exactly_one_group(ports: list[str], slots: int, delivered: int) -> None:
    """G1, G2: groups are never empty, keep the order, lose nothing, and have the stated numbers."""
    chosen = uops_on(*ports)
    slots = min(slots, len(chosen))
    fused = fuse(chosen, slots)
    laminated = laminate(chosen, fused, delivered)
    assert (len(fused), sum(fused)) == (slots, len(chosen))
    assert (len(laminated), sum(laminated)) == (min(delivered, slots), slots)
    assert min(fused) > 0
    assert min(laminated) > 0
