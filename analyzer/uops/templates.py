"""Makes the template of an instruction, with all changes due to its neighbours."""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role, UnitSet, UnitUse, UopKind
from cyclelens.analyzer.model.uops import (
    InstructionTemplate,
    UopTemplate,
    Value,
    ValueKind,
)
from cyclelens.analyzer.uops.courses import AS_RECORDED, on_course
from cyclelens.analyzer.uops.expansion import exchange, expand
from cyclelens.analyzer.uops.fusion import fuse, fuse_branch, laminate
from cyclelens.analyzer.uops.operands import Prepared
from msgspec.structs import replace

Context = tuple[
    bool, int, frozenset[int], tuple[str, ...], bool, bool, bool, int, frozenset[int] | None, int, bool
]
"""What a template depends on besides its instruction, in this order:

512-bit instructions in the block; kind of the absorbed branch (``Shape.as_branch``), 0 for none; ``slower``
and ``merged`` of high-8 registers; hit by the JCC erratum; a branch that the previous instruction absorbs; a
move without an issue slot; the course of the branch that it is or absorbs (``courses.py``); for a
floating-point addition, its inputs from other additions (U12); effects of upper halves
(``uops/upper_halves.py``); a call that returns to the block (4.7).
A plain tuple, because two are made for every loop.
"""
NO_EFFECTS: tuple[frozenset[int], tuple[str, ...]] = (frozenset(), ())
ALONE: Context = (False, 0, *NO_EFFECTS, False, False, False, AS_RECORDED, None, 0, False)


def make_template(
    prepared: Prepared, context: Context, branch: Prepared | None, microarchitecture: Microarchitecture
) -> InstructionTemplate:
    wide, _, slower, merged, jcc, second, joins, course, chained, _, returns = context
    uses, uop_count = prepared.uses, prepared.uop_count
    if wide and prepared.has_simd_operand:
        uses = _without_closed(uses, microarchitecture)
    if branch is not None and branch.uses:
        branch_uses = on_course(branch.uses, course, microarchitecture)
        uses, uop_count = fuse_branch(uses, uop_count, branch_uses, branch.uop_count)
    elif course and prepared.facts.category == "COND_BR":
        uses = on_course(uses, course, microarchitecture)
    if slower:
        latencies = {
            key: cycles + (key[0] == "reg" and key[1] in slower) for key, cycles in prepared.latencies.items()
        }
        prepared = replace(prepared, latencies=latencies)
    if chained is not None:
        cycles = microarchitecture.chained_addition_cycles
        prepared = replace(prepared, latencies=_chained(prepared.latencies, chained, cycles))

    figures = prepared.figures
    mite_uops, ms_uops = figures.mite_uops or 1, figures.ms_uops or 0
    uops: tuple[UopTemplate, ...] = ()
    fused: tuple[int, ...] = ()
    laminated: tuple[int, ...] = ()
    if not second:
        if uops := exchange(prepared):
            uses, uop_count = (), 0
        uops = uops or expand(prepared, uses, flags_apart=microarchitecture.shift_result_without_flags)
        stores_apart = bool(microarchitecture.policies.store_commit)
        slots = figures.retire_slots or 1
        fused = fuse(uops, slots, stores_apart=stores_apart)
        # What is kept apart is delivered apart: an IDQ uop has to fit into the issue width.
        laminated = laminate(uops, fused, mite_uops + ms_uops + max(0, len(fused) - slots))
    return InstructionTemplate(
        instruction=prepared.instruction,
        facts=prepared.facts,
        name=prepared.facts.name,
        uops=uops,
        fused_uops=fused,
        idq_uops=laminated,
        uop_count=uop_count,
        retire_slots=figures.retire_slots or 1,
        mite_uops=mite_uops,
        ms_uops=ms_uops,
        complex_decoder=prepared.complex_decoder,
        available_simple_decoders=prepared.available_simple_decoders,
        uses=uses,
        divider_cycles=figures.divider_cycles or 0,
        tp=figures.tp,
        tp_after_wait=figures.tp_after_wait,
        shared=figures.shared,
        fused_with_next=branch is not None,
        fused_with_previous=second,
        macro_fusible=bool(prepared.facts.macro_fusible_with),
        is_branch=prepared.is_branch,
        length_changing_prefix=prepared.instruction.has_length_changing_prefix,
        jcc_erratum=jcc,
        eliminable_move=prepared.eliminable_move,
        added=None if branch is not None else prepared.added,
        offset_registers=prepared.offset_registers,
        joins_next=joins,
        serializing=prepared.serializing,
        load_serializing=prepared.load_serializing,
        store_serializing=prepared.store_serializing,
        rsp_change=prepared.rsp_change,
        returns=returns,
        register_inputs=prepared.register_inputs,
        register_outputs=prepared.register_outputs,
        address_inputs=prepared.address_inputs,
        flag_inputs=prepared.flag_inputs,
        flag_outputs=prepared.flag_outputs,
        memory_operands=prepared.memory_operands,
        merge_uops=merged,
        latencies=prepared.latencies,
    )


