"""Kinds of loops, by what they consist of, that took other times than the figure on the core where they were
measured (LOOP_KINDS of ``loop_caveats``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from cyclelens.analyzer.microarchitectures import loop_caveats
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate, Trait
from cyclelens.analyzer.uops.registers import is_general_purpose, is_simd
from msgspec import Struct

_MULTIPLICATIONS = re.compile(r"imul|mulx?|pdep|pext|crc32")
_CROSSING = re.compile(r"vperm(2[fi]128|[bwdq]|p[sd])")
_TRANSFERS_IN = re.compile(r"v?mov[dq]|v?pinsr[bwdq]|v?cvtsi2s[sd]")
_EXCHANGES = ("xchg", "xadd")
_X87_WITH_MEMORY = re.compile(r"fi?(add|subr?|mul|divr?|com)p?")
_SEGMENTS = frozenset(("CS", "DS", "ES", "FS", "GS", "SS"))
_DEPENDENT = 0.95
"""Share of the figure from which dependencies explain it."""
_COUNTER = 1.0
"""Cycles of the chain of a loop's counter."""
_FEWEST_OTHERS = 4
"""Operations beside one multiplication, the loop's branch included, that need its unit too."""
_AT_ONCE = 4
"""Operations of integers, or of vectors, that begin per cycle."""
_SHORT = 1.3
"""Most cycles of a loop that was seen to wait because of its stores."""
_LONG = 3
"""Fewest cycles of a vector operation whose chain waited for its readers."""
_WORD = 16
_STORES_READ = 3
"""Stores of which one is read leave singly."""


class Difference(Struct, frozen=True):
    """What loops of a kind took beyond the figure, or below it."""

    instructions: tuple[int, ...]
    kind: str
    """The beginning of a sentence: which loops they are."""
    cycles: float
    """Cycles per iteration beyond the figure; negative below it."""


def of_loop(prediction: Prediction) -> Iterator[Difference]:
    """The kinds that a loop belongs to."""
    for kind in _KINDS:
        yield from kind(prediction)


def _waits(prediction: Prediction) -> bool:
    """True if dependencies explain the figure, other than that of the loop's counter."""
    figure = prediction.cycles_per_iteration
    return prediction.bounds.get("Dependencies", 0.0) >= _DEPENDENT * figure > _COUNTER


def _operations(template: InstructionTemplate) -> int:
    return sum(uop.kind is UopKind.COMPUTE and uop.units.mask != 0 for uop in template.uops)


def _is_vector(template: InstructionTemplate) -> bool:
    return any(is_simd(each.name) for each in (*template.register_inputs, *template.register_outputs))


def _named(instructions: Sequence[InstructionTemplate], pattern: re.Pattern[str]) -> list[int]:
    return [i for i, each in enumerate(instructions) if pattern.fullmatch(each.instruction.mnemonic)]


def _multiplications(prediction: Prediction) -> Iterator[Difference]:
    instructions = prediction.instructions
    found = _named(instructions, _MULTIPLICATIONS)
    others = sum(
        0 if i in found or _is_vector(each) else _operations(each) for i, each in enumerate(instructions)
    )
    near = prediction.cycles_per_iteration < max(2 * len(found), 1)
    if found and near and others >= max(_FEWEST_OTHERS, 2 * len(found)) and not _waits(prediction):
        more = loop_caveats.MULTIPLICATION_CYCLES * len(found)
        yield Difference(tuple(found), "with multiplications beside other operations of integers", more)


def _transfers_in(prediction: Prediction) -> Iterator[Difference]:
    instructions = prediction.instructions
    found = [
        i
        for i in _named(instructions, _TRANSFERS_IN)
        if any(is_general_purpose(each.name) for each in instructions[i].register_inputs)
        and any(is_simd(each.name) for each in instructions[i].register_outputs)
    ]
    others = sum(len(each.uops) for i, each in enumerate(instructions) if i not in found and _is_vector(each))
    if found and others > 1 and not _waits(prediction):
        more = loop_caveats.TRANSFER_CYCLES * len(found)
        yield Difference(tuple(found), "with transfers from general registers beside vectors", more)


