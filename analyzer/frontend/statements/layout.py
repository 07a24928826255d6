"""Addresses within a section: which form every jump takes, and how much every alignment fills.

A section is a row of fragments, as GNU as calls them: bytes whose number is fixed, and behind them one
element whose size depends on where things lie. Jumps start in their short form and grow until all of them
reach. With alignments between them there is more than one such layout. The one that GNU as finds is found by
going its way (``relax_segment`` in binutils' ``gas/write.c``): pass by pass, from the first fragment to the
last, what stands behind moves as soon as something has grown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from itertools import accumulate
from operator import sub

from cyclelens.analyzer.common.data_classes import dataclass, field
from cyclelens.analyzer.common.named_tuple import NamedTuple
from cyclelens.analyzer.frontend.statements.directives import Alignment
from cyclelens.analyzer.frontend.statements.jumps import Jump

MAXIMUM_PASSES = 500
"""Passes after which a layout that never comes to rest is given up; real code needs three or four."""
MAXIMUM_RUNS = 20
"""The same for how often GNU as begins anew, which it does once for nearly everything."""
MAXIMUM_BACKWARDS = 2
"""Runs after which GNU as does not wait any longer for what takes less than no bytes."""
UNBOUNDED = 1 << 30
"""Bytes that nothing of unknown size exceeds."""


class ElementKind(IntEnum):
    """What an element is."""

    BRANCH = 0
    """A direct jump that has two forms."""
    FILL = 1
    """An alignment."""
    SPACE = 2
    """As many bytes as an expression says."""
    ORIGIN = 3
    """Bytes up to the offset that an expression says."""
    LEB128 = 4
    """A number that takes as many bytes as it needs."""
    UNKNOWN = 5
    """Something of which only limits of its size are known."""


class Element(NamedTuple):
    """``smallest`` and ``largest``: its size in bytes, of a branch that of its two forms."""

    kind: ElementKind
    smallest: int = 0
    largest: int = UNBOUNDED
    alignment: Alignment = Alignment(1)
    amount: Callable[[], int] | None = None
    """What the expression of SPACE, ORIGIN and LEB128 says for the places of the moment. Raises
    ExpressionError."""


class FragmentOffset(NamedTuple):
    """``distance`` bytes behind the beginning of a fragment."""

    fragment: int
    distance: int
    is_late: bool = False
    """It has its name from an assignment that stands before it: GNU as then does not see where it lies."""
    expressed: Callable[[], int | None] | None = None
    """In its place: the offset in the section that an expression says for the places of the moment; None if
    it says something else."""


@dataclass(slots=True)
class Piece:
    """One statement's share of the code."""

    code: bytes
    backend: str = "cyclelens"
    """Who made the bytes."""
    jump: Jump | None = None
    target: int | None = None
    """Index of the piece that the jump goes to; None for outside."""
    offset: int = 0
    """In its section."""
    unreachable: bool = False
    """Only a short form exists and it does not reach."""


class UnsettledError(ValueError):
    """The sizes never come to rest."""


