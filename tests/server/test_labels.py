"""Labels in a text: their definitions and their uses."""

from __future__ import annotations

from cyclelens.server.texts.labels import Name, Names, blocks, definitions

TEXT = """\
.set size, 64
.macro step reg
    add \\reg, \\reg     # 1: no label
.endm
1:  jmp 1f          /* jmp 1b */
inner: outer: dec %rax
1:  jne 1b
    jmp inner
    step %rax
    mov size(%rdi), %rax
    .ascii "inner"
"""
LINES = tuple(TEXT.split("\n"))


def target(line: int, column: int) -> tuple[str, int] | None:
    found = Names(LINES).definition_at(line, column)
    return (found.text, found.line) if found else None


def test_labels_symbols_and_macros_are_definitions() -> None:
    found = [(name.text, name.line, name.label) for name in definitions(LINES)]
    assert found == [
        ("size", 0, False),
        ("step", 1, False),
        ("1", 4, True),
        ("inner", 5, True),
        ("outer", 5, True),
        ("1", 6, True),
    ]


def test_numeric_labels_mean_the_nearest_one() -> None:
    assert target(4, 9) == ("1", 6)
    assert target(6, 9) == ("1", 6)
    assert [name.line for name in Names(LINES).references_to(Name("1", 6, 0, defined=True, label=True))] == [
        4,
        6,
    ]
    assert list(Names(LINES).references_to(Name("1", 4, 0, defined=True, label=True))) == []


def test_names_lead_to_their_definition() -> None:
    assert target(7, 8) == ("inner", 5)
    assert target(8, 5) == ("step", 1)
    assert target(9, 8) == ("size", 0)
    assert target(5, 1) == ("inner", 5)


def test_registers_comments_and_texts_are_no_names() -> None:
    assert Names(LINES).at(5, len("inner: outer: dec %r")) is None
    assert Names(LINES).at(4, len("1:  jmp 1f          /* jmp 1")) is None
    assert target(10, len('    .ascii "inn')) is None


def test_macros_repetitions_and_conditions_are_blocks() -> None:
    text = ".macro a\n.rept 2\nnop\n.endr\n.endm\n.if x\nnop\n.endif\n.endm\n.macro never_closed"
    assert sorted(blocks(text.split("\n"))) == [(0, 4), (1, 3), (5, 7)]


NASM_TEXT = """\
%macro step 1
    add %1, %1
%endmacro
size equ 64
one:
.again:
    step rax
    jnz .again
two:
.again:
    add rdi, size
    jnz .again
"""
NASM = tuple(NASM_TEXT.split("\n"))


def test_local_labels_of_nasm_belong_to_the_label_before_them() -> None:
    def meant(line: int) -> int | None:
        found = Names(NASM).definition_at(line, len(NASM[line]))
        return found.line if found else None

    assert (meant(7), meant(11)) == (5, 9)
    first = Name(".again", 5, 0, defined=True, label=True)
    assert [name.line for name in Names(NASM).references_to(first)] == [7]


def test_macros_and_constants_of_nasm_are_definitions() -> None:
    found = [(name.text, name.line, name.label) for name in definitions(NASM)]
    assert found[:3] == [("step", 0, False), ("size", 3, False), ("one", 4, True)]
    assert list(blocks(NASM)) == [(0, 2)]


def test_the_dollar_sign_of_an_immediate_is_no_part_of_a_name() -> None:
    lines = (".equ STEP, 8", "    add $STEP, %rax", "$LL4@sum:", "    jne $LL4@sum", "$LN4:", "    jne $LN4")
    names = Names(lines)
    assert [use.column for use in names.references_to(Name("STEP", 0, 5, defined=True))] == [9]
    assert names.definition_at(3, 10) == Name("$LL4@sum", 2, 0, defined=True, label=True)
    assert names.definition_at(5, 9) == Name("$LN4", 4, 0, defined=True, label=True)
