"""Replaces a branch over one instruction by a conditional move.

    cmp %rdx, %rax            cmp    %rdx, %rax
    jle .Lskip        ->      cmovnle %rax, %rdx
    mov %rax, %rdx
.Lskip:

Only registers and constants are computed unconditionally: a load that the branch skipped could fault. A
32-bit result is computed in a register of its own, because a conditional move of 32 bits clears the upper
half even where it does not move.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cyclelens.analyzer.frontend.source.lexer import cut_operands, leading_labels, without_comments
from cyclelens.analyzer.isa.register_use import GENERAL_PURPOSE
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.rewrites.proposal import Proposal, Replacement
from cyclelens.analyzer.rewrites.site import SCRATCH, UNUSED, Site, resized
from msgspec import Struct

_STACK = "RSP"
_OPPOSITE = {"pe": "po", "po": "pe"}
_KEYS = r"\s+(?:taken|mispredicted)=\S+"
_WIDTHS = {**dict.fromkeys("l", 32), **dict.fromkeys("q", 64)}


class Skipped(Struct, frozen=True):
    """The statement that a branch skips."""

    line: int
    mnemonic: str
    operands: tuple[str, ...]
    """In Intel order."""
    target: str
    """The register that it writes, by its 64-bit name."""
    bits: int


def propose(site: Site) -> Iterator[Proposal]:
    """Propose a conditional move for a mispredicted branch over one instruction."""
    skipped = removable(site)
    made = None if skipped is None else _made(site, skipped)
    if skipped is None or made is None:
        return
    before, source, note = made
    jump = site.template.instruction.mnemonic
    name = f"cmov{opposite(jump[1:])}"
    move = site.write(name, site.register(skipped.target), site.register(source))
    yield from proposal_of(site, skipped, (*before, move), f"Use {name} instead of {jump}", note)


def removable(site: Site) -> Skipped | None:
    """What a mispredicted branch skips, if that is one instruction; None if the branch cannot be removed."""
    jump = site.template.instruction.mnemonic
    given = site.prediction.mispredictions
    if given is None or not jump.startswith("j") or not site.template.flag_inputs or not site.alone:
        return None
    line = site.statement.line
    if not any(each.jump.line == line for each in given.branches) or len(given.branches) > 1:
        return None
    return _skipped(site)


def proposal_of(
    site: Site, skipped: Skipped, statements: Sequence[str], effect: str, caution: str = ""
) -> Iterator[Proposal]:
    """The proposal to write these statements in place of the branch and of what it skips; none if the marker
    has shares of other branches. Only the best one for a branch is offered."""
    marker = _without_shares(site)
    if marker is None:
        return
    line = site.statement.line
    indent = re.sub(r"\S", " ", site.lines[line][: site.statement.column])
    text = "".join(f"{indent}{statement}\n" for statement in statements)
    yield Proposal(
        effect,
        line,
        (*marker, Replacement(line, 0, skipped.line + 1, 0, text)),
        choice=f"branch-free {line}",
        caution=caution,
        reason=", which cannot be mispredicted",
        brief="branch-free",
        kinds=("branch-free",),
        predicted=(line,),
    )


def opposite(condition: str) -> str:
    """The condition that holds where this one does not: ``nle`` of ``le``."""
    return _OPPOSITE.get(condition) or (condition[1:] if condition[0] == "n" else f"n{condition}")


def _skipped(site: Site) -> Skipped | None:
    """The one instruction between the branch and its target; None if there is not exactly one."""
    line, target = site.statement.line, site.operands[0] if site.operands else ""
    lines = [without_comments(text).strip() for text in site.lines[line + 1 : line + 3]]
    if len(lines) < 2 or leading_labels(lines[0])[0] or re.search(r"[;{}]", lines[0]):
        return None
    labels = {match[1] for match in leading_labels(lines[1])[0]}
    if target not in labels and not (target.endswith("f") and target[:-1] in labels):
        return None
    mnemonic, _, rest = lines[0].replace("\t", " ").partition(" ")
    operands = tuple(part.strip() for part in cut_operands(rest)[0])
    ordered = tuple(reversed(operands)) if site.att else operands
    found = register_of(ordered[0]) if ordered else None
    if found is None or found[0] == _STACK:
        return None
    return Skipped(line + 1, _plain(mnemonic.lower(), found[1], site.att), ordered, *found)


def _plain(mnemonic: str, bits: int, att: bool) -> str:
    """The mnemonic without the suffix of AT&T syntax."""
    name = mnemonic[:-1]
    known = name in ("mov", "add", "sub", "inc", "dec", "lea")
    has_suffix = att and known and _WIDTHS.get(mnemonic[-1]) == bits
    return name if has_suffix else mnemonic


def register_of(operand: str) -> tuple[str, int] | None:
    """The 64-bit name and the width of a register of 32 or 64 bits."""
    name = operand.removeprefix("%").upper()
    for whole in GENERAL_PURPOSE:
        for bits in (32, 64):
            if name == resized(whole, bits):
                return whole, bits
    return None


def _made(site: Site, skipped: Skipped) -> tuple[tuple[str, ...], str, str] | None:
    """Statements that compute the result without its flags, the register that then holds it, and a caution.

    None if the result needs memory or cannot be computed without changing flags."""
    mnemonic, operands = skipped.mnemonic, skipped.operands
    source = register_of(operands[1]) if len(operands) == 2 else None
    if mnemonic == "mov" and source is not None and source[1] == skipped.bits == 64:
        return (), source[0], ""
    scratch = unused_register(site, skipped)
    if scratch is None:
        return None
    result = site.register(resized(scratch, skipped.bits))
    own = site.register(skipped.target)
    if mnemonic == "mov" and (source is not None or _constant(operands[1], att=site.att) is not None):
        statement = site.write("mov", result, operands[1])
    elif mnemonic == "lea" and len(operands) == 2:
        statement = site.write("lea", result, operands[1])
    elif not flags_are_dead(site, skipped):
        return None
    elif mnemonic == "add" and source is not None and source[0] != _STACK:
        other = site.register(source[0])
        address = f"({own},{other})" if site.att else f"[{own} + {other}]"
        statement = site.write("lea", result, address)
    elif (step := constant_step(skipped, att=site.att)) is not None:
        sign = "-" if step < 0 else "+"
        address = f"{step}({own})" if site.att else f"[{own} {sign} {abs(step)}]"
        statement = site.write("lea", result, address)
    else:
        return None
    return (statement,), scratch, f"in {scratch.lower()}, {UNUSED}"


def _constant(operand: str, *, att: bool) -> int | None:
    """The value of an immediate; in AT&T syntax a number without ``$`` is an address."""
    try:
        return int(operand.removeprefix("$"), 0) if operand.startswith("$") == att else None
    except ValueError:
        return None


def constant_step(skipped: Skipped, *, att: bool) -> int | None:
    """The constant that the statement adds to its register."""
    if len(skipped.operands) == 1:
        return {"inc": 1, "dec": -1}.get(skipped.mnemonic)
    step = _constant(skipped.operands[1], att=att)
    if step is None or skipped.mnemonic not in ("add", "sub"):
        return None
    step = step if skipped.mnemonic == "add" else -step
    return step if -(1 << 31) <= step < 1 << 31 else None


def unused_register(site: Site, skipped: Skipped) -> str | None:
    """A register that nothing uses, not even the skipped statement."""
    found = site.scratch()
    words = set(re.findall(r"\w+", site.lines[skipped.line].lower()))
    used = {name for name in SCRATCH for bits in (8, 16, 32, 64) if resized(name, bits).lower() in words}
    return None if found in used else found


def flags_are_dead(site: Site, skipped: Skipped) -> bool:
    """Whether everything behind the branch overwrites the flags before it reads one or leaves the region."""
    rest: Sequence[InstructionTemplate] = site.prediction.instructions[site.index + 1 :]
    lines = site.analysis.region.lines
    after = [lines[at].line for at in site.analysis.instruction_lines[site.index + 1 :]]
    alive = {"C", "SPAZO"}
    for template, line in zip(rest, after, strict=False):
        if line == skipped.line:
            continue
        if alive.intersection(template.flag_inputs):
            return False
        alive.difference_update(template.flag_outputs)
        if not alive:
            return True
        if template.is_branch:
            return False
    return False


def _without_shares(site: Site) -> tuple[Replacement, ...] | None:
    """The marker without the shares of the branch; None if it has those of others, too."""
    region = site.analysis.region
    options = {key: region.options[key] for key in ("taken", "mispredicted") if key in region.options}
    if any("," in value for value in options.values()):
        return None
    if not options:
        return ()
    text = site.lines[region.first_line]
    changed = re.sub(_KEYS, "", text)
    return (Replacement(region.first_line, 0, region.first_line, len(text), changed),)
