"""Pairs that decode as one (rules A1, A2) and jumps that the JCC erratum keeps out of the DSB (J1, J2)."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.uops.fusion import fuse_branch
from testkit.blocks import block_of, templates_of
from testkit.unit_sets import texts, unit_uses

DEC, JNZ = "49ffcf", "75f5"


def padding(count: int) -> str:
    return "90" * count


def test_pair() -> None:
    """A1, A2: DEC and JNZ become one uop on the branch's port; the branch has none of its own."""
    dec, jnz = templates_of(DEC + JNZ, "SKL")
    assert (dec.fused_with_next, jnz.fused_with_previous) == (True, True)
    assert [uop.units.text for uop in dec.uops] == ["6"]
    assert (jnz.uops, jnz.fused_uops, jnz.idq_uops) == ((), (), ())


def test_the_pair_depends_on_its_first_half_alone() -> None:
    """A2: the pair has the inputs and outputs of its first instruction."""
    alone = templates_of(DEC, "SKL")[0]
    paired = templates_of(DEC + JNZ, "SKL")[0]
    assert paired.uops[0].inputs == alone.uops[0].inputs
    assert paired.uops[0].outputs == alone.uops[0].outputs
    assert (paired.retire_slots, paired.mite_uops) == (alone.retire_slots, alone.mite_uops)


@pytest.mark.parametrize(
    ("first", "second", "fuses"),
    [
        ("4839d8", "74f0", True),
        ("4839d8", "72f0", True),
        ("4839d8", "78f0", False),
        ("4885c0", "78f0", True),
        ("48ffcf", "72f0", False),
        ("48ffcf", "7cf0", True),
        ("4889d8", "74f0", False),
        ("4839d8", "0f84f0ffffff", True),
        ("48833e01", "74f0", False),
        ("48393e", "74f0", True),
        ("483b3e", "74f0", True),
        ("48013e", "74f0", False),
        ("4839d8", "ebf0", False),
    ],
    ids=[
        "cmp-jz",
        "cmp-jb",
        "cmp-js",
        "test-js",
        "dec-jb",
        "dec-jl",
        "mov-jz",
        "cmp-jz-near",
        "cmp-memory-immediate",
        "cmp-memory-register",
        "cmp-register-memory",
        "add-to-memory",
        "cmp-jmp",
    ],
)
def test_which_pairs_fuse(first: str, second: str, fuses: bool) -> None:
    """A1: TEST fuses with any condition, CMP without sign and parity and overflow, DEC also without carry."""
    one, other = templates_of(first + second, "SKL")
    assert one.fused_with_next is fuses
    assert other.fused_with_previous is fuses


@pytest.mark.parametrize(("name", "fuses"), [("SKL", True), ("ICL", False)])
def test_high_byte_results_on_ice_lake(name: str, fuses: bool) -> None:
    """A1: since Ice Lake an ADD to AH no longer fuses."""
    assert templates_of("80c401" + "74f0", name)[0].fused_with_next is fuses


@pytest.mark.parametrize(
    ("alignment", "fuses"), [(60, True), (61, False), (62, True), (29, True)], ids=lambda each: str(each)
)
def test_no_pair_across_a_line_start(alignment: int, fuses: bool) -> None:
    """A1: a branch that begins a 64-byte line stays apart; inside a line or across its end it fuses."""
    assert templates_of(DEC + JNZ, "SKL", alignment=alignment)[0].fused_with_next is fuses


def test_line_start_counts_the_code_before() -> None:
    """A1: what matters is the branch's address, not the block's."""
    assert not templates_of(padding(61) + DEC + JNZ, "HSW")[61].fused_with_next
    assert templates_of(padding(60) + DEC + JNZ, "HSW")[60].fused_with_next


def test_only_the_neighbour_fuses() -> None:
    """A1: an instruction in between keeps the pair apart."""
    assert not any(each.fused_with_next for each in templates_of(DEC + "90" + JNZ, "SKL"))


def fused(ports: list[tuple[str, int]], uops: int) -> tuple[tuple[tuple[str, int], ...], int]:
    """Port sets and uops of an instruction that has absorbed a branch on port 6."""
    uses, count = fuse_branch(unit_uses(*ports), uops, unit_uses(("6", 1)), 1)
    return texts(uses), count


