"""Fuzzes what other programs send: messages of LSP, URIs, connections to `lsp --tcp`, questions to the page.

    python benchmarks/fuzzing_protocols.py [TARGET...] [--seconds 60] [--seed 1]

Targets: ``bytes`` cuts and changes streams of messages; ``messages`` changes the parameters of valid
messages to a real server; ``uris`` changes URIs; ``tcp`` connects with anything but LSP; ``page`` asks the
server of the page. Without a target, all take turns. Each begins with the inputs of
``tests/robustness/fuzzed``. A failure is an exception, an internal error, or no answer. It is printed with
its input, which belongs into that folder once its cause is mended.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import queue
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from cyclelens.analyzer.serving.answers import Answers
from cyclelens.analyzer.serving.pages import PageServer
from cyclelens.server.documents.origins import origin_of
from cyclelens.server.protocol.protocol import MAXIMUM_BODY, Messages
from editor_client import SERVER, _frame

CORPUS = Path(__file__).parents[1] / "tests" / "robustness" / "fuzzed"
PATIENCE = 120.0
"""Seconds after which no answer counts as none."""
INTERNAL = -32603
BATCH = 100
"""Messages between two checks that the server still works."""
_DEEP: Any = []
for _ in range(300):
    _DEEP = [_DEEP]
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2**31, -(2**63), 10**400, 1.5, 1e308, float("nan")),
    *("", "\0", "\ud800", "\u202e", "x" * 10_000, "file:///k.s", "dot", "7", [], {}, [[]], {"uri": 5}, _DEEP),
)
"""Values in place of others."""
_ENDING = ("exit", "shutdown", "initialize")
"""Methods that end a server, or begin it once more."""


class FuzzingError(Exception):
    """What went wrong, with the input."""


def inputs(name: str) -> list[str]:
    """The lines of a file of the corpus."""
    return (CORPUS / name).read_text(encoding="utf-8").splitlines()


def changed(value: Any, source: random.Random) -> Any:
    """JSON with one part replaced, removed, doubled, or put somewhere else."""
    if isinstance(value, dict) and value and source.random() < 0.9:
        key = source.choice(sorted(value))
        if (what := source.random()) < 0.1:
            return {name: inner for name, inner in value.items() if name != key}
        if what < 0.15:
            return {**value, source.choice((*value, "extra")): source.choice(ODD)}
        return {**value, key: changed(value[key], source)}
    if isinstance(value, list) and value and source.random() < 0.9:
        at = source.randrange(len(value))
        if source.random() < 0.2:
            return value[:at] + value[at + source.choice((0, 1)) * 2 :] + value[at : at + 1]
        return [*value[:at], changed(value[at], source), *value[at + 1 :]]
    if isinstance(value, str) and value and source.random() < 0.5:
        return cut(value.encode("utf-8", "replace"), source).decode("utf-8", "replace")
    return source.choice(ODD)


def cut(data: bytes, source: random.Random) -> bytes:
    """Bytes with one to three changes."""
    found = bytearray(data)
    for _ in range(source.randint(1, 3)):
        at = source.randrange(len(found) + 1)
        what = source.random()
        if what < 0.3:
            found[at:at] = bytes((source.choice((0, 10, 13, 32, 37, 45, 47, 57, 58, 91, 128, 255)),))
        elif what < 0.5:
            found[at:at] = str(source.choice((0, -1, 2**31, 10**30))).encode()
        elif what < 0.7:
            del found[at : at + source.randrange(1, 9)]
        elif what < 0.9:
            found[at : at + 1] = bytes((source.randrange(256),))
        else:
            found[at:at] = found[: source.randrange(len(found) + 1)]
    return bytes(found)


@contextmanager
def bytes_target(source: random.Random) -> Iterator[Callable[[], None]]:
    """Streams of messages in pieces: no exception, and not more memory than a message may have."""
    frames = [_frame(json.loads(line)) for line in inputs("messages.jsonl")]

    def one() -> None:
        stream = b"".join(source.choices(frames, k=3))
        stream = cut(stream, source) if source.random() < 0.9 else stream
        messages, at = Messages(), 0
        try:
            while at < len(stream):
                size = source.choice((1, 7, 100, 10_000))
                for _ in messages.feed(stream[at : at + size]):
                    pass
                at += size
        except Exception as error:
            raise FuzzingError(f"{type(error).__name__}: {error}: {stream!r}") from error
        if len(messages._buffer) > MAXIMUM_BODY:
            raise FuzzingError(f"keeps {len(messages._buffer)} bytes: {stream[:300]!r}")

    yield one


@contextmanager
def uris_target(source: random.Random) -> Iterator[Callable[[], None]]:
    """URIs: each has a path that the system accepts, or none."""
    known = inputs("uris.txt")

    def one() -> None:
        uri = cut(source.choice(known).encode(), source).decode("utf-8", "surrogateescape")
        try:
            origin = origin_of(uri, [source.choice(known)], ("include",), (), ("first.inc",))
            for path in (origin.path, *origin.folders):
                os.path.exists(path)
                os.fsencode(path)
        except Exception as error:
            raise FuzzingError(f"{type(error).__name__}: {error}: {uri!r}") from error
        if "\0" in origin.path:
            raise FuzzingError(f"a NUL in the path of {uri!r}")

    yield one


class LspClient:
    """A real server on its standard streams."""

    def __init__(self) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log
        )
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.sent: list[dict[str, Any]] = []
        """Messages since the last check."""
        self.send({"id": "begin", "method": "initialize", "params": {"capabilities": {}}})
        self.send({"method": "initialized", "params": {}})

    def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(_frame(message))
            self._process.stdin.flush()

    def check(self) -> None:
        """Raises FuzzingError after an internal error, or if the server no longer answers."""
        probe = f"probe {time.monotonic()}"
        # Answers null for a document that is not open.
        params = {"textDocument": {"uri": "file:///never-opened.s"}}
        self.send({"id": probe, "method": "cyclelens/regions", "params": params})
        end = time.monotonic() + PATIENCE
        while True:
            try:
                answer = self._answers.get(timeout=max(end - time.monotonic(), 0.01))
            except queue.Empty:
                raise FuzzingError(f"no answer after {json.dumps(self.sent)[:3000]}") from None
            if answer is None:
                raise FuzzingError(f"the server ended after {json.dumps(self.sent)[:3000]}")
            if "method" in answer and "id" in answer:
                self.send({"id": answer["id"], "result": None})
            if (answer.get("error") or {}).get("code") == INTERNAL:
                asked = [each for each in self.sent if each.get("id") == answer["id"]]
                raise FuzzingError(f"{answer['error']}: {json.dumps(asked)[:3000]}")
            if answer.get("id") == probe:
                self.sent.clear()
                return

    def end(self) -> None:
        """Raises FuzzingError if the server does not end properly."""
        self.send({"id": "end", "method": "shutdown"})
        self.send({"method": "exit"})
        try:
            code = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise FuzzingError("the server does not end") from None
        self._log.seek(0)
        errors = self._log.read().decode(errors="replace")
        if code or "Traceback" in errors:
            raise FuzzingError(f"exit code {code}: {errors[-2000:]}")

    def _read(self) -> None:
        messages = Messages()
        assert self._process.stdout is not None
        while data := os.read(self._process.stdout.fileno(), 1 << 16):
            for message in messages.feed(data):
                self._answers.put(message if isinstance(message, dict) else {})
        self._answers.put(None)


@contextmanager
def messages_target(source: random.Random) -> Iterator[Callable[[], None]]:
    """Messages with changed parameters, to a real server."""
    known = [json.loads(line) for line in inputs("messages.jsonl")]
    client, number = LspClient(), 0

    def one() -> None:
        nonlocal number
        number += 1
        message = source.choice(known)
        for _ in range(source.choice((0, 1, 1, 1, 2, 3))):
            params = changed(message.get("params"), source)
            message = {**message, "params": params}
        if "id" in message:
            message = {**message, "id": number}
        if message.get("method") not in _ENDING:
            client.send(message)
        if number % BATCH == 0:
            client.check()

    yield one
    client.check()
    client.end()


@contextmanager
def tcp_target(source: random.Random) -> Iterator[Callable[[], None]]:
    """Connections to ``lsp --tcp``. One that begins as LSP is a client, whose end is that of the server."""
    begins = [line.encode().decode("unicode_escape").encode("latin-1") for line in inputs("connections.txt")]
    with tempfile.TemporaryFile() as log:
        server = Listening(log)

        def one() -> None:
            nonlocal server
            begun = source.choice(begins)
            begun = cut(begun, source) if source.random() < 0.9 else begun
            if server.has_ended:
                server = Listening(log)
            try:
                with server.connected() as client, suppress(ConnectionError):
                    client.sendall(begun)
                    client.shutdown(socket.SHUT_WR)
                    while client.recv(1 << 16):
                        pass
            except OSError as error:
                raise FuzzingError(f"{error}: {begun!r}") from error
            log.seek(0)
            if b"Traceback" in (errors := log.read()):
                raise FuzzingError(f"{errors[-2000:].decode()}: {begun!r}")

        yield one
        server.end()


class Listening:
    """A server that waits for a client on a port."""

    def __init__(self, log: Any) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = int(free.getsockname()[1])
        self._process = subprocess.Popen((*SERVER, "--tcp", str(self._port)), stderr=log)
        self._has_listened = False

    @property
    def has_ended(self) -> bool:
        """The server had a client, or has failed."""
        return not self._listens and self._process.wait(PATIENCE) is not None

    @property
    def _listens(self) -> bool:
        try:
            self.connected().close()
        except OSError:
            return False
        return True

    def connected(self) -> socket.socket:
        """A connection. Raises OSError."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                found = socket.create_connection(("127.0.0.1", self._port), timeout=PATIENCE)
                self._has_listened = True
                return found
            except ConnectionRefusedError:
                if time.monotonic() > end or self._has_listened:
                    raise
                time.sleep(0.02)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def page_target(source: random.Random) -> Iterator[Callable[[], None]]:
    """Questions to the page's server, and requests that are none."""
    known = [json.loads(line) for line in inputs("questions.jsonl")]
    with PageServer(Answers(external_programs=False), 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()

        def one() -> None:
            path, question = source.choice(known)
            for _ in range(source.choice((1, 1, 2, 3))):
                question = changed(question, source)
            body = json.dumps(question).encode()
            head = (
                f"POST /{path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            ).encode()
            if source.random() < 0.3:
                head = cut(head, source)
            with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
                with suppress(OSError):  # refused before it was read
                    client.sendall(head + body)
                    client.shutdown(socket.SHUT_WR)
                response = http.client.HTTPResponse(client)
                try:
                    response.begin()
                    content = response.read()
                except (http.client.HTTPException, ConnectionError):
                    return  # closed without an answer, as HTTP allows where no request can be read
                except TimeoutError:
                    raise FuzzingError(f"no answer: {head + body!r}") from None
                if response.status == http.client.INTERNAL_SERVER_ERROR:
                    raise FuzzingError(f"{content!r}: {(head + body)[:3000]!r}")

        try:
            yield one
        finally:
            server.shutdown()
            thread.join()


TARGETS = {
    "bytes": bytes_target,
    "messages": messages_target,
    "uris": uris_target,
    "tcp": tcp_target,
    "page": page_target,
}


def fuzz(name: str, seconds: float, seed: int) -> tuple[int, float]:
    """Run a target. Returns the number of inputs and the seconds of the slowest. Raises FuzzingError."""
    count, slowest = 0, 0.0
    with TARGETS[name](random.Random(f"{name} {seed}")) as one:
        end = time.monotonic() + seconds
        while (begun := time.monotonic()) < end:
            one()
            count += 1
            slowest = max(slowest, time.monotonic() - begun)
    return count, slowest


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--seconds", type=float, default=60, help="for each target")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if unknown := set(options.targets) - TARGETS.keys():
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    failed = False
    for name in options.targets or TARGETS:
        try:
            count, slowest = fuzz(name, options.seconds, options.seed)
            print(f"{name}: {count:,} inputs, slowest {slowest:.2f} s", flush=True)
        except FuzzingError as error:
            failed = True
            print(f"{name}: {error}", flush=True)
    # Threads of a failed target may still wait for a server.
    sys.stdout.flush()
    os._exit(int(failed))


if __name__ == "__main__":
    main()
