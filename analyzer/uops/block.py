"""Builds a block of templates from instructions: matches facts, fuses pairs, computes everything static once.

Results that depend on one instruction alone are cached per core (``known.py``); results that depend on its
neighbours (macro-fusion, high-8 state, 512-bit code in the block, addresses) are computed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.model.uops import (
    Block,
    Entry,
)
from cyclelens.analyzer.uops.calls import coming_back
from cyclelens.analyzer.uops.chained_adds import chained_inputs
from cyclelens.analyzer.uops.courses import AS_RECORDED, PASSED, TAKEN, passed_branches
from cyclelens.analyzer.uops.fusion import joins_operation
from cyclelens.analyzer.uops.high8 import high8_effects
from cyclelens.analyzer.uops.known import (
    ADDS,
    BRANCH,
    HIGH8,
    KEEPS_UPPER,
    WIDE,
    WRITES_UPPER,
    CoreCache,
    Cores,
    InContext,
    KnownInstruction,
    known_of,
    meets_of,
    template_of,
)
from cyclelens.analyzer.uops.rebinding import Original
from cyclelens.analyzer.uops.templates import NO_EFFECTS, Context, unknown
from cyclelens.analyzer.uops.upper_halves import (
    NOTHING_KEPT,
    changed_by_upper_halves,
    has_vectors,
    what_follows,
)

if TYPE_CHECKING:
    from typing import Any

_CODE_LINE = 64
_JCC_BLOCK = 32


def build_block(
    instructions: Sequence[Instruction],
    microarchitecture: Microarchitecture,
    store: FactsStore,
    *,
    loop: bool,
    alignment: int = 0,
    options: ModelOptions = DEFAULT,
) -> Block:
    """The block that the simulator runs. ``alignment``: address of the first byte modulo 64."""
    cache = store.caches.of(Cores).cache(microarchitecture, options)
    prepared = cache.prepared
    known = [prepared.get(each.code) or known_of(each, cache, store) for each in instructions]
    is_hardware = options.hardware
    tracks = is_hardware or microarchitecture.tracks_values
    if microarchitecture.macro_ops is not None:
        # Nine modules that cores without macro-ops do not need.
        from cyclelens.analyzer.uops.macro_entries import macro_op_entries

        made = macro_op_entries(instructions, known, cache, loop)
        return Block(tuple(made), microarchitecture.name, loop, alignment, tracks)
    meets = 0
    branches: list[int] = []
    for position, each in enumerate(known):
        if each is None:
            meets |= meets_of(instructions[position]) if has_vectors(instructions[position]) else 0
        elif found := each.shape.meets:
            meets |= found
            if found & BRANCH:
                branches.append(position)
    wide = meets & WIDE != 0
    effects: list[tuple[frozenset[int], tuple[str, ...]]] | None = None
    if meets & HIGH8 and microarchitecture.high8_renamed:
        effects = high8_effects([None if each is None else each.prepared() for each in known])
    additions: list[frozenset[int] | None] | None = None
    if meets & ADDS:
        additions = chained_inputs([None if each is None else each.prepared() for each in known])
    addresses = list(accumulate([len(each.code) for each in instructions], initial=alignment))
    # Branches that fuse with the previous instruction (A1).
    absorbed: list[int] = []
    for position in branches:
        before, at = known[position - 1] if position else None, known[position]
        if (
            before is not None
            and at is not None
            and at.shape.name in before.shape.fusible
            and (microarchitecture.fuses_across_lines or addresses[position] % _CODE_LINE)
        ):
            absorbed.append(position)
    upper = NOTHING_KEPT
    if meets & KEEPS_UPPER and meets & WRITES_UPPER and is_hardware:
        upper = what_follows(instructions, microarchitecture, absorbed)
    returning = coming_back(instructions) if branches and is_hardware else frozenset()
    going_back = -1
    if loop and microarchitecture.taken_branch_units.mask and not microarchitecture.passed_branch_units.mask:
        going_back = len(known) - 1
    passed: Iterable[int] = ()
    if loop and is_hardware and len(branches) > 1 and microarchitecture.passed_branch_units.mask:
        passed = passed_branches(instructions, branches)
    fuses_moves = microarchitecture.fuses_moves
    looked: Iterable[int] = range(len(known))
    if not (wide or effects or additions or fuses_moves or upper):
        # Only branches affect other instructions.
        looked = (*branches, *[position - 1 for position in absorbed])

    entries: list[Any] = known[:]
    if None in known:
        for position, instruction in enumerate(instructions):
            if known[position] is None:
                make = partial(unknown, instruction)
                if upper and (what := upper[position]):
                    make = partial(changed_by_upper_halves, unknown(instruction), what, microarchitecture)
                entries[position] = Original(instruction, None, make)
    for position in looked:
        knowledge = known[position]
        if knowledge is None:
            continue
        branch = known[position + 1] if position + 1 in absorbed else None
        second = position in absorbed
        jcc = (
            microarchitecture.jcc_erratum
            and (branch is not None or knowledge.shape.meets & BRANCH != 0)
            and _hits_jcc_erratum(addresses[position], addresses[position + (1 if branch is None else 2)])
        )
        joins = (
            fuses_moves
            and position + 1 < len(known)
            and position + 2 not in absorbed
            and joins_operation(knowledge.instruction, instructions[position + 1])
        )
        last = position + (branch is not None)
        course = TAKEN if last == going_back else PASSED if last in passed else AS_RECORDED
        chained = additions[position] if additions else None
        kept = upper[position] if upper else 0
        returns = position in returning
        special = wide or effects or branch or second or jcc or joins or course
        if special or chained is not None or kept or returns:
            slower, merged = effects[position] if effects else NO_EFFECTS
            absorbs = 0 if branch is None else branch.shape.as_branch
            context = (wide, absorbs, slower, merged, jcc, second, joins, course, chained, kept, returns)
            key = (knowledge, context)
            entry = cache.entries.get(key)
            if entry is None:
                entry = cache.entries[key] = _entry(knowledge, context, branch, cache)
            entries[position] = entry
    return Block(tuple(entries), microarchitecture.name, loop, alignment, tracks)


def _entry(
    knowledge: KnownInstruction, context: Context, branch: KnownInstruction | None, cache: CoreCache
) -> Entry:
    """``branch``: the branch that it absorbs; None if there is none."""
    templates = knowledge.shape.templates
    like = templates.get(context)
    if like is not None:
        return InContext(like, knowledge)
    absorbs = None if branch is None else branch.shape.sibling
    make = partial(template_of, knowledge.prepared(), context, absorbs, cache)
    original = templates[context] = Original(knowledge.instruction, knowledge.facts, make, knowledge.names)
    return original


def _hits_jcc_erratum(start: int, end: int) -> bool:
    """True if a jump, or a macro-fused pair, crosses or ends at a 32-byte boundary (J1, J2)."""
    return start // _JCC_BLOCK != end // _JCC_BLOCK
