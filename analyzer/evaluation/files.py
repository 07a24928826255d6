"""Opening of text files that may be compressed."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path
from typing import TextIO, cast


class DatasetError(Exception):
    """A file of figures or traces that cannot be used; the message says which, where and why."""


def open_text(path: Path) -> TextIO:
    """Opens ``path`` for reading, unpacking ``.xz`` and ``.gz``. Raises ``DatasetError`` if it cannot."""
    try:
        if path.suffix == ".xz":
            return lzma.open(path, "rt", encoding="utf-8-sig", newline="")
        if path.suffix == ".gz":
            return cast(TextIO, gzip.open(path, "rt", encoding="utf-8-sig", newline=""))
        return path.open(encoding="utf-8-sig", newline="")
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror or error}") from None
