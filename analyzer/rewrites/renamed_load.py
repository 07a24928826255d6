"""Exchanges the operands of an operation on a memory word so that its load is renamed (rule W6).

The load is not renamed while the operation also reads a register.

add %rax, (%rdi)   ->   mov %rax, %r11
                        add (%rdi), %r11
                        mov %r11, (%rdi)
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.rewrites.proposal import Proposal
from cyclelens.analyzer.rewrites.site import UNUSED, Site, resized
from cyclelens.analyzer.uops.registers import is_general_purpose, width

_COMMUTATIVE = frozenset(["add", "and", "or", "xor"])
_LOCK = 0xF0


def propose(site: Site) -> Iterator[Proposal]:
    """Propose the exchange through a register that the region does not use; the flags stay the same."""
    instruction = site.template.instruction
    core = registry.get(site.prediction.microarchitecture)
    # A core that renames macro-ops does not care what else the operation reads.
    if core.policies.memory_renaming != "learnt_pairs" or core.macro_ops is not None:
        return
    if instruction.mnemonic not in _COMMUTATIVE or instruction.code[0] == _LOCK:
        return
    memory, scratch, source = site.memory(), site.scratch(), instruction.operands[1].register
    if memory is None or scratch is None or source is None or not is_general_purpose(source):
        return
    bits = width(source)
    if bits not in (32, 64) or memory[1].index:
        return
    own = site.register(resized(scratch, bits))
    yield Proposal(
        f"Use {own.lstrip('%')}",
        site.statement.line,
        (
            site.replace(
                site.write("mov", own, site.register(source)),
                site.write(instruction.mnemonic, own, memory[0]),
                site.write("mov", memory[0], own),
            ),
        ),
        caution=UNUSED,
        reason=": the load is renamed if its operation reads nothing else",
    )
