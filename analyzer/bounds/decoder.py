"""Bound of the decoders, in cycles per iteration."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.model.macro_ops import MacroOpRules
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Block, MacroOps


def decoder_bound(block: Block, microarchitecture: Microarchitecture) -> float:
    """Cycles per iteration of the decoders.

    Instructions go to the decoders in order, and a new cycle begins when decoder 0 is used. The pattern
    repeats when the first instruction of a round reaches a decoder where it was before.
    """
    if microarchitecture.macro_ops is None:
        rounds = _cycles_by_round(block, microarchitecture)
    else:
        rounds = _macro_op_rounds(block, microarchitecture.decoders - 1, microarchitecture.macro_ops)
    landed: dict[int, int] = {}
    """Decoder of a round's first instruction -> round."""
    cycles: list[int] = []
    for number, (decoder, used) in enumerate(rounds):
        if decoder in landed:
            first = landed[decoder]
            return sum(cycles[first:]) / (number - first)
        landed[decoder] = number
        cycles.append(used)
    return 0.0  # nothing to decode


def _cycles_by_round(block: Block, microarchitecture: Microarchitecture) -> Iterator[tuple[int, int]]:
    """For each round: (decoder of its first instruction, number of times that decoder 0 was used)."""
    last = microarchitecture.decoders - 1
    ends = microarchitecture.branch_ends_decode_group
    instructions = [template for template in block.instructions if not template.fused_with_previous]
    decoder, simple_left = last, 0
    while instructions:
        first: int | None = None
        cycles = 0
        for template in instructions:
            on_last = decoder + 1 == last and not microarchitecture.fusible_on_last_decoder
            if template.complex_decoder:
                decoder, simple_left = 0, template.available_simple_decoders
            elif simple_left == 0 or (template.macro_fusible and on_last):
                decoder, simple_left = 0, last
            else:
                decoder, simple_left = decoder + 1, simple_left - 1
            cycles += decoder == 0
            if ends and (template.is_branch or template.fused_with_next):
                simple_left = 0
            if first is None:
                first = decoder
        assert first is not None, "there are instructions"
        yield first, cycles


def _macro_op_rounds(block: Block, last: int, rules: MacroOpRules) -> Iterator[tuple[int, int]]:
    """Like ``_cycles_by_round``, for cores on which long instructions begin a cycle, and instructions of many
    macro-ops have a cycle to themselves (M1)."""
    decoder = last
    while block.instructions:
        first: int | None = None
        cycles = 0
        for template in block.instructions:
            alone = (template.macro_ops or MacroOps()).begins_decode_group
            begins = alone or len(template.instruction.code) > rules.long_instruction_bytes
            decoder = 0 if begins or decoder == last else decoder + 1
            cycles += decoder == 0
            if first is None:
                first = decoder
            if alone:
                decoder = last
        assert first is not None, "there are instructions"
        yield first, cycles
