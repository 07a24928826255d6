"""Measures the reliability of `cyclelens measure` here: repeated blocks, and known figures.

    python benchmarks/repeatability.py [--blocks 500] [--runs 5]   share of blocks by spread of their runs
    python benchmarks/repeatability.py --against FILE.csv          share of blocks by distance from a file
    python benchmarks/repeatability.py --cases FILE.csv            small cases with known figures

Each run is a process of its own for every block. FILE.csv of --against has a column hex and columns
unroll_cycles and loop_cycles, that of --cases has case, mode (D: uop cache, M: decoders, L: loop), expected
and hex.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from cyclelens.analyzer.measuring.blocks import measure_block
from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness
from cyclelens.analyzer.model.choices import Pages, Repetition
from measuring import describe, print_table, real_blocks
from tqdm import tqdm

SHARES = (0.01, 0.02, 0.05)
CASE_MODES = {"D": Repetition.COPIES, "M": Repetition.UNROLL, "L": Repetition.LOOP}
NEAR = 0.02
RUNS_OF_A_CASE = 3

Measure = Callable[[str, Repetition, int], float | None]
"""Measures cycles per iteration from a block, a mode and a number of runs."""


def repeatability(measure: Measure, blocks: Sequence[str], runs: int) -> None:
    """Print the range of several figures as a share of their median."""
    rows = []
    for mode in Repetition:
        figures: list[list[float]] = [[] for _ in blocks]
        # Each run covers all blocks, so that a brief disturbance does not affect all runs of one block.
        for _ in range(runs):
            for found, block in zip(figures, tqdm(blocks, desc=mode, disable=None), strict=True):
                cycles = measure(block, mode, 1)
                if cycles is not None:
                    found.append(cycles)
        whole = [found for found in figures if len(found) == runs]
        ranges = [(max(found) - min(found)) / statistics.median(found) for found in whole]
        rows.append([mode, *_shares(ranges, len(blocks)), str(len(blocks) - len(whole))])
    print_table(["mode", *(f"within {share:.0%}" for share in SHARES), "not measured"], rows)


def agreement(measure: Measure, file: Path, runs: int) -> None:
    """Print the difference from the figures of a file."""
    with file.open(newline="") as stream:
        known = list(csv.DictReader(stream))
    rows = []
    for mode in (Repetition.UNROLL, Repetition.LOOP):
        column = f"{mode}_cycles"
        differences = []
        for row in tqdm(known, desc=mode, disable=None):
            cycles = measure(row["hex"], mode, runs)
            if cycles is not None:
                differences.append(abs(cycles / float(row[column]) - 1))
        missing = str(len(known) - len(differences))
        rows.append([mode, *_shares(differences, len(known)), missing])
    print_table(["mode", *(f"within {share:.0%}" for share in SHARES), "not measured"], rows)


def cases(measure: Measure, file: Path) -> None:
    """Print the cases further from their figure than ``NEAR``, and their number."""
    with file.open(newline="") as stream:
        known = list(csv.DictReader(stream))
    rows = []
    for row in known:
        cycles = measure(row["hex"], CASE_MODES[row["mode"]], RUNS_OF_A_CASE)
        if cycles is None or abs(cycles / float(row["expected"]) - 1) > NEAR:
            rows.append([row["case"], row["expected"], "-" if cycles is None else f"{cycles:.2f}"])
    print(f"{len(known) - len(rows)} of {len(known)} cases are within {NEAR:.0%}; the others:\n")
    print_table(["case", "expected", "measured"], rows)


def _shares(differences: Sequence[float], count: int) -> list[str]:
    return [f"{sum(each <= share for each in differences) / count:.1%}" for share in SHARES]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blocks", type=int, default=500)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--against", type=Path, metavar="FILE.csv")
    parser.add_argument("--cases", type=Path, metavar="FILE.csv")
    options = parser.parse_args()
    try:
        with Harness(pages=Pages.SHARED) as harness:

            def measure(block: str, mode: Repetition, runs: int) -> float | None:
                return measure_block(harness, block, mode, runs).cycles

            describe()
            print(f"clock: {harness.clock.source}\n")
            if options.against is not None:
                agreement(measure, options.against, options.runs)
            elif options.cases is not None:
                cases(measure, options.cases)
            else:
                source, blocks = real_blocks(options.blocks)
                print(f"{source}, {options.runs} runs\n")
                repeatability(measure, blocks, options.runs)
    except CannotMeasure as error:
        print(f"nothing can be measured here: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
