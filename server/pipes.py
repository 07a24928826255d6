"""Serving one client: over standard input and output, or a port of the loopback interface.

Where the system allows it the event loop itself waits for what arrives. A thread that does costs hand-overs,
which take longer on a busy machine than all that is done with a message. What is sent goes through
``Replies``: the server never waits in a system call for a client that does not read, and it says nothing to
one that has left.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import select
import stat
import sys
from collections.abc import Awaitable, Callable
from typing import BinaryIO

from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.protocol.protocol import Messages

HOST = "127.0.0.1"
UNREAD_BYTES = 16 << 20
"""What a client may leave unread before its further messages have to wait."""
PARTING_SECONDS = 2.0
"""How long the last replies may take to go out once the client has said goodbye."""
_CHUNK = 1 << 16
_POLL_SECONDS = 0.05
_HEADER = re.compile(rb"Content-(?:Length|Type)[ \t]*:", re.IGNORECASE)
_LONGEST_FIELD = len(b"Content-Length") + 64


class Replies:
    """What goes to the client, with the interface of a writer of pygls. Nothing is raised and nothing logged
    when the client has left: there is nobody to tell."""

    def __init__(self, transport: asyncio.WriteTransport | None = None, file: BinaryIO | None = None) -> None:
        """:param transport: where the event loop can write without waiting; else ``file``."""
        self._transport = transport
        self._file = file
        self._closed = False

    @property
    def unread(self) -> int:
        """Bytes that the client has not taken yet."""
        return self._transport.get_write_buffer_size() if self._transport and not self._closed else 0

    def write(self, data: bytes) -> None:
        """Send it, or forget it if the client has left."""
        if self._closed or (self._transport is not None and self._transport.is_closing()):
            return
        try:
            if self._transport is not None:
                self._transport.write(data)
            elif self._file is not None:
                self._file.write(data)
                self._file.flush()
        except (OSError, ValueError):
            self._closed = True

    def close(self) -> Awaitable[None] | None:
        """Say no more. What was said still goes out if the client takes it within ``PARTING_SECONDS``; the
        caller waits for what is returned."""
        if self.unread:
            return self._part()
        self._end()
        return None

    async def _part(self) -> None:
        end = asyncio.get_running_loop().time() + PARTING_SECONDS
        while self.unread and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(_POLL_SECONDS)
        self._end()

    def _end(self) -> None:
        self._closed = True
        if self._transport is not None:
            if not self._transport.is_closing():
                self._transport.abort()
        elif self._file is not None:
            with contextlib.suppress(OSError, ValueError):
                self._file.close()


def start(server: CyclelensServer, requests: BinaryIO, replies: BinaryIO) -> None:
    """Serve one client until it leaves."""
    _run(server, _serve_streams(server, requests, replies))


def start_tcp(server: CyclelensServer, port: int) -> None:
    """Serve the first client that connects and speaks LSP, until it leaves."""
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
        writer = Replies(file=replies)
        if _is_pipe(replies):
            writer = Replies((await loop.connect_write_pipe(asyncio.BaseProtocol, replies))[0])
        await _serve(server, writer, lambda: stream.read(_CHUNK), lambda: _has_left(requests))
    else:
        await _serve(
            server,
            Replies(file=replies),
            lambda: loop.run_in_executor(None, os.read, requests.fileno(), _CHUNK),
            lambda: False,
        )


async def _serve_tcp(server: CyclelensServer, port: int) -> None:
    loop = asyncio.get_running_loop()
    connected: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]] = loop.create_future()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The first one whose first line is that of a message is the client. Anything else, a web page that
        tries ports for one, is refused, and the port goes on listening."""
        begun = b""
        while not (found := _HEADER.match(begun)) and len(begun) < _LONGEST_FIELD:
            try:
                data = await reader.read(_CHUNK)
            except ConnectionError:
                data = b""
            begun += data
            if not data or not _may_be_header(begun):
                break
        if found and not connected.done():
            connected.set_result((reader, writer, begun))
        else:
            writer.close()

    async with await asyncio.start_server(connect, HOST, port):
        reader, writer, begun = await connected
        await _serve(
            server,
            Replies(writer.transport),
            lambda: reader.read(_CHUNK),
            lambda: writer.transport.is_closing(),
            begun,
        )


def _may_be_header(begun: bytes) -> bool:
    """Whether these first bytes can still become the header of a message."""
    if ":" in begun.decode("latin-1"):
        return _HEADER.match(begun) is not None
    name = begun.rstrip(b" \t").lower()
    return any(known.startswith(name) for known in (b"content-length", b"content-type"))


async def _serve(
    server: CyclelensServer,
    replies: Replies,
    read: Callable[[], Awaitable[bytes]],
    has_left: Callable[[], bool],
    begun: bytes = b"",
) -> None:
    """``read`` returns what has arrived, nothing when the client has left."""
    # pygls waits for what closing returns if it can be waited for; its declared type does not say so.
    server.protocol.set_writer(replies)  # type: ignore[arg-type]
    messages = Messages()
    data = begun or await read()
    try:
        while data:
            for message in messages.feed(data):
                server.protocol.receive(message)
                # What has arrived is read without waiting: let others have their turn between two messages.
                await asyncio.sleep(0)
            while replies.unread > UNREAD_BYTES:
                if has_left():
                    return
                await asyncio.sleep(_POLL_SECONDS)
            data = await read()
    finally:
        if (parting := replies.close()) is not None:
            await parting


def _is_pipe(file: BinaryIO) -> bool:
    """Whether it is a pipe or a socket."""
    status = os.fstat(file.fileno())
    return stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode)


def _can_be_awaited(requests: BinaryIO, replies: BinaryIO) -> bool:
    """Whether it is a pipe or a socket, and another one than that of the replies: waiting needs a descriptor
    that does not block, and writing one that does."""
    if sys.platform == "win32":
        return False  # its event loop cannot wait for the pipes that a parent process makes
    same = os.path.samestat(os.fstat(requests.fileno()), os.fstat(replies.fileno()))
    return _is_pipe(requests) and not same


def _has_left(requests: BinaryIO) -> bool:
    """Whether nobody holds the other end any more, though there may be messages left to read."""
    if requests.closed:
        return True
    poll = select.poll()
    poll.register(requests, 0)
    return any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))
