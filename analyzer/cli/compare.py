"""``cyclelens compare``: compares regions across microarchitectures, alignments, tools, regions, versions or
files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from cyclelens.analyzer.cli.common import add_analysis_arguments, analysis_options, nothing
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.usage import OK, PROBLEMS, new_parser
from cyclelens.analyzer.engine.files import analyze_bytes, read_bytes, to_text
from cyclelens.analyzer.frontend.objects.formats import is_object
from msgspec.structs import replace

if TYPE_CHECKING:
    from cyclelens.analyzer.comparisons.request import ComparisonRequest
    from cyclelens.analyzer.comparisons.table import ComparisonTable
    from cyclelens.analyzer.engine.analysis import Analyzer
    from cyclelens.analyzer.model.analysis_options import AnalysisOptions


def main(arguments: list[str]) -> int:
    """Print one table per region."""
    parser = new_parser(
        "compare",
        "Compare regions with something else. By default: on every microarchitecture (or those of --arch).",
    )
    parser.usage = "cyclelens compare [OPTION ...] FILE [FILE2]"
    add_analysis_arguments(parser)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--alignments", action="store_true", help="at every offset within a 64-byte line, on --arch"
    )
    choice.add_argument(
        "--tools",
        action="store_true",
        help="with the figures of llvm-mca and OSACA, if installed",
    )
    choice.add_argument(
        "--with", dest="other", metavar="REGION", help="with another region of the file, or one of FILE2"
    )
    choice.add_argument(
        "--git",
        dest="revision",
        metavar="REVISION",
        nargs="?",
        const="HEAD",
        help="with a committed version of the file (default: HEAD)",
    )
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text")
    parser.add_argument(
        "other_file",
        metavar="FILE2",
        nargs="?",
        help="with the regions of the same names in this file, or with its only region",
    )
    options = parser.parse_intermixed_args(arguments)
    tables = _tables(options)
    if options.format == "json":
        print(json.dumps([_plain(table) for table in tables], indent=2, ensure_ascii=False))
    else:
        write = _markdown if options.format == "markdown" else _text
        print("\n\n".join(write(table) for table in tables))
    return OK if all(any(map(_is_figure, chain(*table.rows))) for table in tables) else PROBLEMS


def _is_figure(value: object) -> bool:
    return isinstance(value, int | float)


def _tables(options: argparse.Namespace) -> list[ComparisonTable]:
    if options.revision is not None and options.file == "-":
        raise InputError("--git needs a file: standard input has no versions")
    if options.other_file is not None and (
        options.alignments or options.tools or options.revision is not None
    ):
        raise InputError("two files are compared with each other: leave out --alignments, --tools and --git")
    data = read_bytes(options.file)
    if is_object(data) and options.revision is not None:
        raise InputError(f"{options.file} is machine code: --git compares versions of texts")

    from cyclelens.analyzer.comparisons.registry import table
    from cyclelens.analyzer.engine.analysis import Analyzer
    from cyclelens.analyzer.facts.store import TablesUnavailable

    kind = "microarchitectures"
    if options.other_file is not None:
        kind = "file"
    elif options.alignments:
        kind = "alignments"
    elif options.tools:
        kind = "tools"
    elif options.other is not None:
        kind = "region"
    elif options.revision is not None:
        kind = "version"
    # The other comparisons show every core, unless the user named some.
    options.core_is_said = kind not in ("alignments", "tools")
    analysis = analysis_options(options)
    try:
        analyzer = Analyzer()
        names = _regions(analyzer, data, options.file, analysis, options.function)
        request = _request(analyzer, data, options.file, analysis, options.function)
        request = replace(request, other=options.other or "", revision=options.revision or "")
        if options.other_file is not None:
            return [table(kind, each) for each in _with_file(request, names, options)]
        if options.other is not None:
            chosen = replace(analysis, source=replace(analysis.source, region=options.other))
            _regions(analyzer, data, options.file, chosen, options.function)
        tables = [table(kind, replace(request, region=name)) for name in names if name != options.other]
    except TablesUnavailable as error:
        raise InputError(error) from None
    if not tables:
        raise InputError(f"{options.file}: there is no other region to compare with '{options.other}'")
    return tables


def _regions(
    analyzer: Analyzer, data: bytes, file: str, analysis: AnalysisOptions, function: str | None
) -> list[str]:
    """Names of the regions of a file. Raises InputError if there are none."""
    found = analyze_bytes(analyzer, data, file, analysis, function)
    if not found.regions:
        raise nothing(found, file)
    return [region.region.name for region in found.regions]


def _request(
    analyzer: Analyzer, data: bytes, file: str, analysis: AnalysisOptions, function: str | None
) -> ComparisonRequest:
    """A comparison of a region of this file that is not named yet."""
    from cyclelens.analyzer.comparisons.request import ComparisonRequest

    if is_object(data):
        return ComparisonRequest(analyzer, "", analysis, "", path=file, machine_code=data, function=function)
    analysis = replace(analysis, source=replace(analysis.source, function=function))
    return ComparisonRequest(analyzer, to_text(data), analysis, "", path=file)


def _with_file(
    request: ComparisonRequest, names: Sequence[str], options: argparse.Namespace
) -> Iterator[ComparisonRequest]:
    """Each region with the one of the same name in the other file; ``--with`` names another one. Two files
    of one region each need no names."""
    file, function = options.other_file, options.function
    data = read_bytes(file)
    chosen = analysis_options(options)
    region = options.other or chosen.source.region
    chosen = replace(chosen, source=replace(chosen.source, region=region))
    others = _regions(request.analyzer, data, file, chosen, function)
    beside = _request(request.analyzer, data, file, chosen, function)
    if options.other is not None or (len(names) == 1 and len(others) == 1):
        pairs = [(name, others[0]) for name in names]
    else:
        pairs = [(name, name) for name in dict.fromkeys((*names, *others))]
    for name, other in pairs:
        yield replace(request, region=name, other=other, beside=replace(beside, region=other))


def _text(table: ComparisonTable) -> str:
    return f"== {table.title} ==\n{table.text}"


def _markdown(table: ComparisonTable) -> str:
    from cyclelens.analyzer.common.escaping import prose
    from cyclelens.analyzer.comparisons.table import cell

    title = f"**{prose(table.title)}**"
    if not table.rows:
        return f"{title}\n\n{prose(table.text)}"
    columns = zip(*table.rows, strict=True)
    rule = "|".join("---:" if any(map(_is_figure, column)) else "---" for column in columns)
    rows = [
        "| " + " | ".join(prose(value) if isinstance(value, str) else cell(value) for value in row) + " |"
        for row in (table.columns, *table.rows)
    ]
    return "\n".join([title, "", rows[0], f"|{rule}|", *rows[1:]])


def _plain(table: ComparisonTable) -> dict[str, object]:
    return {
        "title": table.title,
        "columns": table.columns,
        "rows": table.rows,
        "note": "" if table.rows else table.text,
    }
