"""Serving one client: over standard input and output, or a port of the loopback interface.

Where the system allows it the event loop itself waits for what arrives. A thread that does costs hand-overs,
which take longer on a busy machine than all that is done with a message.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import sys
from collections.abc import Awaitable, Callable
from typing import BinaryIO

from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.protocol.protocol import Messages
from pygls.io_ import StdoutWriter

HOST = "127.0.0.1"
_CHUNK = 1 << 16


def start(server: CyclelensServer, requests: BinaryIO, replies: BinaryIO) -> None:
    """Serve one client until it leaves."""
    server.protocol.set_writer(StdoutWriter(replies))
    _run(server, _serve_streams(server, requests, replies))


def start_tcp(server: CyclelensServer, port: int) -> None:
    """Serve the first client that connects, until it leaves."""
    _run(server, _serve_tcp(server, port))


def _run(server: CyclelensServer, serving: Awaitable[None]) -> None:
    try:
        with contextlib.suppress(BrokenPipeError, ConnectionError, KeyboardInterrupt, SystemExit):
            asyncio.run(serving)  # type: ignore[arg-type]
    finally:
        server.shutdown()  # type: ignore[no-untyped-call]


async def _serve_streams(server: CyclelensServer, requests: BinaryIO, replies: BinaryIO) -> None:
    loop = asyncio.get_running_loop()
    if _can_be_awaited(requests, replies):
        stream = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), requests)
        await _serve(server, lambda: stream.read(_CHUNK))
    else:
        await _serve(server, lambda: loop.run_in_executor(None, os.read, requests.fileno(), _CHUNK))


async def _serve_tcp(server: CyclelensServer, port: int) -> None:
    loop = asyncio.get_running_loop()
    connected: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = loop.create_future()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if connected.done():
            writer.close()
        else:
            connected.set_result((reader, writer))

    async with await asyncio.start_server(connect, HOST, port):
        reader, writer = await connected
        server.protocol.set_writer(writer)
        await _serve(server, lambda: reader.read(_CHUNK))


async def _serve(server: CyclelensServer, read: Callable[[], Awaitable[bytes]]) -> None:
    """``read`` returns what has arrived, nothing when the client has left."""
    messages = Messages()
    while data := await read():
        for message in messages.feed(data):
            server.protocol.receive(message)
            # What has arrived is read without waiting: let others have their turn between two messages.
            await asyncio.sleep(0)


def _can_be_awaited(requests: BinaryIO, replies: BinaryIO) -> bool:
    """Whether it is a pipe or a socket, and another one than that of the replies: waiting needs a descriptor
    that does not block, and writing one that does."""
    if sys.platform == "win32":
        return False  # its event loop cannot wait for the pipes that a parent process makes
    status = os.fstat(requests.fileno())
    is_pipe = stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode)
    return is_pipe and not os.path.samestat(status, os.fstat(replies.fileno()))
