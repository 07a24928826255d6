"""The instruction table of a region, fitted to the width of the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclelens.analyzer.insight import costs, vocabulary, wording
from cyclelens.analyzer.insight.dependencies import dependencies
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis
from cyclelens.analyzer.reports.lines import Line, LineStyle
from cyclelens.analyzer.reports.rows import Row, rows
from msgspec import Struct

BY_ITSELF = ("lat.", "alone")
"""Columns: cycles from an input to a result, and between independent instances."""

_INDENT = "   "
_GAP = "  "


class _TableLine(Struct):
    cells: list[str]
    text: str
    notes: str = ""
    style: LineStyle = LineStyle.PLAIN


def table(region: RegionAnalysis, prediction: Prediction, width: int | None) -> Iterator[Line]:
    """A heading, a line per row, and a line of sums.

    If they are wider than ``width``, unused ports are left out; then notes move below their row; then the
    figures move below their instruction; then the figures of the instruction by itself are left out.
    """
    header, lines = _lines(region, prediction)
    places = header.index("source")
    if width is not None and _width([header, *_cells(lines)], lines, notes=True) > width:
        units = registry.get(prediction.microarchitecture).units
        ports = set(map(units.label, units.names))
        kept = [i for i, name in enumerate(header) if name not in ports or lines[-1].cells[i]]
        header = _only(kept, header, lines)
        figures = _Columns([header[places:], *(line.cells[places:] for line in lines)])
        left = _Columns([header[:places], *(line.cells[:places] for line in lines)])
        if left.width + 2 * len(_INDENT) + figures.width > width:
            header = _only([i for i, name in enumerate(header) if name not in BY_ITSELF], header, lines)
    shown = [header, *_cells(lines)]
    if width is None or _width(shown, lines, notes=True) <= width:
        yield from _beside(header, lines)
    elif _width(shown, lines, notes=False) <= width:
        yield from _notes_below(header, lines)
    else:
        yield from _figures_below(header, lines, places)


def _only(kept: Sequence[int], header: Sequence[str], lines: Sequence[_TableLine]) -> list[str]:
    """Keeps only these columns in all lines. Returns their names."""
    for line in lines:
        line.cells = [line.cells[number] for number in kept]
    return [header[number] for number in kept]


def _beside(header: list[str], lines: Sequence[_TableLine]) -> Iterator[Line]:
    columns = _Columns([header, *_cells(lines)])
    room = max(len(line.text) for line in lines)
    yield Line(f"{_INDENT}{columns.text(header)}{_INDENT}instruction", LineStyle.HEADING)
    for line in lines:
        text = f"{_INDENT}{columns.text(line.cells)}{_INDENT}{line.text.ljust(room)}{_INDENT}{line.notes}"
        yield Line(text.rstrip(), line.style)


def _notes_below(header: list[str], lines: Sequence[_TableLine]) -> Iterator[Line]:
    columns = _Columns([header, *_cells(lines)])
    yield Line(f"{_INDENT}{columns.text(header)}{_INDENT}instruction", LineStyle.HEADING)
    for line in lines:
        yield Line(f"{_INDENT}{columns.text(line.cells)}{_INDENT}{line.text}", line.style)
        if line.notes:
            yield Line(f"{' ' * columns.width}{3 * _INDENT}{line.notes}", LineStyle.ASIDE)


def _figures_below(header: list[str], lines: Sequence[_TableLine], places: int) -> Iterator[Line]:
    """``places``: number of columns that locate the instruction."""
    left = _Columns([header[:places], *(line.cells[:places] for line in lines)])
    right = _Columns([header[places:], *(line.cells[places:] for line in lines)])
    below = " " * (left.width + 2 * len(_INDENT))
    yield Line(f"{_INDENT}{left.text(header[:places])}{_INDENT}instruction", LineStyle.HEADING)
    yield Line(f"{below}{right.text(header[places:])}", LineStyle.HEADING)
    for line in lines:
        text = f"{_INDENT}{left.text(line.cells[:places])}{_INDENT}{line.text}{_INDENT}{line.notes}"
        yield Line(text.rstrip(), line.style)
        if any(line.cells[places:]):
            yield Line(f"{below}{right.text(line.cells[places:])}".rstrip(), line.style)


class _Columns:
    """Right-aligned columns of cells."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self._sizes = [max(map(len, column)) for column in zip(*rows, strict=True)]
        self.width = sum(self._sizes) + len(_GAP) * (len(self._sizes) - 1)

    def text(self, cells: Sequence[str]) -> str:
        return _GAP.join(cell.rjust(size) for cell, size in zip(cells, self._sizes, strict=True))


