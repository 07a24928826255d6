"""``lcp-stall``: a 66 prefix that changes the length of a 16-bit immediate stalls the predecoder.

The predecoder finds instruction lengths assuming that prefixes do not change them; for these it starts over.
Code from the DSB or the LSD bypasses the predecoder and is not affected.
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "lcp-stall"


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per affected instruction that comes from the decoders."""
    penalty = registry.get(prediction.microarchitecture).length_changing_prefix_penalty
    for index, template in enumerate(prediction.instructions):
        source = prediction.simulation.first_sources[index]
        if template.fused_with_previous:
            source = prediction.simulation.first_sources[index - 1]
        if not template.length_changing_prefix or source != "MITE":
            continue
        yield Finding(
            code=CODE,
            severity=Severity.WARNING,
            instruction=index,
            message=(
                "Length-changing prefix: the 16-bit immediate makes the predecoder stall for up to "
                f"{penalty} cycles each time this instruction is fetched. Use a 32-bit operand with a "
                "32-bit immediate, an immediate that fits in 8 signed bits, or load the constant into a "
                "register beforehand."
            ),
            label="LCP stall",
            microarchitecture=prediction.microarchitecture,
        )
