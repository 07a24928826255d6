"""A function's figure if its callers set its arguments anew.

In the simulated steady state calls follow each other, and a call finds in each register what the call before
left there. Callers set an argument that the function overwrites before every call. A chain of dependent
instructions that runs through such a register is then broken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cyclelens.analyzer.insight.assumption_codes import CARRIED_ARGUMENTS
from cyclelens.analyzer.insight.runs import Runs
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.isa.effects import effects
from cyclelens.analyzer.isa.encoder import encodings
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.result import Assumption
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.uops.left_out import listed

_GENERAL = {"RDI": "EDI", "RSI": "ESI", "RDX": "EDX", "RCX": "ECX", "R8": "R8D", "R9": "R9D"}
"""Registers that hold arguments, with the names of their lower halves: System V ABI for AMD64, 3.2.3. Those
of Microsoft's convention are among them."""
_VECTORS = tuple(f"XMM{number}" for number in range(8))
_MATTERS = 0.95
"""Largest share of the figure that is worth a sentence."""


def carried_arguments(
    build: Callable[[Sequence[Instruction]], Block],
    instructions: Sequence[Instruction],
    cycles: float,
    runs: Runs,
) -> tuple[Assumption, ...]:
    """The assumption that arguments are what the previous call left, with the figure if callers set them
    anew; empty if the figures are about equal.

    ``build``: builds a block from instructions as the function's own was built. ``cycles``: the function's
    figure, in cycles per call. Raises like ``simulate``.
    """
    found = _overwritten(instructions)
    if not found:
        return ()
    uses_vex = any(instruction.mnemonic.startswith("v") for instruction in instructions)
    anew = runs.cycles(build((*instructions, *decode(b"".join(_set(each, uses_vex) for each in found)))))
    if anew > _MATTERS * cycles:
        return ()
    names = listed([name.lower() for name in found])
    they = "them" if len(found) > 1 else "it"
    message = (
        f"Calls follow each other, and each finds in {names} what the call before left there. If the caller "
        f"sets {they} anew, a call takes {anew:.2f} cycles."
    )
    return (Assumption(CARRIED_ARGUMENTS, message, values={"cycles": anew}),)


def _overwritten(instructions: Sequence[Instruction]) -> list[str]:
    """Argument registers that the function reads first and writes later, in the order of the reads."""
    unread = {*_GENERAL, *_VECTORS}
    arguments: dict[str, None] = {}
    written: set[str] = set()
    for instruction in instructions:
        found = effects(instruction.code)
        arguments.update(dict.fromkeys(sorted(unread & found.read)))
        unread -= found.read | found.overwritten
        written |= found.written
    return [name for name in arguments if name in written]


def _set(register: str, uses_vex: bool) -> bytes:
    """An instruction that gives a register a value that depends on nothing."""
    if register in _GENERAL:
        return next(encodings("mov", (_GENERAL[register], 1)))
    if uses_vex:
        return next(encodings("vxorps", (register,) * 3))
    return next(encodings("xorps", (register,) * 2))
