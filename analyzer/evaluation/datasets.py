"""Reads files of blocks with figures: the project's own columns, measured sets, wide tables, BHive's format.

Everything is CSV, plain or compressed. With a header, ``hex`` (or ``name``, looked up in a table of kernels)
names the block, and the figures are in one of

- ``measured_cycles`` or ``cycles``, or ``cycles_per_iteration`` for figures that a model gave;
- ``unroll_cycles``, ``loop_cycles`` and ``dsb_loop_cycles``: several modes in one row;
- one column for each microarchitecture, named like it, for figures that a model gave.

``microarchitecture``, ``mode``, ``offset`` (alignment in bytes), ``name``, ``width`` (of the vectors) and
``reference_cycles`` (a second prediction to compare with), ``application`` and ``count`` (how often the block
runs) are used where present. A row whose ``status`` is
not ``ok``, or that has a ``problem``, is left out. A column ``X_cycles`` may have companions: ``X_spread``
(of repeated measurements, as a share of the figure), ``X_lowest`` (the lowest of them) and ``pages_X`` or
``pages`` (touched by the block).
Without a header a row is BHive's ``hex,cycles * 100``.
"""

from __future__ import annotations

import csv
import lzma
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from cyclelens.analyzer.evaluation.files import DatasetError, lines_of, open_text
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Repetition
from msgspec import Struct, field

_MODEL_FIGURE = "cycles_per_iteration"
_FIGURES = (_MODEL_FIGURE, "measured_cycles", "cycles")
_MODE_OF_COLUMN = {
    "unroll_cycles": Repetition.UNROLL,
    "dsb_loop_cycles": Repetition.COPIES,
    "loop_cycles": Repetition.LOOP,
}
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")
_BHIVE_SCALE = 100
"""Copies of the block per figure in BHive's files."""


class Sample(Struct, frozen=True):
    """One block with its reference figure."""

    code: str
    """Hexadecimal bytes without the loop counter, lower case."""
    microarchitecture: str
    mode: Repetition
    """How the block is repeated; ``code`` contains neither the copies nor the loop's counter and jump."""
    cycles: float
    """Cycles per iteration."""
    alignment: int = 0
    reference: float | None = None
    """Another predictor's figure for the same block."""
    name: str = ""
    width: str = ""
    """Width of the widest vectors in the code, as the file names it."""
    application: str = ""
    """Program or library that the block comes from."""
    count: float | None = None
    """How often the block occurs or runs there; None if the file does not say."""

    @property
    def key(self) -> str:
        """Key of the prediction that this sample needs; samples that need the same one share it."""
        return f"{self.code} {self.microarchitecture} {self.mode} {self.alignment}"


class Selection(Struct, frozen=True):
    """Filters for a file's samples, and defaults for missing columns."""

    microarchitectures: tuple[str, ...] = ()
    """Microarchitectures to take; empty for all in the file."""
    mode: Repetition | None = None
    """Mode to take; None for all in the file, with ``UNROLL`` as default."""
    kernels: Mapping[str, str] = field(default_factory=dict)
    """Hexadecimal bytes by kernel name, for files that have names instead of bytes."""
    max_spread: float | None = None
    """Leave out figures whose repeated measurements differ by more than this share."""
    max_pages: int | None = None
    """Leave out figures of blocks that touch more pages."""
    lowest: bool = False
    """Take the lowest of repeated measurements where the file has it."""


def read_kernels(path: Path) -> dict[str, tuple[str, Repetition]]:
    """Kernel name -> hexadecimal bytes and mode, from a table with the columns name, mode and hex."""
    with open_text(path) as stream:
        reader = csv.DictReader(lines_of(path, stream))
        for column in ("name", "mode", "hex"):
            if column not in (reader.fieldnames or ()):
                raise DatasetError(f"{path}: not a table of kernels, it lacks the column {column}")
        try:
            return {row["name"]: (row["hex"].lower(), Repetition(row["mode"])) for row in reader}
        except ValueError as error:
            raise DatasetError(f"{path}: {error}") from None


def holds_model_figures(path: Path) -> bool:
    """Whether the columns are named for figures of a model. Raises as ``read_samples``."""
    with open_text(path) as stream:
        try:
            header = [name.strip() for name in next(csv.reader(lines_of(path, stream)), [])]
        except (csv.Error, UnicodeDecodeError, lzma.LZMAError, EOFError):
            return False  # read_samples reports the error
    return _MODEL_FIGURE in header or not set(registry.names()).isdisjoint(header)


def read_samples(path: Path, selection: Selection) -> list[Sample]:
    """All usable samples in file order; rows with an empty figure are left out.

    Raises ``DatasetError`` with the line if the file cannot be read as any of the known forms.
    """
    with open_text(path) as stream:
        lines = csv.reader(lines_of(path, stream))
        try:
            first = next(lines, None)
            if first is None:
                raise DatasetError(f"{path}: empty file")
            if len(first) == 2 and _HEX.fullmatch(first[0]) and _number(first[1]) is not None:
                return list(_bhive(path, first, lines, selection))
            return list(_with_header(path, [name.strip() for name in first], lines, selection))
        except (csv.Error, UnicodeDecodeError, lzma.LZMAError, EOFError) as error:
            raise DatasetError(f"{path}: not a text file of comma-separated values ({error})") from None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _figure(path: Path, line: int, text: str) -> float | None:
    """Parse a positive figure; None if the field is empty."""
    if not text.strip():
        return None
    number = _number(text)
    if number is None or number < 0:
        raise DatasetError(f"{path}, line {line}: '{text}' is not a number of cycles")
    return number or None  # a relative error against 0 cycles means nothing


