"""Measures the errors of llvm-mca on measured blocks:
``python benchmarks/llvm_mca_errors.py FILE.csv --arch ZEN5 --cpu znver5``.

FILE is an input of ``cyclelens evaluate`` with figures of one processor. Straight-line blocks and copies in a
loop are the same to llvm-mca, which models no front end and repeats each region. Blocks with an instruction
that it rejects are omitted.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from cyclelens.analyzer.isa.counted_loop import counted_loop
from cyclelens.analyzer.model.choices import Repetition
from measuring import (
    chosen_samples,
    llvm_mca_command,
    llvm_mca_version,
    print_errors,
    sample_parser,
    write_for_llvm_mca,
)

_CYCLES = "Total Cycles:"
_ITERATIONS = (100, 300)
"""Numbers of iterations; the figure is the difference, so that the start-up does not count."""


def main() -> None:
    parser = sample_parser("llvm-mca")
    parser.add_argument("--cpu", required=True, help="as llvm-mca calls it")
    options = parser.parse_args()
    print(f"{llvm_mca_version()}, --mcpu={options.cpu}")
    samples = chosen_samples(options)
    for mode in sorted({sample.mode for sample in samples}):
        truth = {_repeated(sample.code, mode): sample.cycles for sample in samples if sample.mode == mode}
        found = predicted([code for code in truth if code], options.cpu)
        print_errors(mode, [(cycles, truth[code]) for code, cycles in found.items()], len(truth))


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