def test_branch_port_replaces_a_wider_set() -> None:
    """A2: the first port set that contains the branch's ports becomes the branch's."""
    assert fused([("0156", 1)], 1) == ((("6", 1),), 1)
    assert fused([("0156", 1), ("23", 1)], 2) == ((("23", 1), ("6", 1)), 2)


def test_branch_port_without_a_wider_set() -> None:
    """A2: if no port set contains the branch's, nothing changes."""
    assert fused([("01", 1)], 1) == ((("01", 1),), 1)


def test_branch_port_that_is_there_already() -> None:
    """A2: a set that is already there keeps its place, and takes the count of the one that was removed."""
    assert fused([("0156", 1), ("6", 3), ("5", 1)], 5) == ((("6", 1), ("5", 1)), 5)


def test_first_half_without_uops() -> None:
    """A2: an idiom in front of the branch takes over the branch's uops."""
    assert fused([], 0) == ((("6", 1),), 1)
    sub, jz = templates_of("4829c0" + "74f0", "SKL")
    assert (sub.fused_with_next, sub.uop_count, jz.uops) == (True, 1, ())
    assert [uop.units.text for uop in sub.uops] == ["6"]


def test_load_and_branch() -> None:
    """A2: a compare with memory keeps its load."""
    compare, _ = templates_of("483b3e" + "74f0", "HSW")
    assert [uop.units.text for uop in compare.uops] == ["23", "6"]


@pytest.mark.parametrize(("name", "port"), [("SNB", "5"), ("HSW", "6"), ("SKL", "6"), ("ICL", "06")])
def test_branch_ports(name: str, port: str) -> None:
    """D6, A2: before Ice Lake a taken conditional branch has one port."""
    assert [uop.units.text for uop in templates_of(DEC + JNZ, name)[0].uops] == [port]


def test_jump_layouts() -> None:
    """J1: a jump is marked if it crosses a 32-byte boundary or ends exactly at one."""
    marked = {
        start for start in range(64) if block_of("ebfe", "SKL", alignment=start).instructions[0].jcc_erratum
    }
    assert marked == {30, 31, 62, 63}


def test_pair_layouts() -> None:
    """J2: for a fused pair everything from the first byte of its first half counts."""
    marked = {
        start
        for start in range(64)
        if block_of(DEC + JNZ, "SKL", alignment=start).instructions[0].jcc_erratum
    }
    # At 61 the branch begins a line, hence does not fuse.
    assert marked == {27, 28, 29, 30, 31, 59, 60, 62, 63}
    unfused = block_of(DEC + JNZ, "SKL", alignment=61).instructions
    assert not any(each.jcc_erratum for each in unfused)


def test_ordinary_instructions_are_never_marked() -> None:
    """J1: only jumps are affected."""
    assert not any(each.jcc_erratum for each in templates_of("4801d8" * 20, "SKL"))


@pytest.mark.parametrize("name", ["SNB", "HSW", "ICL", "RKL"])
def test_chips_without_the_mitigation(name: str) -> None:
    """J1: other chips have no such rule."""
    assert not any(each.jcc_erratum for each in templates_of(DEC + JNZ, name, alignment=28))


@pytest.mark.parametrize(
    ("code", "lcp"),
    [("66053412", True), ("6683c012", False), ("0534120000", False), ("66b83412", True), ("6601d8", False)],
    ids=["add-imm16", "add-imm8", "add-imm32", "mov-imm16", "add-register"],
)
def test_length_changing_prefix(code: str, lcp: bool) -> None:
    """Section 2.2: prefix 66 changes the length only where there is a 16-bit immediate."""
    assert templates_of(code, "SKL")[0].length_changing_prefix is lcp


@pytest.mark.parametrize(
    ("first", "fuses"),
    [
        ("833e05", True),
        ("833d0000000005", False),
        ("391d00000000", True),
        ("f7d8", False),
    ],
)
def test_what_fuses_with_a_branch_on_zen_5(first: str, fuses: bool) -> None:
    """M5: not NEG, and not a comparison with an immediate at an address relative to the instruction."""
    assert templates_of(first + "75f0", "ZEN5")[0].fused_with_next is fuses
