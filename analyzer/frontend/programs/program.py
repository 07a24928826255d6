"""What a text is once it is read: statements in order, labels, what symbols are set to, sections."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import accumulate
from typing import Any

from cyclelens.analyzer.common.data_classes import dataclass, field
from cyclelens.analyzer.common.named_tuple import NamedTuple
from cyclelens.analyzer.common.patterns import pattern
from cyclelens.analyzer.frontend.programs.macros import Macro
from cyclelens.analyzer.frontend.source.dialect import Dialect
from cyclelens.analyzer.frontend.statements.expressions import ExpressionError, Value
from cyclelens.analyzer.frontend.statements.names import symbols, without_suffix

CODE_SECTION = ".text"
_CODE_NAMES = pattern(r"\.(?:text|init|fini)(?:\.|$)")
_NUMERIC = pattern(r"(\d+)([bf])")
_ANONYMOUS = pattern(r"@([bf])", re.IGNORECASE)
UNNAMED = "@@"
"""MASM's label without a name, of which there may be any number; ``@B`` and ``@F`` are the nearest ones."""
_MAXIMUM_DEPTH = 50
"""Of names for names."""
_HERE = pattern(r"<(\d+)>")


def here(index: int) -> str:
    """The symbol that ``.`` is at a statement; nothing in a text is called like that."""
    return f"<{index}>"


class StatementKind(Enum):
    """What a statement is."""

    INSTRUCTION = 0
    DIRECTIVE = 1
    NOTHING = 2
    """Labels or an assignment only, or a part of a macro definition."""


@dataclass(slots=True, eq=False)
class Statement:
    """One statement without its labels and comments. Later versions of the text share it."""

    kind: StatementKind
    start: int
    """Offset of ``text`` in its part of the file; ``Program.span`` tells where it is in the file."""
    text: str
    dialect: Dialect
    section: str
    name: str = ""
    """Directives: in lower case without the dot."""
    arguments: str = ""
    stop: int = -1
    """Statements made by a macro: where its use ends."""
    refusal: str = ""
    """Why this statement (a use of a macro, a condition) could not be followed."""
    subsection: int = 0

    @property
    def end(self) -> int:
        """Offset after the text."""
        return self.start + len(self.text) if self.stop < 0 else self.stop


@dataclass(frozen=True, slots=True)
class Label:
    """Where a label stands: before the statement of this index."""

    index: int
    section: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Assigned:
    """What a symbol is set to. ``value``: None if addresses have to tell, or the time of each use."""

    text: str
    value: Value | None
    is_repeated: bool = False
    """``.eqv``: the expression is read anew wherever the symbol stands."""


class Assignment(NamedTuple):
    """An assignment and the statement that makes it."""

    assigned: Assigned
    place: int


@dataclass(slots=True, eq=False)
class ParsedText:
    """What a part of the text holds. Offsets and indices count from the part's beginning."""

    statements: list[Statement] = field(default_factory=list)
    labels: list[tuple[str, Label]] = field(default_factory=list)
    assignments: list[tuple[str, int, Assigned]] = field(default_factory=list)
    """Name, statement, and what it is set to."""
    declared: list[str] = field(default_factory=list)
    weak: list[str] = field(default_factory=list)
    includes: list[int] = field(default_factory=list)
    """Statements that name files which were not put in their place."""
    flags: dict[str, str] = field(default_factory=dict)
    """Of sections, where they are given."""
    macros: dict[str, Macro | None] = field(default_factory=dict)
    """Defined, or no longer."""
    expansions: int = 0
    """Uses of macros."""
    expanded: int = 0
    """Statements that they became."""
    expanded_text: int = 0
    """Characters of these."""
    chunks: dict[str, Any] = field(default_factory=dict)
    """What became of the statements of each section last (sections.py)."""
    _indices: dict[str, list[int]] | None = None

    def so_far(self) -> ParsedText:
        """All of it by now; more may follow here, but not there."""
        return ParsedText(
            list(self.statements), list(self.labels), list(self.assignments), weak=list(self.weak)
        )

    def in_section(self, name: str) -> list[int]:
        """The statements of a section."""
        if self._indices is None:
            self._indices = {}
            for index, statement in enumerate(self.statements):
                self._indices.setdefault(statement.section, []).append(index)
        return self._indices.get(name, [])


