"""The label of a region's first line with what would make it faster.

# cyclelens-begin dot        8.00 cycles/iter · two accumulators: 4.00, four: 2.00
"""

from __future__ import annotations

from cyclelens.analyzer.hints.layout import LINE_BUDGET
from cyclelens.analyzer.rewrites.search import Advice

_UNIT = " cycles/iter"
_SEPARATOR = " · "


def label_with_advice(label: str, advice: Advice, budget: int = LINE_BUDGET) -> str:
    """The advice in the place of all that stands behind the figure; without the unit if there is no room for
    both. Unchanged if there is no room at all."""
    figure = label.partition(_SEPARATOR)[0]
    short = figure.partition(_UNIT)[0]
    for head in (figure.partition(" (")[0], short):
        for words in advice.sentences():
            text = f"{head}{_SEPARATOR}{words}"
            if len(text) <= budget:
                return text
    return label


def told(advice: Advice, compiled: bool = False) -> str:
    """All of it, one rewrite per line. ``compiled``: of a source, it is about what that became."""
    lines = [f"{fix.after:.2f}: {fix.proposal.title}" for fix in advice.fixes]
    heading = (
        "What would make its machine code faster, and the source perhaps, if written so (results are not "
        "checked):"
        if compiled
        else "Rewrites that make it faster (code actions; results are not checked):"
    )
    return "\n".join([heading, *lines])