@dataclass(slots=True)
class Section:
    """The fragments of a section, and once it is relaxed their places."""

    gaps: list[int] = field(default_factory=lambda: [0])
    """Bytes before each element, and behind the last one."""
    elements: list[Element] = field(default_factory=list)
    targets: list[FragmentOffset | None] = field(default_factory=list)
    """Per element where a branch goes to; None for what only a linker knows, and for all other elements."""
    is_nasm: bool = False
    """It is laid out as NASM does it."""
    starts: list[int] = field(default_factory=list)
    """Offset of every fragment, in bytes from the section's beginning."""
    sizes: list[int] = field(default_factory=list)
    """Of every element."""
    doubtful: frozenset[int] = frozenset()
    """Elements whose size depends on one that is not known."""
    _known: list[tuple[int, int]] = field(default_factory=list)
    """From which fragment on offsets are only known as a multiple of a number; the first of each."""

    def offset(self, place: FragmentOffset) -> int:
        """In bytes from the section's beginning."""
        if place.expressed is not None:
            return place.expressed() or 0
        return self.starts[place.fragment] + place.distance

    def end(self) -> int:
        """Bytes of the section."""
        return self.starts[-1] + self.gaps[-1]

    def modulus(self, fragment: int) -> int:
        """Where something of unknown size stands before: offsets are known but for multiples of this. 0: they
        are known."""
        at = bisect_right(self._known, (fragment, UNBOUNDED)) - 1
        return self._known[at][1] if at >= 0 else 0

    def has_unknown(self, first: int, last: int) -> bool:
        """Is the distance of two fragments not known?"""
        return any(
            self.elements[number].kind is ElementKind.UNKNOWN or number in self.doubtful
            for number in range(first, last)
        )

    def is_like(self, other: Section) -> bool:
        """Would it become the same as another one?"""
        return (
            self.is_nasm == other.is_nasm
            and self.gaps == other.gaps
            and self.targets == other.targets
            and self.elements == other.elements
            and not any(element.amount for element in self.elements)
            and not any(target is not None and target.expressed for target in self.targets)
        )

    def take_over(self, other: Section) -> None:
        """The places of one that is like it."""
        self.starts, self.sizes, self.doubtful, self._known = (
            other.starts,
            other.sizes,
            other.doubtful,
            other._known,
        )

    def relax(self) -> None:
        """Set the places. Raises UnsettledError, ExpressionError."""
        if self.is_nasm:
            _relax_as_nasm(self)
        else:
            _relax(self)
        if any(element.kind is ElementKind.UNKNOWN for element in self.elements):
            while _spread_doubt(self):
                pass


def _spread_doubt(section: Section) -> bool:
    """Find what depends on sizes that are not known, and so is not known itself; False if that is all."""
    elements, before = section.elements, section.doubtful
    section._known = list(_moduli(elements, before))
    doubtful = set(before)
    least, most = list(section.sizes), list(section.sizes)
    for number, element in enumerate(elements):
        if element.kind is ElementKind.FILL:
            modulus = section.modulus(number)
            is_open = bool(modulus) and modulus % element.alignment.boundary != 0
        else:
            is_open = element.amount is not None and element.smallest != element.largest
        if is_open and element.kind is not ElementKind.UNKNOWN:
            doubtful.add(number)
        if is_open or element.kind is ElementKind.UNKNOWN:
            least[number], most[number] = element.smallest, element.largest
    open_branches = _open_branches_of_nasm if section.is_nasm else _open_branches
    doubtful.update(open_branches(section, least, most))
    section.doubtful = frozenset(doubtful)
    return section.doubtful != before


def _branches(section: Section) -> Iterator[tuple[int, int, int, int, int]]:
    """Per branch its number, the first element that its distance is over and the one behind the last, the
    bytes of that where it is short, and how many of them a short one reaches over."""
    elements, starts = section.elements, section.starts
    for number, place in enumerate(section.targets):
        if place is None or elements[number].kind is not ElementKind.BRANCH:
            continue
        fragment, target = place.fragment, section.offset(place)
        if place.expressed is not None:
            fragment = bisect_right(starts, target) - 1
        end = starts[number + 1]
        if fragment > number:
            yield number, number + 1, fragment, target - end, 127
        else:
            short_end = end - section.sizes[number] + elements[number].smallest
            yield number, fragment, number, short_end - target, 128


def _open_branches(section: Section, least: list[int], most: list[int]) -> Iterator[int]:
    """The branches that may be short or long where everything else has ``least`` to ``most`` bytes. One that
    grows can make another one grow: for certain only those do that must with everything at its smallest, and
    all those may that do with everything at its largest. Raises UnsettledError."""
    elements = section.elements
    branches = list(_branches(section))
    # A target may lie on the other side of the label that tells it: it is too far if that is too near.
    longest = list(most)
    for number, *_ in branches:
        least[number] = most[number] = elements[number].smallest
        longest[number] = elements[number].largest
    nearest = _moved(longest, section)
    for sizes in (least, most):
        for _ in range(MAXIMUM_PASSES):
            moved = _moved(sizes, section)
            growing = [
                number
                for number, first, last, bytes_between, reach in branches
                if sizes[number] != elements[number].largest
                and (
                    bytes_between + moved[last] - moved[first] > reach
                    or bytes_between + nearest[last] - nearest[first] < reach - 255
                )
            ]
            if not growing:
                break
            for number in growing:
                sizes[number] = elements[number].largest
        else:
            raise UnsettledError("The sizes of this section never come to rest.")
        nearest = moved
    yield from (number for number, *_ in branches if least[number] != most[number])


