"""Detects instructions that the renamer handles: zero idioms, dependency-breaking idioms, eliminated moves.

The method is that of section 4.1 of "uops.info: Characterizing Latency, Throughput, and Port Usage of
Instructions on Intel Microarchitectures" (Abel and Reineke, 2019): an instruction that uses one register for
all operands may ignore the register's value, and may not be executed at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from cyclelens.analyzer.characterizing.instances import EncodableVariant
from cyclelens.analyzer.characterizing.latency import SAME_REGISTER, MeasuredLatency, Pair
from cyclelens.analyzer.characterizing.links import REGISTER
from cyclelens.analyzer.characterizing.machines import Machine, RepeatedRun

_COPIES = 8
_FASTER = 0.95
"""Fraction of the cycles with separate registers below which the units are not the limit."""
_NONE = 0.05
"""Most uops per instance that count as not executed."""


class Idiom(StrEnum):
    """Special treatment of an instruction by the renamer."""

    ZERO = "zero idiom"
    """With one register for all operands, it waits for nothing and is not executed."""
    BREAKING = "dependency-breaking idiom"
    """With one register for all operands, it waits for nothing but is executed."""
    ELIMINATED = "eliminated move"
    """Between two registers, it has no latency."""


def with_one_register(machine: Machine, variant: EncodableVariant) -> RepeatedRun | None:
    """Run an instance that uses one register for all operands; None if there is no such instance."""
    chosen = None if variant.prepared else variant.choose_one()
    code = None if chosen is None else variant.encode(chosen)
    run = None if code is None else machine.run(code * _COPIES)
    if run is None or isinstance(run, str):
        return None
    units = None if run.units is None else {name: uops / _COPIES for name, uops in run.units.items()}
    return RepeatedRun(run.cycles / _COPIES, None if run.uops is None else run.uops / _COPIES, units)


def idiom(
    variant: EncodableVariant,
    latencies: Mapping[Pair, MeasuredLatency],
    run: RepeatedRun,
    same: RepeatedRun | None,
) -> Idiom | None:
    """Classify a variant by its latencies and by runs with separate registers (``run``) and one (``same``).

    If uops are not counted, instances that are faster with one register count as not executed, because their
    units would limit them.
    """
    registers = {each.index for each in variant.registers}
    known = {pair: found.cycles for pair, found in latencies.items() if found.cycles is not None}
    between = [
        cycles
        for (source, target, part), cycles in known.items()
        if part == REGISTER and source != target and {source, target} <= registers
    ]
    # XADD passes one of its registers on in no time, but adds.
    if len(registers) == 2 and variant.memory is None and between and not any(between):
        return Idiom.ELIMINATED
    ones = [cycles for (_, _, part), cycles in known.items() if part == SAME_REGISTER]
    if same is None or not ones or any(ones):
        return None
    executed = same.uops > _NONE if same.uops is not None else same.cycles > _FASTER * run.cycles
    return Idiom.BREAKING if executed else Idiom.ZERO
