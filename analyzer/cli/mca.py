"""``cyclelens mca``: reads what llvm-mca reads, with its options, and prints in its shape."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cyclelens.analyzer.cli.argument_types import positive
from cyclelens.analyzer.cli.common import add_settings, analysis_options, analyze_data, default_others
from cyclelens.analyzer.common.suggestions import did_you_mean
from cyclelens.analyzer.common.usage import OK, PROBLEMS, new_parser, output_path
from cyclelens.analyzer.engine.files import NO_REGION, read_text
from cyclelens.analyzer.model.source import UNKNOWN_LINE
from msgspec.structs import replace

if TYPE_CHECKING:
    from cyclelens.analyzer.model.analysis_options import Detail
    from cyclelens.analyzer.model.result import Analysis

_FLAGS = {
    "timeline": "print the timeline",
    "bottleneck-analysis": "print what limits the code, and its critical chain",
    "json": "print JSON",
    "instruction-info": "print uops, latency and throughput of each instruction (default: on)",
    "resource-pressure": "print the uops on each port (default: on)",
    "summary-view": "print the summary (default: on)",
    "all-views": "print every view",
    "all-stats": "accepted: Cyclelens has none of these statistics in this shape",
}
_ON = ("instruction-info", "resource-pressure", "summary-view")
_WITHOUT_MODEL = ("generic", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")
"""Names that LLVM knows and that are no processor."""
_FALSE = ("false", "0")


def main(arguments: list[str]) -> int:
    """Print the views. Returns 1 if the text has problems."""
    options = _parsed(arguments)
    from cyclelens.analyzer.model.analysis_options import Detail
    from cyclelens.analyzer.model.source import Severity
    from cyclelens.analyzer.reports import mca

    analysis = _analysis(options, Detail(trace=options.timeline))
    shown = [each for each in analysis.regions if each.region.lines]
    timeline = (options.timeline_max_iterations, options.timeline_max_cycles)
    views = mca.McaViews(
        options.iterations,
        summary=options.summary_view,
        instruction_info=options.instruction_info,
        resource_pressure=options.resource_pressure,
        bottlenecks=options.bottleneck_analysis,
        timeline=timeline if options.timeline else None,
    )
    if options.json:
        core = analysis_options(options).target.microarchitectures[0]
        text = mca.render_json(shown, views, core)
    else:
        text = "".join(f"{line}\n" for line in mca.lines(shown, views))
    if options.output in (None, "-"):
        print(text, end="")
    else:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)
    code = OK if shown and all(each.predictions for each in shown) else PROBLEMS
    for line in _problems(analysis, options.file):
        print(line, file=sys.stderr)
    if any(each.severity is Severity.ERROR for each in analysis.problems):
        code = PROBLEMS
    return code


def _parsed(arguments: list[str]) -> argparse.Namespace:
    parser = new_parser(
        "mca",
        "Read what llvm-mca reads, with its options, and print the figures of Cyclelens in its shape. "
        "Options may begin with one or two hyphens.",
    )
    parser.usage = "cyclelens mca [options] [FILE]"
    parser.add_argument("file", metavar="FILE", nargs="?", default="-", help="assembly file (default: -)")
    parser.add_argument(
        "--mcpu",
        metavar="CPU",
        help="LLVM's name of a processor (skylake, znver4, native), or Cyclelens's (SKL)",
    )
    parser.add_argument("--march", metavar="ARCH", help="x86-64, the only one")
    parser.add_argument("--mtriple", metavar="TRIPLE", help="a target of x86_64")
    parser.add_argument("--mattr", metavar="FEATURES", help="accepted: every instruction is read anyway")
    parser.add_argument("--iterations", type=positive, default=100, metavar="N", help="default: 100")
    parser.add_argument("--timeline-max-iterations", type=positive, default=10, metavar="N")
    parser.add_argument("--timeline-max-cycles", type=int, default=80, metavar="N", help="0: no limit")
    parser.add_argument("-o", "--output", metavar="FILE", type=output_path)
    for name, meaning in _FLAGS.items():
        default = name in _ON
        parser.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, default=default, help=meaning)
    add_settings(parser, "model")
    default_others(parser)
    options = parser.parse_args(list(_in_our_spelling(arguments)))
    if options.all_views:
        options.timeline = options.bottleneck_analysis = True
    for given in (options.march, options.mtriple):
        if given and not given.replace("_", "-").startswith(("x86-64", "amd64")):
            parser.error(f"'{given}' is not x86-64, the only architecture that Cyclelens knows")
    options.microarchitectures = None if options.mcpu is None else _core(parser, options.mcpu)
    return options


def _in_our_spelling(arguments: list[str]) -> Iterator[str]:
    """LLVM takes one hyphen or two, and a value for a flag: ``-timeline=false``."""
    for argument in arguments:
        if not argument.startswith("-") or argument.startswith("-o") or len(argument) < 3:
            yield argument
            continue
        name, equals, value = argument.lstrip("-").partition("=")
        if name in _FLAGS and equals:
            yield f"--no-{name}" if value.lower() in _FALSE else f"--{name}"
        else:
            yield f"--{name}{equals}{value}"


def _core(parser: argparse.ArgumentParser, name: str) -> tuple[str, ...] | None:
    """The core that a name of LLVM or Cyclelens means; None: the default."""
    from cyclelens.analyzer.microarchitectures import registry
    from cyclelens.analyzer.other_tools.llvm_mca import LLVM_MCA

    if name == "native":
        return None
    if name in _WITHOUT_MODEL:
        print(f"note: '{name}' is no processor", file=sys.stderr)
        return None
    by_name: dict[str, str] = {}
    for core, theirs in LLVM_MCA.cores.items():
        by_name.setdefault(theirs, core)
    if name in by_name:
        return (by_name[name],)
    try:
        return (registry.get(name).name,)
    except registry.UnknownMicroarchitecture:
        parser.error(f"unknown processor '{name}'{did_you_mean(name, list(by_name))}")


def _analysis(options: argparse.Namespace, detail: Detail) -> Analysis:
    """The marked regions; without markers the loops or functions, and without these the whole text."""
    text = read_text(options.file)
    analysis = analyze_data(text.encode(), options, detail)
    if analysis.regions or not any(each.code == NO_REGION for each in analysis.problems):
        return analysis
    marked = f"# LLVM-MCA-BEGIN\n{text}\n# LLVM-MCA-END\n"
    found = analyze_data(marked.encode(), options, detail)
    if not found.regions:
        return analysis
    return replace(
        found,
        regions=tuple(replace(each, region=replace(each.region, name="")) for each in found.regions),
        problems=tuple(replace(each, line=max(each.line - 1, UNKNOWN_LINE)) for each in found.problems),
    )


def _problems(analysis: Analysis, file: str) -> Iterator[str]:
    from cyclelens.analyzer.insight.wording import problem_place
    from cyclelens.analyzer.model.source import Severity

    for each in analysis.problems:
        if each.severity is not Severity.INFORMATION:
            kind = "error" if each.severity is Severity.ERROR else "warning"
            yield f"{problem_place(each, file)}: {kind}: {each.message}"
