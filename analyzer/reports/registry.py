"""The visible list of report formats. A new one is a file beside this one and a line here."""

from __future__ import annotations

from collections.abc import Callable

from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.reports import graph, html, json, markdown, sarif, text

Render = Callable[[Analysis, str], str]
"""(analysis, name of the analysed file) -> the report, ending in a newline. Traces are shown if present."""

FORMATS: dict[str, Render] = {
    "text": text.render,
    "json": json.render,
    "markdown": markdown.render,
    "html": html.render,
    "sarif": sarif.render,
    "dot": graph.render_dot,
    "svg": graph.render_svg,
}


def render(analysis: Analysis, file: str, report_format: str = "text") -> str:
    """The report in a format of ``FORMATS``."""
    return FORMATS[report_format](analysis, file)
