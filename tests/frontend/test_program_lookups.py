"""What a program, put together from parts, says of its places, labels and symbols."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.frontend.programs.program import (
    UNNAMED,
    Assigned,
    Label,
    ParsedText,
    Program,
    Statement,
    StatementKind,
    here,
    register_of,
)
from cyclelens.analyzer.frontend.programs.scope import StatementScope
from cyclelens.analyzer.frontend.source.dialect import ATT, INTEL, NASM, Dialect
from cyclelens.analyzer.frontend.statements.expressions import ExpressionError, ExpressionValue


def statements(*starts: int, dialect: Dialect = ATT, section: str = ".text") -> list[Statement]:
    """Statements of three letters."""
    return [Statement(StatementKind.INSTRUCTION, start, "nop", dialect, section) for start in starts]


def label(index: int, start: int = 0) -> Label:
    return Label(index, ".text", start, start + 1)


def program(*parts: tuple[int, ParsedText]) -> Program:
    made = Program()
    for offset, part in parts:
        made.add(part, offset)
    return made


def two_parts() -> Program:
    """At offset 0 three statements, and at 100 two."""
    first = ParsedText(statements(0, 10, 20), [("a", label(0)), ("1", label(1)), ("1", label(2))])
    second = ParsedText(statements(5, 15), [("b", label(0, 3)), ("1", label(1, 14))])
    return program((0, first), (100, second))


def test_offsets_count_from_the_parts_of_the_text() -> None:
    made = two_parts()
    assert made.firsts == [0, 3]
    assert [made.span(index) for index in range(5)] == [(0, 3), (10, 13), (20, 23), (105, 108), (115, 118)]
    assert [made.offsets(*ends) for ends in ((0, 3), (0, 4), (2, 5), (3, 5), (3, 3), (0, 0))] == [
        [0], [0, 100], [0, 100], [100], [], [],
    ]  # fmt: skip
    assert Program().offsets(0, 0) == []
    made.statements[3].stop = 9  # made by a macro whose use ends there
    assert made.span(3) == (105, 109)


@pytest.mark.parametrize(
    ("offsets", "indices"),
    [
        ((0, 0), (0, 0)), ((0, 1), (0, 1)), ((1, 10), (1, 1)), ((10, 11), (1, 2)), ((20, 21), (2, 3)),
        ((21, 99), (3, 3)), ((100, 105), (3, 3)), ((105, 106), (3, 4)), ((115, 200), (4, 5)),
        ((116, 117), (5, 5)),
    ],
)  # fmt: skip
def test_the_statements_between_two_offsets(offsets: tuple[int, int], indices: tuple[int, int]) -> None:
    assert two_parts().slice(*offsets) == indices


def test_an_empty_program_has_no_statement_anywhere() -> None:
    assert Program().slice(0, 5) == (0, 0)


def test_repeated_statements_stand_where_the_first_of_them_does() -> None:
    made = program((0, ParsedText(statements(0, 10, 20, 10, 20, 30))))
    assert [made.slice(start, start + 1) for start in (9, 10, 11, 20, 21, 30)] == [
        (1, 1), (1, 2), (2, 2), (2, 5), (5, 5), (5, 6),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "index", "found"),
    [
        ("a", 0, (0, 0)), ("a", 4, (0, 0)), ("b", 0, (3, 103)), ("c", 0, None), ("1b", 0, None),
        ("1b", 1, (1, 0)),
        ("1f", 0, (1, 0)), ("1f", 1, (2, 0)), ("1b", 2, (2, 0)), ("1b", 3, (2, 0)), ("1f", 2, (4, 114)),
        ("1f", 3, (4, 114)), ("1f", 4, None), ("1b", 4, (4, 114)), ("2f", 0, None), ("2b", 4, None),
        ("1x", 2, None), (here(2), 0, (2, 20)), (here(4), 0, (4, 115)),
    ],
)  # fmt: skip
def test_a_name_is_the_nearest_label_of_its_number(
    name: str, index: int, found: tuple[int, int] | None
) -> None:
    place = two_parts().find_label(name, index)
    assert (place and (place.index, place.start)) == found


@pytest.mark.parametrize(
    ("name", "index", "found"), [("@b", 0, 0), ("@F", 0, 2), ("@B", 1, 0), ("@f", 2, None), ("@B", 2, 2)]
)
def test_anonymous_labels_are_the_nearest_ones(name: str, index: int, found: int | None) -> None:
    made = program((0, ParsedText(statements(0, 1, 2), [(UNNAMED, label(0)), (UNNAMED, label(2))])))
    place = made.find_label(name, index)
    assert (place and place.index) == found


def test_local_labels_of_nasm_belong_to_the_label_before_them() -> None:
    names = [("f", label(0)), (".x", label(1)), ("g", label(2)), (".x", label(3)), (".y", label(4))]
    made = program((0, ParsedText(statements(*range(6), dialect=NASM), names)))
    assert made.find_label("f.x", 0) is None
    made.follow_nasm()
    assert [made.find_label(".x", index).index for index in range(6)] == [1, 1, 3, 3, 3, 3]  # type: ignore[union-attr]
    assert made.find_label(".y", 0).index == 4  # type: ignore[union-attr]
    for name, index in (("f.x", 1), ("g.x", 3), ("g.y", 4)):
        assert made.find_label(name, 0).index == index  # type: ignore[union-attr]
    assert made.find_label("h.x", 0) is None
    assert list(made.labels_again()) == []


def test_labels_that_are_defined_again() -> None:
    names = ["a", "a", "1", "1", UNNAMED, UNNAMED, ".b", ".b", "a"]
    made = program(
        (0, ParsedText(statements(*range(9)), [(name, label(at)) for at, name in enumerate(names)]))
    )
    assert [(name, again.index) for name, again in made.labels_again()] == [("a", 1), ("a", 8), (".b", 7)]


def assigned(text: str, value: ExpressionValue | None = None) -> Assigned:
    return Assigned(text, value, False)


def test_a_symbol_has_the_value_of_the_last_assignment_before_a_statement() -> None:
    one, two, three = (
        assigned("1", ExpressionValue(1)),
        assigned("y+1"),
        assigned("%eax", ExpressionValue(0, "%eax")),
    )
    first = ParsedText(statements(0, 1, 2), assignments=[("x", 1, one), ("x", 2, two)], declared=["d"])
    made = program((0, first), (50, ParsedText(statements(0, 1), assignments=[("r", 0, three)], weak=["w"])))
    found = [made.assignment("x", index) for index in range(5)]
    assert [each and each.assigned for each in found] == [None, None, one, two, two]
    assert [each and each.place for each in found] == [None, None, 1, 2, 2]
    assert made.first_assignment("x").assigned is one  # type: ignore[union-attr]
    assert made.first_assignment("y") is None
    assert made.latest("x") is two
    assert made.latest("y") is None
    assert (made.is_set_again("x"), made.is_set_again("r"), made.is_set_again("q")) == (True, False, False)
    assert (made.is_source("y"), made.is_source("x")) == (True, False)
    assert made.has_register_names
    assert (made.declared, made.weak) == ({"d"}, {"w"})
    made.follow_nasm()
    assert made.assignment("x", 0).assigned is one  # type: ignore[union-attr]
    assert [register_of(each) for each in (three.value, one.value, None)] == ["eax", None, None]


@pytest.mark.parametrize(
    ("flags", "is_code"), [(None, True), ("", False), ("x", True), ("ax", True), ("aw", False)]
)
def test_a_section_is_code_if_its_flags_say_so(flags: str | None, is_code: bool) -> None:
    made = program((0, ParsedText(flags={} if flags is None else {".text": flags})))
    made.add(ParsedText(flags={".text": "x"} if flags is not None else {}), 0)  # the first flags hold
    assert made.is_code(".text") is is_code
    for name, known in {
        ".text.hot": True,
        ".init": True,
        ".fini": True,
        ".textual": False,
        ".data": False,
    }.items():
        assert made.is_code(name) is known


@pytest.mark.parametrize(
    ("symbol", "is_known"),
    [
        ("a", True), ("d", True), ("x", True), ("a@plt", True), ("d@plt", True), ('"q@v"', True),
        ("1b", True),
        ("1f", True), ("2b", False), ("<3>", True), ("z", False), ("z@plt", False), ("", False),
    ],
)  # fmt: skip
def test_a_symbol_is_declared_by_a_label_a_directive_or_an_assignment(symbol: str, is_known: bool) -> None:
    names = [("a", label(0)), ("1", label(1)), ('"q@v"', label(1))]
    part = ParsedText(statements(0, 1), names, [("x", 0, assigned("1"))], declared=["d"])
    assert program((0, part)).is_declared(symbol) is is_known


def test_an_assignment_may_use_only_symbols_that_earlier_text_decides() -> None:
    assignments = [
        ("known", 0, assigned("3", ExpressionValue(3))),
        ("fine", 1, assigned("known+outside")),
        ("early", 1, assigned("behind+1")),
        ("open", 2, assigned("fine*2")),
        ("behind", 3, assigned("4", ExpressionValue(4))),
    ]
    made = program((0, ParsedText(statements(0, 1, 2, 3), assignments=assignments)))

    def check(name: str) -> str:
        found = made.first_assignment(name)
        assert found is not None
        try:
            made.check_known(found)
        except ExpressionError as error:
            return str(error)
        return ""

    assert check("fine") == ""
    assert check("early") == "The value of 'behind' is unclear in 'behind+1'."
    assert check("open") == "The value of 'fine' is unclear in 'fine*2'."


@pytest.mark.parametrize(("dialect", "through_names"), [(ATT, False), (INTEL, True)])
def test_a_weak_symbol_may_be_replaced_also_under_another_name_in_intel_syntax(
    dialect: Dialect, through_names: bool
) -> None:
    assignments = [
        ("alias", 0, assigned("w", ExpressionValue(0, "w"))),
        ("second", 1, assigned("alias", ExpressionValue(0, "w"))),
        ("number", 1, assigned("3", ExpressionValue(3))),
        ("late", 1, assigned("w-x")),
        ("behind", 3, assigned("w", ExpressionValue(0, "w"))),
    ]
    part = ParsedText(
        statements(*range(5), dialect=dialect), [("w", label(2)), ("x", label(2))], assignments, weak=["w"]
    )
    made = program((0, part))
    for text, index, may in (
        ("w", 0, True), ("w+4", 4, True), ("x", 4, False), ("alias", 4, through_names), ("alias", 0, False),
        ("second", 4, through_names), ("number", 4, False), ("late", 4, False), ("behind", 4, False),
    ):  # fmt: skip
        assert made.may_be_replaced(text, index) is may, text
    assert not program((0, ParsedText(statements(0)))).may_be_replaced("w", 0)


def test_a_statement_that_asks_for_no_place_means_the_same_in_every_text() -> None:
    part = ParsedText(
        statements(0, 1, 2),
        [("a", label(0)), ("b", label(1))],
        [("k", 0, assigned("5", ExpressionValue(5))), ("d", 0, assigned("b-a"))],
    )
    made = program((0, part))

    def read(text: str) -> tuple[ExpressionValue, StatementScope]:
        scope = StatementScope(made, 2, lambda first, second, index: 7)
        return scope.evaluate(text), scope

    for text, value, is_fleeting in (
        ("k+1", ExpressionValue(6), False),
        ("a", ExpressionValue(0, "a"), False),
        ("b-a", ExpressionValue(7), True),
        ("d", ExpressionValue(7), True),
        (".", ExpressionValue(0, here(2)), True),
        ("k/0", ExpressionValue(5), True),
    ):
        found, scope = read(text)
        assert (found, scope.is_fleeting) == (value, is_fleeting), text
        assert (scope.divides_by_zero, scope.looks_ahead, scope.looks_again) == (text == "k/0", False, False)
    assert read("k+a")[1].asked == {"k", "a"}
    assert StatementScope(made, 2).evaluate("b-a").later
    scope = StatementScope(made, 2)
    assert (scope.is_set("k"), scope.is_set("a"), scope.is_set("q")) == (True, False, False)
    assert (scope.register("k"), scope.names_registers, scope.is_whole, scope.dot) == (None, False, False, 0)
    assert scope.stand_in("a", ExpressionValue(0, "a"), 77, immediate=False) == 77


def test_a_part_lists_its_sections_and_answers_once() -> None:
    part = ParsedText([*statements(0), *statements(1, section=".data"), *statements(2)])
    assert part.sections() == {".text": [0, 2], ".data": [1]}
    assert (part.in_section(".text"), part.in_section(".bss")) == ([0, 2], [])
    asked: list[int] = []

    def question(read: list[Statement]) -> int:
        asked.append(len(read))
        return len(read)

    assert [part.ask(question), part.ask(question)] == [3, 3]
    assert asked == [3]
