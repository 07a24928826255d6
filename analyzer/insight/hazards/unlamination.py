"""``unlamination``: a micro-fused uop is split before it issues and takes more issue slots."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "unlamination"


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per instruction with an indexed address whose uops are split at issue.

    The instruction then has fewer uops in the IDQ than fused uops at issue. Microcoded instructions are
    skipped because other rules group their uops; cores that count macro-ops are skipped because an index does
    not change their number.
    """
    for index, template in enumerate(prediction.instructions):
        before, after = len(template.idq_uops), len(template.fused_uops)
        indexed = any(access.index for access in template.memory_operands)
        if before >= after or not indexed or template.ms_uops or template.macro_ops is not None:
            continue
        yield Finding(
            code=CODE,
            severity=Severity.INFORMATION,
            instruction=index,
            message=(
                f"Unlamination: because of the index register, {_count(before)} "
                f"from the front end turn{'s' if before == 1 else ''} into {after} at issue, each with an "
                "issue slot of its own. An address without an index register avoids that."
            ),
            label=f"unlaminated {before}→{after}",
            microarchitecture=prediction.microarchitecture,
        )


def _count(uops: int) -> str:
    return "1 micro-fused uop" if uops == 1 else f"{uops} uops"
