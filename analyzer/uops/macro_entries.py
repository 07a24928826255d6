"""Builds the entries of a block on a core that counts macro-ops."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from functools import partial

from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.microarchitecture import UpperHalfRule
from cyclelens.analyzer.model.units import UnitUse
from cyclelens.analyzer.model.uops import (
    Entry,
    InstructionTemplate,
    MacroOps,
    Trait,
    ValueKind,
)
from cyclelens.analyzer.uops.calls import coming_back
from cyclelens.analyzer.uops.known import CoreCache, InContext, KnownInstruction
from cyclelens.analyzer.uops.macro_fusion import fuses_after_move, fuses_with_branch
from cyclelens.analyzer.uops.macro_instruction import is_locked_change, is_nop
from cyclelens.analyzer.uops.macro_ops import Expansion, expand_to_macro_ops
from cyclelens.analyzer.uops.macro_units import with_computed_stores
from cyclelens.analyzer.uops.operands import as_register
from cyclelens.analyzer.uops.rebinding import Original
from cyclelens.analyzer.uops.registers import is_simd
from cyclelens.analyzer.uops.templates import unknown
from cyclelens.analyzer.uops.upper_halves import NOTHING_KEPT, changed_by_upper_halves, what_follows
from cyclelens.analyzer.uops.x87_stack import STACK, Stack
from msgspec import Struct
from msgspec.structs import replace


class _MacroContext(Struct, frozen=True):
    """What an instruction's macro-ops depend on besides the instruction."""

    second: bool
    """The previous instruction absorbs this branch."""
    branch: bool
    """It absorbs the next branch."""
    moves: bool
    """It is the move of a pair."""
    shares: bool
    """It is a NOP in the previous instruction's macro-op."""
    walks_stack: bool
    """The code has pushed or popped since it last wrote RSP."""
    merges_upper: bool
    """It keeps an upper half of a vector register that was written."""
    upper: int
    """Effects of saved upper halves (``uops/upper_halves.py``)."""
    returns: bool
    """It is a call that returns to the block."""
    looped: bool
    """It is the first locked change of memory of a loop."""
    crowded: bool
    """It is one of many stores of the block."""
    behind_load: bool
    """It changes memory and follows a load."""


_FEW_STORES = 2
"""So many stores of an iteration leave together, whatever they store (M46)."""
_ALONE = _MacroContext(False, False, False, False, False, False, 0, False, False, False, False)


class _Upper(Enum):
    """What an instruction does to the upper halves of vector registers."""

    KEEPS = auto()
    """Keeps its target's upper half: SSE without VEX."""
    WRITES = auto()
    CLEARS = auto()
    """Clears its target's upper half: 128 bits with VEX."""
    CLEARS_ALL = auto()


class _SiblingEffects(Struct, frozen=True):
    """Effects of a shape's siblings on later instructions."""

    walks_stack: bool | None
    """True after a push or pop, False after another write of RSP, None if it does not change RSP."""
    upper: _Upper | None
    stack: bool
    """True if they use the x87 stack."""
    branch: bool
    """True for a conditional branch."""
    locked: bool
    """True for a locked change of memory."""
    stores: bool
    """True if they write memory."""
    loads: bool
    """True if they read memory."""


