"""A figure that is faster than the published throughput of an instruction says so (D11).

The published cycles are uops.info's, and of ZEN5 those of the tables' own measurement (data/SOURCES.md).
"""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.result import Assumption, Prediction

CODE = "published-throughput"
TEXT = ".intel_syntax noprefix\n# cyclelens-begin k\n.p2align 6\n1: {}\n dec r15\n jnz 1b\n# cyclelens-end\n"
NEW_FRAME = "lea rbp, [rdi]"


def predicted(body: str, core: str) -> Prediction:
    options = AnalysisOptions(target=Target(microarchitectures=(core,)))
    (region,) = Analyzer().analyze(TEXT.format(body), options).regions
    return region.predictions[0]


def remarks(body: str, core: str) -> list[Assumption]:
    return [each for each in predicted(body, core).assumptions if each.code == CODE]


@pytest.mark.parametrize(
    ("body", "count", "core", "published"),
    [
        ("mov eax, ds", 1, "ICL", 1.52),
        ("lodsb", 1, "ICL", 1.2),
        ("lodsb", 1, "SKL", 1.2),
        ("push qword ptr [rdi]", 8, "ICL", 0.63),
        ("pop qword ptr [rdi]", 8, "ICL", 0.80),
        ("vextracti64x4 [rdi], zmm0, 1", 4, "ICL", 1.0),
        ("vmovdqu8 [rdi]{{k1}}, zmm0", 2, "ICL", 2.0),
        ("movabs al, [0x1122334455667788]", 4, "ICL", 1.0),
        ("jmp rax", 2, "SKL", 1.94),
        ("sfence", 4, "ZEN5", 0.5),
        ("emms", 4, "ZEN5", 0.52),
        ("rcpps xmm0, [rdi]", 2, "ZEN2", 1.0),
        ("jmp 2f\n2:", 4, "ICL", 1.8),
        ("jmp 2f\n2:", 4, "ZEN2", 1.4),
        ("jmp 2f\n2:", 4, "ADL", 2.08),
        ("jmp 2f\n2:", 4, "MTL", 2.08),
    ],
)
def test_a_figure_below_the_published_throughput_says_so(
    body: str, count: int, core: str, published: float
) -> None:
    text = "\n ".join([body.format()] * count)
    made = predicted(text, core)
    (found,) = [each for each in made.assumptions if each.code == CODE]
    assert found.values == {"published_cycles": pytest.approx(count * published)}
    assert found.instructions == tuple(range(count))
    assert made.cycles_per_iteration < count * published / 1.1


def test_carries_that_are_broken_off_are_published_with_more_cycles_than_units_explain_on_zen_5() -> None:
    """0.46 cycles each among instructions that break the chain of carries; a chain of them takes one each."""
    sums = [f"adc {register}, [rsi+{8 * place}]" for place, register in enumerate(("rbx", "rcx", "rdx"))]
    (found,) = remarks("add rax, [rsi]\n " + "\n ".join(sums), "ZEN5")
    assert found.values == {"published_cycles": pytest.approx(1.38)}
    assert remarks("adc rax, rbx\n adc rax, rcx\n adc rax, rdx", "ZEN5") == []


def test_loads_of_high_bytes_are_published_with_more_cycles_than_loads_have_on_zen_5() -> None:
    text = "mov ah, [rdi]\n mov bh, [rdi]\n mov ch, [rdi]\n mov dh, [rdi]"
    (found,) = remarks(text, "ZEN5")
    assert found.values == {"published_cycles": pytest.approx(2.0)}


@pytest.mark.parametrize(
    ("body", "core"),
    [
        # The figure has the published cycles, by its units or by its chain.
        ("vmovdqu8 [rdi]{k1}, zmm0\n" + "vpmullq zmm1, zmm2, zmm3\n" * 2, "ICL"),
        ("mov eax, ds\n imul rbx, rbx", "ICL"),
        ("lodsb\n add eax, ebx\n imul ecx, ecx", "SKL"),
        # Its own chain through memory, and flags that every instance reads.
        ("shl dword ptr [rdi], cl\n add rdi, 4", "SKL"),
        ("add rbx, rsi\n adc rcx, 0", "HSW"),
        # The measurement's place in the code.
        ("jmp 2f\n2: nop", "SKL"),
        ("vpaddd ymm0, ymm1, ymm2\n" * 6, "ZEN4"),
        ("vmovups xmm0, [rsi]\n vmovups [rdi], xmm0\n add rdi, 16", "ZEN3"),
    ],
)
def test_others_say_nothing(body: str, core: str) -> None:
    assert not remarks(body, core)


def test_zero_idioms_have_a_throughput_of_their_own() -> None:
    """`vpandnd` of 512 bits is published with 0.50 cycles on Zen 4; of one register it takes no pipe."""
    assert not remarks("vpandnd zmm0, zmm0, zmm0\n" * 6, "ZEN4")


@pytest.mark.parametrize("core", ["MTL", "GNR", "ARL", "LNL"])
def test_leave_has_alder_lakes_throughput_where_none_is_published(core: str) -> None:
    text = "\n ".join(["leave", NEW_FRAME] * 3)
    (found,) = remarks(text, core)
    assert found.values == {"published_cycles": 6.0}
    assert found.message.startswith("By published measurements leave takes up to 2 cycles on ADL; none is ")
    assert f"none is published for {core}. " in found.message


def test_leave_is_published_for_others() -> None:
    (found,) = remarks("\n ".join(["leave", NEW_FRAME] * 3), "SKL")
    assert found.message == (
        "By published measurements leave takes up to 2 cycles on SKL. Its units alone need less, and the "
        "reason is not known: an iteration can take up to 6 cycles."
    )
