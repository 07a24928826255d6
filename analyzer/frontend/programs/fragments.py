"""Fragments: the parts of a section between places that can move."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from cyclelens.analyzer.frontend.programs.program import Assigned, ParsedText, Program
from cyclelens.analyzer.frontend.statements.jumps import Jump
from cyclelens.analyzer.frontend.statements.layout import Element, Section
from msgspec import Struct, field

MAXIMUM_DEPTH = 50
LONGEST_INSTRUCTION = 15


class PendingError(Exception):
    """The sizes of some statements are not known yet."""


class _SubsectionRun(Struct, eq=False):
    """Consecutive statements of a part in the same subsection, as fragments."""

    subsection: int
    gaps: list[int] = field(default_factory=lambda: [0])
    elements: list[Element] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    """Statement of each element, relative to the part's first."""
    jumps: list[Jump | None] = field(default_factory=list)
    """The jump of each element; None for other elements."""


class SectionPart(Struct, eq=False):
    """The statements of a part in one section, with their sizes."""

    indices: list[int]
    """Statement indices, relative to the part's first."""
    sizes: list[int | Element | None]
    """Sizes by statement; None if not known yet."""
    jumps: dict[int, Jump] = field(default_factory=dict)
    """Jumps with two forms, by statement."""
    contents: dict[int, Any] = field(default_factory=dict)
    """Of the instructions that mean the same everywhere (``statement_code.Content``)."""
    circumstances: tuple[object, ...] = ()
    asked: dict[str, Assigned | None] = field(default_factory=dict)
    """Symbols defined earlier that sizes depend on."""
    is_fleeting: bool = False
    """The sizes depend on more than that, so they cannot be reused."""
    runs: list[_SubsectionRun] = field(default_factory=list)
    spots: list[tuple[int, int, int]] = field(default_factory=list)
    """Per statement: its run, the fragment in the run, and the bytes before it in the fragment."""

    def holds(self, program: Program, first: int, circumstances: tuple[object, ...]) -> bool:
        """Whether the sizes are the same in a text where the part begins at the statement ``first``."""
        return (
            not self.is_fleeting
            and self.circumstances == circumstances
            and not (program.changed and any(first + index in program.changed for index in self.indices))
            and all(assigned_before(program, name, first) == each for name, each in self.asked.items())
        )

    def divide(self, part: ParsedText) -> None:
        """Fill in ``runs`` and ``spots``; all sizes must be known."""
        run: _SubsectionRun | None = None
        for index, size in zip(self.indices, self.sizes, strict=True):
            subsection = part.statements[index].subsection
            if run is None or run.subsection != subsection:
                run = _SubsectionRun(subsection)
                self.runs.append(run)
            self.spots.append((len(self.runs) - 1, len(run.elements), run.gaps[-1]))
            if isinstance(size, int):
                run.gaps[-1] += size
            else:
                assert size is not None
                run.elements.append(size)
                run.owners.append(index)
                run.jumps.append(self.jumps.get(index))
                run.gaps.append(0)


def assigned_before(program: Program, name: str, index: int) -> Assigned | None:
    """The assignment of a symbol before a statement; None if it has none."""
    found = program.assignment(name, index)
    return found.assigned if found is not None else None


class AddedSizes(Struct, eq=False):
    """The sizes of a subsection's statements, added up from its first as far as a distance was asked for."""

    places: list[int] = field(default_factory=list)
    """Statement indices in the whole text."""
    before: list[int] = field(default_factory=lambda: [0])
    """Bytes before each statement, without those of sizes that are not known."""
    unknown: list[int] = field(default_factory=lambda: [0])
    """Statements before each whose size is not known."""
    waiting: int | None = None
    """Number of the first statement whose size is still being found; the sums after it do not last."""

    def between(self, low: int, high: int, size: Callable[[int], int | Element | None]) -> int | None:
        """Bytes from one statement of the subsection to a later one; None if the size of a statement between
        them is not known. ``size``: size of a statement, None if it is still being found."""
        if self.waiting is not None and size(self.places[self.waiting]) is not None:
            del self.before[self.waiting + 1 :], self.unknown[self.waiting + 1 :]
            self.waiting = None
        first, end = bisect_left(self.places, low), bisect_left(self.places, high)
        for number in range(len(self.before) - 1, end):
            found = size(self.places[number])
            if found is None and self.waiting is None:
                self.waiting = number
            self.before.append(self.before[-1] + (found if isinstance(found, int) else 0))
            self.unknown.append(self.unknown[-1] + (not isinstance(found, int)))
        return None if self.unknown[end] > self.unknown[first] else self.before[end] - self.before[first]


def add_places(added: dict[int, AddedSizes], part: ParsedText, first: int, section: str) -> None:
    """Add a part's statements in a section to ``added``, by subsection. ``first``: the part's first one."""
    for index in part.in_section(section):
        added.setdefault(part.statements[index].subsection, AddedSizes()).places.append(first + index)


class SectionLayout(Struct, eq=False):
    """A section with all of its statements placed."""

    section: Section = field(default_factory=Section)
    alignment: int = 1
    """Bytes; the strictest alignment directive in the section, whether or not it fills."""
    bases: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    """(part, run) -> the fragment in which it begins, and the bytes before it in that fragment."""
    failure: str = ""
    """Why the layout failed; empty if it did not."""


class JumpTarget(Struct, frozen=True):
    """The statement that a jump goes to."""

    place: int
    section: str
    beyond: int
    """Distance in bytes from that statement to the target."""
    is_late: bool
    """The target is named by a symbol that was set to a label further down (``layout.FragmentOffset``)."""


class OpenError(Exception):
    """The jump's target depends on several labels or on later parts of the text."""
