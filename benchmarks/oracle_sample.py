"""Draws the samples in ``tests/parity`` from the complete sets of figures, traces and measured blocks.

``python benchmarks/oracle_sample.py FOLDER``: the folder holds ``reference`` and ``measured``. The seed is
fixed, so the same sets give the same samples. ``tests/parity/README.md`` names the sources.
"""

from __future__ import annotations

import csv
import lzma
import random
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

OUT = Path(__file__).parents[1] / "tests" / "parity"
SEED = 48
BLOCKS, KERNELS = 60, 5
"""Blocks of each core, and traced kernels."""
SETS = {
    "IVB": ("bhive-dev.csv", ("measured_cycles",)),
    "HSW": ("bhive-dev.csv", ("measured_cycles",)),
    "SKL": ("bhive-dev.csv", ("measured_cycles",)),
    "GNR": ("redwood-cove-dev.csv", ("unroll_cycles", "loop_cycles")),
    "ZEN3": ("zen3-kernels-dev.csv", ("unroll_cycles", "dsb_loop_cycles", "loop_cycles")),
    "ZEN5": ("zen5-kernels-dev.csv", ("unroll_cycles", "dsb_loop_cycles", "loop_cycles")),
}
"""File of measured blocks by core, and its columns of figures."""
MOST_SPREAD, MOST_PAGES, LONGEST = 0.05, 12, 120
"""Rows with more spread (share) or pages are no truth; longer blocks (bytes) would make slow tests."""

Row = Mapping[str, str]


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    """Rows of a CSV file, compressed or not."""
    with lzma.open(path, "rt") if path.suffix == ".xz" else path.open() as stream:
        yield from csv.DictReader(stream)


def write(path: Path, columns: Iterable[str], rows: Iterable[Row]) -> None:
    """Writes the columns of these rows."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(columns), extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def published(reference: Path) -> None:
    """Figures of the published model: blocks that have both modes."""
    figures: dict[str, dict[str, list[dict[str, str]]]] = {}
    for file in ("throughput-dev.csv", "throughput-tgl.csv"):
        for row in rows_of(reference / file):
            figures.setdefault(row["microarchitecture"], {}).setdefault(row["hex"], []).append(row)
    chosen: list[dict[str, str]] = []
    for core, blocks in figures.items():
        draw = random.Random(f"{SEED} {core}")
        both = sorted(code for code, rows in blocks.items() if len(rows) == 2)
        for code in draw.sample(both, BLOCKS):
            chosen += blocks[code]
    write(OUT / "published-blocks.csv", ("hex", "microarchitecture", "mode", "cycles_per_iteration"), chosen)


def traces(reference: Path) -> None:
    """Events of kernels of ``kernels.csv`` that every core has a trace of."""
    by_core = {path.name.split(".")[0]: list(rows_of(path)) for path in (reference / "traces").glob("*.xz")}
    named = {row["name"] for row in rows_of(OUT / "kernels.csv")}
    everywhere = named.intersection(*({row["kernel"] for row in rows} for rows in by_core.values()))
    chosen = set(random.Random(SEED).sample(sorted(everywhere), KERNELS))
    for core, rows in by_core.items():
        write(OUT / "traces" / f"{core}.csv", rows[0], (row for row in rows if row["kernel"] in chosen))


def measured(folder: Path) -> None:
    """Measured blocks without doubtful rows."""
    for core, (file, columns) in SETS.items():
        usable = [row for row in rows_of(folder / file) if _is_usable(row, core, columns)]
        chosen = random.Random(f"{SEED} {core}").sample(usable, BLOCKS)
        write(OUT / "measured" / f"{core}.csv", ("hex", *columns), chosen)


def _is_usable(row: Row, core: str, columns: Iterable[str]) -> bool:
    if row.get("microarchitecture", core) != core or len(row["hex"]) > 2 * LONGEST:
        return False
    for column in columns:
        mode = column.removesuffix("_cycles")
        if not row[column] or float(row.get(f"{mode}_spread") or 0) > MOST_SPREAD:
            return False
    return all(int(value or 0) <= MOST_PAGES for name, value in row.items() if name.startswith("pages"))


if __name__ == "__main__":
    source = Path(sys.argv[1])
    published(source / "reference")
    traces(source / "reference")
    measured(source / "measured")
