"""Serving over standard input and output, without a thread where the system allows that.

pygls has a thread read every header line and every body. On a busy machine those hand-overs take longer than
all that is done with a message; here the event loop itself waits for the pipe.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import sys
from threading import Event
from typing import BinaryIO

from pygls.io_ import StdoutWriter, run_async
from pygls.lsp.server import LanguageServer


def start(server: LanguageServer, requests: BinaryIO, replies: BinaryIO) -> None:
    """Serve one client until it leaves."""
    if not _can_be_awaited(requests, replies):
        server.start_io(requests, replies)
        return
    server.protocol.set_writer(StdoutWriter(replies))
    try:
        with contextlib.suppress(BrokenPipeError, KeyboardInterrupt, SystemExit):
            asyncio.run(_serve(server, requests))
    finally:
        server.shutdown()  # type: ignore[no-untyped-call]


def _can_be_awaited(requests: BinaryIO, replies: BinaryIO) -> bool:
    """Whether it is a pipe or a socket, and another one than that of the replies: waiting needs a descriptor
    that does not block, and writing one that does."""
    if sys.platform == "win32":
        return False  # its event loop cannot wait for the pipes that a parent process makes
    status = os.fstat(requests.fileno())
    is_pipe = stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode)
    return is_pipe and not os.path.samestat(status, os.fstat(replies.fileno()))


async def _serve(server: LanguageServer, requests: BinaryIO) -> None:
    stream = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), requests)
    await run_async(
        stop_event=Event(),
        reader=_Messages(stream),
        protocol=server.protocol,
        error_handler=server.report_server_error,
    )


class _Messages:
    """What pygls reads from."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._stream = stream

    async def readline(self) -> bytes:
        return await self._stream.readline()

    async def readexactly(self, count: int) -> bytes:
        # What has arrived is read without waiting: let others have their turn between two messages.
        await asyncio.sleep(0)
        try:
            return await self._stream.readexactly(count)
        except asyncio.IncompleteReadError:
            return b""  # the client has left
