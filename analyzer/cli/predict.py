"""``cyclelens predict``: predicts many blocks of machine code; hexadecimal in, CSV out."""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Iterator
from io import BufferedReader, StringIO
from typing import TYPE_CHECKING

from cyclelens.analyzer.cli.argument_types import alignment
from cyclelens.analyzer.common.collection import collect_rarely
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.usage import OK, PROBLEMS, new_parser

if TYPE_CHECKING:
    from typing import Any

    from tqdm import tqdm

_READ_BYTES = 1 << 18
_BATCH, _SHARED_BATCH = 2048, 128
"""Number of blocks that go through a phase together, in one process and in each of several processes; the
latter should finish at about the same time."""


def _copies(text: str) -> int | None:
    if text == "auto":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is neither a number of copies nor auto")
    return int(text)


def _jobs(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of processes")
    return int(text)


def main(arguments: list[str]) -> int:
    """Run the subcommand and return its exit code."""
    # Do this first: even the imports for one block trigger several searches for reference cycles.
    collect_rarely()
    from cyclelens.analyzer.cli import predicted_corpus

    parser = new_parser(
        "predict",
        "Read blocks of machine code from standard input, one per line in hexadecimal, and write their "
        "cycles per iteration as CSV; with --input, do so with a file of blocks. A block that cannot be "
        "predicted has an empty figure and a reason; the exit code is then 1.",
    )
    parser.add_argument(
        "--arch",
        type=predicted_corpus.cores,
        required=True,
        metavar="A",
        help="microarchitecture; with --input several (A,B), or all",
    )
    parser.add_argument(
        "--mode",
        choices=("unroll", "loop"),
        required=True,
        help="unroll: repeat the block end to end; loop: append dec REG; jnz with a register it does not use",
    )
    parser.add_argument(
        "--copies",
        type=_copies,
        default=1,
        metavar="N|auto",
        help="with --mode loop: put N copies of the block into the loop and write the cycles of one copy; "
        "auto: copies of about 256 instructions, which hide the loop's overhead",
    )
    parser.add_argument(
        "--ranges",
        action="store_true",
        help="write two more columns, the range of the figure under other rules of binding uops to ports; "
        "takes about ten times as long",
    )
    parser.add_argument("--jobs", type=_jobs, default=1, metavar="N", help="processes (default: 1)")
    parser.add_argument(
        "--alignment",
        type=alignment,
        default=0,
        metavar="N",
        help="offset of each block's first byte within a 64-byte line (default: 0)",
    )

    from cyclelens.analyzer.evaluation.arguments import add_model_arguments, model_options

    add_model_arguments(parser)
    predicted_corpus.add_arguments(parser)
    options = parser.parse_args(arguments)
    chosen = model_options(parser, options)
    if options.copies != 1 and options.mode != "loop":
        parser.error("--copies needs --mode loop")
    if (options.input is None) != (options.output is None):
        parser.error("--input and --output go together")
    if options.ranges and options.input is not None:
        parser.error("--ranges needs blocks from standard input")
    if options.input is not None:
        return predicted_corpus.run(options, chosen)
    if len(options.arch) > 1 or "all" in options.arch:
        parser.error("several microarchitectures need --input")
    (arch,) = options.arch

    from cyclelens.analyzer.engine.prediction import BatchTask, predict_in_order
    from cyclelens.analyzer.facts.store import TablesUnavailable
    from cyclelens.analyzer.microarchitectures.values import confidence
    from cyclelens.analyzer.model.choices import Mode

    if doubts := confidence(arch):
        print(f"note: {arch}: confidence: {doubts}", file=sys.stderr)
    waiting: deque[str] = deque()

    def batches() -> Iterator[list[str]]:
        for batch in _batches_of_lines(_BATCH if options.jobs == 1 else _SHARED_BATCH):
            waiting.extend(batch)
            yield batch

    rows = StringIO()

    def put() -> None:
        """Write all finished rows at once."""
        sys.stdout.write(rows.getvalue())
        sys.stdout.flush()
        rows.seek(0)
        rows.truncate()

    task = BatchTask(arch, Mode(options.mode), options.alignment, chosen, options.copies)
    if options.ranges:
        # 31 modules that figures alone do not need.
        from cyclelens.analyzer.engine.binding_ranges import predict_with_ranges
        from cyclelens.analyzer.engine.many import predict_many

        results = predict_many(batches(), task, jobs=options.jobs, predict=predict_with_ranges)
    elif options.jobs > 1:
        from cyclelens.analyzer.engine.many import predict_many

        results = predict_many(batches(), task, jobs=options.jobs)
    else:
        results = predict_in_order(batches(), task)
    count = without = 0
    bar = _progress()
    try:
        rows.write(f"hex,cycles_per_iteration,problem{',least,most' if options.ranges else ''}\n")
        for result in results:
            cycles = result.cycles_per_iteration
            count += 1
            without += cycles is None
            block = waiting.popleft()
            if cycles is not None and block.isalnum() and not result.problem and not options.ranges:
                # Nothing needs quoting; the CSV writer would check every character.
                rows.write(f"{block},{cycles:.2f},\n")
            else:
                import csv  # rarely needed

                writer = csv.writer(rows, lineterminator="\n")
                row = [block, "" if cycles is None else f"{cycles:.2f}", result.problem]
                if options.ranges:
                    binding = result.port_binding
                    ends = (cycles, cycles) if binding is None else (binding.least, binding.most)
                    row += ["" if end is None else f"{end:.2f}" for end in ends]
                writer.writerow(row)
            if not waiting or count % _SHARED_BATCH == 0:
                put()
            if bar is not None:
                bar.update()
    except TablesUnavailable as error:
        raise InputError(error) from None
    finally:
        put()
        if bar is not None:
            bar.close()
    if without:
        print(
            f"cyclelens: {without} of {count} blocks have no figure; their rows say why",
            file=sys.stderr,
        )
        return PROBLEMS
    return OK


def _batches_of_lines(most: int) -> Iterator[list[str]]:
    """Batches of up to ``most`` lines of standard input, as many as have arrived, so that a program that
    writes one block and waits for its figure gets it."""
    pieces: list[bytes] = []
    stream: BufferedReader = sys.stdin.buffer  # type: ignore[assignment]
    while piece := stream.read1(_READ_BYTES):
        pieces.append(piece)
        if b"\n" in piece:
            lines = b"".join(pieces).split(b"\n")
            pieces = [lines.pop()]
            for start in range(0, len(lines), most):
                yield [line.decode(errors="replace").strip() for line in lines[start : start + most]]
    if last := b"".join(pieces):
        yield [last.decode(errors="replace").strip()]


def _progress() -> tqdm[Any] | None:
    """Progress bar on standard error; None if that is not a terminal."""
    if not sys.stderr.isatty():
        return None
    from tqdm import tqdm

    return tqdm(unit=" blocks", file=sys.stderr)
