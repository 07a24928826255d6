"""The visible list of report formats. A new one is a file beside this one and a line here."""

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
"""Where the ``Render`` of each stands: only the one that is asked for is imported."""


def render(analysis: Analysis, file: str, report_format: str = "text") -> str:
    """The report in a format of ``FORMATS``."""
    module, function = FORMATS[report_format]
    renderer: Render = getattr(import_module(f"cyclelens.analyzer.reports.{module}"), function)
    return renderer(analysis, file)
