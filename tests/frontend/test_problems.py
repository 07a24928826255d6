"""Every problem is at its line and stays within its statement or its region."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.frontend import assemble as assembly
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.passes import builtin
from cyclelens.analyzer.frontend.source.problems import CODES, make_problem
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Syntax
from cyclelens.analyzer.model.source import AssembledFile, Origin, Severity
from testkit.whole_files import needs_nasm

IN_A_REGION = [
    ("frobnicate %rax", "unsupported-instruction", True),
    ("add %rax,", "syntax-error", True),
    (".p2align x", "syntax-error", True),
    ('.ascii "a', "syntax-error", True),
    ("%%%", "syntax-error", True),
    ("jmp *", "syntax-error", True),
    ("jne .Lnowhere", "undefined-label", True),
    ("jne 7f", "undefined-label", True),
    ("jne nowhere", "undefined-label", False),
    ("mov nowhere, %eax", "undefined-symbol", False),
    (".frobnicate 1", "unknown-directive", False),
    (".incbin 'x'", "not-supported", True),
    (".if 1", "not-supported", True),
    (".rept x", "not-supported", True),
    (".irp a, b", "not-supported", True),
    ("here: here: nop", "duplicate-label", False),
    ("add $1, %eax" + " " * 3000 + ", %ecx", "statement-too-long", True),
]


@pytest.mark.parametrize(
    ("line", "problem_code", "incomplete"), IN_A_REGION, ids=[c[0][:30] for c in IN_A_REGION]
)
def test_a_mistake_is_reported_at_its_line_and_leaves_the_rest_alone(
    line: str, problem_code: str, incomplete: bool
) -> None:
    text = f"# cyclelens-begin a\nnop\n  {line}\nret\n# cyclelens-end\n"
    result = assemble(
        text + "# cyclelens-begin b\nnop\n# cyclelens-end\n",
        SourceOptions(syntax=Syntax.ATT, allow_external_programs=False),
    )
    assert [(problem.line, problem.code) for problem in result.problems] == [(2, problem_code)]
    problem = result.problems[0]
    assert 2 <= problem.column < problem.end_column <= 2 + len(line)
    first, second = result.regions
    assert first.incomplete is incomplete
    assert first.code[:1] == b"\x90" and first.code[-1:] == b"\xc3"
    assert (second.incomplete, second.code) == (False, b"\x90")


def test_preprocessor_lines_are_pointed_out_where_they_are_comments() -> None:
    text = "# cyclelens-begin\n#ifdef FAST\nnop\n#endif\n# if that is a comment\n# cyclelens-end\n"
    result = assemble(text, SourceOptions(origin=Origin("/k.s"), allow_external_programs=False))
    assert [(p.line, p.code, p.severity) for p in result.problems] == [
        (1, "not-supported", Severity.WARNING),
        (3, "not-supported", Severity.WARNING),
    ]


def test_mistakes_outside_of_regions_are_not_reported() -> None:
    garbage = 'frobnicate %rax\n.frob\njne .Lnowhere\nadd %rax,\n"open\n%%%\n.if x\n[cmp $1\n'
    result = assemble(garbage + "# cyclelens-begin\nnop\n# cyclelens-end\n.endif\n" + garbage)
    assert result.problems == ()
    assert result.regions[0].code == b"\x90"
    assert assemble(garbage * 10).problems == ()


def test_a_text_without_loops_says_what_may_be_a_misspelt_label() -> None:
    found = assemble(".Loop: dec %ecx\n jz out\n jnz .Lop\n jnz 1f\n")
    assert [(each.line, each.message) for each in found.problems] == [
        (2, "The label '.Lop' is not defined in this file; did you mean '.Loop'?")
    ]
    assert assemble(".Loop: dec %ecx\n jz .Lop\n jnz .Loop\n").regions != ()


def test_a_text_without_loops_says_that_a_blank_is_none() -> None:
    (problem,) = assemble(".L1:\n\u00a0dec %ecx\n\u00a0jnz .L1\n").problems
    assert (problem.line, "only looks like a space" in problem.message) == (1, True)


def test_labels_in_front_of_a_refused_statement_are_known() -> None:
    found = assemble("# cyclelens-begin\n.L1: dec\u00a0%ecx\n jnz .L1\n# cyclelens-end\n")
    assert [(each.line, each.column, each.code) for each in found.problems] == [(1, 5, "syntax-error")]


def test_a_jump_to_itself_misses_no_label() -> None:
    found = assemble("# cyclelens-begin\njnz .\njmp .\n# cyclelens-end\n")
    assert found.problems == ()
    assert b"".join(region.code for region in found.regions) == b"\x75\xfe\xeb\xfe"


def test_an_open_comment_swallows_the_rest_and_says_so() -> None:
    result = assemble("# cyclelens-begin\nnop\n/* and so on\nret\n# cyclelens-end\n")
    assert ("comment-not-closed", 2) in [(p.code, p.line) for p in result.problems]
    assert result.regions[0].code == b"\x90"


def test_empty_and_unmarked_texts() -> None:
    assert assemble("") == AssembledFile((), (), "att")
    assert assemble("mov rax, rbx\n") == AssembledFile((), (), "intel")


def test_the_nul_characters_of_clangs_comments_are_skipped() -> None:
    text = "# cyclelens-begin\n .byte 0    # \0\n nop\n# cyclelens-end\n"
    assert assemble(text).problems == ()
    assert assemble(text).regions[0].code.hex() == "0090"


def test_binary_garbage_is_refused_in_one_line() -> None:
    result = assemble("\x7fELF\x02\x01\0\0# cyclelens-begin")
    assert [problem.code for problem in result.problems] == ["binary-file"]
    strange = bytes(range(1, 256)).decode("latin-1") * 20
    assert assemble(strange).regions == ()
    surrogates = "# cyclelens-begin\n" + bytes(range(128, 256)).decode("utf-8", "surrogateescape") + "\n"
    assert {p.code for p in assemble(surrogates).problems} == {"region-not-closed", "syntax-error"}


def test_files_that_are_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert assemble("#" * (assembly.MAXIMUM_CHARACTERS + 1)).problems[0].code == "file-too-large"
    monkeypatch.setattr(assembly, "MAXIMUM_LINES", 10)
    assert assemble("\n" * 11).problems[0].code == "file-too-large"


def test_regions_that_are_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtin, "MAXIMUM_REGION", 3)
    text = "".join("# cyclelens-begin\n" + "nop\n" * count + "# cyclelens-end\n" for count in (4, 3, 2))
    result = assemble(text)
    assert [region.code for region in result.regions] == [b"", b"\x90" * 3, b"\x90" * 2]
    assert [region.incomplete for region in result.regions] == [True, False, False]
    assert [(p.line, p.code) for p in result.problems] == [(0, "region-too-large")]


def test_a_large_file_is_read_and_only_its_regions_are_encoded() -> None:
    text = "frob %rax # x\n" * 100_000 + "# cyclelens-begin\nnop\n# cyclelens-end\n" + "x:\n" * 10_000
    result = assemble(text)
    assert [region.code for region in result.regions] == [b"\x90"]


def test_very_long_lines_are_no_trouble() -> None:
    line = "add " + "(" * 100_000 + ")" * 100_000
    result = assemble(
        f"# cyclelens-begin\n{line}\n.byte {'1,' * 5000}1\n.byte {'(' * 900}1\n# cyclelens-end\n"
    )
    assert [(p.line, p.code) for p in result.problems] == [(1, "statement-too-long"), (3, "syntax-error")]
    assert len(result.regions[0].code) == 5001


def test_a_cancelled_call_answers_without_regions() -> None:
    assert assemble("# cyclelens-begin\nnop\n# cyclelens-end\n", cancel=lambda: True).regions == ()


def test_a_defect_of_the_front_end_is_reported_and_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RecursionError("deep")

    monkeypatch.setattr(assembly, "scan", fail)
    result = assemble("# cyclelens-begin\nnop\n# cyclelens-end\n")
    assert [problem.code for problem in result.problems] == ["internal-error"]


def test_every_code_is_listed() -> None:
    with pytest.raises(AssertionError):
        make_problem("no-such-code", "", 0, 0, 0)
    assert list(CODES) == sorted(CODES)


@pytest.mark.parametrize(
    ("line", "is_refused"),
    [
        ("    vaddp", True),
        ("    vaddp ; the sum", True),
        ("    vaddp:", False),
        ("next", False),  # a jump names it
    ],
)
def test_a_half_typed_mnemonic_is_no_label_of_nasm(line: str, is_refused: bool) -> None:
    """NASM 2.16 assembles it and warns: label alone on a line without a colon might be in error. A figure
    would leave the line out."""
    body = f".b:\n    vaddps ymm0, ymm0, ymm1\n{line}\n    dec rdx\n    jz next\n    jnz .b\n"
    result = assemble(f"; cyclelens-begin a\n{body}; cyclelens-end\n", SourceOptions())
    codes = [(each.line, each.code) for each in result.problems if each.severity is Severity.ERROR]
    assert ((3, "unsupported-instruction") in codes) is is_refused
    assert [region.incomplete for region in result.regions][:1] == [is_refused]


@needs_nasm
@pytest.mark.parametrize(
    ("inner", "line", "refused"),
    [
        ("", "", None),
        ("", "    v", 9),
        ("", "    vaddp ; the sum", 9),
        ("", "next2", 9),
        ("    vaddp", "", 7),  # the use of the macro
        ("", "next", None),  # a jump names it
        ("%%own:", "", None),
    ],
)
def test_a_half_typed_mnemonic_is_a_mistake_in_a_file_that_goes_to_nasm(
    inner: str, line: str, refused: int | None
) -> None:
    """NASM 2.16 takes it for a label and warns (-w+label-orphan): a figure would leave the line out."""
    macro = f"%macro STEP 1\n    vaddps ymm0, ymm0, ymm1\n{inner}\n    add rdi, %1\n%endmacro\n"
    body = f"b:\n    STEP 4\n    vaddps ymm0, ymm0, ymm1\n{line}\n    dec rdx\n    jz next\n    jnz b\n"
    end = "" if line == "next" else "next:\n"
    result = assemble(f"{macro}; cyclelens-begin a\n{body}; cyclelens-end\n{end}", SourceOptions())
    found = [problem.line for problem in result.problems if problem.code == "assembler-error"]
    assert found == ([] if refused is None else [refused])
    assert [region.incomplete for region in result.regions] == [refused is not None] * len(result.regions)


def test_bare_registers_tell_the_size_of_an_access() -> None:
    assert assemble(".att_syntax noprefix\nf: add (rsi), rax\n dec rcx\n jnz f\n").problems == ()


@pytest.mark.parametrize(
    "text", [" dec %rcx\n jnz .-3\n", "bits 64\n dec rcx\n jnz $-3\n", "f: dec %rcx\n jnz f+0\n"]
)
def test_a_text_without_loops_says_which_jumps_are_not_followed(text: str) -> None:
    (problem,) = assemble(text, SourceOptions(allow_external_programs=False)).problems
    assert problem.code == "undefined-label"
    assert "is followed only in object files: write a label" in problem.message
