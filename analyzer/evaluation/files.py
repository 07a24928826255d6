"""Opening of text files that may be compressed."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path
from typing import TextIO, cast


class DatasetError(Exception):
    """A file of figures or traces that cannot be used; the message names the file, the line and the reason."""


def open_text(path: Path) -> TextIO:
    """Opens ``path`` for reading, unpacking ``.xz`` and ``.gz``. Raises ``DatasetError`` if there is none."""
    openers = {".xz": lzma.open, ".gz": gzip.open}
    try:
        return cast(TextIO, openers.get(path.suffix, open)(path, mode="rt", encoding="utf-8-sig", newline=""))
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror or error}") from None
