"""What people asked or measured in public: the figure is theirs, or the report says that it is not certain.

``SO``: the number of a question or an answer on stackoverflow.com; ``Agner``: Agner Fog's instruction tables;
``llvm`` and others: issues on github.com. ``None``: no figure, or a lower bound, as something else decides.
"""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight.confidence import is_lower_bound
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.result import Prediction

TEXT = ".intel_syntax noprefix\n# cyclelens-begin k\n.p2align 5\n1: {}\n{}\n# cyclelens-end\n9: ret\n"
END = " dec r15\n jnz 1b"
LOOP = " loop 1b"
GATHER = "vpcmpeqd ymm2, ymm2, ymm2\n vpgatherdd ymm0, [rsi+ymm1*4], ymm2"
SPILL = "mov [rsp+8], rax\n mov rax, [rsp+8]\n add rax, 1"

CASES = [
    ("popcnt rax, rbx", "SKL", 3.0, "SO 25078285: it waits for its target"),
    ("popcnt rax, rbx", "ICL", 1.0, "llvm 153983: from Cannon Lake on it does not"),
    ("popcnt ax, bx", "ADL", 3.0, "llvm 153983: of 16 bits it does"),
    ("lzcnt rax, rbx", "HSW", 3.0, "SO 25078285"),
    ("lzcnt rax, rbx", "SKL", 1.0, "llvm 154004"),
    ("bsf rax, rbx", "SKL", 3.0, "SO 21390165: it waits for its target"),
    ("vpcompressd zmm0{k1}{z}, zmm1", "ZEN5", 5.0, "llvm 206849"),
    ("vpexpandd ymm0{k1}{z}, ymm1", "ZEN5", 4.0, "golang/go 81609"),
    ("adc rax, rbx", "HSW", 2.0, "SO 32084204; Agner"),
    ("adc rax, rbx", "BDW", 1.0, "Agner"),
    ("adc rax, 0", "HSW", 1.0, "SO 51664369: with 0 it is one uop"),
    ("lea rax, [rax+rbx+8]", "SKL", 3.0, "Agner: three components"),
    ("lea rax, [rax+rbx*8]", "SKL", 1.0, "Agner: two components"),
    ("shl rax, cl", "SKL", 2.0, "Agner: three uops"),
    ("xchg rax, rbx", "SKL", 2.0, "SO 45766444"),
    ("imul rax, rbx", "SKL", 3.0, "Agner"),
    ("crc32 rax, rbx", "SKL", 3.0, "Agner"),
    ("pmulld xmm0, xmm1", "SKL", 10.0, "Agner"),
    ("pause", "SKL", 140.0, "Intel's manual"),
    ("pause", "HSW", 9.0, "Agner"),
    ("lock add [rdi], eax", "SKL", 18.0, "uops.info"),
    ("rdtsc", "SKL", 25.0, "Agner"),
    ("mfence", "SKL", 34.0, "uops.info: 33 to 36"),
    ("cpuid", "SKL", None, "the leaf decides"),
    ("rep movsb", "SKL", None, "SO 43343231: the count decides"),
    ("fsin", "SKL", None, "x87 has no figures on Intel's cores"),
    (GATHER, "SKL", 5.0, "Agner; but see older-microcode"),
    ("add dword ptr [rdi], 1", "SKL", 6.0, "SO 49190421: 5 to 6 through memory"),
    (SPILL, "ZEN2", 1.0, "Agner's blog: mirrored memory operands"),
    ("mov rbx, rax\n mov rax, rbx", "ICL", 2.0, "Intel's erratum ICL065: eliminated moves are switched off"),
    ("mov rbx, rax\n mov rax, rbx", "SKL", 1.0, "eliminated, but for the slots"),
    ("mov rax, rax", "SKL", 1.0, "SO 44169342: never eliminated"),
    ("mov al, bl", "SKL", 1.0, "SO 45660139: merged with the old register"),
    ("vdivps ymm0, ymm1, ymm2", "SKL", 5.0, "Agner"),
    ("vdivps ymm0, ymm1, ymm2", "HSW", 14.0, "Agner"),
    ("vfmadd231ps ymm0, ymm1, ymm2", "HSW", 5.0, "SO 45113527"),
    ("vfmadd231ps ymm0, ymm1, ymm2", "SKL", 4.0, "SO 45113527"),
    ("vaddps ymm0, ymm0, ymm1", "HSW", 3.0, "SO 45113527"),
    ("cvtsi2sd xmm0, eax", "SKL", 4.0, "ocaml 13672: it keeps the upper half"),
    ("tzcnt rax, rbx", "ZEN2", 1.0, "Agner"),
    ("pdep rax, rbx, rcx", "ZEN2", None, "llvm 217304: the mask decides"),
    ("vpconflictd zmm0, zmm1", "SKX", 19.0, "uops.info: 37 uops"),
    ("push rax\n pop rax", "SKL", 5.0, "SO 49190421: forwarded"),
    ("movq xmm0, rax\n movq rax, xmm0", "SKL", 4.0, "Agner: 2 in either direction"),
    ("movq xmm0, rax\n movq rax, xmm0", "HSW", 2.0, "Agner: 1 in either direction"),
    ("movq xmm0, rax\n movq rax, xmm0", "ZEN2", 6.0, "Agner: 3 in either direction"),
    ("cmp dword ptr [rdi], 5\n je 9f", "SKL", 1.0, "Agner: not taken on ports 0 and 6"),
    ("jmp 2f\n2: jmp 2f\n2:", "SKL", 3.0, "SO 38811901: one taken branch per cycle at best"),
    ("xchg rax, rbx\n imul rax, rax, 3", "ZEN2", 1.5, "uops.info: an exchange has no latency"),
    ("mov [rdi], al\n mov eax, [rdi]", "SKL", 15.0, "Agner: forwarding to a larger load fails, 13 to 15"),
    ("aesenc xmm0, xmm1", "HSW", 7.0, "Agner"),
    ("aesenc xmm0, xmm1", "ZEN4", 4.0, "uops.info"),
    ("pclmulqdq xmm0, xmm1, 0", "BDW", 5.0, "Agner"),
    ("adcx rax, rbx\n adox rcx, rdx", "BDW", 1.5, "two chains; three uops on ports 0 and 6"),
    ("shld rax, rbx, 5", "SNB", 1.0, "Agner"),
    ("kaddw k0, k0, k1", "SKX", 4.0, "uops.info"),
    ("vpdpbusd zmm0, zmm1, zmm2", "ICL", 5.0, "uops.info"),
]


