"""Unrolls a loop: several bodies per jump, with one addition per pointer."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.rewrites.loops.body import WORDS, Body
from cyclelens.analyzer.rewrites.loops.steps import unrolled
from cyclelens.analyzer.rewrites.proposal import Proposal

_TIMES = (2, 4)


def propose(body: Body) -> Iterator[Proposal]:
    """Propose unrolling by two and by four."""
    for times in _TIMES:
        items = unrolled(body, times)
        if items is not None:
            yield Proposal(
                f"Do {WORDS[times]} iterations at once",
                body.sites[-1].statement.line,
                (body.edit(items),),
                times=times,
                brief=f"unrolled by {WORDS[times]}",
                whole=True,
                kinds=("unrolling",),
                caution=f"for a multiple of {times} iterations",
            )
