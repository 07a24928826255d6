"""``jcc-erratum``: a jump that crosses or ends at a 32-byte boundary keeps its block out of the DSB.

Source: Intel's "Mitigations for Jump Conditional Code Erratum" (Skylake to Cascade Lake).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.result import Finding, Position, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "jcc-erratum"
_LIKELY = 0.25
"""Smallest share of affected positions that gets a warning if another position is shown."""
_LEAST_COST = 0.005
"""Smaller costs, in cycles per iteration, vanish in figures of two decimals."""


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per affected jump: at the shown position if the decoders deliver it, or for other positions
    if the code is slower there.

    Unrolled code is decoded every time anyway, so the erratum makes no difference there. The first
    instruction of a macro-fused pair carries the finding.
    """
    if prediction.mode is not Mode.LOOP:
        return
    for index, template in enumerate(prediction.instructions):
        if template.fused_with_previous:
            continue
        here = template.jcc_erratum and prediction.simulation.first_sources[index] == "MITE"
        hit = [position for position in prediction.positions if index in position.erratum]
        cost = _cost(prediction.positions, hit)
        if not here and not cost:
            continue
        where, label = "", "JCC erratum"
        if len(hit) < len(prediction.positions):
            share = f" at {len(hit)} of {len(prediction.positions)}"
            where = f"{share} positions ({wording.offsets([each.offset for each in hit])} bytes into a line)"
            label += share
        what = "fused pair that starts here" if template.fused_with_next else "jump"
        likely = here or len(hit) >= _LIKELY * len(prediction.positions)
        yield Finding(
            code=CODE,
            severity=Severity.WARNING if likely and cost != 0 else Severity.INFORMATION,
            instruction=index,
            message=(
                f"JCC erratum{where}: the {what} crosses or ends at a 32-byte boundary, so its block is not "
                f"kept in the DSB and is decoded anew in every iteration{_price(cost)}. Align the loop, or "
                "add padding before the jump so that it lies within one 32-byte block and does not touch its "
                "end."
            ),
            label=label,
            is_likely=likely,
            microarchitecture=prediction.microarchitecture,
            cost=cost,
        )


def _cost(positions: Sequence[Position], hit: Sequence[Position]) -> float | None:
    """Cycles per iteration that the erratum costs: affected positions compared with the others; None if it
    affects all positions or none."""
    rest = [position.cycles_per_iteration for position in positions if position not in hit]
    if not rest or not hit:
        return None
    cost = max(position.cycles_per_iteration for position in hit) - min(rest)
    return cost if cost > _LEAST_COST else 0.0


def _price(cost: float | None) -> str:
    if cost is None:
        return ""
    return f"; it costs up to {cost:.2f} cycles per iteration" if cost else "; it costs nothing here"