def predicted(body: str, core: str, end: str = END) -> Prediction | None:
    options = AnalysisOptions(target=Target(microarchitectures=(core,)))
    (region,) = Analyzer().analyze(TEXT.format(body, end), options).regions
    return region.predictions[0] if region.predictions else None


@pytest.mark.parametrize(("body", "core", "measured", "source"), CASES)
def test_the_figure_is_the_measured_one_or_said_to_be_uncertain(
    body: str, core: str, measured: float | None, source: str
) -> None:
    made = predicted(body, core)
    if measured is None:
        assert made is None or is_lower_bound(made), source
    else:
        assert made is not None
        assert made.cycles_per_iteration == pytest.approx(measured, rel=0.08), source
        assert not is_lower_bound(made)


@pytest.mark.parametrize(("core", "measured"), [("SKL", 5.0), ("ZEN2", 1.0), ("ZEN4", 1.0)])
def test_the_instruction_loop_is_slow_on_intel_alone(core: str, measured: float) -> None:
    """SO 35742570; of the Zen 4, measured."""
    made = predicted("nop", core, LOOP)
    assert made is not None
    assert made.cycles_per_iteration == pytest.approx(measured, rel=0.02)


def codes(body: str, core: str) -> set[str]:
    made = predicted(body, core)
    assert made is not None
    return {each.code for each in made.assumptions}


def test_gathers_say_what_the_update_against_downfall_changes() -> None:
    """google/highway 2849, llvm 70259."""
    assert "older-microcode" in codes(GATHER, "SKL")


