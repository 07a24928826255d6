"""Every register and every directive that the readers know has a plain sentence."""

from __future__ import annotations

import re

import pytest
from cyclelens.analyzer.frontend.statements import directives
from cyclelens.analyzer.frontend.statements.directive_meanings import RULES, directive_meaning
from cyclelens.analyzer.frontend.statements.register_meanings import register_meaning
from cyclelens.analyzer.frontend.statements.registers import GENERAL_64, REGISTERS

SENTENCES = re.compile(r"[A-Z][^{}]*[^{}., ]\.")
GNU = sorted(directives.KNOWN)
NASM = (
    *("section", "segment", "global", "extern", "bits", "use64", "default", "cpu", "align", "incbin"),
    *(f"{kind}{size}" for kind in ("d", "res") for size in "bwdqtoyz"),
    *("times", "equ", "%macro", "%endmacro", "%define", "%xdefine", "%assign", "%undef", "%include"),
    *("%if", "%ifdef", "%elif", "%else", "%endif", "%rep", "%endrep", "%error", "%use"),
)


def test_every_register_has_a_sentence() -> None:
    for name in REGISTERS:
        assert SENTENCES.fullmatch(register_meaning(name)), name
        assert register_meaning(f"%{name.upper()}") == register_meaning(name)
    assert register_meaning("rex") == ""


def test_every_directive_has_a_sentence() -> None:
    for name in [*(f".{name}" for name in [*GNU, "cfi_startproc", "cfi_def_cfa_offset"]), *NASM]:
        assert SENTENCES.fullmatch(directive_meaning(name)), name
    assert directive_meaning(".nothing") == ""


def test_every_rule_is_the_first_for_some_directive() -> None:
    names = [*GNU, "cfi_startproc", "cfi_endproc", "cfi_offset", *NASM, "public", "%push"]
    chosen = {directive_meaning(name) for name in names}
    assert {sentence for _, sentence in RULES} - chosen == set()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("eax", "The low 32 bits of rax; a write clears the upper 32. A function may change rax."),
        ("bh", "Bits 8 to 15 of rbx; a write keeps the others. A function that changes rbx restores it."),
        ("r12b", "The low 8 bits of r12; a write keeps the others. A function that changes r12 restores it."),
        (
            "sil",
            "The low 8 bits of rsi; a write keeps the others. "
            "A function may change rsi; on Windows it restores it.",
        ),
        (
            "xmm7",
            "A 128-bit vector register, the low half of ymm7. "
            "A function may change it; on Windows it restores the low 128 bits.",
        ),
        ("st(0)", "An 80-bit floating-point register, the top of the x87 stack."),
    ],
)
def test_a_register_says_its_place_and_who_saves_it(name: str, words: str) -> None:
    assert register_meaning(name) == words


def test_six_general_registers_and_the_stack_pointer_are_kept() -> None:
    """System V ABI for AMD64, figure 3.4: rbx, rbp, rsp and r12 to r15 belong to the caller."""
    kept = {name for name in GENERAL_64 if "that changes" in register_meaning(name)}
    assert kept == {"rbx", "rbp", "rsp", "r12", "r13", "r14", "r15"}
    on_windows = {name for name in GENERAL_64 if "on Windows it restores" in register_meaning(name)}
    assert on_windows == {"rdi", "rsi"}
