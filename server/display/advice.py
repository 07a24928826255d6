"""The label of a region's first line, with the rewrites that would make it faster.

# cyclelens-begin dot        8.00 cycles/iter · two accumulators: 4.00, four: 2.00
"""

from __future__ import annotations

from cyclelens.analyzer.hints.layout import LINE_BUDGET
from cyclelens.analyzer.rewrites.search import Advice

_UNIT = " cycles/iter"
_SEPARATOR = " · "


def label_with_advice(label: str, advice: Advice, budget: int = LINE_BUDGET) -> str:
    """The label with advice in place of everything behind the figure. The unit is dropped if both do not fit;
    the label is unchanged if nothing fits."""
    figure = label.partition(_SEPARATOR)[0]
    short = figure.partition(_UNIT)[0]
    for head in (figure.partition(" (")[0], short):
        for words in advice.sentences():
            text = f"{head}{_SEPARATOR}{words}"
            if len(text) <= budget:
                return text
    return label


def told(advice: Advice, compiled: bool = False) -> str:
    """The whole advice, one rewrite per line. ``compiled``: the region is a source's machine code."""
    lines = [f"{fix.after:.2f}: {fix.proposal.title}" for fix in advice.fixes]
    heading = (
        "Rewrites that make the machine code faster, and perhaps the source written the same way "
        "(results are not checked):"
        if compiled
        else "Rewrites that make it faster (code actions; results are not checked):"
    )
    return "\n".join([heading, *lines])
