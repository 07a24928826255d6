"""Changes or moves a compare so that it fuses with its jump into one uop.

cmpq $3, (%rdi)    ->   mov (%rdi), %r11       (memory and immediate do not fuse)
jb .loop                cmp $3, %r11
                        jb .loop
cmp $0, %rax       ->   test %rax, %rax        (the same flags, and fuses with every jump)
js .loop                js .loop
dec %rsi                add $8, ... is no candidate: it changes the flags
lea 8(%rdi), %rdi  ->   lea 8(%rdi), %rdi
jnz .loop               dec %rsi
                        jnz .loop
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.rewrites.proposal import Proposal, Replacement
from cyclelens.analyzer.rewrites.site import UNUSED, Site, resized
from msgspec.structs import replace

CODE = "unfused-branch"

_FARTHEST = 6
"""Most instructions between compare and jump for which the compare is moved."""


def propose(site: Site) -> Iterator[Proposal]:
    """Propose ways to fuse the jump at the site with its compare."""
    jump = site.template
    if not jump.is_branch or jump.fused_with_previous or not jump.flag_inputs:
        return
    if site.index:
        yield from _closer_form(site, replace(site, index=site.index - 1))
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
        Replacement(line, 0, line + 1, 0, ""),
        Replacement(jump.statement.line, 0, jump.statement.line, 0, jump.lines[line] + "\n"),
    )
    names = compare.template.instruction.mnemonic, jump.template.instruction.mnemonic
    return Proposal(
        f"Move {names[0]} down to {names[1]}",
        jump.statement.line,
        edits,
        CODE,
        reason=", so that they fuse",
    )


def _closer_form(jump: Site, compare: Site) -> Iterator[Proposal]:
    """Rewrite the instruction in front of the jump into a form that fuses."""
    if not compare.usable or set(jump.template.flag_inputs) - set(compare.template.flag_outputs):
        return
    instruction = compare.template.instruction
    operands, line = instruction.operands, jump.statement.line
    if len(operands) != 2 or len(compare.operands) != 2:
        return
    first, second = compare.operands
    names = f"{instruction.mnemonic} and {jump.template.instruction.mnemonic}"
    scratch, memory = compare.scratch(), compare.memory()
    if instruction.mnemonic in ("cmp", "test") and memory and instruction.immediate is not None and scratch:
        bits = _access_bits(compare)
        if bits not in (8, 16, 32, 64):
            return
        register = compare.register(resized(scratch, bits))
        comparison = compare.write(instruction.mnemonic, register, second)
        edits = (compare.replace(compare.load(scratch, bits, memory[0]), comparison),)
        effect, reason = f"Load into {scratch.lower()}", f", so that {names} fuse"
        yield Proposal(effect, line, edits, CODE, caution=UNUSED, reason=reason)
    elif operands[0].register and (
        (instruction.mnemonic == "cmp" and instruction.immediate == 0)
        or (instruction.mnemonic == "or" and operands[1].register == operands[0].register)
    ):
        test = compare.write("test", first, first)
        reason = f", which sets the same flags and fuses with {jump.template.instruction.mnemonic}"
        yield Proposal("Use test", line, (compare.replace(test),), CODE, reason=reason)


def _access_bits(site: Site) -> int:
    """Width of the memory operand in bits; 0 if unknown."""
    operands = site.template.facts.operands if site.template.facts else ()
    return next((operand.width for operand in operands if operand.kind == "mem"), 0)
