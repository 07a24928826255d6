"""How messages arrive: in pieces, several at once, on a pipe, on a socket, or not at all."""

from __future__ import annotations

import io
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import IO, Any

import pytest
from cyclelens.server.app import create_server
from pygls.io_ import StdoutWriter

SERVER = [sys.executable, "-m", "cyclelens.analyzer.cli.main", "lsp"]
TIMEOUT = 60.0
URI = "file:///kernel.s"


def frame(**fields: object) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **fields}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def change(version: int, text: str) -> dict[str, Any]:
    return {"textDocument": {"uri": URI, "version": version}, "contentChanges": [{"text": text}]}


INITIALIZE = frame(id=1, method="initialize", params={"capabilities": {}})
SHUTDOWN = frame(id=2, method="shutdown")
EXIT = frame(method="exit")
OPEN = frame(
    method="textDocument/didOpen",
    params={"textDocument": {"uri": URI, "languageId": "asm", "version": 0, "text": ""}},
)


def answers(output: IO[bytes]) -> Iterator[dict[str, Any]]:
    while head := output.readline():
        length = int(head.split(b":")[1])
        while output.readline().strip():
            pass
        yield json.loads(output.read(length))


def answered(output: IO[bytes], identifier: int) -> Any:
    return next(answer for answer in answers(output) if answer.get("id") == identifier)["result"]


def pipes() -> subprocess.Popen[bytes]:
    return subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_messages_may_come_all_at_once() -> None:
    ask = {"textDocument": {"uri": URI}}
    edits = [
        frame(method="textDocument/didChange", params=change(number, f"label{number}:\n"))
        for number in range(1, 50)
    ]
    symbols = frame(id=3, method="textDocument/documentSymbol", params=ask)
    with pipes() as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"".join([INITIALIZE, OPEN, *edits, symbols, SHUTDOWN, EXIT]))
        server.stdin.flush()
        assert [symbol["name"] for symbol in answered(server.stdout, 3)] == ["label49"]
        assert server.wait(TIMEOUT) == 0


def test_a_refused_rename_is_an_answer_and_no_traceback() -> None:
    where = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
    rename = frame(id=3, method="textDocument/rename", params={**where, "newName": "other"})
    sent = b"".join([INITIALIZE, OPEN, rename, SHUTDOWN, EXIT])
    run = subprocess.run(SERVER, input=sent, capture_output=True, timeout=TIMEOUT, check=True)
    (answer,) = [answer for answer in answers(io.BytesIO(run.stdout)) if answer.get("id") == 3]
    assert answer["error"]["message"] == "There is nothing to rename here."
    assert run.stderr == b""


def test_messages_may_come_in_pieces() -> None:
    with pipes() as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for byte in INITIALIZE:
            server.stdin.write(bytes([byte]))
            server.stdin.flush()
        assert "capabilities" in answered(server.stdout, 1)
        server.stdin.write(SHUTDOWN + EXIT)
        server.stdin.flush()
        assert server.wait(TIMEOUT) == 0


def test_a_command_to_analyse_waits_for_the_settings() -> None:
    capabilities = {"workspace": {"configuration": True}}
    command = {"command": "cyclelens.analyse", "arguments": [URI]}
    with pipes() as server:
        assert server.stdin is not None
        assert server.stdout is not None
        sent = [
            frame(id=1, method="initialize", params={"capabilities": capabilities}),
            frame(method="initialized", params={}),
            OPEN,
            frame(id=3, method="workspace/executeCommand", params=command),
        ]
        server.stdin.write(b"".join(sent))
        server.stdin.flush()
        messages = answers(server.stdout)
        asked = next(one for one in messages if one.get("method") == "workspace/configuration")
        server.stdin.write(frame(id=asked["id"], result=[{"analyse": "manual"}]))
        server.stdin.flush()
        published = next(one for one in messages if one.get("method") == "textDocument/publishDiagnostics")
        assert published["params"]["version"] == 0
        server.stdin.write(SHUTDOWN + EXIT)
        server.stdin.flush()
        assert server.wait(TIMEOUT) == 0


@pytest.mark.parametrize("end", [b"", b"Content-Le", b"Content-Length: 100\r\n\r\n{"])
def test_a_client_that_leaves_without_a_word_ends_the_server(end: bytes) -> None:
    with pipes() as server:
        assert server.stdin is not None
        server.stdin.write(INITIALIZE + end)
        server.stdin.close()
        assert server.wait(TIMEOUT) == 1


def test_one_socket_may_be_both_input_and_output() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, subprocess.Popen(SERVER, stdin=theirs.fileno(), stdout=theirs.fileno()) as server:
        ours.settimeout(TIMEOUT)
        ours.sendall(INITIALIZE)
        assert "capabilities" in answered(ours.makefile("rb"), 1)
        ours.sendall(SHUTDOWN + EXIT)
        assert server.wait(TIMEOUT) == 0


def test_of_what_a_client_tells_nothing_is_kept() -> None:
    server = create_server()
    protocol = server.protocol
    protocol.set_writer(StdoutWriter(io.BytesIO()))
    edits = [frame(method="textDocument/didChange", params=change(n, "nop\n" * n)) for n in range(1, 4)]
    for message in answers(io.BytesIO(b"".join([INITIALIZE, OPEN, *edits]))):
        protocol.handle_message(protocol.structure_message(message))
    snapshot = server.session.get(URI)
    assert snapshot is not None
    assert snapshot.lines == ("nop", "nop", "nop", "")
    assert not protocol._request_futures


LONG = "\n".join(f"l{line}: jnz l{line * 7919 % 20_000}" for line in range(20_000))
"""A text whose analysis takes seconds."""


def test_an_exit_while_progress_is_shown_leaves_no_word_on_standard_error() -> None:
    capabilities = {"window": {"workDoneProgress": True}}
    sent = frame(
        method="textDocument/didOpen",
        params={"textDocument": {"uri": URI, "languageId": "asm", "version": 0, "text": LONG}},
    )
    with subprocess.Popen(
        SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        initialize = frame(id=1, method="initialize", params={"capabilities": capabilities})
        server.stdin.write(initialize + frame(method="initialized", params={}) + sent)
        server.stdin.flush()
        for message in answers(server.stdout):
            if message.get("method") == "window/workDoneProgress/create":
                server.stdin.write(frame(id=message["id"], result=None))
                server.stdin.flush()
            if message.get("method") == "$/progress":
                break
        server.stdin.write(SHUTDOWN + EXIT)
        server.stdin.flush()
        assert server.wait(TIMEOUT) == 0
        assert server.stderr.read() == b""


def test_the_server_ends_with_its_client_though_its_replies_are_unread() -> None:
    ask = {"textDocument": {"uri": URI}}
    symbols = b"".join(frame(id=n, method="textDocument/documentSymbol", params=ask) for n in range(10, 40))
    sent = frame(
        method="textDocument/didOpen",
        params={"textDocument": {"uri": URI, "languageId": "asm", "version": 0, "text": LONG}},
    )
    with pipes() as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(INITIALIZE + sent + symbols)
        server.stdin.close()
        # Far more than a pipe holds was answered; the other end of it stays open, and unread.
        assert server.wait(TIMEOUT) == 1
        server.stdout.close()
