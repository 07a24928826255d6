"""Starts commands whose modules are imported already, as forks of one process that has imported them.

Imports take three quarters of the time of a short session. The worker processes of a server are forks, too:
of Python's own fork server. Tests of starts, signals and ends of processes start the real program.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import multiprocessing
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any, NoReturn

FAKE = "fake"
"""A command of tests: the server's workers run the fake engine."""
_STARTER = Path(__file__).with_name("start_preloaded.py")
_WORKER_MODULES = ["cyclelens.server.workers.engine", "cyclelens.server.worker_messages.exchange", __name__]


@contextlib.contextmanager
def preloaded_command(*modules: str) -> Iterator[list[str]]:
    """The words that start ``cyclelens`` while the context lasts; those of the command follow them.
    ``modules``: what the command needs besides."""
    with tempfile.TemporaryDirectory() as folder:
        address = os.path.join(folder, "socket")
        program = f"from {__name__} import offer; offer({address!r}, {modules!r})"
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        with process, process.stdout, process.stdin:
            assert process.stdout.readline() == b"ready\n"
            yield [sys.executable, "-IS", str(_STARTER), address]


class _Process(ForkServerProcess):
    """A worker in the environment of its server."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._environment = dict(os.environ)

    def run(self) -> None:
        os.environ.clear()
        os.environ.update(self._environment)
        super().run()


class _Context(ForkServerContext):
    Process = _Process  # type: ignore[assignment]


def offer(address: str, modules: Iterable[str]) -> None:
    """Fork a command for each connection, until standard input ends."""
    from cyclelens.analyzer.cli import analyze, main
    from cyclelens.server import app

    assert app.FEATURES
    assert main.COMMANDS
    assert callable(analyze.main)
    for module in modules:
        importlib.import_module(module)
    context = _Context()
    context.set_forkserver_preload(_WORKER_MODULES)
    multiprocessing.get_context = lambda method=None: context  # type: ignore[assignment,misc]
    forkserver.ensure_running()
    # All servers share it, although only this process may wait for it.
    forkserver._forkserver.ensure_running = lambda: None  # type: ignore[attr-defined,method-assign]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(16)
    print("ready", flush=True)
    while True:
        readable, _, _ = select.select([listener.fileno(), 0], [], [])
        if listener.fileno() not in readable:
            return
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _run(connection)
        connection.close()


def _run(connection: socket.socket) -> None:
    """Run the command in a child and report its exit status. Returns never in this process."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    told = json.loads(connection.makefile().readline())
    child = os.fork()
    if child == 0:
        connection.close()
        _become_command(streams, told)
    for number in (*streams, 0, 1):
        os.close(number)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(OSError):
        connection.sendall(f"{status}\n".encode())
    os._exit(0)


def _become_command(streams: list[int], told: dict[str, Any]) -> NoReturn:
    """Run the command line, or a server with the fake engine, on these streams."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (
        open(0, closefd=False),  # noqa: SIM115
        open(1, "w", closefd=False),  # noqa: SIM115
        open(2, "w", buffering=1, errors="backslashreplace", closefd=False),  # noqa: SIM115
    )
    os.environ.clear()
    os.environ.update(told["environment"])
    os.chdir(told["folder"])
    if told["words"] == [FAKE]:
        from cyclelens.server.app import create_server, run

        sys.exit(run(server=create_server("testkit.server.fake_engine:create")))
    sys.argv = ["cyclelens", *told["words"]]
    from cyclelens.analyzer.cli.main import command

    command()
