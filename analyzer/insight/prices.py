"""What hazards cost where they are: the code is simulated once more as if there were none.

A hazard can be there and cost nothing, because something else limits the figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cyclelens.analyzer.insight.hazards import (
    jcc_erratum,
    length_changing_prefix,
    microcode,
    register_merge,
    serialization,
    unlamination,
)
from cyclelens.analyzer.insight.whatif import ChangeError, Experiment
from cyclelens.analyzer.model.frozen import replace
from cyclelens.analyzer.model.result import Finding
from cyclelens.analyzer.model.uops import InstructionTemplate

LEAST = 0.005
"""Cycles per iteration; figures have two decimals."""
_MOST = 40
"""Findings of a region that are priced: each is a simulation."""


def _laminated(template: InstructionTemplate) -> InstructionTemplate:
    """Fused as the front end delivers it."""
    sizes, start = [], 0
    for count in template.idq_uops:
        sizes.append(sum(template.fused_uops[start : start + count]))
        start += count
    return replace(template, fused_uops=tuple(sizes), idq_uops=(1,) * len(sizes), retire_slots=len(sizes))


_WITHOUT: Mapping[str, Callable[[InstructionTemplate], InstructionTemplate]] = {
    length_changing_prefix.CODE: lambda template: replace(template, length_changing_prefix=False),
    jcc_erratum.CODE: lambda template: replace(template, jcc_erratum=False),
    unlamination.CODE: _laminated,
    register_merge.CODE: lambda template: replace(template, merge_uops=()),
    serialization.CODE: lambda template: replace(template, serializing=False),
    microcode.CODE: lambda template: replace(
        template, mite_uops=template.mite_uops + template.ms_uops, ms_uops=0
    ),
}


def priced(experiment: Experiment, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings of a prediction, with prices where it is known how to do without them. A finding that says
    its price keeps it."""
    base: float | None = None
    result = []
    for number, finding in enumerate(findings):
        change = _WITHOUT.get(finding.code)
        if change is None or finding.cost is not None or number >= _MOST:
            result.append(finding)
            continue
        try:
            if base is None:
                base = experiment.baseline().cycles_per_iteration
            outcome = experiment.replaced(finding.instruction, change)
        except ChangeError:
            result.append(finding)
            continue
        cost = max(base - outcome.cycles_per_iteration, 0.0)
        cost = 0.0 if cost < LEAST else cost
        result.append(replace(finding, cost=cost, message=f"{finding.message} {sentence(cost)}"))
    return tuple(result)


def sentence(cost: float) -> str:
    """What a message says of its finding's price."""
    return f"It costs {cost:.2f} cycles per iteration here."
