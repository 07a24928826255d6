"""The ``cyclelens.toml`` files of a workspace: read again when they change; each error is reported once."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path

from cyclelens.analyzer.engine.project import Project, ProjectError, Values, find, read


class Projects:
    """The contents of the project files. Every analysis of a document looks them up, at the cost of a few
    system calls for the folders around it."""

    def __init__(self, complain: Callable[[str], None]) -> None:
        """``complain`` tells the user why a file cannot be used."""
        self._complain = complain
        self._known: dict[Path, tuple[tuple[int, int], Project | None]] = {}
        """File -> its signature when it was read, and the last usable content."""

    def settings_for(self, path: str, folders: Collection[str]) -> Values:
        """The project's settings for a document; empty if it is not a file. ``folders`` are the workspace's:
        no file outside them is read, and none for a document outside them."""
        if not path:
            return {}
        file = find(os.path.dirname(path), folders)
        project = None if file is None else self._project(file)
        return {} if project is None else project.settings_for(path)

    def _project(self, file: Path) -> Project | None:
        try:
            status = file.stat()
        except OSError:
            return None
        signature = status.st_mtime_ns, status.st_size
        before, project = self._known.get(file, (None, None))
        if signature != before:
            try:
                project = read(file)
            except ProjectError as error:
                self._complain(f"{error}. The last version that could be read is used.")
            self._known[file] = signature, project
        return project
