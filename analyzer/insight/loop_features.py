"""What loops of the measured kinds consist of, for the modules that recognise the kinds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.uops.registers import is_simd
from msgspec import Struct

DEPENDENT = 0.95
"""Share of the figure from which dependencies explain it."""
COUNTER = 1.0
"""Cycles of the chain of a loop's counter."""
AT_ONCE = 4
"""Operations of integers, or of vectors, that begin per cycle."""
_BRANCH_UNIT = "BR"
GROUP = 6
"""Macro-ops that are dispatched in a cycle."""


class Difference(Struct, frozen=True):
    """What loops of a kind took beyond the figure, or below it."""

    instructions: tuple[int, ...]
    kind: str
    """The beginning of a sentence: which loops they are."""
    cycles: float
    """Cycles per iteration beyond the figure; negative below it."""


def waits(prediction: Prediction) -> bool:
    """True if dependencies explain the figure, other than that of the loop's counter."""
    figure = prediction.cycles_per_iteration
    return prediction.bounds.get("Dependencies", 0.0) >= DEPENDENT * figure > COUNTER


def operations(template: InstructionTemplate) -> int:
    """Uops that compute; a branch that has a unit of its own (M48) is none."""
    return sum(
        uop.kind is UopKind.COMPUTE and uop.units.mask != 0 and _BRANCH_UNIT not in uop.units.names
        for uop in template.uops
    )


def is_vector(template: InstructionTemplate) -> bool:
    return any(is_simd(each.name) for each in (*template.register_inputs, *template.register_outputs))


def named(instructions: Sequence[InstructionTemplate], pattern: re.Pattern[str]) -> list[int]:
    return [i for i, each in enumerate(instructions) if pattern.fullmatch(each.instruction.mnemonic)]
