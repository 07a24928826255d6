"""Widths and sizes of a core, by Wong's method: how much work fits between two chains that could overlap.

"Measuring Reorder Buffer Capacity" (Wong, 2013) puts NOPs between two loads that miss the cache. Here a chain
of multiplications stands for the load, so that simulators and any machine can be asked: while its last link
is computed, whatever came after it stays in the buffers. If these hold it all, the next chain begins early;
from the first instruction too many on, it begins only when the last link is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from cyclelens.analyzer.assembly.encoder import Memory, Operand, encodings
from cyclelens.analyzer.characterizing.instances import ADDRESS, UNCHANGED
from cyclelens.analyzer.characterizing.machines import Machine

_CHAIN = "RAX"
_LINKS = 60
_CYCLES_OF_LINK = 3
_STEP, _MOST, _NEAR = 8, 704, 1.0
_STEEP = 0.55 * _CYCLES_OF_LINK
"""Cycles per instruction: each one more hides one link less, as long as the buffer holds the next chain."""


@dataclass(frozen=True, slots=True)
class Filler:
    """What fills a buffer while the chain is computed."""

    field: str
    """Of the core's parameters."""
    title: str
    mnemonic: str
    operands: tuple[Operand, ...]
    others: int
    """Entries that the last link, the loop's counter and the first link take beside the fillers, without the
    one instruction that does not fit."""


_WITHOUT_UNIT = tuple(map(bytes.fromhex, ("90", "0f1f00", "0f1f4000", "4489f3")))
"""NOPs of one, three and four bytes, and a move that is eliminated."""
_INSTRUCTIONS = 192
"""Enough that the cycle or two which a loop takes beside them do not round the width down."""
_VECTORS = ("XMM1", "XMM14", "XMM13")
FILLERS = (
    Filler("reorder_buffer_size", "reorder buffer", "nop", (), 3),
    Filler("reservation_station_size", "scheduler", "test", (_CHAIN, _CHAIN), 1),
    Filler("load_buffer_size", "load buffer", "mov", ("EBX", Memory(ADDRESS)), -1),
    Filler("store_buffer_size", "store buffer", "mov", (Memory(ADDRESS), UNCHANGED), -1),
    Filler("integer_registers", "integer registers", "movsxd", ("RBX", "R14D"), 2),
    Filler("vector_registers", "vector registers", "vpaddd", _VECTORS, -1),
)


@dataclass(frozen=True, slots=True)
class Size:
    """One value that was found, or why not."""

    field: str
    title: str
    found: int | None
    problem: str = ""


def sizes(machine: Machine) -> Iterator[Size]:
    """The issue width, then one size after the other. The machine must limit its resources."""
    width = _width(machine)
    yield Size("issue_width", "issue width", width, "" if width else "NOPs cannot be run")
    reorder_buffer = None
    for filler in FILLERS:
        code = next(encodings(filler.mnemonic, filler.operands))
        knee = _knee(machine, code)
        if isinstance(knee, str):
            yield Size(filler.field, filler.title, None, knee)
            continue
        entries = knee + filler.others
        if reorder_buffer is None:
            reorder_buffer = entries
        elif entries > 0.97 * reorder_buffer:
            yield Size(filler.field, filler.title, None, "the reorder buffer is full before")
            continue
        yield Size(filler.field, filler.title, entries)


def _width(machine: Machine) -> int | None:
    """The most instructions per cycle of several that need no unit."""
    rates = []
    for code in _WITHOUT_UNIT:
        run = machine.run(code * _INSTRUCTIONS)
        if not isinstance(run, str):
            rates.append(_INSTRUCTIONS / run.cycles)
    return round(max(rates)) if rates else None


def _knee(machine: Machine, filler: bytes) -> int | str:
    """The fewest fillers with which two chains do not overlap, or why that is not known."""
    begin = next(encodings("mov", (_CHAIN, UNCHANGED))) + next(encodings("imul", (_CHAIN, _CHAIN))) * _LINKS

    def cycles(number: int) -> float | str:
        run = machine.run(begin + filler * number)
        return run if isinstance(run, str) else run.cycles

    coarse: list[float] = []
    for number in range(0, _MOST + 1, _STEP):
        found = cycles(number)
        if isinstance(found, str):
            return found
        coarse.append(found)
    rises = [after - before for before, after in pairwise(coarse)]
    last = max((position for position, rise in enumerate(rises) if rise > _STEEP * _STEP), default=None)
    if last is None or last + 5 >= len(coarse):
        return f"nothing is full with up to {_MOST} instructions"
    # Behind the last steep rise the cycles lie on a flat line. The knee is where they reach it.
    behind, slope = last + 2, (coarse[last + 5] - coarse[last + 2]) / (3 * _STEP)
    for number in range(last * _STEP, behind * _STEP):
        found = cycles(number)
        if not isinstance(found, str) and found >= coarse[behind] - slope * (behind * _STEP - number) - _NEAR:
            return number
    return behind * _STEP
