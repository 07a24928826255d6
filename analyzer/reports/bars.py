"""Draws small charts as SVG without styles: the page that holds them colours them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from html import escape

from cyclelens.analyzer.insight import vocabulary, wording
from cyclelens.analyzer.insight.confidence import is_lower_bound
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.account import Cause
from cyclelens.analyzer.model.result import Prediction, Work
from msgspec import Struct

USED = "#2e8b57"
_TIME = "#6f7f8f"
LOST = ("#d1495b", "#edae49", "#7b5ea7", "#3d7ebf", "#00838f", "#8d6e63", "#c76b98", "#7d868f")

_WIDTH = 190
_COLUMNS = 44


Part = tuple[str, float, str]
"""Text, share of the whole (0 to 1), colour."""


def slots(predictions: Sequence[Prediction]) -> list[list[Part]]:
    """How each prediction's issue slots were used: the used ones first, then the lost ones by cause.

    A cause has the same colour in every prediction; a prediction without an account has no parts.
    """
    colours: dict[Cause, str] = {}
    shown: list[list[Part]] = []
    for prediction in predictions:
        account = prediction.account
        words = vocabulary.of(prediction.microarchitecture)
        parts = [("used", account.used_share, USED)] if account is not None else []
        for cause, share in account.causes() if account is not None else ():
            colour = colours.setdefault(cause, LOST[len(colours) % len(LOST)])
            parts.append((words.cause(cause), share, colour))
        shown.append(parts)
    return shown


def stacked(parts: Sequence[Part], width: int, height: int) -> str:
    """A bar of shares beside each other, as an SVG element of this size in pixels."""
    pieces, left = [], 0.0
    for text, share, colour in parts:
        place = f'x="{left * width:.2f}" y="0" width="{share * width:.2f}" height="{height}"'
        title = f"<title>{escape(text)} {share:.1%}</title>"
        pieces.append(f'<rect {place} fill="{colour}">{title}</rect>')
        left += share
    label = "; ".join(f"{share:.0%} {text}" for text, share, _ in parts)
    return _svg(width, height, label, "".join(pieces))


class Axis(Struct, frozen=True):
    """Labels below the columns of a chart."""

    width: int
    named: int = 1
    """Every ``named``-th column has its name below, if there is room."""
    marked: Collection[str] = ()
    """Names of the columns with a triangle below."""


_AXIS = Axis(_WIDTH)


def columns(
    values: Sequence[tuple[str, float]],
    largest: float,
    label: str,
    *,
    axis: Axis = _AXIS,
    high: str = "busy",
) -> str:
    """A chart with a column per (name, value); a column of ``largest`` is as high as the chart.

    ``high``: the CSS class of columns of at least 95 % of that.
    """
    width, named, marked = axis.width, axis.named, axis.marked
    step = width / max(1, len(values))
    pieces = [f'<rect class="frame" x="0.5" y="0.5" width="{width - 1}" height="{_COLUMNS - 1}"/>']
    for number, (name, value) in enumerate(values):
        height = min(1.0, value / largest) * (_COLUMNS - 2) if largest else 0.0
        mark = f" {high}" if largest and value >= 0.95 * largest else ""
        pieces.append(
            f'<rect class="used{mark}" x="{number * step + 1:.1f}" y="{_COLUMNS - 1 - height:.1f}" '
            f'width="{max(1.0, step - 1):.1f}" height="{height:.1f}">'
            f"<title>{escape(name)}: {value:.2f}</title></rect>"
        )
        middle = (number + 0.5) * step
        if name in marked:
            low = _COLUMNS + 7
            corners = f"{middle - 3:.1f},{low} {middle + 3:.1f},{low} {middle:.1f},{_COLUMNS + 1}"
            pieces.append(f'<polygon class="mark" points="{corners}"/>')
        if number % named == 0 and step * named >= 12:
            pieces.append(
                f'<text class="muted" x="{middle:.1f}" y="{_COLUMNS + 18}" font-size="10" '
                f'text-anchor="middle">{escape(name)}</text>'
            )
    return _svg(width, _COLUMNS + 21, label, "".join(pieces))


def multiples(predictions: Sequence[tuple[str, str, Prediction]], work: Work | None) -> Iterator[str]:
    """A small picture of one region per condition: the figure, the issue slots and how busy the ports are.

    ``predictions``: (name of the condition, id of the section with the details, prediction). ``work``: what
    an iteration does; None if unknown.
    """
    figures = [prediction.cycles_per_iteration for _, _, prediction in predictions]
    known = [
        prediction.cycles_per_iteration for _, _, prediction in predictions if not is_lower_bound(prediction)
    ]
    slowest, best = max(figures, default=0.0), min(known, default=0.0)
    accounts = slots([prediction for _, _, prediction in predictions])
    yield '<ul class="multiples">'
    for (name, link, prediction), account in zip(predictions, accounts, strict=True):
        cycles = prediction.cycles_per_iteration
        exact = not is_lower_bound(prediction)
        mark = ' class="best"' if exact and cycles == best < slowest else ""
        more = f'<a class="name" href="#{link}">{escape(name)}</a>'
        yield f"<li{mark}><div>{more} {wording.figure_of(prediction)} cycles/iter</div>"
        if work is not None and exact:
            yield f'<div class="muted">{cycles / work.amount:.3f} cycles/{work.unit}</div>'
        share = cycles / slowest if slowest else 0.0
        yield f"<div>{stacked([('of the slowest', share, _TIME)], _WIDTH, 8)}</div>"
        yield f'<div class="muted">{escape(wording.bound_of(prediction, 28))}</div>'
        words = vocabulary.of(prediction.microarchitecture)
        if account:
            yield f'<div class="muted">{words.slots}<br>{stacked(account, _WIDTH, 10)}</div>'
        usage = prediction.simulation.usage
        label = registry.get(prediction.microarchitecture).units.label
        ports = sorted({port for line in usage for port in line.ports})
        loads = [(label(port), sum(line.ports.get(port, 0.0) for line in usage)) for port in ports]
        chart = columns(loads, cycles, f"uops per iteration by {words.unit}")
        yield f'<div class="muted">busy {words.unit}s<br>{chart}</div></li>'
    yield "</ul>"
    colours = {text: colour for account in accounts for text, _, colour in account}
    if colours:
        named = " ".join(f"{square(colour)} {escape(text)}" for text, colour in colours.items())
        slots_of = dict.fromkeys(vocabulary.of(each.microarchitecture).slots for _, _, each in predictions)
        yield f'<p class="muted">{" or ".join(slots_of).capitalize()}: {named}</p>'


def square(colour: str) -> str:
    """The coloured square before a name in a legend."""
    body = f'<rect width="10" height="10" fill="{colour}"/>'
    return f'<svg width="10" height="10" aria-hidden="true">{body}</svg>'


def _svg(width: int, height: int, label: str, body: str) -> str:
    return (
        f'<svg role="img" aria-label="{escape(label)}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{body}</svg>'
    )
