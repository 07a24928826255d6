"""Liveness of an instruction's results within its region: a rewrite must preserve what is read later.

The region is one basic block. In a loop, the block's beginning follows its end; unknown code follows any
region. A value that reaches the end unread is *left* to that code.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum

from cyclelens.analyzer.isa.register_use import used_registers
from cyclelens.analyzer.isa.upper_halves import used_halves
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.rewrites.site import Site

_HIGH_BYTES = frozenset(["AH", "BH", "CH", "DH"])
_LOW_ONLY = frozenset(
    [
        "movddup",
        "unpcklpd",
        "vmovddup",
        "vunpcklpd",
        "vbroadcastsd",
        "vbroadcastss",
        "movd",
        "movq",
        "vmovd",
        "vmovq",
    ]
)
"""Non-scalar vector instructions that read only the lowest element of their sources."""

_SHIFTS_BY_CL = frozenset(["shl", "sal", "shr", "sar", "rol", "ror", "shld", "shrd"])
_CONVERSION = re.compile(r"v?cvtt?s[sd]2")
_Test = Callable[[InstructionTemplate], bool]


class Need(Enum):
    """Who may read a value."""

    READ = "an instruction of the region"
    LEFT = "only code behind the region"
    UNREAD = "no code"


def flags(site: Site) -> Need:
    """Who may read the flags after the site's instruction."""
    alive = {"C", "SPAZO"}

    def reads(template: InstructionTemplate) -> bool:
        return bool(alive.intersection(template.flag_inputs)) and not _is_shift_by_cl(template)

    def overwritten(template: InstructionTemplate) -> bool:
        if not _is_shift_by_cl(template):
            alive.difference_update(template.flag_outputs)
        return not alive

    return _need(site, reads, overwritten)


def _is_shift_by_cl(template: InstructionTemplate) -> bool:
    """Whether the instruction shifts by CL: it reads the flags only to preserve them for a count of zero."""
    operands = template.instruction.operands
    return template.instruction.mnemonic in _SHIFTS_BY_CL and bool(operands) and operands[-1].register == "CL"


def upper_part(site: Site, register: str, bits: int) -> Need:
    """Who may read bits above the lowest ``bits`` of a general-purpose register (its 64-bit name)."""

    def reads(template: InstructionTemplate) -> bool:
        inputs = (*template.register_inputs, *template.address_inputs)
        found = [operand for operand in inputs if operand.canonical == register]
        if any(operand.width > bits or operand.name in _HIGH_BYTES for operand in found):
            return True
        # Registers that the tables omit, such as the pointers of string instructions, count as read.
        known = bool(found) or any(operand.canonical == register for operand in template.register_outputs)
        return not known and register in used_registers(template.instruction.code)

    def overwritten(template: InstructionTemplate) -> bool:
        return any(o.canonical == register and o.width >= 32 for o in template.register_outputs)

    return _need(site, reads, overwritten)


def upper_elements(site: Site, register: str) -> Need:
    """Who may read elements above the lowest of a vector register (such as ``XMM0``)."""

    def reads(template: InstructionTemplate) -> bool:
        used = any(operand.canonical == register for operand in template.register_inputs)
        return used and not _is_scalar(template)

    def overwritten(template: InstructionTemplate) -> bool:
        # Scalar instructions with two operands preserve the upper elements.
        written = any(operand.canonical == register for operand in template.register_outputs)
        return written and not _is_scalar(template)

    return _need(site, reads, overwritten)


def upper_half(site: Site, register: str) -> Need:
    """Who may read bits 128 and above of a vector register (such as ``XMM0``)."""

    def reads(template: InstructionTemplate) -> bool:
        return register in used_halves(template.instruction.code)[0]

    def overwritten(template: InstructionTemplate) -> bool:
        return register in used_halves(template.instruction.code)[1]

    return _need(site, reads, overwritten)


def _is_scalar(template: InstructionTemplate) -> bool:
    mnemonic = template.instruction.mnemonic
    return mnemonic.endswith(("ss", "sd")) or mnemonic in _LOW_ONLY or bool(_CONVERSION.match(mnemonic))


def _need(site: Site, reads: _Test, overwritten: _Test) -> Need:
    instructions = site.prediction.instructions
    # Other pieces of the region follow a piece, and unknown code follows a taken jump.
    left = Need.READ if site.is_block else Need.LEFT
    result = left if site.template.is_branch else Need.UNREAD
    for template in instructions[site.index + 1 :]:
        if reads(template):
            return Need.READ
        if overwritten(template):
            return result
        if template.is_branch:
            result = left
    for template in instructions[: site.index + 1]:
        if reads(template):
            return Need.READ
        if overwritten(template):
            break
    return left
