"""The files ``cyclelens.toml`` of a workspace: read again when they change, and complained about once."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path

from cyclelens.analyzer.engine.project import Project, ProjectError, Values, find, read


class Projects:
    """What the projects' files say. Each document asks at every analysis; that costs some calls of the
    system for the folders around it."""

    def __init__(self, complain: Callable[[str], None]) -> None:
        """``complain``: tells the user why a file cannot be used."""
        self._complain = complain
        self._known: dict[Path, tuple[tuple[int, int], Project | None]] = {}
        """By file what it was like when it was read, and the last content that could be used."""

    def settings_for(self, path: str, folders: Collection[str]) -> Values:
        """What is set for a document; nothing for one that is in no file. ``folders``: the workspace's; no
        file outside of them is read, and none beside a document that lies outside."""
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
                self._complain(f"{error}. What could be read of it last is used.")
            self._known[file] = signature, project
        return project
