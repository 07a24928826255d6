"""``cyclelens annotate``: the hottest loops of a recorded profile, with their predicted cycles."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from cyclelens.analyzer.cli.argument_types import positive
from cyclelens.analyzer.cli.common import add_settings, analysis_options, default_others
from cyclelens.analyzer.common import temporary
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.usage import OK, PROBLEMS, new_parser

if TYPE_CHECKING:
    from cyclelens.analyzer.model.hot_loops import HotLoops

_MOST = 20


def main(arguments: list[str]) -> int:
    """Print the loops. Returns 1 if no sample hits a loop that can be read."""
    options = _parsed(arguments)
    from cyclelens.analyzer.profiles.perf_data import is_recording, print_recording
    from cyclelens.analyzer.profiles.profile import ProfileError

    try:
        with temporary.folder() as folder:
            path = options.file
            if is_recording(path):
                path = os.path.join(folder, "script.txt")
                print_recording(options.file, path)
            found = _found(path, options)
    except OSError as error:
        raise InputError(f"{options.file} cannot be read: {error.strerror or error}") from None
    except ProfileError as error:
        raise InputError(error) from None

    from cyclelens.analyzer.reports import hottest

    if options.format == "json":
        print(hottest.render_json(found), end="")
    else:
        for line in hottest.lines(found):
            print(line)
    return OK if found.loops else PROBLEMS


def _parsed(arguments: list[str]) -> argparse.Namespace:
    parser = new_parser(
        "annotate",
        "List the hottest loops of a recorded profile: the measured share of each, its predicted cycles and "
        "what limits it.",
    )
    parser.add_argument(
        "file", metavar="FILE", help="perf.data, or the output of perf script or perf annotate --stdio"
    )
    parser.add_argument(
        "--program",
        metavar="PATH",
        action="append",
        default=[],
        type=Path,
        help="read this program or library for the one of the same name in the profile; may be repeated",
    )
    parser.add_argument(
        "--most", type=positive, default=_MOST, metavar="N", help="list at most N loops (default: 20)"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_settings(parser, "microarchitectures", "model")
    default_others(parser)
    return parser.parse_args(arguments)


def _found(path: str, options: argparse.Namespace) -> HotLoops:
    """The hottest loops of a printed profile. Raises InputError and ProfileError."""
    from cyclelens.analyzer.engine.analysis import Analyzer
    from cyclelens.analyzer.engine.hottest import hottest_loops
    from cyclelens.analyzer.facts.store import TablesUnavailable
    from cyclelens.analyzer.profiles.cache import Profiles

    options.profile = path
    try:
        analyzer = Analyzer()
        profile = analyzer.workspace.caches.of(Profiles).of(path)
        if not profile.samples:
            raise InputError(
                f"{options.file} has branches, and no samples that tell the time: print all fields "
                "(perf script -F +brstacksym), or give perf.data itself"
            )
        programs = {each.name: str(each) for each in options.program}
        return hottest_loops(analyzer, profile, analysis_options(options), options.most, programs)
    except TablesUnavailable as error:
        raise InputError(error) from None
