"""Instructions to a block of templates: facts matched, pairs fused, everything static computed once.

What depends on one instruction alone is cached per (bytes, microarchitecture); what depends on its
neighbours (macro-fusion, high-8 state, 512-bit code in the block, addresses) is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.model.frozen import replace
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.model.units import Role, UnitSet, UnitUse, UopKind
from cyclelens.analyzer.model.uops import (
    Block,
    Entry,
    InstructionTemplate,
    MacroOps,
    UopTemplate,
    Value,
    ValueKind,
)
from cyclelens.analyzer.recent import Caches, Recent
from cyclelens.analyzer.uops.ablations import ablated
from cyclelens.analyzer.uops.chained_adds import chained_inputs, is_addition
from cyclelens.analyzer.uops.expansion import expand
from cyclelens.analyzer.uops.fusion import fuse, fuse_branch, joins_operation, laminate
from cyclelens.analyzer.uops.high8 import high8_effects
from cyclelens.analyzer.uops.operands import Binder, BoundOperand, Prepared, as_register, prepare
from cyclelens.analyzer.uops.rebinding import Names, Original, Sibling, rebind_prepared, shape_of
from cyclelens.analyzer.uops.registers import canonical, is_simd

_CODE_LINE = 64
_JCC_BLOCK = 32
_MOST_KEPT = 16_384
"""Entries per microarchitecture; the templates that they share are few and stay."""


class _Shape:
    """What an instruction shares with its siblings."""

    __slots__ = ("adds", "as_branch", "fusible", "high8", "meets", "sibling", "templates")

    def __init__(self, sibling: Prepared, as_branch: int, *, adds: bool) -> None:
        self.sibling = sibling
        """Prepared for the first instruction of this shape: the same but for registers and addresses."""
        self.as_branch = as_branch
        """Equal for branches that change the instruction that absorbs them alike."""
        self.fusible = sibling.facts.macro_fusible_with
        self.high8 = _touches_high8(sibling)
        self.adds = adds
        """Its latency depends on whether an addition made what it adds (U12)."""
        self.meets = bool(self.fusible) or self.high8 or adds or sibling.is_branch or sibling.has_zmm_operand
        """Whether it and its neighbours may matter to each other."""
        self.templates: dict[tuple[object, ...], tuple[Original, Names]] = {}
        """By all that matters of the neighbours (``_Context``), with the names of their registers."""


class _Known:
    """An instruction with its operands and its shape."""

    __slots__ = ("instruction", "names", "operands", "plain", "shape")

    def __init__(
        self, instruction: Instruction, operands: tuple[BoundOperand, ...], shape: _Shape, names: Names
    ) -> None:
        self.instruction = instruction
        self.operands = operands
        self.shape = shape
        self.names = names
        self.plain: Entry | None = None
        """Its entry where nothing about its neighbours matters, as is most often the case."""

    def prepared(self) -> Prepared:
        """Prepared for this very instruction."""
        sibling = self.shape.sibling
        if sibling.instruction is self.instruction:
            return sibling
        return rebind_prepared(sibling, self.instruction, self.operands)


class _Cache:
    """Prepared instructions and templates of one microarchitecture and one choice of fusions; entries never
    change."""

    def __init__(self, microarchitecture: Microarchitecture, options: ModelOptions, caches: Caches) -> None:
        self.microarchitecture = microarchitecture
        self.options = options
        self.matcher = Matcher(microarchitecture.facts_name)
        self.binder = Binder()
        self.prepared: Recent[bytes, _Known] = caches.recent(_MOST_KEPT)
        self.shapes: dict[tuple[object, ...], _Shape] = {}
        self.branches: dict[tuple[object, ...], int] = {}
        self.entries: Recent[tuple[object, ...], Entry] = caches.recent(_MOST_KEPT)


class _Cores:
    """What is known of the microarchitectures that were asked for."""

    def __init__(self, caches: Caches) -> None:
        self._caches = caches
        self._by_core: dict[tuple[object, ...], _Cache] = {}

    def cache(self, microarchitecture: Microarchitecture, options: ModelOptions) -> _Cache:
        """Of one of them and one choice of fusions."""
        key = (microarchitecture, options.micro_fusion, options.macro_fusion, options.simple_front_end)
        cache = self._by_core.get(key)
        if cache is None:
            cache = self._by_core[key] = _Cache(microarchitecture, options, self._caches)
        return cache


def build_block(
    instructions: Sequence[Instruction],
    microarchitecture: Microarchitecture,
    store: FactsStore,
    *,
    loop: bool,
    alignment: int = 0,
    options: ModelOptions = PUBLISHED,
) -> Block:
    """The block that the simulator runs. ``alignment`` is the address of the first byte modulo 64."""
    cache = store.caches.of(_Cores).cache(microarchitecture, options)
    prepared = cache.prepared
    known = [prepared[each.code] or _known(each, cache, store) for each in instructions]
    if microarchitecture.macro_ops is not None:
        made = _macro_op_entries(instructions, known, cache, loop)
        return Block(tuple(made), microarchitecture.name, loop, alignment)
    meeting = {position for position, each in enumerate(known) if each is not None and each.shape.meets}
    wide = high8 = adds = False
    for position in meeting:
        shape = known[position].shape  # type: ignore[union-attr]
        wide = wide or shape.sibling.has_zmm_operand
        high8 = high8 or shape.high8
        adds = adds or shape.adds
    effects: list[tuple[frozenset[int], tuple[str, ...]]] | None = None
    if high8 and microarchitecture.high8_renamed:
        effects = high8_effects([None if each is None else each.prepared() for each in known])
    additions: list[frozenset[int] | None] | None = None
    if adds:
        additions = chained_inputs([None if each is None else each.prepared() for each in known])
    addresses = list(accumulate([len(each.code) for each in instructions], initial=alignment))
    absorbed = _absorbed(known, meeting, addresses, microarchitecture.fuses_across_lines)
    meeting |= absorbed
    going_back = len(known) - 1 if loop and microarchitecture.taken_branch_units.mask else -1
    if going_back >= 0:
        meeting.add(going_back)
    fuses_moves = microarchitecture.fuses_moves
    if wide or effects or fuses_moves:
        meeting.update(range(len(known)))

    entries: list[Entry] = []
    for position, knowledge in enumerate(known):
        if knowledge is None:
            entries.append(_unknown(instructions[position]))
            continue
        if position not in meeting:
            entries.append(knowledge.plain or _plain(knowledge, cache))
            continue
        branch = known[position + 1] if position + 1 in absorbed else None
        second = position in absorbed
        jcc = (
            microarchitecture.jcc_erratum
            and (branch is not None or knowledge.shape.sibling.is_branch)
            and _hits_jcc_erratum(addresses[position], addresses[position + (1 if branch is None else 2)])
        )
        joins = (
            fuses_moves
            and position + 1 < len(known)
            and position + 2 not in absorbed
            and joins_operation(knowledge.instruction, instructions[position + 1])
        )
        taken = position + (branch is not None) == going_back
        chained = additions[position] if additions else None
        if wide or effects or branch or second or jcc or joins or taken or chained is not None:
            slower, merged = effects[position] if effects else _NO_EFFECTS
            absorbs = 0 if branch is None else branch.shape.as_branch
            context = (wide, absorbs, slower, merged, jcc, second, joins, taken, chained)
            key = (knowledge.instruction.code, context)
            entry = cache.entries[key]
            if entry is None:
                entry = cache.entries[key] = _entry(knowledge, context, branch, cache)
        else:
            entry = knowledge.plain or _plain(knowledge, cache)
        entries.append(entry)
    return Block(tuple(entries), microarchitecture.name, loop, alignment)


def _macro_op_entries(
    instructions: Sequence[Instruction], known: Sequence[_Known | None], cache: _Cache, loop: bool
) -> list[Entry]:
    """The entries of a block on a core that counts macro-ops."""
    # Here, because a start takes less time without it where other cores are asked for.
    from cyclelens.analyzer.uops.macro_ops import fuses_after_move, fuses_with_branch, is_nop

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
            entries.append(replace(_unknown(instructions[position]), macro_ops=MacroOps()))
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
        key = (knowledge.instruction.code, context)
        entry = cache.entries[key]
        if entry is None:
            entry = cache.entries[key] = _macro_op_entry(knowledge, context, cache)
        entries.append(entry)
    return entries


def _walked(known: Sequence[_Known | None]) -> list[bool]:
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
            elif any(o.register == "RSP" and o.facts.written for o in knowledge.operands):
                walks = False
    return walked


def _merging(known: Sequence[_Known | None]) -> list[bool]:
    """Of every instruction whether it keeps the upper half of its target, one of SSE without VEX, and the
    code has written that half; rounds follow each other."""
    written: set[str] = set()
    for _ in range(2):
        merging = []
        for knowledge in known:
            target = knowledge.operands[0] if knowledge is not None and knowledge.operands else None
            name = (target and target.register) or ""
            mnemonic = knowledge.instruction.mnemonic if knowledge is not None else ""
            merging.append(not mnemonic.startswith("v") and is_simd(name) and canonical(name) in written)
            if mnemonic in ("vzeroupper", "vzeroall"):
                written.clear()
            elif target is not None and target.facts.written and mnemonic.startswith("v") and is_simd(name):
                # Of 128 bits VEX clears what is above.
                (written.discard if name.startswith("X") else written.add)(canonical(name))
    return merging


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


def _macro_op_entry(knowledge: _Known, context: _MacroContext, cache: _Cache) -> Original:
    from cyclelens.analyzer.uops.macro_ops import Expansion, expand_to_macro_ops

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
        inputs = tuple(as_register(o) for o in knowledge.operands if o.register and o.facts.read) or inputs
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
        register_inputs=inputs,
        register_outputs=prepared.register_outputs,
        address_inputs=prepared.address_inputs,
        flag_inputs=prepared.flag_inputs,
        flag_outputs=prepared.flag_outputs,
        memory_operands=prepared.memory_operands,
        latencies=prepared.latencies,
        macro_ops=expansion.ops,
    )
    return Original(template)


_Context = tuple[bool, int, frozenset[int], tuple[str, ...], bool, bool, bool, bool, frozenset[int] | None]
"""What an instruction's template depends on beside the instruction. In this order: there are 512-bit
instructions about; what the branch that it absorbs is like (``_Shape.as_branch``), 0 for none; ``slower`` and
``merged`` of high-8 registers; it is hit by the JCC erratum; it is the branch that the instruction before
absorbs; it is a move that takes no issue slot; it is, or absorbs, the branch that goes back; of a
floating-point addition the inputs that another one made (U12). A plain tuple, because two are made for every
loop."""

_NO_EFFECTS: tuple[frozenset[int], tuple[str, ...]] = (frozenset(), ())
_ALONE: _Context = (False, 0, *_NO_EFFECTS, False, False, False, False, None)


def _plain(knowledge: _Known, cache: _Cache) -> Entry:
    knowledge.plain = entry = _entry(knowledge, _ALONE, None, cache)
    return entry


def _entry(knowledge: _Known, context: _Context, branch: _Known | None, cache: _Cache) -> Entry:
    """``branch``: the one that it absorbs."""
    templates = knowledge.shape.templates
    like = templates.get(context)
    if like is not None:
        return Sibling(like[0], knowledge.instruction, knowledge.operands, like[1], knowledge.names)
    absorbs = None if branch is None else branch.shape.sibling
    template = _template(knowledge.prepared(), context, absorbs, cache.microarchitecture)
    if cache.options.simple_front_end:
        template = _unfused(template)
    original = Original(template)
    templates[context] = (original, knowledge.names)
    return original


def _known(instruction: Instruction, cache: _Cache, store: FactsStore) -> _Known | None:
    """An instruction that is met for the first time."""
    facts = cache.matcher.find(instruction, store)
    if facts is None:
        return None
    operands = cache.binder.bind(instruction, facts)
    tokens, names = shape_of(instruction, operands, cache.microarchitecture)
    key = (facts.name, tokens)
    shape = cache.shapes.get(key)
    if shape is None:
        sibling = ablated(prepare(instruction, facts, operands, cache.microarchitecture), cache.options)
        effect = (sibling.uses, sibling.uop_count)
        as_branch = cache.branches.setdefault(effect, len(cache.branches) + 1)
        adds = cache.microarchitecture.chained_addition_cycles > 0 and is_addition(sibling)
        shape = cache.shapes[key] = _Shape(sibling, as_branch, adds=adds)
    known = cache.prepared[instruction.code] = _Known(instruction, operands, shape, names)
    return known


def _touches_high8(prepared: Prepared) -> bool:
    for operand in (*prepared.register_inputs, *prepared.register_outputs):
        if operand.name in ("AH", "BH", "CH", "DH"):
            return True
    return False


def _absorbed(
    known: Sequence[_Known | None], positions: Iterable[int], addresses: Sequence[int], across_lines: bool
) -> set[int]:
    """Positions of branches that fuse with the instruction before them, which is at one of these positions
    (A1): those at the start of a 64-byte line only where that is allowed."""
    absorbed = set()
    for position in positions:
        first, second = known[position], known[position + 1] if position + 1 < len(known) else None
        if (
            first is not None
            and second is not None
            and second.shape.sibling.facts.name in first.shape.fusible
            and (across_lines or addresses[position + 1] % _CODE_LINE)
        ):
            absorbed.add(position + 1)
    return absorbed


def _hits_jcc_erratum(start: int, end: int) -> bool:
    """A jump (with what it is fused to) crosses a 32-byte boundary or ends at one (J1, J2)."""
    return start // _JCC_BLOCK != end // _JCC_BLOCK


def _taken(uses: tuple[UnitUse, ...], microarchitecture: Microarchitecture) -> tuple[UnitUse, ...]:
    """What a conditional branch needs that is taken (D8)."""
    taken = microarchitecture.taken_branch_units
    return tuple(use._replace(units=taken) if taken.mask & use.units.mask else use for use in uses)


def _without_closed(uses: tuple[UnitUse, ...], microarchitecture: Microarchitecture) -> tuple[UnitUse, ...]:
    """What vector uops need while 512-bit instructions are about: some units are closed to them (V6)."""
    closed = microarchitecture.closed_by_512_bit.mask
    kept = [use for use in uses if not _loses(use, closed)]
    for use in uses:
        if _loses(use, closed):
            units = microarchitecture.units.of(use.units.mask & ~closed)
            same = next((place for place, other in enumerate(kept) if other.units is units), None)
            if same is None:
                kept.append(use._replace(units=units))
            else:
                kept[same] = kept[same]._replace(uops=kept[same].uops + use.uops)
    return tuple(kept)


def _loses(use: UnitUse, closed: int) -> bool:
    return use.units.mask & closed != 0 and use.units.mask & ~closed != 0


def _template(
    prepared: Prepared, context: _Context, branch: Prepared | None, microarchitecture: Microarchitecture
) -> InstructionTemplate:
    wide, _, slower, merged, jcc, second, joins, taken, chained = context
    uses, uop_count = prepared.uses, prepared.uop_count
    if wide and prepared.has_simd_operand:
        uses = _without_closed(uses, microarchitecture)
    if branch is not None and branch.uses:
        branch_uses = _taken(branch.uses, microarchitecture) if taken else branch.uses
        uses, uop_count = fuse_branch(uses, uop_count, branch_uses, branch.uop_count)
    elif taken and prepared.facts.category == "COND_BR":
        uses = _taken(uses, microarchitecture)
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
        uops = expand(prepared, uses, flags_apart=microarchitecture.shift_result_without_flags)
        fused = fuse(uops, figures.retire_slots or 1)
        laminated = laminate(uops, fused, mite_uops + ms_uops)
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
        register_inputs=prepared.register_inputs,
        register_outputs=prepared.register_outputs,
        address_inputs=prepared.address_inputs,
        flag_inputs=prepared.flag_inputs,
        flag_outputs=prepared.flag_outputs,
        memory_operands=prepared.memory_operands,
        merge_uops=merged,
        latencies=prepared.latencies,
    )


def _chained(
    latencies: Mapping[tuple[str, int, str, int], int], chained: frozenset[int], early: int
) -> dict[tuple[str, int, str, int], int]:
    """Of an addition, whatever the tables say: some of theirs were measured in chains of additions (U12)."""
    return {
        key: early + (key[1] not in chained) if key[0] == "reg" else cycles
        for key, cycles in latencies.items()
    }


def _unfused(template: InstructionTemplate) -> InstructionTemplate:
    """Every uop alone, as the simple front end delivers them."""
    alone = (1,) * len(template.uops)
    return replace(template, fused_uops=alone, idq_uops=alone)


def _unknown(instruction: Instruction) -> InstructionTemplate:
    """An instruction without facts: one empty fused uop, nothing else (M4); it is shown as unknown."""
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
    """The uop that brings RSP up to date with the stack engine (E5)."""
    return _register_copy(UopKind.SYNC, microarchitecture.units.having(Role.ALU), "RSP")


def merge_uop(microarchitecture: Microarchitecture, register: str) -> UopTemplate:
    """The uop that merges a high-8 register into its 64-bit register (H2)."""
    return _register_copy(UopKind.MERGE, microarchitecture.units.having(Role.MERGE), register)


def _register_copy(kind: UopKind, units: UnitSet, register: str) -> UopTemplate:
    value: Value = (ValueKind.REGISTER, register)
    return UopTemplate(kind, units, (value,), ((value, 1),))
