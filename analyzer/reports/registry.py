"""Lists the report formats. A new format is a new file in this package and a line here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from cyclelens.analyzer.model.result import Analysis

Render = Callable[[Analysis, str], str]
"""(analysis, name of the analysed file) -> the report, ending in a newline. Traces are shown if present."""

FORMATS = {
    "text": ("text", "render"),
    "json": ("json", "render"),
    "markdown": ("markdown", "render"),
    "html": ("html", "render"),
    "sarif": ("sarif", "render"),
    "dot": ("graph", "render_dot"),
    "svg": ("graph", "render_svg"),
}
"""(module, function) of each ``Render``: only the requested one is imported."""


def render(analysis: Analysis, file: str, report_format: str = "text") -> str:
    """Renders the report in a format of ``FORMATS``. Raises KeyError if there is no such format."""
    module, function = FORMATS[report_format]
    renderer: Render = getattr(import_module(f"cyclelens.analyzer.reports.{module}"), function)
    return renderer(analysis, file)
