"""Writes drawings as SVG or PNG files. Only this module sets up matplotlib."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cyclelens.analyzer.common.extras import lacking

FORMATS = (".svg", ".png")


def why_impossible(path: Path) -> str:
    """Why no drawing can be written to ``path``, as a message; empty if one can.

    Callers check before they start hours of work.
    """
    if path.suffix.lower() not in FORMATS:
        return f"{path}: a drawing is written as {' or '.join(FORMATS)}"
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return lacking("a drawing needs", "matplotlib", "plots")
    return ""


@contextmanager
def drawing(path: Path, width: float, height: float) -> Iterator[Any]:
    """An empty matplotlib figure of this size in inches; it is written to ``path`` when the block ends.

    The same content gives the same file: no date is written, and text stays text. Raises ``OSError`` if the
    file cannot be written.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": "cyclelens", "svg.fonttype": "none"}):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure
        kind = path.suffix.lower()[1:]
        figure.savefig(path, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None})
