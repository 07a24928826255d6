"""Draws sweeps: a curve of cycles per iteration over a latency or a buffer's size, or a heat map over two
sizes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cyclelens.analyzer.insight.sweeps import LatencySweep, SizeSweep
from cyclelens.analyzer.reports.figures import drawing

_WIDTH, _HEIGHT = 4.5, 3.2
"""Inches of each panel."""
_FIGURE = "cycles per iteration"


def draw(path: Path, sweeps: Sequence[tuple[str, LatencySweep | SizeSweep]]) -> None:
    """Writes one file (see ``figures``) with a titled panel per sweep; needs at least one. Raises OSError."""
    with drawing(path, _WIDTH, _HEIGHT * len(sweeps)) as figure:
        for number, (title, sweep) in enumerate(sweeps, 1):
            axes = figure.add_subplot(len(sweeps), 1, number, title=title)
            if isinstance(sweep, LatencySweep):
                _latencies(axes, sweep)
            elif len(sweep.names) == 1:
                axes.plot(sweep.sizes[0], sweep.cycles[0], marker=".")
                axes.set(xlabel=f"size of {sweep.names[0]}", ylabel=_FIGURE, ylim=(0, None))
            else:
                figure.colorbar(_grid(axes, sweep), ax=axes, label=_FIGURE)


def _latencies(axes: Any, sweep: LatencySweep) -> None:
    axes.plot(sweep.latencies, sweep.cycles, marker=".", label=f"slope {sweep.slope:.2f} at the end")
    if sweep.knee not in (None, sweep.latencies[0]):
        axes.axvline(sweep.knee, color="grey", linestyle="--", label=f"hidden up to {sweep.knee}")
    axes.set(xlabel=f"{sweep.of} latency in cycles", ylabel=_FIGURE, ylim=(0, None))
    axes.legend()


def _grid(axes: Any, sweep: SizeSweep) -> Any:
    places = range(len(sweep.scales))
    image = axes.pcolormesh(places, places, sweep.cycles, cmap="viridis_r", edgecolors="white", linewidth=0.3)
    axes.set(xlabel=f"size of {sweep.names[0]}", ylabel=f"size of {sweep.names[1]}")
    if 1 in sweep.scales:
        today = sweep.scales.index(1)
        axes.plot(today, today, "o", color="black", markerfacecolor="none", label="as it is")
        axes.legend()
    axes.set_xticks(places, [str(size) for size in sweep.sizes[0]])
    axes.set_yticks(places, [str(size) for size in sweep.sizes[1]])
    return image
