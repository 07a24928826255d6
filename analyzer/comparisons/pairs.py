"""Two regions side by side on every microarchitecture, with the work of one iteration of each."""

from __future__ import annotations

from cyclelens.analyzer.comparisons.predictions import by_name, figure, limits
from cyclelens.analyzer.comparisons.table import ComparisonTable, Rate, grid
from cyclelens.analyzer.insight.confidence import has_unknown_costs, is_lower_bound
from cyclelens.analyzer.insight.work import Pace, comparable, difference, work_of
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis

_UNKNOWN = (
    "The work per iteration is not known for both regions: state it in the markers, "
    "as per=8 (elements) or per=32B (bytes)."
)

_NOT_KNOWN = "not known"
_CYCLES = " cycles"
_CALLS = (
    "The called functions are in neither figure: the difference in cycles holds if both regions call the "
    "same ones as often."
)
_UNITS = (
    "Cycles per iteration. 2.0x: half the time; -25 % time: three quarters of it; +100 % time: twice as long."
)


def table(title: str, subject: int, *sides: tuple[str, RegionAnalysis]) -> ComparisonTable:
    """Compare two regions. ``sides``: names and predictions, in column order. ``subject``: the side, 0 or 1,
    that the difference describes."""
    names, regions = zip(*sides, strict=True)
    first, second = map(by_name, regions)
    works = [work_of(region) for region in regions]
    one, other = works
    both_known = one is not None and other is not None and comparable(one, other)
    # If both do the same work, the columns per unit would repeat the others.
    unit = one.unit if one and other and one.unit == other.unit and one != other else ""
    columns = ["CPU", *names, f"{names[subject]}: difference"]
    columns += [f"{name} per {unit}" for name in names] if unit else []
    columns += [f"{name}: bound by" for name in names]
    rows = []
    for microarchitecture in (name for name in first if name in second):
        both = first[microarchitecture], second[microarchitecture]
        paces = [Pace(figure(each), work) for each, work in zip(both, works, strict=True)]
        exact = not any(map(is_lower_bound, both))
        row: list[str | float | None] = [microarchitecture, *(pace.cycles for pace in paces)]
        row.append(_difference(paces[1 - subject], paces[subject], both))
        row += [Rate(pace.per_unit() or 0.0) if exact else None for pace in paces] if unit else []
        rows.append((*row, *map(limits, both)))
    notes = []
    if rows:
        notes.append(_UNITS)
        notes += [f"{name}: {work}." for name, work in zip(names, works, strict=True) if work]
        notes += [] if both_known else [_UNKNOWN]
        notes += [_CALLS] if any(str(row[3]).endswith(_CYCLES) for row in rows) else []
    notes += [f"{name}: {region.note}" for name, region in sides if region.note]
    absent = dict.fromkeys(each.reason for region in regions for each in region.missing)
    notes += [f"No figure: {'; '.join(absent)}."] if absent and rows else []
    parts = [grid(columns, rows), *notes]
    text = "\n".join(part for part in parts if part)
    return ComparisonTable(title, tuple(columns), tuple(rows), text, {"notes": "\n".join(notes)})


def _difference(before: Pace, after: Pace, both: tuple[Prediction, Prediction]) -> str:
    """The ratio of two figures; between regions that call functions, which no figure counts, the difference
    in cycles if an iteration of both does the same work."""
    if not any(map(is_lower_bound, both)):
        return difference(before, after) or "same"
    if any(map(has_unknown_costs, both)) or before.work != after.work:
        return _NOT_KNOWN
    return f"{after.cycles - before.cycles:+.2f}{_CYCLES}"
