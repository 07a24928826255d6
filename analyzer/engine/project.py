"""A project's settings: the file ``cyclelens.toml``, which the command line, CI and every editor read alike.

    microarchitectures = ["ZEN4", "SKL"]
    includePaths = ["include"]

    [[files]]
    match = "x86/*.asm"
    preIncludes = ["config.asm"]

Names and values are those of ``cyclelens.analyzer.engine.settings``. The file comes with the sources, so it
cannot give the assemblers access outside its own folder, and cannot allow programs to run.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from cyclelens.analyzer.common.regular_files import read_regular
from cyclelens.analyzer.common.suggestions import among
from cyclelens.analyzer.engine.settings import ANALYSIS, checked
from cyclelens.analyzer.microarchitectures import registry
from msgspec import Struct

NAME = "cyclelens.toml"
MAXIMUM_BYTES = 1 << 20
"""Largest project file, in bytes."""

Values = Mapping[str, Any]
"""Settings by name; only those that are set."""

_SETTINGS = {setting.name: setting for setting in ANALYSIS}
_PATHS = frozenset({"includePaths", "preIncludes"})
_PATH = "machineFile"
_FILES, _MATCH = "files", "match"


class ProjectError(Exception):
    """The file cannot be used; the message names it and says why."""


class Project(Struct, frozen=True):
    """Content of a project's file."""

    folder: str
    general: Values
    special: tuple[tuple[tuple[str, ...], Values], ...] = ()
    """File patterns and the settings for matching files, in text order."""

    def settings_for(self, path: str) -> Values:
        """The settings for a file: the general ones, then those that match it; later ones override earlier
        ones. Lists replace lists. Paths are absolute."""
        values = dict(self.general)
        name = os.path.relpath(path, self.folder).replace(os.sep, "/")
        for patterns, special in self.special:
            if any(fnmatchcase(name, pattern) for pattern in patterns):
                values.update(special)
        return values


def find(folder: str | os.PathLike[str], tops: Collection[str]) -> Path | None:
    """The project file for a folder: the nearest one in the folder and its parents, up to the outermost of
    ``tops`` that contains the folder; None if there is none. If no top contains it, only the folder itself is
    searched."""
    around = _around(folder)
    last = max((number for number, each in enumerate(around) if each in tops), default=0)
    for each in around[: last + 1]:
        if os.path.isfile(file := os.path.join(each, NAME)):
            return Path(file)
    return None


def repository(folder: str | os.PathLike[str]) -> str | None:
    """The top of the repository that contains a folder; None if there is none."""
    return next((each for each in _around(folder) if os.path.exists(os.path.join(each, ".git"))), None)


def _around(folder: str | os.PathLike[str]) -> list[str]:
    """A folder and all its parents, from the inside out."""
    found = [os.fspath(folder)]
    while (outer := os.path.dirname(found[-1])) not in ("", found[-1]):
        found.append(outer)
    return found


def read(file: Path) -> Project:
    """Read a project file. Raises ProjectError."""
    try:
        if not _is_within(file, file.parent):
            raise ProjectError(f"{file} is a link that leads out of its folder")
        content = tomllib.loads(read_regular(file, MAXIMUM_BYTES).decode("utf-8"))
    except OSError as error:
        raise ProjectError(f"{file} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ProjectError(f"{file} is not TOML: {error}") from None
    except RecursionError:
        raise ProjectError(f"{file} is nested too deeply") from None
    special = content.pop(_FILES, [])
    if not isinstance(special, list) or not all(isinstance(each, dict) for each in special):
        raise ProjectError(f"{file}: {_FILES} is not a list of tables: write [[{_FILES}]] above each")
    return Project(
        str(file.parent),
        _values(content, file, (*_SETTINGS, _FILES)),
        tuple((_patterns(each, file), _values(each, file, (*_SETTINGS, _MATCH))) for each in special),
    )


def _patterns(table: dict[str, Any], file: Path) -> tuple[str, ...]:
    """Remove and return the patterns of the table. Raises ProjectError."""
    found = table.pop(_MATCH, None)
    patterns = [found] if isinstance(found, str) else found
    if not isinstance(patterns, list) or not patterns or not all(isinstance(each, str) for each in patterns):
        raise ProjectError(f'{file}: a table of {_FILES} lacks {_MATCH} = "PATTERN", or a list of patterns')
    return tuple(patterns)


def _values(table: Mapping[str, Any], file: Path, known: Iterable[str]) -> Values:
    values = {}
    for name, value in table.items():
        if name not in _SETTINGS:
            raise ProjectError(f"{file}: there is no setting '{name}' here{among(name, known)}")
        try:
            found: Any = checked(_SETTINGS[name], value, registry.names())
        except ValueError as wrong:
            raise ProjectError(f"{file}: {name}: {str(wrong).rstrip('.')}") from None
        if name in _PATHS:
            found = tuple(_inside(path, name, file) for path in found)
        elif name == _PATH and found:
            found = _inside(found, name, file)
        values[name] = found
    return values


def _inside(path: str, name: str, file: Path) -> str:
    found = os.path.normpath(file.parent / path)
    if not _is_within(type(file)(found), file.parent):
        raise ProjectError(f"{file}: {name}: {path} is outside the project's folder")
    return found


def _is_within(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())
