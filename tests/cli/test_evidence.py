"""What remains after a failure: the log, tracebacks, and the file for a bug report."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from cyclelens.analyzer.cli import main as cli
from cyclelens.analyzer.common import log
from cyclelens.analyzer.engine import answers, prediction
from cyclelens.analyzer.frontend import assemble as frontend
from cyclelens.analyzer.model.source import Problem

KERNEL = "# cyclelens-begin one\nadd %rax, %rbx\n# cyclelens-end\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which a test's commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(log.LOG, raising=False)
    (tmp_path / "kernel.s").write_text(KERNEL)
    return tmp_path


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the building of every block fail."""

    def build(*_: object, **__: object) -> None:
        raise KeyError("oops")

    for door in (answers, prediction):
        monkeypatch.setattr(door, "build_block", build)


def logged(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str]:
    """Exit code and log of a command."""
    with monkeypatch.context() as context:
        context.setenv(log.LOG, "")  # so that what --log sets ends with the command
        code = cli.main([*arguments, "--log", "x.log"])
    return code, Path("x.log").read_text()


def test_a_command_adds_a_line_with_its_times(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert logged(monkeypatch, "analyze", "kernel.s")[0] == 0
    code, lines = logged(monkeypatch, "analyze", "no where.s")
    assert code == 1
    pattern = r"\S+\+00:00 \d+ command arguments='analyze {}' exit={} ms=[\d.]+ processor_ms=[\d.]+\n"
    first, second = (
        pattern.format(r"kernel\.s --log x\.log", 0),
        pattern.format(r"no where\.s --log x\.log", 1),
    )
    assert re.fullmatch(first + second, lines)


@pytest.mark.usefixtures("broken")
def test_an_internal_error_keeps_its_traceback(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, lines = logged(monkeypatch, "analyze", "kernel.s", "--format", "json")
    assert "    Traceback (most recent call last):\n" in lines
    assert "    KeyError: 'oops'\n" in lines
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem["code"] == "internal-error"
    assert problem["traceback"].startswith("Traceback") and "in build" in problem["traceback"]


def test_a_defect_of_the_front_end_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_: object) -> Problem:
        raise ValueError("lost")

    monkeypatch.setattr(frontend, "_refuse", read)
    (problem,) = frontend.assemble(KERNEL).problems
    assert problem.code == "internal-error" and "ValueError: lost" in problem.traceback


@pytest.mark.usefixtures("broken")
def test_a_block_that_cannot_be_predicted_leaves_its_traceback_in_the_log(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "blocks.txt").write_text("4801d8\n")
    arguments = ("--arch", "SKL", "--mode", "loop", "--input", "blocks.txt", "--output", "out.csv")
    _, lines = logged(monkeypatch, "predict", *arguments)
    assert "KeyError: 'oops'" in lines


def test_a_log_that_cannot_be_written_is_wrong_usage(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["arch", "--log", "no/where", "list"]) == 2
    assert "no/where: No such file or directory" in capsys.readouterr().err


def test_a_report_has_what_a_reader_needs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(folder))
    (folder / "old.log").write_text(f"opened {folder}/kernel.s\n")
    monkeypatch.setenv(log.LOG, str(folder / "old.log"))
    command = ["bug-report", "kernel.s", "--output", "r.zip", "--", "analyze", "kernel.s", "--arch", "SKL"]
    assert cli.main(command) == 0
    assert "about.txt, command.txt, log.txt, input/1-kernel.s" in capsys.readouterr().out
    with zipfile.ZipFile("r.zip") as packed:
        texts = {name: packed.read(name).decode() for name in packed.namelist()}
    assert re.search(r"^cyclelens: \d", texts["about.txt"], re.MULTILINE)
    assert "processor: " in texts["about.txt"]
    assert texts["command.txt"].startswith("$ cyclelens analyze kernel.s --arch SKL\n")
    assert "cycles/iter" in texts["command.txt"] and texts["command.txt"].endswith("exit code: 0\n")
    assert texts["log.txt"] == "opened ~/kernel.s\n"
    assert texts["input/1-kernel.s"] == KERNEL


def test_a_report_overwrites_nothing_and_says_what_it_cannot_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "cyclelens-report.zip").write_text("mine")
    assert cli.main(["bug-report"]) == 1
    assert "cyclelens-report.zip already exists: move it" in capsys.readouterr().err
    assert (folder / "cyclelens-report.zip").read_text() == "mine"
    assert cli.main(["bug-report", "gone.s", "--output", "new.zip"]) == 1
    assert not (folder / "new.zip").exists()
    assert "gone.s cannot be packed: No such file or directory" in capsys.readouterr().err
