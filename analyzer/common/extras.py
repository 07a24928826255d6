"""Optional packages: each is imported where it is used, and its absence has one message."""

from __future__ import annotations


def lacking(use: str, package: str, extra: str) -> str:
    """The message for a package that is not installed. ``use``: subject and verb, "Parquet files need"."""
    return f"{use} {package}, which is not installed: pip install 'cyclelens[{extra}]'"