def test_divisions_of_half_cycles_say_so_on_zen_3() -> None:
    """One `vdivps` in a loop took 2.98 cycles on a Zen 3, eight 28.0; a chain 10.99, of copies 10.5."""
    assert "half-cycles" in codes("vdivps ymm0, ymm1, ymm2", "ZEN3")
    assert "half-cycles" not in codes("vdivps ymm0, ymm1, ymm2", "ZEN4")
    assert "half-cycles" not in codes("vmulps ymm0, ymm1, ymm2", "ZEN3")


def test_conversions_to_half_the_width_that_take_longer_say_so() -> None:
    """Measured on an EPYC 9004: 1.51 cycles of `vcvtpd2ps ymm, zmm` (published 1.33), 1.00 of `vpmovdw`."""
    assert "slower-conversions" in codes("vcvtpd2ps ymm0, zmm1", "ZEN4")
    assert "slower-conversions" not in codes("vcvtpd2ps xmm0, ymm1", "ZEN4")
    assert "slower-conversions" not in codes("vpmovdw ymm0, zmm1", "ZEN4")
    assert "slower-conversions" not in codes("vcvtpd2ps ymm0, zmm1", "ICL")
    # Counters of an EPYC 9005: 0.80 cycles of copies (two pipes of three would allow 0.67), 1.02 to memory.
    assert "slower-conversions" in codes("vcvtdq2pd ymm0, xmm1", "ZEN5")
    assert "slower-conversions" in codes("vcvtps2ph [rsi], ymm1, 0", "ZEN5")
    assert "slower-conversions" not in codes("vcvtdq2pd xmm0, xmm1", "ZEN5")
    assert "slower-conversions" not in codes("vcvtdq2ps ymm0, ymm1", "ZEN5")


def test_ternary_logic_that_takes_longer_says_so() -> None:
    """Measured on an EPYC 9004: 1.14 cycles of four `vpternlogd ymm`, 1.00 of four `vpxord ymm`."""
    assert "ternary-logic" in codes("vpternlogd ymm0, ymm1, ymm2, 150", "ZEN4")
    assert "ternary-logic" in codes("vpternlogq zmm0, zmm1, zmm2, 150\n vmovaps [rdi], zmm3", "ZEN4")
    assert "ternary-logic" not in codes("vpxord ymm0, ymm1, ymm2", "ZEN4")
    assert "ternary-logic" not in codes("vpternlogd ymm0, ymm1, ymm2, 150", "ICL")


def test_locked_instructions_that_take_longer_beside_others_say_so() -> None:
    """Measured on an EPYC 9004: 14.8 cycles of `lock xadd` and 8 loads (alone 7.9), 24.1 of three `lock add`
    on three lines (one alone 6.0)."""
    assert "locked-neighbours" in codes("lock xadd [rdi], rax\n mov rbx, [rsi]", "ZEN4")
    assert "locked-neighbours" in codes("xchg [rdi], rax\n mov rbx, [rsi]", "ZEN4")
    assert "locked-neighbours" in codes("lock add [rdi], rax\n lock add [rdi+64], rax", "ZEN4")
    assert "locked-neighbours" not in codes("lock add [rdi], rax\n mov [rsi], rbx", "ZEN4")
    assert "locked-neighbours" not in codes("xadd [rdi], rax\n mov rbx, [rsi]", "ZEN4")
    assert "locked-neighbours" not in codes("lock xadd [rdi], rax\n mov rbx, [rsi]", "SKL")


