"""``cyclelens cc``: compiles sources and shows the figures of their loops at the source lines."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cyclelens.analyzer.cli.common import (
    add_profile_argument,
    add_target_arguments,
    analysis_options,
    default_others,
    is_clean,
)
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.regular_files import STREAMED, open_regular
from cyclelens.analyzer.common.usage import OK, PROBLEMS, new_parser
from cyclelens.analyzer.engine.files import to_text
from cyclelens.analyzer.model.choices import Regions, Syntax
from msgspec.structs import replace

if TYPE_CHECKING:
    from cyclelens.analyzer.compiling.compiler import CompiledObject
    from cyclelens.analyzer.engine.analysis import Analyzer
    from cyclelens.analyzer.model.result import Analysis, RegionAnalysis
    from cyclelens.analyzer.model.source import Region, SourceLine

_POLL_SECONDS = 0.3
_LARGEST_SOURCE = 32 << 20


def main(arguments: list[str]) -> int:
    """Compile, and print the loops. Returns 1 if one of them has no figure."""
    parser = _parser()
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:split])
    command = arguments[split + 1 :]
    if not command:
        parser.error("give the compiler's command after --: cyclelens cc -- gcc -O3 -c x.c")
    if not options.watch:
        return _once(options, command)[0]
    while True:
        try:
            _, files = _once(options, command)
        except InputError as error:
            print(f"cyclelens: {error}", file=sys.stderr)
            files = {word for word in command if os.path.isfile(word)}
        sys.stdout.flush()
        _wait_for_change(files)
        print()


def _parser() -> argparse.ArgumentParser:
    parser = new_parser(
        "cc",
        "Compile as a command says (gcc, g++, clang, clang++, clang-cl, cl, rustc, cargo rustc) and show "
        "the cycles of the loops at the lines of the sources. The object files are not kept.",
    )
    parser.usage = "cyclelens cc [options] -- COMPILER ARGUMENTS"
    parser.add_argument(
        "--function",
        metavar="NAME",
        action="append",
        default=[],
        help="only this function, by its symbol or its name in the source; may be repeated",
    )
    parser.add_argument(
        "--line",
        type=_lines,
        metavar="[FILE:]N[-M]",
        help="only loops with an instruction compiled from these lines",
    )
    parser.add_argument(
        "--include-folder",
        action="version",
        version=str(Path(__file__).parents[1] / "compiling" / "include"),
        help="print the folder of cyclelens.h and cyclelens.rs, whose macros mark code, and exit",
    )
    parser.add_argument("--watch", action="store_true", help="repeat whenever a source changes")
    parser.add_argument(
        "--instructions", action="store_true", help="show below every line the instructions compiled from it"
    )
    parser.add_argument("--format", choices=("text", "json", "markdown", "html", "sarif"), default="text")
    add_target_arguments(parser)
    add_profile_argument(parser)
    default_others(parser)
    return parser


def _lines(text: str) -> tuple[str, int, int]:
    found = re.fullmatch(r"(?:(.+):)?(\d+)(?:-(\d+))?", text)
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is not a line: write 12, 12-20 or kernel.c:12")
    first = int(found[2])
    return found[1] or "", first, int(found[3] or first)


def _once(options: argparse.Namespace, command: Sequence[str]) -> tuple[int, set[str]]:
    """Compile and print once. Returns the exit code and the files that the figures depend on."""
    from cyclelens.analyzer.compiling.compiler import CompilationError, compile_as_told
    from cyclelens.analyzer.engine.analysis import Analyzer
    from cyclelens.analyzer.facts.store import TablesUnavailable

    try:
        compiled = compile_as_told(command)
    except CompilationError as error:
        raise InputError(error) from None
    try:
        analyses = [_analysis(Analyzer(), each, options) for each in compiled]
    except TablesUnavailable as error:
        raise InputError(error) from None
    analysis = replace(
        analyses[0],
        regions=tuple(region for each in analyses for region in each.regions),
        branchings=tuple(branching for each in analyses for branching in each.branchings),
        problems=tuple(problem for each in analyses for problem in each.problems),
    )
    if not analysis.regions:
        raise InputError(f"{' '.join(each.source for each in compiled) or 'the crate'}: {_nothing(options)}")
    files = {line.file for region in analysis.regions for line in region.region.lines if line.file}
    _print(analysis, options, files, compiled[0].source)
    seen = {*files, *(each.source for each in compiled)}
    return OK if is_clean(analysis) else PROBLEMS, {file for file in seen if os.path.isfile(file)}


def _nothing(options: argparse.Namespace) -> str:
    if options.line is not None:
        return "no loop has an instruction compiled from there"
    return "no loop was found; the compiler may remove code that is not called (static, -O2)"


def _analysis(analyzer: Analyzer, compiled: CompiledObject, options: argparse.Namespace) -> Analysis:
    from cyclelens.analyzer.frontend.objects.elf import ObjectFile
    from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError
    from cyclelens.analyzer.frontend.objects.machine_code import outermost
    from cyclelens.analyzer.profiles.profile import ProfileError

    options.file = compiled.source or "-"
    options.core_in_report = True
    chosen = analysis_options(options)
    source = replace(chosen.source, syntax=Syntax.INTEL, regions=Regions.MARKERS)
    chosen = replace(chosen, source=source)
    try:
        file = ObjectFile(compiled.data)
        functions = outermost(file.functions)
        if options.function:
            named = [
                each for each in functions if any(_is_called(each.name, name) for name in options.function)
            ]
            functions = named or [file.find(name) for name in options.function]
        return analyzer.analyze_functions(file, functions, chosen, _chosen(options))
    except ObjectFileError as error:
        raise InputError(f"{compiled.source or 'the object file'}: {error}") from None
    except ProfileError as error:
        raise InputError(error) from None


def _is_called(symbol: str, name: str) -> bool:
    """Whether a symbol names a function. Mangled names of C++ and Rust hold each part of the plain name after
    its length."""
    return symbol == name or (symbol.startswith(("_Z", "_R")) and f"{len(name)}{name}" in symbol)


def _chosen(options: argparse.Namespace) -> Callable[[Region], bool]:
    if options.line is None:
        return lambda region: True
    file, first, last = options.line

    def is_there(line: SourceLine) -> bool:
        same = not file or line.file == file or line.file.endswith(f"/{file}")
        return same and first <= line.line + 1 <= last

    return lambda region: any(map(is_there, region.lines))


def _print(analysis: Analysis, options: argparse.Namespace, files: Iterable[str], source: str) -> None:
    from cyclelens.analyzer.reports import source as at_lines
    from cyclelens.analyzer.reports.registry import render

    if options.format == "text":
        sources = {file: _text(file).splitlines() for file in files}
        for line in at_lines.text(_nearest(analysis), sources, instructions=options.instructions):
            print(line)
    elif options.format == "json":
        print(at_lines.render_json(_nearest(analysis)), end="")
    else:
        print(render(analysis, source or "crate", options.format), end="")


def _nearest(analysis: Analysis) -> Analysis:
    """The analysis with its regions in source order."""
    from cyclelens.analyzer.insight.source_lines import home

    def place(region: RegionAnalysis) -> tuple[str, int]:
        return home(region.region.lines)

    return replace(analysis, regions=tuple(sorted(analysis.regions, key=place)))


def _text(file: str) -> str:
    try:
        with open_regular(file, STREAMED) as opened:
            return to_text(opened.read(_LARGEST_SOURCE))
    except OSError:  # it may be on another machine, like the sources of the standard library
        return ""


def _wait_for_change(files: Iterable[str]) -> None:
    before = {file: _stamp(file) for file in files}
    while all(_stamp(file) == stamp for file, stamp in before.items()):
        time.sleep(_POLL_SECONDS)


def _stamp(file: str) -> tuple[int, int]:
    """Modification time and size of a file; editors may replace it, so it may be missing for a moment."""
    try:
        found = os.stat(file)
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)
