"""Floating-point operations of an instruction, as OSACA and performance counters count them.

A fused multiply-add is two operations per lane; additions, subtractions, multiplications, divisions and
square roots are one. Comparisons, conversions, shuffles and logic are none. A mask is taken to be full.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cyclelens.analyzer.model.uops import InstructionTemplate

_FUSED = re.compile(r"VFN?M(?:ADD|SUB)(?:ADD|SUB)?(?:132|213|231)?([PS])([SDH])")
_PLAIN = re.compile(r"V?(?:ADD|SUB|MUL|DIV|SQRT|ADDSUB|HADD|HSUB)([PS])([SDH])")
_X87 = re.compile(r"F(?:I?(?:ADD|SUBR?|MUL|DIVR?)P?|SQRT)")
_BITS = {"H": 16, "S": 32, "D": 64}
_WIDTHS = (("ZMM", 512), ("YMM", 256))


def operations(template: InstructionTemplate) -> int:
    """Floating-point operations of one execution."""
    mnemonic = template.instruction.mnemonic.upper()
    if _X87.fullmatch(mnemonic):
        return 1
    fused = _FUSED.fullmatch(mnemonic)
    found = fused or _PLAIN.fullmatch(mnemonic)
    if found is None:
        return 0
    lanes = 1 if found[1] == "S" else _width(template) // _BITS[found[2]]
    return lanes * (2 if fused else 1)


def per_iteration(templates: Iterable[InstructionTemplate]) -> int:
    """Floating-point operations of one iteration."""
    return sum(map(operations, templates))


def _width(template: InstructionTemplate) -> int:
    registers = [operand.register or "" for operand in template.instruction.operands]
    return next((bits for name, bits in _WIDTHS if any(each.startswith(name) for each in registers)), 128)