def _cells(lines: Sequence[_TableLine]) -> list[list[str]]:
    return [line.cells for line in lines]


def _width(rows: Sequence[Sequence[str]], lines: Sequence[_TableLine], *, notes: bool) -> int:
    text = max(len(line.text) for line in lines)
    most = max(len(line.notes) for line in lines) if notes else 0
    return _Columns(rows).width + 2 * len(_INDENT) + text + (len(_INDENT) + most if most else 0)


def _lines(region: RegionAnalysis, prediction: Prediction) -> tuple[list[str], list[_TableLine]]:
    """Column names, and all lines; the last line holds the sums."""
    units = registry.get(prediction.microarchitecture).units
    listed = list(rows(region, prediction))
    account = prediction.account
    has_divider = any(row.usage.divider for row in listed)
    has_addresses = any(row.statement.address is not None for row in listed)
    chain = dependencies(prediction).chain_cycles if "Dependencies" in prediction.bottlenecks else {}
    words = vocabulary.of(prediction.microarchitecture)
    header = ["line", "source", words.issued, "exec.", *map(units.label, units.names)]
    header += ["div"] if has_divider else []
    header += ["lost"] if account is not None else []
    lines = []
    total = [0.0] * (len(header) - 2)
    previous = None
    for row in listed:
        own = row.kind == "instruction"
        values = _values(row, units.names, has_divider)
        if account is not None:
            values.append(account.lost_cycles(row.index) if own else 0.0)
        total = [sum(pair) for pair in zip(total, values, strict=True)]
        # The first row of a source line shows its number.
        source = wording.source_line(row.statement)
        cells = ["" if source == previous else source, wording.sources(words, row.usage.sources)]
        previous = source
        style = LineStyle.CHAIN if own and row.index in chain else LineStyle.PLAIN
        lines.append(
            _TableLine([*cells, *map(wording.figure, values)], row.text, ", ".join(row.notes), style)
        )
    lines.append(_TableLine(["", "", *map(wording.figure, total)], "total"))
    header += BY_ITSELF
    for row, line in zip(listed, lines, strict=False):
        line.cells += by_itself(prediction, row)
    lines[-1].cells += ["", ""]
    if has_addresses:
        header.insert(0, "address")
        for row, line in zip(listed, lines, strict=False):
            line.cells.insert(0, f"{row.statement.address:x}" if row.kind == "instruction" else "")
        lines[-1].cells.insert(0, "")
    for number, row in reversed([*enumerate(listed)]):
        if row.use:
            # The row of the macro's use shows the line number; its instructions follow without one.
            below = lines[number].cells
            lines.insert(
                number, _TableLine([below[0], *[""] * (len(header) - 1)], row.use, style=LineStyle.ASIDE)
            )
            below[0] = ""
    return header, lines


def by_itself(prediction: Prediction, row: Row) -> tuple[str, str]:
    """Latency, and cycles per instruction by itself; empty for other rows and if unknown."""
    if row.kind != "instruction":
        return "", ""
    cost = costs.by_itself(prediction.instructions[row.index], prediction.microarchitecture)
    if cost is None:
        return "", ""
    return cost.latency_text.replace(" to ", "-"), f"{cost.throughput:.2f}"


def _values(row: Row, ports: Sequence[str], has_divider: bool) -> list[float]:
    usage = row.usage
    values = [usage.issued, usage.executed, *(usage.ports.get(port, 0.0) for port in ports)]
    return [*values, usage.divider] if has_divider else values
