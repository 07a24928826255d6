"""Text files that may be compressed, line by line."""

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
"""Characters; a line of a compressed file may unpack to any size."""


class DatasetError(Exception):
    """A file of figures or traces that cannot be used; the message says which, where and why."""


def open_text(path: Path) -> TextIO:
    """Opens ``path`` for reading, unpacking ``.xz`` and ``.gz``. Raises ``DatasetError`` if it cannot."""
    try:
        if path.suffix == ".xz":
            return cast(TextIO, lzma.open(open_given(path), "rt", encoding="utf-8-sig", newline=""))
        if path.suffix == ".gz":
            return cast(TextIO, gzip.open(open_given(path), "rt", encoding="utf-8-sig", newline=""))
        return TextIOWrapper(open_given(path), encoding="utf-8-sig", newline="")
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror or error}") from None


def lines_of(path: Path, stream: TextIO) -> Iterator[str]:
    """The lines of an open file. Raises ``DatasetError`` at one that is longer than any can be."""
    for number in count(1):
        line = stream.readline(MAXIMUM_LINE + 1)
        if not line:
            return
        if len(line) > MAXIMUM_LINE:
            raise DatasetError(f"{path}, line {number}: more than {MAXIMUM_LINE:,} characters")
        yield line
