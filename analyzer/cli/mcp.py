"""``cyclelens mcp``: answers coding agents by the Model Context Protocol, on standard input and output."""

from __future__ import annotations

from pathlib import Path

from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.usage import OK, new_parser


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
        help="a folder whose files may be read; may be repeated (default: none, the agent sends texts)",
    )
    parser.add_argument(
        "--allow-run",
        action="store_true",
        help="let the agent run both versions of a region in a sandbox, to compare their results",
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
    from cyclelens.analyzer.agents.tools import Tools
    from cyclelens.analyzer.microarchitectures.machine_file import MachineFileError, of_environment

    try:
        machine = of_environment()
    except MachineFileError as error:
        raise InputError(error) from None
    folders = [str(folder) for folder in options.folder]
    server(Tools(folders, may_run=options.allow_run, machine=machine)).run()
    return OK
