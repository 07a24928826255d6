"""Lists the kinds of hints. A new kind is a new file in this package and a line here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator

from cyclelens.analyzer.hints import chain, fusion, heat, ports, region, rename, stalls
from cyclelens.analyzer.hints.layout import fit
from cyclelens.analyzer.model.result import Analysis, Hint, RegionAnalysis
from msgspec import Struct


class HintKind(Struct, frozen=True):
    """A kind of hint.

    On a line, kinds are shown in the order of ``KINDS``; the one with the smallest rank is dropped last.
    """

    name: str
    rank: int
    hints: Callable[[RegionAnalysis], Iterator[Hint]]


KINDS: tuple[HintKind, ...] = (
    HintKind(region.KIND, 0, region.hints),
    HintKind(heat.KIND, 0, heat.hints),
    HintKind(ports.KIND, 4, ports.hints),
    HintKind(chain.KIND, 2, chain.hints),
    HintKind(fusion.KIND, 3, fusion.hints),
    HintKind(rename.KIND, 5, rename.hints),
    HintKind(stalls.KIND, 1, stalls.hints),
)


def hints(analysis: Analysis, kinds: Collection[str] | None = None) -> tuple[Hint, ...]:
    """All hints of an analysis in text order, cut to the budget of each line.

    ``kinds``: names of the kinds to show; None for all.
    """
    lines: defaultdict[int, list[tuple[int, Hint]]] = defaultdict(list)
    for region_analysis in analysis.regions:
        for kind in KINDS:
            if kinds is None or kind.name in kinds:
                for hint in kind.hints(region_analysis):
                    lines[hint.line].append((kind.rank, hint))
    shown: list[Hint] = []
    for _, on_line in sorted(lines.items()):
        # The sort is stable: kinds at the same column keep their order.
        on_line.sort(key=lambda ranked: ranked[1].column)
        shown.extend(fit(_without_repeats(on_line)))
    return tuple(shown)


def _without_repeats(on_line: list[tuple[int, Hint]]) -> list[tuple[int, Hint]]:
    """Drops equal hints: a statement that repeats an instruction (``.rept``, several NOPs) shows each one
    once."""
    seen: set[tuple[int, str]] = set()
    result = []
    for rank, hint in on_line:
        if (hint.column, hint.label) not in seen:
            seen.add((hint.column, hint.label))
            result.append((rank, hint))
    return result
