"""Finds floating-point additions whose operand comes from another addition (rule U12 of docs/pipeline.md)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.uops.operands import Prepared

_ADDITION = r"V?(ADD|SUB|ADDSUB)[PS][SD]_(XMM|YMM)"


def is_addition(prepared: Prepared) -> bool:
    """True for an unmasked floating-point addition or subtraction of at most 256 bits."""
    return re.match(_ADDITION, prepared.facts.iform) is not None and not any(
        operand.opmask for operand in prepared.facts.operands
    )


def chained_inputs(block: Sequence[Prepared | None]) -> list[frozenset[int] | None]:
    """For each addition, the positions of register inputs that another addition computed, also through
    eliminated moves; None for other instructions.

    Two passes over the block give the steady state of a loop. Unknown instructions (None) change nothing.
    """
    made: set[str] = set()
    chained: list[frozenset[int] | None] = []
    for _ in range(2):
        chained = []
        for prepared in block:
            inputs = () if prepared is None else prepared.register_inputs
            here = frozenset(n for n, operand in enumerate(inputs) if operand.canonical in made)
            added = prepared is not None and is_addition(prepared)
            chained.append(here if added else None)
            if prepared is not None:
                keeps = added or (prepared.eliminable_move and bool(here))
                for output in prepared.register_outputs:
                    (made.add if keeps else made.discard)(output.canonical)
    return chained
