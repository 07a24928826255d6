"""Dialect detection, comments, several statements a line, labels, columns."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.frontend.source.dialect import detect, style
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Syntax
from cyclelens.analyzer.model.source import AssembledFile

DETECTED = [
    ("mov %rax, %rbx", "att"),
    ("mov $5, foo", "att"),
    ("mov rax, rbx", "intel"),
    ("mov eax, dword ptr [rdi]", "intel"),
    ("inc qword [rdi + 8]", "intel"),
    ("", "att"),
    ("nop\nret", "att"),
    ("# mov rax, rbx\nmov %rax, %rbx", "att"),
    ("/* add rax, 1\n add rax, 2 */ mov %rax, %rbx", "att"),
    (".intel_syntax noprefix\nnop", "intel"),
    (".att_syntax\nnop", "att"),
    ("nop\n.intel_syntax noprefix\nmov rax, rbx\nmov rax, rcx", "intel"),
    ("mov %rax, %rbx\n.intel_syntax noprefix\nmov rax, rbx\nmov rax, rcx\n.att_syntax prefix", "att"),
    ("mov rax, rbx\nmov rax, rcx\nmov %rax, %rbx", "intel"),
]


@pytest.mark.parametrize(("text", "expected"), DETECTED, ids=range(len(DETECTED)))
def test_detection(text: str, expected: str) -> None:
    assert detect(SourceText(text)).name == expected
    assert assemble(text).dialect == expected


def test_directives_switch_inside_of_a_file(code: Callable[..., str]) -> None:
    text = "mov %rax, %rbx\n.intel_syntax noprefix\nmov rbx, rax\n.att_syntax prefix\nmov %rax, %rbx"
    assert code(text) == "4889c3" * 3
    assert code(".intel_syntax prefix\nmov %rbx, %rax") == "4889c3"
    assert code(".att_syntax noprefix\nmov rax, rbx") == "4889c3"


def test_a_forced_dialect_wins_over_the_evidence() -> None:
    text = "mov rax, rbx\nmov rax, rcx\n# cyclelens-begin\ncmp $1, %eax\n# cyclelens-end\n"
    assert assemble(text, SourceOptions(syntax=Syntax.ATT)).regions[0].code.hex() == "83f801"
    assert assemble(text, SourceOptions(syntax=Syntax.INTEL)).regions[0].incomplete


def test_comments_of_all_kinds(code: Callable[..., str]) -> None:
    text = 'nop # a, "b\n/* c\nret\n */ nop /* d */; nop // e /* f\nadd /* g */ $1, /* h */ %rax'
    assert code(text) == "909090" + "4883c001"


def test_a_comment_sign_in_a_string_or_character_is_none(code: Callable[..., str]) -> None:
    assert code('.ascii "#;/*"; nop') == "233b2f2a" + "90"
    assert code("cmp $'#, %al; nop") == "3c23" + "90"


def test_a_semicolon_separates_in_gnu_texts_and_comments_in_others(code: Callable[..., str]) -> None:
    assert code("nop; ret") == "90c3"
    assert code("inc eax ; one more\ndec eax", "intel") == "ffc0" + "ffc8"
    assert code("inc eax; dec eax", "intel") == "ffc0" + "ffc8"
    assert code(".text\ninc eax; ret", "intel") == "ffc0" + "c3"


def test_labels_and_statements_share_a_line(region: Callable[..., AssembledFile]) -> None:
    result = region("a: b:  nop;  1: add $1, %eax   # c\n\tdec %eax")
    assert [(line.line, line.column, line.end_column, line.text) for line in result.regions[0].lines] == [
        (1, 7, 10, "nop"),
        (1, 16, 28, "add $1, %eax"),
        (2, 1, 9, "dec %eax"),
    ]


def test_lines_end_as_editors_see_them(region: Callable[..., AssembledFile]) -> None:
    # Form feed and the Unicode separators end no line for an editor.
    result = assemble("# cyclelens-begin\r\nnop\r# a\x0cb\u2028c\nret\r\n# cyclelens-end\r\n")
    assert [line.line for line in result.regions[0].lines] == [1, 3]


def test_columns_count_code_points(region: Callable[..., AssembledFile]) -> None:
    result = region("/* 😀é */ nop")
    assert result.regions[0].lines[0].column == len("/* 😀é */ ")


def test_directives_without_bytes_are_silent(code: Callable[..., str]) -> None:
    text = """.globl f
    .type f, @function
    f: .cfi_startproc
    .loc 1 2 3
    .file "x.c"
    .ident "GCC"
    nop
    .size f, .-f
    .cfi_endproc"""
    assert code(text) == "90"


def test_the_plain_part_of_nasm_is_read() -> None:
    text = """
    section .text
    global sum
    step equ 8
    sum:            ; the function
    ; cyclelens-begin
    .loop:
        add rax, [rdi]      ; don't stop
        add rdi, step
        cmp dword [rdi], 0FFh
        lea rcx, [rel table]
        dec rsi
        jnz .loop
    ; cyclelens-end
        ret
    """
    result = assemble(text)
    # Nothing clears RAX.
    assert [problem.code for problem in result.problems] == ["register-not-written"]
    assert result.dialect == "intel"
    assert result.regions[0].ends_in_jump_to_start
    assert result.regions[0].code.hex() == "480307" + "4883c708" + "813fff000000" + "488d0d00000000" + (
        "48ffce" + "75e7"
    )


STYLES = [
    ("mov rax, 1 ; the first one", "nasm"),
    ("; all of it\nand byte [rdi], 80h", "nasm"),
    ("mov rax, 1 ; one\nadd eax, dword ptr [rdi]", "gas"),
    ("mov rax, 1; mov rbx, 2", "gas"),
    ("mov rax, 1 ; the first one\n# and a comment", "gas"),
    (".text\nmov rax, 1 ; the first one", "gas"),
    ("mov %rax, %rbx ; the first one", "gas"),
    ("section __TEXT,__text\nmov rax, 1", "nasm"),
    ("mov rax, [t]\nt: dq 1", "nasm"),
    (".code\nmov rax, 1", "masm"),
    (".code 32\n.text", "gas"),
]


@pytest.mark.parametrize(("text", "expected"), STYLES, ids=range(len(STYLES)))
def test_whose_language_a_file_is_in(text: str, expected: str) -> None:
    assert style(SourceText(text)) == expected


def test_instructions_with_comments_behind_semicolons_are_encoded_as_nasm_does() -> None:
    text = "; cyclelens-begin\nmov rax, 1 ; GNU as makes seven bytes\nand byte [rdi], 80h\n; cyclelens-end\n"
    assert assemble(text).regions[0].code.hex() == "b801000000" + "802780"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("nop\n/ comment ; inc %eax\nret", "90c3"),
        ("nop\n  / it's falls short ;-)\nret", "90c3"),
        ("nop ; / comment ; inc %eax\nret", "90c3"),
        ("a: / comment ; inc %eax\nret", "c3"),
        ('nop\r\n/ "open\r\nret', "90c3"),
        ("mov $8 / 2, %al ; inc %eax", "b004ffc0"),
    ],
)
def test_a_slash_in_front_of_everything_else_begins_a_comment(text: str, code: str) -> None:
    # GNU as 2.40, without --divide
    assembled = assemble(f"# cyclelens-begin\n{text}\n# cyclelens-end\n", SourceOptions(syntax=Syntax.ATT))
    assert not [problem for problem in assembled.problems if problem.severity == "error"]
    assert assembled.regions[0].code.hex() == code
