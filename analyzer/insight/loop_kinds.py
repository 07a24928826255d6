"""Kinds of loops, by what they consist of, that took other times than the figure on the core where they were
measured (LOOP_KINDS of ``loop_caveats``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from cyclelens.analyzer.insight.loop_features import (
    AT_ONCE,
    COUNTER,
    DEPENDENT,
    GROUP,
    Difference,
    is_vector,
    named,
    operations,
    waits,
)
from cyclelens.analyzer.microarchitectures import loop_caveats
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate, Trait
from cyclelens.analyzer.uops.registers import is_general_purpose, is_simd

_MULTIPLICATIONS = re.compile(r"imul|mulx?|pdep|pext|crc32")
_TRANSFERS_OUT = re.compile(r"v?mov[dq]|v?pmovmskb|v?movmskp[sd]|v?pextr[bwdq]|v?cvtt?s[sd]2si")
_CONVERSIONS_IN = re.compile(r"v?pinsr[bwdq]|v?cvtsi2s[sd]")
_PRODUCTS = re.compile(r"i?mul")
_ROTATIONS = re.compile(r"rc[lr]")
_CROSSING = re.compile(r"vperm(2[fi]128|[bwdq]|p[sd])")
_TRANSFERS_IN = re.compile(r"v?mov[dq]|v?pinsr[bwdq]|v?cvtsi2s[sd]")
_EXCHANGES = ("xchg", "xadd")
_X87_WITH_MEMORY = re.compile(r"fi?(add|subr?|mul|divr?|com)p?")
_SEGMENTS = frozenset(("CS", "DS", "ES", "FS", "GS", "SS"))
_BUSY = 0.8
"""Share of the time for which the units of chained multiplications are busy from which they were slower."""
_FULL = 3
"""Vector operations per cycle beside which a chain of short ones waited."""
_UNEXPLAINED = 1.05
"""Times the largest bound from which a figure depends on the units that operations are bound to."""
_LEAST_CHAIN = 0.8
"""Share of such a figure that its chain has at least."""
_FEWEST_OTHERS = 4
"""Operations beside one multiplication, the loop's branch included, that need its unit too."""
_SHORT = 1.3
"""Most cycles of a loop that was seen to wait because of its stores."""
_LONG = 3
"""Fewest cycles of a vector operation whose chain waited for its readers."""
_WORD = 16
_PAIR = 2
"""Units of shifts and bit operations, one of which multiplies."""
_CARRY = "C"
_ACCESSES = 4
"""Accesses of such a group that take turns on three units."""
_STORES_READ = 3
"""Stores of which one is read leave singly."""


def of_loop(prediction: Prediction) -> Iterator[Difference]:
    """The kinds that a loop belongs to."""
    for kind in _KINDS:
        yield from kind(prediction)


def _multiplications(prediction: Prediction) -> Iterator[Difference]:
    instructions = prediction.instructions
    found = named(instructions, _MULTIPLICATIONS)
    others = sum(
        0 if i in found or is_vector(each) else operations(each) for i, each in enumerate(instructions)
    )
    near = prediction.cycles_per_iteration < max(2 * len(found), 1)
    many = others >= max(_FEWEST_OTHERS, 2 * len(found)) or _beside_multiplications(instructions, found) > 1
    if found and near and many and not waits(prediction):
        more = loop_caveats.MULTIPLICATION_CYCLES * len(found)
        yield Difference(tuple(found), "with multiplications beside other operations of integers", more)
    chain = tuple(i for i, _ in prediction.chain if i in found)
    busy = len(found) + _beside_multiplications(instructions, found)
    if chain and busy >= _BUSY * 2 * prediction.cycles_per_iteration and waits(prediction):
        more = loop_caveats.CHAINED_MULTIPLICATION_CYCLES
        yield Difference(chain, "in which a chain of multiplications has many others on its units", more)