def _code(path: Path, line: int, text: str) -> str:
    if not _HEX.fullmatch(text):
        raise DatasetError(f"{path}, line {line}: '{text[:40]}' is not a block in hexadecimal")
    return text.lower()


def _bhive(
    path: Path, first: Sequence[str], lines: Iterator[list[str]], selection: Selection
) -> Iterator[Sample]:
    if not selection.microarchitectures:
        raise DatasetError(f"{path} does not say for which microarchitecture it is: give one with --arch")
    for line, row in enumerate((first, *lines), start=1):
        if not row or not row[0]:
            continue
        if len(row) != 2:
            raise DatasetError(f"{path}, line {line}: expected hex,cycles")
        code = _code(path, line, row[0])
        figure = _figure(path, line, row[1])
        if figure is not None:
            for microarchitecture in selection.microarchitectures:
                mode = selection.mode or Repetition.UNROLL
                yield Sample(code, microarchitecture, mode, figure / _BHIVE_SCALE)


def _with_header(
    path: Path, header: Sequence[str], lines: Iterator[list[str]], selection: Selection
) -> Iterator[Sample]:
    if "hex" not in header and not ("name" in header and selection.kernels):
        hint = ": give the table of kernels with --kernels" if "name" in header else ""
        raise DatasetError(f"{path} has no column hex{hint}")
    columns = _figure_columns(path, header, selection)
    for line, fields in enumerate(lines, start=2):
        if not any(fields):
            continue
        if len(fields) != len(header):
            raise DatasetError(f"{path}, line {line}: {len(fields)} fields instead of {len(header)}")
        row = dict(zip(header, fields, strict=True))
        if row.get("status", "ok") != "ok" or row.get("problem"):
            continue
        name = row.get("name", "")
        text = row["hex"] if "hex" in row else selection.kernels.get(name)
        if text is None:
            raise DatasetError(f"{path}, line {line}: no kernel is named '{name}'")
        code = _code(path, line, text)
        offset = row.get("offset", "0")
        if not offset.isdecimal():
            raise DatasetError(f"{path}, line {line}: '{offset}' is not an alignment in bytes")
        for column, column_microarchitecture, column_mode in columns:
            cycles = _figure(path, line, _of_repeated(row, column, selection))
            if not _trusted(row, column, selection):
                continue
            named_mode = column_mode or row.get("mode") or selection.mode or Repetition.UNROLL
            try:
                mode = Repetition(named_mode)
            except ValueError:
                raise DatasetError(f"{path}, line {line}: unknown mode '{named_mode}'") from None
            if cycles is None or (selection.mode and mode != selection.mode):
                continue
            named = column_microarchitecture or row.get("microarchitecture")
            for microarchitecture in (named,) if named else selection.microarchitectures:
                if _wanted(microarchitecture, selection.microarchitectures):
                    reference = _figure(path, line, row.get("reference_cycles", ""))
                    yield Sample(
                        code,
                        microarchitecture,
                        mode,
                        cycles,
                        int(offset),
                        reference,
                        name,
                        row.get("width", ""),
                        row.get("application", ""),
                        _figure(path, line, row.get("count", "")),
                    )


def _of_repeated(row: Mapping[str, str], column: str, selection: Selection) -> str:
    """The field to use: the figure's own, or that of the lowest measurement."""
    lowest = row.get(f"{column.removesuffix('_cycles')}_lowest", "") if selection.lowest else ""
    return lowest or row[column]


def _trusted(row: Mapping[str, str], column: str, selection: Selection) -> bool:
    """Whether a figure meets the limits on spread and pages; a missing column meets them."""
    stem = column.removesuffix("_cycles")
    spread = _number(row.get(f"{stem}_spread", row.get("spread", "")))
    # Both kinds of loop touch the same pages.
    pages = _number(row.get(f"pages_{stem.removeprefix('dsb_')}", row.get("pages", "")))
    return not (
        (selection.max_spread is not None and spread is not None and spread > selection.max_spread)
        or (selection.max_pages is not None and pages is not None and pages > selection.max_pages)
    )


def _wanted(microarchitecture: str, chosen: Collection[str]) -> bool:
    return not chosen or microarchitecture in chosen


def _figure_columns(
    path: Path, header: Sequence[str], selection: Selection
) -> list[tuple[str, str | None, str | None]]:
    """The columns with figures, each with the microarchitecture and the mode that its name implies."""
    wide = [(name, name, None) for name in header if name in registry.names()]
    if wide:
        return [column for column in wide if _wanted(column[0], selection.microarchitectures)]
    if "microarchitecture" not in header and not selection.microarchitectures:
        raise DatasetError(f"{path} does not say for which microarchitecture it is: give one with --arch")
    modes = [(name, None, mode) for name, mode in _MODE_OF_COLUMN.items() if name in header]
    if modes:
        return list(modes)
    for name in _FIGURES:
        if name in header:
            return [(name, None, None)]
    raise DatasetError(f"{path} has no column of figures ({', '.join((*_FIGURES, *_MODE_OF_COLUMN))})")
