"""Two regions beside each other on every microarchitecture."""

from __future__ import annotations

from cyclelens.analyzer.comparisons.predictions import by_name, limits
from cyclelens.analyzer.comparisons.table import Table, difference, grid
from cyclelens.analyzer.model.result import RegionAnalysis


def table(title: str, left: tuple[str, RegionAnalysis], right: tuple[str, RegionAnalysis]) -> Table:
    """``left``, ``right``: names and predictions. The difference is that of the right one."""
    columns = ("CPU", left[0], right[0], "difference", f"{left[0]} is", f"{right[0]} is")
    first, second = by_name(left[1]), by_name(right[1])
    rows = tuple(
        (
            name,
            first[name].cycles_per_iteration,
            second[name].cycles_per_iteration,
            difference(first[name].cycles_per_iteration, second[name].cycles_per_iteration),
            limits(first[name]),
            limits(second[name]),
        )
        for name in first
        if name in second
    )
    notes = [f"{name}: {region.note}" for name, region in (left, right) if region.note]
    absent = dict.fromkeys(each.reason for _, region in (left, right) for each in region.missing)
    notes += [f"No figure: {'; '.join(absent)}."] if absent and rows else []
    parts = [grid(columns, rows), "Cycles per iteration." if rows else "", *notes]
    return Table(title, columns, rows, "\n".join(part for part in parts if part))
