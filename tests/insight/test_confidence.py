"""What the user is told about how far a figure can be trusted."""

import pytest
from blocks import templates_of
from cyclelens.analyzer.insight.confidence import assumptions, is_uncertain, reservations
from factories import facts, prediction, template


def test_measured_figures_need_no_reservation():
    block = prediction([template()])
    assert not is_uncertain(block)
    assert reservations(block) == ()


def test_an_instruction_without_figures_makes_the_prediction_uncertain():
    block = prediction([template(), template(facts=None)])
    assert is_uncertain(block)
    assert reservations(block) == ("1 instruction has no figures on SKL: the real loop may take longer.",)


def test_figures_that_were_not_measured_are_counted():
    block = prediction([template(), template(facts=facts(constructed=True))])
    assert not is_uncertain(block)
    (sentence,) = reservations(block)
    assert sentence.startswith("The figures of 1 of 2 instructions on SKL")


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
    sentences = assumptions(prediction(list(templates_of(code, "SKL"))))
    if said:
        assert any(sentence.startswith(said) for sentence in sentences)
    else:
        assert sentences == ()


def test_long_lists_are_cut():
    code = "488906488907488901488902"  # stores through rsi, rdi, rcx, rdx
    (sentence,) = assumptions(prediction(list(templates_of(code, "SKL"))))
    assert "rsi, rdi, rcx and others" in sentence
