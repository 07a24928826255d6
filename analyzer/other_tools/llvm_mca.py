"""llvm-mca, which simulates the back end with LLVM's scheduling models (its manual: "LLVM Machine Code
Analyzer")."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.frontend.assemblers.external import ProgramResult
from cyclelens.analyzer.other_tools.tool import Tool, ToolError, first_words

_ITERATIONS = (100, 300)
"""The figure is the cost of the iterations between these counts, so that filling the pipeline is excluded."""
_TOTAL = re.compile(rb"^Total Cycles:\s*(\d+)$", re.MULTILINE)
_OTHER_CORE = "is not a recognized processor"
"""The message before it continues with the model of another core."""


def _runs(core: str) -> Sequence[Sequence[str]]:
    return [(f"--mcpu={core}", f"--iterations={count}") for count in _ITERATIONS]


def _figure(done: Sequence[ProgramResult]) -> float:
    totals = []
    for one in done:
        if _OTHER_CORE in one.errors:
            raise ToolError("This version has no model of the core.")
        found = _TOTAL.search(one.output)
        # Version 14 continues after an error without this line, and exits with status 0.
        if one.status or found is None or " error: " in one.errors:
            raise ToolError(first_words(one.errors))
        totals.append(int(found[1]))
    return (totals[1] - totals[0]) / (_ITERATIONS[1] - _ITERATIONS[0])


LLVM_MCA = Tool(
    name="llvm-mca",
    program="llvm-mca",
    means="simulated, without a front end",
    cores={
        "SNB": "sandybridge",
        "IVB": "ivybridge",
        "HSW": "haswell",
        "BDW": "broadwell",
        "SKL": "skylake",
        "SKX": "skylake-avx512",
        "KBL": "skylake",
        "CFL": "skylake",
        "CLX": "cascadelake",
        "ICL": "icelake-client",
        "TGL": "tigerlake",
        "RKL": "rocketlake",
        "ADL": "alderlake",
        "SPR": "sapphirerapids",
        "MTL": "meteorlake",
        "GNR": "graniterapids",
        "LNL": "lunarlake",
        "ARL": "arrowlake-s",
        "ZEN": "znver1",
        "ZEN+": "znver1",
        "ZEN2": "znver2",
        "ZEN3": "znver3",
        "ZEN4": "znver4",
        "ZEN5": "znver5",
    },
    runs=_runs,
    figure=_figure,
)
