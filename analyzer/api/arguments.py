"""Checks arguments of the library's functions."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path

from cyclelens.analyzer.insight.memory_levels.placement import place_of, place_of_size
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.machine_file import MachineFileError, of_environment, read
from cyclelens.analyzer.model.choices import Model
from cyclelens.analyzer.model.machine_file import MachineFile


def one_of(name: str, value: object, known: Collection[str]) -> None:
    """Raises ValueError, with the known values, if the value is none of them."""
    if value not in known:
        raise ValueError(f"unknown {name} {value!r}; known are {', '.join(known)}")


def data_place(text: str) -> str:
    """Where the data are, as written. Raises ValueError, with the valid values, for anything else."""
    if text:
        place_of(text)
    return text


def data_or_size(data: str, working_set: str) -> str:
    """Where the data are, by ``data`` or by ``working_set``. Raises ValueError for a wrong value, and if both
    are given."""
    if data and working_set:
        raise ValueError("data and working_set both say where the data are; pass one of them")
    if working_set:
        place_of_size(working_set)
        return working_set
    return data_place(data)


def machine_named(path: str | os.PathLike[str] | None) -> MachineFile | None:
    """The content of a machine file; None: of the one that the environment names, if any. Raises
    ValueError."""
    try:
        return of_environment() if path is None else read(Path(path))
    except MachineFileError as error:
        raise ValueError(str(error)) from None


def model_named(name: str) -> Model:
    """The model with this present or former name. Raises ValueError."""
    try:
        return Model(name)
    except ValueError:
        raise ValueError(f"unknown model {name!r}; known are {', '.join(Model)}") from None


def core_named(name: str | None) -> str:
    """The canonical name of a core. Raises UnknownMicroarchitecture, a ValueError that lists the names."""
    return _default()[0] if name is None else registry.get(name).name


def _default() -> tuple[str, ...]:
    """The default cores. Warns if this machine is not simulated; Python shows the warning once per calling
    line."""
    found = registry.default()
    if not found.is_simulated:
        warnings.warn(
            f"this machine's processor is not simulated ({registry.own_name()}): the figures are those of "
            f"{found.names[0]}; arch names another core",
            stacklevel=4,
        )
    return found.names


def cores_named(arch: str | Sequence[str] | None) -> tuple[str, ...]:
    """The canonical names of the cores; None: those of ``_default``, for regions whose markers name none.
    Raises the same errors as ``_core``."""
    if arch is None:
        return _default()
    return tuple(core_named(name) for name in ((arch,) if isinstance(arch, str) else arch))
