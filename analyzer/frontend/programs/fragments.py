"""Stretches of a section between places that move, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.common.data_classes import dataclass, field
from cyclelens.analyzer.common.named_tuple import NamedTuple
from cyclelens.analyzer.frontend.programs.program import Assigned, ParsedText
from cyclelens.analyzer.frontend.statements.jumps import Jump
from cyclelens.analyzer.frontend.statements.layout import Element, Section

MAXIMUM_DEPTH = 50
LONGEST_INSTRUCTION = 15


class PendingError(Exception):
    """The sizes of statements are not known yet."""


@dataclass(slots=True, eq=False)
class _Run:
    """Statements of a part that stand behind each other in the same subsection, as fragments."""

    subsection: int
    gaps: list[int] = field(default_factory=lambda: [0])
    elements: list[Element] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    """The statement of every element, counted from the part's first."""
    jumps: list[Jump | None] = field(default_factory=list)
    """Every element that is one."""


@dataclass(slots=True, eq=False)
class Fragment:
    """What the statements of a part in one section became."""

    indices: list[int]
    """The statements, counted from the part's first."""
    sizes: list[int | Element | None]
    """None: not known yet."""
    jumps: dict[int, Jump] = field(default_factory=dict)
    """By statement, those with two forms."""
    circumstances: tuple[object, ...] = ()
    asked: dict[str, Assigned | None] = field(default_factory=dict)
    """Symbols of what stands before that sizes depend on."""
    is_fleeting: bool = False
    """It depends on more than that."""
    runs: list[_Run] = field(default_factory=list)
    spots: list[tuple[int, int, int]] = field(default_factory=list)
    """Per statement its run, the fragment in that, and the bytes in that before it."""

    def places(self, first: int) -> Iterator[int]:
        """The statements, counted from the text's first."""
        return (first + index for index in self.indices)

    def divide(self, part: ParsedText) -> None:
        """Fill in runs and spots once all sizes are known."""
        run: _Run | None = None
        for index, size in zip(self.indices, self.sizes, strict=True):
            subsection = part.statements[index].subsection
            if run is None or run.subsection != subsection:
                run = _Run(subsection)
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


@dataclass(slots=True, eq=False)
class SectionLayout:
    """A section with all of its statements in place."""

    section: Section = field(default_factory=Section)
    alignment: int = 1
    """Bytes: that of the strictest directive in it, whether it fills or not."""
    bases: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    """Part and run: the fragment that it begins in, and the bytes in that before it."""
    failure: str = ""
    """Why nothing is known about places."""


class Target(NamedTuple):
    """The statement that a jump goes to."""

    place: int
    section: str
    beyond: int
    """Bytes from there to where it really goes."""
    is_late: bool = False
    """It is named by a symbol that was set to a label further down (``layout.Place``)."""


class OpenError(Exception):
    """Only the places of several labels, or what stands further down, tell where a jump goes to."""
