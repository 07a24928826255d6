"""The assembled language server: the list of its features, and how it starts."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Sequence
from typing import BinaryIO

from cyclelens.analyzer.common.usage import Parser, port
from cyclelens.server import pipes
from cyclelens.server.features import (
    call_hierarchy,
    code_actions,
    code_lens,
    commands,
    complete,
    completion,
    configuration,
    diagnostics,
    document_symbols,
    document_sync,
    extensions,
    highlight,
    history,
    hover,
    inlay_hints,
    lifecycle,
    linked_editing,
    measure,
    navigation,
    rename,
    selection_range,
    semantic_tokens,
    signature_help,
    watched_files,
    workspace_diagnostics,
)
from cyclelens.server.language_server import CyclelensServer, EditedServer
from cyclelens.server.protocol.protocol import no_refusal
from cyclelens.server.workers import worker

FEATURES = (
    lifecycle,
    configuration,
    watched_files,
    document_sync,
    diagnostics,
    workspace_diagnostics,
    code_actions,
    inlay_hints,
    hover,
    code_lens,
    document_symbols,
    navigation,
    call_hierarchy,
    highlight,
    selection_range,
    linked_editing,
    rename,
    semantic_tokens,
    completion,
    signature_help,
    commands,
    measure,
    complete,
    history,
    extensions,
)
"""Everything the server can do; each module registers its own methods."""


def create_server(factory: str = worker.REAL_ENGINE) -> CyclelensServer:
    """A server with all features. ``factory`` names the engine that its worker runs."""
    server = EditedServer(factory)
    for feature in FEATURES:
        feature.register(server)
    return server


def run(tcp_port: int | None = None, server: CyclelensServer | None = None) -> int:
    """Serve one client until it leaves. Returns the exit status: 0 after a proper shutdown, else 1.

    :param tcp_port: port on the loopback interface, for debugging; None: standard input and output.
    """
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    # Editors often cancel requests that have just been answered; such log messages are noise.
    messages = logging.getLogger("pygls.protocol.json_rpc")
    messages.setLevel(logging.ERROR)
    messages.addFilter(no_refusal)
    server = server or create_server()
    # Exempt the objects that exist now from collection: scanning them takes longer than answering a request.
    # Objects that a long text adds are scanned rarely.
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
    try:
        if tcp_port is None:
            pipes.start(server, sys.stdin.buffer, _protocol_output())
        else:
            pipes.start_tcp(server, tcp_port)
    finally:
        server.close()
    return 0 if server.shutdown_requested else 1


def _protocol_output() -> BinaryIO:
    """Standard output, reserved for the protocol; everything else printed goes to standard error."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return output


def main(argv: Sequence[str]) -> int:
    """``cyclelens lsp``. Returns the exit status."""
    parser = Parser(
        prog="cyclelens lsp",
        description="Language server for assembly files; editors start it by themselves.",
    ).with_paths()
    transport = parser.add_mutually_exclusive_group()
    transport.add_argument("--stdio", action="store_true", help="use standard input and output (the default)")
    transport.add_argument("--tcp", type=port, metavar="PORT", help="listen on a port of 127.0.0.1, to debug")
    arguments = parser.parse_args(argv)
    return run(arguments.tcp)
