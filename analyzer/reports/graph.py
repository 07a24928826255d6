"""Draws a region's dependencies as DOT for Graphviz or as SVG, which needs no other program.

Instructions stand in program order. Arcs on the right are values within an iteration, arcs on the left values
that the next iteration reads; each is labelled with its cycles, and the critical chains are marked. The
cycles along a critical chain add up to the figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from cyclelens.analyzer.insight import as_written, wording
from cyclelens.analyzer.insight.confidence import doubt, lacking
from cyclelens.analyzer.insight.dependencies import Dependencies, Dependency, dependencies
from cyclelens.analyzer.model.result import Analysis, MissingPrediction, Prediction, RegionAnalysis

_ROW, _LINE, _CHARACTER = 30, 20, 7.5
"""Pixels: distance of instructions, height of their boxes, width of a character."""
_MARGIN = 14
_LANE, _MOST_LANES = 16, 24
_CRITICAL, _PLAIN = "#c62828", "#78909c"


def render_dot(analysis: Analysis, file: str) -> str:
    """One digraph per region and core; an empty one says why there is no figure."""
    graphs = []
    for region in analysis.regions:
        graphs += [f"digraph {_quoted(_absent(region, each, file))} {{\n}}" for each in region.missing]
        graphs += ["\n".join(_dot(region, prediction, file)) for prediction in region.predictions]
    return "\n\n".join(graphs) + "\n" if graphs else 'digraph "no region" {\n}\n'


def render_svg(analysis: Analysis, file: str) -> str:
    """The graphs of all regions and cores, one below the other."""
    parts: list[str] = []
    top, width = 0.0, 0.0
    for region in analysis.regions:
        for missing in region.missing:
            title = escape(_absent(region, missing, file))
            parts.append(f'<text x="{_MARGIN}" y="{top + 20:.0f}" font-weight="bold">{title}</text>')
            top += 30
            width = max(width, len(title) * _CHARACTER + 2 * _MARGIN)
        for prediction in region.predictions:
            body, own_width, height = _drawing(region, prediction)
            title = escape(_title(region, prediction, file))
            parts.append(f'<text x="{_MARGIN}" y="{top + 20:.0f}" font-weight="bold">{title}</text>')
            parts.append(f'<g transform="translate(0 {top + 30:.0f})">{body}</g>')
            top += height + 30
            width = max(width, own_width, len(title) * _CHARACTER + 2 * _MARGIN)
    return _svg("\n".join(parts), width, top) + "\n"


def picture(region: RegionAnalysis, prediction: Prediction) -> str:
    """One region's graph as an SVG element."""
    return _svg(*_drawing(region, prediction))


def _dot(region: RegionAnalysis, prediction: Prediction, file: str) -> Iterator[str]:
    graph = dependencies(prediction)
    name = _title(region, prediction, file)
    yield f"digraph {_quoted(name)} {{"
    yield "  node [shape=box, fontname=monospace];"
    for index, text in enumerate(as_written.texts(region, prediction)):
        chain = f', color="{_CRITICAL}", penwidth=2' if index in graph.chain_cycles else ""
        yield f"  i{index} [label={_quoted(text)}{chain}];"
    for edge in graph.edges:
        style = ", style=dashed" if edge.carried else ""
        critical = f', color="{_CRITICAL}", penwidth=2' if edge.critical else ""
        label = _quoted(f"{wording.value(edge.name)} {edge.latency}")
        yield f"  i{edge.producer} -> i{edge.consumer} [label={label}{style}{critical}];"
    yield "}"


def _title(region: RegionAnalysis, prediction: Prediction, file: str) -> str:
    about = ", ".join(
        filter(None, (f"{prediction.microarchitecture}{doubt(prediction)}", lacking(prediction)))
    )
    return f"{file}: {region.region.name} ({about})"


def _absent(region: RegionAnalysis, missing: MissingPrediction, file: str) -> str:
    return f"{file}: {region.region.name}: no figure: {missing.reason}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _svg(body: str, width: float, height: float) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="12">{body}</svg>'
    )


