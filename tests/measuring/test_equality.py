"""Rewrites run beside their originals: correct ones give equal results, wrong ones do not."""

import os

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.measuring.equality import INPUTS, VersionPair, compare
from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.choices import Clocks
from cyclelens.analyzer.rewrites.proposal import apply
from cyclelens.analyzer.rewrites.registry import fixes
from cyclelens.analyzer.rewrites.search import alternatives
from testkit.kernels import HEAD, KERNELS

OPTIONS = AnalysisOptions()


@pytest.fixture(scope="module")
def harness():
    try:
        with Harness(clock=Clocks.NONE) as harness:
            yield harness
    except CannotMeasure as error:
        pytest.skip(f"no code can be run here: {error}")


@pytest.fixture(scope="module")
def analyzer():
    return Analyzer()


def region_of(analyzer, text):
    analysis = analyzer.analyze(text, OPTIONS)
    return analysis.dialect, analysis.regions[0]


def loop(*statements, before=(), behind=("vmovups %ymm0, (%rdx)", "ret")):
    lines = [*before, "# cyclelens-begin x", ".Lloop:", *statements, "# cyclelens-end", *behind]
    return HEAD + "".join(f"{line}\n" for line in lines)


def compared(harness, analyzer, old, new, times=1, inputs=1000):
    return compare(harness, VersionPair(old, new, times), OPTIONS.source, region_of(analyzer, old)[1], inputs)


SAMPLE = None if os.environ.get("CYCLELENS_ALL_REWRITES") else 20
"""Rewrites of a kernel, spread evenly over those that the search looks at; every night all of them."""


