"""Files with what was measured on one machine, as ``cyclelens characterize --memory`` writes them (TOML)."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from pathlib import Path

from cyclelens.analyzer.common.machine_file import MACHINE_FILE
from cyclelens.analyzer.common.regular_files import read_regular
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.machine_file import MachineFile
from cyclelens.analyzer.model.memory_levels import (
    LEVEL_NAMES,
    LevelParameter,
    MemoryLevel,
    MemoryLevels,
    Overlap,
)
from cyclelens.analyzer.model.provenance import Certainty, Source

_MOST_BYTES = 1 << 16
_NUMBERS = ("size", "latency", "load", "write_back", "non_temporal")
_SWITCHES = ("both_ways", "victim")
_PENALTY = "misprediction_penalty"
_LARGEST = 1e15


class MachineFileError(Exception):
    """The file cannot be used; the message names it and says why."""


def of_environment() -> MachineFile | None:
    """The machine of the file that ``CYCLELENS_MACHINE_FILE`` names; None without it. Raises
    ``MachineFileError``."""
    path = os.environ.get(MACHINE_FILE)
    return read(Path(path)) if path else None


def read(path: Path) -> MachineFile:
    """Read a file. Raises ``MachineFileError``."""
    try:
        content = tomllib.loads(read_regular(path, _MOST_BYTES).decode("utf-8"))
    except OSError as error:
        raise MachineFileError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise MachineFileError(f"{path}: {error}") from None
    try:
        return _parsed(content, path.name)
    except (KeyError, TypeError, ValueError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise MachineFileError(f"{path} is no file of cyclelens characterize --memory: {why}") from None


def _parsed(content: dict[str, object], name: str) -> MachineFile:
    core, overlap, tables = content["core"], content["overlap"], content["level"]
    if not isinstance(core, str) or not isinstance(overlap, str) or not isinstance(tables, list):
        raise TypeError("it needs a core, what overlaps, and its levels")
    source = Source(Certainty.MEASURED, name, f"Measured by cyclelens characterize --memory: {name}")
    core = registry.get(core).name
    levels = tuple(_level(table, source) for table in tables)
    _check_order([level.name for level in levels])
    penalty = _parameter(content[_PENALTY], source).value if _PENALTY in content else None
    found = MemoryLevels(levels=levels, overlap=Overlap(overlap), overlap_source=source)
    return MachineFile(core, found, penalty, name)


def _check_order(names: Sequence[str]) -> None:
    """Raises ValueError unless these are the first levels, or all, in their order."""
    if not names:
        raise ValueError("it has no level")
    for name in names:
        if name not in LEVEL_NAMES:
            raise ValueError(f"'{name}' is no level: {', '.join(LEVEL_NAMES)}")
    if list(names) != [name for name in LEVEL_NAMES if name in names] or names[0] != LEVEL_NAMES[0]:
        raise ValueError(f"the levels are not in order: {', '.join(LEVEL_NAMES)}, from {LEVEL_NAMES[0]} on")


def _level(table: dict[str, object], source: Source) -> MemoryLevel:
    name = table["name"]
    if not isinstance(name, str):
        raise TypeError("the name of a level is a text")
    unknown = table.keys() - {"name", *_NUMBERS, *_SWITCHES}
    if unknown:
        raise ValueError(f"a level has no '{min(unknown)}'")
    numbers = {key: _parameter(table[key], source) for key in _NUMBERS if key in table}
    return MemoryLevel(
        name=name,
        size=numbers.get("size"),
        latency=numbers.get("latency"),
        load=numbers.get("load"),
        write_back=numbers.get("write_back"),
        non_temporal=numbers.get("non_temporal"),
        both_ways=table.get("both_ways") is True,
        victim=table.get("victim") is True,
    )


def _parameter(value: object, source: Source) -> LevelParameter:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LARGEST:
        raise ValueError(f"'{value}' is no size, time or latency")
    return LevelParameter(float(value), source)


def written(machine: MachineFile, about: str) -> str:
    """The content of a file that ``read`` reads. ``about``: one line on the machine and on how it was
    measured."""
    lines = [
        f"# {' '.join(about.split())}",
        "# size in bytes, latency in cycles; load, write_back, non_temporal in cycles per line of 64 bytes",
        f'core = "{machine.core}"',
        f'overlap = "{machine.levels.overlap}"',
    ]
    if machine.misprediction_penalty is not None:
        lines.append(f"{_PENALTY} = {machine.misprediction_penalty:g} # cycles of a mispredicted branch")
    for level in machine.levels.levels:
        lines += ["", "[[level]]", f'name = "{level.name}"']
        for key in _NUMBERS:
            parameter: LevelParameter | None = getattr(level, key)
            if parameter is not None:
                lines.append(f"{key} = {parameter.value:.10g}")
        lines += [f"{key} = true" for key in _SWITCHES if getattr(level, key)]
    return "\n".join(lines) + "\n"
