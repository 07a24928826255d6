"""The region's figures by other tools, if installed, for the same instructions.

tool       version  CPU  cycles/iter  note
Cyclelens  0.1.0    SKL         4.00  latency-bound
llvm-mca   14.0.6   SKL         4.00  simulated, without a front end
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

from cyclelens.analyzer.comparisons.predictions import figure, found, gone, limits
from cyclelens.analyzer.comparisons.request import ComparisonRequest
from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable, grid
from cyclelens.analyzer.isa.att_syntax import att_loop
from cyclelens.analyzer.other_tools.registry import TOOLS
from cyclelens.analyzer.other_tools.tool import Tool, ToolError
from cyclelens.analyzer.simulator.failures import Cancelled

COLUMNS = ("tool", "version", "CPU", "cycles/iter", "note")
Row = tuple[str | float | None, ...]
_REFUSED = "External programs are not allowed."


def compare(request: ComparisonRequest) -> Iterator[ComparisonProgress | ComparisonTable]:
    """Compare on every microarchitecture that the options or the marker name. The tools get the decoded
    instructions, not the text, so the text cannot inject directives."""
    title = f"{request.region} by other tools"
    region = found(request, request.options)
    if region is None or not region.predictions:
        yield ComparisonTable(title, COLUMNS, text=region.note if region else gone(request.region))
        return
    allowed = request.options.source.allow_external_programs
    versions = [tool.version() if allowed else None for tool in TOOLS]
    rows: list[Row] = []
    for prediction in region.predictions:
        core = prediction.microarchitecture
        own = (figure(prediction), limits(prediction))
        rows.append(("Cyclelens", version("cyclelens"), core, *own))
        listing = att_loop([template.instruction for template in prediction.instructions])
        for tool, installed in zip(TOOLS, versions, strict=True):
            answer = _answer(tool, core, listing, request) if allowed else (None, _REFUSED)
            rows.append((tool.name, installed, core, *answer))
            yield ComparisonProgress(len(rows), len(region.predictions) * (1 + len(TOOLS)))
    yield ComparisonTable(title, COLUMNS, tuple(rows), grid(COLUMNS, rows))


def _answer(tool: Tool, core: str, listing: str, request: ComparisonRequest) -> tuple[float | None, str]:
    cancel = request.cancel or (lambda: False)
    try:
        return tool.cycles(listing, core, cancel), tool.means
    except ToolError as error:
        if cancel():
            raise Cancelled from None
        return None, str(error)
