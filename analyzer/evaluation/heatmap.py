"""Heat map of predicted against true cycles per iteration, as SVG or PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cyclelens.analyzer.evaluation.files import DatasetError
from cyclelens.analyzer.reports.figures import drawing, why_impossible

_BINS_PER_DECADE = 25
_INCHES = 6.0


def check_possible(path: Path) -> None:
    """Raise ``DatasetError`` if no heat map can be written to ``path``."""
    problem = why_impossible(path)
    if problem:
        raise DatasetError(problem)


def write_heatmap(path: Path, pairs: Sequence[tuple[float, float]], title: str) -> None:
    """Draw (predicted, true) pairs of positive cycles per iteration on logarithmic axes.

    The colour of a cell shows its number of blocks; the diagonal marks equality. The file contains no date,
    so equal pairs give equal files. Raises ``DatasetError`` if there is nothing to draw and ``OSError`` if
    the file cannot be written.
    """
    from matplotlib.colors import LogNorm

    drawn = [(predicted, truth) for predicted, truth in pairs if predicted > 0 and truth > 0]
    if not drawn:
        raise DatasetError("there is no predicted block to draw")
    low = min(min(pair) for pair in drawn) / 1.1
    high = max(max(pair) for pair in drawn) * 1.1
    edges = [low]
    while edges[-1] < high:
        edges.append(edges[-1] * 10 ** (1 / _BINS_PER_DECADE))
    with drawing(path, _INCHES, _INCHES) as figure:
        axes = figure.add_subplot(
            xscale="log",
            yscale="log",
            xlim=(edges[0], edges[-1]),
            ylim=(edges[0], edges[-1]),
            aspect="equal",
            title=title,
            xlabel="measured or reference cycles per iteration",
            ylabel="predicted cycles per iteration",
        )
        counts = axes.hist2d(
            [truth for _, truth in drawn],
            [predicted for predicted, _ in drawn],
            bins=[edges, edges],
            norm=LogNorm(),
            cmin=1,
        )
        axes.axline((low, low), (high, high), color="grey", linewidth=0.5)
        figure.colorbar(counts[3], ax=axes, label="blocks", shrink=0.8)