def _beside_multiplications(instructions: Sequence[InstructionTemplate], found: Sequence[int]) -> int:
    """Uops for one of two units of which the multiplications need one."""
    units = 0
    for i in found:
        masks = [uop.units.mask for uop in instructions[i].uops if uop.kind is UopKind.COMPUTE]
        units |= min((mask for mask in masks if mask), key=int.bit_count, default=0)
    return sum(
        uop.kind is UopKind.COMPUTE and uop.units.mask & units != 0 and uop.units.mask.bit_count() == _PAIR
        for i, each in enumerate(instructions)
        for uop in each.uops
        if i not in found
    )


def _transfers_in(prediction: Prediction) -> Iterator[Difference]:
    instructions = prediction.instructions
    found = [
        i
        for i in named(instructions, _TRANSFERS_IN)
        if any(is_general_purpose(each.name) for each in instructions[i].register_inputs)
        and any(is_simd(each.name) for each in instructions[i].register_outputs)
    ]
    others = sum(len(each.uops) for i, each in enumerate(instructions) if i not in found and is_vector(each))
    if not found or waits(prediction):
        return
    converted = [i for i in named(instructions, _CONVERSIONS_IN) if i in found]
    if others > 1:
        more = loop_caveats.TRANSFER_CYCLES * len(found)
        yield Difference(tuple(found), "with transfers from general registers beside vectors", more)
    elif converted and prediction.cycles_per_iteration < 2 * len(converted):
        more = loop_caveats.CONVERSION_CYCLES * len(converted)
        yield Difference(tuple(converted), "with insertions and conversions from general registers", more)


def _transfers_out(prediction: Prediction) -> Iterator[Difference]:
    """Transfers whose results meet those of few operations of integers."""
    instructions = prediction.instructions
    found = [
        i
        for i in named(instructions, _TRANSFERS_OUT)
        if not instructions[i].memory_operands
        and any(is_general_purpose(each.name) for each in instructions[i].register_outputs)
    ]
    others = sum(operations(each) for i, each in enumerate(instructions) if not is_vector(each))
    near = prediction.cycles_per_iteration < loop_caveats.TRANSFER_OUT_NEAR * len(found)
    if near and others > 1 and not waits(prediction):
        more = loop_caveats.TRANSFER_OUT_CYCLES * len(found)
        yield Difference(tuple(found), "with transfers to general registers beside few operations", more)


def _to_flags(prediction: Prediction) -> Iterator[Difference]:
    instructions = prediction.instructions
    found = [
        i for i, each in enumerate(instructions) if any(uop.traits & Trait.TO_FLAGS for uop in each.uops)
    ]
    near = prediction.cycles_per_iteration < 2 * len(found)
    if near and not waits(prediction) and any(i not in found for i in range(len(instructions))):
        more = loop_caveats.TO_FLAGS_CYCLES * len(found)
        yield Difference(tuple(found), "with comparisons of vectors that set flags", more)


def _read_chains(prediction: Prediction) -> Iterator[Difference]:
    """A chain of long vector operations that another operation reads, beside a third one."""
    if not waits(prediction):
        return
    instructions = prediction.instructions
    vectors = [i for i, each in enumerate(instructions) if is_vector(each) and operations(each)]
    chain = [i for i, cycles in prediction.chain if i in vectors and cycles >= _LONG]
    made = {each.canonical for i in chain for each in instructions[i].register_outputs}
    readers = [
        i
        for i in vectors
        if (len(chain) > 1 or i not in chain)
        and made & {each.canonical for each in instructions[i].register_inputs}
    ]
    if chain and readers and len(vectors) > len({*chain, *readers}):
        more = loop_caveats.READ_LONG_CHAIN_CYCLES
        yield Difference(
            (*chain, *readers), "in which another vector operation reads a chain of long ones", more
        )


