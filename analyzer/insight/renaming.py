"""Finds what the renamer does beyond eliminating moves: it adds constants (V9), renames loads of stored
registers (W6), and issues moves together with the next operation (A4)."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.insight import vocabulary
from cyclelens.analyzer.model.result import Prediction

_MOSTLY = 0.5
"""Smallest share of the iterations that is reported."""


def renamings(prediction: Prediction) -> Iterator[tuple[int, str, str]]:
    """(index of the instruction, label, sentence) for each, in program order."""
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
                f"The renamer forwards the register stored here: the load uses a {words.unit}, but takes "
                "no time. The core learns this in loops; it is less certain than the other figures.",
            )
        # Uops from the decoders take a slot of their own.
        if template.joins_next and not simulation.usage[index].sources.get("MITE"):
            yield (
                index,
                "no slot",
                "The move and the next operation share an issue slot.",
            )
