"""Plot of cycles per iteration against the size of the working set, as SVG or PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from cyclelens.analyzer.common.byte_sizes import written_size
from cyclelens.analyzer.measuring.working_sets import SizeMeasurement
from cyclelens.analyzer.reports.figures import drawing

_INCHES = (7.0, 4.5)


def write_plot(
    path: Path, regions: Mapping[str, Sequence[SizeMeasurement]], caches: Mapping[str, int], core: str
) -> None:
    """Draw measured and predicted cycles per iteration of each region, by its title.

    ``caches``: bytes by level, marked as vertical lines. ``core``: whose model predicts; may be empty. The
    same figures give the same file. Raises ``OSError`` if the file cannot be written."""
    with drawing(path, *_INCHES) as figure:
        axes = figure.add_subplot(
            xscale="log",
            yscale="log",
            xlabel="working set",
            ylabel="cycles per iteration",
            title=f"measured, and predicted for {core}" if core else "measured",
        )
        sizes = sorted({each.size for found in regions.values() for each in found})
        for number, (title, found) in enumerate(regions.items()):
            colour = f"C{number}"
            measured = [each for each in found if each.measured.cycles is not None]
            predicted = [each for each in found if each.predicted is not None]
            axes.plot(
                [each.size for each in measured],
                [each.measured.cycles for each in measured],
                "o-",
                color=colour,
                label=title,
            )
            axes.plot(
                [each.size for each in predicted],
                [each.predicted for each in predicted],
                "x--",
                color=colour,
                label=f"{title}, predicted",
            )
        for level, size in caches.items():
            axes.axvline(size, color="grey", linewidth=0.5)
            axes.annotate(level, (size, 1), xycoords=("data", "axes fraction"), va="bottom", ha="center")
        axes.set_xticks(sizes, [written_size(size) for size in sizes], rotation=30, ha="right")
        axes.set_xticks([], minor=True)
        axes.legend()
