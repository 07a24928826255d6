"""Measures widths and buffer sizes of a core by Wong's method: how much work fits between two chains.

"Measuring Reorder Buffer Capacity" (Wong, 2013) puts NOPs between two loads that miss the cache. Here a chain
of multiplications replaces the load, which works on simulators and any machine. While its last link executes,
later instructions stay in the buffers. If these hold them all, the next chain begins early; with one
instruction too many, it begins only when the last link is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import cycle, islice, pairwise

from cyclelens.analyzer.characterizing.instances import ADDRESS, UNCHANGED
from cyclelens.analyzer.characterizing.machines import Machine
from cyclelens.analyzer.isa.encoder import EncoderMemory, Operand, encodings
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role
from msgspec import Struct
from msgspec.structs import replace

_CHAIN, _VECTOR_CHAIN = "RAX", "XMM0"
_LINKS = 60
_STEP, _MOST, _NEAR = 8, 704, 1.0
_STEEP = 0.55
"""Least slope in links per instruction: each additional instruction hides one link less of the next chain."""
_FULL_BEFORE = 0.97
"""Fraction of an enclosing buffer's size from which a result is that buffer's own size."""


def _encoded(mnemonic: str, *operands: Operand) -> bytes:
    return next(encodings(mnemonic, operands))


class Chain(Struct, frozen=True):
    """A chain of ``links`` between its first and last instructions."""

    begin: bytes
    link: bytes
    end: bytes = b""

    def code(self) -> bytes:
        """Code of the whole chain."""
        return self.begin + self.link * _LINKS + self.end


_CHAINS = (
    Chain(_encoded("mov", _CHAIN, UNCHANGED), _encoded("imul", _CHAIN, _CHAIN)),
    Chain(
        _encoded("movaps", _VECTOR_CHAIN, "XMM15"),
        _encoded("mulps", _VECTOR_CHAIN, _VECTOR_CHAIN),
        _encoded("movq", _CHAIN, _VECTOR_CHAIN),
    ),
)
"""Chains to try; if each unit has a scheduler of its own (Zen), the first chain fills one before all else."""
_ZEROS = (bytes.fromhex("4531e4"), bytes.fromhex("31db"))
"""Zero idioms (``xor r12d, r12d`` and ``xor ebx, ebx``), which need no unit.

They alternate, because two zero idioms of one register share an entry of Zen 4's reorder buffer. NOPs share
one with the preceding instruction."""
_IGNORED = bytes.fromhex("3e3e")
"""Prefixes without effect on an instruction without memory operand."""
_QUICK = (_ZEROS[0], bytes.fromhex("4489f3"), _IGNORED + _ZEROS[0], _IGNORED + bytes.fromhex("4489f3"))
"""Zero idioms and eliminated moves, which need no unit, of three and five bytes.

A uop cache may use several lines for a window of short instructions."""
_INSTRUCTIONS = 192
"""Instructions per loop: enough that a loop's overhead of a cycle or two does not round the width down."""


class Filler(Struct, frozen=True):
    """Instructions that fill a buffer while the chain executes."""

    field: str
    """Name of the core parameter."""
    title: str
    codes: tuple[bytes, ...]
    """Instructions, used in turn."""
    others: int
    """Entries besides the fillers: last link, loop counter and first link, minus the one instruction that
    does not fit."""
    within: tuple[str, ...] = ("reorder_buffer_size",)
    """Other buffers in which the fillers occupy entries."""
    beside_chain: bool = False
    """True if the chain waits in the same buffer, unless its units have a scheduler of their own."""


_ALL = (
    Filler("reorder_buffer_size", "reorder buffer", _ZEROS, 3, ()),
    Filler(
        "reservation_station_size", "scheduler", (_encoded("test", _CHAIN, _CHAIN),), 1, beside_chain=True
    ),
    Filler("integer_registers", "integer registers", (_encoded("movsxd", "RBX", "R14D"),), 2),
    Filler("vector_registers", "vector registers", (_encoded("vpaddd", "XMM1", "XMM14", "XMM13"),), -1),
    Filler(
        "load_buffer_size",
        "load buffer",
        (_encoded("mov", "EBX", EncoderMemory(ADDRESS)),),
        -1,
        ("reorder_buffer_size", "integer_registers"),
    ),
    Filler("store_buffer_size", "store buffer", (_encoded("mov", EncoderMemory(ADDRESS), UNCHANGED),), -1),
)


