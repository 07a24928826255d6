"""``--jobs``: no process outlives its command, however the command ends. These tests use real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="children are looked up in Linux' /proc"
)
_PATIENCE = 60.0
"""Seconds; machines may be busy."""
_CYCLELENS = [sys.executable, "-m", "cyclelens.analyzer.cli.main"]


def _children(process: int) -> set[int]:
    """The descendants of a process."""
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text()
    except OSError:
        return set()
    own = {int(number) for number in text.split()}
    return own.union(*map(_children, own))


def _state(process: int) -> str:
    """``S`` while it sleeps, ``Z`` from its end until its parent waits for it; empty if it is gone."""
    try:
        # The state follows the name in brackets.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def _alive(process: int) -> bool:
    return _state(process) not in ("", "Z")


def _wait(what: str, condition: object) -> None:
    assert callable(condition)
    limit = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < limit, f"waited in vain for {what}"
        time.sleep(0.02)


def _hear_interrupts() -> None:
    """What a shell runs in the background does not: neither would a command that is started from there."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def _predicting() -> Iterator[subprocess.Popen[bytes]]:
    """``predict`` with two workers that have answered, waiting for more input."""
    command = [*_CYCLELENS, "predict", "--arch", "SKL", "--mode", "unroll", "--jobs", "2"]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_hear_interrupts,
    )
    assert process.stdin is not None and process.stdout is not None
    with process:
        process.stdin.write(b"4801d8\n" * 1000)
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"hex,")
        assert process.stdout.readline() == b"4801d8,1.00,\n"
        # The first answers are the command's own.
        _wait("the workers", lambda: len(_children(process.pid)) >= 2)
        # A signal in the moment between Python's last look for one and its system call is seen after that.
        _wait("the command to read", lambda: _state(process.pid) == "S")
        yield process


@contextmanager
def _evaluating(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """``evaluate`` with two workers in the middle of their work."""
    file, finished = folder / "figures.csv", folder / "finished"
    rows = [f"{'4801d8' * 40}48{0x81C0:04x}{number:08x},SKL,unroll,41.00" for number in range(20_000)]
    file.write_text("\n".join(["hex,microarchitecture,mode,cycles_per_iteration", *rows]))
    command = [*_CYCLELENS, "evaluate", "--against", str(file), "--jobs", "2", "--resume", str(finished)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=_hear_interrupts
    ) as process:
        _wait("a finished block", lambda: finished.exists() or process.poll() is not None)
        yield process


@pytest.mark.parametrize("command", ["predict", "evaluate"])
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_no_worker_outlives_the_command(
    command: str, number: signal.Signals, code: int, tmp_path: Path
) -> None:
    running = _predicting() if command == "predict" else _evaluating(tmp_path)
    with running as process:
        workers = _children(process.pid)
        assert len(workers) >= 2
        os.kill(process.pid, number)
        process.wait(_PATIENCE)
        _wait("the workers' end", lambda: not any(map(_alive, workers)))
    assert process.returncode == code


def test_the_end_of_the_input_is_the_end_of_all() -> None:
    with _predicting() as process:
        workers = _children(process.pid)
        assert process.stdin is not None
        process.stdin.close()  # as when what writes the blocks is gone
        assert process.wait(_PATIENCE) == 0
        _wait("the workers' end", lambda: not any(map(_alive, workers)))


_AT_A_FORK = """
import os, signal
from cyclelens.analyzer.cli.main import _end_on_signals
from cyclelens.analyzer.engine.workers import pool, start_worker
_end_on_signals()
os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGTERM))
with pool(1, start_worker) as processes:
    print(processes.submit(abs, -1).result())
"""


def test_a_signal_during_a_fork_is_not_lost() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _AT_A_FORK], capture_output=True, text=True, timeout=_PATIENCE
    )
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGTERM, "", "")


_MASK = """
from signal import SIG_BLOCK, pthread_sigmask
from cyclelens.analyzer.engine.workers import pool, start_worker
with pool(1, start_worker) as processes:
    print(processes.submit(pthread_sigmask, SIG_BLOCK, ()).result(), pthread_sigmask(SIG_BLOCK, ()))
"""


def test_no_signal_stays_blocked() -> None:
    done = subprocess.run([sys.executable, "-c", _MASK], capture_output=True, text=True, timeout=_PATIENCE)
    assert done.stdout == "set() set()\n", done.stderr
