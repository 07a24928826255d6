"""``cyclelens predict --input FILE --output FILE``: predicts a corpus of blocks, part by part."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from cyclelens.analyzer.cli.argument_types import microarchitectures
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.usage import OK, PROBLEMS, output_path
from cyclelens.analyzer.model.options import ModelOptions

if TYPE_CHECKING:
    from pathlib import Path


def _path(text: str) -> Path:
    # Imported here to start faster.
    from pathlib import Path

    return Path(text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for corpora."""
    files = parser.add_argument_group(
        "corpora", "blocks from a file, predicted in parts: the same command resumes where it was stopped"
    )
    files.add_argument(
        "--input",
        type=_path,
        metavar="FILE",
        help=".parquet, .csv with a header, or .txt with one block per line",
    )
    files.add_argument(
        "--output",
        type=output_path,
        metavar="FILE",
        help=".parquet or .csv, with one column per microarchitecture",
    )
    files.add_argument("--column", default="hex", metavar="NAME", help="column of the blocks (default: hex)")
    files.add_argument("--rows", type=int, default=None, metavar="N", help="rows per part (default: 10,000)")


def cores(text: str) -> tuple[str, ...]:
    """Argument type: microarchitectures separated by commas, or all."""
    return ("all",) if text.strip().lower() == "all" else microarchitectures(text)


def run(options: argparse.Namespace, model: ModelOptions) -> int:
    """Write the figures. Returns 1 if some are missing. Raises InputError."""
    from cyclelens.analyzer.corpora.formats import CorpusError
    from cyclelens.analyzer.corpora.parts import ROWS, join, parts
    from cyclelens.analyzer.corpora.parts import run as run_parts
    from cyclelens.analyzer.facts.store import TablesUnavailable
    from tqdm import tqdm

    try:
        if options.output.exists():
            raise InputError(f"{options.output} already exists")
        found = parts(
            options.input,
            options.output,
            options.arch,
            mode=options.mode,
            copies=options.copies,
            alignment=options.alignment,
            column=options.column,
            options=model,
            rows=options.rows or ROWS,
        )
        total = sum(part.span.rows for part in found)
        with tqdm(total=total, unit=" blocks", file=sys.stderr, disable=None) as bar:
            for part in run_parts(found, options.jobs):
                bar.update(part.span.rows)
        without = join(found, options.output)
    except (CorpusError, TablesUnavailable) as error:
        raise InputError(error) from None
    if without:
        why = "see the column problems"
        sys.stderr.write(f"cyclelens: {without} of {total} blocks lack a figure; {why}\n")
        return PROBLEMS
    return OK
