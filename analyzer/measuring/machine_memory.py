"""The caches and the memory of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cyclelens.analyzer.model.memory_levels import MEMORY
from msgspec import Struct

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_MEMORY = Path("/proc/meminfo")
_LIMIT = Path("/sys/fs/cgroup/memory.max")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SHARE = 2
"""A working set takes at most the available memory divided by this."""


class MachineMemory(Struct, frozen=True):
    """What a working set has to fit in."""

    caches: Mapping[str, int]
    """Bytes of each level of data caches: ``{"L1": 32768, ...}``, the nearest first; empty if not known."""
    most: int = 0
    """Bytes that a working set may have; 0 if not known."""

    def level_of(self, size: int) -> str:
        """The nearest level that holds this many bytes."""
        return next((level for level, most in self.caches.items() if size <= most), MEMORY)


def this_machine() -> MachineMemory:
    """The caches of this machine, and a half of its free memory."""
    return MachineMemory(_caches(), _free() // _SHARE)


def _caches() -> Mapping[str, int]:
    found = {}
    for folder in sorted(_CACHES.glob("index*")):
        kind, level, size = (_text(folder / name) for name in ("type", "level", "size"))
        if kind in ("Data", "Unified") and size[:-1].isdecimal() and size[-1] in _UNITS:
            found[f"L{level}"] = int(size[:-1]) * _UNITS[size[-1]]
    return dict(sorted(found.items()))


def _free() -> int:
    """Bytes of free memory; 0 if the system does not say."""
    for line in _text(_MEMORY).splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            free = int(value.split()[0]) << 10
            limit = _text(_LIMIT)
            return min(free, int(limit)) if limit.isdecimal() else free
    return 0


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
