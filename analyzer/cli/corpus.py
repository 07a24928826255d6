"""``cyclelens corpus extract``: takes the basic blocks of programs and libraries as rows of a CSV file."""

from __future__ import annotations

import argparse
import csv
import os
import sys
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.regular_files import AT_ONCE, read_given
from cyclelens.analyzer.common.spread import spread
from cyclelens.analyzer.common.usage import OK, new_parser, output_path

if TYPE_CHECKING:
    from cyclelens.analyzer.profiles.profile import Profile

HEADER = ("hex", "application", "count")


def main(arguments: list[str]) -> int:
    """Write one row per application and distinct block, most frequent first. Raises InputError."""
    parser = new_parser("corpus", "Sets of basic blocks.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    extract = actions.add_parser(
        "extract",
        help="take the basic blocks of programs and libraries",
        description="Write the basic blocks of ELF files as CSV: the block in hexadecimal, the application "
        "(the file's name), and how often the block occurs in it or, with a profile, how often it ran.",
    )
    extract.add_argument("programs", nargs="+", metavar="PROGRAM", type=Path, help="a program or a library")
    extract.add_argument(
        "--profile",
        metavar="FILE",
        help="counts from perf script -F brstacksym (with --show-mmap-events), or from perf annotate --stdio "
        "of an event that counts instructions; blocks that never ran are left out",
    )
    extract.add_argument(
        "--limit", type=_count, metavar="N", help="only N blocks of each application, spread over them"
    )
    extract.add_argument("--output", type=output_path, metavar="FILE.csv", help="default: standard output")
    options = parser.parse_args(arguments)

    profile = None if options.profile is None else _profile(options.profile)
    rows: list[tuple[str, str, str]] = []
    for path in options.programs:
        begin = perf_counter()
        counts = _counts(path, profile)
        name = path.name
        rows += [
            (code.hex(), name, f"{count:.10g}") for code, count in spread(counts.most_common(), options.limit)
        ]
        what = "occurrences" if profile is None else "executions"
        seconds = perf_counter() - begin
        total = sum(counts.values())
        sys.stderr.write(f"{name}: {len(counts)} blocks, {total:.0f} {what}, {seconds:.1f} s\n")
    if options.output is None:
        _write(rows, sys.stdout)
    else:
        with options.output.open("w", newline="", encoding="utf-8") as stream:
            _write(rows, stream)
    return OK


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number")
    return int(text)


def _write(rows: list[tuple[str, str, str]], stream: object) -> None:
    writer = csv.writer(stream, lineterminator="\n")  # type: ignore[arg-type]
    writer.writerow(HEADER)
    writer.writerows(rows)


def _profile(path: str) -> Profile:
    from cyclelens.analyzer.common.recent import Caches
    from cyclelens.analyzer.profiles.cache import Profiles
    from cyclelens.analyzer.profiles.profile import ProfileError

    try:
        found = Profiles(Caches()).of(path)
    except ProfileError as error:
        raise InputError(str(error)) from None
    if not found.runs and not found.by_instructions:
        raise InputError(
            f"{path} counts time, not executions: record branches (perf record -b) or an event that counts "
            "instructions (perf record -e instructions)"
        )
    return found


def _counts(path: Path, profile: Profile | None) -> Counter[bytes]:
    """Occurrences, or executions, of each distinct block of a file. Raises InputError."""
    from cyclelens.analyzer.frontend.objects.basic_blocks import basic_blocks
    from cyclelens.analyzer.frontend.objects.elf import ObjectFile
    from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError
    from cyclelens.analyzer.frontend.objects.sampled import in_file

    counts: Counter[bytes] = Counter()
    try:
        file = ObjectFile(read_given(path, AT_ONCE))
        located = None if profile is None else in_file(profile, file, os.path.realpath(path))
        if located is not None and located.is_empty:
            raise InputError(f"{path}: nothing in the profile belongs to this file")
        for block in basic_blocks(file, located):
            counts[block.code] += 1 if block.executions is None else block.executions  # type: ignore[assignment]
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except ObjectFileError as error:
        raise InputError(f"{path}: {error}") from None
    return counts
