"""``cyclelens mcp``: answers coding agents by the Model Context Protocol, on standard input and output."""

from __future__ import annotations

import argparse
from pathlib import Path

from cyclelens.analyzer.agents.tools import SECONDS, Tools
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.usage import OK, new_parser
from cyclelens.analyzer.microarchitectures.machine_file import MachineFileError, of_environment


def main(arguments: list[str]) -> int:
    """Serve until the client closes standard input."""
    parser = new_parser(
        "mcp",
        "Answer a coding agent by the Model Context Protocol, on standard input and output: analyse, "
        "compare, propose rewrites, check them, explain findings.",
    )
    parser.add_argument(
        "--folder",
        action="append",
        default=[],
        type=Path,
        help="a folder whose files may be read, beside the roots that the client names; may be repeated",
    )
    parser.add_argument(
        "--allow-run",
        action="store_true",
        help="let the agent run both versions of a region in a sandbox, to compare their results",
    )
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=SECONDS,
        metavar="N",
        help="how long an answer may take (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    for folder in options.folder:
        if not folder.is_dir():
            raise InputError(f"{folder} is not a folder")
    try:
        from cyclelens.analyzer.agents.mcp_server import server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("mcp", "pydantic"):
            raise
        raise InputError(
            "the packages for agents are not installed: pip install 'cyclelens[agent]'"
        ) from None
    try:
        machine = of_environment()
    except MachineFileError as error:
        raise InputError(error) from None
    folders = [str(folder.resolve()) for folder in options.folder]
    tools = Tools(folders, may_run=options.allow_run, machine=machine, seconds=options.seconds)
    server(tools).run()
    return OK


def _seconds(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) <= 3600):
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is not a number of seconds from 1 to 3600")
    return int(text)