OTHERWISE = {
    "vpsadbw xmm1, xmm2, xmm3\n vpaddq xmm4, xmm4, xmm1": 1.31,
    "vpsadbw xmm1, xmm2, xmm3\n vpsadbw xmm5, xmm2, xmm3\n vpaddq xmm4, xmm4, xmm6": 1.52,
    "vpopcntq ymm1, [rsi]\n vpaddq ymm4, ymm4, ymm1": 1.19,
    "vmulps xmm1, xmm2, xmm3\n vpaddd xmm4, xmm4, xmm1": 1.31,
    "vextracti32x4 xmm1, ymm0, 1\n vpinsrq xmm2, xmm2, [rsi], 1": 1.30,
    "vinsertf128 ymm0, ymm0, [rsi], 1\n vextractf128 [rdi], ymm0, 1": 2.00,
    "haddps xmm0, xmm1": 4.43,
    "vphaddd ymm0, ymm0, ymm1\n vpackuswb ymm1, ymm2, ymm3": 2.67,
    "vcvtps2dq ymm2, ymm0\n sha256msg1 xmm0, xmm1": 3.48,
    "vpsllw xmm0, xmm0, xmm1\n vmulps xmm2, xmm3, xmm4": 2.28,
    "vshufps xmm2, xmm0, xmm1, 4\n vshufps xmm3, xmm0, xmm1, 12\n vaddps xmm0, xmm2, xmm3": 4.44,
    "kaddq k1, k1, k2": 1.55,
    "kshiftrq k1, k0, 1\n kunpckdq k2, k1, k0\n kaddq k3, k2, k1": 3.75,
    "mov [rsi], rax\n sfence": 2.00,
    "mov [rsi], rax\n sfence\n mov [rsi+64], rax\n sfence": 4.00,
    "push 7\n push 7\n lea rsp, [rsp+16]": 1.94,
    "push 7\n push 7\n push 7\n push 7\n add rsp, 32": 3.00,
    "setz al\n setz bl": 1.50,
    "seta al\n cmovbe r8, r9": 1.50,
    "vpaddd ymm0{k1}, ymm1, ymm2\n vpand ymm2, ymm1, ymm0": 2.00,
    "vpminsd ymm0{k1}, ymm2, ymm1\n vpandd ymm2, ymm1, ymm0": 2.00,
    "cmovz rax, rbx\n cmovz rdx, rsi": 1.50,
    "vpand ymm1, ymm1, ymm2\n vpand ymm3, ymm1, ymm5\n vpand ymm4, ymm1, ymm5": 2.00,
    "vpaddd zmm1, zmm1, zmm2\n vpcmpeqd k1, zmm1, zmm4": 1.94,
    "vpaddd xmm1, xmm1, xmm2\n vpcmpeqd xmm3, xmm1, xmm5\n vpmovmskb eax, xmm3": 2.00,
    "vshufps ymm1, ymm1, ymm2, 1\n vpand ymm3, ymm1, ymm5": 1.33,
    "vpand ymm1, ymm1, ymm2\n vpand ymm1, ymm1, ymm3\n vpand ymm4, ymm1, ymm5\n vpand ymm6, ymm1, ymm5": 2.80,
    "vpaddq ymm1, ymm1, ymm2\n vpxor ymm3, ymm1, [rsi]\n vpaddq ymm4, ymm4, ymm3": 1.97,
    "vpaddd ymm1, ymm1, ymm2\n vmulps ymm3, ymm1, ymm5": 1.17,
}
"""Loops and their cycles on an EPYC 9004."""


@pytest.mark.parametrize("body", OTHERWISE)
def test_loops_that_take_other_times_by_an_unknown_rule_say_so(body: str) -> None:
    """The measured time is between the figure and the one that the assumption names."""
    made = predicted(body, "ZEN4")
    assert made is not None
    cycles = made.cycles_per_iteration
    (found,) = [each for each in made.assumptions if each.code == "measured-otherwise"]
    assert found.values is not None
    ends = sorted((cycles, cycles + float(found.values["difference_cycles"])))
    assert ends[0] - 0.02 <= OTHERWISE[body] <= ends[1] + 0.02
    assert abs(OTHERWISE[body] - cycles) > 0.1
    other = predicted(body, "SPR")
    assert other is None or all(each.code != "measured-otherwise" for each in other.assumptions)


@pytest.mark.parametrize(
    ("body", "measured"),
    [
        ("vpgatherdd ymm3, [rsi+ymm2*4], ymm5\n inc rax", 10.58),
        ("vpgatherdd ymm3, [rsi+ymm2*4], ymm5\n lea rax, [rbx+8]", 10.59),
        ("kxnorw k1, k1, k1\n vpgatherdd zmm3{k1}, [rsi+zmm2*4]\n inc rax", 21.38),
        ("vpcmpeqd ymm5, ymm5, ymm5\n vpgatherdd ymm3, [rsi+ymm2*4], ymm5\n vmovdqu [rdi], ymm3", 8.0),
    ],
)
def test_gathers_beside_others_say_what_loops_took(body: str, measured: float) -> None:
    """Measured on an EPYC 9004."""
    made = predicted(body, "ZEN4")
    assert made is not None
    (found,) = [each for each in made.assumptions if each.code == "gather-neighbours"]
    assert found.values is not None
    least, most = (1 + float(found.values[f"{end}_percent"]) / 100 for end in ("least", "most"))
    assert least <= measured / made.cycles_per_iteration <= most


