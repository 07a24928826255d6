"""Moves a jump off a 32-byte boundary by padding (Intel's JCC erratum).

.p2align 5
dec %rsi
jnz .loop
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.rewrites.proposal import Proposal
from cyclelens.analyzer.rewrites.site import Site

CODE = "jcc-erratum"


def propose(site: Site) -> Iterator[Proposal]:
    """Propose padding up to the boundary: the smallest that helps, and it leaves the jump far from the next
    boundary."""
    if CODE in site.warnings:
        edit = site.insert_before(site.align(32))
        yield Proposal("Pad up to the 32-byte boundary", site.statement.line, (edit,), CODE)
