"""How long a gather waits for its mask, its index and the old value of its target (M27)."""

from __future__ import annotations

import pytest
from testkit.blocks import in_a_loop
from testkit.simulated import cycles

ONES = "c4410576ff"  # vpcmpeqd ymm15, ymm15, ymm15
CLEARED = "c5f9efc0"  # vpxor xmm0, xmm0, xmm0
ALL = "c5f576c9"  # vpcmpeqd ymm1, ymm1, ymm1
ALL_K = "c5f446c9"  # kxnorw k1, k1, k1
MASK = "c4c17debcf"  # vpor ymm1, ymm0, ymm15
INDEX = "c4c17ddbd6"  # vpand ymm2, ymm0, ymm14
COMPARED = "62f37d281fc800"  # vpcmpd k1, ymm0, ymm0, 0
DD, QQ, DQ = "c4e275900496", "c4e2f5910496", "c4e2f1900496"
"""vpgatherdd of eight words, vpgatherqq of four, and vpgatherdq of two."""

CHAINS = {
    "a mask in a vector: vpgatherdd ymm": (ONES + MASK + CLEARED + DD, 20.0),
    "vpgatherqq ymm": (ONES + MASK + CLEARED + QQ, 16.0),
    "a mask register: vpgatherdd ymm": (COMPARED + CLEARED + "62f27d29900496", 21.15),
    "vpgatherdd zmm": ("62f37d481fc800" + CLEARED + "62f27d49900496", 30.5),
    "vpgatherqq zmm": ("62f37d481fc800" + CLEARED + "62f2fd49910496", 25.0),
    "the index: vpgatherdd ymm": (ALL + INDEX + CLEARED + DD, 21.5),
    "vpgatherqq ymm, index": (ALL + INDEX + CLEARED + QQ, 17.5),
    "vpgatherdq xmm, index": ("c5f176c9c4c179dbd6" + CLEARED + DQ, 13.0),
    "vpgatherqq zmm, index": (ALL_K + "62d17d48dbd6" + CLEARED + "62f2fd49910496", 24.5),
    "the old target: vpgatherdd ymm": (ALL + DD, 8.0),
    "vpgatherdd zmm, target": (ALL_K + "62f27d49900496", 17.1),
}


@pytest.mark.parametrize("case", CHAINS)
def test_chains_of_gathers_on_zen_4(case: str) -> None:
    """Time stamps of an EPYC 9004. The chains through a mask took 13, 17, 9, 17 and 11 cycles here."""
    code, measured = CHAINS[case]
    assert cycles(in_a_loop(code), "ZEN4") == pytest.approx(measured, rel=0.035)


TARGETS = {
    "vpgatherdd ymm": (ALL + DD, 12.02),
    "vpgatherdd xmm": ("c5f176c9c4e271900496", 6.34),
    "vpgatherdd zmm": (ALL_K + "62f27d49900496", 19.92),
    "vgatherqpd ymm": (ALL + "c4e2f59304d6", 6.33),
}


@pytest.mark.parametrize("case", TARGETS)
def test_chains_through_the_target_on_zen_5(case: str) -> None:
    """Counters of an EPYC 9005; 15, 7, 27 and 7 were simulated."""
    code, measured = TARGETS[case]
    assert cycles(in_a_loop(code), "ZEN5") == pytest.approx(measured, rel=0.06)


def test_a_mask_is_waited_for_on_zen_5() -> None:
    """As on Zen 4, a cycle less than for the index (20 measured), and the operation that makes the mask."""
    assert cycles(in_a_loop(ONES + MASK + CLEARED + DD), "ZEN5") == pytest.approx(21.0, abs=1.0)