@pytest.mark.parametrize(
    ("body", "measured"),
    [
        ("vpcmpeqb ymm1, ymm2, ymm3\n vpsubb ymm4, ymm4, ymm1", 1.0),
        ("vpand ymm1, ymm2, [rsi]\n vpaddq ymm4, ymm4, ymm1", 1.0),
        ("vaddps xmm0, xmm0, xmm1\n vpaddd xmm2, xmm3, xmm4", 3.0),
        ("phaddd xmm0, xmm1\n phaddd xmm0, xmm1", 4.0),
        ("vpsllw xmm0, xmm0, xmm1\n vpaddd xmm2, xmm3, xmm4", 2.0),
        ("kaddd k1, k1, k2", 1.0),
        ("vpand ymm1, ymm1, ymm2\n vpand ymm3, ymm6, ymm5\n vpand ymm4, ymm6, ymm5", 1.0),
        ("vpaddd ymm1, ymm1, ymm2\n vmovups [rdi], ymm1", 1.0),
        ("vaddps ymm1, ymm1, ymm2\n vmulps ymm3, ymm1, ymm5", 3.0),
        ("vpaddd ymm1, ymm1, ymm2\n vpand ymm3, ymm1, ymm5\n imul r14, r14", 3.0),
        ("vpaddd ymm2{k1}, ymm1, ymm2", 1.0),
        ("vpaddd ymm0{k1}{z}, ymm2, ymm1\n vpandd ymm2, ymm1, ymm0", 2.0),
        ("sfence\n sfence", 2.0),
        ("push rax\n push rax\n lea rsp, [rsp+16]", 1.0),
        ("setc al\n setc bl", 1.5),
        ("setz al\n setz bl\n setz dl", 2.0),
    ],
)
def test_loops_beside_them_take_their_figure(body: str, measured: float) -> None:
    """Measured on an EPYC 9004."""
    made = predicted(body, "ZEN4")
    assert made is not None
    assert made.cycles_per_iteration == pytest.approx(measured, rel=0.03)
    assert "measured-otherwise" not in codes(body, "ZEN4")


@pytest.mark.parametrize(
    "body",
    [
        "mulx r8, r9, rbx",
        "vmovmskps eax, xmm1",
        "vmovsd xmm1, [rsi]\n vcomisd xmm1, xmm2",
        "vptest ymm0, ymm1\n setz al",
        "kortestd k1, k1\n setz al",
        "shld rax, rbx, 13\n shld rcx, rdx, 13",
    ],
)
def test_loops_whose_branch_waits_by_an_unknown_rule_say_so(body: str) -> None:
    """Measured on an EPYC 9004: 1.75, 1.86, 1.22, 1.46 (figure 1.00), 1.41 (1.25) and 4.00 cycles (3.00);
    `vpmovmskb` 1.00."""
    assert "loop-branch" in codes(body, "ZEN4")
    assert "loop-branch" not in codes("vpmovmskb eax, xmm1", "ZEN4")
    assert "loop-branch" not in codes(body, "ICL")


@pytest.mark.parametrize("body", ["rcl rax, 1", "bextr rax, rax, r14", "vucomisd xmm0, xmm1"])
def test_loops_of_one_instruction_may_settle_in_a_slower_state_on_zen_3(body: str) -> None:
    """Measured on a Zen 3: 1.135, 1.254 and 1.243 cycles, in copies 1.00 each."""
    assert "fastest-state" in codes(body, "ZEN3")
    assert "fastest-state" not in codes(body, "ZEN4")
    assert "fastest-state" not in codes(f"{body}\n add rbx, rcx\n add rdx, rcx", "ZEN3")


