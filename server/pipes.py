"""Serves one client over standard input and output, or a port of the loopback interface.

Where the system allows it, the event loop itself waits for input. A reader thread would cost hand-overs,
which take longer on a busy machine than handling a message. Output goes through ``Replies``: the server never
blocks on a client that does not read, and sends nothing to one that has left.
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

from cyclelens.analyzer.common.input_error import InputError
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.protocol.protocol import Messages

HOST = "127.0.0.1"
UNREAD_BYTES = 16 << 20
"""Largest number of bytes that a client may leave unread; beyond it, its further messages wait."""
PARTING_SECONDS = 2.0
"""Seconds that the last replies have to go out after the client disconnects."""
_CHUNK = 1 << 16
_POLL_SECONDS = 0.05
_HEADER = re.compile(rb"Content-(?:Length|Type)[ \t]*:", re.IGNORECASE)
_LONGEST_FIELD = len(b"Content-Length") + 64


class Replies:
    """Output to the client, with the interface of a pygls writer. Once the client has left, nothing is raised
    or logged."""

    def __init__(self, transport: asyncio.WriteTransport | None = None, file: BinaryIO | None = None) -> None:
        """:param transport: writes through the event loop without blocking; otherwise ``file`` is used."""
        self._transport = transport
        self._file = file
        self._closed = False

    @property
    def unread(self) -> int:
        """Bytes that the client has not read yet."""
        return self._transport.get_write_buffer_size() if self._transport and not self._closed else 0

    def write(self, data: bytes) -> None:
        """Send data; discard it if the client has left."""
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
        """Stop writing. Pending data still goes out if the client reads it within ``PARTING_SECONDS``; the
        caller awaits the returned value."""
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
        """Accept the first connection whose first line is a message header. Refuse anything else, such as a
        web page that probes ports, and keep listening."""
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

    try:
        listening = await asyncio.start_server(connect, HOST, port)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise InputError(f"port {port} cannot be used: {reason}") from None
    async with listening:
        reader, writer, begun = await connected
        await _serve(
            server,
            Replies(writer.transport),
            lambda: reader.read(_CHUNK),
            lambda: writer.transport.is_closing(),
            begun,
        )


def _may_be_header(begun: bytes) -> bool:
    """Whether these first bytes can still become a message header."""
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
    """Serve messages. ``read`` returns what has arrived, and nothing once the client has left."""
    # pygls awaits the result of closing if it is awaitable; its declared type does not say so.
    server.protocol.set_writer(replies)  # type: ignore[arg-type]
    messages = Messages()
    data = begun or await read()
    try:
        while data:
            for message in messages.feed(data):
                server.protocol.receive(message)
                del message  # It may be large, and the next one may not come for hours.
                # Messages that have arrived are read without waiting: let other tasks run in between.
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
    """Whether the file is a pipe or a socket."""
    status = os.fstat(file.fileno())
    return stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode)


def _can_be_awaited(requests: BinaryIO, replies: BinaryIO) -> bool:
    """Whether the event loop can read the requests: they come through a pipe or a socket that is not also the
    one for replies. Reading needs a non-blocking descriptor and writing a blocking one."""
    if sys.platform == "win32":
        return False  # its event loop cannot wait for the pipes that a parent process makes
    same = os.path.samestat(os.fstat(requests.fileno()), os.fstat(replies.fileno()))
    return _is_pipe(requests) and not same


def _has_left(requests: BinaryIO) -> bool:
    """Whether the other end is closed, though messages may be left to read."""
    if requests.closed:
        return True
    poll = select.poll()
    poll.register(requests, 0)
    return any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))
