"""What a command leaves behind when a signal ends it, and which signals do."""

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
from testkit.whole_files import needs_nasm

ENDLESS = "%rep 100000\n%rep 100000\nnop\n%endrep\n%endrep\n; cyclelens-begin\nret\n; cyclelens-end\n"
GOES_ON = 1.0
"""Seconds after which a command that a signal should have ended would be gone."""


OWN_ERRORS = ("SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGSYS")
"""After these no code of the program may run; the next start removes what is left."""
ELSEWHERE = ("SIGKILL", "SIGINT", "SIGPIPE", "SIGXFSZ", "SIGRTMIN", "SIGRTMAX")
"""What cannot be handled, what Python handles itself, and numbers without a meaning of their own."""
HARMLESS = ("SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGWINCH")
"""Ignored, or the process only stops."""


def ends(number: signal.Signals) -> bool:
    """Whether a signal ends a process that does nothing about it, and can be handled."""
    return number.name not in (*OWN_ERRORS, *ELSEWHERE, *HARMLESS)


@contextmanager
def in_assembler(
    folder: Path, number: signal.Signals, handling: signal.Handlers
) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A command whose assembler is at work, and the folder of its temporary files.

    ``handling``: what the signal does when the command starts. A child inherits it: ``nohup`` ignores SIGHUP,
    and a shell ignores SIGQUIT for what it starts in the background.
    """
    (text := folder / "k.asm").write_text(ENDLESS)
    (place := folder / "temporary").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "cyclelens.analyzer.cli.main", "analyze", "--assembler", "nasm", str(text)],
        env={**os.environ, "TMPDIR": str(place)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(number, handling),
    )
    try:
        # Python itself tries a file there first.
        while not any(place.glob("cyclelens-*")):
            assert process.poll() is None
            time.sleep(0.01)
        yield process, place
    finally:
        process.kill()
        process.wait()


@needs_nasm
@pytest.mark.parametrize(
    "number",
    sorted(each for each in signal.valid_signals() if isinstance(each, signal.Signals) and ends(each)),
    ids=lambda number: number.name,
)
def test_a_command_that_is_ended_leaves_no_folder(number: signal.Signals, tmp_path: Path) -> None:
    with in_assembler(tmp_path, number, signal.SIG_DFL) as (process, place):
        process.send_signal(number)
        assert process.wait(60) == 128 + number
        assert list(place.iterdir()) == []


@needs_nasm
def test_a_command_under_nohup_goes_on_when_its_terminal_is_closed(tmp_path: Path) -> None:
    with in_assembler(tmp_path, signal.SIGHUP, signal.SIG_IGN) as (process, place):
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(GOES_ON)
        assert any(place.iterdir())
        process.terminate()
        assert process.wait(60) == 128 + signal.SIGTERM
        assert list(place.iterdir()) == []
