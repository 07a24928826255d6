"""Widens a write of 8 or 16 bits, which must be merged with the rest of the register, to 32 bits.

mov (%rdi), %al    ->   movzbl (%rdi), %eax
setb %al           ->   xor %eax, %eax      (in front of the instruction that sets the flags)
cmp ...                 cmp ...
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.rewrites import liveness
from cyclelens.analyzer.rewrites.liveness import Need
from cyclelens.analyzer.rewrites.proposal import Proposal
from cyclelens.analyzer.rewrites.site import CLEARED, Site, resized
from msgspec.structs import replace

_HIGH_BYTES = frozenset(["AH", "BH", "CH", "DH"])

_SETTING_ALL_FLAGS = frozenset(
    [
        *("cmp", "test", "add", "sub", "and", "or", "xor", "neg", "ptest", "vptest"),
        *("comiss", "comisd", "ucomiss", "ucomisd", "vcomiss", "vcomisd", "vucomiss", "vucomisd"),
    ]
)
"""Instructions that define all flags; others leave some unchanged or undefined."""


def propose(site: Site) -> Iterator[Proposal]:
    instruction = site.template.instruction
    written = _written(site)
    if site.template.length_changing_prefix:
        return  # the prefix stall is worse and has its own rewrites
    if written is None or liveness.upper_part(site, written[0], written[1]) is Need.READ:
        return
    register, bits = written
    if instruction.mnemonic == "mov":
        yield from _extended(site, instruction, register, bits)
    elif instruction.mnemonic.startswith("set"):
        yield from _cleared(site, register)


def _written(site: Site) -> tuple[str, int] | None:
    """64-bit name and written width, in bits, of the register that the instruction writes partially."""
    for operand in site.template.register_outputs[:1]:
        if operand.width in (8, 16) and operand.name not in _HIGH_BYTES:
            return operand.canonical, operand.width
    return None


def _extended(site: Site, instruction: Instruction, register: str, bits: int) -> Iterator[Proposal]:
    operands = instruction.operands
    if len(operands) != 2 or len(site.operands) != 2 or operands[1].register in _HIGH_BYTES:
        return
    if instruction.immediate is not None:
        value = site.number(instruction.immediate & ((1 << bits) - 1))
        new = site.write("mov", site.register(resized(register, 32)), value)
    elif ":" in site.operands[1]:
        return  # a segment override
    else:
        new = site.load(register, bits, site.operands[1])
    name = resized(register, 32).lower()
    effect = f"Write the whole of {name} instead of merging {bits} bits"
    yield Proposal(effect, site.statement.line, (site.replace(new),), caution=CLEARED)


def _cleared(site: Site, register: str) -> Iterator[Proposal]:
    """Clear the register before the previous instruction.

    Clearing changes the flags, so the previous instruction must set all of them and must not use the
    register."""
    if not site.index or site.template.memory_operands:
        return
    before = replace(site, index=site.index - 1)
    template = before.template
    touched = (*template.register_inputs, *template.address_inputs, *template.register_outputs)
    if (
        not before.usable
        or not before.alone
        or before.statement.line != site.statement.line - 1
        or template.flag_inputs
        or template.instruction.mnemonic not in _SETTING_ALL_FLAGS
        or any(operand.canonical == register for operand in touched)
    ):
        return
    name = site.register(resized(register, 32))
    edit = before.insert_before(site.write("xor", name, name))
    plain = resized(register, 32).lower()
    effect = f"Clear {plain} before the flags are set, instead of merging"
    yield Proposal(effect, site.statement.line, (edit,), caution=CLEARED)
