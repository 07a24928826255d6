"""``cyclelens analyze``: the regions of an assembly file, or of a function in an object file, as a report."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cyclelens.analyzer.cli.argument_types import frequency, positive
from cyclelens.analyzer.cli.common import (
    add_analysis_arguments,
    add_data_arguments,
    add_profile_argument,
    analysis_options,
    analyze_data,
    is_clean,
)
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.usage import OK, PROBLEMS, group, new_parser
from cyclelens.analyzer.engine.files import read_bytes, to_text
from cyclelens.analyzer.frontend.objects.formats import is_object
from msgspec.structs import replace

if TYPE_CHECKING:
    from cyclelens.analyzer.model.analysis_options import Detail
    from cyclelens.analyzer.model.result import Analysis

FORMATS = ("text", "json", "markdown", "html", "sarif", "dot", "svg")


def main(arguments: list[str]) -> int:
    """Runs ``cyclelens analyze``: arguments, file, analysis, report. Returns 1 if the text has problems."""
    options = _parsed(arguments)
    if options.list_functions:
        for line in _list_functions(options):
            print(line)
        return OK
    data = read_bytes(options.file)
    if options.hex or options.raw:
        data = _object_file(data, options)
    analysis = analyze_data(data, options, _detail(options))
    _print(analysis, options)
    for line in _additions(analysis, options):
        print(line)
    if _can_be_completed(analysis):
        sys.stderr.write(
            f"cyclelens: instructions without figures can be measured here: cyclelens characterize "
            f"--missing {options.file} --data own.sqlite\n"
        )
    return OK if is_clean(analysis) else PROBLEMS


def _parsed(arguments: list[str]) -> argparse.Namespace:
    parser = new_parser(
        "analyze",
        "Analyse the marked regions of an assembly file, or the loops of a function in an object file.",
    )
    add_analysis_arguments(parser)
    add_data_arguments(parser)
    add_profile_argument(parser)
    from cyclelens.analyzer.evaluation.arguments import add_ablation_arguments

    add_ablation_arguments(parser)
    parser.add_argument(
        "--list-functions",
        action="store_true",
        help="only list the functions: address, size and name in ELF files, lines and name in texts",
    )
    bare = parser.add_mutually_exclusive_group()
    bare.add_argument(
        "--hex", action="store_true", help="the file is bare machine code in hexadecimal (48 01 d8 ...)"
    )
    bare.add_argument("--raw", action="store_true", help="the file is bare machine code in binary")
    parser.add_argument("--format", choices=FORMATS, default="text", help="of the report (default: text)")
    parser.add_argument("--trace", action="store_true", help="add the timeline of every uop")
    parser.add_argument(
        "--account", action="store_true", help="show for every issue slot what used it or why it was lost"
    )
    parser.add_argument(
        "--critical-path",
        action="store_true",
        help="add each line's part of the critical path of one iteration and of the loop-carried dependency",
    )
    speed = group(parser, "the figure at a clock", rare=True)
    speed.add_argument(
        "--frequency",
        type=frequency,
        metavar="HZ",
        help="add iterations and floating-point operations per second at this clock (3.5GHz)",
    )
    speed.add_argument(
        "--unroll-factor",
        type=positive,
        default=1,
        metavar="N",
        help="with --frequency: iterations of the source in one of the region's (default: 1)",
    )
    options = parser.parse_args(arguments)
    if options.format != "text" and (options.critical_path or options.frequency):
        parser.error("--critical-path and --frequency need --format text")
    options.core_in_report = True
    return options


def _detail(options: argparse.Namespace) -> Detail:
    from cyclelens.analyzer.model.analysis_options import Detail

    # HTML is read at leisure, so it includes everything.
    full = options.format == "html"
    return Detail(prices=True, trace=full or options.trace, account=full or options.account)


def _print(analysis: Analysis, options: argparse.Namespace) -> None:
    if options.format == "text" and sys.stdout.isatty():
        _show(analysis, options.file)
        return
    from cyclelens.analyzer.reports.registry import render

    print(render(analysis, options.file, options.format), end="")


def _additions(analysis: Analysis, options: argparse.Namespace) -> Iterator[str]:
    """What ``--critical-path`` and ``--frequency`` add below the report."""
    if not options.critical_path and not options.frequency:
        return
    from cyclelens.analyzer.reports import speed

    for region in analysis.regions:
        for prediction in region.predictions:
            yield f"\n== {region.region.name} on {prediction.microarchitecture} =="
            if options.frequency:
                yield speed.at_clock(prediction, options.frequency, options.unroll_factor)
            if options.critical_path:
                yield from speed.critical_paths(region, prediction)


def _can_be_completed(analysis: Analysis) -> bool:
    """Whether the core of this machine, which could measure them, lacks figures of instructions."""
    from cyclelens.analyzer.measuring.harness import PROGRAM
    from cyclelens.analyzer.microarchitectures import registry
    from cyclelens.analyzer.uops.left_out import unmodelled, without_record

    lacking = [
        (each.microarchitecture, region, index)
        for region in analysis.regions
        for each in region.predictions
        for index in without_record(each.instructions)
    ]
    lacking += [
        (each.microarchitecture, region, index)
        for region in analysis.regions
        for each in region.missing
        for index in each.instructions * bool(each.left_out)
    ]
    if not lacking or not PROGRAM.exists():
        return False
    own = registry.native()
    return own is not None and any(
        name == own.name and not unmodelled(region.region.instructions[index])
        for name, region, index in lacking
    )


def _list_functions(options: argparse.Namespace) -> Iterator[str]:
    """One line per function of a file: address and size in an ELF file, lines in a text. Raises InputError if
    the file cannot be read or has no functions."""
    file = options.file
    data = read_bytes(file)
    if not is_object(data):
        from cyclelens.analyzer.frontend.assemble import assemble

        assembled = assemble(to_text(data), replace(analysis_options(options).source, function=""))
        if not assembled.functions:
            raise InputError(f"{file}: it contains no function")
        for name, first, last in assembled.functions:
            yield f"lines {first + 1:6} to {last + 1:6}  {name}"
        return

    from cyclelens.analyzer.frontend.objects.elf import ObjectFile
    from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError

    try:
        found = ObjectFile(data)
        for function in (*found.functions, *found.unnamed()):
            yield f"{function.address - function.origin:#12x} {function.size:8}  {function.name}"
    except ObjectFileError as error:
        raise InputError(f"{file}: {error}") from None


def _object_file(data: bytes, options: argparse.Namespace) -> bytes:
    """Bare machine code wrapped in an object file, whose function is analysed. Raises InputError."""
    from cyclelens.analyzer.frontend.objects.raw_code import NAME, RawCodeError, from_hexadecimal, object_of

    options.function = options.function or NAME
    try:
        return object_of(from_hexadecimal(to_text(data)) if options.hex else data)
    except RawCodeError as error:
        raise InputError(f"{options.file}: {error}") from None


def _show(analysis: Analysis, file: str) -> None:
    """Print the report at the terminal's width, in colour unless NO_COLOR is set or the terminal is dumb."""
    from shutil import get_terminal_size

    from cyclelens.analyzer.common.escaping import painted
    from cyclelens.analyzer.reports.lines import COLOURS
    from cyclelens.analyzer.reports.text import lines

    coloured = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    for line in lines(analysis, file, get_terminal_size().columns):
        sys.stdout.write(painted(line.text, COLOURS[line.style] if coloured else ""))
        sys.stdout.write("\n")
