"""Stand-ins for machines, with prepared answers."""

from __future__ import annotations

from cyclelens.analyzer.characterizing.machines import ALL_THE_SAME, RepeatedRun, Start


class StubMachine:
    """A processor that can run nothing; tests add what it answers."""

    def run(self, code: bytes, start: Start = ALL_THE_SAME) -> RepeatedRun | str:
        raise NotImplementedError

    def straight(self, code: bytes) -> RepeatedRun | str:
        raise NotImplementedError
