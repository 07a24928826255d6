"""Measures many predictions at once: ``python benchmarks/many.py [--blocks N] [--jobs N]``.

Compares one process that predicts the same blocks at all 64 alignments and on all microarchitectures with one
process per case, which repeats the work that depends on neither. Also runs ``cyclelens predict`` with one
process and with several, and simulates in one thread and in several: the core releases the interpreter lock.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cyclelens.analyzer.common.collection import collect_rarely
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.engine.prediction import Predictor
from cyclelens.analyzer.engine.regions import ALIGNMENTS
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.uops.block import build_block
from measuring import CYCLELENS, describe, print_table, real_blocks

DEFAULT = "SKL"
REQUEST = RunRequest(details=False)


def main() -> None:
    parser = argparse.ArgumentParser(description="Many predictions at once.")
    parser.add_argument("--blocks", type=int, default=100, metavar="N")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--child", metavar="CASES", help=argparse.SUPPRESS)
    options = parser.parse_args()
    _, blocks = real_blocks(options.blocks)
    if options.child is not None:
        cases = [case.split(":") for case in options.child.split(",")]
        print(predict(blocks, [(name, int(alignment)) for name, alignment in cases]))
        return
    describe()
    print(f"{len(blocks)} blocks as loops; processor time without start-up\n")
    rows = []
    for title, cases in (
        ("64 alignments", [(DEFAULT, alignment) for alignment in ALIGNMENTS]),
        ("all microarchitectures", [(name, 0) for name in registry.names()]),
    ):
        together = in_a_process(options.blocks, cases)
        # Every fourth case represents the others.
        sample = cases[:: max(1, len(cases) // 16)]
        alone = sum(in_a_process(options.blocks, [case]) for case in sample) * len(cases) / len(sample)
        rows.append([title, f"{alone:.2f}", f"{together:.2f}", f"{alone / together:.2f}"])
    print_table(["", "s, one by one", "s, together", "ratio"], rows)
    print()
    rows = []
    for jobs in (1, options.jobs):
        seconds = predict_command(real_blocks(30 * options.blocks)[1], jobs)
        rows.append([str(jobs), f"{seconds:.2f}"])
    print_table(["--jobs", f"s of wall time, {30 * options.blocks} blocks"], rows)
    print()
    built = straight_line(real_blocks(10 * options.blocks)[1])
    in_threads(built, 1)  # Lays out every instruction, once.
    rows = [[str(count), f"{in_threads(built, count):.2f}"] for count in (1, options.jobs)]
    print_table(["threads", f"s of wall time, {len(built)} blocks"], rows)


def in_a_process(blocks: int, cases: list[tuple[str, int]]) -> float:
    """Processor seconds of a new process for these blocks in these cases."""
    text = ",".join(f"{name}:{alignment}" for name, alignment in cases)
    command = [sys.executable, __file__, "--blocks", str(blocks), "--child", text]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def predict(blocks: list[str], cases: list[tuple[str, int]]) -> float:
    """Processor seconds of this process for all cases."""
    codes = [bytes.fromhex(block) for block in blocks]
    predictor = Predictor()
    collect_rarely()
    start = time.process_time()
    for name, alignment in cases:
        predictor.predict_batch(codes, name, Mode.LOOP, alignment)
    return time.process_time() - start


def straight_line(blocks: list[str]) -> list[Block]:
    """The blocks, ready to simulate."""
    core, store = registry.get(DEFAULT), open_store()
    return [build_block(decode(bytes.fromhex(each)), core, store, loop=False) for each in blocks]


def in_threads(blocks: list[Block], count: int) -> float:
    """Seconds of wall time in which that many threads simulate the blocks, each with its own caches."""

    def run(part: list[Block]) -> None:
        caches = Caches()
        for block in part:
            simulate(block, registry.get(DEFAULT), request=REQUEST, caches=caches)

    start = time.perf_counter()
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(run, [blocks[number::count] for number in range(count)]))
    return time.perf_counter() - start


def predict_command(blocks: list[str], jobs: int) -> float:
    """Seconds of wall time of ``cyclelens predict``, start-up included."""
    command = [*CYCLELENS, "predict", "--arch", DEFAULT, "--mode", "loop", "--jobs", str(jobs)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "blocks"
        file.write_text("\n".join(blocks))
        start = time.perf_counter()
        with file.open() as stream:
            subprocess.run(command, check=True, stdin=stream, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start


if __name__ == "__main__":
    main()
