"""A profile from its file."""

from __future__ import annotations

import os
from functools import lru_cache

from cyclelens.analyzer.profiles.perf_annotate import Annotations
from cyclelens.analyzer.profiles.perf_script import Branches
from cyclelens.analyzer.profiles.profile import Profile, ProfileError

_MAXIMUM_BYTES = 4 << 30
_LONGEST_LINE = 1 << 16


def profile_of(path: str) -> Profile:
    """What ``perf script`` or ``perf annotate`` has written. Raises ProfileError."""
    try:
        found = os.stat(path)
        if found.st_size > _MAXIMUM_BYTES:
            raise ProfileError(f"{path} has more than {_MAXIMUM_BYTES >> 30} GB")
        return _read(path, found.st_mtime_ns, found.st_size)
    except OSError as error:
        raise ProfileError(f"{path} cannot be read: {error.strerror or error}") from None


@lru_cache(maxsize=2)
def _read(path: str, modified: int, size: int) -> Profile:
    branches, annotations = Branches(), Annotations()
    with open(path, encoding="utf-8", errors="replace") as file:
        while line := file.readline(_LONGEST_LINE):
            branches.read(line)
            annotations.read(line)
    runs = dict(branches.runs())
    samples = {place: count for place, count in annotations.samples.items() if count}
    if not runs and not samples:
        raise ProfileError(
            f"{path} has neither branches (perf script -F brstacksym) nor samples by instruction "
            "(perf annotate --stdio)"
        )
    return Profile(runs, samples, annotations.by_instructions, tuple(branches.mapped))
