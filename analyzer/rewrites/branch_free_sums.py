"""Replaces a branch over one addition by an addition of what the flags decide, without a branch.

    cmp %rdx, %rax            cmp   %rdx, %rax
    jle .Lskip        ->      setg  %r11b
    inc %rcx                  movzbl %r11b, %r11d
.Lskip:                       add   %r11, %rcx

If the carry flag decides, ``adc $0, %rcx`` is enough. A register is added under a mask of zeros or ones. Only
64-bit registers are changed: a 32-bit result would clear the upper half even where the branch skipped it.
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.rewrites.branch_free import (
    Skipped,
    constant_step,
    flags_are_dead,
    opposite,
    proposal_of,
    register_of,
    removable,
    unused_register,
)
from cyclelens.analyzer.rewrites.proposal import Proposal
from cyclelens.analyzer.rewrites.site import UNUSED, Site, resized

_CARRY = {**dict.fromkeys(("ae", "nb", "nc"), True), **dict.fromkeys(("b", "c", "nae"), False)}
"""Condition of a jump over a statement -> the carry flag with which the statement executes."""
_SCALES = (2, 4, 8)
_MASKED = ("add", "sub", "or", "xor")
_STACK = "RSP"


def propose(site: Site) -> Iterator[Proposal]:
    """Propose sums by carry, by ``setcc`` or under a mask for a mispredicted branch over one instruction."""
    skipped = removable(site)
    if skipped is None or skipped.bits != 64 or not flags_are_dead(site, skipped):
        return
    jump = site.template.instruction.mnemonic
    carry = _CARRY.get(jump[1:])
    step = constant_step(skipped, att=site.att)
    if step in (1, -1) and carry is not None:
        statement = _with_carry(site, skipped, step, carry=carry)
        yield from proposal_of(site, skipped, (statement,), f"Use {statement.split()[0]} instead of {jump}")
    scratch = unused_register(site, skipped)
    if scratch is None:
        return
    note = f"in {scratch.lower()}, {UNUSED}"
    if step is not None and abs(step) in (1, *_SCALES):
        statements = (*_condition(site, scratch, jump), _scaled(site, skipped, scratch, step))
        if statements[-1]:
            name = f"set{opposite(jump[1:])}"
            yield from proposal_of(site, skipped, statements, f"Use {name} instead of {jump}", note)
    source = register_of(skipped.operands[1]) if len(skipped.operands) == 2 else None
    if skipped.mnemonic in _MASKED and source is not None and source[0] != _STACK:
        own, other, mask = (site.register(each) for each in (skipped.target, source[0], scratch))
        made = (
            (site.write("sbb", mask, mask),)
            if carry
            else (*_condition(site, scratch, jump), site.write("neg", mask))
        )
        statements = (*made, site.write("and", mask, other), site.write(skipped.mnemonic, own, mask))
        yield from proposal_of(site, skipped, statements, f"Use a mask instead of {jump}", note)


def _with_carry(site: Site, skipped: Skipped, step: int, *, carry: bool) -> str:
    """Add ``step`` where the carry flag is as wanted: ``r + C``, ``r - C``, ``r + 1 - C``, ``r - 1 + C``."""
    name = "adc" if (step > 0) is carry else "sbb"
    constant = 0 if carry else -1
    return site.write(name, site.register(skipped.target), site.number(constant))


def _condition(site: Site, scratch: str, jump: str) -> tuple[str, str]:
    """The register becomes 1 where the branch does not jump, else 0."""
    byte, word = (site.register(resized(scratch, bits)) for bits in (8, 32))
    widened = site.write("movzbl" if site.att else "movzx", word, byte)
    return site.write(f"set{opposite(jump[1:])}", byte), widened


def _scaled(site: Site, skipped: Skipped, scratch: str, step: int) -> str:
    """Add ``step`` times the register; empty if one statement cannot."""
    own, other = site.register(skipped.target), site.register(scratch)
    if abs(step) == 1:
        return site.write("add" if step > 0 else "sub", own, other)
    if step < 0:
        return ""
    address = f"({own},{other},{step})" if site.att else f"[{own} + {other}*{step}]"
    return site.write("lea", own, address)
