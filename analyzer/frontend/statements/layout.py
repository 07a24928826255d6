"""Lays out a section: the form of each jump and the padding of each alignment.

A section is a sequence of fragments in GNU as's sense: bytes of fixed size, followed by one element whose
size depends on the layout. Jumps start in their short form and grow until all of them reach. With alignments
between them there may be several such layouts. To find GNU as's, this module follows its algorithm
(``relax_segment`` in binutils' ``gas/write.c``): pass by pass from the first fragment to the last, where a
growing element moves everything after it at once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from itertools import accumulate
from operator import sub

from cyclelens.analyzer.frontend.statements.directives import Alignment
from cyclelens.analyzer.frontend.statements.jumps import Jump
from msgspec import Struct, field

MAXIMUM_PASSES = 500
"""Passes after which a layout that never settles is given up; real code needs three or four."""
MAXIMUM_RUNS = 20
"""Limit for the number of restarts by GNU as, which restarts once for nearly everything."""
MAXIMUM_BACKWARDS = 2
"""Restarts after which GNU as no longer waits for elements of negative size."""
UNBOUNDED = 1 << 30
"""Bytes; larger than any element of unknown size."""


class ElementKind(IntEnum):
    """Kind of an element."""

    BRANCH = 0
    """A direct jump with two forms."""
    FILL = 1
    """An alignment."""
    SPACE = 2
    """As many bytes as an expression says."""
    ORIGIN = 3
    """Bytes up to the offset that an expression gives."""
    LEB128 = 4
    """A number in LEB128, as long as necessary."""
    UNKNOWN = 5
    """An element of which only size limits are known."""


class Element(Struct, frozen=True):
    """An element of variable size. ``smallest`` and ``largest`` are its size limits in bytes; for a branch,
    the sizes of its two forms."""

    kind: ElementKind
    smallest: int = 0
    largest: int = UNBOUNDED
    alignment: Alignment = Alignment(1)
    amount: Callable[[], int] | None = None
    """Current value of the expression of SPACE, ORIGIN and LEB128. Raises ExpressionError."""


class FragmentOffset(Struct, frozen=True):
    """A place ``distance`` bytes after the beginning of a fragment."""

    fragment: int
    distance: int
    is_late: bool
    """The place is named by an earlier assignment, so GNU as does not see where it is."""
    expressed: Callable[[], int | None] | None = None
    """Replaces the other fields: section offset that an expression currently has; None if it has another kind
    of value."""


class Piece(Struct):
    """The code of one statement."""

    code: bytes
    backend: str = "cyclelens"
    """Encoder of the bytes."""
    jump: Jump | None = None
    target: int | None = None
    """Index of the piece that the jump goes to; None if it is outside."""
    offset: int = 0
    """Offset in its section."""
    unreachable: bool = False
    """The jump has only a short form, which does not reach."""


class UnsettledError(ValueError):
    """The sizes never settle."""


class Section(Struct):
    """The fragments of a section and, after ``relax``, their places."""

    gaps: list[int] = field(default_factory=lambda: [0])
    """Bytes before each element, and after the last one."""
    elements: list[Element] = field(default_factory=list)
    targets: list[FragmentOffset | None] = field(default_factory=list)
    """Branch target of each element; None for targets that only a linker knows and for other elements."""
    is_nasm: bool = False
    """Use NASM's layout."""
    starts: list[int] = field(default_factory=list)
    """Section offset of every fragment in bytes."""
    sizes: list[int] = field(default_factory=list)
    """Size of every element in bytes."""
    doubtful: frozenset[int] = frozenset()
    """Elements whose size depends on an element of unknown size."""
    _known: list[tuple[int, int]] = field(default_factory=list)
    """(fragment, modulus): from this fragment on, offsets are known modulo this number."""

    def offset(self, place: FragmentOffset) -> int:
        """Section offset of a place in bytes."""
        if place.expressed is not None:
            return place.expressed() or 0
        return self.starts[place.fragment] + place.distance

    def end(self) -> int:
        """Size of the section in bytes."""
        return self.starts[-1] + self.gaps[-1]

    def modulus(self, fragment: int) -> int:
        """Modulus up to which a fragment's offset is known if elements of unknown size precede it; 0 if it is
        known exactly."""
        at = bisect_right(self._known, (fragment, UNBOUNDED)) - 1
        return self._known[at][1] if at >= 0 else 0

    def has_unknown(self, first: int, last: int) -> bool:
        """Whether the distance between two fragments is unknown."""
        return any(
            self.elements[number].kind is ElementKind.UNKNOWN or number in self.doubtful
            for number in range(first, last)
        )

    def is_like(self, other: Section) -> bool:
        """Whether both sections would have the same layout."""
        return (
            self.is_nasm == other.is_nasm
            and self.gaps == other.gaps
            and self.targets == other.targets
            and self.elements == other.elements
            and not any(element.amount for element in self.elements)
            and not any(target is not None and target.expressed for target in self.targets)
        )

    def take_over(self, other: Section) -> None:
        """Copy the layout of an identical section."""
        self.starts, self.sizes, self.doubtful, self._known = (
            other.starts,
            other.sizes,
            other.doubtful,
            other._known,
        )

    def relax(self) -> None:
        """Compute the layout. Raises UnsettledError and ExpressionError."""
        if self.is_nasm:
            _relax_as_nasm(self)
        else:
            _relax(self)
        if any(element.kind is ElementKind.UNKNOWN for element in self.elements):
            while _spread_doubt(self):
                pass


