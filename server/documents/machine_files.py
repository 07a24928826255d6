"""Files with the measured memory levels of the user's machine: read again when they change; each error is
reported once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from cyclelens.analyzer.common.machine_file import MACHINE_FILE
from cyclelens.analyzer.microarchitectures.machine_file import MachineFileError, read
from cyclelens.analyzer.model.machine_file import MachineFile


class MachineFiles:
    """The contents of machine files. Every analysis looks one up, at the cost of a system call."""

    def __init__(self, complain: Callable[[str], None]) -> None:
        """``complain`` tells the user why a file cannot be used."""
        self._complain = complain
        self._known: dict[str, tuple[tuple[int, int] | None, MachineFile | None]] = {}
        """File -> its signature when it was read, and its content; None if it cannot be used."""

    def machine(self, path: str) -> MachineFile | None:
        """The content of a file; if no path is given, of the one that the environment names; None if there is
        none or if it cannot be used."""
        path = path or os.environ.get(MACHINE_FILE, "")
        if not path:
            return None
        try:
            status = os.stat(path)
            signature = (status.st_mtime_ns, status.st_size)
        except (OSError, ValueError):
            signature = None
        if path not in self._known or self._known[path][0] != signature:
            try:
                self._known[path] = signature, read(Path(path))
            except MachineFileError as error:
                self._known[path] = signature, None
                self._complain(f"{error}. The published memory levels are used.")
        return self._known[path][1]
