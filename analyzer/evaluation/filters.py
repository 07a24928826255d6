"""Blocks that the evaluation of uiCA's paper leaves out: a measurement of them says little about throughput.

Its fourth filter, misses of the TLB, is the limit of pages (``Selection.max_pages``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from cyclelens.analyzer.isa.decoder import decode, left_on_x87_stack

_DIVISION = re.compile(r"I?DIV|V?(?:DIV|SQRT)[PS][SDH]|F(?:I?DIVR?P?|SQRT)")


def _mnemonics(code: bytes) -> set[str]:
    return {instruction.mnemonic.upper() for instruction in decode(code)}


def _unbalanced_x87(code: bytes) -> bool:
    """The x87 stack overflows or runs empty when the block repeats, and every such access is an exception."""
    return left_on_x87_stack(code) != 0


def _cpuid(code: bytes) -> bool:
    """CPUID waits for everything before it, and a hypervisor may handle it."""
    return "CPUID" in _mnemonics(code)


def _division(code: bytes) -> bool:
    """The time of divisions and square roots depends on their operands."""
    return any(_DIVISION.fullmatch(mnemonic) for mnemonic in _mnemonics(code))


FILTERS: Mapping[str, Callable[[bytes], bool]] = {
    "x87": _unbalanced_x87,
    "cpuid": _cpuid,
    "division": _division,
}
"""By name: whether a block is left out."""


def left_out(code: str, names: Collection[str]) -> bool:
    """Whether one of these filters takes a block, given in hexadecimal, out of an evaluation."""
    return any(FILTERS[name](bytes.fromhex(code)) for name in names)
