"""Shortens an instruction that the decoders accept only as the first of a cycle: its constant goes into a
register.

movl $0x12345678, 0x200(%rdi)   ->   movl $0x12345678, %r11d
                                     movl %r11d, 0x200(%rdi)
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.rewrites.proposal import Proposal
from cyclelens.analyzer.rewrites.site import UNUSED, Site, resized

CODE = "long-instruction"
_WITH_REGISTER_FORM = frozenset(["add", "or", "adc", "sbb", "and", "sub", "xor", "cmp", "test", "mov"])


def propose(site: Site) -> Iterator[Proposal]:
    """Propose to load the constant once before a loop, and otherwise before the instruction."""
    instruction = site.template.instruction
    memory, immediate = site.memory(), instruction.immediate
    scratch = site.scratch()
    if CODE not in site.findings or memory is None or immediate is None or scratch is None:
        return
    name = site.statement.text.replace("\t", " ").split(" ")[0]
    if instruction.mnemonic not in _WITH_REGISTER_FORM or not name.lower().startswith(instruction.mnemonic):
        return  # another operation, or a prefix comes first
    bits = _bits(site)
    if bits is None or len(site.operands) != 2:
        return
    # A constant that is not negative clears the upper half of the register.
    value = immediate if bits == 64 else immediate & ((1 << bits) - 1)
    whole = resized(scratch, 32 if value >= 0 else 64)
    load = site.write("mov", site.register(whole), site.number(value))
    use = site.write(name, memory[0], site.register(resized(scratch, bits)))
    looped = site.prediction.mode is Mode.LOOP and not site.has_other_entries
    where = " before the region" if looped else ""
    edits = (site.insert_before_region(load), site.replace(use)) if looped else (site.replace(load, use),)
    yield Proposal(
        f"Load {site.number(value).lstrip('$')} into {whole.lower()}{where}",
        site.statement.line,
        edits,
        CODE,
        caution=UNUSED,
    )


def _bits(site: Site) -> int | None:
    """Width of the operand in memory, in bits; None if it is not known."""
    facts, names = site.template.facts, {access.name for access in site.template.memory_operands}
    if facts is None:
        return None
    widths = {operand.width for operand in facts.operands if operand.name in names}
    return widths.pop() if len(widths) == 1 and widths <= {8, 16, 32, 64} else None