def _own_chains(prediction: Prediction) -> Iterator[Difference]:
    """Short vector operations on their own result, beside longer ones that occupy most pipes, so that their
    chain alone does not explain the figure."""
    instructions, figure = prediction.instructions, prediction.cycles_per_iteration
    vectors = {i: each for i, each in enumerate(instructions) if is_vector(each) and operations(each)}
    most = {i: max(cycles for uop in each.uops for _, cycles in uop.outputs) for i, each in vectors.items()}
    found = [
        i
        for i, each in vectors.items()
        if most[i] < _LONG
        and most[i] < DEPENDENT * figure <= 2 * most[i]
        and {r.canonical for r in each.register_inputs} & {r.canonical for r in each.register_outputs}
    ]
    longer = [i for i in vectors if found and most[i] > min(most[each] for each in found)]
    full = sum(map(operations, vectors.values())) >= _FULL * figure
    if found and len(longer) > 1 and full:
        more = loop_caveats.OWN_CHAIN_CYCLES
        yield Difference(tuple(found), "with short vector operations on their own results", more)


def _crossing(prediction: Prediction) -> Iterator[Difference]:
    instructions = prediction.instructions
    found = named(instructions, _CROSSING)
    full = (
        sum(operations(each) for each in instructions if is_vector(each))
        >= AT_ONCE * DEPENDENT * prediction.cycles_per_iteration
    )
    if found and full and not all(i in found for i in range(len(instructions))):
        kind = "with operations across lanes among others that occupy all pipes"
        yield Difference(tuple(found), kind, loop_caveats.CROSSING_CYCLES)


def _narrow_exchanges(prediction: Prediction) -> Iterator[Difference]:
    found = [
        i
        for i, each in enumerate(prediction.instructions)
        if each.instruction.mnemonic in _EXCHANGES
        and not each.memory_operands
        and any(output.width <= _WORD for output in each.register_outputs)
    ]
    if found and prediction.cycles_per_iteration > COUNTER and not waits(prediction):
        kind = "that exchange parts of registers"
        yield Difference(tuple(found), kind, loop_caveats.NARROW_EXCHANGE_CYCLES)


def _segments(prediction: Prediction) -> Iterator[Difference]:
    instructions = prediction.instructions
    found = [
        i
        for i, each in enumerate(instructions)
        if each.instruction.mnemonic == "mov" and each.instruction.operands[-1].register in _SEGMENTS
    ]
    if found and any(each.memory_operands for each in instructions):
        words = any(each.width == _WORD for i in found for each in instructions[i].register_outputs)
        more = loop_caveats.SEGMENT_CYCLES * len(found) * (2 if words else 1)
        yield Difference(tuple(found), "that copy a segment register beside accesses to memory", more)


def _x87_with_memory(prediction: Prediction) -> Iterator[Difference]:
    found = [
        i
        for i in named(prediction.instructions, _X87_WITH_MEMORY)
        if prediction.instructions[i].memory_operands
    ]
    if found and not waits(prediction):
        more = loop_caveats.X87_MEMORY_CYCLES * len(found)
        yield Difference(tuple(found), "with x87 operations on memory", more)


def _products(prediction: Prediction) -> Iterator[Difference]:
    """Products in two registers. ``loop-branch`` says it of MUL."""
    instructions, figure = prediction.instructions, prediction.cycles_per_iteration
    found = [i for i in named(instructions, _PRODUCTS) if len(instructions[i].register_outputs) > 1]
    words = [i for i in found if all(each.width == _WORD for each in instructions[i].register_outputs)]
    wide = [i for i in found if i not in words and instructions[i].instruction.mnemonic == "imul"]
    if words and not waits(prediction):
        more = loop_caveats.WORD_PRODUCT_CYCLES * len(words)
        yield Difference(tuple(words), "with products of words in two registers", more)
    if wide and figure < 2 * len(wide) and not waits(prediction):
        more = loop_caveats.WIDE_PRODUCT_CYCLES * len(wide)
        yield Difference(tuple(wide), "with products in two registers", more)


def _rotations(prediction: Prediction) -> Iterator[Difference]:
    """RCL and RCR by more than one place, in a chain through the carry."""
    instructions = prediction.instructions
    found = [i for i in named(instructions, _ROTATIONS) if len(instructions[i].uops) > _ACCESSES]
    beside = [each for i, each in enumerate(instructions) if i not in found]
    if found and waits(prediction) and any(_CARRY in each.flag_inputs for each in beside):
        more = loop_caveats.ROTATION_CYCLES * len(found)
        yield Difference(tuple(found), "with rotations through the carry that others read", more)


