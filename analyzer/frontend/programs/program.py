"""A parsed text: statements in order, labels, symbol assignments, sections."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from itertools import accumulate
from typing import Any, TypeVar

from cyclelens.analyzer.frontend.programs.macros import Macro
from cyclelens.analyzer.frontend.source.dialect import Dialect
from cyclelens.analyzer.frontend.statements.expressions import ExpressionError, ExpressionValue
from cyclelens.analyzer.frontend.statements.names import symbols, without_suffix
from msgspec import Struct, field

_Answer = TypeVar("_Answer")

CODE_SECTION = ".text"
_CODE_NAMES = re.compile(r"\.(?:text|init|fini)(?:\.|$)")
_NUMERIC = r"(\d+)([bf])"
_ANONYMOUS = r"(?i)@([bf])"
UNNAMED = "@@"
"""MASM's anonymous label; ``@B`` and ``@F`` refer to the nearest one before and after."""
_MAXIMUM_DEPTH = 50
"""Names that a chain of assignments is followed through: every jump of a text may follow its longest one."""
_HERE = r"<(\d+)>"


def here(index: int) -> str:
    """Internal symbol for ``.`` at a statement; no name in a text looks like it."""
    return f"<{index}>"


class StatementKind(Enum):
    """Kind of a statement."""

    INSTRUCTION = 0
    DIRECTIVE = 1
    NOTHING = 2
    """Only labels or an assignment, or part of a macro definition."""


class Statement(Struct, eq=False):
    """A statement without labels and comments. Later versions of the text share it."""

    kind: StatementKind
    start: int
    """Offset of ``text`` in its part of the file; ``Program.span`` gives the offset in the file."""
    text: str
    dialect: Dialect
    section: str
    name: str = ""
    """For directives: name in lower case without the dot."""
    arguments: str = ""
    stop: int = -1
    """For statements made by a macro: end of the macro's use."""
    refusal: str = ""
    """Why this statement (a macro use, a condition) could not be processed."""
    subsection: int = 0

    @property
    def end(self) -> int:
        """Offset after the text."""
        return self.start + len(self.text) if self.stop < 0 else self.stop


class Label(Struct, frozen=True):
    """A label, which precedes the statement with this index."""

    index: int
    section: str
    start: int
    end: int


class Assigned(Struct, frozen=True, eq=False):
    """The assignment of a symbol. ``value`` is None if it depends on addresses or on the place of use."""

    text: str
    value: ExpressionValue | None
    is_repeated: bool
    """``.eqv``: the expression is evaluated anew at each use."""


class Assignment(Struct, frozen=True):
    """An assignment and the index of its statement."""

    assigned: Assigned
    place: int


class ParsedText(Struct, eq=False):
    """Parsed content of a part of the text. Offsets and indices are relative to the part."""

    statements: list[Statement] = field(default_factory=list)
    labels: list[tuple[str, Label]] = field(default_factory=list)
    assignments: list[tuple[str, int, Assigned]] = field(default_factory=list)
    """Name, statement index and assignment."""
    declared: list[str] = field(default_factory=list)
    weak: list[str] = field(default_factory=list)
    includes: list[int] = field(default_factory=list)
    """Indices of statements that include files which were not inlined."""
    flags: dict[str, str] = field(default_factory=dict)
    """Section flags, where given."""
    macros: dict[str, Macro | None] = field(default_factory=dict)
    """Macros by name; None if undefined by `.purgem`."""
    expansions: int = 0
    """Number of macro uses."""
    expanded: int = 0
    """Number of statements that macros produced."""
    expanded_text: int = 0
    """Characters of these statements."""
    section_parts: dict[str, Any] = field(default_factory=dict)
    """The latest sizes of its statements by section (``sections.py``)."""
    _answers: dict[Callable[[list[Statement]], Any], Any] = field(default_factory=dict)
    _indices: dict[str, list[int]] | None = None

    def ask(self, question: Callable[[list[Statement]], _Answer]) -> _Answer:
        """Result of a function of the complete part's statements; cached."""
        answer: _Answer | None = self._answers.get(question)
        if answer is None:
            answer = self._answers[question] = question(self.statements)
        return answer

    def sections(self) -> dict[str, list[int]]:
        """Indices of each section's statements."""
        if self._indices is None:
            self._indices = {}
            for index, statement in enumerate(self.statements):
                self._indices.setdefault(statement.section, []).append(index)
        return self._indices

    def in_section(self, name: str) -> list[int]:
        """Indices of a section's statements."""
        return self.sections().get(name, [])


