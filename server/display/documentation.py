"""Addresses of the pages about diagnostic codes: one page per code in ``docs/diagnostics``."""

from __future__ import annotations

from functools import cache

from cyclelens.analyzer.common.documents import DIAGNOSTICS


def page(code: str, base_url: str = "") -> str | None:
    """Address of a code's page; None if the code has no page.

    :param base_url: where the pages are published; empty: use the pages that ship with the program.
    """
    path = _page(code)
    if base_url:
        # If the local pages exist and lack this code, the published ones lack it too.
        known = path is not None or not any(folder.is_dir() for folder in DIAGNOSTICS)
        return f"{base_url.rstrip('/')}/{code}.md" if known else None
    return path


@cache
def _page(code: str) -> str | None:
    for folder in DIAGNOSTICS:
        path = folder / f"{code}.md"
        if path.is_file():
            return path.as_uri()
    return None
