"""``--tcp PORT`` is for debugging: one client, on the loopback interface only."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time

import pytest
from cyclelens.analyzer.cli import main as cli

TIMEOUT = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def connect(port: int) -> socket.socket:
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def message(**fields: object) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **fields}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def leave(client: socket.socket) -> None:
    """Shut down and exit, as a client should."""
    client.sendall(message(id=2, method="shutdown"))
    client.recv(4096)
    client.sendall(message(method="exit"))


@pytest.mark.parametrize("option", ["70000", "-1", "x", "\uff11"])
def test_what_is_no_port_is_named(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["lsp", f"--tcp={option}"]) == 2
    assert f"'{option}' is not a port" in capsys.readouterr().err


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "cyclelens.analyzer.cli.main", "lsp", "--tcp", str(port)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert ended.returncode == 1
    assert f"port {port} cannot be used: Address already in use" in ended.stderr


@pytest.mark.parametrize("politely", [True, False], ids=["after exit", "after the connection is lost"])
def test_it_serves_one_client_and_ends(politely: bool) -> None:
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "cyclelens.analyzer.cli.main", "lsp", "--tcp", str(port)]
    )
    try:
        with connect(port) as client:
            client.sendall(message(id=1, method="initialize", params={"capabilities": {}}))
            assert b"Content-Length" in client.recv(4096)
            if politely:
                leave(client)
        code = server.wait(TIMEOUT)
    finally:
        server.kill()
        server.wait()
    assert code == (0 if politely else 1)


FOREIGN = {
    "POST": b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n",
    "GET": b"GET / HTTP/1.1\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00",
    "nothing": b"",
}


def test_what_does_not_begin_as_lsp_is_refused_and_does_not_end_the_server() -> None:
    port = free_port()
    hidden = message(id=1, method="initialize", params={"capabilities": {}})
    server = subprocess.Popen(
        [sys.executable, "-m", "cyclelens.analyzer.cli.main", "lsp", "--tcp", str(port)]
    )
    try:
        for kind, foreign in FOREIGN.items():
            with connect(port) as page:
                page.sendall(foreign + (hidden if foreign else b""))
                page.shutdown(socket.SHUT_WR)
                answer = b""
                with contextlib.suppress(ConnectionResetError):
                    answer = page.recv(4096)
                assert answer == b"", kind
        with connect(port) as client:
            # Its first line may come in pieces.
            client.sendall(hidden[:5])
            time.sleep(0.05)
            client.sendall(hidden[5:])
            assert b"Content-Length" in client.recv(4096)
            leave(client)
            code = server.wait(TIMEOUT)
    finally:
        server.kill()
        server.wait()
    assert code == 0