class Program(Struct):
    """A whole parsed file."""

    statements: list[Statement] = field(default_factory=list)
    declared: set[str] = field(default_factory=set)
    """Symbols named by `.globl`, `.extern` and similar directives."""
    weak: set[str] = field(default_factory=set)
    macros: dict[str, Macro] = field(default_factory=dict)
    """Macros by their names in lower case."""
    expansions: int = 0
    """Number of macro uses so far."""
    expanded: int = 0
    """Number of statements that macros produced."""
    expanded_text: int = 0
    """Characters of these statements."""
    parts: list[ParsedText] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    """Index of each part's first statement."""
    changed: set[int] = field(default_factory=set)
    """Statements that differ from their part's, because of later text."""
    has_register_names: bool = False
    """Some symbol is a name for a register."""
    follows_nasm: bool = False
    """Assignments are also visible to earlier statements."""
    _offsets: list[int] = field(default_factory=list)
    """Offset of each part."""
    _labels: dict[str, list[tuple[int, int, Label]]] = field(default_factory=dict)
    """Labels as parsed, with the first statement and the offset of their part."""
    _assignments: dict[str, list[Assignment]] = field(default_factory=dict)
    _sources: set[str] = field(default_factory=set)
    """Symbols in assignments whose values need addresses."""
    _flags: dict[str, str] = field(default_factory=dict)
    _scopes: list[int] = field(default_factory=list)
    """Statement indices of the labels that NASM's local labels belong to."""

    def add(self, part: ParsedText, offset: int) -> None:
        """Append a part."""
        first = len(self.statements)
        self._offsets.append(offset)
        self.firsts.append(first)
        self.parts.append(part)
        self.statements += part.statements
        for name, label in part.labels:
            self._labels.setdefault(name, []).append((first, offset, label))
        for name, index, assigned in part.assignments:
            self._assignments.setdefault(name, []).append(Assignment(assigned, first + index))
            self.has_register_names |= register_of(assigned.value) is not None
            if assigned.value is None:
                self._sources.update(symbols(assigned.text))
        self.declared.update(part.declared)
        self.weak.update(part.weak)
        for name, flags in part.flags.items():
            self._flags.setdefault(name, flags)
        for name, macro in part.macros.items():
            if macro is not None:
                self.macros[name] = macro
            else:
                self.macros.pop(name, None)
        self.expansions += part.expansions
        self.expanded += part.expanded
        self.expanded_text += part.expanded_text

    def span(self, index: int) -> tuple[int, int]:
        """Start and end offset of a statement in the text."""
        statement = self.statements[index]
        offset = self._offsets[bisect_right(self.firsts, index) - 1]
        return offset + statement.start, offset + statement.end

    def offsets(self, first: int, last: int) -> list[int]:
        """Offsets of the parts that contain these statements; ``last`` is exclusive."""
        begin = max(bisect_right(self.firsts, first) - 1, 0)
        return self._offsets[begin : bisect_left(self.firsts, last)]

    def is_code(self, section: str) -> bool:
        """Whether instructions in this section are executed."""
        flags = self._flags.get(section)
        return bool(_CODE_NAMES.match(section)) if flags is None else "x" in flags

    def latest(self, name: str) -> Assigned | None:
        """Assignment of a symbol after the last statement; None if it has none."""
        return self._assignments[name][-1].assigned if name in self._assignments else None

    def assignment(self, name: str, index: int) -> Assignment | None:
        """Last assignment to a symbol before a statement; None if there is none."""
        found = self._assignments.get(name)
        at = bisect_left(found, index, key=lambda known: known.place) if found else 0
        if found and (at or self.follows_nasm):
            return found[max(at - 1, 0)]
        return None

    def first_assignment(self, name: str) -> Assignment | None:
        """First assignment to a symbol, which applies to uses before all assignments."""
        found = self._assignments.get(name)
        return found[0] if found else None

    def is_set_again(self, name: str) -> bool:
        """Whether a symbol is assigned more than once."""
        return len(self._assignments.get(name, ())) > 1

    def is_source(self, name: str) -> bool:
        """Whether another symbol is set to an expression with this symbol whose value was not known at
        once."""
        return name in self._sources

    def find_label(self, name: str, index: int) -> Label | None:
        """The label that a name refers to at a statement. ``1b`` and ``1f`` refer to the nearest label with
        that number, ``@B`` and ``@F`` to the nearest anonymous one."""
        number, way = "", ""
        if name[:1].isdigit() and (match := re.fullmatch(_NUMERIC, name)):
            number, way = match[1], match[2]
        elif name[:1] == "@" and (match := re.fullmatch(_ANONYMOUS, name)):
            number, way = UNNAMED, match[1].lower()
        if not number:
            found = self._labels.get(name)
            if found is not None and self._scopes and len(found) > 1 and name[0] == ".":
                found = [known for known in found if self._scope(known) == bisect_right(self._scopes, index)]
            if found:
                return _placed(*found[0])
            place = re.fullmatch(_HERE, name)
            if place is not None:
                found_at = int(place[1])
                return Label(found_at, self.statements[found_at].section, *self.span(found_at))
            above, _, local = name.rpartition(".")
            known = self.find_label(above, index) if above and self._scopes else None
            return None if known is None else self.find_label(f".{local}", known.index)
        found = self._labels.get(number, [])
        after = bisect_right(found, index, key=lambda known: known[0] + known[2].index)
        at = after - 1 if way == "b" else after
        return _placed(*found[at]) if 0 <= at < len(found) else None

    def follow_nasm(self) -> None:
        """Apply NASM's rules. NASM makes several passes, so later definitions are known. A label that begins
        with a dot belongs to the last label before it that does not."""
        self.follows_nasm = True
        self._scopes = sorted(
            first + label.index
            for name, found in self._labels.items()
            if name[0] != "."
            for first, _, label in found
        )

    def _scope(self, known: tuple[int, int, Label]) -> int:
        """Number of the label that a local label belongs to."""
        first, _, label = known
        return bisect_right(self._scopes, first + label.index)

    def has_label(self, name: str) -> bool:
        """Whether this label exists."""
        return name in self._labels

    def label_names(self) -> Iterable[str]:
        """Names of all labels."""
        return self._labels

    def labels_again(self) -> Iterator[tuple[str, Label]]:
        """Labels whose name was defined before; numeric labels may be redefined."""
        for name, found in self._labels.items():
            if len(found) > 1 and name != UNNAMED and not name.isdigit():
                scopes = set()
                for known in found:
                    scope = self._scope(known) if name[0] == "." else 0
                    if scope in scopes:
                        yield name, _placed(*known)
                    scopes.add(scope)

    def check_known(self, found: Assignment) -> None:
        """Raise ExpressionError if an assignment uses a symbol whose value only later text determines. GNU
        as's result then depends on where both symbols are used."""
        for name in symbols(found.assigned.text):
            other = self.assignment(name, found.place)
            if other is None and self.follows_nasm:
                continue
            if other is None and self.first_assignment(name) is None:
                continue
            if other is None or other.assigned.value is None:
                message = f"The value of '{name}' is unclear in '{found.assigned.text.strip()[:40]}'."
                raise ExpressionError(message)

    def may_be_replaced(self, text: str, index: int) -> bool:
        """Whether an expression at a statement uses a weak symbol, which another file may redefine. In Intel
        syntax an alias that is assigned before the symbol's label counts as well."""
        if not self.weak:
            return False
        names = set(symbols(text))
        for _ in range(_MAXIMUM_DEPTH):
            if not self.weak.isdisjoint(names):
                return True
            if not names or self.statements[index].dialect.is_att:
                return False
            found = [found for name in names if (found := self.assignment(name, index)) is not None]
            names = {
                name
                for each in found
                if each.assigned.value is not None and (name := each.assigned.value.symbol) is not None
                if (label := self.find_label(name, each.place)) is None or label.index > each.place
            }
        return False

    def is_declared(self, symbol: str) -> bool:
        """Whether the file defines the symbol or declares it as external."""
        name = without_suffix(symbol)
        if symbol in self._labels:
            return True
        if name[:1].isdigit():
            return name[:-1] in self._labels
        return name in self._labels or name in self.declared or name in self._assignments or name[:1] == "<"

    def slice(self, start: int, end: int) -> tuple[int, int]:
        """Index range of the statements between two offsets of the text."""
        return self._index(start), self._index(end)

    def _index(self, offset: int) -> int:
        """Index of the first statement at or after an offset."""
        part = bisect_right(self._offsets, offset) - 1
        if part < 0:
            return 0
        first = self.firsts[part]
        last = self.firsts[part + 1] if part + 1 < len(self.firsts) else len(self.statements)
        # Unrolled statements repeat earlier offsets; the running maximum is sorted.
        starts = list(accumulate((one.start for one in self.statements[first:last]), max))
        return first + bisect_left(starts, offset - self._offsets[part])


def register_of(value: ExpressionValue | None) -> str | None:
    """The register (lower case, without ``%``) that a symbol with this value names; None for other values."""
    symbol = value.symbol if value is not None else None
    return symbol[1:] if symbol is not None and symbol[0] == "%" else None


def _placed(first: int, offset: int, label: Label) -> Label:
    return Label(first + label.index, label.section, offset + label.start, offset + label.end)
