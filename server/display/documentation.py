"""Addresses of the pages about diagnostic codes: one page per code in ``docs/diagnostics``."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

_FOLDERS = (
    Path(__file__).resolve().parents[2] / "docs" / "diagnostics",
    Path(sys.prefix) / "share" / "doc" / "cyclelens" / "diagnostics",
)
"""The folders in the source tree and in an environment with the package installed."""


def page(code: str, base_url: str = "") -> str | None:
    """Address of a code's page; None if the code has no page.

    :param base_url: where the pages are published; empty: use the pages that ship with the program.
    """
    path = _page(code)
    if base_url:
        # If the local pages exist and lack this code, the published ones lack it too.
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
