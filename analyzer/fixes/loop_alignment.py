"""A region that does not start at a 64-byte line: align it.

# cyclelens-begin dot alignment=23   ->   .p2align 6
                                          # cyclelens-begin dot alignment=0
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cyclelens.analyzer.fixes.proposal import Edit, Proposal
from cyclelens.analyzer.fixes.site import Site

_OPTION = re.compile(r"\balign(?:ment)?=\d+")


def propose(site: Site) -> Iterator[Proposal]:
    """Once for the region, at its first instruction."""
    if site.index or not site.prediction.alignment:
        return
    region = site.analysis.region
    line = region.first_line
    marker = site.lines[line]
    option = _OPTION.search(marker)
    if option is None:
        return  # the offset comes from the settings: the text does not say where the region starts
    indent = re.sub(r"\S", " ", site.lines[site.statement.line][: site.statement.column])
    edits = (
        Edit(line, 0, line, 0, f"{indent}.p2align 6\n"),
        Edit(line, option.start(), line, option.end(), "alignment=0"),
    )
    yield Proposal("Align the start of the region to 64 bytes", line, edits)