def macro_op_entries(
    instructions: Sequence[Instruction],
    known: Sequence[KnownInstruction | None],
    cache: CoreCache,
    loop: bool,
) -> list[Entry]:
    """The entries of a block on a core that counts macro-ops."""
    rules = cache.microarchitecture.macro_ops
    assert rules is not None
    count = len(known)
    effects = [None if each is None else each.shape.effects or _effects_of(each) for each in known]
    stack = None
    if any(each is not None and each.stack for each in effects):
        stack = Stack(known)
        if stack.problem:
            known = [None if position in stack.names else each for position, each in enumerate(known)]
            effects = [each if known[position] else None for position, each in enumerate(effects)]
    branches = set()
    for position, each in enumerate(effects):
        if each is not None and each.branch and position:
            before, jump = known[position - 1], known[position]
            if before and jump and fuses_with_branch(before.shape.sibling, jump.shape.sibling, rules):
                branches.add(position)
    walked = _walked(effects)
    rule = cache.microarchitecture.upper_halves
    merging = [False] * count
    upper = NOTHING_KEPT
    if rule is UpperHalfRule.MERGED_BY_TARGET:
        merging = _merging(known, effects)
    elif rule is UpperHalfRule.MERGED:
        for position, what in enumerate(what_follows(instructions, cache.microarchitecture, branches)):
            merging[position] = what != 0
    elif rule is UpperHalfRule.PUT_ASIDE and cache.options.hardware:
        upper = what_follows(instructions, cache.microarchitecture, branches)
    returning = coming_back(instructions) if cache.options.hardware else frozenset()
    fuses_moves = rules.fuses_moves and cache.options.macro_fusion
    looped = -1
    if loop and rules.looped_lock_cycles:
        looped = next((at for at, each in enumerate(effects) if each is not None and each.locked), -1)
    crowded = rules.computed_store_eighths > 0 and (
        sum(each.stores for each in effects if each is not None) > _FEW_STORES
    )
    entries: list[Entry] = []
    moves = shares = False
    for position, knowledge in enumerate(known):
        if knowledge is None:
            template = replace(unknown(instructions[position]), macro_ops=MacroOps())
            if stack is not None and position in stack.names:
                template = replace(template, left_out=stack.problem)
            what = upper[position] if upper else 0
            entries.append(changed_by_upper_halves(template, what, cache.microarchitecture))
            moves = shares = False
            continue
        sibling, instruction = knowledge.shape.sibling, knowledge.instruction
        shares = (
            rules.fuses_nops
            and position > 0
            and not shares
            and is_nop(sibling.facts, instruction)
            and not _uses_vectors(instructions[position - 1])
        )
        moves = not moves and instruction.mnemonic == "mov" and fuses_moves and _moves(known, position, loop)
        what = upper[position] if upper else 0
        branch, second, returns = position + 1 in branches, position in branches, position in returning
        is_looped = position == looped
        effect = effects[position]
        many = crowded and effect is not None and effect.stores
        previous = effects[position - 1] if position else None
        changes = effect is not None and effect.loads and effect.stores
        loaded = previous is not None and previous.loads and not previous.stores
        behind = rules.change_behind_load_eighths > 0 and changes and loaded
        if (
            branch
            or second
            or moves
            or shares
            or walked[position]
            or merging[position]
            or what
            or returns
            or is_looped
            or many
            or behind
        ):
            context = _MacroContext(
                second,
                branch,
                moves,
                shares,
                walked[position],
                merging[position],
                what,
                returns,
                is_looped,
                many,
                behind,
            )
            key = (knowledge, context)
            entry = cache.entries.get(key)
            if entry is None:
                entry = cache.entries[key] = _entry(knowledge, context, cache)
        else:
            entry = knowledge.alone
            if entry is None:
                entry = knowledge.alone = _entry(knowledge, _ALONE, cache)
        entries.append(entry if stack is None else stack.entry(entry, knowledge, position))
    return entries


def _moves(known: Sequence[KnownInstruction | None], position: int, loop: bool) -> bool:
    """True if the MOV at this position and the next instruction are a pair."""
    count, first = len(known), known[position]
    # Behind a copy of straight-line code comes the next one; a loop ends in its branch.
    following = known[(position + 1) % count] if position + 1 < count or not loop else None
    behind = known[(position + 2) % count] if position + 2 < count or not loop else None
    return (
        first is not None
        and following is not None
        and not (first.shape.sibling.memory_operands or following.shape.sibling.memory_operands)
        and fuses_after_move(
            first.instruction,
            following.instruction,
            behind is not None and behind.shape.sibling.facts.category == "COND_BR",
        )
    )


def _effects_of(known: KnownInstruction) -> _SiblingEffects:
    """The effects of an instruction and its siblings, computed once."""
    shape, operands, mnemonic = known.shape, known.operands(), known.instruction.mnemonic
    walks = None
    if shape.sibling.rsp_change:
        walks = True
    elif any(o.register == "RSP" and o.facts.written for o in operands):
        walks = False
    upper = None
    name = (operands and operands[0].register) or ""
    if mnemonic in ("vzeroupper", "vzeroall"):
        upper = _Upper.CLEARS_ALL
    elif is_simd(name) and not mnemonic.startswith("v"):
        upper = _Upper.KEEPS
    elif is_simd(name) and operands[0].facts.written:
        # A VEX instruction of 128 bits clears the upper half.
        upper = _Upper.CLEARS if name.startswith("X") else _Upper.WRITES
    stack = any(o.register in STACK for o in operands)
    branch = shape.sibling.facts.category == "COND_BR"
    locked = is_locked_change(shape.sibling)
    stores = any(access.written for access in shape.sibling.memory_operands)
    loads = any(access.read for access in shape.sibling.memory_operands)
    shape.effects = effects = _SiblingEffects(walks, upper, stack, branch, locked, stores, loads)
    return effects


