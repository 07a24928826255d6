"""``partial-word-store``: a store of part of a word waits for earlier stores to that word (M28 of
docs/zen5.md)."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "partial-word-store"
_WORTH_A_WORD = 0.1
"""Smallest number of waiting stores per iteration that is reported."""


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per storing instruction that waits."""
    for index, stores in enumerate(prediction.simulation.merging_stores):
        if stores < _WORTH_A_WORD:
            continue
        rules = registry.get(prediction.microarchitecture).macro_ops
        assert rules is not None
        yield Finding(
            code=CODE,
            severity=Severity.WARNING,
            instruction=index,
            message=(
                f"Partial word store, {stores:.2f} times per iteration: it does not fill aligned words of "
                "four bytes, so the cache has to merge it, and it waits because an earlier store to the word "
                "is still on its way. All later stores wait behind it. Store whole aligned words, or write "
                f"everything that goes to one aligned chunk of {rules.store_chunk_bytes} bytes with "
                "consecutive stores."
            ),
            label="partial word store",
            microarchitecture=prediction.microarchitecture,
        )
