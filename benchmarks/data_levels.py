"""Measures loops with their data in each level of the caches and in memory, beside the predictions.

    python benchmarks/data_levels.py [--kernels copy,dot] [--sizes 16KiB,256KiB,8MiB,256MiB] [--plot F.svg]

Every loop has a form with SSE, AVX and, where this machine has it, AVX-512. Prints cycles per iteration and
the mean error by level. The tables of memory levels are not fitted to these loops.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

from cyclelens.analyzer.common.byte_sizes import parse_size, written_size
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.measuring.data_by_level import measure_by_size
from cyclelens.analyzer.measuring.harness import Harness
from cyclelens.analyzer.measuring.machine_memory import this_machine
from cyclelens.analyzer.measuring.requests import DISTINCT
from cyclelens.analyzer.measuring.size_plot import write_plot
from cyclelens.analyzer.measuring.working_sets import MILLISECONDS, SizeMeasurement
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target

SIZES = "16KiB,256KiB,8MiB,256MiB"
_AVX = {
    "copy": "vmovups (%rsi), {v}0; vmovups {v}0, (%rdi); add ${b}, %rsi; add ${b}, %rdi",
    "scale": "vmulpd (%rsi), {v}1, {v}0; vmovupd {v}0, (%rdi); add ${b}, %rsi; add ${b}, %rdi",
    "triad": "vmovupd (%rdx,%rax), {v}0; vfmadd213pd (%rsi,%rax), {v}1, {v}0; vmovupd {v}0, (%rdi,%rax); "
    "add ${b}, %rax",
    "dot": "vmovups (%rsi), {v}4; vfmadd231ps (%rdi), {v}4, {v}0; vmovups {b}(%rsi), {v}5; "
    "vfmadd231ps {b}(%rdi), {v}5, {v}1; vmovups 2*{b}(%rsi), {v}6; vfmadd231ps 2*{b}(%rdi), {v}6, {v}2; "
    "vmovups 3*{b}(%rsi), {v}7; vfmadd231ps 3*{b}(%rdi), {v}7, {v}3; add $4*{b}, %rsi; add $4*{b}, %rdi",
    "bytes": "vpsadbw (%rsi), {v}2, {v}0; vpaddq {v}0, {v}1, {v}1; add ${b}, %rsi",
    "stencil": "vmovupd -8(%rsi,%rax), {v}0; vaddpd 8(%rsi,%rax), {v}0, {v}0; vaddpd (%r8,%rax), {v}0, {v}0; "
    "vaddpd (%r9,%rax), {v}0, {v}0; vmulpd {v}0, {v}1, {v}0; vmovupd {v}0, (%rdi,%rax); add ${b}, %rax",
}
_SSE = {
    "copy": "movups (%rsi), %xmm0; movups %xmm0, (%rdi); add $16, %rsi; add $16, %rdi",
    "scale": "movupd (%rsi), %xmm0; mulpd %xmm1, %xmm0; movupd %xmm0, (%rdi); add $16, %rsi; add $16, %rdi",
    "triad": "movupd (%rdx,%rax), %xmm0; mulpd %xmm1, %xmm0; addpd (%rsi,%rax), %xmm0; "
    "movupd %xmm0, (%rdi,%rax); add $16, %rax",
    "dot": "movups (%rsi), %xmm4; mulps (%rdi), %xmm4; addps %xmm4, %xmm0; movups 16(%rsi), %xmm5; "
    "mulps 16(%rdi), %xmm5; addps %xmm5, %xmm1; movups 32(%rsi), %xmm6; mulps 32(%rdi), %xmm6; "
    "addps %xmm6, %xmm2; movups 48(%rsi), %xmm7; mulps 48(%rdi), %xmm7; addps %xmm7, %xmm3; "
    "add $64, %rsi; add $64, %rdi",
    "bytes": "movdqu (%rsi), %xmm0; psadbw %xmm2, %xmm0; paddq %xmm0, %xmm1; add $16, %rsi",
    "stencil": "movupd -8(%rsi,%rax), %xmm0; movupd 8(%rsi,%rax), %xmm2; addpd %xmm2, %xmm0; "
    "addpd (%r8,%rax), %xmm0; addpd (%r9,%rax), %xmm0; mulpd %xmm1, %xmm0; movupd %xmm0, (%rdi,%rax); "
    "add $16, %rax",
}
_CHASE = "mov (%rax), %rax"
_END = "dec %rcx; jnz 1b"
GOALS = {"L2": 0.15, "L3": 0.20, "memory": 0.25}


def kernels(names: frozenset[str], widest: int) -> Iterator[tuple[str, str]]:
    """Names and statements of the loops, for vectors of up to ``widest`` bits."""
    for name, statements in _SSE.items():
        if name in names:
            yield f"{name}-sse", statements
            for bits, register, title in ((256, "%ymm", "avx"), (512, "%zmm", "avx512")):
                if bits <= widest:
                    yield f"{name}-{title}", _AVX[name].format(v=register, b=bits // 8)
    if "chase" in names:
        yield "chase", _CHASE


def text_of(loops: list[tuple[str, str]]) -> str:
    """A file with a region for each loop."""
    return "".join(
        f"# cyclelens-begin {name}\n1:\n"
        + "\n".join(f"{statements}; {_END}".split("; "))
        + "\n# cyclelens-end\n"
        for name, statements in loops
    )


def _widest() -> int:
    words = Path("/proc/cpuinfo").read_text(encoding="ascii").split()
    return 512 if "avx512f" in words else 256 if "avx2" in words else 128


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kernels", default=",".join([*_SSE, "chase"]), help="names, comma-separated")
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--runs", type=int, default=1, help="processes per figure")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg")
    options = parser.parse_args()
    sizes = [size for each in options.sizes.split(",") if (size := parse_size(each))]
    model = registry.get("native")
    text = text_of(list(kernels(frozenset(options.kernels.split(",")), _widest())))
    analysis = Analyzer().analyze(text, AnalysisOptions(target=Target(microarchitectures=(model.name,))))
    found: dict[str, list[SizeMeasurement]] = {}
    with Harness(milliseconds=MILLISECONDS) as harness:
        print(f"{'cycles per iteration':16}", *(f"{written_size(size):>24}" for size in sizes))
        for region in analysis.regions:
            name = region.region.name
            found[name] = list(measure_by_size(harness, region, model, DISTINCT, sizes, options.runs))
            print(f"{name:20}", *map(_cell, found[name]), flush=True)
    print()
    _summary(found)
    if options.plot is not None:
        write_plot(options.plot, found, this_machine().caches, model.name)


def _cell(each: SizeMeasurement) -> str:
    if each.measured.cycles is None:
        return f"{'not measured':>24}"
    predicted = "?" if each.predicted is None else f"{each.predicted:.2f}"
    error = "" if each.difference is None else f"{each.difference:+.0%}"
    noisy = "~" if each.measured.spread > 0.05 else " "
    return f"{each.measured.cycles:>9.2f}{noisy}{predicted:>8}{error:>6}"


def _summary(found: dict[str, list[SizeMeasurement]]) -> None:
    """Mean error by level, and the share of figures within the goal."""
    levels = dict.fromkeys(each.level for rows in found.values() for each in rows)
    for level in levels:
        errors = [
            abs(each.difference)
            for rows in found.values()
            for each in rows
            if each.level == level and each.difference is not None
        ]
        spreads = [each.measured.spread for rows in found.values() for each in rows if each.level == level]
        if errors:
            goal = f", goal {GOALS[level]:.0%}" if level in GOALS else ""
            print(
                f"{level:7} mean error {mean(errors):.1%} of {len(errors)} figures{goal}; "
                f"largest {max(errors):.0%}; mean spread {mean(spreads):.1%}"
            )


if __name__ == "__main__":
    main()
