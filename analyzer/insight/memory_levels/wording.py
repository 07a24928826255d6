"""Words for the figures of a region by level."""

from __future__ import annotations

from cyclelens.analyzer.common.byte_sizes import written_size
from cyclelens.analyzer.model.label import AT_LEAST
from cyclelens.analyzer.model.memory_levels import DataLevels, LevelFigure
from cyclelens.analyzer.model.result import Prediction

_SEPARATOR = " · "
_NOT_KNOWN = "not known"
_ROUNDING = 0.005
"""Figures are shown with two decimals."""


def line(data: DataLevels, least: str = "") -> str:
    """The figures by level: ``1.00 in L1 · 2.1 L2 · 4.3 L3 · 11 memory``; ``memory not known`` for a level
    whose time is not known; empty without streams and chased pointers, or if nothing is known of the core's
    levels.

    ``least``: prefix of a lower bound, for every level.
    """
    if not (data.streams or data.chased) or all(figure.cycles is None for figure in data.figures):
        return ""
    first, *others = data.figures
    farther = least or (AT_LEAST if data.left_out else "")
    return _SEPARATOR.join([_first(first, least), *(_other(each, first.cycles, farther) for each in others)])


def _first(figure: LevelFigure, least: str) -> str:
    if figure.cycles is None:
        return f"{figure.level} {_NOT_KNOWN}"
    return f"{least}{figure.cycles:.2f} in {figure.level}"


def _other(figure: LevelFigure, nearest: float | None, least: str) -> str:
    """A level that is as fast as the nearest one has the same digits, and a slower one no smaller number."""
    if figure.cycles is None:
        return f"{figure.level} {_NOT_KNOWN}"
    exact, shown = f"{figure.cycles:.2f}", rough(figure.cycles)
    if nearest is not None and (exact == f"{nearest:.2f}" or float(shown) < round(nearest, 2)):
        shown = exact
    return f"{least}{shown} {figure.level}"


def rough(cycles: float) -> str:
    """Two digits, which is as much as the model can tell: ``2.1``, ``11``."""
    return f"{cycles:.1f}" if cycles < 9.95 else f"{cycles:.0f}"


def latencies(data: DataLevels) -> str:
    """The latency of a load by level: ``4 cycles from L1 · 14 L2 · 50 L3``; levels of unknown latency are
    left out; empty if none is known."""
    known = [(figure.level, figure.latency) for figure in data.figures if figure.latency is not None]
    if not known:
        return ""
    (level, latency), *others = known
    return _SEPARATOR.join(
        [f"{latency:.0f} cycles from {level}", *(f"{each:.0f} {name}" for name, each in others)]
    )


def bytes_per_iteration(data: DataLevels) -> int:
    """Sum of the streams' steps."""
    return sum(abs(stream.step) for stream in data.streams)


def sentences(data: DataLevels, least: str = "") -> str:
    """What to say of the data of a region whose figure is that of the first-level cache. ``least``: as for
    ``line``."""
    step = bytes_per_iteration(data)
    moves = f"an iteration moves on by {step} byte{'' if step == 1 else 's'}"
    reasons = [moves] if step else []
    reasons += ["the data decide which addresses are touched"] if data.scattered else []
    reasons += ["addresses move on by more than a page"] if data.far else []
    shown, waits = line(data, least), latencies(data)
    for_nearest = ""
    if data.chosen is not None and data.chosen.cycles is None:
        for_nearest = f"{_capital(data.chosen.where)} has no figure, so the figure is for L1."
    if not shown and not waits:
        although = (
            f"All data come from the first-level cache, although {' and '.join(reasons)}: the times of the "
            "other levels are not known for this core."
        )
        return " ".join(filter(None, (although, for_nearest)))
    found = []
    if shown:
        reason = moves if step else "each iteration waits for a load whose address the data decide"
        measured = f" (levels measured: {data.file})" if data.file else ""
        found.append(f"{shown}: cycles per iteration by where the data are{measured}; {reason}.")
        if for_nearest:
            found.append(for_nearest)
        if any(stream.non_temporal for stream in data.streams):
            found.append("Non-temporal stores go to memory in any case.")
    if data.chased and data.translation is not None:
        slower = data.translation
        found.append(
            f"Beyond {slower.pages} pages ({written_size(slower.reach)} of 4 KiB pages) a load takes up to "
            f"{slower.cycles:g} cycles longer, for the translation of its address."
        )
    others = reasons[bool(step) :] if shown else reasons
    if others and waits and not data.chased:
        why = _capital(" and ".join(others))
        found.append(f"{why}: a load takes {waits}, and the figure is for L1.")
    return " ".join(found)


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def suffix(prediction: Prediction) -> str:
    """Where the data of the figure are, in parentheses behind it, with a space: `` (data in L2; 1.00 in
    L1)``; empty if the figure is that of L1."""
    chosen = None if prediction.data is None else prediction.data.chosen
    if chosen is None or chosen.cycles is None:
        return ""
    return f" ({chosen.where}; {prediction.cycles_per_iteration:.2f} in L1)"


def lacking(prediction: Prediction) -> str:
    """Why the figure is a lower bound: ``no figure with data in L3 on GNR``; empty if it is for the place
    that the user names, or if he names none."""
    chosen = None if prediction.data is None else prediction.data.chosen
    if chosen is not None and chosen.least and chosen.cycles is not None:
        return f"accesses that are no stream have no figure with {chosen.where}"
    if chosen is None or chosen.cycles is not None:
        return ""
    return f"no figure with {chosen.where} on {prediction.microarchitecture}"


def is_transfer_bound(prediction: Prediction) -> bool:
    """Whether lines that move between the levels take longer than the core's work."""
    return prediction.placed_cycles > prediction.cycles_per_iteration + _ROUNDING
