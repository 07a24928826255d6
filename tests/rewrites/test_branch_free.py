"""A branch over one instruction becomes a conditional move: text, price and equal results."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.measuring.equality import VersionPair, compare
from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions, Target
from cyclelens.analyzer.model.choices import Clocks
from cyclelens.analyzer.rewrites.proposal import Fix, Proposal, apply
from cyclelens.analyzer.rewrites.registry import fixes, proposals

GIVEN = "taken=0.5 mispredicted=0.5"
BEHIND = ("dec %r15", "jnz .L1")


def kernel(*skipped: str, jump: str = "jle", options: str = GIVEN, behind: tuple[str, ...] = BEHIND) -> str:
    statements = ("cmp %rdx, %rax", f"{jump} .Lskip", *skipped, ".Lskip:", "add $8, %rsi", *behind)
    return "\n".join([f"# cyclelens-begin k {options}", ".L1:", *statements, "# cyclelens-end", ""])


def options_of(core: str = "SKL", mispredicted: str = "") -> AnalysisOptions:
    given = (("k", mispredicted),) if mispredicted else ()
    return AnalysisOptions(SourceOptions(region="k"), Target((core,), alignment=0, mispredicted=given))


def found(text: str, core: str = "SKL", mispredicted: str = "") -> list[Fix]:
    options, analyzer = options_of(core, mispredicted), Analyzer()
    every = fixes(analyzer, text, options, analyzer.analyze(text, options))
    return [each for each in every if "branch-free" in each.proposal.kinds]


SKIPPED = {
    "mov %rax, %rdx": ["cmovnle %rax, %rdx"],
    "movq %rax, %rdx": ["cmovnle %rax, %rdx"],
    "mov %eax, %edx": ["mov %eax, %r11d", "cmovnle %r11, %rdx"],
    "mov $7, %ecx": ["mov $7, %r11d", "cmovnle %r11, %rcx"],
    "add $8, %rcx": ["lea 8(%rcx), %r11", "cmovnle %r11, %rcx"],
    "subl $8, %ecx": ["lea -8(%rcx), %r11d", "cmovnle %r11, %rcx"],
    "inc %rcx": ["lea 1(%rcx), %r11", "cmovnle %r11, %rcx"],
    "add %rax, %rcx": ["lea (%rcx,%rax), %r11", "cmovnle %r11, %rcx"],
    "lea 3(%rax,%rdx,2), %rcx": ["lea 3(%rax,%rdx,2), %r11", "cmovnle %r11, %rcx"],
}


@pytest.mark.parametrize("skipped", SKIPPED)
def test_the_branch_is_replaced_and_the_marker_forgets_its_shares(skipped: str) -> None:
    text = kernel(skipped)
    (fix,) = found(text)
    changed = apply(text, fix.proposal.edits).split("\n")
    moves = SKIPPED[skipped]
    assert changed == [
        *("# cyclelens-begin k", ".L1:", "cmp %rdx, %rax", *moves),
        *(".Lskip:", "add $8, %rsi", *BEHIND, "# cyclelens-end", ""),
    ]


@pytest.mark.parametrize("skipped", SKIPPED)
@pytest.mark.parametrize("jump", ["jle", "jb", "jne", "js", "jnp", "jpe"])
def test_the_results_are_the_same(skipped: str, jump: str) -> None:
    text = kernel(skipped, jump=jump)
    (fix,) = found(text)
    options = options_of()
    (region,) = Analyzer().analyze(text, options).regions
    try:
        with Harness(clock=Clocks.NONE) as harness:
            pair = VersionPair(text, apply(text, fix.proposal.edits), 1)
            equal = compare(harness, pair, options.source, region, 200)
    except CannotMeasure as error:
        pytest.skip(str(error))
    assert equal.sound, str(equal)
    assert equal.inputs == 200


def test_intel_syntax_and_a_jump_that_is_likelier_taken() -> None:
    text = (
        ".intel_syntax noprefix\n# cyclelens-begin k taken=0.6 mispredicted=0.4\n.L1:\n    cmp rax, rdx\n"
        "    jbe .Lskip\n    add rcx, rax\n.Lskip:\n    add rsi, 8\n    dec r15\n    jnz .L1\n"
        "# cyclelens-end\n"
    )
    (fix,) = found(text)
    assert "    cmp rax, rdx\n    lea r11, [rcx + rax]\n    cmovnbe rcx, r11\n.Lskip:\n" in apply(
        text, fix.proposal.edits
    )


def test_the_price_is_that_of_the_mispredictions() -> None:
    """Half of the branches cost 16.5 cycles each; the other version has none."""
    (fix,) = found(kernel("mov %rax, %rdx"))
    analysis = Analyzer().analyze(kernel("mov %rax, %rdx"), options_of())
    given = analysis.regions[0].predictions[0].mispredictions
    assert given is not None
    assert fix.before == pytest.approx(given.base + 0.5 * 16.5)
    plain = Analyzer().analyze(apply(kernel("mov %rax, %rdx"), fix.proposal.edits), options_of())
    assert fix.after == plain.regions[0].predictions[0].cycles_per_iteration


def test_an_option_prices_it_like_a_marker() -> None:
    text = kernel("mov %rax, %rdx", options="taken=0.5")
    assert found(text) == []
    (fix,) = found(text, mispredicted="0.5")
    assert fix.before - fix.after > 5


def test_other_rewrites_keep_the_mispredicted_branches() -> None:
    """A dependency that goes saves what it saves without them."""
    text = "# cyclelens-begin k {}\n.L1:\n    popcnt %rax, %rcx\n    dec %r15\n    jnz .L1\n# cyclelens-end\n"
    analyzer = Analyzer()
    gains = []
    for given in ("", "mispredicted=0.1"):
        own, options = text.format(given), options_of()
        (fix, *_) = fixes(analyzer, own, options, analyzer.analyze(own, options))
        gains.append((fix.proposal.title, round(fix.before - fix.after, 4)))
    assert gains[0] == gains[1]


@pytest.mark.parametrize(
    "text",
    [
        kernel("mov (%rdi), %rdx"),
        kernel("mov 8, %rdx"),
        kernel("add (%rdi), %rcx"),
        kernel("mov %rax, (%rdi)"),
        kernel("mov %rax, %rsp"),
        kernel("mov %dx, %cx"),
        kernel("imul %rax, %rcx"),
        kernel("mov %rax, %rdx", "mov %rax, %rcx"),
        kernel("add $8, %rcx", behind=("adc $0, %rbx", *BEHIND)),
        kernel("mov %rax, %rdx", options="taken=0.5"),
        kernel("mov %rax, %rdx", options="taken=0.5 mispredicted=0"),
    ],
    ids=[
        *(
            "load",
            "absolute load",
            "add of memory",
            "store",
            "stack",
            "16 bits",
            "other work",
            "two",
            "flags",
        ),
        *("no share", "never mispredicted"),
    ],
)
def test_what_may_fault_or_change_is_left_alone(text: str) -> None:
    """``add $8, %rsi`` behind the label overwrites the flags; ``adc`` would read them without it."""
    if "adc" in text:
        text = text.replace("add $8, %rsi\n", "")
    assert found(text) == []


def proposed(text: str) -> list[Proposal]:
    """Every branch-free version, whether it is the fastest or not."""
    analysis = Analyzer().analyze(text, options_of())
    every = proposals(text.split("\n"), analysis.dialect, analysis.regions[0])
    return [each for each in every if "branch-free" in each.kinds]


SET = ("setnle %r11b", "movzbl %r11b, %r11d")
SUMS = {
    ("inc %rcx", "jae"): ("adc $0, %rcx",),
    ("dec %rcx", "jnc"): ("sbb $0, %rcx",),
    ("add $1, %rcx", "jb"): ("sbb $-1, %rcx",),
    ("sub $1, %rcx", "jc"): ("adc $-1, %rcx",),
    ("inc %rcx", "jle"): (*SET, "add %r11, %rcx"),
    ("add $-1, %rcx", "jle"): (*SET, "sub %r11, %rcx"),
    ("add $8, %rcx", "jle"): (*SET, "lea (%rcx,%r11,8), %rcx"),
    ("add %rax, %rcx", "jae"): ("sbb %r11, %r11", "and %rax, %r11", "add %r11, %rcx"),
    ("sub %rdx, %rcx", "jle"): (*SET, "neg %r11", "and %rdx, %r11", "sub %r11, %rcx"),
    ("or %rcx, %rcx", "jle"): (*SET, "neg %r11", "and %rcx, %r11", "or %r11, %rcx"),
    ("xor %rax, %rcx", "jle"): (*SET, "neg %r11", "and %rax, %r11", "xor %r11, %rcx"),
}


@pytest.mark.parametrize(("skipped", "jump"), SUMS)
def test_a_sum_takes_what_the_flags_decide(skipped: str, jump: str) -> None:
    text = kernel(skipped, jump=jump)
    made = [apply(text, each.edits) for each in proposed(text)]
    wanted = "\n".join(("cmp %rdx, %rax", *SUMS[skipped, jump], ".Lskip:"))
    (changed,) = (each for each in made if wanted in each)
    options = options_of()
    (region,) = Analyzer().analyze(text, options).regions
    try:
        with Harness(clock=Clocks.NONE) as harness:
            equal = compare(harness, VersionPair(text, changed, 1), options.source, region, 200)
    except CannotMeasure as error:
        pytest.skip(str(error))
    assert equal.sound, str(equal)
    assert equal.inputs == 200


def test_the_fastest_version_is_offered_with_its_price() -> None:
    """One addition with carry is faster than a `lea` and a conditional move behind each other."""
    (fix,) = found(kernel("inc %rcx", jump="jae"))
    assert fix.proposal.effect == "Use adc instead of jae"
    assert fix.before - fix.after > 5


@pytest.mark.parametrize(
    "skipped", ["inc %ecx", "add %eax, %ecx", "mov $7, %rcx", "add $3, %rcx", "sub $8, %rcx"]
)
def test_no_sum_is_made_of_half_a_register_or_of_another_step(skipped: str) -> None:
    assert all("cmov" in each.effect for each in proposed(kernel(skipped)))