def _walked(effects: Sequence[_SiblingEffects | None]) -> list[bool]:
    """For each instruction, True if the last change of RSP before it was a push or pop.
    Rounds follow each other."""
    changes = [None if each is None else each.walks_stack for each in effects]
    if True not in changes:
        return [False] * len(changes)
    walks = next((each for each in reversed(changes) if each is not None), False)
    walked = []
    for each in changes:
        walked.append(walks)
        if each is not None:
            walks = each
    return walked


def _merging(
    known: Sequence[KnownInstruction | None], effects: Sequence[_SiblingEffects | None]
) -> list[bool]:
    """For each instruction, True if it is SSE without VEX and keeps its target's upper half, which the code
    has written. Rounds follow each other."""
    merging = [False] * len(known)
    uppers = [None if each is None else each.upper for each in effects]
    if _Upper.KEEPS not in uppers or _Upper.WRITES not in uppers:
        return merging
    written: set[str] = set()
    for _ in range(2):
        for position, (knowledge, upper) in enumerate(zip(known, uppers, strict=True)):
            if knowledge is None or upper is None:
                continue
            if upper is _Upper.CLEARS_ALL:
                written.clear()
                continue
            # The target is the first operand, so its name comes first.
            target = knowledge.names[0]
            merging[position] = upper is _Upper.KEEPS and target in written
            if upper is _Upper.WRITES:
                written.add(target)
            elif upper is _Upper.CLEARS:
                written.discard(target)
    return merging


def _entry(knowledge: KnownInstruction, context: _MacroContext, cache: CoreCache) -> Entry:
    """The entry in a context; siblings share an expansion if they share the encoding and the relevant
    properties of the address: whether the index is scaled, and whether there is a displacement."""
    instruction, templates = knowledge.instruction, knowledge.shape.templates
    key = (instruction.encoding, instruction.scale == 1, instruction.displacement == 0, context)
    like = templates.get(key)
    if like is not None:
        return InContext(like, knowledge)
    make = partial(_template, knowledge, context, cache)
    original = templates[key] = Original(instruction, knowledge.facts, make, knowledge.names)
    return original


def _template(knowledge: KnownInstruction, context: _MacroContext, cache: CoreCache) -> InstructionTemplate:
    prepared = knowledge.prepared()
    rules = cache.microarchitecture.macro_ops
    if context.looped and rules is not None:
        prepared = replace(prepared, figures=replace(prepared.figures, throughput=rules.looped_lock_cycles))
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
    if context.behind_load and rules is not None:
        uops = tuple(
            [
                replace(uop, busy_eighths=rules.change_behind_load_eighths)
                if uop.traits & Trait.SHARES_ADDRESS
                else uop
                for uop in uops
            ]
        )
    if context.crowded and rules is not None:
        uops = with_computed_stores(uops, prepared, rules.computed_store_eighths)
    if expansion.eliminable:
        # Its latency is 0, so the tables do not list the copied register among its inputs.
        inputs = tuple(as_register(o) for o in knowledge.operands() if o.register and o.facts.read) or inputs
        copied = tuple((ValueKind.REGISTER, register.canonical) for register in inputs)
        uops = (replace(uops[0], inputs=copied),)
    template = InstructionTemplate(
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
        returns=context.returns,
        register_inputs=inputs,
        register_outputs=prepared.register_outputs,
        address_inputs=prepared.address_inputs,
        flag_inputs=prepared.flag_inputs,
        flag_outputs=prepared.flag_outputs,
        memory_operands=prepared.memory_operands,
        latencies=prepared.latencies,
        macro_ops=expansion.ops,
        merges_upper_half=context.merges_upper,
    )
    return changed_by_upper_halves(template, context.upper, cache.microarchitecture)


def _uses_vectors(instruction: Instruction) -> bool:
    """True if an operand is a vector register: a NOP does not share the macro-op (M23)."""
    return any(is_simd(operand.register or "") for operand in instruction.operands)
