"""File formats for blocks and figures. A new format is a class here and an entry in ``FORMATS``.

A file is read in spans of a few thousand rows, each by itself, so that memory use does not grow with the
file.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from cyclelens.analyzer.common.extras import lacking
from cyclelens.analyzer.common.regular_files import STREAMED, open_regular, open_text
from msgspec import Struct

HEX = "hex"
MAXIMUM_LINE = 1 << 20
"""Longest line in bytes, far longer than any block."""

Table = Mapping[str, Sequence[Any]]
"""Column name -> values; all columns have equal length."""


class CorpusError(ValueError):
    """A file cannot be read or written as a corpus; the message says which and why."""


class RowRange(Struct, frozen=True, array_like=True):
    """Consecutive rows of a file."""

    start: int
    """Start of the rows, in units of the format (bytes or rows)."""
    rows: int


class Writer(Protocol):
    """Writes one file; a context manager."""

    def write(self, table: Table) -> None:
        """Append rows; every call must have the same columns."""

    def __enter__(self) -> Writer: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Format(Protocol):
    """Reads and writes files of one format."""

    def spans(self, path: Path, rows: int) -> Iterator[RowRange]:
        """The whole file in spans of at most ``rows`` rows."""

    def blocks(self, path: Path, span: RowRange, column: str) -> list[str]:
        """The blocks of a span, in hexadecimal. Raises CorpusError if the column does not exist."""

    def table(self, path: Path) -> Table:
        """All columns of a small file that ``writer`` wrote."""

    def writer(self, path: Path) -> Writer:
        """A writer for a new file."""


def format_of(path: Path, *, written: bool = False) -> Format:
    """The format for a file name's suffix. Raises CorpusError if it is unknown."""
    found = FORMATS.get(path.suffix)
    known = [suffix for suffix in FORMATS if not (written and suffix == ".txt")]
    if found is None or path.suffix not in known:
        raise CorpusError(f"{path}: the name must end in {', '.join(known)}")
    return found


# ---------------------------------------------------------------------------------------------------------
# Text


class _PlainText:
    """One block per line and nothing else; spans count bytes."""

    def spans(self, path: Path, rows: int) -> Iterator[RowRange]:
        with open_regular(path, STREAMED) as stream:
            self._skip_header(stream)
            while True:
                start, count = stream.tell(), 0
                while count < rows and (line := stream.readline(MAXIMUM_LINE + 1)):
                    if len(line) > MAXIMUM_LINE:
                        raise CorpusError(f"{path}: a line has more than {MAXIMUM_LINE:,} bytes")
                    count += 1
                if not count:
                    return
                yield RowRange(start, count)

    def _skip_header(self, stream: Any) -> None:
        """Skip the lines before the first row."""

    def blocks(self, path: Path, span: RowRange, column: str) -> list[str]:
        return [line.strip() for line in self._lines(path, span)]

    def _lines(self, path: Path, span: RowRange) -> list[str]:
        with open_regular(path, STREAMED) as stream:
            stream.seek(span.start)
            return [stream.readline().decode(errors="replace") for _ in range(span.rows)]

    def table(self, path: Path) -> Table:
        raise NotImplementedError("the text format cannot hold figures")

    def writer(self, path: Path) -> Writer:
        raise NotImplementedError("the text format cannot hold figures")


class _Csv(_PlainText):
    """Comma-separated values with a header, one row per line."""

    def _skip_header(self, stream: Any) -> None:
        stream.readline(MAXIMUM_LINE)

    def _header(self, path: Path) -> list[str]:
        with open_text(path, "utf-8-sig") as stream:
            return next(csv.reader([stream.readline(MAXIMUM_LINE)]), [])

    def blocks(self, path: Path, span: RowRange, column: str) -> list[str]:
        header = self._header(path)
        if column not in header:
            raise CorpusError(f"{path} has no column '{column}'; it has: {', '.join(header) or 'none'}")
        place = header.index(column)
        rows = (next(csv.reader([line]), []) for line in self._lines(path, span))
        return [row[place].strip() if place < len(row) else "" for row in rows]

    def table(self, path: Path) -> Table:
        with open_text(path) as stream:
            header, *rows = csv.reader(stream)
        return {name: [row[place] for row in rows] for place, name in enumerate(header)}

    def writer(self, path: Path) -> Writer:
        return _CsvWriter(path)


class _CsvWriter:
    def __init__(self, path: Path) -> None:
        self._stream = path.open("w", encoding="utf-8", newline="")
        self._writer = csv.writer(self._stream, lineterminator="\n")
        self._begun = False

    def write(self, table: Table) -> None:
        if not self._begun:
            self._writer.writerow(table)
            self._begun = True
        self._writer.writerows(
            ["" if value is None else value for value in row] for row in zip(*table.values(), strict=True)
        )

    def __enter__(self) -> _CsvWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()


# ---------------------------------------------------------------------------------------------------------
# Parquet


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise CorpusError(lacking("Parquet files need", "pyarrow", "parquet")) from None
    return pyarrow, pyarrow.parquet


class _Parquet:
    """Spans count rows. A row group is read at once; its size is up to the program that wrote the file."""

    def spans(self, path: Path, rows: int) -> Iterator[RowRange]:
        file = self._open(path)
        first = 0
        # No span crosses a row group, otherwise groups would be read twice.
        for group in range(file.num_row_groups):
            count = file.metadata.row_group(group).num_rows
            for start in range(0, count, rows):
                yield RowRange(first + start, min(rows, count - start))
            first += count

    def blocks(self, path: Path, span: RowRange, column: str) -> list[str]:
        file = self._open(path)
        names = file.schema_arrow.names
        if column not in names:
            raise CorpusError(f"{path} has no column '{column}'; it has: {', '.join(names) or 'none'}")
        first = 0
        for group in range(file.num_row_groups):
            count = file.metadata.row_group(group).num_rows
            if span.start < first + count:
                values = file.read_row_group(group, columns=[column]).column(column)
                found = values.slice(span.start - first, span.rows).to_pylist()
                return [_hexadecimal(value) for value in found]
            first += count
        raise CorpusError(f"{path} has fewer rows than before")

    def _open(self, path: Path) -> Any:
        arrow, parquet = _arrow()
        try:
            return parquet.ParquetFile(path)
        except arrow.ArrowException as error:
            raise CorpusError(f"{path} is not a Parquet file: {error}") from None

    def table(self, path: Path) -> Table:
        columns: dict[str, list[Any]] = self._open(path).read().to_pydict()
        return columns

    def writer(self, path: Path) -> Writer:
        return _ParquetWriter(path)


def _hexadecimal(value: object) -> str:
    """A block in hexadecimal; Parquet may also hold it as binary."""
    return value.hex() if isinstance(value, bytes) else str(value or "")


class _ParquetWriter:
    def __init__(self, path: Path) -> None:
        self._arrow, self._parquet = _arrow()
        self._path = path
        self._writer: Any = None

    def write(self, table: Table) -> None:
        arrow = self._arrow
        kinds = {name: arrow.string() if name in TEXTS else arrow.float64() for name in table}
        rows = arrow.table(
            {name: arrow.array(values, kinds[name]) for name, values in table.items()}, arrow.schema(kinds)
        )
        if self._writer is None:
            self._writer = self._parquet.ParquetWriter(self._path, rows.schema)
        self._writer.write_table(rows)

    def __enter__(self) -> _ParquetWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.close()


TEXTS = frozenset({HEX, "mode", "problems"})
"""Columns that hold text; all others hold figures."""

FORMATS: dict[str, Format] = {".parquet": _Parquet(), ".csv": _Csv(), ".txt": _PlainText()}
