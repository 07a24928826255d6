"""Measures the errors of llvm-mca on measured blocks:
``python benchmarks/llvm_mca_errors.py FILE.csv --arch ZEN5 --cpu znver5``.

FILE is an input of ``cyclelens evaluate`` with figures of one processor. Straight-line blocks and copies in a
loop are the same to llvm-mca, which models no front end and repeats each region. Blocks with an instruction
that it rejects are omitted.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from cyclelens.analyzer.evaluation.datasets import Selection, read_samples
from cyclelens.analyzer.evaluation.metrics import mean_error, share_within
from cyclelens.analyzer.isa.counted_loop import counted_loop
from cyclelens.analyzer.model.choices import Repetition
from measuring import llvm_mca_command, llvm_mca_version, write_for_llvm_mca

_CYCLES = "Total Cycles:"
_ITERATIONS = (100, 300)
"""Numbers of iterations; the figure is the difference, so that the start-up does not count."""


def main() -> None:
    parser = argparse.ArgumentParser(description="The errors of llvm-mca on measured blocks.")
    parser.add_argument("file", type=Path, metavar="FILE.csv")
    parser.add_argument("--cpu", required=True, help="as llvm-mca calls it")
    parser.add_argument("--arch", required=True, help="the processor that the file is about")
    parser.add_argument("--max-spread", type=float, metavar="P%")
    parser.add_argument("--max-pages", type=int, metavar="N")
    options = parser.parse_args()
    print(f"{llvm_mca_version()}, --mcpu={options.cpu}")
    selection = Selection(
        microarchitectures=(options.arch,),
        max_spread=None if options.max_spread is None else options.max_spread / 100,
        max_pages=options.max_pages,
    )
    samples = read_samples(options.file, selection)
    for mode in sorted({sample.mode for sample in samples}):
        truth = {_repeated(sample.code, mode): sample.cycles for sample in samples if sample.mode == mode}
        found = predicted([code for code in truth if code], options.cpu)
        pairs = [(cycles, truth[code]) for code, cycles in found.items()]
        print(
            f"{mode}: {len(pairs)} of {len(truth)} blocks, "
            f"mean error {mean_error(pairs):.1%}, within 5 % {share_within(pairs, 0.05):.1%}"
        )


def _repeated(code: str, mode: str) -> str:
    """The repeated code; empty if no register is left for the loop."""
    if mode is not Repetition.LOOP:
        return code
    return (counted_loop(bytes.fromhex(code), 1) or b"").hex()


def predicted(blocks: list[str], cpu: str) -> dict[str, float]:
    """Cycles per iteration of the blocks that llvm-mca accepts."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "blocks.s"
        kept = write_for_llvm_mca(blocks, file, cpu)
        begin, end = (_total_cycles(file, cpu, iterations) for iterations in _ITERATIONS)
    between = _ITERATIONS[1] - _ITERATIONS[0]
    return {block: (last - first) / between for block, first, last in zip(kept, begin, end, strict=True)}


def _total_cycles(file: Path, cpu: str, iterations: int) -> list[int]:
    run = subprocess.run(llvm_mca_command(file, cpu, iterations), capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    return [int(line.removeprefix(_CYCLES)) for line in lines if line.startswith(_CYCLES)]


if __name__ == "__main__":
    main()