def _drawing(region: RegionAnalysis, prediction: Prediction) -> tuple[str, float, float]:
    """Returns the SVG elements, the width and the height in pixels."""
    graph = dependencies(prediction)
    texts = as_written.texts(region, prediction)
    reach = max((_lanes(edge) for edge in graph.edges), default=1) + 1
    left = _MARGIN + _LANE * reach + 30
    box = max((len(text) for text in texts), default=1) * _CHARACTER + 12
    parts = list(_arcs(graph, left, box))
    for index, text in enumerate(texts):
        colour = _CRITICAL if index in graph.chain_cycles else _PLAIN
        y = _MARGIN + index * _ROW
        parts.append(
            f'<rect x="{left}" y="{y}" width="{box:.0f}" height="{_LINE}" rx="3" fill="#fff" '
            f'stroke="{colour}"{_mark(index in graph.chain_cycles)}/>'
            f'<text x="{left + 6}" y="{y + 14}" fill="#000">{escape(text)}</text>'
        )
    caption = _caption(graph)
    parts.append(f'<text x="{_MARGIN}" y="{_MARGIN + len(texts) * _ROW + 8}">{escape(caption)}</text>')
    width = max(left + box + _LANE * reach + 90, len(caption) * _CHARACTER + 2 * _MARGIN)
    return "".join(parts), width, 2 * _MARGIN + len(texts) * _ROW + 14


def _caption(graph: Dependencies) -> str:
    caption = "Right: within an iteration. Left: to the next one. Numbers: cycles."
    if graph.chains:
        what = f"{len(graph.chains)} critical chains" if len(graph.chains) > 1 else "the critical chain"
        caption += f" Red: {what}, {float(graph.cycles_per_iteration):.2f} cycles per iteration."
    return caption


def _arcs(graph: Dependencies, left: float, box: float) -> Iterator[str]:
    """SVG of the arcs: critical ones above the others, labels above all arcs."""
    labels = []
    for edge in sorted(graph.edges, key=lambda edge: edge.critical):
        side = -1 if edge.carried else 1
        x = left if edge.carried else left + box
        # An edge from an instruction to itself leaves and enters its box at different heights.
        start = _MARGIN + edge.producer * _ROW + _LINE * 0.7
        end = _MARGIN + edge.consumer * _ROW + _LINE * 0.3
        bulge = x + side * _LANE * _lanes(edge) * 4 / 3
        colour, width = (_CRITICAL, 2) if edge.critical else (_PLAIN, 1)
        dashes = ' stroke-dasharray="4 3"' if edge.carried else ""
        yield (
            f'<path d="M{x:.0f} {start:.1f}C{bulge:.1f} {start:.1f} {bulge:.1f} {end:.1f} {x:.0f} {end:.1f}" '
            f'fill="none" stroke="{colour}" stroke-width="{width}"{dashes}{_mark(edge.critical)}>'
            f"<title>{escape(_sentence(wording.value(edge.name), edge.latency, edge.carried))}</title></path>"
        )
        yield f'<path d="M{x:.0f} {end:.1f}l{side * 7} -3v6z" fill="{colour}"{_mark(edge.critical)}/>'
        anchor = "end" if edge.carried else "start"
        label = x + side * (_LANE * _lanes(edge) + 3)
        labels.append(
            f'<text x="{label:.0f}" y="{(start + end) / 2 + 4:.1f}" text-anchor="{anchor}" fill="{colour}" '
            f'stroke="#fff" stroke-width="3" paint-order="stroke" font-size="10" '
            f'class="label{" critical" * edge.critical}">{escape(_label(edge))}</text>'
        )
    yield from labels


def _label(edge: Dependency) -> str:
    """Only critical edges name their value: there is little room."""
    return f"{wording.value(edge.name)} {edge.latency}" if edge.critical else str(edge.latency)


def _mark(critical: bool) -> str:
    """The attribute by which a page colours critical parts itself."""
    return ' class="critical"' if critical else ""


def _lanes(edge: Dependency) -> int:
    """How far out an arc goes; very long ones share the outermost lane."""
    return min(abs(edge.consumer - edge.producer) + 1, _MOST_LANES)


def _sentence(value: str, latency: int, carried: bool) -> str:
    unit = "cycle" if latency == 1 else "cycles"
    return f"{value}: {latency} {unit}{', read by the next iteration' if carried else ''}"
