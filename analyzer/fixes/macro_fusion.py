"""A compare that is not next to its jump: moved down to it, both are one uop.

dec %rsi                add $8, ... is no candidate: it changes the flags
lea 8(%rdi), %rdi  ->   lea 8(%rdi), %rdi
jnz .loop               dec %rsi
                        jnz .loop
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cyclelens.analyzer.fixes.proposal import Edit, Proposal
from cyclelens.analyzer.fixes.site import Site
from cyclelens.analyzer.model.uops import InstructionTemplate

CODE = "unfused-branch"

_FARTHEST = 6
"""Instructions between compare and jump up to which it is looked for."""


def propose(site: Site) -> Iterator[Proposal]:
    """The instruction at the site is the jump."""
    jump = site.template
    if not jump.is_branch or jump.fused_with_previous or not jump.flag_inputs:
        return
    between: list[InstructionTemplate] = []
    for index in range(site.index - 1, max(site.index - 2 - _FARTHEST, -1), -1):
        compare = replace(site, index=index)
        if (
            not compare.usable
            or not compare.alone
            or compare.statement.line != site.statement.line - (site.index - index)
        ):
            return  # a label, a macro or another statement is in the way
        if not compare.template.flag_outputs:
            between.append(compare.template)
            continue
        if between and site.alone and compare.template.macro_fusible and _movable(compare.template, between):
            yield _moved(compare, site)
        return


def _movable(compare: InstructionTemplate, between: list[InstructionTemplate]) -> bool:
    if compare.memory_operands:
        return False
    reads = {operand.canonical for operand in compare.register_inputs}
    writes = {operand.canonical for operand in compare.register_outputs}
    for template in between:
        touched = {operand.canonical for operand in (*template.register_inputs, *template.address_inputs)}
        written = {operand.canonical for operand in template.register_outputs}
        if template.flag_inputs or template.is_branch or writes & (touched | written) or reads & written:
            return False
    return True


def _moved(compare: Site, jump: Site) -> Proposal:
    line = compare.statement.line
    edits = (
        Edit(line, 0, line + 1, 0, ""),
        Edit(jump.statement.line, 0, jump.statement.line, 0, jump.lines[line] + "\n"),
    )
    names = compare.template.instruction.mnemonic, jump.template.instruction.mnemonic
    return Proposal(
        f"Move {names[0]} down to {names[1]}, so that they fuse", jump.statement.line, edits, CODE
    )
