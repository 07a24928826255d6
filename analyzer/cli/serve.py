"""``cyclelens serve``: serves the page on this machine."""

from __future__ import annotations

import sys

from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.usage import OK, new_parser, port

PORT = 8640


def main(arguments: list[str]) -> int:
    """Serve until interrupted."""
    parser = new_parser(
        "serve",
        "Serve a page for the browser on this machine: an assembly editor with the cycles behind the lines, "
        "the timeline, all CPUs side by side, and links that contain the text. It needs no network and "
        "answers only this machine. Ctrl-C ends it.",
    )
    parser.add_argument(
        "--port", type=port, default=PORT, metavar="N", help=f"default: {PORT}; 0: any free port"
    )
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument(
        "--no-external-programs",
        action="store_true",
        help="never run an assembler of this machine; else one may run if the kernel can deny it files",
    )
    options = parser.parse_args(arguments)

    from cyclelens.analyzer.facts.store import TablesUnavailable
    from cyclelens.analyzer.frontend.assemblers import confinement
    from cyclelens.analyzer.microarchitectures.machine_file import MachineFileError, of_environment
    from cyclelens.analyzer.serving.answers import Answers
    from cyclelens.analyzer.serving.pages import PageServer

    # Links contain untrusted texts.
    confined = confinement.version() > 0
    try:
        answers = Answers(
            external_programs=confined and not options.no_external_programs, machine=of_environment()
        )
        server = PageServer(answers, options.port)
    except (TablesUnavailable, MachineFileError) as error:
        raise InputError(error) from None
    except OSError as error:
        raise InputError(
            f"port {options.port} cannot be used: {error.strerror or error}; choose another one: --port 0"
        ) from None
    with server:
        print(f"Cyclelens is at {server.address} (Ctrl-C ends it)", flush=True)
        if options.open:
            import webbrowser

            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print(file=sys.stderr)
    return OK
