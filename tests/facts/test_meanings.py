"""What instructions do: every mnemonic of the tables has one sentence."""

from __future__ import annotations

import re

import pytest
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.insight.costs import spellings
from cyclelens.analyzer.isa.meanings import RULES, meaning


@pytest.fixture(scope="module")
def mnemonics() -> list[str]:
    """Those of the tables of all cores, as people write them."""
    store = open_store()
    try:
        written = {re.split(r"[^A-Z0-9]", variant.name)[0] for _, variant, _ in store.variants()}
    finally:
        store.close()
    return sorted(spelling.lower() for name in written for spelling in spellings(name))


def test_every_mnemonic_of_the_tables_has_a_sentence(mnemonics: list[str]) -> None:
    assert len(mnemonics) > 1300
    for name in mnemonics:
        assert re.fullmatch(r"[A-Z][^{}.]*[^{}., ]\.", meaning(name)), (name, meaning(name))


def test_no_two_rules_say_something_about_one_mnemonic(mnemonics: list[str]) -> None:
    for name in mnemonics:
        assert len([pattern for pattern, _ in RULES if re.fullmatch(pattern, name)]) <= 1, name


@pytest.mark.parametrize(
    ("mnemonic", "sentence"),
    [
        ("addps", "Adds packed floats."),
        ("VADDSD", "Adds the lowest doubles."),
        ("vsqrtss", "Takes the square root of the lowest float."),
        ("vfmadd231ps", "Multiplies the second and the third operand and adds the first, on packed floats."),
        ("vpaddusb", "Adds packed bytes with unsigned saturation."),
        ("psubsw", "Subtracts packed 16-bit integers with signed saturation."),
        ("vpminuq", "Takes the smaller of unsigned packed 64-bit integers."),
        ("vcvttps2udq", "Converts packed floats to packed unsigned 32-bit integers, rounding to zero."),
        ("cvtsi2sd", "Converts a signed integer of a general-purpose register to the lowest double."),
        ("punpckhbw", "Interleaves the upper elements of two vectors."),
        ("vpsravd", "Shifts packed 32-bit integers right and fills with the sign."),
        ("vaesdeclast", "Performs the last round of AES decryption."),
        ("cmovnbe", "Copies the source if unsigned above (CF = 0 and ZF = 0)."),
        ("setz", "Sets the byte to 1 if equal (ZF = 1), otherwise to 0."),
        ("addq", "Adds the source to the destination."),
        ("movzbl", "Copies a smaller source and fills the rest with zeros."),
        ("no-such", ""),
    ],
)
def test_sentences_are_composed(mnemonic: str, sentence: str) -> None:
    assert meaning(mnemonic) == sentence


@pytest.mark.parametrize(
    ("one", "other"), [("jz", "je"), ("cmovnle", "cmovg"), ("setnb", "setae"), ("sal", "shl")]
)
def test_synonyms_have_the_same_sentence(one: str, other: str) -> None:
    assert meaning(one) == meaning(other)


@pytest.mark.parametrize(
    ("one", "other"), [("jl", "jb"), ("vaddps", "vaddpd"), ("shr", "sar"), ("psrad", "psrld")]
)
def test_instructions_that_differ_have_different_sentences(one: str, other: str) -> None:
    assert meaning(one) != meaning(other)
