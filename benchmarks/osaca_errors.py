"""Measures the errors of OSACA on measured blocks:
``python benchmarks/osaca_errors.py FILE.csv --arch ZEN3 --every 20``.

FILE is an input of ``cyclelens evaluate`` with figures of one processor. Straight-line blocks and copies in a
loop are the same to OSACA, which models no front end. Blocks with an instruction that it has no data for are
omitted. Its Python package has to be installed beside this one, or on ``PYTHONPATH``: one process serves all
blocks, because a process for each would mostly read the model of the core anew.
"""

from __future__ import annotations

import io
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path

from cyclelens.analyzer.frontend.assemblers.external import ProgramResult
from cyclelens.analyzer.isa.counted_loop import counted_loop
from cyclelens.analyzer.model.choices import Repetition
from cyclelens.analyzer.other_tools.osaca import OSACA
from cyclelens.analyzer.other_tools.tool import ToolError
from measuring import att_text, chosen_samples, print_errors, sample_parser


def main() -> None:
    options = sample_parser("OSACA").parse_args()
    print(f"OSACA {import_module('osaca').__version__}, {OSACA.cores[options.arch]}")
    samples = chosen_samples(options)
    for mode in sorted({sample.mode for sample in samples}):
        chosen = [sample for sample in samples if sample.mode == mode]
        found = [(predicted(sample.code, mode, options.arch), sample.cycles) for sample in chosen]
        pairs = [(figure, cycles) for figure, cycles in found if figure is not None]
        print_errors(mode, pairs, len(chosen))


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
    library = import_module("osaca.osaca")
    report = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        listing = Path(folder) / "block.s"
        listing.write_text(f"{text}\n")
        arguments = ["--arch", OSACA.cores[core], "--syntax", "ATT", str(listing)]
        chosen = library.create_parser().parse_args(arguments)
        with chosen.file:
            library.run(chosen, output_file=report)
    try:
        return OSACA.figure([ProgramResult(0, report.getvalue().encode(), "")])
    except ToolError:
        return None


if __name__ == "__main__":
    main()
