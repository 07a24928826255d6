"""What NASM alone has: characters in labels, numbers that it truncates, and lines that begin with ``#``."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.source import Severity
from testkit.whole_files import needs_nasm


@needs_nasm
@pytest.mark.parametrize("label", ["lo~op", ".a#b", "?l@$1~x", "$loop", "..@x", "?l@1"])
def test_labels_have_every_character_that_nasm_takes(label: str) -> None:
    """NASM 2.16 assembles all of them."""
    found = assemble(f"section .text\nf:\n{label}: add rax, [rsi]\n dec rcx\n jnz {label}\n ret\n")
    assert [region.code.hex() for region in found.regions] == ["48030648ffc975f8"]
    assert found.problems == ()


@needs_nasm
@pytest.mark.parametrize("macro", ["", "%define X 1\n"])
@pytest.mark.parametrize(
    ("statement", "code"),
    [
        # The codes are those of NASM 2.16, which warns of each number.
        ("mov eax, 0x123456789", "b889674523"),
        ("mov al, 300", "b02c"),
        ("add rbx, 0x123456789", "4881c389674523"),
        ("push 0x123456789", "6889674523"),
        ("mov byte [rsi], 0x1ff", "c606ff"),
        ("shl rax, 300", "48c1e02c"),
    ],
)
def test_a_number_that_nasm_truncates_has_a_warning(macro: str, statement: str, code: str) -> None:
    found = assemble(f"bits 64\n{macro}f:\n {statement}\n dec rcx\n jnz f\n")
    (problem,) = found.problems
    assert (problem.code, problem.severity) == ("number-shortened", Severity.WARNING)
    assert problem.line == macro.count("\n") + 2
    assert found.regions[0].code.hex().startswith(code)


@needs_nasm
def test_numbers_that_fit_have_no_warning() -> None:
    text = "bits 64\n%define X 1\nf: mov eax, 0xffffffff\n add rbx, -1\n mov al, 255\n dec rcx\n jnz f\n"
    assert assemble(text).problems == ()


@needs_nasm
def test_markers_behind_a_hash_mark_a_region_and_are_named_once() -> None:
    text = "bits 64\n# cyclelens-begin a\nf: dec rcx\n jnz f\n# cyclelens-end\nt: dq 1, 2\n"
    found = assemble(text)
    (problem,) = found.problems
    assert (problem.line, problem.severity) == (1, Severity.WARNING)
    assert "begin comments, and markers in them, with ;" in problem.message
    assert [(region.name, region.incomplete) for region in found.regions] == [("a", False)]


@needs_nasm
def test_a_structure_is_no_label_of_the_code_behind_it() -> None:
    text = "struc S\n.a resq 1\n.b resq 1\nendstruc\nsection .text\nf: add rax, [rsi+S.b]\n dec rcx\n jnz f\n"
    (region,) = assemble(text).regions
    assert (region.name, region.first_line, region.code.hex()) == ("f", 5, "4803460848ffc975f7")
