"""Replaces an address with an index register, which keeps a store off port 7, or splits a micro-fused uop or
a macro-op.

mov %rax, (%rdi,%rcx,8)   ->   lea (%rdi,%rcx,8), %r11
                               mov %rax, (%r11)
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.rewrites.proposal import Proposal
from cyclelens.analyzer.rewrites.site import UNUSED, Site

CODES = ("unlamination", "split-by-index")


def propose(site: Site) -> Iterator[Proposal]:
    memory = site.memory()
    if memory is None or not memory[1].index or site.template.ms_uops:
        return
    scratch = site.scratch()
    if scratch is None:
        return
    written = memory[0]
    edit = site.replace_operand(
        written, f"({site.register(scratch)})" if site.att else f"[{scratch.lower()}]"
    )
    if edit is None:
        return
    lea = site.write("lea", site.register(scratch), written)
    split = next((code for code in CODES if code in site.findings), "")
    code = split or ("indexed-store" if _stores(site) else "")
    yield Proposal(
        f"Compute the address into {scratch.lower()}",
        site.statement.line,
        (site.insert_before(lea), edit),
        code,
        caution=UNUSED,
    )


def _stores(site: Site) -> bool:
    return any(access.written for access in site.template.memory_operands)
