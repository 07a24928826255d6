"""Markers: the extent, name and options of a region."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Syntax
from cyclelens.analyzer.model.source import Severity

COMMENTS = [
    "# {}",
    "## {}",
    "// {}",
    "/* {} */",
    "/*{}*/",
    "; {}",
    "#{}",
    "nop # {}",
    "/* first line\n * {}\n */",
]


@pytest.mark.parametrize("comment", COMMENTS)
def test_markers_stand_in_a_comment_of_any_kind(comment: str) -> None:
    text = f"{comment.format('cyclelens-begin a')}\nret\n{comment.format('cyclelens-end')}\n"
    result = assemble(text, SourceOptions(syntax=Syntax.ATT))
    assert result.problems == ()
    assert [region.name for region in result.regions] == ["a"]
    # A statement on the line of the opening marker is outside, one on the line of the closing marker inside.
    assert result.regions[0].code == (b"\xc3\x90" if "nop" in comment else b"\xc3")


def test_name_options_and_lines() -> None:
    text = "nop\n# cyclelens-begin dot arch=SKL,HSW mode=loop\nnop\n# cyclelens-end\n"
    region = assemble(text).regions[0]
    assert (region.name, region.first_line, region.last_line) == ("dot", 1, 3)
    assert dict(region.options) == {"arch": "SKL,HSW", "mode": "loop"}
    line = region.lines[0]
    assert (line.line, line.column, line.end_column, line.text, line.code) == (2, 0, 3, "nop", b"\x90")


def test_unnamed_regions_get_names_and_duplicates_get_numbers() -> None:
    text = "".join(f"# cyclelens-begin {name}\nnop\n# cyclelens-end\n" for name in ("", "a", "a", ""))
    result = assemble(text)
    assert [region.name for region in result.regions] == ["region-1", "a", "a-2", "region-4"]
    assert [(problem.code, problem.line) for problem in result.problems] == [("duplicate-region", 6)]


def test_the_markers_of_other_tools() -> None:
    text = "# LLVM-MCA-BEGIN first\nnop\n# LLVM-MCA-END first\n# OSACA-BEGIN\nret\n# OSACA-END\n"
    result = assemble(text)
    assert [(region.name, region.code) for region in result.regions] == [
        ("first", b"\x90"),
        ("region-2", b"\xc3"),
    ]
    assert result.problems == ()


def test_named_regions_of_llvm_mca_nest() -> None:
    text = "# LLVM-MCA-BEGIN a\nnop\n# LLVM-MCA-BEGIN b\nret\n# LLVM-MCA-END a\nnop\n# LLVM-MCA-END b\n"
    result = assemble(text)
    assert [(region.name, region.code.hex()) for region in result.regions] == [("a", "90c3"), ("b", "c390")]
    assert result.problems == ()


def test_a_region_that_is_not_closed_is_reported_and_still_read() -> None:
    result = assemble("# cyclelens-begin a\nnop\n# cyclelens-begin b\nret\n# cyclelens-end\n")
    assert [(region.name, region.last_line, region.code.hex()) for region in result.regions] == [
        ("a", 1, "90"),
        ("b", 4, "c3"),
    ]
    problem = result.problems[0]
    assert (problem.code, problem.line, problem.severity) == ("region-not-closed", 0, Severity.WARNING)
    result = assemble("nop\n  # cyclelens-begin a\nnop\n")
    assert result.regions[0].code == b"\x90"
    assert [(p.code, p.line, p.column, p.end_column) for p in result.problems] == [
        ("region-not-closed", 1, 4, 21)
    ]


def test_an_end_without_a_begin_an_unknown_marker_and_an_empty_region_are_reported() -> None:
    text = "# cyclelens-end\n# cyclelens-start\n# cyclelens-begin x y\n# text\n.p2align 4\n# cyclelens-end\n"
    result = assemble(text)
    assert [(problem.line, problem.code) for problem in result.problems] == [
        (0, "region-end-without-begin"),
        (1, "invalid-marker"),
        (2, "invalid-marker"),
        (2, "empty-region"),
    ]
    assert result.regions[0].lines == ()


@pytest.mark.parametrize(
    "data", [".byte 100, 103, 144", ".byte 0x64,0x67,0x90", ".byte 100\n.byte 103\n.byte 144"]
)
@pytest.mark.parametrize(("move", "syntax"), [("movl ${}, %ebx", Syntax.ATT), ("mov ebx, {}", Syntax.INTEL)])
def test_the_markers_of_iaca_are_code(data: str, move: str, syntax: Syntax) -> None:
    begin, end = (f"{move.format(number)}\n{data}\n" for number in (111, 222))
    result = assemble(
        f"nop\n{begin}ret\n{end}{move.format(111)}\n{begin}nop\nnop\n{end}", SourceOptions(syntax=syntax)
    )
    assert [(region.name, region.code.hex()) for region in result.regions] == [
        ("iaca-1", "c3"),
        ("iaca-2", "9090"),
    ]
    assert result.problems == ()


def test_a_misspelt_marker_is_reported_and_not_the_half_that_it_leaves() -> None:
    without_begin = assemble("# cyclelens-begn a\nnop\n# cyclelens-end\n")
    without_end = assemble("# cyclelens-begin a\nnop\n# cyclelens-ned\n")
    # The end stands before what is misspelt.
    elsewhere = assemble("# cyclelens-end\n# cyclelens-begn\n")
    assert [(problem.line, problem.code) for problem in without_begin.problems] == [(0, "invalid-marker")]
    assert [(problem.line, problem.code) for problem in without_end.problems] == [(2, "invalid-marker")]
    assert [region.code for region in without_end.regions] == [b"\x90"]
    assert [problem.code for problem in elsewhere.problems] == ["region-end-without-begin", "invalid-marker"]


def test_halves_of_iaca_markers_are_reported() -> None:
    marker = "movl ${}, %ebx\n.byte 100, 103, 144\n"
    result = assemble(marker.format(222) + "nop\n" + marker.format(111) * 2 + "nop\n")
    assert [(problem.line, problem.code) for problem in result.problems] == [
        (0, "region-end-without-begin"),
        (3, "region-not-closed"),
        (5, "region-not-closed"),
    ]
    assert result.regions == ()


def test_prose_about_markers_is_not_a_marker() -> None:
    text = '# put cyclelens-begin before the loop\n.ascii "# cyclelens-begin"\n'
    result = assemble(text)
    assert result.regions == ()
    assert result.problems == ()


def test_latencies_belong_to_their_line_or_to_the_next_statement() -> None:
    text = """# LLVM-MCA-LATENCY : 7
