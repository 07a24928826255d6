"""Measures what a mispredicted branch costs: the same loop with random and with constant conditions.

An xorshift generator (Marsaglia, 2003) computes a random number, a branch compares it with a constant, and
both ways lead to the same code. A measurement runs the same rounds again and again, and predictors learn
thousands of branches by heart. Therefore the time stamp changes the numbers in every round. Reading it takes
time that mispredictions do not hide, so two lengths of a round are compared.
"""

from __future__ import annotations

from cyclelens.analyzer.characterizing.machines import Machine
from cyclelens.analyzer.isa.encoder import Operand, encodings
from msgspec import Struct

_FEW, _MANY = 16, 48
"""Branches per round: enough to hide the reading of the time stamp where nothing is mispredicted."""
_STATE, _SHIFTED = "R8D", "R9D"
_SHIFTS = (("shl", 13), ("shr", 17), ("shl", 5))
_NEVER, _ALWAYS = 0.0, 1.0
_LEAST = 2.0
"""Fewest cycles that are a penalty; a simulated core adds none."""


def _encoded(mnemonic: str, *operands: Operand) -> bytes:
    return next(encodings(mnemonic, operands))


def step(taken: float) -> bytes:
    """A new number and a branch that this share of the numbers takes."""
    shifts = (
        _encoded("mov", _SHIFTED, _STATE) + _encoded(name, _SHIFTED, by) + _encoded("xor", _STATE, _SHIFTED)
        for name, by in _SHIFTS
    )
    limit = min(round(taken * (1 << 32)), (1 << 32) - 1)
    compare = bytes.fromhex("4181f8") + limit.to_bytes(4, "little")  # cmp r8d, LIMIT
    return b"".join(shifts) + compare + bytes.fromhex("720190")  # jb over a nop


def round_of(branches: int, taken: float) -> bytes:
    """A round of this many branches."""
    seed = bytes.fromhex("0f31") + _encoded("xor", _STATE, "EAX")  # rdtsc
    return seed + step(taken) * branches


def cycles(machine: Machine, taken: float) -> float | str:
    """Cycles per branch that is taken with this probability, or why there are none."""
    short, long = (machine.run(round_of(branches, taken)) for branches in (_FEW, _MANY))
    if isinstance(short, str) or isinstance(long, str):
        return short if isinstance(short, str) else str(long)
    return (long.cycles - short.cycles) / (_MANY - _FEW)


class Penalty(Struct, frozen=True):
    """What a mispredicted branch costs, or why it is not known."""

    cycles: float | None
    problem: str = ""


def penalty(machine: Machine) -> Penalty:
    """Cycles per mispredicted branch: of an even chance, nothing predicts more than half."""
    found = []
    for taken in (0.5, _NEVER, _ALWAYS):
        per_branch = cycles(machine, taken)
        if isinstance(per_branch, str):
            return Penalty(None, per_branch)
        found.append(per_branch)
    random, never, always = found
    cost = (random - (never + always) / 2) / 0.5
    return Penalty(round(cost, 1)) if cost >= _LEAST else Penalty(None, "no branch is mispredicted here")
