"""A minimal editor for benchmarks: it exchanges JSON frames over a server's standard streams.

A client library parses every message into Python objects, which no real editor does, so the figures must not
include it. Here a message stays bytes until the clock has stopped, except the few that announce new hints.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

SERVER = (sys.executable, "-m", "cyclelens.analyzer.cli.main", "lsp")
TIMEOUT = 120.0
"""Seconds after which a server counts as hung."""

WINDOW = 50
"""Lines above and below an edit whose hints the editor requests."""


class Editor:
    """Sends edits of one document and waits for what the server shows."""

    def __init__(
        self, text: str, debounce: int, microarchitectures: Sequence[str], command: Sequence[str] = SERVER
    ) -> None:
        self.lines = text.splitlines()
        self.hints: list[dict[str, Any]] = []
        """Hints of the last answer."""
        self._command = command
        self._settings = {"debounceMs": debounce, "microarchitectures": list(microarchitectures)}
        self._document: dict[str, Any] = {"uri": "file:///benchmark.s", "version": 0}
        self._published = -1
        self._requests = 0
        self._process: asyncio.subprocess.Process

    @property
    def pid(self) -> int:
        """Process id of the server."""
        return self._process.pid

    async def open(self) -> float:
        """Start the server and open the document. Returns seconds until its hints are there."""
        started = time.perf_counter()
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        initialize = {
            "processId": None,
            "rootUri": None,
            "capabilities": {"workspace": {"inlayHint": {"refreshSupport": True}}},
            "initializationOptions": self._settings,
        }
        await self._request("initialize", initialize)
        self._send({"method": "initialized", "params": {}})
        document = {**self._document, "languageId": "asm", "text": "\n".join(self.lines)}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        await self._refreshed(None)
        return time.perf_counter() - started

    async def edit(self, line: int, text: str) -> float:
        """Replace a line. Returns seconds until the new hints are there."""
        self._document["version"] += 1
        end = {"line": line, "character": len(self.lines[line])}
        change = {"range": {"start": {"line": line, "character": 0}, "end": end}, "text": text}
        self.lines[line] = text
        message = _frame(
            {
                "method": "textDocument/didChange",
                "params": {"textDocument": self._document, "contentChanges": [change]},
            }
        )
        started = time.perf_counter()
        self._write(message)
        return await self._refreshed(line) - started

    async def ask(self, method: str) -> Any:
        """The server's answer to a request about the whole document."""
        answer, _ = await self._request(method, {"textDocument": {"uri": self._document["uri"]}})
        return answer

    async def close(self) -> None:
        """End the server properly."""
        await self._request("shutdown", None)
        self._send({"method": "exit"})
        await asyncio.wait_for(self._process.wait(), TIMEOUT)

    async def _refreshed(self, line: int | None) -> float:
        """Wait for new results about the present text, then request the hints of a window around the line.

        Without a line, requests all hints. Returns the arrival time of their bytes by
        ``time.perf_counter``."""
        while True:
            message = json.loads(await self._read())
            method = message.get("method")
            if method == "textDocument/publishDiagnostics":
                self._published = message["params"].get("version", -1)
            if "id" in message and method is not None:
                self._send({"id": message["id"], "result": None})
            # Diagnostics come first and name the version of a refresh.
            if method == "workspace/inlayHint/refresh" and self._published == self._document["version"]:
                break
        first, last = (0, len(self.lines)) if line is None else (max(line - WINDOW, 0), line + WINDOW)
        window = {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}}
        document = {"uri": self._document["uri"]}
        self.hints, arrived = await self._request(
            "textDocument/inlayHint", {"textDocument": document, "range": window}
        )
        if not self.hints:
            raise SystemExit("no hints: the file has no region that can be analysed")
        return arrived

    async def _request(self, method: str, params: object) -> tuple[Any, float]:
        """Send a request and wait. Returns the result and the arrival time of its bytes."""
        self._requests += 1
        self._send({"id": self._requests, "method": method, "params": params})
        while True:
            frame = await self._read()
            arrived = time.perf_counter()
            message = json.loads(frame)
            if message.get("id") == self._requests and "method" not in message:
                return message["result"], arrived

    def _send(self, message: dict[str, Any]) -> None:
        self._write(_frame(message))

    def _write(self, frame: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(frame)

    async def _read(self) -> bytes:
        """The next message."""
        assert self._process.stdout is not None
        async with asyncio.timeout(TIMEOUT):
            head = await self._process.stdout.readuntil(b"\r\n\r\n")
            fields = dict(line.split(b": ") for line in head.split(b"\r\n") if line)
            return await self._process.stdout.readexactly(int(fields[b"Content-Length"]))


def _frame(message: dict[str, Any]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
