"""``cyclelens compare``: compares regions across microarchitectures, alignments, tools, regions or
versions."""

from __future__ import annotations

import argparse
import json
from itertools import chain
from typing import TYPE_CHECKING

from cyclelens.analyzer.cli.common import add_analysis_arguments, analysis_options, nothing
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.usage import OK, PROBLEMS, new_parser
from cyclelens.analyzer.engine.files import ELF_MAGIC, analyze_bytes, read_bytes, to_text
from msgspec.structs import replace

if TYPE_CHECKING:
    from cyclelens.analyzer.comparisons.table import ComparisonTable


def main(arguments: list[str]) -> int:
    """Print one table per region."""
    parser = new_parser(
        "compare",
        "Compare regions with something else. By default: on every microarchitecture (or those of --arch).",
    )
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
    choice.add_argument("--with", dest="other", metavar="REGION", help="with another region of the file")
    choice.add_argument(
        "--git",
        dest="revision",
        metavar="REVISION",
        nargs="?",
        const="HEAD",
        help="with a committed version of the file (default: HEAD)",
    )
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text")
    options = parser.parse_args(arguments)
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
    data = read_bytes(options.file)
    machine_code = data if data.startswith(ELF_MAGIC) else None
    if machine_code is not None and options.revision is not None:
        raise InputError(f"{options.file} is an ELF file: --git compares versions of texts")
    text = "" if machine_code is not None else to_text(data)

    from cyclelens.analyzer.comparisons.registry import table
    from cyclelens.analyzer.comparisons.request import ComparisonRequest
    from cyclelens.analyzer.engine.analysis import Analyzer
    from cyclelens.analyzer.facts.store import TablesUnavailable

    kind = "microarchitectures"
    if options.alignments:
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
    if machine_code is None:
        analysis = replace(analysis, source=replace(analysis.source, function=options.function))
    try:
        analyzer = Analyzer()
        found = analyze_bytes(analyzer, data, options.file, analysis, options.function)
        if not found.regions:
            raise nothing(found, options.file)
        if options.other is not None:
            chosen = replace(analysis, source=replace(analysis.source, region=options.other))
            other = analyze_bytes(analyzer, data, options.file, chosen, options.function)
            if not other.regions:
                raise nothing(other, options.file)
        names = [region.region.name for region in found.regions]
        tables = [
            table(
                kind,
                ComparisonRequest(
                    analyzer,
                    text,
                    analysis,
                    name,
                    other=options.other or "",
                    path=options.file,
                    revision=options.revision or "",
                    machine_code=machine_code,
                    function=options.function,
                ),
            )
            for name in names
            if name != options.other
        ]
    except TablesUnavailable as error:
        raise InputError(error) from None
    if not tables:
        raise InputError(f"{options.file}: there is no other region to compare with '{options.other}'")
    return tables


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
