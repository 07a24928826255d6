"""Cost of keeping the upper halves of vector registers when legacy SSE meets 256-bit code (UH1 to UH3).

The core tracks whether any upper half is in use, and an instruction's cost depends on that state. In a
repeated block, the state follows from the instructions alone, so it is computed before the simulation; if it
depends on code before the block, it is unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import IntFlag

from cyclelens.analyzer.isa.upper_halves import upper_halves
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.microarchitecture import Microarchitecture, UpperHalfRule
from cyclelens.analyzer.model.units import Role, UnitUse, UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate, UopTemplate, Value, ValueKind
from cyclelens.analyzer.model.upper_halves import UpperHalves
from cyclelens.analyzer.uops.registers import is_simd
from msgspec import Struct
from msgspec.structs import replace

_DRAINING = 8
"""Cycles, beyond those from issue to dispatch, that draining the pipeline before and after a switch takes;
the measured cost includes them."""
_DRAINING_MACRO_OPS = 3
"""``_DRAINING`` of a core that counts macro-ops."""
MERGING = (UpperHalfRule.MERGED, UpperHalfRule.MERGED_BY_TARGET)
NOTHING_KEPT: Sequence[int] = ()
MERGES, SWITCHES, FOLLOWS = 1, 2, 4
"""Effects of the state on an instruction, as a sum: its result is merged with the old upper half, it changes
the state at a cost, or it follows such an instruction."""


class UpperState(IntFlag):
    """Possible states of the upper halves; a value is a set of them."""

    CLEAN = 1
    """All are known to be zero."""
    IN_USE = 2
    PUT_ASIDE = 4
    """The core has saved them, so that legacy SSE can run at full speed."""


ANY = UpperState.CLEAN | UpperState.IN_USE | UpperState.PUT_ASIDE


class UpperEffect(Struct, frozen=True):
    """The effect of an instruction that has to keep upper halves, or needs saved ones."""

    certain: bool
    """True if it always has the effect; False if that depends on the state before the block."""
    fetches: bool
    """True if it restores saved upper halves; False if it has to keep those in use."""


def has_vectors(instruction: Instruction) -> bool:
    """True if it names a vector or MMX register."""
    return any(name is not None and is_simd(name) for name in instruction.registers)


def may_mix(instructions: Iterable[Instruction]) -> bool:
    """True if some instructions with vector registers have VEX or EVEX and others do not; otherwise
    no effects are possible."""
    kinds = {each.mnemonic.startswith("v") for each in instructions if has_vectors(each)}
    return len(kinds) > 1


def uses_of(instructions: Iterable[Instruction]) -> list[UpperHalves]:
    """What each instruction does to upper halves."""
    return [upper_halves(instruction.code) for instruction in instructions]


def effects(
    uses: Sequence[UpperHalves], rule: UpperHalfRule, before: UpperState = ANY
) -> list[UpperEffect | None]:
    """Effect of each instruction of a repeated block, in the steady state.

    ``before``: possible states before the first round.
    """
    puts_aside = rule not in MERGING
    state = before if puts_aside else before & ~UpperState.PUT_ASIDE
    found: list[UpperEffect | None] = []
    # A round never leaves more possible states than the one before it, and there are three.
    for _ in range(4):
        found = []
        for use in uses:
            state, effect = _step(use, state, puts_aside)
            found.append(effect)
    return found


def mixes_for_certain(instructions: Sequence[Instruction]) -> bool:
    """True if a repeated block has upper halves to keep, whatever code comes before it."""
    if not may_mix(instructions):
        return False
    found = effects(uses_of(instructions), UpperHalfRule.PUT_ASIDE)
    return any(effect is not None and effect.certain for effect in found)


def _step(use: UpperHalves, state: UpperState, puts_aside: bool) -> tuple[UpperState, UpperEffect | None]:
    if use is UpperHalves.NOTHING:
        return state, None
    if use is UpperHalves.LEAVES_UNKNOWN:
        return (ANY if puts_aside else UpperState.CLEAN | UpperState.IN_USE), None
    if use is UpperHalves.KEEPS:
        if not state & UpperState.IN_USE:
            return state, None
        effect = UpperEffect(state == UpperState.IN_USE, False)
        return (state & ~UpperState.IN_USE | UpperState.PUT_ASIDE if puts_aside else state), effect
    if not state & UpperState.PUT_ASIDE:
        return {UpperHalves.CLEARS: UpperState.CLEAN, UpperHalves.WRITES: UpperState.IN_USE}.get(
            use, state
        ), None
    effect = UpperEffect(state == UpperState.PUT_ASIDE, True)
    if use is UpperHalves.CLEARS:
        return UpperState.CLEAN, effect
    if use is UpperHalves.WRITES:
        return UpperState.IN_USE, effect
    return state & ~UpperState.PUT_ASIDE | UpperState.IN_USE, effect


def what_follows(
    instructions: Sequence[Instruction], microarchitecture: Microarchitecture, absorbed: Collection[int]
) -> Sequence[int]:
    """Effects of the state on each instruction, if they are certain and their cost is known; empty if there
    are none.

    ``absorbed``: positions of branches without uops of their own.
    """
    rule = microarchitecture.upper_halves
    if rule not in (UpperHalfRule.PUT_ASIDE, UpperHalfRule.MERGED) or not may_mix(instructions):
        return NOTHING_KEPT
    count = len(instructions)
    found = [0] * count
    for position, effect in enumerate(effects(uses_of(instructions), rule)):
        if effect is None or not effect.certain:
            continue
        if rule is UpperHalfRule.MERGED:
            found[position] |= MERGES
        else:
            found[position] |= SWITCHES
            behind = (position + 1) % count
            found[(behind + 1) % count if behind in absorbed else behind] |= FOLLOWS
    return found if any(found) else NOTHING_KEPT


def changed_by_upper_halves(
    template: InstructionTemplate, what: int, microarchitecture: Microarchitecture
) -> InstructionTemplate:
    """The template with the effects of the state (sums of ``MERGES``, ``SWITCHES``, ``FOLLOWS``)."""
    if not what:
        return template
    if what & MERGES:
        return _merging(template, microarchitecture)
    return _switching(template, what, microarchitecture)


def _switching(
    template: InstructionTemplate, what: int, microarchitecture: Microarchitecture
) -> InstructionTemplate:
    """The template of an instruction that switches or follows a switch.

    Nothing overlaps with a switch (UH2): it is a long operation that fills an issue group.
    """
    macro_ops = template.macro_ops
    template = replace(
        template,
        serializing=macro_ops is None,
        macro_ops=None if macro_ops is None else replace(macro_ops, serializing=True),
        follows_switch=what & FOLLOWS != 0,
    )
    if not what & SWITCHES:
        return template
    slots = 1 if macro_ops is not None else microarchitecture.issue_width
    draining = _DRAINING if macro_ops is None else _DRAINING_MACRO_OPS
    draining += microarchitecture.issue_to_dispatch_delay
    cycles = max(1, microarchitecture.upper_half_switch_cycles - draining)
    alus = microarchitecture.units.having(Role.ALU)
    long = UopTemplate(UopKind.COMPUTE, alus, outputs=((fresh(template.uops), cycles),))
    return replace(
        template,
        uops=(long, *[UopTemplate(UopKind.EMPTY)] * (slots - 1), *template.uops),
        fused_uops=((1,) * slots + template.fused_uops),
        # Cores that count macro-ops take an instruction as a whole.
        idq_uops=(slots, *template.idq_uops) if macro_ops is None else (1 + sum(template.idq_uops),),
        uop_count=template.uop_count + 1,
        retire_slots=template.retire_slots + slots,
        mite_uops=template.mite_uops + 1,
        eliminable_move=False,
        switches_upper_halves=True,
    )


def _merging(template: InstructionTemplate, microarchitecture: Microarchitecture) -> InstructionTemplate:
    """The template of an instruction whose result is merged with the old register (UH3).

    The merge is one more uop, whether the result is computed, loaded, moved or known to be zero.
    """
    kept = next(
        (
            (position, register)
            for position, register in enumerate(template.register_outputs)
            if register.name.startswith("XMM")
        ),
        None,
    )
    if kept is None or not template.uops:
        return template
    target, register = kept
    old: Value = (ValueKind.REGISTER, register.canonical)
    new = fresh(template.uops)
    uops = [
        replace(uop, outputs=tuple((new if value == old else value, late) for value, late in uop.outputs))
        for uop in template.uops
    ]
    made = any(value == new for uop in uops for value, _ in uop.outputs)
    vector = microarchitecture.units.having(Role.VECTOR)
    blend = UopTemplate(UopKind.COMPUTE, vector, (new, old) if made else (old,), ((old, 1),))
    latencies = {key: cycles + (key[2:] == ("reg", target)) for key, cycles in template.latencies.items()}
    inputs = template.register_inputs
    if all(each.canonical != register.canonical for each in inputs):
        results = [("reg", place) for place in range(len(template.register_outputs))]
        results += [("flag", place) for place in range(len(template.flag_outputs))]
        latencies |= {("reg", len(inputs), kind, place): 1 for kind, place in results}
        inputs = (*inputs, register)
    return replace(
        template,
        uops=(*uops, blend),
        fused_uops=(*template.fused_uops, 1),
        idq_uops=(*template.idq_uops[:-1], template.idq_uops[-1] + 1),
        uop_count=template.uop_count + 1,
        retire_slots=template.retire_slots + 1,
        uses=(*template.uses, UnitUse(UopKind.COMPUTE, vector, 1)),
        eliminable_move=False,
        register_inputs=inputs,
        latencies=latencies,
        merges_upper_half=True,
    )


def fresh(uops: Sequence[UopTemplate]) -> Value:
    """A new internal value that no uop of the instruction has."""
    taken = [
        int(name)
        for uop in uops
        for kind, name in (*uop.inputs, *[value for value, _ in uop.outputs])
        if kind is ValueKind.INTERNAL
    ]
    return ValueKind.INTERNAL, str(max(taken, default=-1) + 1)
