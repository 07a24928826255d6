"""What becomes of directives that make no bytes themselves: sections, macros, repetitions, conditions and
assignments; each also with what it refuses, and both sides of each limit."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.programs import build
from cyclelens.analyzer.frontend.programs.part import AssemblerState
from cyclelens.analyzer.frontend.source import chunks
from cyclelens.analyzer.frontend.source.dialect import ATT
from cyclelens.analyzer.model.source import AssembledFile

RECURSIVE = '.macro m n\n.if \\n\nm "(\\n-1)"\n.endif\nnop\n.endm\n'
THREE = ".byte 1\n.elseif {}\n.byte 2\n.else\n.byte 3\n.endif"
AS_GNU = {
    ".rept 0\nnop\n.endr\nret": "c3",
    ".rep 2\nnop\n.endr": "9090",
    '.irpc c, "12"\n.byte \\c\n.endr': "0102",
    ".irp x, 1, \"2\"\n.byte \\x\n.endr": "0102",
    ".macro M\nnop\n.endm\nm": "90",
    "m: .macro m\nnop\n.endm\nm": "90",
    ".macro m\n.macro n\nnop\n.endm\n.endm\nm\nn": "90",
    ".if 0\n.macro m\n.if 1\n.endif\n.endm\n.endif\nret": "c3",
    ".if 0\n.macro m\n.else\n.macro m\nnop\n.endm\n.endif\nm": "90",
    ".if 0\n.macro m\nhlt\n.endm\n.else\n.macro m\nnop\n.endm\n.endif\nm": "90",
    ".if 1\n" + THREE.format(1): "01",
    ".if 0\n" + THREE.format(1): "02",
    ".if 0\n" + THREE.format(0): "03",
    ".if 0\n.elseif 0\n.byte 2\n.elseif 1\n.byte 4\n.elseif 1\n.byte 5\n.else\n.byte 3\n.endif": "04",
    ".if 1\n.if 0\n.elseif 1\n.byte 1\n.endif\n.else\n.byte 2\n.endif": "01",
    ".if 0\n.if 1\n.byte 1\n.else\n.byte 2\n.endif\n.elseif 1\n.byte 3\n.endif": "03",
    ".ifdef x\n.byte 1\n.else\n.byte 2\n.endif\nx:\n.ifdef x\n.byte 3\n.endif": "0203",
    ".ifnotdef x\n.byte 1\n.endif\n.ifndef x\n.byte 2\n.endif": "0102",
    ".ifb\n.byte 1\n.endif\n.ifb  a\n.byte 2\n.endif": "01",
    ".ifnb a\n.byte 3\n.endif\n.ifnb\n.byte 4\n.endif": "03",
    '.ifnes "a","b"\n.byte 1\n.endif\n.ifnes "a","a"\n.byte 2\n.endif': "01",
    '.ifeqs "a","b"\n.byte 1\n.endif\n.ifeqs "a","a"\n.byte 2\n.endif': "02",
    ".ifc a, a \n.byte 1\n.endif\n.ifnc a,b\n.byte 2\n.endif\n.ifc a,b\n.byte 3\n.endif": "0102",
    "x = 5\n.byte x\nx = 6\n.byte x": "0506",
    "x = %eax\nmov x, %ebx": "89c3",
    "x=.\nnop\n.byte .-x": "9001",
    "1: 01: jmp 1b\n0: jmp 0b\n00: jmp 0b": "ebfe" * 3,
    "nop\n.pushsection .data\n.byte 1\n.popsection\nret": "90c3",
    "nop\n.pushsection .data\n.pushsection .bss\n.popsection\n.byte 1\n.popsection\nret": "90c3",
    "nop\n.data\n.byte 1\n.previous\nret\n.previous\n.byte 2\n.text\nleave": "90c3c9",
    "nop\n.section .data\n.section .bss\n.previous\n.byte 1\n.text\nret": "90c3",
    "nop\n.data\n.subsection 1\n.byte 1\n.text\nret": "90c3",
    ".weak a, \"b c\"\njmp a\na: nop\njmp \"b c\"": "e90000000090e900000000",
}  # fmt: skip
OTHERS = {
    "nop\n.section .rodata\n.long 1\n.section \".text\"\nret": "90c3",
    ".arch znver1\nnop\n.arch .sse4\nnop\n.arch default\n.arch  ZNVER2 ": "9090",
    ".purgem m\nnop": "90",
    ".set x, 5\n.set , 6\n.set \n.byte x": "05",
    f"{RECURSIVE}m 39": "90" * 40,
    "\n".join([".rept 1"] * 40 + ["nop"] + [".endr"] * 40): "90",
}  # fmt: skip
NO_VALUE = "'x' has no constant value."
UNKNOWN_ARCH = "GNU as 2.40 does not know the architecture '{}', or pads alignments differently for it."
UNDECIDED = "This condition cannot be evaluated here: all of its branches are read."
SAID: dict[str, list[tuple[int, str]]] = {
    ".subsection x\nnop": [(1, NO_VALUE)],
    ".text x\nnop": [(1, NO_VALUE)],
    ".pushsection .text, x\nnop\n.popsection": [(1, NO_VALUE)],
    f".subsection {'a' * 45}+{'b' * 45}\nnop": [(1, f"'{'a' * 40}' has no constant value.")],
    ".arch foo\nnop": [(1, UNKNOWN_ARCH.format("foo"))],
    ".arch\nnop": [(1, UNKNOWN_ARCH.format(""))],
    f".arch {'q' * 41}\nnop": [(1, UNKNOWN_ARCH.format("q" * 40))],
    ".rept -1\nnop\n.endr": [(1, "The count of .rept is negative.")],
    ".rept x\nnop\n.endr": [(1, NO_VALUE)],
    ".rept 200001\nnop\n.endr": [(1, "Files of more than 200,000 statements are not unrolled.")],
    ".irp 1+, a\nnop\n.endr": [(1, ".irp is followed by a name, a comma and values.")],
    ".rept 2\nnop": [(1, "This .rept is never closed by .endr.")],
    "\n".join([".rept 1"] * 41 + ["nop"] + [".endr"] * 41): [
        (41, "Repetitions and macros are nested more than 40 levels deep."),
    ],
    f"{RECURSIVE}m 40": [(7, "Macros are nested more than 40 levels deep.")],
    ".macro m\nnop": [(1, "This macro is never closed by .endm.")],
    ".macro m\nnop\n.endm\n.purgem M \nm": [(5, "The built-in assembler does not know the instruction 'm'.")],
    ".altmacro\n.macro m a\n.byte a\n.endm\nm %1+x": [(5, NO_VALUE)],
    ".if x\n" + THREE.format(1): [(1, UNDECIDED)],
    ".if 1\n.if x\n.byte 1\n.endif": [(1, ".if is never closed by .endif."), (2, UNDECIDED)],
    ".if 1\n.ifeq 0\nnop": [(1, ".if is never closed by .endif."), (2, ".ifeq is never closed by .endif.")],
    ".if 1\n.macro m\n.if 1\nnop\n.endm\nm\nnop\n.endif": [(6, ".if is never closed by .endif.")],
    '"" = 5\nnop': [(1, "'\"\" = 5' is not a statement.")],
}


@pytest.mark.parametrize("text", [*AS_GNU, *OTHERS])
def test_what_a_text_with_directives_makes(
    text: str, region: Callable[..., AssembledFile], gnu_code: Callable[[str], bytes]
) -> None:
    found = region(text)
    assert found.problems == ()
    code = "".join(line.code.hex() for each in found.regions for line in each.lines)
    assert code == {**AS_GNU, **OTHERS}[text]
    if text in AS_GNU:
        assert gnu_code(f"{text}\n").hex() == AS_GNU[text]


@pytest.mark.parametrize("text", SAID)
def test_what_a_text_with_directives_is_told(text: str, region: Callable[..., AssembledFile]) -> None:
    assert [(each.line, each.message) for each in region(text).problems] == SAID[text]


def test_all_branches_of_a_condition_that_nobody_knows_are_read(region: Callable[..., AssembledFile]) -> None:
    found = region(".if x\n" + THREE.format(1))
    assert [line.code.hex() for line in found.regions[0].lines] == ["01", "02", "03"]


def test_a_text_begins_in_the_first_part_of_its_code() -> None:
    state = AssemblerState(ATT)
    assert (state.section, state.previous) == ((".text", 0), (".text", 0))
    assert (state.pushed, state.condition, state.alternate) == (None, None, False)
    assert state.is_same(AssemblerState(ATT))
    for other in (
        AssemblerState(ATT, section=(".text", 1)),
        AssemblerState(ATT, previous=(".data", 0)),
        AssemblerState(ATT, alternate=True),
        AssemblerState(ATT, macros=1),
    ):
        assert not state.is_same(other)


def test_the_number_of_an_expansion_counts_those_far_in_front(
    gnu_code: Callable[[str], bytes], code: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text is read in pieces; ``\\@`` is also replaced within a repetition."""
    monkeypatch.setattr(chunks, "_LINES", 4)
    far = "nop\n" * 12
    text = f".macro m\n.byte \\@\n.endm\nm\nm\n{far}m\n.irp x, 1, 2\n.byte \\@, \\x\n.endr\nm\n{far}m\n"
    assert code(text) == gnu_code(text).hex()


@pytest.mark.parametrize(("count", "is_made"), [(8, True), (9, False)])
def test_repetitions_make_at_most_so_many_statements(
    count: int, is_made: bool, region: Callable[..., AssembledFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the whole text, with those in front of the repetition and with the repetition itself."""
    monkeypatch.setattr(build, "MAXIMUM_STATEMENTS", 10)
    found = region(f"nop\n.rept {count}\nnop\n.endr")
    assert [len(each.lines) for each in found.regions] == [1 + count if is_made else 2]
    assert (not found.problems) is is_made
    monkeypatch.setattr(build, "MAXIMUM_STATEMENTS", 8)
    assert bool(region(".rept 3\n.rept 3\nnop\n.endr\n.endr").problems)


def test_the_end_of_a_repetition_that_begins_before_the_loop_says_why_it_is_not_unrolled() -> None:
    found = assemble(".L1:\n.rept -1\nnop\n.endr\njnz .L1\n")
    assert [(problem.line, problem.message) for problem in found.problems] == [
        (3, "The .rept that ends here is not unrolled. The count of .rept is negative.")
    ]
