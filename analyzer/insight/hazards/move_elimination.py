"""``move-not-eliminated``: a register move that the renamer could have eliminated used a port instead."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "move-not-eliminated"

# Below this share the effect is noise of the measured window.
_WORTH_A_WORD = 0.01


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per eliminable move, with the share of iterations in which it was executed."""
    microarchitecture = registry.get(prediction.microarchitecture)
    for index, template in enumerate(prediction.instructions):
        if not template.eliminable_move:
            continue
        share = prediction.simulation.elimination[index]
        if share < _WORTH_A_WORD:
            continue
        general_purpose = any(operand.width for operand in template.register_outputs)
        if general_purpose and not microarchitecture.move_elimination_gpr_slots:
            why = (
                f"{microarchitecture.title} does not eliminate moves of general-purpose registers "
                "(switched off by a microcode update)"
            )
        else:
            why = (
                "all elimination slots were taken by earlier moves whose copies are still in use; "
                "overwrite one of the two registers sooner to free a slot"
            )
        yield Finding(
            code=CODE,
            severity=Severity.INFORMATION,
            instruction=index,
            message=f"Move not eliminated in {share:.0%} of the iterations: {why}.",
            label="move not eliminated" if share > 1 - _WORTH_A_WORD else f"{share:.0%} not eliminated",
            microarchitecture=prediction.microarchitecture,
        )
