"""The memory of whoever asks: the tables, and what was answered last. It is handed to the engine, and is for
one thread at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from cyclelens.analyzer.common.data_classes import dataclass, replace
from cyclelens.analyzer.common.recent import Caches, Recent
from cyclelens.analyzer.facts.store import FactsStore, open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cyclelens.analyzer.frontend.regions.statement_code import EncodingCache
    from cyclelens.analyzer.model.result import Finding, PortBinding, Position, Prediction
    from cyclelens.analyzer.model.simulation import Simulation
    from cyclelens.analyzer.profiles.reading import Profiles

Cancel = Callable[[], bool]

CACHED_PREDICTIONS = 256

MAX_BLOCK_BYTES = 16 * 1024
"""Longest block that is simulated. Kernels are far shorter, and time and memory grow with the length."""


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """What is remembered of a region on a core."""

    prediction: Prediction
    findings: tuple[Finding, ...]
    version: int = 0
    """Of the workspace that remembers it: each answer has another one."""

    def of(self, simulation: Simulation) -> CachedAnswer:
        """The same of another run at the same place, with a trace or without."""
        prediction = replace(self.prediction, simulation=simulation, account=simulation.account)
        return CachedAnswer(prediction, self.findings)


class Workspace:
    """The tables and every answer that is remembered, so that an unchanged region costs nothing."""

    def __init__(self, store: FactsStore | None = None, *, cached_predictions: int = CACHED_PREDICTIONS):
        """``store``: the instruction tables, by default those that ship with the program.

        Raises ``TablesUnavailable`` if these are missing or damaged.
        """
        self.store = open_store() if store is None else store
        self._capacity = cached_predictions
        self._versions = 0
        self._asked = 0
        """Predictions that the latest text asked for."""
        self._answers: OrderedDict[tuple[object, ...], CachedAnswer] = OrderedDict()
        self._own = Caches()
        """Of what was answered. Those of the tables and texts are the store's."""
        recent = self._own.recent
        self.places: Recent[tuple[object, ...], tuple[Position, ...]] = recent(cached_predictions)
        self.figures: Recent[tuple[object, ...], dict[bytes, Position]] = recent(cached_predictions)
        """Of code wherever it lies, by what makes a place differ from others."""
        self.latest: Recent[tuple[object, ...], tuple[int, bool]] = recent(cached_predictions)
        """Which of its positions was shown last of a region by name, and whether all were alike."""

        self.bindings: Recent[tuple[object, ...], tuple[PortBinding | None]] = recent(cached_predictions)
        """What other rules of port binding make of code at a place."""

    @property
    def texts(self) -> EncodingCache:
        """What is remembered of texts and their statements."""
        # Here, because batches of machine code need no assembler and start faster without it.
        from cyclelens.analyzer.frontend.regions.statement_code import EncodingCache

        return self.store.caches.of(EncodingCache)

    @property
    def profiles(self) -> Profiles:
        """The recorded profiles that were read last."""
        from cyclelens.analyzer.profiles.reading import Profiles

        return self.store.caches.of(Profiles)

    def beside(self, *, cached_predictions: int = CACHED_PREDICTIONS) -> Workspace:
        """One with the same tables and texts and answers of its own, which do not push these out."""
        return Workspace(self.store, cached_predictions=cached_predictions)

    def close(self) -> None:
        """Close the tables."""
        self.store.close()

    def next_text(self) -> None:
        """Another text is about to be analysed, or a later version of one."""
        self._own.next_text()
        self.store.caches.next_text()
        # Room for this text and its next version, or every edit of a large one would simulate all of it.
        self._capacity = max(self._capacity, 2 * self._asked)
        self._asked = 0

    def next_batch(self) -> None:
        """Machine code without a text is about to be analysed."""
        self._own.next_batch()
        self.store.caches.next_batch()

    def known(self, key: tuple[object, ...]) -> CachedAnswer | None:
        """An answer, if it is remembered."""
        return self._answers.get(key)

    def asked(self, key: tuple[object, ...]) -> CachedAnswer | None:
        """The same, for a prediction of the text that is analysed."""
        self._asked += 1
        answer = self._answers.get(key)
        if answer is not None:
            self._answers.move_to_end(key)
        return answer

    def remember(self, key: tuple[object, ...], answer: CachedAnswer) -> CachedAnswer:
        """Keep an answer, and forget the oldest beyond what texts need. Returns it with its version."""
        self._versions += 1
        answer = replace(answer, version=self._versions)
        self._answers[key] = answer
        self._answers.move_to_end(key)
        while len(self._answers) > max(self._capacity, 2 * self._asked):
            self._answers.popitem(last=False)
        return answer