class Size(Struct, frozen=True):
    """One measured value, or why there is none."""

    field: str
    title: str
    found: int | None
    problem: str = ""


def sizes(machine: Machine) -> Iterator[Size]:
    """Measure the issue width, then each buffer size. The machine must limit its resources."""
    width = max(filter(None, map(partial(_rate, machine), _QUICK)), default=None)
    problem = "" if width else "nothing can be run"
    yield Size("issue_width", "issue width", None if width is None else round(width), problem)
    found: dict[str, Size] = {}
    for filler in _ALL:
        size = _size(machine, filler)
        for other in (found[field] for field in filler.within):
            if size.found and other.found and size.found > _FULL_BEFORE * other.found:
                size = replace(size, found=None, problem=f"full before: {other.title}")
        found[filler.field] = size
        yield size


def known_size(model: Microarchitecture, field: str) -> int | None:
    """A size from the core's parameters, for comparison; None if unknown or unlimited."""
    if field == "reservation_station_size" and model.schedulers:
        alus = {unit.scheduler for unit in model.units.all if Role.ALU in unit.roles}
        return sum(scheduler.entries for scheduler in model.schedulers if scheduler.name in alus)
    if model.macro_ops is not None and field == "store_buffer_size":
        return model.macro_ops.store_queue
    if model.macro_ops is not None and field == "load_buffer_size":
        return None
    known: int = getattr(model, field)
    return known or None


def _size(machine: Machine, filler: Filler) -> Size:
    knees = [_knee(machine, _CHAINS[0], filler.codes)]
    if isinstance(knees[0], str) or filler.beside_chain:
        knees.append(_knee(machine, _CHAINS[1], filler.codes))
    # The chain's own entries are missing, so the larger figure is closer.
    most = max((each for each in knees if not isinstance(each, str)), default=None)
    if most is None:
        return Size(filler.field, filler.title, None, str(knees[-1]))
    return Size(filler.field, filler.title, most + filler.others)


def _rate(machine: Machine, code: bytes) -> float | None:
    """Instructions per cycle."""
    run = machine.run(code * _INSTRUCTIONS)
    return None if isinstance(run, str) else _INSTRUCTIONS / run.cycles


def _knee(machine: Machine, chain: Chain, fillers: tuple[bytes, ...]) -> int | str:
    """The fewest fillers with which two chains do not overlap, or why that is unknown."""
    link = machine.run(chain.link)
    if isinstance(link, str):
        return link
    steep = _STEEP * link.cycles * _STEP

    def cycles(number: int) -> float | str:
        run = machine.run(chain.code() + b"".join(islice(cycle(fillers), number)))
        return run if isinstance(run, str) else run.cycles

    coarse: list[float] = []
    for number in range(0, _MOST + 1, _STEP):
        found = cycles(number)
        if isinstance(found, str):
            return found
        coarse.append(found)
    rises = [after - before for before, after in pairwise(coarse)]
    # A disturbed measurement is a rise too, but does not last.
    lasting = (
        position
        for position, rise in enumerate(rises)
        if rise > steep and min(coarse[position + 1 :]) > coarse[position] + steep
    )
    last = max(lasting, default=None)
    if last is None or last + 5 >= len(coarse):
        return f"nothing is full with up to {_MOST} instructions"
    # After the last steep rise the cycles lie on a flat line. The knee is where they reach it.
    behind, slope = last + 2, (coarse[last + 5] - coarse[last + 2]) / (3 * _STEP)
    for number in range(last * _STEP, behind * _STEP):
        found = cycles(number)
        if not isinstance(found, str) and found >= coarse[behind] - slope * (behind * _STEP - number) - _NEAR:
            return number
    return behind * _STEP
