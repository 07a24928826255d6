"""Reads profile files and caches them by content."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from io import TextIOWrapper

from cyclelens.analyzer.common.file_digests import FileDigests
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.common.regular_files import open_regular
from cyclelens.analyzer.profiles.perf_annotate import Annotations
from cyclelens.analyzer.profiles.perf_samples import Samples
from cyclelens.analyzer.profiles.perf_script import Branches
from cyclelens.analyzer.profiles.profile import CodeLocation, Profile, ProfileError

_MAXIMUM_BYTES = 4 << 30
_LONGEST_LINE = 1 << 16
_KEPT = 2


class Profiles:
    """Profiles by the digest of their file; the latest are kept."""

    def __init__(self, caches: Caches) -> None:
        self._digests = caches.of(FileDigests)
        self._kept: OrderedDict[bytes, Profile] = OrderedDict()

    def of(self, path: str) -> Profile:
        """The profile in a file written by ``perf script`` or ``perf annotate``. Raises ProfileError."""
        try:
            key = self._digests.of(path, _MAXIMUM_BYTES)
            profile = self._kept.pop(key, None)
            if profile is None:
                profile = _read(path)
        except OSError as error:
            raise ProfileError(f"{path} cannot be read: {error.strerror or error}") from None
        self._kept[key] = profile
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return profile


def _read(path: str) -> Profile:
    branches, annotations, script = Branches(), Annotations(), Samples()
    with TextIOWrapper(open_regular(path, _MAXIMUM_BYTES), encoding="utf-8", errors="replace") as file:
        while line := file.readline(_LONGEST_LINE):
            branches.read(line)
            annotations.read(line)
            script.read(line)
    runs = dict(branches.runs())
    samples: Mapping[CodeLocation, float] = {at: hits for at, hits in annotations.samples.items() if hits}
    event, by_instructions = "", annotations.by_instructions
    if not samples and (samples := script.found()):
        event, by_instructions = script.event, "instr" in script.event
    if not runs and not samples:
        raise ProfileError(
            f"{path} has neither branches (perf script -F brstacksym) nor samples by instruction "
            "(perf script or perf annotate --stdio)"
        )
    return Profile(
        runs,
        samples,
        event,
        by_instructions,
        outcomes=branches.outcomes(),
        mapped=tuple(branches.mapped),
    )
