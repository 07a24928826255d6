"""Where instructions without a record leave a lower bound, and where they leave no figure."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.uops.block import build_block
from cyclelens.analyzer.uops.left_out import LeftOut, listed, what_counts
from cyclelens.analyzer.uops.x87_stack import MOVES, OVERFLOWS

IMUL = "480fafc0"
CLAC, STAC, FLD1, TILEZERO = "0f01ca", "0f01cb", "d9e8", "c4e27b49c0"
FSTP, FCHS, FSIN = "ddd8", "d9e0", "d9fe"
SYSCALL, FXRSTOR, CPUID = "0f05", "0fae0f", "0fa2"
DEC_JNZ = "48ffc975f8"
FIGURES = {
    "every instruction has a record": ("SKL", IMUL),
    "one of nine": ("SKL", 8 * IMUL + CLAC),
    "half of the code": ("SKL", IMUL + CLAC),
    "half of a loop": ("SKL", IMUL + CLAC + DEC_JNZ),
}
NONE = {
    "a loop of nothing else": ("SKL", CLAC + DEC_JNZ, "most of the code"),
    "more than half": ("SKL", CLAC + STAC + IMUL + DEC_JNZ, "most of the code"),
    "one x87 instruction among many": ("ZEN5", 8 * IMUL + FLD1, "x87 is not modelled"),
    "x87 that was not measured": ("ZEN3", FCHS + FSIN, "x87 is modelled in part"),
    "a push that nothing pops": ("ZEN3", 8 * IMUL + FLD1, MOVES),
    "sums that change places": ("ZEN3", "d8c2d9c9", MOVES),
    "nine pushes": ("ZEN3", 9 * FLD1 + 9 * FSTP, OVERFLOWS),
    "a tile": ("SPR", 8 * IMUL + TILEZERO, "AMX is not modelled"),
    "a system call": ("SKL", 8 * IMUL + SYSCALL, "microcode may take longer than everything else"),
    "a state that is restored": (
        "ZEN4",
        8 * IMUL + FXRSTOR,
        "microcode may take longer than everything else",
    ),
    "microcode on other cores": ("ZEN5", 8 * IMUL + CPUID, "microcode may take longer than everything else"),
}


def found(core: str, code: str) -> LeftOut | None:
    store = open_store()
    block = build_block(decode(bytes.fromhex(code)), registry.get(core), store, loop=False)
    return what_counts(block.instructions, store)


@pytest.mark.parametrize("case", FIGURES)
def test_the_others_have_a_figure_or_a_lower_bound(case: str) -> None:
    assert found(*FIGURES[case]) is None


@pytest.mark.parametrize("case", NONE)
def test_what_counts_leaves_no_figure(case: str) -> None:
    core, code, why = NONE[case]
    left_out = found(core, code)
    assert left_out is not None
    assert left_out.why == why


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("a", "a"),
        ("aab", "a and b"),
        ("abcd", "a, b, c and d"),
        ("abcde", "a, b, c and 2 more"),
        ("abcdefg", "a, b, c and 4 more"),
    ],
)
def test_up_to_four_instructions_are_named(names: str, text: str) -> None:
    assert listed(names) == text
