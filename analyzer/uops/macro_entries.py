"""The entries of a block on a core that counts macro-ops."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from cyclelens.analyzer.model.frozen import replace
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.units import UnitUse
from cyclelens.analyzer.model.uops import (
    Entry,
    InstructionTemplate,
    MacroOps,
    ValueKind,
)
from cyclelens.analyzer.uops.known import Core, Known
from cyclelens.analyzer.uops.macro_fusion import fuses_after_move, fuses_with_branch
from cyclelens.analyzer.uops.macro_instruction import is_nop
from cyclelens.analyzer.uops.macro_ops import Expansion, expand_to_macro_ops
from cyclelens.analyzer.uops.operands import as_register
from cyclelens.analyzer.uops.rebinding import Original
from cyclelens.analyzer.uops.registers import canonical, is_simd
from cyclelens.analyzer.uops.templates import unknown


class _MacroContext(NamedTuple):
    """What the macro-ops of an instruction depend on beside the instruction."""

    second: bool
    """It is the branch that the instruction before absorbs."""
    branch: bool
    """It absorbs the branch behind it."""
    moves: bool
    """It is the move of a pair."""
    shares: bool
    """It is a NOP in the macro-op of what stands before it."""
    walks_stack: bool
    """The code has pushed or popped since it last wrote RSP."""
    merges_upper: bool
    """It keeps an upper half of a vector register that was written."""


def macro_op_entries(
    instructions: Sequence[Instruction], known: Sequence[Known | None], cache: Core, loop: bool
) -> list[Entry]:
    """The entries of a block on a core that counts macro-ops."""
    rules = cache.microarchitecture.macro_ops
    assert rules is not None
    count = len(known)
    branches = set()
    for position in range(1, count):
        first, second = known[position - 1], known[position]
        if (
            first is not None
            and second is not None
            and fuses_with_branch(first.shape.sibling, second.shape.sibling, rules)
        ):
            branches.add(position)
    walked = _walked(known)
    merging = _merging(known)
    entries: list[Entry] = []
    moves = shares = False
    for position, knowledge in enumerate(known):
        if knowledge is None:
            entries.append(replace(unknown(instructions[position]), macro_ops=MacroOps()))
            moves = shares = False
            continue
        shares = rules.fuses_nops and not shares and position > 0 and is_nop(knowledge.prepared())
        # Straight-line code goes on with its own first instruction.
        following = known[(position + 1) % count] if position + 1 < count or not loop else None
        behind = known[(position + 2) % count] if position + 2 < count or not loop else None
        moves = (
            not moves
            and following is not None
            and rules.fuses_moves
            and cache.options.macro_fusion
            and fuses_after_move(
                knowledge.prepared(),
                following.prepared(),
                behind is not None and behind.shape.sibling.facts.category == "COND_BR",
            )
        )
        context = _MacroContext(
            second=position in branches,
            branch=position + 1 in branches,
            moves=moves,
            shares=shares,
            walks_stack=walked[position],
            merges_upper=merging[position],
        )
        key = (knowledge, context)
        entry = cache.entries[key]
        if entry is None:
            make = partial(_macro_op_template, knowledge, context, cache)
            entry = Original(knowledge.instruction, knowledge.facts, make)
            cache.entries[key] = entry
        entries.append(entry)
    return entries


def _walked(known: Sequence[Known | None]) -> list[bool]:
    """Of every instruction whether the last one before it that changes RSP pushes or pops; rounds follow each
    other."""
    walks = False
    for _ in range(2):
        walked = []
        for knowledge in known:
            walked.append(walks)
            if knowledge is None:
                continue
            if knowledge.shape.sibling.rsp_change:
                walks = True
            elif any(o.register == "RSP" and o.facts.written for o in knowledge.operands()):
                walks = False
    return walked


def _merging(known: Sequence[Known | None]) -> list[bool]:
    """Of every instruction whether it keeps the upper half of its target, one of SSE without VEX, and the
    code has written that half; rounds follow each other."""
    written: set[str] = set()
    for _ in range(2):
        merging = []
        for knowledge in known:
            operands = knowledge.operands() if knowledge is not None else ()
            target = operands[0] if operands else None
            name = (target and target.register) or ""
            mnemonic = knowledge.instruction.mnemonic if knowledge is not None else ""
            merging.append(not mnemonic.startswith("v") and is_simd(name) and canonical(name) in written)
            if mnemonic in ("vzeroupper", "vzeroall"):
                written.clear()
            elif target is not None and target.facts.written and mnemonic.startswith("v") and is_simd(name):
                # Of 128 bits VEX clears what is above.
                (written.discard if name.startswith("X") else written.add)(canonical(name))
    return merging


def _macro_op_template(knowledge: Known, context: _MacroContext, cache: Core) -> InstructionTemplate:
    prepared = knowledge.prepared()
    if context.second:
        expansion = Expansion(ops=MacroOps(entries=0, decode_slots=0))
    elif context.shares:
        expansion = Expansion(ops=MacroOps(entries=0), executes=False)
    else:
        expansion = expand_to_macro_ops(
            prepared,
            cache.microarchitecture,
            branch=context.branch,
            moves=context.moves,
            walks_stack=context.walks_stack,
            merges_upper=context.merges_upper,
        )
    inputs, uops = prepared.register_inputs, expansion.uops
    if expansion.eliminable:
        # Its latency is 0, so that the tables do not count what it copies among its inputs.
        inputs = tuple(as_register(o) for o in knowledge.operands() if o.register and o.facts.read) or inputs
        copied = tuple((ValueKind.REGISTER, register.canonical) for register in inputs)
        uops = (replace(uops[0], inputs=copied),)
    return InstructionTemplate(
        instruction=prepared.instruction,
        facts=prepared.facts,
        name=prepared.facts.name,
        uops=uops,
        fused_uops=expansion.sizes,
        idq_uops=(len(expansion.sizes),) if expansion.sizes else (),
        uop_count=len(uops) if expansion.executes else 0,
        retire_slots=len(expansion.sizes),
        mite_uops=len(expansion.sizes),
        ms_uops=0,
        complex_decoder=False,
        available_simple_decoders=0,
        uses=tuple(UnitUse(uop.kind, uop.units, 1) for uop in uops if uop.units.mask),
        divider_cycles=max((uop.divider_cycles for uop in uops), default=0),
        fused_with_next=context.branch or context.moves,
        fused_with_previous=context.second,
        is_branch=prepared.is_branch,
        eliminable_move=expansion.eliminable,
        rsp_change=prepared.rsp_change,
        register_inputs=inputs,
        register_outputs=prepared.register_outputs,
        address_inputs=prepared.address_inputs,
        flag_inputs=prepared.flag_inputs,
        flag_outputs=prepared.flag_outputs,
        memory_operands=prepared.memory_operands,
        latencies=prepared.latencies,
        macro_ops=expansion.ops,
    )
