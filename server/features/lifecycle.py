"""initialized, shutdown, exit: the worker runs from initialized to shutdown."""

from __future__ import annotations

from cyclelens.server.language_server import CyclelensServer
from lsprotocol import types


def register(server: CyclelensServer) -> None:
    """Register ``shutdown`` and ``exit``; ``configuration.py`` handles ``initialized``."""

    @server.feature(types.SHUTDOWN)
    def shutdown(_params: None) -> None:
        server.shutdown_requested = True
        for snapshot in server.session:
            server.memory.forget(snapshot.uri)
        server.close()

    @server.feature(types.EXIT)
    def leave(_params: None) -> None:
        server.close()
