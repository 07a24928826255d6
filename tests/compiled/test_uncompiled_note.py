"""Without its compiled form the command line works the same, and its standard error says why it is slow."""

import io
import sys

import pytest
from cyclelens.analyzer.cli import main as cli
from cyclelens.analyzer.simulator import form


@pytest.mark.parametrize(
    "compiled, command, noted",
    [
        (False, "predict", True),
        (False, "evaluate", True),
        (False, "analyze", True),
        (False, "check", True),
        (False, "arch", False),
        (True, "predict", False),
    ],
)
def test_a_command_that_simulates_says_once_that_it_runs_uncompiled(
    monkeypatch: pytest.MonkeyPatch, compiled: bool, command: str, noted: bool
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(form, "compiled", lambda: compiled)
    assert cli.main([command, "--help"]) == 0
    assert stream.getvalue().count("running uncompiled") == noted
