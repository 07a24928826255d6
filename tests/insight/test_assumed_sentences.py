"""What the sentences of assumptions name: instructions, amounts and how many; and where each begins to hold.

The amounts are those of ``microarchitectures/caveats.py``, which names their measurements.
"""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.result import Assumption

TEXT = ".intel_syntax noprefix\n# cyclelens-begin k\n.p2align 5\n1: {}\n dec r15\n jnz 1b\n# cyclelens-end\n"
TERNARY = "vpternlogd ymm0, ymm1, ymm2, 150"
QUADS = "vpternlogq ymm3, ymm1, ymm2, 150"


def assumed(body: str, core: str) -> dict[str, Assumption]:
    (region,) = (
        Analyzer().analyze(TEXT.format(body), AnalysisOptions(target=Target((core,), alignment=0))).regions
    )
    return {each.code: each for each in region.predictions[0].assumptions}


@pytest.mark.parametrize(
    ("code", "body", "core", "instructions", "values", "words"),
    [
        (
            "ternary-logic", f"{TERNARY}\n {QUADS}", "ZEN4", (0, 1), {"most_percent": 31},
            "of vpternlogd and vpternlogq. On ZEN4, loops of such instructions took up to 31 % longer",
        ),
        (
            "ternary-logic", f"nop\n {TERNARY}\n vmovaps [rdi], ymm5", "ZEN4", (1,), {"most_percent": 116},
            "loops of such instructions and vector stores took up to 116 % longer",
        ),
        # A store of a general register is none of a vector, and a load is no store.
        (
            "ternary-logic", f"{TERNARY}\n mov [rdi], rax\n vmovaps ymm4, [rsi]", "ZEN4", (0,),
            {"most_percent": 31}, "loops of such instructions took up to 31 %",
        ),
        (
            "slower-conversions", "nop\n vcvtpd2ps ymm0, zmm1", "ZEN4", (1,), {"most_percent": 28},
            "published time of vcvtpd2ps with 512 bits. On ZEN4, loops of such conversions took up to 28 %",
        ),
        # With a constant behind its source, and from memory.
        (
            "slower-conversions", "vcvtps2ph ymm0, zmm1, 0\n vcvttpd2dq ymm2, zmmword ptr [rsi]", "ZEN4",
            (0, 1), {"most_percent": 28}, "published time of vcvtps2ph and vcvttpd2dq with 512 bits",
        ),
        (
            "locked-neighbours", "lock add [rdi], rax\n mov rbx, [rsi]", "ZEN4", (0,), {"most_percent": 16},
            "On ZEN4, loops with add beside loads or other locked instructions took up to 16 % longer",
        ),
        # The slowest of them.
        (
            "locked-neighbours", "lock add [rdi], rax\n lock xadd [rsi], rbx", "ZEN4", (0, 1),
            {"most_percent": 89}, "loops with add and xadd beside loads",
        ),
        (
            "loop-branch", "mulx r8, r9, rbx\n shld rax, rbx, 13", "ZEN4", (0, 1), {"most_cycles": 1.5},
            "wait for mulx and shld by an unknown rule: on ZEN4, loops with such instructions took up to 1.5 "
            "cycles more",
        ),
        (
            "loop-branch", "nop\n shld rax, rbx, 13", "ZEN4", (1,), {"most_cycles": 1.0},
            "loops with such instructions took up to 1 cycle more per iteration than the figure",
        ),
        ("half-cycles", "vdivps ymm0, ymm1, ymm2", "ZEN3", (0,), {}, "On ZEN3, vdivps can take half a cycle"),
        (
            "fastest-state", "add rax, rbx", "ZEN3", (), None, "on ZEN3, one in eight measured loops of one",
        ),
        (
            "target-not-awaited", "tzcnt rax, rbx", "ZEN5", (0,), {},
            "the result of tzcnt does not wait for the old value of its target",
        ),
        (
            "few-mask-bits", "nop\n pext rax, rbx, rdx\n pdep rcx, rbx, rdx", "ZEN2", (1, 2),
            {"least_cycles": 18, "most_cycles": 290},
            "of pext and pdep depends on the bits that the mask has set: 18 to 290 cycles on ZEN2",
        ),
        (
            "gather-neighbours", "vpcmpeqd ymm2, ymm2, ymm2\n vpgatherdd ymm0, [rsi+ymm1*4], ymm2", "ZEN3",
            (1,), {"least_percent": -9, "most_percent": 20}, "took 9 % less to 20 % more than the figure",
        ),
        ("call-not-counted", "call 2", "SKL", (0,), {}, "The called function takes no time here"),
        ("call-not-counted", "call 2\n call 3", "SKL", (0, 1), {}, "The called functions take no time here"),
        (
            "operand-values", "nop\n div rcx\n vsqrtpd ymm0, ymm1", "SKL", (1, 2), {},
            "The time of div and vsqrtpd depends on the operands; the figure is for fast ones.",
        ),
        (
            "operand-values", "nop\n enter 16, 0\n leave", "SKL", (1,), {},
            "The figure is for an enter with nested levels; with level 0 it takes some 8 cycles.",
        ),
    ],
)  # fmt: skip
def test_a_sentence_names_what_it_is_about(
    code: str,
    body: str,
    core: str,
    instructions: tuple[int, ...],
    values: dict[str, float] | None,
    words: str,
) -> None:
    found = assumed(body, core)[code]
    assert found.instructions == instructions
    assert words in found.message
    assert values is None or found.values == values


@pytest.mark.parametrize(
    ("code", "body", "core"),
    [
        ("fastest-state", "mov rax, [rsi]", "ZEN3"),  # M38 has the states of loops that access memory
        ("fastest-state", "add rax, rbx\n add rcx, rbx", "ZEN3"),
        ("fastest-state", "add rax, rbx", "ZEN4"),
        ("target-not-awaited", "bsf rax, rbx", "ZEN5"),
        ("slower-conversions", "vcvtpd2ps xmm0, ymm1", "ZEN4"),
        ("slower-conversions", "vcvtps2ph xmm0, ymm1, 0", "ZEN4"),
        ("locked-neighbours", "xchg rax, rbx\n mov rcx, [rsi]", "ZEN4"),
        ("few-mask-bits", "pext rax, rbx, rdx", "ZEN3"),
    ],
)
def test_other_code_and_other_cores_have_no_such_doubt(code: str, body: str, core: str) -> None:
    assert code not in assumed(body, core)
