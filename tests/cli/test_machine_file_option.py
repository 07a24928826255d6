"""Who names a machine file: an option, a project, the environment or the library; and for which core."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cyclelens
import pytest
from cyclelens.analyzer.agents.tools import Tools
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.microarchitectures.machine_file import read
from testkit.kernels import COPY_LOOP
from testkit.machine_files import slow_machine

COPY = f"# cyclelens-begin copy mispredicted=0.5\n{COPY_LOOP}# cyclelens-end\n"
NAME = "CYCLELENS_MACHINE_FILE"
Analysis = Callable[..., dict[str, Any]]


@pytest.fixture
def analysis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Analysis:
    """Runs ``analyze`` in a folder that has ``copy.s``."""
    monkeypatch.delenv(NAME, raising=False)
    monkeypatch.chdir(tmp_path)
    Path("copy.s").write_text(COPY)

    def run(*words: str, arch: str = "ZEN4") -> dict[str, Any]:
        assert main(["analyze", "copy.s", "--arch", arch, "--format", "json", *words]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return run


def data(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["regions"][0]["predictions"][0]["data"]
    return found


def times(document: dict[str, Any]) -> Sequence[float]:
    return [each["cycles_per_iteration"] for each in data(document)["levels"]]


def test_an_option_wins_over_the_project_and_the_project_over_the_environment(
    analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = analysis()
    assert data(published)["machine_file"] is None
    monkeypatch.setenv(NAME, str(slow_machine(tmp_path / "a.toml")))
    found = analysis()
    assert data(found)["machine_file"] == "a.toml"
    assert times(found)[1:] == pytest.approx([2 * each for each in times(published)[1:]])
    slow_machine(tmp_path / "b.toml")
    (tmp_path / "cyclelens.toml").write_text('machineFile = "b.toml"')
    assert data(analysis())["machine_file"] == "b.toml"
    option = str(slow_machine(tmp_path / "c.toml"))
    assert data(analysis("--machine-file", option))["machine_file"] == "c.toml"


def test_the_report_names_the_file_and_takes_its_penalty(analysis: Analysis, tmp_path: Path) -> None:
    document = analysis("--machine-file", str(slow_machine(tmp_path / "own.toml", penalty=20)))
    (prediction,) = document["regions"][0]["predictions"]
    assert prediction["mispredictions"]["penalty"] == 20
    (line,) = [each["message"] for each in prediction["assumptions"] if each["code"] == "warm-caches"]
    assert "by where the data are (levels measured: own.toml); an iteration moves on by 64 bytes" in line
    assert document["problems"] == []


def test_a_file_for_another_core_is_said_not_to_be_used(analysis: Analysis, tmp_path: Path) -> None:
    file = str(slow_machine(tmp_path / "own.toml"))
    document = analysis("--machine-file", file, arch="SKX")
    assert times(document) == times(analysis(arch="SKX"))
    (problem,) = document["problems"]
    assert (problem["code"], problem["severity"]) == ("machine-file-not-used", "information")
    assert problem["message"] == (
        "own.toml was measured on ZEN4, so the figures for SKX use published memory levels; --arch ZEN4 "
        "selects the measured core"
    )
    assert analysis("--machine-file", file, arch="ZEN4,SKX")["problems"] == []


@pytest.mark.parametrize(
    "text, message",
    [
        ('machineFile = "none.toml"', "none.toml cannot be read"),
        ('machineFile = "../own.toml"', "../own.toml is outside the project's folder"),
        ('machineFile = "link.toml"', "link.toml is outside the project's folder"),
        ("machineFile = 1", "1 is not a string"),
        ('machineFile = "copy.s"', "copy.s: "),
    ],
)
def test_a_projects_file_stays_in_its_folder_and_is_one_message(
    analysis: Analysis, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    slow_machine(tmp_path / "own.toml")
    (project / "link.toml").symlink_to(tmp_path / "own.toml")
    (project / "copy.s").write_text(COPY)
    (project / "cyclelens.toml").write_text(text)
    assert main(["analyze", str(project / "copy.s"), "--arch", "ZEN4"]) == 1
    output = capsys.readouterr()
    assert message in output.err
    assert len(output.err.splitlines()) == 1


def test_the_library_takes_a_machine_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)
    file = slow_machine(tmp_path / "own.toml", penalty=20)
    (published,) = cyclelens.analyze(COPY, arch="ZEN4").region("copy").predictions
    (own,) = cyclelens.analyze(COPY, arch="ZEN4", machine_file=file).region("copy").predictions
    for slow, fast in zip(own.data[1:], published.data[1:], strict=True):
        assert slow.cycles_per_iteration == pytest.approx(2 * (fast.cycles_per_iteration or 0))
    assert own.mispredictions is not None
    assert own.mispredictions.penalty == 20
    monkeypatch.setenv(NAME, str(file))
    (again,) = cyclelens.analyze(COPY, arch="ZEN4").region("copy").predictions
    assert again.data == own.data
    with pytest.raises(ValueError, match="none cannot be read"):
        cyclelens.analyze(COPY, machine_file="none")


def test_agents_read_the_file_of_the_environment_at_the_start(tmp_path: Path) -> None:
    machine = read(slow_machine(tmp_path / "own.toml"))
    assert "(levels measured: own.toml)" in Tools(machine=machine).analyze(COPY, core="ZEN4")
