"""The tooltip that lists the rewrites of a region."""

from __future__ import annotations

from cyclelens.analyzer.rewrites.search import Advice


def told(advice: Advice, compiled: bool = False) -> str:
    """The whole advice, one rewrite per line. ``compiled``: the region is a source's machine code."""
    lines = [f"{fix.gain}: {fix.proposal.title}" for fix in advice.fixes]
    heading = (
        "Rewrites that make the machine code faster, and perhaps the source, if written the same way "
        "(results are not checked):"
        if compiled
        else "Rewrites that make it faster (code actions; results are not checked):"
    )
    return "\n".join([heading, *lines])
