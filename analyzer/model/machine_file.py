"""What was measured on one machine, in place of what is published about its core."""

from __future__ import annotations

from cyclelens.analyzer.model.memory_levels import MemoryLevels
from msgspec import Struct


class MachineFile(Struct, frozen=True):
    """A file of ``cyclelens characterize --memory``."""

    core: str
    """Name of the microarchitecture."""
    levels: MemoryLevels
    misprediction_penalty: float | None = None
    """Cycles that a mispredicted branch costs; None: it was not measured."""
    file: str = ""
    """Name of the file, without its folder."""

    def of(self, core: str) -> MachineFile | None:
        """This file if it is for this core; None if it is for another one."""
        return self if self.core == core else None
