"""OSACA, which adds up pressure on ports and looks for dependencies between iterations (Laukemann and others,
"Automated Instruction Stream Throughput Prediction", 2018; "Automatic Throughput and Critical Path
Analysis", 2019)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.frontend.assemblers.external import ProgramResult
from cyclelens.analyzer.other_tools.tool import Tool, ToolError, first_words

_TOTALS = re.compile(r"^[ \t]*(?:\d+\.\d+[ \t]+)+\d+(?:\.\d+)?[ \t]+\d+(?:\.\d+)?[ \t]*$", re.MULTILINE)
"""The only line of its report that has nothing but numbers: ports, critical path, chain between
iterations. The last two may be whole numbers without a point."""
_UNKNOWN = re.compile(r"\|[ *P]*X[ *P]*[ \t](\S.*)$", re.MULTILINE)
"""The line of an instruction without data."""


def _figure(done: Sequence[ProgramResult]) -> float:
    """The highest of its lower bounds, which its authors use for loops."""
    (one,) = done
    report = one.output.decode("utf-8", "replace")
    if (unknown := _UNKNOWN.search(report)) is not None:
        raise ToolError(f"It has no data for '{unknown[1]}'.")
    found = _TOTALS.search(report)
    if found is None:
        raise ToolError(first_words(one.errors))
    *ports, _, between_iterations = map(float, found[0].split())
    return max(*ports, between_iterations)


OSACA = Tool(
    name="OSACA",
    program="osaca",
    means="bound by ports and dependencies",
    cores={
        "SNB": "SNB",
        "IVB": "IVB",
        "HSW": "HSW",
        "BDW": "BDW",
        "SKX": "SKX",
        "CLX": "CSX",
        "ICL": "ICL",
        "SPR": "SPR",
        "ZEN": "ZEN1",
        "ZEN+": "ZEN1",
        "ZEN2": "ZEN2",
        "ZEN3": "ZEN3",
        "ZEN4": "ZEN4",
    },
    runs=lambda core: [("--arch", core, "--syntax", "ATT")],
    figure=_figure,
)
