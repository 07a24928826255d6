"""A machine file for tests."""

from __future__ import annotations

from pathlib import Path

from cyclelens.analyzer.microarchitectures.machine_file import written
from cyclelens.analyzer.microarchitectures.memory_levels import levels_of
from cyclelens.analyzer.model.machine_file import MachineFile
from cyclelens.analyzer.model.memory_levels import LevelParameter
from msgspec.structs import replace

from testkit.narrowing import some


def slow_machine(path: Path, core: str = "ZEN4", penalty: float | None = None) -> Path:
    """Write a file in which every transfer takes twice the published time."""

    def twice(parameter: LevelParameter | None) -> LevelParameter | None:
        return parameter and replace(parameter, value=2 * parameter.value)

    levels = some(levels_of(core))
    slow = [replace(each, load=twice(each.load), write_back=twice(each.write_back)) for each in levels.levels]
    machine = MachineFile(core, replace(levels, levels=tuple(slow)), penalty)
    path.write_text(written(machine, "a test\nmachine"))
    return path
