"""Every register and every directive that the readers know has a plain sentence."""

from __future__ import annotations

import re

import pytest
from cyclelens.analyzer.frontend.statements import directives
from cyclelens.analyzer.frontend.statements.directive_meanings import RULES, directive_meaning
from cyclelens.analyzer.frontend.statements.register_meanings import register_meaning
from cyclelens.analyzer.frontend.statements.registers import GENERAL_64, REGISTERS, model_name, width

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


def test_every_part_names_the_whole_register_and_who_saves_that() -> None:
    named = [(f"r{stem}", f"e{stem}", stem, stem.rstrip("x") + "l") for stem in ["ax", "bx", "cx", "dx"]]
    named += [(f"r{stem}", f"e{stem}", stem, f"{stem}l") for stem in ["si", "di", "sp", "bp"]]
    named += [(f"r{at}", f"r{at}d", f"r{at}w", f"r{at}b") for at in range(8, 16)]
    for whole, *parts in named:
        saved = register_meaning(whole).rpartition(". ")[2] if "; on" not in register_meaning(whole) else ""
        assert register_meaning(whole).startswith("A 64-bit general-purpose register")
        for bits, part in zip((32, 16, 8), parts, strict=True):
            assert register_meaning(part).startswith(f"The low {bits} bits of {whole}; a write ")
            assert register_meaning(part).endswith(saved)
    for high, whole in (("ah", "rax"), ("bh", "rbx"), ("ch", "rcx"), ("dh", "rdx")):
        assert register_meaning(high).startswith(f"Bits 8 to 15 of {whole}; a write keeps the others.")


def test_every_vector_register_says_what_it_is_part_of_and_who_keeps_which() -> None:
    """Windows: xmm6 to xmm15 belong to the caller. Only EVEX has a fifth bit for a register's number."""
    for number in range(32):
        for letter, bits, half in (("x", 128, ", the low half of ymm"), ("y", 256, ", the low half of zmm")):
            sentence = register_meaning(f"{letter}mm{number}")
            assert sentence.startswith(f"A {bits}-bit vector register{half}{number}")
        for letter in "xyz":
            sentence = register_meaning(f"{letter}mm{number}")
            assert ("only AVX-512" in sentence) is (number > 15)
            assert ("on Windows it restores the low 128 bits" in sentence) is (number in range(6, 16))
        assert register_meaning(f"zmm{number}").startswith("A 512-bit vector register")
        assert "half" not in register_meaning(f"zmm{number}")


def test_every_place_on_the_x87_stack_and_every_mask_has_its_own_words() -> None:
    assert "the top of" in register_meaning("st")
    for number in range(1, 8):
        assert f", {number} below the top of the x87 stack." in register_meaning(f"st({number})")
        assert f"of x87 register {number};" in register_meaning(f"mm{number}")
        assert "no mask" not in register_meaning(f"k{number}")
    assert "no mask" in register_meaning("k0")
    for number in range(16):
        assert ("which" in register_meaning(f"dr{number}")) is (number in (6, 7))
        assert ("reserved" in register_meaning(f"cr{number}")) is (number not in (0, 2, 3, 4, 8))


def test_the_model_has_one_spelling_of_every_register() -> None:
    for number in range(8, 16):
        for name, bits in ((f"r{number}", 64), (f"r{number}d", 32), (f"r{number}w", 16), (f"r{number}b", 8)):
            assert (model_name(name), width(name)) == (name.upper(), bits)
        assert (model_name(f"r{number}l"), width(f"r{number}l")) == (f"R{number}B", 8)
    for name, spelling in {"al": "AL", "sil": "SIL", "st": "ST0", "st(1)": "ST1", "xmm31": "XMM31"}.items():
        assert model_name(name) == spelling
    assert [width(name) for name in ("rsp", "eax", "ax", "ah", "spl", "xmm0", "cs", "st")] == [
        64, 32, 16, 8, 8, 0, 0, 0,
    ]  # fmt: skip
