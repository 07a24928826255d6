"""State that survives a killed server: baselines, pins and history, in one small file per document.

A file is written soon after a change, and removed when its document is closed or the server shuts down. If
one exists when the same editor opens the document, a killed server left it behind.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from cyclelens.analyzer.common.regular_files import read_regular
from cyclelens.analyzer.common.temporary import lives

MAXIMUM_BYTES = 1 << 20
"""Longer states are not written: crashes are rare, and the versions of a huge region would fill the disk."""


def folder() -> Path:
    """The folder of the files, readable by its owner alone: they may hold unsaved text."""
    named = (os.environ.get(name, "") for name in ("XDG_STATE_HOME", "LOCALAPPDATA"))
    # XDG Base Directory specification: relative paths are ignored.
    base = next(filter(os.path.isabs, named), Path.home() / ".local" / "state")
    return Path(base) / "cyclelens"


def own_tables() -> Path:
    """Path of figures that were measured for the user, unless other tables of theirs are in use."""
    return folder() / "own.sqlite"


class SavedFiles:
    """The state files of one editor, named after its process number; without one nothing is written."""

    def __init__(self) -> None:
        self._editor: int | None = None
        self._written: dict[str, str] = {}

    def belongs_to(self, editor: int | None) -> None:
        """Set the editor's process number, given at initialization. Removes the files of editors that have
        ended."""
        self._editor = editor
        with contextlib.suppress(OSError):
            for file in folder().glob("*-*.json"):
                process = file.name.partition("-")[0]
                if not (process.isdecimal() and lives(int(process))):
                    file.unlink(missing_ok=True)

    def write(self, uri: str, state: dict[str, Any]) -> None:
        """Write the state of a document. Failures are ignored silently."""
        file, text = self._file(uri), json.dumps(state)
        if file is None or self._written.get(uri) == text or len(text) > MAXIMUM_BYTES:
            return
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Readable by the owner alone, and replaced atomically. Its name tells the next start whose it is.
            descriptor, name = tempfile.mkstemp(".json", f"{file.stem}.", file.parent)
            try:
                with open(descriptor, "w", encoding="utf-8") as new:
                    new.write(text)
                os.replace(name, file)
            except OSError:  # a full disk, for example
                os.unlink(name)
                raise
            self._written[uri] = text

    def read(self, uri: str) -> dict[str, Any] | None:
        """The state of a document that a killed server left behind; None if there is no readable one."""
        file = self._file(uri)
        if file is None:
            return None
        try:
            state = json.loads(read_regular(file, MAXIMUM_BYTES))
        except (OSError, ValueError, RecursionError):
            return None
        return state if isinstance(state, dict) else None

    def forget(self, uri: str) -> None:
        """Remove the state of a closed document."""
        self._written.pop(uri, None)
        file = self._file(uri)
        if file is not None:
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)

    def _file(self, uri: str) -> Path | None:
        if self._editor is None:
            return None
        return (
            folder()
            / f"{self._editor}-{hashlib.sha256(uri.encode('utf-8', 'replace')).hexdigest()[:24]}.json"
        )
