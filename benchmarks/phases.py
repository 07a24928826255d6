"""Measures the time of each phase of a prediction: ``python benchmarks/phases.py [--blocks N]``.

One process runs the same blocks, as loops, through one phase after the other: first with empty caches, then
with full ones.
"""

from __future__ import annotations

import argparse
import csv
import io
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from cyclelens.analyzer.common.collection import collect_rarely
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.isa.counted_loop import loop_end
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.options import DEFAULT
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator import key_of, placement_of, simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.uops.block import build_block
from measuring import describe, print_table, real_blocks

Result = TypeVar("Result")
ABOUT = """
decode: bytes to instructions. loop counter: a free register, dec and jnz. match: the record and the figures
of every kind of instruction, and which ones fuse. flatten: their uops as integers (done by "lay out" on cores
whose blocks are never alike). lay out: integers to tables, new stages. simulate: the clock, and the figure.
report: a line of CSV.
"""


class Run:
    """Runs all blocks through the phases; keeps tables and caches for a second pass."""

    def __init__(self, blocks: list[str], name: str) -> None:
        self.codes = [bytes.fromhex(block) for block in blocks]
        self.model = registry.get(name)
        self.store = open_store()
        self.cycles = 0

    def measure(self) -> dict[str, float]:
        """Processor time of every phase, in seconds."""
        model, store, caches = self.model, self.store, self.store.caches
        decoding, bodies = timed(lambda: [decode(code, caches) for code in self.codes])
        looping, ends = timed(
            lambda: [decode(loop_end(body, caches=caches) or b"", caches) for body in bodies]
        )
        listed = [body + end for body, end in zip(bodies, ends, strict=True)]
        matching, built = timed(lambda: [build_block(items, model, store, loop=True) for items in listed])
        flattening, _ = timed(lambda: [key_of(block, model, DEFAULT, caches) for block in built])
        laying_out, _ = timed(lambda: self.lay_out(built))
        # A simulation lays out its block itself, now from cached rows.
        laying_out_again, _ = timed(lambda: self.lay_out(built))
        simulating, results = timed(
            lambda: [
                simulate(block, model, request=RunRequest(details=False), caches=caches) for block in built
            ]
        )
        self.cycles = sum(result.simulated_cycles for result in results)
        figures = [result.cycles_per_iteration for result in results]
        reporting, _ = timed(lambda: self.report(figures))
        return {
            "decode": decoding,
            "loop counter": looping,
            "match": matching,
            "flatten": flattening,
            "lay out": laying_out,
            "simulate": simulating - laying_out_again,
            "report": reporting,
        }

    def lay_out(self, blocks: Iterable[Block]) -> None:
        """All steps of a simulation except the clock."""
        for block in blocks:
            placement_of(block, self.model, DEFAULT, self.store.caches)

    def report(self, figures: Iterable[float]) -> None:
        """Format the figures as the command line does."""
        writer = csv.writer(io.StringIO(), lineterminator="\n")
        for code, figure in zip(self.codes, figures, strict=True):
            writer.writerow((code.hex(), f"{figure:.2f}", ""))


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Processor time in seconds, and the result of the work."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def measure(blocks: list[str], name: str) -> dict[str, Any]:
    """Seconds by phase, for the first and second pass, and the simulated cycles."""
    run = Run(blocks, name)
    first, again = run.measure(), run.measure()
    return {"first": first, "again": again, "cycles": run.cycles}


def main() -> None:
    parser = argparse.ArgumentParser(description="Where the time of a block goes.")
    parser.add_argument("--blocks", type=int, default=2000, metavar="N")
    parser.add_argument("--source", choices=("auto", "corpus", "reference", "examples"), default="auto")
    parser.add_argument("--arch", default="SKL")
    options = parser.parse_args()
    describe()
    description, blocks = real_blocks(options.blocks, options.source)
    collect_rarely()
    result = measure(blocks, options.arch)
    print(f"{description}, {options.arch}, loops\n")
    rows = []
    for name in result["first"]:
        row = [name, *(f"{1e6 * result[when][name] / len(blocks):.1f}" for when in ("first", "again"))]
        rows.append(row)
    totals = [f"{1e6 * sum(result[when].values()) / len(blocks):.1f}" for when in ("first", "again")]
    rows.append(["all", *totals])
    print_table(["us per block", "first time", "cached"], rows)
    rate = result["cycles"] / result["again"]["simulate"] / 1e6
    print(f"\nsimulated cycles: {rate:.2f} million a second")
    print(ABOUT.rstrip())


if __name__ == "__main__":
    main()
