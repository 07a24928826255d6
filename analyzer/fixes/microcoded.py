"""``loop`` comes from microcode; a decrement and a jump do the same but for the flags.

loop .l   ->   dec %rcx
               jnz .l
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.fixes.proposal import Proposal
from cyclelens.analyzer.fixes.site import Site

CODE = "microcoded"


def propose(site: Site) -> Iterator[Proposal]:
    if site.template.instruction.mnemonic != "loop" or len(site.operands) != 1:
        return
    statements = site.write("dec", site.register("RCX")), f"jnz {site.operands[0]}"
    code = CODE if CODE in site.findings else ""
    title = "Use dec and jnz instead of loop (the flags differ)"
    yield Proposal(title, site.statement.line, (site.replace(*statements),), code)
