"""What a figure takes for granted, said only where the region gives a reason to doubt it."""

from pathlib import Path

import pytest
from blocks import templates_of
from cyclelens.analyzer.insight.assumptions import CODES, assumptions


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("4801d8", ""),  # add rax, rbx
        ("f7f1", "The time of div depends"),
        ("f20f5ec1", "The time of divsd depends"),
        ("f20f51c1", "The time of sqrtsd depends"),
        ("0f57c0", ""),  # xorps xmm0, xmm0
        ("c5f458c2", "No floating-point value is denormal"),  # vaddps ymm0, ymm1, ymm2
        ("c4e2f5b8c2", "No floating-point value is denormal"),  # vfmadd231pd ymm0, ymm1, ymm2
        (
            "488b06488907",
            "Accesses through rdi and rsi touch different memory",
        ),  # mov rax, [rsi]; mov [rdi], rax
        ("488906488907", "Accesses through rsi and rdi touch different memory"),  # two stores
        ("488b06488b07", ""),  # two loads
        ("488b0648894608", ""),  # mov rax, [rsi]; mov [rsi+8], rax
        ("488b06488944240848890518000000", ""),  # to the stack, and to a variable
    ],
)
def test_what_a_figure_takes_for_granted(code, said):
    sentences = [found.message for found in assumptions(templates_of(code, "SKL"), "SKL")]
    if said:
        assert any(sentence.startswith(said) for sentence in sentences)
    else:
        assert sentences == []


def test_long_lists_are_cut():
    code = "488906488907488901488902"  # stores through rsi, rdi, rcx, rdx
    (found,) = assumptions(templates_of(code, "SKL"), "SKL")
    assert "rsi, rdi, rcx and others" in found.message


def test_each_names_its_instructions():
    # mov rax, [rsi]; add eax, ebx; vaddps ymm0, ymm1, ymm2; call; mov [rdi], rax
    found = assumptions(templates_of("488b0601d8c5f458c2e800000000488907", "SKL"), "SKL")
    assert {each.code: each.instructions for each in found} == {
        "call-not-counted": (3,),
        "no-denormals": (2,),
        "no-overlap": (0, 4),
    }


@pytest.mark.parametrize(("name", "codes"), [("IVB", ["older-meaning"]), ("HSW", [])])
def test_a_core_that_runs_an_older_instruction_says_so(name, codes):
    found = assumptions(templates_of("f30fbdc1", name), name)  # lzcnt eax, ecx
    assert [each.code for each in found] == codes
    assert all("runs bsr" in each.message for each in found)


def test_every_code_is_documented():
    text = (Path(__file__).parents[2] / "docs/json.md").read_text(encoding="utf-8")
    for code, meaning in CODES.items():
        assert f"| `{code}` | {meaning} |" in text
