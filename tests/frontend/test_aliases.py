"""Symbols that are set to the names of others, and places: the same as with GNU as."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cyclelens.analyzer.frontend.programs.program import Assignment, Program
from cyclelens.analyzer.model.source import AssembledFile


@pytest.mark.parametrize(
    ("assignments", "use", "code"),
    [
        ("c0 = c2\nc2 = 3\n.set c2, -32767\nc0 = c0", "jne 1b + c0", "7501"),
        ("c0 = c2\nc2 = 3\n.set c2, -32767\nc1 = c0 + 1", "mov $c1, %rax", "48c7c004000000"),
        ("c0 = c2\nc2 = 3\nc1 = c0", "add $c1, %eax", "0503000000"),
        ("c0 = c2\nc2 = 3\nc1 = c0", "mov c1(%rax), %eax", "8b8003000000"),
        ("c0 = c2\nc2 = near\n.set c2, far", "jne c0", "7501"),
        ("c0 = c2\nc2 = near\n.set c2, far\nc1 = c0", "jne c1", "7501"),
        ("c0 = c2\nc2 = near\n.set c2, far\nc1 = c0", "lea c1(%rip), %rax", "488d0501000000"),
    ],
)
def test_a_symbol_keeps_the_first_value_of_one_that_was_not_set_yet(
    region: Callable[..., AssembledFile], assignments: str, use: str, code: str
) -> None:
    found = region(f"{assignments}\n1: {use}\nnop\nnear: nop\nfar: nop")
    assert found.regions[0].lines[0].code.hex() == code


def test_a_place_that_a_directive_moves_to_does_not_depend_on_a_condition_behind_it(
    region: Callable[..., AssembledFile],
) -> None:
    """A condition measures the text before it, where a jump whose label is not read yet is long."""
    text = "nop\njc .L2+3\nf1:\n.L0:\n.org .+8\nnop\n{}.L2: nop"
    plain, asked = (region(text.format(each)).regions[0] for each in ("", ".if f1-.L0 == 1\n.endif\n"))
    assert [line.code.hex() for line in asked.lines][:2] == ["90", "720c"]
    assert asked.code == plain.code


@pytest.mark.parametrize(
    ("origin", "code"),
    [
        ("c0 = c2\n.org .+c0", "9090"),
        (".set c0, c2 + 1\n.org .+c0+4", "9090"),
        ("c1 = c2\nc0 = c1\n.org .+c0", "9090"),
        ("c0 = c2\nc2 = 5\n.org .+c0", "9090"),
        ("c0 = c2\n.org 2+.-c0", "9090"),
        ("k = 2\nc0 = c2\n.org .+k+c0", "9090"),
        (".org .+c2", "9090"),
        (".org .+elsewhere", "9090"),
        ("c0 = c2\n.org c0+1", "90000090"),
        ("c0 = c2\n.org c0+.", "90000090"),
        (".org 4+c2", "90000090"),
        ("k = 2\nc0 = k\n.org .+c0", "90000090"),
        ("k = 2\n.org .+k", "90000090"),
        ("c0 = .+2\n.org c0", "90000090"),
    ],
)
def test_gnu_as_takes_only_the_first_symbol_of_an_origin_with_one_that_it_does_not_know(
    region: Callable[..., AssembledFile], origin: str, code: str
) -> None:
    """The codes are those of GNU as 2.40, which warns: "symbol undefined; zero assumed"."""
    found = region(f"first: nop\n{origin}\nnop\nc2 = 3")
    assert not found.regions[0].incomplete
    assert found.regions[0].code.hex() == code


@pytest.mark.parametrize("origin", [".+2*c2", "8-c2", ".+c2+first", "(.+c2)"])
def test_an_origin_of_which_gnu_as_takes_another_part_is_refused(
    region: Callable[..., AssembledFile], origin: str
) -> None:
    found = region(f"first: nop\n.org {origin}\nnop\nc2 = 3")
    assert found.regions[0].incomplete
    assert any("GNU as takes of" in problem.message for problem in found.problems)


@pytest.mark.parametrize("last", ["weak", "there"])
@pytest.mark.parametrize("order", [1, -1])
def test_a_jump_is_long_if_its_chain_of_names_ends_in_a_weak_symbol(
    code: Callable[..., str], gnu_code: Callable[[str], bytes], last: str, order: int
) -> None:
    """In Intel syntax, in which another file may define the symbol anew."""
    chain = "\n".join(["a = b", "b = c", f"c = {last}"][::order])
    text = f".weak weak\n{chain}\njmp a\nnop\nweak: nop\nthere: nop"
    expected = gnu_code(f".intel_syntax noprefix\n{text}\n").hex()
    assert expected == ("e900000000909090" if last == "weak" else "eb02909090")
    assert code(text, "intel") == expected


def test_a_jump_through_a_long_chain_of_names_costs_no_more_than_one_through_fifty(
    region: Callable[..., AssembledFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text may have thousands of names, and thousands of jumps through all of them."""
    looked_up = 0
    assignment = Program.assignment

    def counted(self: Program, name: str, before: int) -> Assignment | None:
        nonlocal looked_up
        looked_up += 1
        return assignment(self, name, before)

    monkeypatch.setattr(Program, "assignment", counted)

    def look_ups(names: int) -> int:
        nonlocal looked_up
        looked_up = 0
        chain = "\n".join(f".set a{number}, a{number + 1}" for number in range(names))
        jumps = "jmp a0\n" * 20
        found = region(
            f".intel_syntax noprefix\n.weak weak\n{chain}\n{jumps}a{names}: nop\n.att_syntax prefix"
        )
        assert len(found.regions[0].lines) == 21, found.problems
        return looked_up

    few, many = look_ups(100), look_ups(200)
    assert few > 20 * 50
    # The names themselves are looked up once.
    assert many - few < 20 * 50


@pytest.mark.parametrize("label", ["", 'nop\n"f@v1": ret', '.data\n.globl "f@v1"', '.set "f@v1", 5'])
def test_a_name_with_an_at_sign_is_undefined_only_without_a_label(
    region: Callable[..., AssembledFile], label: str
) -> None:
    codes = [problem.code for problem in region(f'mov "f@v1", %eax\n{label}').problems]
    assert codes == ([] if label else ["undefined-symbol"])
