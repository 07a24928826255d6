"""``cyclelens measure``: measures regions or blocks on this machine."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cyclelens.analyzer.cli import working_sets
from cyclelens.analyzer.cli.common import add_analysis_arguments, analyze_file, title_of
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.regular_files import AT_ONCE, open_text, read_given
from cyclelens.analyzer.common.usage import OK, PROBLEMS, new_parser, output_path
from msgspec.structs import asdict

if TYPE_CHECKING:
    from cyclelens.analyzer.measuring.harness import Harness
    from cyclelens.analyzer.measuring.region import Comparison
    from cyclelens.analyzer.measuring.repeated import Measuring
    from cyclelens.analyzer.measuring.requests import Measurement
    from cyclelens.analyzer.model.microarchitecture import Microarchitecture
    from cyclelens.analyzer.model.result import RegionAnalysis

_HEADER = ("hex", "measured_cycles", "spread", "pages", "states", "switched", "faulted", "problem")


def main(arguments: list[str]) -> int:
    """Print predictions and measurements. Returns 1 if something could not be measured."""
    parser = new_parser(
        "measure",
        "Run the regions of a file on this machine, in a sandbox, and compare their cycles with the "
        "prediction. With --blocks, measure blocks of machine code from standard input and write CSV; of CSV "
        "with a column hex, as cyclelens corpus extract writes it, the other columns are kept.",
    )
    parser.add_argument("--blocks", action="store_true", help="read blocks, one per line in hexadecimal")
    if "--blocks" in arguments:
        _add_block_arguments(parser)
    else:
        add_analysis_arguments(parser)
        parser.add_argument("--format", choices=("text", "json"), default="text")
        parser.add_argument(
            "--inputs", type=Path, metavar="FILE", help="registers and memory at the start: rsi = 0x10000"
        )
        working_sets.add_arguments(parser)
    _add_clock_arguments(parser)
    options = parser.parse_args(arguments)

    from cyclelens.analyzer.measuring.harness import MILLISECONDS, CannotMeasure, Harness
    from cyclelens.analyzer.model.choices import Clocks, Pages

    limit = MILLISECONDS if options.blocks else working_sets.time_limit(options)
    try:
        with Harness(clock=Clocks(options.clock), pages=Pages(options.pages), milliseconds=limit) as harness:
            if not options.blocks:
                return _file(harness, options)
            with _rejecting(harness, options) as measuring:
                return _blocks(measuring, options)
    except CannotMeasure as error:
        raise InputError(f"nothing can be measured here: {error}") from None


def _add_clock_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--clock",
        choices=("auto", "counters", "time-stamps"),
        default="auto",
        help="source of cycles (default: the processor's counters if programs may read them)",
    )
    parser.add_argument(
        "--pages",
        choices=("private", "shared"),
        default="private",
        help="data pages: separate ones (default), or one physical page for all, as in the BHive profiler",
    )
    parser.add_argument(
        "--runs", type=_count, default=3, metavar="N", help="processes per figure (default: 3)"
    )


def _add_block_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mode",
        choices=("unroll", "loop", "copies"),
        required=True,
        help="unroll: copies end to end, decoded anew; loop: one block in a counted loop; copies: about 256 "
        "instructions of copies in that loop",
    )
    parser.add_argument(
        "--fill",
        choices=("own", "bhive"),
        default="own",
        help="value of every register and word of memory: own: 0x2324000 (default); bhive: 0x12345600, as in "
        "BHive's paper",
    )
    parser.add_argument(
        "--reject-events",
        action="store_true",
        help="leave out blocks that miss the first-level data cache or cross cache lines, as BHive does; "
        "without performance counters only those with a page fault in every sample",
    )
    parser.add_argument(
        "--output", type=output_path, metavar="FILE.csv", help="write to this file, and resume where it ends"
    )


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 100:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to 99")
    return int(text)


# ---------------------------------------------------------------------------------------------------------
# Blocks


@contextmanager
def _rejecting(harness: Harness, options: argparse.Namespace) -> Iterator[Measuring]:
    """The harness, with the events of ``--reject-events`` where they are counted. Raises InputError for
    a core whose events are not known."""
    if not options.reject_events:
        yield harness
        return
    from cyclelens.analyzer.measuring.blocks import Rejecting
    from cyclelens.analyzer.measuring.harness import Harness
    from cyclelens.analyzer.microarchitectures import registry
    from cyclelens.analyzer.microarchitectures.events import events
    from cyclelens.analyzer.model.choices import Clocks, Pages

    if harness.clock.source is not Clocks.COUNTERS:
        # The harness leaves out samples with context switches and page faults in any case.
        print(
            "note: no performance counters count here, so that --reject-events rejects by context switches "
            "and page faults alone",
            file=sys.stderr,
        )
        yield harness
        return
    model = registry.native()
    known = None if model is None else events(model)
    if known is None or not known.disturbing:
        raise InputError("--reject-events: the events of this machine's core are not known")
    raw = tuple(known.disturbing)
    with Harness(clock=Clocks.COUNTERS, events=raw, pages=Pages(options.pages)) as counting:
        yield Rejecting(harness, counting, tuple(known.disturbing.values()))


def _blocks(harness: Measuring, options: argparse.Namespace) -> int:
    from cyclelens.analyzer.measuring.blocks import measure_block
    from cyclelens.analyzer.measuring.requests import BHIVE, SAME
    from cyclelens.analyzer.model.choices import Repetition
    from tqdm import tqdm

    kept, rows = _given(sys.stdin)
    header = (*_HEADER, *kept)
    done = _finished(options.output, header)
    inputs = BHIVE if options.fill == "bhive" else SAME
    found: dict[str, Measurement] = {}
    failed = 0
    stream = sys.stdout if options.output is None else options.output.open("a", newline="")
    try:
        writer = csv.writer(stream, lineterminator="\n")
        if not done:
            writer.writerow(header)
        for block, *others in tqdm(
            rows[len(done) :], initial=len(done), total=len(rows), unit=" blocks", disable=None
        ):
            if block not in found:
                found[block] = measure_block(harness, block, Repetition(options.mode), options.runs, inputs)
            result = found[block]
            failed += result.cycles is None
            cycles = "" if result.cycles is None else f"{result.cycles:.4f}"
            spread = "" if result.cycles is None else f"{result.spread:.4f}"
            states = " ".join(f"{state.cycles:.4f}:{state.share:.2f}" for state in result.states)
            pages = "" if result.cycles is None else result.pages
            left_out = (result.switched, result.faulted)
            writer.writerow((block, cycles, spread, pages, states, *left_out, result.problem, *others))
            stream.flush()
    finally:
        if options.output is not None:
            stream.close()
    return PROBLEMS if failed else OK


def _given(stream: Iterable[str]) -> tuple[list[str], list[list[str]]]:
    """Names of further columns, and rows of a block and these columns: one block per line, or CSV with a
    header."""
    lines = [line.strip() for line in stream if line.strip()]
    header = next(csv.reader(lines[:1]), [])
    if "hex" not in header:
        return [], [[line] for line in lines]
    kept = [name for name in header if name not in _HEADER]
    return kept, [[row["hex"] or "", *(row[name] or "" for name in kept)] for row in csv.DictReader(lines)]


def _finished(output: Path | None, header: tuple[str, ...]) -> list[str]:
    """The blocks that a file already has. Raises InputError if another command wrote the file."""
    if output is None or not output.exists() or not output.stat().st_size:
        return []
    try:
        with open_text(output) as stream:
            rows = list(csv.reader(stream))
    except OSError as error:
        raise InputError(f"{output} cannot be read: {error.strerror or error}") from None
    except csv.Error:
        rows = []
    if not rows or tuple(rows[0]) != header:
        raise InputError(f"{output} was not written by this command")
    return [row[0] for row in rows[1:]]


# ---------------------------------------------------------------------------------------------------------
# Regions


def _file(harness: Harness, options: argparse.Namespace) -> int:
    from cyclelens.analyzer.measuring.inputs import InputsError, read_inputs
    from cyclelens.analyzer.measuring.predicted import compare
    from cyclelens.analyzer.measuring.requests import DISTINCT

    inputs = DISTINCT
    try:
        if options.inputs is not None:
            inputs = read_inputs(read_given(options.inputs, AT_ONCE).decode("utf-8"))
    except OSError as error:
        raise InputError(f"{options.inputs} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise InputError(f"{options.inputs}: {error}") from None
    model = _model(options)
    analysis = analyze_file(options)
    if options.working_set:
        return working_sets.run(harness, options, analysis, model, inputs)
    rows = []
    for region in analysis.regions:
        try:
            rows.append((region, compare(harness, region, model, inputs=inputs, runs=options.runs)))
        except InputsError as error:
            raise InputError(f"{title_of(region)}: {error}") from None
    if not rows:
        raise InputError(f"{options.file}: no region to measure")
    if options.format == "json":
        print(json.dumps([_as_json(harness, region, found, model) for region, found in rows], indent=2))
    else:
        for region, found in rows:
            for line in _as_text(harness, region, found, model):
                print(line)
    return OK if all(found.measured.cycles is not None for _, found in rows) else PROBLEMS


def _model(options: argparse.Namespace) -> Microarchitecture | None:
    """The model that predicts: that of ``--arch``, or of this machine. The analysis covers it alone. Raises
    InputError."""
    from cyclelens.analyzer.microarchitectures import registry

    names = options.microarchitectures
    if names is not None and len(names) > 1:
        raise InputError("--arch: name one model, not several")
    options.core_in_report = options.core_is_said = (
        True  # named beside every figure, or the reason why there is none
    )
    model = registry.native() if names is None else registry.get(names[0])
    if model is not None:
        options.microarchitectures = (model.name,)
    return model


def _as_text(
    harness: Harness, region: RegionAnalysis, found: Comparison, model: Microarchitecture | None
) -> Iterator[str]:
    from cyclelens.analyzer.insight.work import pace, work_of
    from cyclelens.analyzer.measuring.predicted import without_figure
    from cyclelens.analyzer.measuring.states import described
    from cyclelens.analyzer.microarchitectures import registry

    measured, work = found.measured, work_of(region)
    yield f"== {title_of(region)} =="
    if measured.cycles is None:
        yield f"   Not measured: {measured.problem}."
        return
    if model is None:
        yield f"   Predicted:  {working_sets.NO_MODEL.format(registry.own_name())}"
    elif found.predicted is None:
        yield f"   Predicted:  {without_figure(region, model.name)} ({model.name})"
    else:
        yield f"   Predicted:  {pace(found.predicted, work)} ({model.name})"
        if model is not registry.native():
            yield f"   Model:      of {model.title}; this machine is different: {registry.own_name()}"
        elif registry.native_doubt():
            yield f"   Processor:  {registry.own_name()}"
    source = harness.clock.source
    yield f"   Measured:   {pace(measured.cycles, work)}, spread {measured.spread:.1%}, by {source}"
    if found.verdict:
        yield f"   Verdict:    {found.verdict}"
    if harness.clock.caution:
        yield f"   Caution:    {harness.clock.caution}"
    if left_out := _left_out(measured):
        yield f"   Left out:   {left_out}"
    if states := described(measured.states):
        yield f"   States:     {states}"
    if found.note:
        yield f"   Code:       {found.note}"
    if not found.agrees:
        for cause in found.causes or ("no known assumption explains the difference",):
            yield f"   Difference: {cause}"


def _left_out(measured: Measurement) -> str:
    """Samples that do not count, by reason; empty if there are none."""
    reasons = {"context switches": measured.switched, "page faults": measured.faulted}
    return ", ".join(
        f"{number} sample{'s' * (number != 1)} with {reason}" for reason, number in reasons.items() if number
    )


def _as_json(
    harness: Harness, region: RegionAnalysis, found: Comparison, model: Microarchitecture | None
) -> dict[str, object]:
    return {
        "name": region.region.name,
        "microarchitecture": None if model is None else model.name,
        "predicted": found.predicted,
        "measured": found.measured.cycles,
        "spread": found.measured.spread,
        "steady_states": [asdict(state) for state in found.measured.states],
        "left_out": {"context_switches": found.measured.switched, "page_faults": found.measured.faulted},
        "problem": found.measured.problem,
        "clock": harness.clock.source,
        "note": found.note,
        "agrees": found.agrees,
        "causes": list(found.causes),
    }
