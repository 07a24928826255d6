"""Lays out the statements of each section.

Statements become fragments (``layout.py``), part by part of the text. A part's fragments are kept with it and
reused in a later version of the text, unless facts that they depend on have changed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable
from functools import partial

from cyclelens.analyzer.frontend.encoding.instructions import Encoded
from cyclelens.analyzer.frontend.programs.fragments import (
    LONGEST_INSTRUCTION,
    MAXIMUM_DEPTH,
    AddedSizes,
    OpenError,
    PendingError,
    SectionLayout,
    SectionPart,
    add_places,
    assigned_before,
)
from cyclelens.analyzer.frontend.programs.program import (
    Assignment,
    ParsedText,
    Program,
    StatementKind,
    register_of,
)
from cyclelens.analyzer.frontend.programs.scope import (
    DistanceAt,
    StatementScope,
    find_target,
    jump_scope,
    origin_of,
)
from cyclelens.analyzer.frontend.regions.statement_code import Content, Encoder, RefusedStatement
from cyclelens.analyzer.frontend.statements.directives import Alignment, RepeatedBytes, SizedDirective, leb128
from cyclelens.analyzer.frontend.statements.expressions import (
    ExpressionError,
    ExpressionValue,
    evaluate,
    refuse_zero,
)
from cyclelens.analyzer.frontend.statements.jumps import Jump
from cyclelens.analyzer.frontend.statements.layout import (
    UNBOUNDED,
    Element,
    ElementKind,
    FragmentOffset,
    Section,
    UnsettledError,
)
from cyclelens.analyzer.frontend.statements.names import symbols
from msgspec import Struct, field

SECTION_SIGN = "section "
"""Before a section's name: the symbol of the section's beginning."""
_FEW = 64
"""Statements between two labels whose sizes are added up for each question."""
_STATEMENTS_BETWEEN_STOPS = 64
_BORDER = Element(ElementKind.FILL, 0, 0)
"""Separates two subsections; GNU as ends each with an alignment to one byte."""


class Layouts(Struct):
    """Section layouts of one version of a text."""

    program: Program
    encoder: Encoder
    _prepared: set[str] = field(default_factory=set)
    _parts: int = 0
    """Parts that ``take_added`` has seen."""
    _added: dict[str, dict[int, AddedSizes]] = field(default_factory=dict)
    """By section and subsection."""
    _laid: dict[str, SectionLayout] = field(default_factory=dict)
    _depth: int = 0
    _asked: set[str] = field(default_factory=set)
    """Sections of labels whose addresses were used."""
    _places: dict[str, list[int]] = field(default_factory=dict)
    """Fragments used in the latest expression, by section."""

    # Sizes of statements

    def take_added(self) -> None:
        """Take in the parts that were added to the program since the last call, for distances."""
        for number in range(self._parts, len(self.program.parts)):
            part = self.program.parts[number]
            for section in self._added.keys() & part.sections().keys():
                add_places(self._added[section], part, self.program.firsts[number], section)
            self._find_sizes(self._prepared & part.sections().keys(), range(number, number + 1))
        self._parts = len(self.program.parts)

    def prepare(self, names: Collection[str]) -> None:
        """Find the sizes of all statements in some sections; some stay unknown if the text is given up."""
        if new := set(names) - self._prepared:
            self._prepared |= new
            self._find_sizes(new, range(len(self.program.parts)))

    def _find_sizes(self, names: Collection[str], numbers: Iterable[int]) -> None:
        """``numbers``: of parts."""
        work: list[tuple[int, int, SectionPart]] = []
        new: list[tuple[ParsedText, SectionPart]] = []
        circumstances = self.encoder.circumstances
        for number in numbers:
            first, part = self.program.firsts[number], self.program.parts[number]
            for name in names:
                known: SectionPart | None = part.section_parts.get(name)
                if known is not None and known.holds(self.program, first, circumstances):
                    continue
                if not (indices := part.in_section(name)):
                    continue
                section_part = part.section_parts[name] = SectionPart(
                    indices, [None] * len(indices), circumstances=circumstances
                )
                new.append((part, section_part))
                work += ((first, at, section_part) for at in range(len(indices)))
        pending: list[tuple[int, int, SectionPart]] = []
        for done, (first, at, section_part) in enumerate(work):
            if done % _STATEMENTS_BETWEEN_STOPS == 0 and self.encoder.stop():
                # The text is given up. What its later version shares with it has to be read again.
                for _, unfinished in new:
                    unfinished.is_fleeting = True
                return
            try:
                self._read(first, at, section_part, self._not_yet)
            except PendingError:
                pending.append((first, at, section_part))
        for first, at, section_part in pending:
            self._read(first, at, section_part, self.distance)
        for part, section_part in new:
            section_part.divide(part)

    def _read(self, first: int, at: int, section_part: SectionPart, distance: DistanceAt) -> None:
        """Find the size of a statement."""
        index = first + section_part.indices[at]
        scope = StatementScope(self.program, index, distance)
        content = self.encoder.content(index, scope)
        # The size of a sized directive is computed in this layout.
        is_fleeting = scope.is_fleeting or isinstance(content, SizedDirective)
        section_part.is_fleeting |= is_fleeting or index in self.program.changed
        for name in scope.asked - section_part.asked.keys():
            section_part.asked[name] = assigned_before(self.program, name, first)
        if isinstance(content, Jump) and 0 not in content.sizes:
            section_part.jumps[section_part.indices[at]] = content
        if not (scope.asked or scope.is_fleeting) and isinstance(content, Encoded | Jump):
            section_part.contents[section_part.indices[at]] = content
        section_part.sizes[at] = self._size(index, content)

    def _size(self, index: int, content: Content | RefusedStatement | None) -> int | Element | None:
        if content is None:
            return 0
        if isinstance(content, Encoded):
            return len(content.code)
        if isinstance(content, Jump):
            short, near = content.sizes
            if not short and content.forms.short:
                # GNU as does not know yet that this jump has only one size.
                return Element(ElementKind.BRANCH, near, near)
            return Element(ElementKind.BRANCH, short, near) if short and near else short or near
        if isinstance(content, RepeatedBytes):
            return content.size
        if isinstance(content, Alignment):
            if content.boundary == 1:
                return 0
            return Element(ElementKind.FILL, 0, content.most, content)
        if isinstance(content, SizedDirective):
            if content.name == "nops":
                # GNU as reserves no room for them before it determines sizes.
                size = self._amount(index, content)
                return Element(ElementKind.SPACE, size, size, amount=partial(self._amount, index, content))
            kind = {"org": ElementKind.ORIGIN, "skip": ElementKind.SPACE}.get(
                content.name, ElementKind.LEB128
            )
            return Element(kind, amount=partial(self._amount, index, content))
        statement = self.program.statements[index]
        if statement.kind is StatementKind.INSTRUCTION and not statement.refusal:
            return Element(ElementKind.UNKNOWN, 0, LONGEST_INSTRUCTION)
        return Element(ElementKind.UNKNOWN, -UNBOUNDED, UNBOUNDED)

    def _amount(self, index: int, content: SizedDirective) -> int:
        is_origin = content.name == "org"
        text = origin_of(self.program, index, content.expression) if is_origin else content.expression
        value = self.final(text, index)
        if is_origin and value.symbol == SECTION_SIGN + self.program.statements[index].section:
            return value.constant
        if not value.is_constant:
            raise ExpressionError(f"'{content.expression.strip()[:40]}' has no constant value.")
        if content.name.endswith("leb128"):
            return len(leb128(content.name, value.constant))
        return value.constant * (len(content.fill) if content.name == "skip" else 1)

    def plain_contents(self, section: str, first: int, end: int) -> dict[int, Encoded | Jump]:
        """What some statements of a section make, where that is the same everywhere."""
        found: dict[int, Encoded | Jump] = {}
        own = slice(bisect_right(self.program.firsts, first) - 1, bisect_left(self.program.firsts, end))
        for start, part in zip(self.program.firsts[own], self.program.parts[own], strict=True):
            if (known := part.section_parts.get(section)) is not None:
                found.update((start + index, content) for index, content in known.contents.items())
        return found

    def _not_yet(self, first: str, second: str, index: int) -> int | None:
        if self._labels(first, second, index) is not None:
            raise PendingError
        return None

    def _labels(self, first: str, second: str, index: int) -> tuple[int, int] | None:
        """Statements of two labels, if both are defined before a statement and in the same section."""
        one, other = self.program.find_label(first, index), self.program.find_label(second, index)
        if one is None or other is None or one.section != other.section:
            return None
        return (one.index, other.index) if max(one.index, other.index) <= index else None

    def distance(self, first: str, second: str, index: int) -> int | None:
        """Bytes from the second label to the first, as GNU as knows them when it reads a statement; None if a
        statement between them has a size that the layout determines."""
        labels = self._labels(first, second, index)
        if labels is None:
            return None
        low, high = sorted(labels)
        statement = self.program.statements[low]
        if self.program.statements[high].subsection != statement.subsection:
            return None
        added = self._added_sizes(statement.section, statement.subsection, range(low, high))
        total = added.between(low, high, self._known_size)
        return total if total is None or labels[0] >= labels[1] else -total

    def _added_sizes(self, section: str, subsection: int, asked: range) -> AddedSizes:
        """The sizes of a subsection: of the statements asked for if they are few, else of all, kept."""
        if len(asked) <= _FEW:
            own, of = (section, subsection), self.program.statements
            return AddedSizes([at for at in asked if (of[at].section, of[at].subsection) == own])
        if section not in self._added:
            found: dict[int, AddedSizes] = {}
            for first, part in zip(self.program.firsts, self.program.parts, strict=True):
                add_places(found, part, first, section)
            self._added[section] = found
        return self._added[section][subsection]

    def _known_size(self, index: int) -> int | Element | None:
        self.prepare([self.program.statements[index].section])
        _, section_part, at = self._in_part(index)
        return section_part.sizes[at]

    def _in_part(self, index: int) -> tuple[int, SectionPart, int]:
        """The part that a statement is in, that part of its section, and the statement's number there."""
        part = bisect_right(self.program.firsts, index) - 1
        section_part = self.program.parts[part].section_parts[self.program.statements[index].section]
        return part, section_part, bisect_left(section_part.indices, index - self.program.firsts[part])

    # Places

    def laid(self, name: str) -> SectionLayout:
        """A section's layout."""
        found = self._laid.get(name)
        if found is None:
            self.prepare([name])
            found = self._laid[name] = SectionLayout()
            self._lay(name, found)
        return found

    def _lay(self, name: str, laid: SectionLayout) -> None:
        section = laid.section
        section.is_nasm = self.program.follows_nasm
        runs = [
            (run.subsection, part, number, run)
            for part, found in enumerate(self.program.parts)
            if name in found.section_parts
            for number, run in enumerate(found.section_parts[name].runs)
        ]
        runs.sort(key=lambda each: each[0])
        jumps: list[tuple[int, Jump | None]] = []
        before = runs[0][0] if runs else 0
        for subsection, part, number, run in runs:
            if subsection != before:
                section.elements.append(_BORDER)
                section.gaps.append(0)
                jumps.append((0, None))
                before = subsection
            laid.bases[part, number] = len(section.elements), section.gaps[-1]
            section.gaps[-1] += run.gaps[0]
            section.gaps += run.gaps[1:]
            section.elements += run.elements
            first = self.program.firsts[part]
            jumps += zip((first + index for index in run.owners), run.jumps, strict=True)
        laid.alignment = max((element.alignment.boundary for element in section.elements), default=1)
        section.starts = [0] * len(section.gaps)
        for number, (index, jump) in enumerate(jumps):
            place = None
            if jump is not None:
                try:
                    place = self._branch_target(index, jump, name)
                except ExpressionError:
                    section.elements[number] = Element(ElementKind.UNKNOWN, *jump.sizes)
            section.targets.append(place)
        earlier: SectionLayout | None = self.encoder.memory.laid.get(name)
        if earlier is not None and section.is_like(earlier.section):
            section.take_over(earlier.section)
            return
        outer, self._asked = self._asked, set()
        try:
            section.relax()
        except (UnsettledError, ExpressionError) as error:
            laid.failure = str(error)
            return
        finally:
            asked, self._asked = self._asked, outer | self._asked
        for other in asked - {name}:
            if any(element.kind is ElementKind.UNKNOWN for element in self.laid(other).section.elements):
                laid.failure = (
                    f"How large this is depends on a statement in '{other}' that is not understood."
                )
                return
        self.encoder.memory.laid[name] = laid

    def _branch_target(self, index: int, jump: Jump, section: str) -> FragmentOffset | None:
        """Target of a jump in its own section; None if it is elsewhere or a linker may change it. Raises
        ExpressionError if it cannot be determined."""
        try:
            found = find_target(self.program, index, jump, self.distance)
        except OpenError:
            jump_scope(self.program, index, jump.target.text, self.distance).check_target(jump.target.text)
            # Whether it can be determined does not depend on the layout.
            self._expressed_target(index, jump)
            return FragmentOffset(0, 0, is_late=True, expressed=partial(self._expressed_target, index, jump))
        if found is None or found.section != section:
            return None
        _, fragment, distance = self._spot(found.place)
        return FragmentOffset(fragment, distance + found.beyond, found.is_late)

    def _spot(self, index: int) -> tuple[Section, int, int]:
        """The laid out section, the fragment in which a statement begins, and the bytes before it in that
        fragment."""
        laid = self.laid(self.program.statements[index].section)
        part, section_part, at = self._in_part(index)
        run, fragment, distance = section_part.spots[at]
        base, carried = laid.bases[part, run]
        return laid.section, base + fragment, distance if fragment else carried + distance

    def target_offset(self, index: int, jump: Jump) -> int | None:
        """Section offset of a jump's target in bytes; None if it is elsewhere."""
        try:
            try:
                found = find_target(self.program, index, jump, self.distance)
            except OpenError:
                return self._expressed_target(index, jump)
        except ExpressionError:
            return None
        if found is None or found.section != self.program.statements[index].section:
            return None
        return self.offset(found.place) + found.beyond

    def _expressed_target(self, index: int, jump: Jump) -> int | None:
        """Like ``target_offset``, by the current layout. Raises ExpressionError."""
        value = self.final(jump.target.text, index)
        is_here = value.symbol == SECTION_SIGN + self.program.statements[index].section
        return value.constant if is_here and not value.later else None

    def offset(self, index: int) -> int:
        """Section offset of a statement in bytes."""
        section, fragment, distance = self._spot(index)
        return section.starts[fragment] + distance

    def known_size(self, index: int) -> int | None:
        """Size of a statement in bytes; None if unknown."""
        size = self._known_size(index)
        if isinstance(size, int):
            return size
        section, element, _ = self._spot(index)
        return None if section.has_unknown(element, element + 1) else section.sizes[element]

    def end(self, index: int) -> int:
        """Section offset of the end of a statement."""
        return self.offset(index) + (self.known_size(index) or 0)

    def modulus(self, index: int) -> int:
        """The statement's offset is known modulo this number; 0 if it is known exactly."""
        section, fragment, _ = self._spot(index)
        return section.modulus(fragment)

    # Expressions whose value only places tell

    def final(self, text: str, index: int, dot: int = 0) -> ExpressionValue:
        """Final value of an expression at a statement; addresses are section offsets. ``dot``: bytes of the
        statement before its ``.``. Raises ExpressionError."""
        if self._depth > MAXIMUM_DEPTH:
            raise ExpressionError(f"'{text.strip()[:40]}' depends on itself.")
        statement = self.program.statements[index]
        self._depth += 1
        try:
            return evaluate(
                text,
                partial(self._final, index, dot),
                dialect=statement.dialect,
                section=SECTION_SIGN + statement.section,
                divided_by_zero=refuse_zero,
            )
        finally:
            self._depth -= 1

    def certain(self, text: str, index: int, dot: int = 0) -> ExpressionValue:
        """Like ``final``, but a distance across a statement of unknown size raises ExpressionError, too."""
        self._places = {}
        found = self.final(text, index, dot)
        for section, places in self._places.items() if found.is_constant else ():
            if self.laid(section).section.has_unknown(min(places), max(places)):
                raise ExpressionError(f"'{text.strip()[:40]}' depends on a statement that is not understood.")
        return found

    def _final(self, index: int, dot: int, name: str) -> ExpressionValue | None:
        if name in (".", "$"):
            return self._place(index, self.program.statements[index].section, dot)
        found = self.program.assignment(name, index) or self.program.first_assignment(name)
        if found is not None:
            if (value := found.assigned.value) is None:
                # GNU as uses the second value if the first was not known yet where another symbol was set to
                # this one. For a distance it then ignores jumps and alignments.
                is_again = found.place > index and self.program.is_set_again(name)
                if is_again or (self.program.is_source(name) and self._has_places(found)):
                    raise ExpressionError(f"Which value of '{name}' GNU as uses here is unclear.")
                self.program.check_known(found)
                return self.final(found.assigned.text, index if found.assigned.is_repeated else found.place)
            if value.symbol is None:
                return value
            if register := register_of(value):
                raise ExpressionError(f"'{name}' is the register {register}, which has no address.")
            # The symbol was not set yet where this one got its name; further assignments create new ones.
            first = self.program.first_assignment(value.symbol) or found
            symbol = self.final(value.symbol, min(found.place, first.place))
            return ExpressionValue(symbol.constant + value.constant, symbol.symbol, symbol.later)
        label = self.program.find_label(name, index)
        if label is None:
            if name[0].isdigit():
                raise ExpressionError(f"There is no label '{name}'.")
            return None
        self._asked.add(label.section)
        return self._place(label.index, label.section)

    def _place(self, index: int, section: str, beyond: int = 0) -> ExpressionValue:
        self._places.setdefault(section, []).append(self._spot(index)[1])
        return ExpressionValue(self.offset(index) + beyond, SECTION_SIGN + section)

    def _has_places(self, found: Assignment) -> bool:
        """Whether an assignment's expression uses an address."""
        return any(
            name in (".", "$") or self.program.find_label(name, found.place) is not None
            for name in symbols(found.assigned.text)
        )