def _without_closed(uses: tuple[UnitUse, ...], microarchitecture: Microarchitecture) -> tuple[UnitUse, ...]:
    """Units of vector uops while 512-bit instructions are in flight: some are closed to them (V6)."""
    closed = microarchitecture.closed_by_512_bit.mask
    kept = [use for use in uses if not _loses(use, closed)]
    for use in uses:
        if _loses(use, closed):
            units = microarchitecture.units.of(use.units.mask & ~closed)
            same = next((place for place, other in enumerate(kept) if other.units is units), None)
            if same is None:
                kept.append(replace(use, units=units))
            else:
                kept[same] = replace(kept[same], uops=kept[same].uops + use.uops)
    return tuple(kept)


def _loses(use: UnitUse, closed: int) -> bool:
    return use.units.mask & closed != 0 and use.units.mask & ~closed != 0


def _chained(
    latencies: Mapping[tuple[str, int, str, int], int], chained: frozenset[int], early: int
) -> dict[tuple[str, int, str, int], int]:
    """Latencies of an addition, replacing the tables': some of those were measured in
    chains of additions (U12)."""
    return {
        key: early + (key[1] not in chained) if key[0] == "reg" else cycles
        for key, cycles in latencies.items()
    }


def unfused(template: InstructionTemplate) -> InstructionTemplate:
    """Every uop alone, as the simple front end delivers it."""
    alone = (1,) * len(template.uops)
    return replace(template, fused_uops=alone, idq_uops=alone)


def unknown(instruction: Instruction) -> InstructionTemplate:
    """The template without facts: one empty fused uop (T4), shown as unknown."""
    return InstructionTemplate(
        instruction=instruction,
        facts=None,
        name="",
        uops=(UopTemplate(UopKind.EMPTY),),
        fused_uops=(1,),
        idq_uops=(1,),
        uop_count=0,
        retire_slots=1,
        mite_uops=1,
        ms_uops=0,
        complex_decoder=False,
        available_simple_decoders=0,
        uses=(),
    )


def sync_uop(microarchitecture: Microarchitecture) -> UopTemplate:
    """The uop that synchronises RSP with the stack engine (E5)."""
    return _register_copy(UopKind.SYNC, microarchitecture.units.having(Role.ALU), "RSP")


def merge_uop(microarchitecture: Microarchitecture, register: str) -> UopTemplate:
    """The uop that merges a high-8 register into its 64-bit register (H2)."""
    return _register_copy(UopKind.MERGE, microarchitecture.units.having(Role.MERGE), register)


def _register_copy(kind: UopKind, units: UnitSet, register: str) -> UopTemplate:
    value: Value = (ValueKind.REGISTER, register)
    return UopTemplate(kind, units, (value,), ((value, 1),))
