"""``jcc-erratum``: a jump that crosses or ends at a 32-byte boundary keeps its block out of the DSB.

Source: Intel's "Mitigations for Jump Conditional Code Erratum" (Skylake to Cascade Lake).
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "jcc-erratum"


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding for every marked jump that the decoders deliver because of it.

    Unrolled code is decoded every time anyway, so the erratum makes no difference there. Of a macro-fused
    pair the first instruction carries the finding.
    """
    if prediction.mode != "loop":
        return
    for index, template in enumerate(prediction.instructions):
        if not template.jcc_erratum or template.fused_with_previous:
            continue
        if prediction.simulation.first_sources[index] != "MITE":
            continue
        what = "fused pair that starts here" if template.fused_with_next else "jump"
        yield Finding(
            code=CODE,
            severity=Severity.WARNING,
            instruction=index,
            message=(
                f"JCC erratum: the {what} crosses or ends at a 32-byte boundary, so its block is not kept in "
                "the DSB and is decoded anew in every iteration. Align the loop, or add padding before the "
                "jump so that it lies within one 32-byte block and does not touch its end."
            ),
            label="JCC erratum",
            microarchitecture=prediction.microarchitecture,
        )