# LLVM-MCA-BEGIN outer
mov (%rax), %rax  # LLVM-MCA-LATENCY : 100
# LLVM-MCA-BEGIN inner
// llvm-mca-latency 20

add $1, %rbx
# LLVM-MCA-END inner
nop /* LLVM-MCA-LATENCY 0 */
# LLVM-MCA-END outer
"""
    result = assemble(text, SourceOptions(syntax=Syntax.ATT))
    assert [(region.name, dict(region.latencies)) for region in result.regions] == [
        ("outer", {0: 100, 1: 20}),
        ("inner", {0: 20}),
    ]
    assert [(p.line + 1, p.column, p.code) for p in result.problems] == [(9, 7, "invalid-marker")]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("cyclelens begin", "cyclelens-begin and cyclelens-end"),
        ("cyclelens_begin", "cyclelens-begin and cyclelens-end"),
        ("cyclelens: begin", "cyclelens-begin and cyclelens-end"),
        ("LLVM-MCA BEGIN", "LLVM-MCA-BEGIN and LLVM-MCA-END"),
    ],
)
def test_a_marker_without_its_hyphen_is_one_message_and_the_loop_is_found(word: str, meant: str) -> None:
    end = word.replace("begin", "end").replace("BEGIN", "END")
    found = assemble(f"# {word} a\n1: dec %rcx\n jnz 1b\n# {end}\n")
    (problem,) = found.problems
    assert (problem.line, problem.column, problem.code) == (0, 2, "invalid-marker")
    assert problem.message == f"'{word}' is not a marker; there are {meant}."
    assert [region.code.hex() for region in found.regions] == ["48ffc975fb"]


@pytest.mark.parametrize(
    "comment", ["cyclelens begins here", "the cyclelens end", "see cyclelens: end-to-end-tests"]
)
def test_other_comments_are_no_markers_without_hyphens(comment: str) -> None:
    found = assemble(f"# {comment}\n1: dec %rcx\n jnz 1b\n")
    assert found.problems == ()
