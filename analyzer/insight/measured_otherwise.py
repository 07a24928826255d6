"""Finds loops of kinds that took other times than the figure on a core, by rules that are not known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cyclelens.analyzer.microarchitectures import caveats
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.uops.registers import is_simd
from msgspec import Struct

_HORIZONTAL = re.compile(r"v?h(add|sub)p[sd]")
"""Two shuffles of a cycle, then a longer operation, so that one alone is slower."""
_EXTRACTS = re.compile(r"v?p?extract\w+")
_WIDE_MASKS = re.compile(r"k(add|and|andn|or|xor|xnor|not)q|kunpckdq")
_OF_BRANCHES = re.compile(r"(set|cmov)(?!n?[abc]e?$)\w+")
"""Conditions on flags that DEC writes."""
_DEPENDENT = 0.95
"""Share of the figure from which dependencies explain it."""
_SHORT = 2
"""Most cycles of a vector operation that was seen to wait."""
_FEW_STORES = 2


class Difference(Struct, frozen=True):
    """What loops of a kind took beyond the figure, or below it."""

    instructions: tuple[int, ...]
    kind: str
    """The beginning of a sentence: which loops they are."""
    cycles: float
    """Cycles per iteration beyond the figure; negative below it."""


def differences(prediction: Prediction) -> Iterator[Difference]:
    """The kinds that a loop belongs to, of those measured on its core."""
    for kind in (_result_conflict, _wide_masks, _store_fence, _pushed_constants, _counter_flags, _merged):
        yield from kind(prediction)


def _result_conflict(prediction: Prediction) -> Iterator[Difference]:
    instructions, bound = prediction.instructions, prediction.bounds.get("Dependencies", 0.0)
    if bound < _DEPENDENT * prediction.cycles_per_iteration:
        return
    chain = {index: cycles for index, cycles in prediction.chain if _is_vector(instructions[index])}
    waiting = {
        index: 1 if _pipe_uops(instructions[index]) > 1 else cycles
        for index, cycles in chain.items()
        if cycles <= _SHORT or _pipe_uops(instructions[index]) > 1
    }
    if not waiting:
        return
    least = min(waiting.values())
    longer = tuple(index for index, template in enumerate(instructions) if _is_longer(template, least))
    # Both parts may be in one instruction.
    if set(longer) - set(waiting) or any(_is_horizontal(instructions[index]) for index in waiting):
        kind = "in which a chain of vector operations has short uops beside longer ones"
        yield Difference(longer, kind, caveats.result_conflict_cycles(len(longer)))


def _is_vector(template: InstructionTemplate) -> bool:
    return any(is_simd(register.name) for register in template.register_outputs)


def _pipe_uops(template: InstructionTemplate) -> int:
    """Uops on the pipes; 0 for gathers, which have a caveat of their own."""
    if "gather" in template.instruction.mnemonic:
        return 0
    return sum(uop.kind is UopKind.COMPUTE for uop in template.uops)


def _is_horizontal(template: InstructionTemplate) -> bool:
    return _HORIZONTAL.fullmatch(template.instruction.mnemonic) is not None


def _is_longer(template: InstructionTemplate, least: int) -> bool:
    """True if a pipe takes more cycles to its result."""
    if _EXTRACTS.fullmatch(template.instruction.mnemonic) and template.memory_operands:
        return True
    return _is_vector(template) and any(
        uop.kind is UopKind.COMPUTE and any(cycles > least for _, cycles in uop.outputs)
        for uop in template.uops
    )


def _wide_masks(prediction: Prediction) -> Iterator[Difference]:
    found = _named(prediction.instructions, _WIDE_MASKS)
    if found:
        yield Difference(found, "with operations on masks of 64 bits", caveats.WIDE_MASK_CYCLES * len(found))


def _store_fence(prediction: Prediction) -> Iterator[Difference]:
    found = _named(prediction.instructions, re.compile("sfence"))
    stores = any(
        access.written for template in prediction.instructions for access in template.memory_operands
    )
    if found and stores:
        yield Difference(found, "with SFENCE beside stores", float(len(found)))


def _pushed_constants(prediction: Prediction) -> Iterator[Difference]:
    found = tuple(
        index
        for index, template in enumerate(prediction.instructions)
        if template.instruction.mnemonic == "push" and template.instruction.immediate is not None
    )
    if len(found) >= _FEW_STORES:
        yield Difference(found, "that push constants", caveats.PUSHED_CONSTANT_CYCLES)


def _counter_flags(prediction: Prediction) -> Iterator[Difference]:
    """Readers of the flags that the end of the loop leaves, while the branch waits for the same units."""
    found = []
    for index, template in enumerate(prediction.instructions):
        if _OF_BRANCHES.fullmatch(template.instruction.mnemonic):
            found.append(index)
        elif template.flag_outputs:
            break
    bound = max(prediction.bounds.values(), default=0.0)
    if len(found) > 1 and bound < _DEPENDENT * prediction.cycles_per_iteration:
        kind = "that read the flags of the loop's counter"
        yield Difference(tuple(found), kind, bound - prediction.cycles_per_iteration)


def _merged(prediction: Prediction) -> Iterator[Difference]:
    """Operations that keep elements and need their mask before their other inputs."""
    instructions = prediction.instructions
    found = tuple(
        index
        for index, _ in prediction.chain
        if instructions[index].instruction.mask
        and any(max(uop.late, default=0) for uop in instructions[index].uops)
    )
    bound = max(prediction.bounds.values(), default=0.0)
    if found and bound < _DEPENDENT * prediction.cycles_per_iteration:
        kind = "in which a chain passes masked operations"
        yield Difference(found, kind, bound - prediction.cycles_per_iteration)


def _named(instructions: Sequence[InstructionTemplate], pattern: re.Pattern[str]) -> tuple[int, ...]:
    return tuple(
        index for index, each in enumerate(instructions) if pattern.fullmatch(each.instruction.mnemonic)
    )
