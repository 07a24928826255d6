"""Blocks per second, against llvm-mca: ``python benchmarks/throughput.py [--blocks N]``.

Both programs get the same blocks in one process on one core, with their start-up, and take turns; output
goes nowhere, and bytecode is cached, as pip does when it installs the package. Cyclelens predicts them as
loops. llvm-mca reads them as assembly, one region per block, with its default of 100 iterations. The figure
is user and system time; the ratio is llvm-mca's to ours of the same turn: above 1, Cyclelens is faster.
``LLVM_MCA=PATH``: another llvm-mca than the installed one (Zen 5 is known to LLVM 20 and later). ``--mcpu``:
another core for an llvm-mca that does not know ours.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from cyclelens.analyzer.other_tools.llvm_mca import LLVM_MCA
from measuring import (
    CYCLELENS,
    cpu_seconds,
    describe,
    llvm_mca_command,
    llvm_mca_version,
    print_table,
    real_blocks,
    spread,
    with_bytecode,
    write_for_llvm_mca,
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Blocks per second, against llvm-mca.")
    parser.add_argument("--blocks", type=int, default=5000, metavar="N")
    parser.add_argument("--source", choices=("auto", "corpus", "reference", "examples"), default="auto")
    parser.add_argument("--turns", type=int, default=5, metavar="N")
    parser.add_argument("--arch", choices=LLVM_MCA.cores, default="SKL")
    parser.add_argument("--mode", choices=("loop", "unroll"), default="loop")
    parser.add_argument("--mcpu", metavar="CORE", help="llvm-mca's name of the core, if not that of --arch")
    options = parser.parse_args()

    options.mcpu = options.mcpu or LLVM_MCA.cores[options.arch]
    version = llvm_mca_version()
    describe()
    print(f"{version}, --mcpu={options.mcpu}; Cyclelens --arch {options.arch} --mode {options.mode}")
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder), options)


def compare(folder: Path, options: argparse.Namespace) -> None:
    cpu = options.mcpu
    description, blocks = real_blocks(options.blocks, options.source)
    assembly, one_assembly = folder / "blocks.s", folder / "one.s"
    blocks = write_for_llvm_mca(blocks, assembly, cpu)
    print(f"{description}, {len(blocks)} of them known to llvm-mca\n")
    if not blocks:
        raise SystemExit(f"this llvm-mca knows none of them on {cpu}: --mcpu={cpu} may need a newer LLVM")
    code, one_code = folder / "blocks.hex", folder / "one.hex"
    code.write_text("\n".join(blocks) + "\n")
    one_code.write_text(blocks[0] + "\n")
    write_for_llvm_mca(blocks[:1], one_assembly, cpu)

    ours = [*CYCLELENS, "predict", "--arch", options.arch, "--mode", options.mode]
    runs: dict[str, list[float]] = {
        "cyclelens": [],
        "llvm-mca": [],
        "cyclelens, one block": [],
        "llvm-mca, one block": [],
    }
    cached = with_bytecode(str(folder))
    cpu_seconds(ours, one_code, cached)
    for _ in range(options.turns):
        runs["cyclelens"].append(cpu_seconds(ours, code, cached))
        runs["llvm-mca"].append(cpu_seconds(llvm_mca_command(assembly, cpu)))
        runs["cyclelens, one block"].append(cpu_seconds(ours, one_code, cached))
        runs["llvm-mca, one block"].append(cpu_seconds(llvm_mca_command(one_assembly, cpu)))

    print_table(
        ["user + system, median (min..max)", "ms", "us per block"],
        [
            [name, spread([1e3 * value for value in times], 0), *_per_block(name, times, len(blocks))]
            for name, times in runs.items()
        ],
    )
    whole = [theirs / mine for mine, theirs in zip(runs["cyclelens"], runs["llvm-mca"], strict=True)]
    start, llvm_mca_start = (
        statistics.median(runs[f"{name}, one block"]) for name in ("cyclelens", "llvm-mca")
    )
    inner = [
        (theirs - llvm_mca_start) / (mine - start)
        for mine, theirs in zip(runs["cyclelens"], runs["llvm-mca"], strict=True)
    ]
    print(f"\nratio llvm-mca / cyclelens: {spread(whole)}; without start-up: {spread(inner)}")


def _per_block(name: str, times: list[float], count: int) -> list[str]:
    return ["" if "one block" in name else spread([1e6 * value / count for value in times], 0)]


if __name__ == "__main__":
    main()
