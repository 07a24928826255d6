"""The label of a region as parts. ``insight/label.py`` is the only place that joins them."""

from __future__ import annotations

from msgspec import Struct

AT_LEAST = "at least "
"""Prefix of a figure that leaves out some instructions."""


class Note(Struct, frozen=True):
    """A remark behind a figure, with its space and parentheses; empty if there is none."""

    whole: str = ""
    brief: str = ""
    """For a narrow line."""


class MeasuredFigure(Struct, frozen=True):
    """A measurement of the region on this machine."""

    text: str = ""
    """``predicted 4.00, measured 4.02``; empty if there is no measurement."""
    predicted: str = ""
    """The prediction that ``text`` states: ``4.00``; empty if it states none."""


class RegionLabel(Struct, frozen=True):
    """The parts of a region's label on one core. A part that is empty is not shown."""

    reason: str = ""
    """Why there is no figure; the other parts are empty then."""
    number: str = ""
    """Cycles per ``unit``: ``4.00``."""
    least: bool = False
    """The number is a lower bound."""
    approximate: bool = False
    """Not all values of the core are known."""
    unit: str = ""
    """``cycles/iter``, ``cycles/call``, ``cycles``."""
    elsewhere: tuple[Note, ...] = ()
    """The ranges of the figure: under other port bindings, at other positions in memory."""
    once: Note = Note()
    """What one pass through a function costs."""
    average: str = ""
    """The mean over all paths through the region: ``4.20``. A narrow line shows it in place of ``number``."""
    share: str = ""
    """The region's part of a recorded profile: ``84% of the profile``."""
    core: str = ""
    limits: tuple[str, ...] = ()
    """What limits the region, the longest wording first: ``latency- and issue-bound``."""
    lacks: str = ""
    """Why the number is a lower bound, in place of ``limits``: ``no figures for add``."""
    stalls: tuple[str, ...] = ()
    rate: str = ""
    """The figure by work, which leads: ``0.500 cycles/float``."""
    change: str = ""
    """``3.42 -> 1.00, 3.4x``, in place of the number, its unit and the rate."""
    also: tuple[str, ...] = ()
    """Figures of the other loops that were compiled from the same source loop."""
    advice: tuple[str, ...] = ()
    """Rewrites that help, the longest wording first: ``two accumulators: 4.00, four: 2.00``."""
    measured: MeasuredFigure = MeasuredFigure()
    stale: bool = False
    """The text has changed since the figure was found."""

    @property
    def figure(self) -> str:
        """The figure without its unit: ``4.00``, ``at least 4.00``."""
        return f"{AT_LEAST if self.least else ''}{self.number}"
