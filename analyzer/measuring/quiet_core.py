"""Predicts the harness's loop of NOPs on a core that no other thread shares."""

from __future__ import annotations

from functools import cache

from cyclelens.analyzer.engine.prediction import Predictor
from cyclelens.analyzer.facts.store import TablesUnavailable
from cyclelens.analyzer.microarchitectures import registry

_ROUND = bytes.fromhex("90" * 20 + "48ffc8" + "75e7")
"""``idle`` of ``native/clock.c``: twenty NOPs, a counter and the jump back, at the start of a line."""


@cache
def round_cycles() -> float | None:
    """Cycles of one round, as the model of this machine's core predicts them; None without a model."""
    model = registry.native()
    if model is None:
        return None
    try:
        return Predictor().cycles_of(_ROUND, model, loop=True, alignment=0)
    except TablesUnavailable:
        return None
