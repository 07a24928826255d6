"""Reads text files, which may be compressed, line by line."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Iterator
from io import TextIOWrapper
from itertools import count
from pathlib import Path
from typing import TextIO, cast

from cyclelens.analyzer.common.regular_files import open_given

MAXIMUM_LINE = 1 << 20
"""Most characters per line; a compressed line may unpack to any size."""


class DatasetError(Exception):
    """A file of figures or traces cannot be used; the message says which, where and why."""


def open_text(path: Path) -> TextIO:
    """Open ``path`` for reading, unpacking ``.xz`` and ``.gz``. Raises ``DatasetError`` on failure."""
    try:
        if path.suffix == ".xz":
            return cast(TextIO, lzma.open(open_given(path), "rt", encoding="utf-8-sig", newline=""))
        if path.suffix == ".gz":
            return cast(TextIO, gzip.open(open_given(path), "rt", encoding="utf-8-sig", newline=""))
        return TextIOWrapper(open_given(path), encoding="utf-8-sig", newline="")
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror or error}") from None


def lines_of(path: Path, stream: TextIO) -> Iterator[str]:
    """Lines of an open file. Raises ``DatasetError`` at a line longer than ``MAXIMUM_LINE``."""
    for number in count(1):
        line = stream.readline(MAXIMUM_LINE + 1)
        if not line:
            return
        if len(line) > MAXIMUM_LINE:
            raise DatasetError(f"{path}, line {number}: more than {MAXIMUM_LINE:,} characters")
        yield line
