"""``microcoded``: uops come from the microcode sequencer, and switching to it costs cycles."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "microcoded"


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per microcoded instruction."""
    microarchitecture = registry.get(prediction.microarchitecture)
    for index, template in enumerate(prediction.instructions):
        if not template.ms_uops or template.fused_with_previous:
            continue
        if prediction.simulation.first_sources[index] == "DSB":
            switch = f"{microarchitecture.dsb_to_ms_stall} empty cycles when it takes over from the DSB"
        else:
            stall = microarchitecture.mite_to_ms_stall
            switch = f"{stall} empty cycle before and {stall} after it takes over from the decoders"
        yield Finding(
            code=CODE,
            severity=Severity.INFORMATION,
            instruction=index,
            message=(
                f"Microcoded: {template.ms_uops} of its uops come from the microcode sequencer, "
                f"{microarchitecture.ms_width} per cycle, with {switch}."
            ),
            label="MS switch",
            microarchitecture=prediction.microarchitecture,
        )
