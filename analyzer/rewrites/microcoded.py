"""Replaces microcoded instructions, and those with many uops, by simpler ones with the same effect.

loop .l            ->   dec %rcx
                        jnz .l
jrcxz .l           ->   test %rcx, %rcx
                        jz .l
shl %cl, %rax      ->   shlx %rcx, %rax, %rax     (without the flags; BMI2)
lodsq              ->   mov (%rsi), %rax
                        lea 8(%rsi), %rsi
bsf %rax, %rcx     ->   tzcnt %rax, %rcx          (which does not wait for rcx; BMI1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cyclelens.analyzer.model.instruction import OperandKind
from cyclelens.analyzer.rewrites import liveness
from cyclelens.analyzer.rewrites.liveness import Need
from cyclelens.analyzer.rewrites.proposal import Proposal
from cyclelens.analyzer.rewrites.site import Site, resized

CODE = "microcoded"

_SHIFTS = {"shl": "shlx", "sal": "shlx", "shr": "shrx", "sar": "sarx"}
_STRINGS = {
    **{f"lods{letter}": size for letter, size in zip("bwdq", (1, 2, 4, 8), strict=True)},
    **{f"stos{letter}": size for letter, size in zip("bwdq", (1, 2, 4, 8), strict=True)},
}
"""String instructions and the bytes by which each moves its pointer."""
_ACCUMULATORS = {1: "al", 2: "ax", 4: "eax", 8: "rax"}
_FORWARD = "the direction flag is taken as clear"

_FLAGS = "the flags differ"


def propose(site: Site) -> Iterator[Proposal]:
    mnemonic = site.template.instruction.mnemonic
    for rewrite in _REWRITES:
        proposal = rewrite(site, mnemonic)
        if proposal is not None:
            yield proposal


def _proposal(site: Site, effect: str, *statements: str, caution: str = "", reason: str = "") -> Proposal:
    code = CODE if CODE in site.findings else ""
    edits = (site.replace(*statements),)
    return Proposal(effect, site.statement.line, edits, code, caution=caution, reason=reason)


def _loop(site: Site, mnemonic: str) -> Proposal | None:
    if mnemonic != "loop" or len(site.operands) != 1 or liveness.flags(site) is Need.READ:
        return None
    statements = site.write("dec", site.register("RCX")), f"jnz {site.operands[0]}"
    return _proposal(site, "Use dec and jnz instead of loop", *statements, caution=_FLAGS)


def _jrcxz(site: Site, mnemonic: str) -> Proposal | None:
    register = {"jrcxz": "RCX", "jecxz": "ECX"}.get(mnemonic)
    if register is None or len(site.operands) != 1 or liveness.flags(site) is Need.READ:
        return None
    name = site.register(register)
    statements = site.write("test", name, name), f"jz {site.operands[0]}"
    return _proposal(site, f"Use test and jz instead of {mnemonic}", *statements, caution=_FLAGS)


def _shift(site: Site, mnemonic: str) -> Proposal | None:
    operands = site.template.instruction.operands
    if mnemonic not in _SHIFTS or len(operands) != 2 or operands[1].register != "CL":
        return None
    target = operands[0].register
    # The byte opcode has no operand size of its own, so the register's width decides.
    bits = site.template.register_outputs[0].width if site.template.register_outputs else 0
    if target is None or bits not in (32, 64):
        return None
    need = liveness.flags(site)
    if need is Need.READ:
        return None
    count = site.register(resized("RCX", bits))
    name = site.register(target)
    new = _SHIFTS[mnemonic]
    return _proposal(
        site,
        f"Use {new}",
        site.write(new, name, name, count),
        caution=_FLAGS if need is Need.LEFT else "",
        reason=", which leaves the flags alone",
    )


def _string(site: Site, mnemonic: str) -> Proposal | None:
    size = _STRINGS.get(mnemonic)
    instruction = site.template.instruction
    if (
        size is None
        or instruction.repeat
        or site.statement.text.split()[-1].lower() != _spelling(site, mnemonic)
    ):
        return None
    value = site.register(_ACCUMULATORS[size])
    pointer = "RSI" if mnemonic.startswith("lods") else "RDI"
    place = f"({site.register(pointer)})" if site.att else f"[{pointer.lower()}]"
    further = f"{size}({site.register(pointer)})" if site.att else f"[{pointer.lower()} + {size}]"
    move = ("mov", value, place) if pointer == "RSI" else ("mov", place, value)
    statements = site.write(*move), site.write("lea", site.register(pointer), further)
    return _proposal(site, f"Use mov and lea instead of {mnemonic}", *statements, caution=_FORWARD)


def _spelling(site: Site, mnemonic: str) -> str:
    """The mnemonic as written: AT&T spells the four-byte forms ``lodsl`` and ``stosl``."""
    return mnemonic[:-1] + "l" if site.att and mnemonic.endswith("d") else mnemonic


def _bit_scan(site: Site, mnemonic: str) -> Proposal | None:
    operands = site.template.instruction.operands
    if (
        mnemonic != "bsf"
        or len(operands) != 2
        or operands[1].kind
        not in (
            OperandKind.REGISTER,
            OperandKind.MEMORY,
        )
    ):
        return None
    if liveness.flags(site) is Need.READ:
        return None
    statement, caution = site.write("tzcnt", *site.operands), "differs for zero and in the flags"
    return _proposal(site, "Use tzcnt instead of bsf", statement, caution=caution)


_REWRITES: tuple[Callable[[Site, str], Proposal | None], ...] = (_loop, _jrcxz, _shift, _string, _bit_scan)
