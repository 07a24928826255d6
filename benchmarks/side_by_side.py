"""Compares measured and predicted cycles on this machine: 40 loops of one instruction and 20 kernels.

    python benchmarks/side_by_side.py [--runs 5] [--save FILE.csv]
    python benchmarks/side_by_side.py --measured FILE.csv   the same measurements beside other predictions

Errors are relative to the measurement. Code that this machine cannot run is listed but not counted.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import cyclelens
from measuring import describe, print_table

KERNELS = Path(__file__).with_name("side_by_side.s")
SINGLE = """\
add rax, rbx
adc rax, rbx
imul rax, rbx
lea rax, [rax + rbx * 2 + 8]
shl rax, cl
shld rax, rbx, 5
ror rax, 7
bswap rax
xchg rax, rbx
cmovz rax, rbx
popcnt rax, rbx
lzcnt rax, rax
pdep rax, rbx, rdi
mulx r8, r9, rbx
crc32 rax, rbx
mov rax, [rsi]
mov rsi, [rsi]
movzx eax, byte ptr [rsi]
mov [rdi], rax
add [rdi], rax
vmovups ymm0, [rsi]
vmovups [rdi], ymm0
vmulpd ymm0, ymm0, ymm1
vfmadd231ps ymm0, ymm1, ymm2
vfmadd231ps zmm0, zmm1, zmm2
vdivps ymm0, ymm1, ymm2
vsqrtpd xmm0, xmm1
vpaddd zmm0, zmm1, zmm2
vpmulld ymm0, ymm0, ymm1
vphaddd ymm0, ymm0, ymm1
vpermd ymm0, ymm1, ymm2
vpshufb ymm0, ymm0, ymm1
vpsrlvd ymm0, ymm0, ymm1
vblendvps ymm0, ymm1, ymm2, ymm3
vpclmulqdq xmm0, xmm0, xmm1, 0
vpternlogd zmm0, zmm1, zmm2, 0x96
vpcompressd zmm0 {k1} {z}, zmm1
vpcmpeqd k1, zmm0, zmm1
vcvtdq2ps ymm0, ymm1
vmovq rax, xmm0
""".splitlines()
WITHIN = 0.05
WORST = 12


def text() -> str:
    """The single-instruction loops and the kernels, each as a named region."""
    loops = (
        f"# cyclelens-begin {number}\n.L{number}:\n{statement}\ndec r15\njnz .L{number}\n# cyclelens-end\n"
        for number, statement in enumerate(SINGLE)
    )
    return KERNELS.read_text(encoding="utf-8") + "".join(loops)


def rows(runs: int, known: Mapping[str, float]) -> Iterator[tuple[str, float | None, float | None, str]]:
    """Name, predicted and measured cycles, and a note for each region."""
    for found in cyclelens.measure(text(), runs=runs):
        name = SINGLE[int(found.name)] if found.name.isdecimal() else found.name
        measured = known.get(name, found.cycles_per_iteration)
        # Earlier releases did not list these.
        states = getattr(found, "steady_states", ())
        said = " ".join(f"{cycles:.2f}:{share:.0%}" for cycles, share in states) if len(states) > 1 else ""
        yield name, found.predicted, measured, found.problem or said


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--save", type=Path, metavar="FILE.csv")
    parser.add_argument("--measured", type=Path, metavar="FILE.csv")
    options = parser.parse_args()
    known: dict[str, float] = {}
    if options.measured is not None:
        with options.measured.open(newline="") as stream:
            known = {row["name"]: float(row["measured"]) for row in csv.DictReader(stream)}
    describe()
    try:
        found = list(rows(1 if known else options.runs, known))
    except cyclelens.CannotMeasure as error:
        print(f"nothing can be measured here: {error}", file=sys.stderr)
        return 1
    if options.save is not None:
        with options.save.open("w", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(("name", "measured"))
            writer.writerows((name, measured) for name, _, measured, _ in found if measured is not None)
    report(found)
    return 0


def report(found: list[tuple[str, float | None, float | None, str]]) -> None:
    """Print all regions, their summary, and the worst."""
    table, errors = [], {}
    for name, predicted, measured, said in found:
        error = ""
        if predicted is not None and measured:
            errors[name] = predicted / measured - 1
            error = f"{errors[name]:+.1%}"
        figures = ["-" if each is None else f"{each:.2f}" for each in (predicted, measured)]
        table.append([name, *figures, error, said])
    print_table(["loop", "predicted", "measured", "error", ""], table)
    summary = []
    for title, chosen in (
        ("one instruction", [error for name, error in errors.items() if name in SINGLE]),
        ("kernels", [error for name, error in errors.items() if name not in SINGLE]),
        ("all", list(errors.values())),
    ):
        if chosen:
            mean = statistics.mean(map(abs, chosen))
            within = sum(abs(error) <= WITHIN for error in chosen) / len(chosen)
            summary.append([title, str(len(chosen)), f"{mean:.1%}", f"{within:.0%}"])
    print()
    print_table(["", "loops", "mean error", f"within {WITHIN:.0%}"], summary)
    worst = sorted(errors, key=lambda name: -abs(errors[name]))[:WORST]
    print("\nFurthest off:", "; ".join(f"{name} {errors[name]:+.1%}" for name in worst))


if __name__ == "__main__":
    sys.exit(main())
