"""``cyclelens rewrite``: rewrites that make the loops of a file faster, as a list, a diff, or in the file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cyclelens.analyzer.cli.common import (
    add_analysis_arguments,
    analysis_options,
    nothing,
    title_of,
    warn,
)
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.usage import OK, new_parser, output_path
from cyclelens.analyzer.engine.files import edited, explained, read_text_bytes, to_text
from cyclelens.analyzer.model.choices import Clocks
from msgspec.structs import replace

if TYPE_CHECKING:
    from cyclelens.analyzer.measuring.equality import Equality
    from cyclelens.analyzer.measuring.harness import Harness
    from cyclelens.analyzer.model.analysis_options import SourceOptions
    from cyclelens.analyzer.model.result import RegionAnalysis
    from cyclelens.analyzer.rewrites.proposal import Fix

_NOT_CHECKED = "not checked: --check runs both versions on random inputs"


def main(arguments: list[str]) -> int:
    """Search for rewrites, then list, print or apply them. Returns the exit code."""
    parser = new_parser(
        "rewrite",
        "Search for rewrites that make the loops of an assembly file faster, alone and together, and "
        "simulate each. They are listed simplest first; N is a number in that list.",
    )
    add_analysis_arguments(parser, objects=False)
    parser.add_argument("--diff", type=_number, metavar="N", help="print a rewrite as a diff")
    parser.add_argument("--apply", type=_number, metavar="N", help="apply a rewrite to the file")
    parser.add_argument(
        "--output", type=output_path, metavar="FILE", help="with --apply: write to this file instead"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="run the original and the rewritten code in a sandbox, on the same random registers and memory, "
        "and compare the results; with --apply, refuse rewrites whose results differ",
    )
    options = parser.parse_args(arguments)
    if options.diff is not None and options.apply is not None:
        parser.error("give either --diff or --apply")
    if options.output and options.apply is None:
        parser.error("--output needs --apply")
    return _run(options)


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of the list")
    return int(text)


def _run(options: argparse.Namespace) -> int:
    from cyclelens.analyzer.comparisons.sensitivity import incomparable
    from cyclelens.analyzer.engine.analysis import Analyzer
    from cyclelens.analyzer.insight.confidence import has_unknown_costs
    from cyclelens.analyzer.insight.wording import figure_of
    from cyclelens.analyzer.rewrites.proposal import apply, no_rewrite
    from cyclelens.analyzer.rewrites.search import advise

    data, chosen = read_text_bytes(options.file), analysis_options(options)
    text = to_text(data)
    if "\r" in text and "\n" not in text:
        # Rewrites count lines as editors do, by LF; ``apply`` writes the file's own line ends.
        text = text.replace("\r", "\n")
    chosen = replace(chosen, source=replace(chosen.source, function=options.function))
    analyzer = Analyzer()
    analysis = explained(analyzer.analyze(text, chosen), chosen.source)
    regions = [region for region in analysis.regions if region.predictions]
    if not regions:
        raise nothing(analysis, options.file)
    warn(analysis, options.file)
    wanted = options.diff or options.apply
    with ExitStack() as stack:
        harness = stack.enter_context(_harness()) if options.check else None
        found: list[tuple[Fix, RegionAnalysis]] = []
        for region in regions:
            advice = advise(analyzer, text, chosen, analysis.dialect, region)
            if wanted is None:
                print(f"== {title_of(region)} ==")
                if has_unknown_costs(region.predictions[0]):
                    print(f"   {incomparable(region.predictions[0])}")
                elif not advice.fixes:
                    print(
                        f"   {figure_of(region.predictions[0])} cycles/iter; no rewrite that was tried helps"
                    )
                for number, fix in enumerate(advice.fixes, len(found) + 1):
                    print(_described(number, fix))
                    if harness is not None:
                        print(f"       {_checked(harness, text, chosen.source, region, fix)}")
            found += [(fix, region) for fix in advice.fixes]
        if wanted is None:
            return OK
        if wanted > len(found):
            raise InputError(f"{options.file}: {no_rewrite(wanted, len(found))}")
        fix, region = found[wanted - 1]
        equality = None if harness is None else _checked(harness, text, chosen.source, region, fix)
    said = _NOT_CHECKED if equality is None else str(equality)
    if options.apply is None:
        print(*_diff(text, apply(text, fix.proposal.edits), options.file), sep="\n")
        if equality is not None:
            print(said)
        return OK
    if equality is not None and equality.differs:
        raise InputError(f"{options.file}: rewrite {wanted} was not applied: {said}")
    try:
        changed = edited(data, partial(apply, edits=fix.proposal.edits))
    except ValueError as error:
        raise InputError(f"{options.file}: rewrite {wanted} cannot be applied: {error}") from None
    title = f"{title_of(region)}: {fix.proposal.title}"
    print(f"rewrite {wanted}, {title}; {said}", file=sys.stderr)
    return _write(changed, str(options.output or options.file))


def _harness() -> Harness:
    from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness

    try:
        return Harness(clock=Clocks.NONE)
    except CannotMeasure as error:
        raise InputError(f"nothing can be run here: {error}") from None


def _checked(
    harness: Harness, text: str, source: SourceOptions, region: RegionAnalysis, fix: Fix
) -> Equality:
    from cyclelens.analyzer.measuring.equality import VersionPair, compare
    from cyclelens.analyzer.measuring.harness import CannotMeasure
    from cyclelens.analyzer.rewrites.proposal import apply

    try:
        proposal = fix.proposal
        versions = VersionPair(text, apply(text, proposal.edits), proposal.times, proposal.cleared)
        return compare(harness, versions, source, region)
    except CannotMeasure as error:
        raise InputError(str(error)) from None


def _described(number: int, fix: Fix) -> str:
    return f"   {number:2}  {fix.gain}\n       {fix.proposal.title}"


def _diff(old: str, new: str, name: str) -> Iterator[str]:
    from difflib import unified_diff

    yield from unified_diff(old.split("\n"), new.split("\n"), name, name, lineterm="")


def _write(data: bytes, name: str) -> int:
    if name == "-":
        sys.stdout.buffer.write(data)
        return OK
    try:
        Path(name).write_bytes(data)
    except OSError as error:
        raise InputError(f"{name} cannot be written: {error.strerror or error}") from None
    return OK