def _to_flags(prediction: Prediction) -> Iterator[Difference]:
    instructions = prediction.instructions
    found = [
        i for i, each in enumerate(instructions) if any(uop.traits & Trait.TO_FLAGS for uop in each.uops)
    ]
    near = prediction.cycles_per_iteration < 2 * len(found)
    if near and not _waits(prediction) and any(i not in found for i in range(len(instructions))):
        more = loop_caveats.TO_FLAGS_CYCLES * len(found)
        yield Difference(tuple(found), "with comparisons of vectors that set flags", more)


def _read_chains(prediction: Prediction) -> Iterator[Difference]:
    """A chain of long vector operations that another long operation reads, beside a third one."""
    if not _waits(prediction):
        return
    instructions = prediction.instructions
    vectors = [i for i, each in enumerate(instructions) if _is_vector(each) and _operations(each)]
    chain = [i for i, cycles in prediction.chain if i in vectors and cycles >= _LONG]
    made = {each.name for i in chain for each in instructions[i].register_outputs}
    readers = [
        i
        for i in vectors
        if (len(chain) > 1 or i not in chain)
        and made & {each.name for each in instructions[i].register_inputs}
        and any(cycles >= _LONG for uop in instructions[i].uops for _, cycles in uop.outputs)
    ]
    if chain and readers and len(vectors) > len({*chain, *readers}):
        more = loop_caveats.READ_LONG_CHAIN_CYCLES
        yield Difference(
            (*chain, *readers), "in which another vector operation reads a chain of long ones", more
        )


def _crossing(prediction: Prediction) -> Iterator[Difference]:
    instructions = prediction.instructions
    found = _named(instructions, _CROSSING)
    operations = sum(_operations(each) for each in instructions if _is_vector(each))
    full = operations >= _AT_ONCE * _DEPENDENT * prediction.cycles_per_iteration
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
    if found and prediction.cycles_per_iteration > _COUNTER and not _waits(prediction):
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
        for i in _named(prediction.instructions, _X87_WITH_MEMORY)
        if prediction.instructions[i].memory_operands
    ]
    if found and not _waits(prediction):
        more = loop_caveats.X87_MEMORY_CYCLES * len(found)
        yield Difference(tuple(found), "with x87 operations on memory", more)


def _read_stores(prediction: Prediction) -> Iterator[Difference]:
    """PUSH whose word is popped, among other stores: of stores of which a third is read, one leaves per
    cycle."""
    instructions = prediction.instructions
    stores = [
        i for i, each in enumerate(instructions) if any(access.written for access in each.memory_operands)
    ]
    pushes, pops = (_named(instructions, re.compile(name)) for name in ("push", "pop"))
    read = min(len(pushes), len(pops))
    more = len(stores) - prediction.cycles_per_iteration
    if read and _STORES_READ * read >= len(stores) and more > 0:
        yield Difference(tuple(stores), "with stores of which a third or more are read", more)


def _short_with_stores(prediction: Prediction) -> Iterator[Difference]:
    """A short loop with stores of integers and loads, or with operations that occupy all ALUs."""
    instructions, figure = prediction.instructions, prediction.cycles_per_iteration
    if figure > _SHORT or any(map(_is_vector, instructions)):
        return
    accesses = [(i, access) for i, each in enumerate(instructions) for access in each.memory_operands]
    stores = tuple(dict.fromkeys(i for i, access in accesses if access.written))
    loads = any(access.read for _, access in accesses)
    full = sum(map(_operations, instructions)) >= _AT_ONCE * _DEPENDENT * figure
    if stores and (loads or full):
        yield Difference(stores, "of few cycles with stores", loop_caveats.SHORT_LOOP_CYCLES)


_KINDS: tuple[Callable[[Prediction], Iterator[Difference]], ...] = (
    _multiplications,
    _transfers_in,
    _to_flags,
    _read_chains,
    _crossing,
    _narrow_exchanges,
    _segments,
    _x87_with_memory,
    _read_stores,
    _short_with_stores,
)
