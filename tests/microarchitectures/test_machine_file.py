"""The file of a machine: what is written is read back, and what is damaged is one message."""

from __future__ import annotations

from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.machine_file import MachineFileError, read, written
from cyclelens.analyzer.microarchitectures.memory_levels import levels_of
from cyclelens.analyzer.microarchitectures.misprediction_penalty import misprediction_penalty_for
from cyclelens.analyzer.model.machine_file import MachineFile
from testkit.machine_files import slow_machine
from testkit.narrowing import some


@pytest.mark.parametrize("core", ["SNB", "HSW", "SKX", "ZEN2", "ZEN4"])
@pytest.mark.parametrize("penalty", [None, 14.2])
def test_a_written_file_is_read_back(tmp_path: Path, core: str, penalty: float | None) -> None:
    levels = some(levels_of(core))
    path = tmp_path / "machine.toml"
    path.write_text(written(MachineFile(core, levels, penalty), "a machine"))
    found = read(path)
    assert (found.core, found.misprediction_penalty, found.file) == (core, penalty, "machine.toml")
    assert found.levels.overlap is levels.overlap
    for made, level in zip(found.levels.levels, levels.levels, strict=True):
        assert (made.name, made.victim, made.both_ways) == (level.name, level.victim, level.both_ways)
        for name in ("size", "latency", "load", "write_back", "non_temporal"):
            values = [getattr(each, name) and getattr(each, name).value for each in (made, level)]
            assert values[0] == (values[1] and pytest.approx(values[1]))


def test_the_file_of_a_machine_holds_for_its_core_alone(tmp_path: Path) -> None:
    machine = read(slow_machine(tmp_path / "machine.toml", penalty=20))
    published = some(levels_of("ZEN4"))
    assert some(machine.levels.levels[1].load).value == 2 * some(published.levels[1].load).value
    assert machine.of("ZEN4") is machine
    assert machine.of("SKX") is None
    assert misprediction_penalty_for("ZEN4", machine).cycles == 20
    assert misprediction_penalty_for("ZEN4", machine).source == "measured: machine.toml"
    skylake = misprediction_penalty_for("SKX", machine)
    assert skylake.cycles == registry.get("SKX").misprediction_penalty


def test_without_a_measured_penalty_the_published_one_counts(tmp_path: Path) -> None:
    machine = read(slow_machine(tmp_path / "machine.toml"))
    penalty = misprediction_penalty_for("ZEN4", machine)
    assert penalty.cycles == registry.get("ZEN4").misprediction_penalty


@pytest.mark.parametrize(
    "text, message",
    [
        ("core = ", "Invalid value"),
        ('overlap = "all"', "no file of cyclelens characterize --memory: 'core' is missing"),
        ('core = "ZEN4"\noverlap = "some"\n[[level]]\nname = "L1"', "no file of cyclelens"),
        (
            'core = "ZEN4"\noverlap = "all"\n[[level]]\nname = "L1"\nload = -1',
            "'-1' is no size, time or latency",
        ),
        ('core = "ZEN4"\noverlap = "all"\n[[level]]\nname = "L1"\nspeed = 1', "a level has no 'speed'"),
        (
            'core = "ZEN4"\noverlap = "all"\nmisprediction_penalty = "x"\n[[level]]\nname = "L1"',
            "'x' is no size",
        ),
    ],
)
def test_a_damaged_file_is_one_message(
    tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(text)
    with pytest.raises(MachineFileError, match=message):
        read(path)
    assert main(["analyze", "-", "--machine-file", str(path)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "text, message",
    [
        ("level = []", "it has no level"),
        ('[[level]]\nname = "L1"\n[[level]]\nname = "L7"', "'L7' is no level: L1, L2, L3, memory"),
        ('[[level]]\nname = "L2"\n[[level]]\nname = "L1"', "the levels are not in order"),
    ],
)
def test_levels_that_the_model_does_not_know_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(f'core = "ZEN4"\noverlap = "all"\n{text}')
    with pytest.raises(MachineFileError, match=message):
        read(path)


def test_a_core_that_is_not_known_is_refused(tmp_path: Path) -> None:
    path = slow_machine(tmp_path / "machine.toml")
    path.write_text(path.read_text().replace("ZEN4", "ZEN14"))
    with pytest.raises(MachineFileError, match="unknown microarchitecture 'ZEN14'"):
        read(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MachineFileError, match=r"machine\.toml cannot be read: No such file"):
        read(tmp_path / "machine.toml")
