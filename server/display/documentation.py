"""Where the documentation of a diagnostic's code is: one page for each code in ``docs/diagnostics``."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

_FOLDERS = (
    Path(__file__).resolve().parents[2] / "docs" / "diagnostics",
    Path(sys.prefix) / "share" / "doc" / "cyclelens" / "diagnostics",
)
"""In the source tree; in an environment that the package was installed into."""


def page(code: str, base_url: str = "") -> str | None:
    """Address of the page of a code; None if there is none.

    :param base_url: where the pages are published; empty: the ones that came with the program.
    """
    path = _page(code)
    if base_url:
        # A code without a page of ours has none elsewhere either, as long as our pages are at hand.
        known = path is not None or not any(folder.is_dir() for folder in _FOLDERS)
        return f"{base_url.rstrip('/')}/{code}.md" if known else None
    return path


@cache
def _page(code: str) -> str | None:
    for folder in _FOLDERS:
        path = folder / f"{code}.md"
        if path.is_file():
            return path.as_uri()
    return None
