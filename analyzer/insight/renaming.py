"""What a renamer does by itself beyond eliminating moves: it adds constants (V9), hands loads what was stored
(W6), and issues moves with the operation behind them (A4)."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.insight import vocabulary
from cyclelens.analyzer.model.result import Prediction

_MOSTLY = 0.5
"""Share of the iterations from which on something is worth a word."""


def renamings(prediction: Prediction) -> Iterator[tuple[int, str, str]]:
    """Index of the instruction, a label and a sentence for each, in their order."""
    simulation = prediction.simulation
    words = vocabulary.of(prediction.microarchitecture)
    for index, template in enumerate(prediction.instructions):
        if template.added is not None and simulation.elimination[index] < _MOSTLY:
            free = 1 - simulation.elimination[index]
            yield (
                index,
                "added at rename",
                f"The renamer adds the constant in {free:.0%} of the iterations: that takes an issue slot,"
                " but neither a port nor a cycle.",
            )
        elif simulation.renamed_loads and simulation.renamed_loads[index] >= _MOSTLY:
            yield (
                index,
                "load renamed",
                f"The renamer hands on the register that was stored here: the load takes a {words.unit}, but "
                "no time. This is learnt in loops; it is less certain than the other figures.",
            )
        # What comes from the decoders takes its slot.
        if template.joins_next and not simulation.usage[index].sources.get("MITE"):
            yield (
                index,
                "no slot",
                "The move and the operation behind it share an issue slot.",
            )
