"""A jump at a 32-byte boundary: padding moves it behind the boundary.

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
    """The smallest padding that helps is the one up to the boundary: a jump that starts there is far from
    the next one."""
    if CODE in site.warnings:
        edit = site.insert_before(site.align(32))
        yield Proposal("Pad up to the 32-byte boundary", site.statement.line, (edit,), CODE)
