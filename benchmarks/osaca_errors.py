"""Measures the errors of OSACA on measured blocks:
``python benchmarks/osaca_errors.py FILE.csv --arch ZEN3 --every 20``.

FILE is an input of ``cyclelens evaluate`` with figures of one processor. Straight-line blocks and copies in a
loop are the same to OSACA, which models no front end. Blocks with an instruction that it has no data for are
omitted. It has to be on PATH, and takes about a second for each block.
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path

from cyclelens.analyzer.evaluation.datasets import Selection, read_samples
from cyclelens.analyzer.evaluation.metrics import mean_error, share_within
from cyclelens.analyzer.isa.counted_loop import counted_loop
from cyclelens.analyzer.model.choices import Repetition
from cyclelens.analyzer.other_tools.osaca import OSACA
from cyclelens.analyzer.other_tools.tool import ToolError
from measuring import att_text


def main() -> None:
    parser = argparse.ArgumentParser(description="The errors of OSACA on measured blocks.")
    parser.add_argument("file", type=Path, metavar="FILE.csv")
    parser.add_argument("--arch", required=True, help="the processor that the file is about")
    parser.add_argument("--max-spread", type=float, metavar="P%")
    parser.add_argument("--max-pages", type=int, metavar="N")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth figure")
    options = parser.parse_args()
    print(f"OSACA {OSACA.version()}, {OSACA.cores[options.arch]}")
    selection = Selection(
        microarchitectures=(options.arch,),
        max_spread=None if options.max_spread is None else options.max_spread / 100,
        max_pages=options.max_pages,
    )
    samples = read_samples(options.file, selection)[:: options.every]
    for mode in sorted({sample.mode for sample in samples}):
        chosen = [sample for sample in samples if sample.mode == mode]
        found = [(predicted(sample.code, mode, options.arch), sample.cycles) for sample in chosen]
        pairs = [(figure, cycles) for figure, cycles in found if figure is not None]
        if not pairs:
            print(f"{mode}: none of {len(chosen)} blocks")
            continue
        print(
            f"{mode}: {len(pairs)} of {len(chosen)} blocks, "
            f"mean error {mean_error(pairs):.1%}, within 5 % {share_within(pairs, 0.05):.1%}"
        )


def predicted(code: str, mode: Repetition, core: str) -> float | None:
    """Cycles per iteration of a block; None if OSACA has none."""
    if mode is not Repetition.LOOP:
        return _figure(att_text(bytes.fromhex(code)), core)
    looped = counted_loop(bytes.fromhex(code), 1)
    if looped is None:
        return None
    # OSACA reads no jump to a number.
    *body, _ = att_text(looped).splitlines()
    return _figure("\n".join(["start:", *body, "jne start"]), core)


@cache
def _figure(text: str, core: str) -> float | None:
    try:
        return OSACA.cycles(text, core, lambda: False)
    except ToolError:
        return None


if __name__ == "__main__":
    main()
