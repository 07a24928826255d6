"""A count of zero in CL: measured by time stamps on an EPYC 9004."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.result import Prediction

TEXT = ".intel_syntax noprefix\n# cyclelens-begin k\n.p2align 6\n1: {}\n dec r15\n jnz 1b\n# cyclelens-end\n"


def predicted(body: str, core: str = "ZEN4") -> Prediction:
    options = AnalysisOptions(target=Target(microarchitectures=(core,)))
    (region,) = Analyzer().analyze(TEXT.format(body), options).regions
    return region.predictions[0]


@pytest.mark.parametrize(
    ("body", "with_zero", "otherwise"),
    [
        ("shl rbx, cl\n adc rax, rdx", 32.03, 1.0),
        ("shl rbx, cl\n setz al", 33.03, 1.0),
        ("sar rbx, cl\n sbb rax, rdx", 33.02, 1.0),
        ("rol rbx, cl\n adc rax, rdx", 33.0, 1.0),
        ("shl rbx, cl\n adox rax, rdx", 33.01, 1.0),
        ("shl rbx, cl\n jc 2f\n2: nop", 33.0, 1.0),
        ("shl rbx, cl\n inc rdx\n adc rax, 0", 33.02, 1.0),
        ("shld rbx, rdx, cl\n adc rax, rdx", 35.99, 2.0),
        # The flags of the iteration before.
        ("cmc\n shl rbx, cl", 33.0, 1.0),
        ("rcr rax, 3\n rol rbx, cl", 40.9, 3.0),
        ("shl rbx, cl\n adc rax, rdx\n shl rsi, cl\n adc r8, r9", 65.84, 1.44),
    ],
)
def test_reading_the_flags_of_a_shift_by_zero_is_slow(body: str, with_zero: float, otherwise: float) -> None:
    made = predicted(body)
    (found,) = [each for each in made.assumptions if each.code == "counts-not-zero"]
    assert found.values is not None
    assert made.cycles_per_iteration == pytest.approx(otherwise, rel=0.05)
    # Of a longer chain each cycle counts twice, or a little more.
    most = made.cycles_per_iteration + float(found.values["most_cycles"])
    assert most == pytest.approx(with_zero, rel=0.15)
    shifts = tuple(
        index
        for index, each in enumerate(made.instructions)
        if any(operand.register == "CL" for operand in each.instruction.operands)
    )
    assert found.instructions == shifts


@pytest.mark.parametrize(
    "body",
    [
        # Measured 1.0 to 4.0 with a count of zero, too.
        "shl rbx, cl",
        "shl rbx, cl\n shl rdx, cl",
        "shl rbx, cl\n add rdx, rdx\n adc rax, 0",
        "rcl rbx, cl\n adc rax, rdx",
        "shl rbx, 4\n adc rax, rdx",
        "shlx rbx, rsi, rcx\n adc rax, rdx",
    ],
)
def test_others_are_not(body: str) -> None:
    assert all(each.code != "counts-not-zero" for each in predicted(body).assumptions)


@pytest.mark.parametrize("core", ["ZEN3", "ZEN5"])
def test_relatives_say_where_it_was_measured(core: str) -> None:
    made = predicted("shl rbx, cl\n adc rax, rdx", core)
    (found,) = [each for each in made.assumptions if each.code == "counts-not-zero"]
    assert found.values == {"most_cycles": 32}
    assert "on ZEN4" in found.message
    assert f"on {core} it was not measured" in found.message


@pytest.mark.parametrize("core", ["ZEN2", "SKL"])
def test_other_cores_are_not_known_to_be_slow(core: str) -> None:
    made = predicted("shl rbx, cl\n adc rax, rdx", core)
    assert all(each.code != "counts-not-zero" for each in made.assumptions)