def _spread_doubt(section: Section) -> bool:
    """Mark elements that depend on unknown sizes, and so are unknown themselves. False if there were no new
    ones."""
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
    return bool(doubtful - before)


def _branches(section: Section) -> Iterator[tuple[int, int, int, int, int]]:
    """For each branch: its number, the first and end element of its distance, the distance in bytes with the
    short form, and the reach of the short form."""
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
    """Branches that may be short or long while all other elements have ``least`` to ``most`` bytes. A growing
    branch can make others grow. Branches that grow with everything at its smallest certainly do; those that
    grow with everything at its largest may. Raises UnsettledError."""
    elements = section.elements
    branches = list(_branches(section))
    # A target may be before the label that defines it; then it is too far away if that label is too near.
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
            raise UnsettledError("The sizes of this section never settle.")
        nearest = moved
    yield from (number for number, *_ in branches if least[number] != most[number])


def _open_branches_of_nasm(section: Section, least: list[int], most: list[int]) -> Iterator[int]:
    """The same for NASM, where jumps and the code that they cross can keep each other long. Across an element
    of unknown size, a result is certain only if it holds for all sizes."""
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
    """Displacement of each element if all elements had these sizes."""
    return [0, *accumulate(map(sub, sizes, section.sizes))]


def _moduli(elements: Sequence[Element], doubtful: frozenset[int]) -> Iterator[tuple[int, int]]:
    """(element, modulus): where the known modulus of offsets changes, and to what."""
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
    """GNU as restarts until two runs give the same places. Jumps that have grown stay long; sizes from
    expressions start at zero again."""
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
        if is_done and (section.starts == before or not any(each.amount for each in section.elements)):
            return
        before = list(section.starts)
    raise UnsettledError("The sizes of this section never settle.")


def _run(section: Section, short: list[bool], run: int) -> bool:
    """Compute the places once, starting with these short jumps. False if another run is needed."""
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
                raise UnsettledError(".org cannot move backwards in GNU as.")
            return not backwards or run >= MAXIMUM_BACKWARDS
    raise UnsettledError("The sizes of this section never settle.")


def _relax_as_nasm(section: Section) -> None:
    """NASM repeats passes over a section until nothing moves. In each pass a jump gets the form that reaches:
    backward jumps by the offsets of this pass, forward jumps by those of the last pass (``jmp_match`` in its
    ``asm/assemble.c``). Jumps start short, but other instructions may start longer than they end. Therefore
    the layout is accepted only if all starting points lead to the same one."""
    longest = _settled_as_nasm(section, is_long=True)
    if _settled_as_nasm(section, is_long=False) != longest:
        raise UnsettledError("Only NASM knows whether some jumps of this section are short or long.")


def _settled_as_nasm(section: Section, *, is_long: bool) -> list[int]:
    """Compute the places, with all forward jumps long or short at first. Returns the sizes. Raises
    UnsettledError."""
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
    raise UnsettledError("The sizes of this section never settle.")


def _pass(
    section: Section,
    regions: Sequence[int],
    short: list[bool],
    changing: Sequence[int],
    backwards: list[int],
    *,
    is_odd: bool,
) -> bool:
    """One pass over the fragments; returns whether anything changed. Elements of negative size keep their
    size and are added to ``backwards``."""
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
                # Places not reached in this pass will move as well, unless an alignment absorbs the change.
                unseen = is_odd if place.is_late else place.fragment > number
                if unseen and (
                    stretch < 0 or regions[number] == (0 if place.is_late else regions[place.fragment])
                ):
                    target += stretch
                elif unseen and 0 <= target < start + gaps[number] + element.smallest - 1:
                    # GNU as's addresses are unsigned, so a place before the section is far behind it.
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
