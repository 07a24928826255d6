"""What outlives a server that dies: baselines, pins and history, in one small file a document.

A file is written soon after something changed and removed when its document is closed or the server is shut
down. One that is there when a document is opened by the same editor is what a server left that was killed.
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
"""Longer ones are not kept: a crash is rare, and a disk is no place for all versions of a huge region."""


def folder() -> Path:
    """Where the files are; their owner alone can read them: they hold text that may not be saved yet."""
    named = (os.environ.get(name, "") for name in ("XDG_STATE_HOME", "LOCALAPPDATA"))
    # The XDG specification: a path that is not absolute is to be ignored.
    base = next(filter(os.path.isabs, named), Path.home() / ".local" / "state")
    return Path(base) / "cyclelens"


class SavedFiles:
    """The files of one editor, which its process number names; without one nothing is kept."""

    def __init__(self) -> None:
        self._editor: int | None = None
        self._written: dict[str, str] = {}

    def belongs_to(self, editor: int | None) -> None:
        """The editor's process, as it said at the start. Files of those that are gone are removed."""
        self._editor = editor
        with contextlib.suppress(OSError):
            for file in folder().glob("*-*.json"):
                process = file.name.partition("-")[0]
                if not (process.isdecimal() and lives(int(process))):
                    file.unlink(missing_ok=True)

    def write(self, uri: str, state: dict[str, Any]) -> None:
        """Keep the state of a document. What cannot be written is not kept, without a word."""
        file, text = self._file(uri), json.dumps(state)
        if file is None or self._written.get(uri) == text or len(text) > MAXIMUM_BYTES:
            return
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Readable for the owner alone, and never half written.
            descriptor, name = tempfile.mkstemp(dir=file.parent)
            with open(descriptor, "w", encoding="utf-8") as new:
                new.write(text)
            os.replace(name, file)
            self._written[uri] = text

    def read(self, uri: str) -> dict[str, Any] | None:
        """The state of a document that a server left behind; None if there is none that can be read."""
        file = self._file(uri)
        if file is None:
            return None
        try:
            state = json.loads(read_regular(file, MAXIMUM_BYTES))
        except (OSError, ValueError, RecursionError):
            return None
        return state if isinstance(state, dict) else None

    def forget(self, uri: str) -> None:
        """A document was closed."""
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