@dataclass(slots=True)
class Program:
    """A whole file, in order."""

    statements: list[Statement] = field(default_factory=list)
    declared: set[str] = field(default_factory=set)
    """Symbols that `.globl`, `.extern` and their like name."""
    weak: set[str] = field(default_factory=set)
    macros: dict[str, Macro] = field(default_factory=dict)
    """By name in lower case."""
    expansions: int = 0
    """Uses of macros so far."""
    expanded: int = 0
    """Statements that they became."""
    expanded_text: int = 0
    """Characters of these."""
    parts: list[ParsedText] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    """The first statement of each part."""
    changed: set[int] = field(default_factory=set)
    """Statements that are not those of their part, because of what stands further down."""
    has_register_names: bool = False
    """Some symbol is a name for a register."""
    follows_nasm: bool = False
    """What symbols are set to also holds above."""
    _offsets: list[int] = field(default_factory=list)
    """Of the parts."""
    _labels: dict[str, list[tuple[int, int, Label]]] = field(default_factory=dict)
    """As they were read, with the first statement and the offset of their part."""
    _assignments: dict[str, list[Assignment]] = field(default_factory=dict)
    _sources: set[str] = field(default_factory=set)
    """What symbols are set to that need addresses names these."""
    _flags: dict[str, str] = field(default_factory=dict)
    _scopes: list[int] = field(default_factory=list)
    """The statements of labels that others belong to."""

    def add(self, part: ParsedText, offset: int) -> None:
        """Put a part behind all others."""
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

    def copy(self) -> Program:
        """The same, for parts to be added that this one shall not have."""
        result = Program()
        for part, offset in zip(self.parts, self._offsets, strict=True):
            result.add(part, offset)
        return result

    def span(self, index: int) -> tuple[int, int]:
        """Where a statement begins and ends in the text."""
        statement = self.statements[index]
        offset = self._offsets[bisect_right(self.firsts, index) - 1]
        return offset + statement.start, offset + statement.end

    def offsets(self, first: int, last: int) -> list[int]:
        """Where the parts begin that statements are of; ``last`` is exclusive."""
        begin = max(bisect_right(self.firsts, first) - 1, 0)
        return self._offsets[begin : bisect_left(self.firsts, last)]

    def is_code(self, section: str) -> bool:
        """Are instructions in this section run?"""
        flags = self._flags.get(section)
        return bool(_CODE_NAMES.match(section)) if flags is None else "x" in flags

    def latest(self, name: str) -> Assigned | None:
        """What a symbol is set to behind the last statement."""
        return self._assignments[name][-1].assigned if name in self._assignments else None

    def assignment(self, name: str, index: int) -> Assignment | None:
        """The last assignment to a symbol before a statement."""
        found = self._assignments.get(name)
        at = bisect_left(found, index, key=lambda known: known.place) if found else 0
        if found and (at or self.follows_nasm):
            return found[max(at - 1, 0)]
        return None

    def first_assignment(self, name: str) -> Assignment | None:
        """What the uses of a symbol mean that stand before all assignments to it."""
        found = self._assignments.get(name)
        return found[0] if found else None

    def is_set_again(self, name: str) -> bool:
        """Is there more than one assignment to a symbol?"""
        return len(self._assignments.get(name, ())) > 1

    def is_source(self, name: str) -> bool:
        """Is another symbol set to something with this one that is not known at once?"""
        return name in self._sources

    def find_label(self, name: str, index: int) -> Label | None:
        """The label a statement means; for ``1b`` and ``1f`` the nearest one of that number, for ``@B`` and
        ``@F`` the nearest one without a name."""
        number, way = "", ""
        if name[:1].isdigit() and (match := _NUMERIC.fullmatch(name)):
            number, way = match[1], match[2]
        elif name[:1] == "@" and (match := _ANONYMOUS.fullmatch(name)):
            number, way = UNNAMED, match[1].lower()
        if not number:
            found = self._labels.get(name)
            if found is not None and self._scopes and len(found) > 1 and name[0] == ".":
                found = [known for known in found if self._scope(known) == bisect_right(self._scopes, index)]
            if found:
                return _placed(*found[0])
            place = _HERE.fullmatch(name)
            if place is not None:
                return self._here(int(place[1]))
            above, _, local = name.rpartition(".")
            known = self.find_label(above, index) if above and self._scopes else None
            return None if known is None else self.find_label(f".{local}", known.index)
        found = self._labels.get(number, [])
        after = bisect_right(found, index, key=lambda known: known[0] + known[2].index)
        at = after - 1 if way == "b" else after
        return _placed(*found[at]) if 0 <= at < len(found) else None

    def _here(self, index: int) -> Label:
        start, end = self.span(index)
        return Label(index, self.statements[index].section, start, end)

    def follow_nasm(self) -> None:
        """NASM reads a text several times: what is set further down is known. A label that begins with a dot
        belongs to the last one before it that does not."""
        self.follows_nasm = True
        self._scopes = sorted(
            first + label.index
            for name, found in self._labels.items()
            if name[0] != "."
            for first, _, label in found
        )

    def _scope(self, known: tuple[int, int, Label]) -> int:
        """The number of the label that a label belongs to."""
        first, _, label = known
        return bisect_right(self._scopes, first + label.index)

    def has_label(self, name: str) -> bool:
        """Is there such a label?"""
        return name in self._labels

    def label_names(self) -> Iterable[str]:
        """The names of all labels."""
        return self._labels

    def labels_again(self) -> Iterator[tuple[str, Label]]:
        """Labels whose name has a place before them, but for numeric ones."""
        for name, found in self._labels.items():
            if len(found) > 1 and name != UNNAMED and not name.isdigit():
                scopes = set()
                for known in found:
                    scope = self._scope(known) if name[0] == "." else 0
                    if scope in scopes:
                        yield name, _placed(*known)
                    scopes.add(scope)

    def check_known(self, found: Assignment) -> None:
        """Raise ExpressionError for a symbol that is set to another one of which only what is further down
        tells what it is: what GNU as makes of that depends on where both are used."""
        for name in symbols(found.assigned.text):
            other = self.assignment(name, found.place)
            if other is None and self.follows_nasm:
                continue
            if other is None and self.first_assignment(name) is None:
                continue
            if other is None or other.assigned.value is None:
                message = (
                    f"What '{name}' is cannot be told where '{found.assigned.text.strip()[:40]}' stands."
                )
                raise ExpressionError(message)

    def may_be_replaced(self, text: str, index: int) -> bool:
        """Does an expression at a statement name a symbol that the definition of another file may replace? In
        Intel syntax another name for it will do that is set to it before it has its label."""
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
        """Does the file define the symbol, or say that another one does?"""
        name = without_suffix(symbol)
        if symbol in self._labels or not name:
            return True
        if name[0].isdigit():
            return name[:-1] in self._labels
        return name in self._labels or name in self.declared or name in self._assignments or name[0] == "<"

    def slice(self, start: int, end: int) -> tuple[int, int]:
        """Indices of the statements that stand between two offsets of the text."""
        return self._index(start), self._index(end)

    def _index(self, offset: int) -> int:
        """The first statement that does not stand before an offset."""
        part = bisect_right(self._offsets, offset) - 1
        if part < 0:
            return 0
        first = self.firsts[part]
        last = self.firsts[part + 1] if part + 1 < len(self.firsts) else len(self.statements)
        # Unrolled statements go back in the text; the running maximum can be searched all the same.
        starts = list(accumulate((one.start for one in self.statements[first:last]), max))
        return first + bisect_left(starts, offset - self._offsets[part])


def register_of(value: Value | None) -> str | None:
    """The register, in lower case without ``%``, that a symbol with this value is a name for."""
    symbol = value.symbol if value is not None else None
    return symbol[1:] if symbol is not None and symbol[0] == "%" else None


def _placed(first: int, offset: int, label: Label) -> Label:
    return Label(first + label.index, label.section, offset + label.start, offset + label.end)
