"""Rewrites: the resulting text, the stated gain, and what is left alone."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.rewrites.proposal import Fix, Proposal, Replacement, apply
from cyclelens.analyzer.rewrites.registry import fixes, proposals
from msgspec.structs import replace

OPTIONS = AnalysisOptions()


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    return Analyzer()


def kernel(*statements: str, options: str = "", intel: bool = False) -> str:
    head = [".intel_syntax noprefix"] if intel else []
    return "\n".join([*head, f"# cyclelens-begin x {options}".rstrip(), *statements, "# cyclelens-end", ""])


def found(analyzer: Analyzer, text: str) -> list[Fix]:
    return list(fixes(analyzer, text, OPTIONS, analyzer.analyze(text, OPTIONS)))


def body(text: str, fix: Fix) -> list[str]:
    """The statements after the rewrite, without markers and directives of the whole file."""
    lines = [line.strip() for line in apply(text, fix.proposal.edits).split("\n")]
    return [line for line in lines if line and not line.startswith(("# cyclelens", ".intel"))]


LOOP = (".L1:", "dec %r15", "jnz .L1")
INDEPENDENT = ("lea 8(%rdi), %rdi", "lea 8(%rsi), %rsi", "mov (%rdi), %r8")
INTEL = (".L1:", "dec r15", "jnz .L1")

# Name: statements, Intel syntax or not, words of the title, statements afterwards.
CASES = {
    "a constant is loaded before the region": (
        ["add $0x1234, %ax", "dec %r15"],
        False,
        "Load 0x1234 into r11d",
        ["mov $0x1234, %r11d", "add %r11w, %ax", "dec %r15"],
    ),
    "32 bits instead of 16": (
        ["add ax, 0x1234", "dec r15"],
        True,
        "Use eax",
        ["add eax, 0x1234", "dec r15"],
    ),
    "operands stay in their column": (
        ["add     $0x1234, %ax", "dec %r15"],
        False,
        "Use eax",
        ["add     $0x1234, %eax", "dec %r15"],
    ),
    "behind a tab": (
        ["add\t$0x1234, %ax", "dec %r15"],
        False,
        "Load 0x1234",
        ["mov\t$0x1234, %r11d", "add\t%r11w, %ax", "dec %r15"],
    ),
    "popcnt waits for its destination": (
        [LOOP[0], "popcnt %rax, %rcx", *LOOP[1:]],
        False,
        "Clear ecx first",
        [LOOP[0], "xor %ecx, %ecx", "popcnt %rax, %rcx", *LOOP[1:]],
    ),
    "a conversion waits for its destination": (
        [INTEL[0], "cvtsi2sd xmm0, rax", "mulsd xmm0, xmm1", *INTEL[1:]],
        True,
        "Clear xmm0 first",
        [INTEL[0], "xorps xmm0, xmm0", "cvtsi2sd xmm0, rax", "mulsd xmm0, xmm1", *INTEL[1:]],
    ),
    "a lea of three components": (
        [LOOP[0], "lea 8(%rcx,%rbx,4), %rcx", *LOOP[1:]],
        False,
        "three-component lea",
        [LOOP[0], "lea (%rcx,%rbx,4), %rcx", "lea 8(%rcx), %rcx", *LOOP[1:]],
    ),
    "a lea of three components in Intel syntax": (
        [INTEL[0], "lea rcx, [rcx + rbx*4 - 8]", *INTEL[1:]],
        True,
        "three-component lea",
        [INTEL[0], "lea rcx, [rcx + rbx*4]", "lea rcx, [rcx - 8]", *INTEL[1:]],
    ),
    "loop from microcode": (
        [".L1:", "add %rax, %rbx", "loop .L1"],
        False,
        "instead of loop",
        [".L1:", "add %rax, %rbx", "dec %rcx", "jnz .L1"],
    ),
    "jrcxz": (
        [".L1:", "jrcxz .L2", "add %rax, %rbx", "sub %rsi, %rcx", "jmp .L1", ".L2:"],
        False,
        "Use test and jz",
        [".L1:", "test %rcx, %rcx", "jz .L2", "add %rax, %rbx", "sub %rsi, %rcx", "jmp .L1", ".L2:"],
    ),
    "shifts by cl": (
        [INTEL[0], "shl edx, cl", "shr rax, cl", *INTEL[1:]],
        True,
        "Use shrx",
        [INTEL[0], "shl edx, cl", "shrx rax, rax, rcx", *INTEL[1:]],
    ),
    "a string instruction": (
        [INTEL[0], "lodsb", "stosb", *INTEL[1:]],
        True,
        "instead of stosb",
        [INTEL[0], "lodsb", "mov [rdi], al", "lea rdi, [rdi + 1]", *INTEL[1:]],
    ),
    "bsf waits for its destination": (
        [LOOP[0], "bsf %rax, %rcx", "add %rcx, %rbx", *LOOP[1:]],
        False,
        "Use tzcnt",
        [LOOP[0], "tzcnt %rax, %rcx", "add %rcx, %rbx", *LOOP[1:]],
    ),
    "a byte is loaded and merged": (
        [LOOP[0], "mov (%rdi), %al", "add %al, %bl", "inc %rdi", *LOOP[1:]],
        False,
        "Write the whole of eax",
        [LOOP[0], "movzbl (%rdi), %eax", "add %al, %bl", "inc %rdi", *LOOP[1:]],
    ),
    "a word is loaded and merged in Intel syntax": (
        [INTEL[0], "mov cx, [rdi]", "add bx, cx", "inc rdi", *INTEL[1:]],
        True,
        "Write the whole of ecx",
        [INTEL[0], "movzx ecx, word ptr [rdi]", "add bx, cx", "inc rdi", *INTEL[1:]],
    ),
    "memory and a constant do not fuse": (
        [".L1:", "add $8, %rdi", "cmpb $3, (%rdi)", "jb .L1"],
        False,
        "so that cmp and jb fuse",
        [".L1:", "add $8, %rdi", "movzbl (%rdi), %r11d", "cmp $3, %r11b", "jb .L1"],
    ),
    "a compare with zero": (
        [".L1:", "add $8, %rdi", "add $8, %rsi", "cmp $0, %rdi", "js .L1"],
        False,
        "Use test",
        [".L1:", "add $8, %rdi", "add $8, %rsi", "test %rdi, %rdi", "js .L1"],
    ),
    "a lea whose base needs a displacement": (
        [LOOP[0], "lea (%rbp,%rax), %rax", *LOOP[1:]],
        False,
        "Exchange base and index",
        [LOOP[0], "lea (%rax,%rbp,1), %rax", *LOOP[1:]],
    ),
    "a compare far from its jump": (
        [".L1:", "add %rax, %rax", "dec %r15", *INDEPENDENT, "jnz .L1"],
        False,
        "Move dec down to jnz",
        [".L1:", "add %rax, %rax", *INDEPENDENT, "dec %r15", "jnz .L1"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_rewrite_and_its_gain(analyzer: Analyzer, name: str) -> None:
    statements, intel, title, expected = CASES[name]
    text = kernel(*statements, intel=intel)
    (fix,) = [fix for fix in found(analyzer, text) if title in fix.proposal.title]
    assert body(text, fix) == expected
    # The stated gain is the one that a user sees after applying the rewrite.
    again = analyzer.analyze(apply(text, fix.proposal.edits), OPTIONS).regions[0].predictions[0]
    assert again.cycles_per_iteration == fix.after < fix.before


def test_a_store_without_index_gets_port_7_on_haswell(analyzer: Analyzer) -> None:
    statements = ["mov %rax, (%rdi,%rcx,8)", "mov (%rsi,%rcx,8), %rax", "mov 8(%rsi,%rcx,8), %rbx"]
    text = kernel(".L1:", *statements, *LOOP[1:], options="arch=HSW")
    (fix,) = [fix for fix in found(analyzer, text) if fix.proposal.code == "indexed-store"]
    assert body(text, fix)[1:3] == ["lea (%rdi,%rcx,8), %r11", "mov %rax, (%r11)"]


SUMS = [".L1:", *[f"add {8 * n}(%rdi), %r{8 + n}" for n in range(4)], "add $32, %rdi"]


def test_padding_keeps_a_jump_off_a_boundary(analyzer: Analyzer) -> None:
    text = ".p2align 6\n" + kernel(*SUMS, "prefetcht0 256(%rdi)", "sub $1, %rsi", "jnz .L1")
    (fix,) = [fix for fix in found(analyzer, text) if fix.proposal.title.startswith("Pad")]
    assert fix.proposal.code == "jcc-erratum"
    assert body(text, fix)[-3:] == [".p2align 5", "sub $1, %rsi", "jnz .L1"]
    # Without an alignment the jump is hit at a few of 64 places only.
    unaligned = text.partition("\n")[2]
    assert not [fix for fix in found(analyzer, unaligned) if fix.proposal.title.startswith("Pad")]


@pytest.mark.parametrize(
    "statements",
    [
        # The address needs the register that would be cleared.
        [".L1:", "popcnt (%rcx), %rcx", *LOOP[1:]],
        # The true source is the destination.
        [".L1:", "sqrtsd %xmm0, %xmm0", *LOOP[1:]],
        # The load between uses what the compare changes.
        [".L1:", "dec %r15", "mov (%r15), %rax", "jnz .L1"],
        # The whole of the register is read.
        [".L1:", "mov (%rdi), %al", "add %rax, %rbx", *LOOP[1:]],
        # Its high byte is read.
        [".L1:", "mov (%rdi), %bl", "add %bh, %dl", *LOOP[1:]],
        # The flags of the shift are read, or those that loop hands on.
        [".L1:", "shl %cl, %rdx", "adc %rax, %rbx", *LOOP[1:]],
        [".L1:", "adc (%rdi), %rax", "lea 8(%rdi), %rdi", "loop .L1"],
        # The upper part of the vector is read.
        [".L1:", "cvtsi2sd %rax, %xmm0", "addpd %xmm0, %xmm1", *LOOP[1:]],
        # The flags are read in between.
        [".L1:", "dec %r15", "setz %al", "jnz .L1"],
        # A symbol's value is not known here.
        [".set table, 64", ".L1:", "lea table(%rcx,%rbx,4), %rcx", *LOOP[1:]],
        # The instruction comes from a repetition: there is no statement of its own to rewrite.
        [".L1:", ".rept 2", "popcnt %rax, %rcx", ".endr", *LOOP[1:]],
    ],
)
def test_what_would_change_the_meaning_is_not_proposed(analyzer: Analyzer, statements: list[str]) -> None:
    text = kernel(*statements)
    analysis = analyzer.analyze(text, OPTIONS)
    assert analysis.regions[0].predictions
    found = proposals(text.split("\n"), analysis.dialect, analysis.regions[0])
    assert [proposal for proposal in found if not proposal.choice] == []


def test_a_register_is_cleared_before_the_flags_are_set(analyzer: Analyzer) -> None:
    statements = [".L1:", "cmp %rsi, %rdi", "setb %al", "movzbl %al, %edx"]
    text = kernel(*statements, *LOOP[1:])
    analysis = analyzer.analyze(text, OPTIONS)
    (proposal,) = [
        proposal
        for proposal in proposals(text.split("\n"), analysis.dialect, analysis.regions[0])
        if "Clear eax before" in proposal.title
    ]
    assert apply(text, proposal.edits).split("\n")[2:5] == ["xor %eax, %eax", "cmp %rsi, %rdi", "setb %al"]


def test_a_register_is_borrowed_only_where_the_function_does_not_use_it(analyzer: Analyzer) -> None:
    body_ = kernel(".L1:", "add $8, %rdi", "cmpq $3, (%rdi)", "jb .L1")
    for around, borrowed in (
        ("mov $1, %r11d\n", "r10"),
        ("mov $1, %r11d\n.globl next\n", "r11"),
        ("# r11 is free\n", "r11"),
    ):
        (fix,) = [fix for fix in found(analyzer, around + body_) if "so that" in fix.proposal.title]
        assert f"Load into {borrowed} " in fix.proposal.title


@pytest.mark.parametrize("entry", ["jmp .L1", "jmp 1f"])
def test_nothing_is_put_in_front_of_a_region_that_is_entered_elsewhere(
    analyzer: Analyzer, entry: str
) -> None:
    label = entry.removeprefix("jmp ").rstrip("f")
    text = kernel(f"{label}:", "add $0x1234, %ax", "dec %r15")
    for before, offered in (("", True), (f"    {entry}\n    nop\n", False)):
        titles = [fix.proposal.title for fix in found(analyzer, before + text)]
        assert any("before the region" in title for title in titles) is offered


def test_what_the_processor_does_not_have_is_not_offered(analyzer: Analyzer) -> None:
    statements = [".L1:", "shl %cl, %rdx", "shl %cl, %rax", *LOOP[1:]]
    assert found(analyzer, kernel(*statements))
    assert found(analyzer, kernel(*statements, options="arch=SNB")) == []


def test_what_does_not_help_is_not_offered(analyzer: Analyzer) -> None:
    # The division takes so long that the stall behind it does not matter.
    text = kernel(".L1:", "popcnt %rax, %rcx", "div %rbx", *LOOP[1:])
    analysis = analyzer.analyze(text, OPTIONS)
    assert list(proposals(text.split("\n"), analysis.dialect, analysis.regions[0])) != []
    assert found(analyzer, text) == []


def test_an_unaligned_region_is_aligned_in_the_text(analyzer: Analyzer) -> None:
    text = kernel(*SUMS, "add 8(%rdi), %rax", "sub $1, %rsi", "jnz .L1", options="alignment=4")
    (fix,) = [fix for fix in found(analyzer, text) if fix.proposal.title.startswith("Align")]
    changed = apply(text, fix.proposal.edits).split("\n")
    assert changed[:2] == [".p2align 6", "# cyclelens-begin x alignment=0"]


SCAN = (Path(__file__).parents[2] / "examples" / "byte_scan.s").read_text()


@pytest.mark.parametrize(
    ("region", "title", "before", "after", "statements"),
    [
        ("find-avx2", "Put the loop 16 bytes behind a 32-byte boundary", 3.0, 2.5, [".skip 16, 0x90"]),
        ("find-sse2", "Align the loop to 32 bytes", 3.0, 1.5, []),
    ],
)
def test_a_loop_that_the_erratum_may_hit_is_put_where_it_does_not(
    analyzer: Analyzer, region: str, title: str, before: float, after: float, statements: list[str]
) -> None:
    """The alignment in front of the loop gives way to a stricter one."""
    (fix,) = [fix for fix in found(analyzer, SCAN) if fix.region == region and fix.proposal.choice]
    assert (fix.proposal.title, fix.proposal.code) == (title, "jcc-erratum")
    assert (fix.before, fix.after, fix.where) == (before, after, " at 2 of 4 positions")
    changed = apply(SCAN, fix.proposal.edits)
    assert changed.count(".p2align 4") == SCAN.count(".p2align 4") - 1
    lines = [line.strip() for line in changed.split("\n")]
    here = lines.index(".p2align 5")
    assert lines[here : here + 2][1:][: len(statements)] == statements
    (again,) = [each for each in analyzer.analyze(changed, OPTIONS).regions if each.region.name == region]
    assert {position.cycles_per_iteration for position in again.predictions[0].positions} == {after}
    line = SCAN.split("\n")[fix.proposal.line]
    assert line.split()[0] in ("cmp", "test")


def test_an_alignment_is_never_made_weaker(analyzer: Analyzer) -> None:
    text = ".p2align 6  # kept\n" + kernel(*SUMS, "prefetcht0 256(%rdi)", "sub $1, %rsi", "jnz .L1")
    (fix,) = [fix for fix in found(analyzer, text) if fix.proposal.choice]
    assert fix.where == ""
    assert apply(text, fix.proposal.edits).split("\n")[:2] == [".p2align 6", ".skip 16, 0x90  # kept"]


def test_files_of_nasm_are_aligned_in_their_own_words(analyzer: Analyzer) -> None:
    loop = [".a:", *[f"mov r{8 + n % 7}, rax" for n in range(9)], "dec rcx", "jnz .a"]
    text = "\n".join(["bits 64", "default rel", "; cyclelens-begin x", *loop, "; cyclelens-end", ""])
    proposed = proposals(text.split("\n"), "intel", analyzer.analyze(text, OPTIONS).regions[0])
    # The figures are known everywhere: of two places that are as good the simpler one is tried.
    assert [each.edits[0].text for each in proposed if each.choice] == ["align 32\n"]


def test_a_name_that_ends_in_a_number_changes_no_rewrite(analyzer: Analyzer) -> None:
    text = kernel(".L1:", "add $0x1234, %ax", "dec %r15", "jnz .L1")
    numbered = text.replace("begin x", "begin x.2")
    titles = [fix.proposal.title for fix in found(analyzer, text)]
    assert titles == ["Align the loop to 32 bytes"]
    assert [fix.proposal.title for fix in found(analyzer, numbered)] == titles


def test_a_proposal_names_itself_at_two_lengths() -> None:
    proposal = Proposal("Use eax", 0, (), caution="the flags differ", reason=": it is faster")
    assert (proposal.title, proposal.short) == ("Use eax (the flags differ): it is faster", "use eax")
    assert replace(proposal, brief="eax", caution="", reason="").title == "Use eax"


def test_edits_are_applied_as_if_at_once() -> None:
    text = "a\nbc\nd"
    edits = (Replacement(0, 0, 1, 0, ""), Replacement(1, 1, 1, 2, "X\nY"), Replacement(2, 1, 2, 1, "!"))
    for order in range(6):
        shuffled = random.Random(order).sample(edits, 3)
        assert apply(text, shuffled) == "bX\nY\nd!"


def test_a_fix_moves_with_its_text(analyzer: Analyzer) -> None:
    text = kernel("add $0x1234, %ax", "dec %r15")
    for fix in found(analyzer, text):
        moved = fix.moved(2)
        assert apply("\n\n" + text, moved.proposal.edits) == "\n\n" + apply(text, fix.proposal.edits)
        assert moved.proposal.line == fix.proposal.line + 2


@pytest.mark.parametrize(
    ("statements", "code", "before", "after"),
    [
        (["nopl 0(%rax)"] * 12, "crowded-window", 3.0, 1.62),
        ([".skip 32, 0x90", ".L1:", *["mov %rax, %rbx"] * 10], "straddling-loop", 2.0, 1.38),
    ],
)
def test_a_loop_is_put_where_the_op_cache_reads_it_faster(
    analyzer: Analyzer, statements: list[str], code: str, before: float, after: float
) -> None:
    """The alignment in front of the region says where it lies."""
    head = [] if statements[0].startswith(".skip") else [".L1:"]
    body_begins = statements.index(".L1:") if ".L1:" in statements else 0
    region = kernel(*head, *statements[body_begins:], "dec %r9", "jnz .L1", options="arch=ZEN5")
    text = "\n".join([".p2align 6", *statements[:body_begins], region])
    (fix,) = [fix for fix in found(analyzer, text) if fix.proposal.choice]
    assert (fix.proposal.code, fix.before, fix.after) == (code, before, after)
    again = analyzer.analyze(apply(text, fix.proposal.edits), OPTIONS).regions[0]
    assert again.predictions[0].cycles_per_iteration == after
    assert code not in [finding.code for finding in again.findings]


RENAMED = {
    "a constant is added by the renamer": (
        [LOOP[0], "add $8, %eax", "add %eax, %ebx", "imul %ebx, %eax", *LOOP[1:]],
        "Use rax (its upper half and the flags may differ): the renamer adds the constant",
        [LOOP[0], "add $8, %rax", "add %eax, %ebx", "imul %ebx, %eax", *LOOP[1:]],
    ),
    "the result of a lea": (
        [LOOP[0], "lea 8(%rax), %eax", "imul %ecx, %eax", *LOOP[1:]],
        "Use rax (its upper half may differ): the renamer adds the constant",
        [LOOP[0], "lea 8(%rax), %rax", "imul %ecx, %eax", *LOOP[1:]],
    ),
    "a word in memory that is loaded again": (
        [LOOP[0], "add %rax, (%rdi)", *LOOP[1:]],
        "Use r11 (which the region does not use): the load is renamed if its operation reads nothing else",
        [LOOP[0], "mov %rax, %r11", "add (%rdi), %r11", "mov %r11, (%rdi)", *LOOP[1:]],
    ),
}


@pytest.mark.parametrize("case", RENAMED)
def test_what_a_renamer_does_by_itself_is_offered_where_it_does_it(case: str, analyzer: Analyzer) -> None:
    statements, title, expected = RENAMED[case]
    text = kernel(*statements, options="arch=GNR")
    chosen = [fix for fix in found(analyzer, text) if fix.proposal.title == title]
    assert [body(text, fix) for fix in chosen] == [expected]
    assert chosen[0].after <= chosen[0].before - 0.9
    elsewhere = kernel(*statements, options="arch=SKL")
    assert title not in {fix.proposal.title for fix in found(analyzer, elsewhere)}


@pytest.mark.parametrize(
    "statements",
    [
        [LOOP[0], "add $8, %eax", "imul %rax, %rax", *LOOP[1:]],  # the upper half is read
        [LOOP[0], "add $8, %eax", "adc %ebx, %eax", *LOOP[1:]],  # the carry is
        [LOOP[0], "lock add %rax, (%rdi)", *LOOP[1:]],
        [LOOP[0], "sub %rax, (%rdi)", *LOOP[1:]],
        [LOOP[0], "add %rax, (%rdi,%rcx)", *LOOP[1:]],
    ],
)
def test_what_would_be_another_result_or_not_renamed_either_is_left(
    statements: list[str], analyzer: Analyzer
) -> None:
    assert not [
        fix
        for fix in found(analyzer, kernel(*statements, options="arch=GNR"))
        if "rename" in fix.proposal.title
    ]


@pytest.mark.parametrize(
    ("encoding", "mark"), [("latin-1", b""), ("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe")]
)
def test_what_is_not_rewritten_keeps_its_bytes(tmp_path: Path, encoding: str, mark: bytes) -> None:
    sums = "    vaddss (%rdi), %xmm0, %xmm0\n    add $4, %rdi\n    dec %rsi\n    jnz .L1\n    ret\n"
    text = f"    # Z\xe4hler\n.L1:\n{sums}".replace("\n", "\r\n")
    path = tmp_path / "k.s"
    path.write_bytes(mark + text.encode(encoding))
    assert main(["rewrite", str(path), "--arch", "SKL", "--apply", "1"]) == 0
    changed = path.read_bytes()
    assert changed.startswith(mark + "    # Z\xe4hler\r\n".encode(encoding))
    lines = changed[len(mark) :].decode(encoding).split("\n")
    assert "    vaddss 4(%rdi), %xmm1, %xmm1\r" in lines
    assert {line[-1:] for line in lines[:-1]} == {"\r"}
