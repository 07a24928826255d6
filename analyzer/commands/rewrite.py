"""``cyclelens rewrite``: what makes the loops of a file faster, as a list, a diff, or in the file itself."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cyclelens.analyzer.commands.common import (
    OK,
    InputError,
    add_analysis_arguments,
    analysis_options,
    explained,
    new_parser,
    nothing,
    read_text,
    title_of,
)

if TYPE_CHECKING:
    from cyclelens.analyzer.fixes.proposal import Fix


def main(arguments: list[str]) -> int:
    """Print what was found. Returns the exit code."""
    parser = new_parser(
        "rewrite",
        "Search for rewrites that make the loops of an assembly file faster, alone and together, and "
        "simulate each. They are listed with the simplest first; N is a number of that list.",
    )
    add_analysis_arguments(parser, objects=False)
    parser.add_argument(
        "--diff", type=_number, metavar="N", help="print a rewrite as a difference of the text"
    )
    parser.add_argument("--apply", type=_number, metavar="N", help="make a rewrite in the file")
    parser.add_argument("--output", metavar="FILE", help="with --apply: write the new text there instead")
    options = parser.parse_args(arguments)
    if options.diff is not None and options.apply is not None:
        parser.error("give either --diff or --apply")
    if options.output and options.apply is None:
        parser.error("--output needs --apply")
    return _run(options)


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of the list")
    return int(text)


def _run(options: argparse.Namespace) -> int:
    from cyclelens.analyzer.api import Analyzer
    from cyclelens.analyzer.fixes.proposal import apply
    from cyclelens.analyzer.fixes.search import advise

    text, chosen = read_text(options.file), analysis_options(options)
    analyzer = Analyzer()
    analysis = explained(analyzer.analyze(text, chosen), chosen)
    regions = [region for region in analysis.regions if region.predictions]
    if not regions:
        raise nothing(analysis, options.file)
    wanted = options.diff or options.apply
    found: list[Fix] = []
    for region in regions:
        advice = advise(analyzer, text, chosen, analysis.dialect, region)
        if wanted is None:
            for line in _lines(title_of(region), advice.cycles, advice.fixes, len(found)):
                print(line)
        found += advice.fixes
    if wanted is None:
        return OK
    if wanted > len(found):
        raise InputError(f"{options.file}: there are {len(found)} rewrites, and no number {wanted}")
    changed = apply(text, found[wanted - 1].proposal.edits)
    if options.apply is None:
        for line in _diff(text, changed, options.file):
            print(line)
        return OK
    return _write(changed, options.output or options.file)


def _lines(title: str, cycles: float, fixes: tuple[Fix, ...], first: int) -> Iterator[str]:
    from cyclelens.analyzer.hints.change import change
    from cyclelens.analyzer.insight.work import Pace

    yield f"== {title} =="
    if not fixes:
        yield f"   {cycles:.2f} cycles/iter; nothing that was tried helps"
    for number, fix in enumerate(fixes, first + 1):
        yield f"   {number:2}  {change(Pace(fix.before), Pace(fix.after))}"
        yield f"       {fix.proposal.title}"


def _diff(old: str, new: str, name: str) -> Iterator[str]:
    from difflib import unified_diff

    yield from unified_diff(old.split("\n"), new.split("\n"), name, name, lineterm="")


def _write(text: str, name: str) -> int:
    if name == "-":
        print(text, end="")
        return OK
    try:
        Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{name} cannot be written: {error.strerror or error}") from None
    return OK