def test_a_merged_load_of_zen_4_says_what_such_loops_took() -> None:
    """Measured on an EPYC 9004: 1.50 and 1.75 cycles, where the model has 1.00."""
    body = "vpaddd ymm4, ymm4, ymm5\n movdqa xmm0, [rdi]\n paddd xmm2, xmm0"
    options = AnalysisOptions(target=Target(microarchitectures=("ZEN4",)))
    (region,) = Analyzer().analyze(TEXT.format(body, END), options).regions
    (load, addition) = [each for each in region.findings if each.code == "sse-avx-mix"]
    assert "up to 0.75 cycles more" in load.message
    assert "cycles more" not in addition.message


@pytest.mark.parametrize(
    ("body", "measured"),
    [
        ("vpermq ymm0, ymm0, 1", (6.55, 6.55)),
        ("vpmovzxwd ymm0, xmm0", (4.43, 4.45)),
        ("vpermd ymm0, ymm1, ymm0", (8.54, 8.64)),
        ("vperm2f128 ymm0, ymm0, ymm14, 1", (3.0, 3.5)),
        ("vextracti128 xmm0, ymm0, 1", (3.0, 3.5)),
        ("vinserti128 ymm0, ymm0, xmm14, 1", (1.0, 1.58)),
        ("vbroadcastss ymm0, xmm0", (1.17, 1.59)),
    ],
)
def test_chains_across_lanes_say_what_they_took_on_zen_3(body: str, measured: tuple[float, float]) -> None:
    """Measured on an EPYC 7003, in a loop and in copies."""
    made = predicted(body, "ZEN3")
    assert made is not None
    (found,) = [each for each in made.assumptions if each.code == "measured-otherwise"]
    assert found.values is not None
    most = made.cycles_per_iteration + float(found.values["difference_cycles"])
    assert all(made.cycles_per_iteration - 0.05 <= each <= most + 0.05 for each in measured)
    assert "measured-otherwise" not in codes(body, "ZEN4")


@pytest.mark.parametrize("body", ["vpermilps ymm0, ymm0, 1", "vpermq ymm0, ymm1, 1", "vpmovzxwd xmm0, xmm0"])
def test_others_say_nothing_of_lanes(body: str) -> None:
    """No lane is crossed, or no chain: measured 1.00, 1.28 and 1.02."""
    assert "measured-otherwise" not in codes(body, "ZEN3")


@pytest.mark.parametrize(
    ("body", "core", "measured"),
    [
        # Time stamps of an EPYC 9004.
        ("push ax\n push bx\n push ax\n push bx\n add rsp, 8", "ZEN4", 5.0),
        ("\n".join(f"sha1msg1 xmm{each}, xmm15" for each in range(8)), "ZEN4", 4.77),
        ("\n".join(f"sha256msg1 xmm{each}, xmm15" for each in range(8)), "ZEN4", 5.29),
        ("vpcmpeqb ymm0, ymm1, [rsi]\n vpmovmskb eax, ymm0\n add rbx, 32\n test ecx, ecx", "ZEN4", 1.64),
        # uops.info's throughput of eight.
        ("\n".join(f"sha1msg1 xmm{each}, xmm15" for each in range(8)), "ZEN3", 4.8),
    ],
)
def test_what_takes_longer_than_its_units_says_so(body: str, core: str, measured: float) -> None:
    made = predicted(body, core)
    assert made is not None
    found = [each for each in made.assumptions if each.code == "measured-otherwise"]
    others = sorted((0.0, sum(float(each.values["difference_cycles"]) for each in found)))
    least, most = (made.cycles_per_iteration + each for each in others)
    assert least * 0.97 <= measured <= most * 1.03
    assert abs(measured / made.cycles_per_iteration - 1) > 0.05


@pytest.mark.parametrize("body", ["push rax\n push rbx\n add rsp, 16", "vpaddd xmm0, xmm1, xmm2"])
def test_other_forms_say_nothing_of_their_units(body: str) -> None:
    assert "measured-otherwise" not in codes(body, "ZEN4") | codes(body, "ICL")


def test_the_mask_of_a_gather_on_zen_5_is_said_to_be_inferred() -> None:
    assert "inferred-latency" in codes(GATHER, "ZEN5")
    assert "inferred-latency" not in codes(GATHER, "ZEN4") | codes("vpaddd ymm0, ymm1, ymm2", "ZEN5")
