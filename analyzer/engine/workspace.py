"""The tables and the caches of recent answers. The engine gets them from its caller; one thread at a time may
use them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from cyclelens.analyzer.common.recent import Caches, ContentNumbers, Recent
from cyclelens.analyzer.facts.store import FactsStore, open_store
from cyclelens.analyzer.model.result import Finding, PortBinding, Position, Prediction
from cyclelens.analyzer.model.simulation import Simulation
from cyclelens.analyzer.model.source import Region, content_of
from msgspec import Struct
from msgspec.structs import replace

Cancel = Callable[[], bool]

CACHED_PREDICTIONS = 256

MAX_BLOCK_BYTES = 16 * 1024
"""Longest block that is simulated, in bytes. Kernels are far shorter, and time and memory grow with the
length."""


class CachedAnswer(Struct, frozen=True):
    """A cached answer about a region on a core."""

    prediction: Prediction
    findings: tuple[Finding, ...]
    version: int = 0
    """Version that the workspace assigns; every answer has a different one."""

    def of(self, simulation: Simulation) -> CachedAnswer:
        """The answer with another simulation at the same place, with or without a trace."""
        prediction = replace(self.prediction, simulation=simulation, account=simulation.account)
        return CachedAnswer(prediction, self.findings)


class Workspace:
    """The tables and all cached answers, so that an unchanged region costs nothing."""

    def __init__(self, store: FactsStore | None = None, *, cached_predictions: int = CACHED_PREDICTIONS):
        """``store``: the instruction tables, by default those that ship with the program.

        Raises ``TablesUnavailable`` if these are missing or damaged.
        """
        self.store = open_store() if store is None else store
        self._capacity = cached_predictions
        self._asked = 0
        """Number of predictions requested for the latest text."""
        self._answers: OrderedDict[tuple[object, ...], CachedAnswer] = OrderedDict()
        self._own = Caches()
        """Caches of answers. Those of tables and texts belong to the store."""
        self.versions = ContentNumbers(self._own)
        """Versions of answers and of regions."""
        self._regions: Recent[int, tuple[Region, int]] = self._own.recent(cached_predictions)
        """Regions as objects, which the front end reuses, and their versions."""
        recent = self._own.recent
        self.places: Recent[tuple[object, ...], tuple[Position, ...]] = recent(cached_predictions)
        self.figures: Recent[tuple[object, ...], dict[bytes, Position]] = recent(cached_predictions)
        """Figures of code at each position, by what distinguishes positions."""
        self.latest: Recent[tuple[object, ...], tuple[int, bool]] = recent(cached_predictions)
        """Region name -> the position shown last, and whether all positions had the same figure."""

        self.bindings: Recent[tuple[object, ...], tuple[PortBinding | None]] = recent(cached_predictions)
        """Effect of other rules of port binding on code at a position."""

    @property
    def caches(self) -> Caches:
        """Caches of texts and of machine code; they belong to the tables."""
        return self.store.caches

    def beside(self, *, cached_predictions: int = CACHED_PREDICTIONS) -> Workspace:
        """A workspace with the same tables and texts but its own answers, which do not evict those here."""
        return Workspace(self.store, cached_predictions=cached_predictions)

    def close(self) -> None:
        """Close the tables."""
        self.store.close()

    def next_text(self) -> None:
        """Begin the analysis of another text, or of a later version of one."""
        self._own.next_text()
        self.store.caches.next_text()
        # Keep room for this text and its next version; otherwise every edit of a large text would simulate
        # all of it.
        self._capacity = max(self._capacity, 2 * self._asked)
        self._asked = 0

    def next_batch(self) -> None:
        """Begin the analysis of machine code without a text."""
        self._own.next_batch()
        self.store.caches.next_batch()

    def version_of(self, region: Region) -> int:
        """The version of a region: equal for regions that differ at most in where in the text, or in its
        section, they lie."""
        known = self._regions.get(id(region))
        if known is None or known[0] is not region:
            known = self._regions[id(region)] = region, self.versions.of(content_of(region))
        return known[1]

    def known(self, key: tuple[object, ...]) -> CachedAnswer | None:
        """A cached answer; None if there is none."""
        return self._answers.get(key)

    def asked(self, key: tuple[object, ...]) -> CachedAnswer | None:
        """Like ``known``, for a prediction of the present text: counts it and marks the answer as recently
        used."""
        self._asked += 1
        answer = self._answers.get(key)
        if answer is not None:
            self._answers.move_to_end(key)
        return answer

    def remember(self, key: tuple[object, ...], answer: CachedAnswer) -> CachedAnswer:
        """Cache an answer and evict the oldest beyond the capacity. Returns it with its version."""
        answer = replace(answer, version=self.versions.new())
        self._answers[key] = answer
        self._answers.move_to_end(key)
        while len(self._answers) > max(self._capacity, 2 * self._asked):
            self._answers.popitem(last=False)
        return answer
