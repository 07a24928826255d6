"""Without its compiled form the command line works the same, and says on a terminal why it is slow."""

import io
import sys

import pytest
from cyclelens.analyzer import cli
from cyclelens.analyzer.simulator import form


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    "compiled, command, stderr, noted",
    [
        (False, "predict", Terminal, True),
        (False, "evaluate", Terminal, True),
        (False, "analyze", Terminal, True),
        (False, "check", Terminal, True),
        (False, "predict", io.StringIO, False),
        (False, "arch", Terminal, False),
        (True, "predict", Terminal, False),
    ],
)
def test_a_command_that_simulates_says_once_that_it_runs_uncompiled(
    monkeypatch: pytest.MonkeyPatch, compiled: bool, command: str, stderr: type[io.StringIO], noted: bool
) -> None:
    stream = stderr()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(form, "compiled", lambda: compiled)
    assert cli.main([command, "--help"]) == 0
    assert stream.getvalue().count("running uncompiled") == noted
