"""A long analysis shows on a terminal that it goes on, and leaves nothing behind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cyclelens.analyzer.cli import waiting
from cyclelens.analyzer.cli.main import main


def test_the_seconds_are_shown_after_a_while_and_removed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr(waiting, "monotonic", lambda: now)
    with waiting.Waiting() as called:
        now = 101.0
        assert not called()
        assert capsys.readouterr().err == ""
        now = 103.0
        assert not called()
        now = 103.1
        assert not called()
        assert capsys.readouterr().err == "\ranalysing for 3 s"
    assert capsys.readouterr().err == "\r\x1b[K"


@pytest.mark.parametrize("is_terminal", [False, True])
def test_a_short_analysis_shows_nothing(
    is_terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.s").write_text("1: dec %rcx\n jnz 1b\n")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    monkeypatch.setattr(waiting, "monotonic", lambda: 0.0)
    assert main(["analyze", str(tmp_path / "a.s"), "--arch", "SKL"]) == 0
    assert capsys.readouterr().err == ""