@pytest.mark.parametrize("name", KERNELS)
def test_what_the_search_looks_at_is_the_same(harness, analyzer, name):
    text = KERNELS[name].text
    dialect, region = region_of(analyzer, text)
    every = list(alternatives(analyzer, text, OPTIONS, dialect, region))
    assert len(every) > 3
    found = {
        each.text: (
            each.fix.proposal,
            compare(
                harness, VersionPair(text, each.text, each.fix.proposal.times), OPTIONS.source, region, 400
            ),
        )
        for each in (every if SAMPLE is None else every[:: -(-len(every) // SAMPLE)])
    }
    assert [(p.title, str(e)) for p, e in found.values() if not e.sound] == []


SUM = ("vaddps (%rdi), %ymm0, %ymm0", "add $32, %rdi", "dec %rcx", "jnz .Lloop")
TWICE = ("vaddps (%rdi), %ymm0, %ymm0", "vaddps 32(%rdi), %ymm2, %ymm2", "add $64, %rdi", "sub $2, %rcx")
CLEAR = "vxorps %xmm2, %xmm2, %xmm2"
ADD = "vaddps %ymm2, %ymm0, %ymm0"
RESULT = ("vmovups %ymm0, (%rdx)", "ret")

WRONG = {
    "nothing is put together behind the loop": (loop(*TWICE, "jnz .Lloop", before=[CLEAR]), "ymm0"),
    "the second register is not cleared": (loop(*TWICE, "jnz .Lloop", behind=[ADD, *RESULT]), "ymm0"),
    "the pointer moves on too far": (
        loop(*TWICE[:2], "add $96, %rdi", TWICE[3], "jnz .Lloop", before=[CLEAR], behind=[ADD, *RESULT]),
        "ymm0",
    ),
    "an iteration too many": (
        loop(*TWICE[:3], "dec %rcx", "jnz .Lloop", before=[CLEAR], behind=[ADD, *RESULT]),
        "ymm0",
    ),
    "a register that the caller needs": (
        loop("mov %rdi, %rbx", *SUM, behind=RESULT),
        "rbx",
    ),
    "a store": (loop("vmovups %ymm0, (%rdi)", *SUM, behind=RESULT), "memory"),
    "it never ends": (loop(*SUM[:2], "add $0, %rcx", "jnz .Lloop", behind=RESULT), "fails"),
    "it needs an aligned address": (loop("vmovaps (%rdi), %ymm1", *SUM, behind=RESULT), "fails"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rewrite_differs(harness, analyzer, name):
    new, what = WRONG[name]
    found = compared(harness, analyzer, loop(*SUM), new, times=2)
    assert not found.sound
    assert any(what in each for each in found.differs)


def test_a_right_one_by_hand(harness, analyzer):
    new = loop(*TWICE, "jnz .Lloop", before=[CLEAR], behind=[ADD, *RESULT])
    assert str(compared(harness, analyzer, loop(*SUM), new, times=2)) == (
        "checked: the same results on 1,000 random inputs"
    )


def test_iterations_that_are_no_multiple_are_not_run(harness, analyzer):
    new = loop(*TWICE, "jnz .Lloop", before=[CLEAR], behind=[ADD, *RESULT])
    found = compared(harness, analyzer, loop(*SUM), new, times=1)
    assert not found.sound  # an odd number of iterations never ends: the condition is part of the check


def test_differences_for_overlapping_data_are_reported(harness, analyzer):
    copy = ("mov (%rsi), %rax", "mov %rax, (%rdi)", "mov 8(%rsi), %rax", "mov %rax, 8(%rdi)")
    end = ("add $16, %rsi", "add $16, %rdi", "dec %rcx", "jnz .Lloop")
    old = loop(*copy, *end, behind=["xor %eax, %eax", "ret"])
    other = ("mov (%rsi), %rax", "mov 8(%rsi), %r8", "mov %rax, (%rdi)", "mov %r8, 8(%rdi)")
    found = compared(
        harness, analyzer, old, loop(*other, *end, behind=["xor %eax, %eax", "ret"]), inputs=INPUTS
    )
    assert found.sound and found.overlapping == ("memory",) and found.left == ()


def test_registers_behind_the_loop(harness, analyzer):
    def text(register, *behind):
        body = (
            f"mov (%rdi), {register}",
            f"add {register}, (%rsi)",
            "add $8, %rdi",
            "dec %rcx",
            "jnz .Lloop",
        )
        return loop(*body, behind=behind)

    # Nothing is known about the code behind; R8 is a value within an iteration.
    unknown = compared(harness, analyzer, text("%r8"), text("%r9"))
    assert unknown.sound and unknown.left == ("r8",)
    gone = compared(harness, analyzer, text("%r8", "ret"), text("%r9", "ret"))
    assert gone.sound and gone.left == ()
    read = compared(
        harness, analyzer, text("%r8", "mov %r8, %rax", "ret"), text("%r9", "mov %r8, %rax", "ret")
    )
    assert read.differs == ("r8",)


def test_flags_count_where_they_are_read(harness, analyzer):
    old = ("add (%rdi), %rax", "add $8, %rdi", "dec %rcx", "jnz .Lloop")
    new = ("add (%rdi), %rax", "add $8, %rdi", "stc", "dec %rcx", "jnz .Lloop")
    assert compared(harness, analyzer, loop(*old, behind=["ret"]), loop(*new, behind=["ret"])).sound
    reader = ["adc $0, %rax", "ret"]
    found = compared(harness, analyzer, loop(*old, behind=reader), loop(*new, behind=reader))
    assert found.differs == ("flags",)


def test_rounded_numbers_say_nothing(harness, analyzer):
    def text(*divided):
        return loop(*divided, "vmovups %ymm0, (%rdi)", "add $32, %rdi", "dec %rcx", "jnz .Lloop")

    old = text("vdivps %ymm1, %ymm2, %ymm0", "vaddps %ymm0, %ymm3, %ymm0", "vaddps %ymm0, %ymm4, %ymm0")
    new = text("vdivps %ymm1, %ymm2, %ymm0", "vaddps %ymm0, %ymm4, %ymm0", "vaddps %ymm0, %ymm3, %ymm0")
    found = compared(harness, analyzer, old, new)
    assert found.sound and f"with {found.rounded} others they differ, but are rounded" in str(found)
    new = new.replace("vaddps %ymm0, %ymm3", "vsubps %ymm0, %ymm3")
    assert "depend on the order" in compared(harness, analyzer, old, new).problem
    assert compared(harness, analyzer, old, old.replace("%ymm3, %ymm0", "%ymm3,  %ymm0")).sound


def test_names_of_data_stand_for_the_same_data(harness, analyzer):
    old = loop(
        "vmulps .LC0(%rip), %ymm1, %ymm1", "vaddps .LC1+32(%rip), %ymm0, %ymm0", "dec %rcx", "jnz .Lloop"
    )
    other = loop(
        "vmulps .LC0(%rip), %ymm1, %ymm1",
        "vaddps %ymm5, %ymm0, %ymm0",
        "dec %rcx",
        "jnz .Lloop",
        before=["vmovups .LC1+32(%rip), %ymm5"],
    )
    assert compared(harness, analyzer, old, other).sound
    assert not compared(harness, analyzer, old, other.replace(".LC1+32", ".LC0")).sound
    intel = ".intel_syntax noprefix\n# cyclelens-begin x\n.Lloop:\nadd rax, [rip + table + 8]\n"
    intel += "dec rcx\njnz .Lloop\n"
    new = intel.replace("# cycle", "mov r8, [rip+table+8]\n# cycle").replace("[rip + table + 8]", "r8")
    assert compared(harness, analyzer, intel, new).sound


REFUSED = {
    "its number of iterations depends on its data": ("cmpb $0, (%rdi)", "lea 1(%rdi), %rdi", "jne .Lloop"),
    "registers of x87": ("faddp", "dec %rcx", "jnz .Lloop"),
    "system calls are not run": ("syscall", "dec %rcx", "jnz .Lloop"),
    "repeats an instruction": ("rep stosb", "dec %r8", "jnz .Lloop"),
    "an exception": ("ud2", "dec %rcx", "jnz .Lloop"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_not_run_has_a_reason(harness, analyzer, why):
    old = loop(*REFUSED[why])
    found = compared(harness, analyzer, old, old.replace("jn", " jn"))
    assert why in found.problem
    assert str(found).startswith("not checked: ")


def test_the_command_checks_what_it_lists_and_makes(harness, tmp_path, capsys, monkeypatch):
    path = tmp_path / "x.s"
    path.write_text(KERNELS["dot product"].text)
    assert main(["rewrite", str(path), "--check"]) == 0
    listed = capsys.readouterr().out
    assert listed.count(f"checked: the same results on {INPUTS:,} random inputs") == 2
    assert main(["rewrite", str(path), "--diff", "1", "--check"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("random inputs")
    output = tmp_path / "made.s"
    assert main(["rewrite", str(path), "--apply", "1", "--output", str(output)]) == 0
    assert "not checked: --check runs" in capsys.readouterr().err
    assert main(["rewrite", str(path), "--apply", "1", "--check", "--output", str(output)]) == 0
    assert "checked: the same results" in capsys.readouterr().err
    output.unlink()
    wrong = apply
    monkeypatch.setattr(
        "cyclelens.analyzer.rewrites.proposal.apply", lambda *given: wrong(*given).replace("vaddps", "vsubps")
    )
    assert main(["rewrite", str(path), "--apply", "1", "--check", "--output", str(output)]) == 1
    assert "was not applied: results differ on random inputs: ymm0" in capsys.readouterr().err
    assert not output.exists()


WIDE = "vmovups (%rsi), %ymm3"
MIXED = {
    "integers": (
        *("movdqa (%rdi), %xmm0", "paddd %xmm0, %xmm2", "pshufd $3, %xmm2, %xmm4", "psrld $3, %xmm4"),
        *("psubb %xmm4, %xmm2", "pinsrd $1, %eax, %xmm2", "aesenc %xmm4, %xmm5", "pmovzxbw (%rdi), %xmm6"),
        *(
            "pblendvb %xmm4, %xmm5",
            "punpckldq %xmm2, %xmm6",
            "palignr $3, %xmm5, %xmm6",
            "movdqa %xmm6, (%rdi)",
        ),
    ),
    "floats": (
        *("movss (%rdi), %xmm4", "movss %xmm4, %xmm7", "subps %xmm7, %xmm2", "shufps $3, %xmm4, %xmm2"),
        *("movhlps %xmm2, %xmm4", "unpcklps %xmm2, %xmm5", "movhps (%rdi), %xmm4", "movups %xmm2, (%rdi)"),
    ),
    "doubles": (
        *("movsd (%rdi), %xmm4", "subsd %xmm4, %xmm5", "unpckhpd %xmm4, %xmm2", "movddup %xmm2, %xmm4"),
        *("minpd %xmm4, %xmm5", "movupd %xmm5, (%rdi)"),
    ),
}
"""Legacy SSE beside 256-bit code; a form with VEX that had its sources the other way round would show."""


def mixed(*statements):
    behind = ("vmovups %ymm2, (%rdx)", "vmovups %ymm5, 32(%rdx)", "ret")
    return loop(WIDE, *statements, "add $32, %rsi", "dec %rcx", "jnz .Lloop", behind=behind)


@pytest.mark.parametrize("kind", MIXED)
def test_sse_rewritten_with_vex_differs_in_upper_halves_alone(harness, analyzer, kind):
    text = mixed(*MIXED[kind])
    options = AnalysisOptions(target=Target(microarchitectures=("SPR",)))
    offered = fixes(analyzer, text, options, analyzer.analyze(text, options))
    (proposal,) = [fix.proposal for fix in offered if fix.proposal.brief == "SSE with VEX"]
    changed = apply(text, proposal.edits)
    region = region_of(analyzer, text)[1]
    found = compare(harness, VersionPair(text, changed, 1, proposal.cleared), OPTIONS.source, region, 1000)
    assert found.sound and {"ymm0", "ymm2", "ymm5"} >= set(found.cleared) > set()
    assert "apart from the upper halves of ymm" in str(found)
    # The code behind the loop, or the caller, may look at them; a rewrite that does not say so is wrong.
    assert (
        compare(harness, VersionPair(text, changed, 1), OPTIONS.source, region, 1000).differs == found.cleared
    )


def test_another_lower_half_is_found_where_upper_halves_may_differ(harness, analyzer):
    text = mixed("psubd %xmm4, %xmm2")
    changed = mixed("vpsubd %xmm2, %xmm4, %xmm2")
    versions = VersionPair(text, changed, 1, frozenset({"XMM2"}))
    assert compare(harness, versions, OPTIONS.source, region_of(analyzer, text)[1], 1000).differs == ("ymm2",)
    versions = VersionPair(text, mixed("vpsubd %xmm4, %xmm2, %xmm2"), 1, frozenset({"XMM5"}))
    assert compare(harness, versions, OPTIONS.source, region_of(analyzer, text)[1], 1000).differs == ("ymm2",)