def _open_branches_of_nasm(section: Section, least: list[int], most: list[int]) -> Iterator[int]:
    """The same for NASM, where jumps and what they are over can keep each other long: over something of
    unknown size it is certain only what holds for all sizes of what lies between."""
    for number, element in enumerate(section.elements):
        if element.kind in (ElementKind.BRANCH, ElementKind.FILL):
            least[number], most[number] = element.smallest, element.largest
    nearest, farthest = _moved(least, section), _moved(most, section)
    for number, first, last, bytes_between, reach in _branches(section):
        low = bytes_between + nearest[last] - nearest[first]
        high = bytes_between + farthest[last] - farthest[first]
        is_certain = high < reach - 255 or low > reach or reach - 255 <= low <= high <= reach
        if not is_certain and section.has_unknown(first, last):
            yield number


def _moved(sizes: Sequence[int], section: Section) -> list[int]:
    """How much further each element would lie if all had these sizes."""
    return [0, *accumulate(map(sub, sizes, section.sizes))]


def _moduli(elements: Sequence[Element], doubtful: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Behind which elements what is known about offsets changes, and to what."""
    modulus = 0
    for number, element in enumerate(elements):
        before = modulus
        if modulus and element.kind is ElementKind.FILL:
            if element.alignment.is_certain:
                modulus = max(modulus, element.alignment.boundary)
            elif modulus % element.alignment.boundary:
                modulus = 1
        elif element.kind is ElementKind.UNKNOWN or number in doubtful:
            modulus = 1
        if modulus != before:
            yield number + 1, modulus


def _relax(section: Section) -> None:
    """GNU as begins anew until two runs come to the same places: jumps that have grown stay as they are, what
    expressions tell has no size again."""
    section.starts = [0] * len(section.gaps)
    short = [
        element.kind is ElementKind.BRANCH
        and place is not None
        and (place.expressed is None or place.expressed() is not None)
        for element, place in zip(section.elements, section.targets, strict=True)
    ]
    before: list[int] = []
    for run in range(MAXIMUM_RUNS):
        is_done = _run(section, short, run)
        if is_done and (section.starts == before or not any(map(_is_expressed, section.elements))):
            return
        before = list(section.starts)
    raise UnsettledError("The sizes of this section never come to rest.")


def _is_expressed(element: Element) -> bool:
    return element.amount is not None


def _run(section: Section, short: list[bool], run: int) -> bool:
    """Set the places, beginning with these jumps short; False for what has to be done once more."""
    elements, gaps = section.elements, section.gaps
    count = len(elements)
    starts, regions, sizes = [0] * (count + 1), [0] * (count + 1), [0] * count
    section.starts, section.sizes = starts, sizes
    offset = region = 0
    for number, element in enumerate(elements):
        starts[number], regions[number] = offset, region
        offset += gaps[number]
        kind = element.kind
        if kind is ElementKind.BRANCH:
            sizes[number] = element.smallest if short[number] else element.largest
        elif kind is ElementKind.FILL:
            sizes[number] = element.alignment.size(offset)
            region += 1
        elif kind is ElementKind.ORIGIN:
            region += 1
        elif kind is ElementKind.LEB128:
            sizes[number] = 1
        elif kind is ElementKind.UNKNOWN:
            sizes[number] = max(element.smallest, 0)
        offset += sizes[number]
    starts[count], regions[count] = offset, region
    changing = [
        number
        for number, element in enumerate(elements)
        if short[number] or element.kind not in (ElementKind.BRANCH, ElementKind.UNKNOWN)
    ]
    for number in range(MAXIMUM_PASSES):
        backwards: list[int] = []
        if not _pass(section, regions, short, changing, backwards, is_odd=number % 2 == 0):
            if run >= MAXIMUM_BACKWARDS and any(
                elements[each].kind is ElementKind.ORIGIN for each in backwards
            ):
                raise UnsettledError("GNU as moves nothing backwards by .org.")
            return not backwards or run >= MAXIMUM_BACKWARDS
    raise UnsettledError("The sizes of this section never come to rest.")


def _relax_as_nasm(section: Section) -> None:
    """NASM goes through a section until nothing moves any more. Each time a jump gets the form that reaches:
    backwards from where everything lies this time, forwards from where it lay last time (``jmp_match`` in its
    ``asm/assemble.c``). At first jumps are short, but other instructions may be longer than in the end: so
    there must be one layout only, wherever it begins."""
    longest = _settled_as_nasm(section, is_long=True)
    if _settled_as_nasm(section, is_long=False) != longest:
        raise UnsettledError("Jumps of this section could be short or long: which, is left to NASM.")


def _settled_as_nasm(section: Section, *, is_long: bool) -> list[int]:
    """Set the places, beginning with all forward jumps short or long; the sizes. Raises UnsettledError."""
    elements, gaps, targets = section.elements, section.gaps, section.targets
    count = len(elements)
    section.starts, section.sizes = starts, sizes = [0] * (count + 1), [0] * count
    before: list[int] = []
    for _ in range(MAXIMUM_PASSES):
        offset = 0
        for number, element in enumerate(elements):
            starts[number] = offset
            offset += gaps[number]
            size = max(element.smallest, 0)
            if element.kind is ElementKind.BRANCH:
                place = targets[number]
                is_short = place is not None and not is_long
                if place is not None and (before or place.fragment <= number):
                    distance = section.offset(place) - offset - element.smallest
                    is_short = -128 <= distance <= 127
                size = element.smallest if is_short else element.largest
            elif element.kind is ElementKind.FILL:
                size = element.alignment.size(offset)
            elif element.amount is not None:
                size = max(element.amount() - (offset if element.kind is ElementKind.ORIGIN else 0), 0)
            sizes[number] = size
            offset += size
        starts[count] = offset
        if starts == before:
            return sizes
        before = list(starts)
    raise UnsettledError("The sizes of this section never come to rest.")


def _pass(
    section: Section,
    regions: Sequence[int],
    short: list[bool],
    changing: Sequence[int],
    backwards: list[int],
    *,
    is_odd: bool,
) -> bool:
    """One pass over the fragments: whether anything changed. ``backwards``: here come elements of less than
    no bytes, which keep the size that they have."""
    elements, gaps, targets = section.elements, section.gaps, section.targets
    starts, sizes = section.starts, section.sizes
    stretch, changed, moved = 0, False, 0
    for number in changing:
        if stretch:
            for fragment in range(moved, number + 1):
                starts[fragment] += stretch
        moved = number + 1
        element = elements[number]
        start = starts[number]
        if element.kind is ElementKind.BRANCH:
            if not short[number]:
                continue
            place = targets[number]
            assert place is not None
            target = section.offset(place)
            if stretch:
                # What has not been reached in this pass will move as well, unless an alignment takes it up.
                unseen = is_odd if place.is_late else place.fragment > number
                if unseen and (
                    stretch < 0 or regions[number] == (0 if place.is_late else regions[place.fragment])
                ):
                    target += stretch
                elif unseen and 0 <= target < start + gaps[number] + element.smallest - 1:
                    # What lies before the section is far behind it to GNU as, whose addresses have no sign.
                    continue
            if -128 <= target - (start + gaps[number] + element.smallest) <= 127:
                continue
            short[number] = False
            size = element.largest
        elif element.kind is ElementKind.FILL:
            size = element.alignment.size(start + gaps[number])
        else:
            assert element.amount is not None
            size = element.amount()
            if element.kind is ElementKind.ORIGIN:
                size -= start + gaps[number]
            if size < 0:
                backwards.append(number)
                continue
        if size != sizes[number]:
            stretch += size - sizes[number]
            sizes[number] = size
            changed = True
    if stretch:
        for fragment in range(moved, len(starts)):
            starts[fragment] += stretch
    return changed