def _changes_beside_loads(prediction: Prediction) -> Iterator[Difference]:
    instructions = prediction.instructions
    accesses = [(i, access) for i, each in enumerate(instructions) for access in each.memory_operands]
    found = [i for i, each in accesses if each.read and each.written]
    loads = sum(not each.written for _, each in accesses)
    if found and loads and len(accesses) >= 2 * prediction.cycles_per_iteration and not waits(prediction):
        more = loop_caveats.CHANGE_CYCLES * len(found)
        yield Difference(tuple(found), "with words changed in memory beside loads", more)


def _waiting_chain(prediction: Prediction) -> Iterator[Difference]:
    """A chain of integer operations that have to wait for the units to which they are bound."""
    figure, bounds = prediction.cycles_per_iteration, prediction.bounds
    chain = tuple(i for i, _ in prediction.chain)
    # Stores have limits of their own.
    stores = any(access.written for each in prediction.instructions for access in each.memory_operands)
    integers = not (stores or any(is_vector(prediction.instructions[i]) for i in chain))
    depends = COUNTER < bounds.get("Dependencies", 0.0) >= _LEAST_CHAIN * figure
    if chain and integers and depends and figure > _UNEXPLAINED * max(bounds.values()):
        more = loop_caveats.WAITING_CHAIN_CYCLES
        yield Difference(chain, "in which a chain of operations of integers waits for units", more)


def _one_group(prediction: Prediction) -> Iterator[Difference]:
    """A loop that is dispatched in one cycle, with four accesses and an operation of integers."""
    instructions, figure = prediction.instructions, prediction.cycles_per_iteration
    accesses = [i for i, each in enumerate(instructions) for _ in each.memory_operands]
    whole = sum(each.retire_slots for each in instructions) == GROUP
    executed = [each for each in instructions if not (is_vector(each) or each.eliminable_move)]
    count = sum(map(operations, executed))
    if whole and len(accesses) == _ACCESSES and count > 1 and figure < _SHORT + loop_caveats.GROUP_CYCLES:
        kind = "of six macro-ops with four accesses to memory and an operation of integers"
        yield Difference(tuple(dict.fromkeys(accesses)), kind, loop_caveats.GROUP_CYCLES)


def _read_stores(prediction: Prediction) -> Iterator[Difference]:
    """PUSH whose word is popped, among other stores: of stores of which a third is read, one leaves per
    cycle."""
    instructions = prediction.instructions
    stores = [
        i for i, each in enumerate(instructions) if any(access.written for access in each.memory_operands)
    ]
    pushes, pops = (named(instructions, re.compile(name)) for name in ("push", "pop"))
    read = min(len(pushes), len(pops))
    more = len(stores) - prediction.cycles_per_iteration
    if read and _STORES_READ * read >= len(stores) and more > 0:
        yield Difference(tuple(stores), "with stores of which a third or more are read", more)


def _short_with_stores(prediction: Prediction) -> Iterator[Difference]:
    """A short loop with stores of integers and loads, or with operations that occupy all ALUs."""
    instructions, figure = prediction.instructions, prediction.cycles_per_iteration
    if figure > _SHORT or any(map(is_vector, instructions)):
        return
    accesses = [(i, access) for i, each in enumerate(instructions) for access in each.memory_operands]
    stores = tuple(dict.fromkeys(i for i, access in accesses if access.written))
    loads = any(access.read for _, access in accesses)
    full = sum(map(operations, instructions)) >= AT_ONCE * DEPENDENT * figure
    if stores and (loads or full):
        yield Difference(stores, "of few cycles with stores", loop_caveats.SHORT_LOOP_CYCLES)


_KINDS: tuple[Callable[[Prediction], Iterator[Difference]], ...] = (
    _multiplications,
    _transfers_in,
    _transfers_out,
    _to_flags,
    _read_chains,
    _own_chains,
    _crossing,
    _narrow_exchanges,
    _segments,
    _x87_with_memory,
    _products,
    _rotations,
    _changes_beside_loads,
    _waiting_chain,
    _one_group,
    _read_stores,
    _short_with_stores,
)
