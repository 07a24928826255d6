"""Places and sizes of the fragments of a section, given as such: what texts are laid out to is compared with
GNU as in ``test_layout.py`` and ``test_differential.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cyclelens.analyzer.frontend.statements import layout
from cyclelens.analyzer.frontend.statements.directives import Alignment
from cyclelens.analyzer.frontend.statements.layout import (
    UNBOUNDED,
    Element,
    ElementKind,
    FragmentOffset,
    Section,
    UnsettledError,
)

JUMP = Element(ElementKind.BRANCH, 2, 5)
LONG = Element(ElementKind.BRANCH, 5, 5)
INSTRUCTION = Element(ElementKind.UNKNOWN, 0, 15)
ANYTHING = Element(ElementKind.UNKNOWN, -UNBOUNDED, UNBOUNDED)
BOTH = pytest.mark.parametrize("is_nasm", [False, True])


def fill(boundary: int, maximum: int | None = None) -> Element:
    alignment = Alignment(boundary, maximum=maximum)
    return Element(ElementKind.FILL, 0, alignment.most, alignment)


def sized(kind: ElementKind, amount: Callable[[], int]) -> Element:
    return Element(kind, amount=amount)


def place(fragment: int, distance: int = 0, **more: Any) -> FragmentOffset:
    return FragmentOffset(fragment, distance, **{"is_late": False, **more})


def section(*given: Any, is_nasm: bool = False) -> Section:
    """Numbers are bytes; an element may come with the target of its jump."""
    made = Section(is_nasm=is_nasm)
    for each in given:
        if isinstance(each, int):
            made.gaps[-1] += each
        else:
            element, target = each if isinstance(each, tuple) else (each, None)
            made.elements.append(element)
            made.targets.append(target)
            made.gaps.append(0)
    return made


def laid_out(*given: Any, is_nasm: bool = False) -> Section:
    made = section(*given, is_nasm=is_nasm)
    made.relax()
    return made


@BOTH
def test_fragments_follow_one_another(is_nasm: bool) -> None:
    made = laid_out(3, fill(8), 5, fill(4, 2), 1, INSTRUCTION, 7, is_nasm=is_nasm)
    assert made.sizes == [5, 0, 0]
    assert made.starts == [0, 8, 13, 14]
    assert made.end() == 21
    assert made.offset(place(1, 2)) == 10
    assert made.offset(place(1, 2, expressed=lambda: 6)) == 6
    assert made.offset(place(1, 2, expressed=lambda: None)) == 0
    assert laid_out(4, is_nasm=is_nasm).end() == 4


@BOTH
@pytest.mark.parametrize(
    ("kind", "amount", "size"),
    [
        (ElementKind.ORIGIN, 8, 5),
        (ElementKind.ORIGIN, 3, 0),
        (ElementKind.SPACE, 8, 8),
        (ElementKind.SPACE, 0, 0),
        (ElementKind.LEB128, 2, 2),
        (ElementKind.LEB128, 1, 1),
    ],
)
def test_an_expression_says_a_size_or_where_it_ends(
    is_nasm: bool, kind: ElementKind, amount: int, size: int
) -> None:
    made = laid_out(3, sized(kind, lambda: amount), 4, fill(1), is_nasm=is_nasm)
    assert (made.sizes[0], made.starts, made.end()) == (size, [0, 3 + size, 7 + size], 7 + size)


def test_what_is_negative_for_good_has_no_size_and_an_origin_may_not_be() -> None:
    for is_nasm in (False, True):
        assert laid_out(3, sized(ElementKind.SPACE, lambda: -1), 4, is_nasm=is_nasm).starts == [0, 3]
    assert laid_out(3, sized(ElementKind.ORIGIN, lambda: 2), 4, is_nasm=True).starts == [0, 3]
    with pytest.raises(UnsettledError, match=r"^\.org cannot move backwards in GNU as\.$"):
        laid_out(3, sized(ElementKind.ORIGIN, lambda: 2), 4)


def test_an_origin_that_is_behind_only_in_the_first_run_does_no_harm() -> None:
    values = iter([2, *[8] * 50])
    made = laid_out(3, sized(ElementKind.ORIGIN, lambda: next(values)), 4)
    assert (made.sizes, made.starts) == ([5], [0, 8])


@pytest.mark.parametrize(("between", "size"), [(0, 2), (126, 2), (127, 2), (128, 5), (200, 5)])
def test_a_jump_ahead_is_short_up_to_127_bytes(between: int, size: int) -> None:
    made = laid_out(9, (JUMP, place(1, between)), between, 4, fill(1))
    assert (made.sizes[0], made.starts[1]) == (size, 9 + size)
    made = laid_out(9, (JUMP, place(2)), between, fill(1), 4)
    assert made.sizes == [size, 0]


@pytest.mark.parametrize(("between", "size"), [(124, 2), (125, 0), (127, 0), (128, 5)])
def test_a_jump_of_nasm_must_be_as_long_from_either_start(between: int, size: int) -> None:
    """It reaches 127 bytes if it starts short, and 124 if it starts long, because its target then moves."""
    given = 9, (JUMP, place(2)), between, fill(1), 4
    if size:
        assert laid_out(*given, is_nasm=True).sizes == [size, 0]
        return
    with pytest.raises(UnsettledError) as refused:
        laid_out(*given, is_nasm=True)
    assert str(refused.value) == "Only NASM knows whether some jumps of this section are short or long."


@BOTH
@pytest.mark.parametrize(("between", "size"), [(0, 2), (125, 2), (126, 2), (127, 5)])
def test_a_jump_back_is_short_up_to_128_bytes(is_nasm: bool, between: int, size: int) -> None:
    made = laid_out(9, between, (JUMP, place(0, 9)), 4, is_nasm=is_nasm)
    assert made.sizes == [size]
    made = laid_out(9, fill(1), between, (JUMP, place(1)), 4, is_nasm=is_nasm)
    assert made.sizes == [0, size]


@BOTH
def test_what_has_no_known_size_takes_the_least_room(is_nasm: bool) -> None:
    made = laid_out(1, ANYTHING, 2, INSTRUCTION, 3, Element(ElementKind.UNKNOWN, 4, 9), 0, is_nasm=is_nasm)
    assert (made.sizes, made.starts, made.end()) == ([0, 0, 4], [0, 1, 3, 10], 10)


@BOTH
def test_a_jump_without_a_known_target_is_long(is_nasm: bool) -> None:
    made = laid_out(1, JUMP, 2, (LONG, place(0)), 3, is_nasm=is_nasm)
    assert (made.sizes, made.starts, made.end()) == ([5, 5], [0, 6, 13], 16)
    assert made.doubtful == frozenset()


@BOTH
@pytest.mark.parametrize(("between", "doubtful"), [(112, False), (113, True), (124, True), (128, False)])
def test_a_jump_over_an_instruction_of_unknown_size_is_doubtful_where_that_decides(
    is_nasm: bool, between: int, doubtful: bool
) -> None:
    """The instruction has at most 15 bytes."""
    made = laid_out(9, (JUMP, place(2)), between, INSTRUCTION, 4, is_nasm=is_nasm)
    assert made.doubtful == (frozenset([0]) if doubtful else frozenset())
    assert made.has_unknown(0, 1) is doubtful
    assert made.has_unknown(1, 2)
    assert not made.has_unknown(1, 1)
    back = laid_out(9, fill(1), between - 1, INSTRUCTION, (JUMP, place(1)), 4, is_nasm=is_nasm)
    assert back.doubtful == (frozenset([2]) if between in (113, 124) else frozenset())


def test_a_jump_over_a_doubtful_jump_is_doubtful_too() -> None:
    """The inner jump has two or five bytes, so the outer one has a distance of 125 to 128."""
    for more, doubtful in ((119, {1}), (122, {0, 1}), (124, {0, 1}), (125, {1})):
        made = laid_out((JUMP, place(2, more)), 1, (JUMP, place(3)), 126, INSTRUCTION, 0, fill(1), 9)
        assert made.doubtful == frozenset(doubtful), more


@BOTH
def test_offsets_behind_an_unknown_size_are_known_modulo_alignments(is_nasm: bool) -> None:
    made = laid_out(
        1, INSTRUCTION, 2, fill(4), 3, fill(16), 0, fill(8), 5, fill(32, 3), 0, ANYTHING, 1, is_nasm=is_nasm
    )
    assert [made.modulus(fragment) for fragment in range(7)] == [0, 1, 4, 16, 16, 1, 1]
    assert made.doubtful == frozenset([1, 2, 4])
    assert laid_out(1, fill(4), is_nasm=is_nasm).modulus(1) == 0


@BOTH
def test_padding_of_no_certain_size_hides_the_offset(is_nasm: bool) -> None:
    """An alignment that holds anyway changes nothing, whether or not it may be left out."""
    made = laid_out(INSTRUCTION, fill(16), 4, fill(4, 1), 0, fill(8, 7), 0, fill(16, 14), is_nasm=is_nasm)
    assert [made.modulus(fragment) for fragment in range(6)] == [0, 1, 16, 16, 16, 16]
    assert made.doubtful == frozenset([1])


def test_sizes_that_never_settle_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0

    def more() -> int:
        nonlocal asked
        asked += 1
        return asked

    for is_nasm, limits in (
        (False, ("MAXIMUM_PASSES",)),
        (False, ("MAXIMUM_RUNS",)),
        (True, ("MAXIMUM_PASSES",)),
    ):
        for limit in limits:
            with monkeypatch.context() as patch, pytest.raises(UnsettledError) as refused:
                patch.setattr(layout, limit, 4)
                asked = 0
                laid_out(sized(ElementKind.SPACE, more), is_nasm=is_nasm)
            assert str(refused.value) == "The sizes of this section never settle."
            assert asked <= (layout.MAXIMUM_PASSES if limit == "MAXIMUM_RUNS" else 4)


def test_sections_are_alike_if_nothing_in_them_differs() -> None:
    one = section(3, (JUMP, place(1)), 2)
    assert one.is_like(section(3, (JUMP, place(1)), 2))
    for other in (
        section(3, (JUMP, place(1)), 2, is_nasm=True),
        section(3, (JUMP, place(1)), 3),
        section(3, (JUMP, place(0)), 2),
        section(3, (LONG, place(1)), 2),
    ):
        assert not one.is_like(other)

    def amount() -> int:
        return 4

    assert not section(sized(ElementKind.SPACE, amount)).is_like(section(sized(ElementKind.SPACE, amount)))
    expressed = place(1, expressed=amount)
    assert not section((JUMP, expressed)).is_like(section((JUMP, expressed)))
    one.relax()
    copy = section(3, (JUMP, place(1)), 2)
    copy.take_over(one)
    assert (copy.starts, copy.sizes, copy.doubtful, copy.end()) == ([0, 5], [2], frozenset(), 7)
