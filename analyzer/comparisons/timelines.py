"""The region's timeline: successive iterations, every uop by cycle, on each microarchitecture.

SKL (Skylake): 4.00 cycles/iter, latency-bound
round  instruction                ports  0123456789
    0  vmovups (%rsi), %ymm1   p2 of 23  QI....D....ER
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.comparisons.predictions import found, gone
from cyclelens.analyzer.comparisons.request import ComparisonRequest
from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable
from cyclelens.analyzer.insight import as_written, vocabulary, wording
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Analysis, RegionAnalysis
from cyclelens.analyzer.reports import html, timeline
from msgspec.structs import replace


def compare(request: ComparisonRequest) -> Iterator[ComparisonProgress | ComparisonTable]:
    """Yield a drawing instead of rows; ``extra`` describes its parts."""
    title = f"Timeline of {request.region}"
    detail = replace(request.options.detail, trace=True, account=request.html)
    region = found(request, replace(request.options, detail=detail))
    if region is None or not region.predictions:
        yield ComparisonTable(title, text=region.note if region else gone(request.region))
        return
    text, extra = _drawing(region)
    if request.html:
        extra["html"] = html.render(Analysis((region,), ()), title)
    yield ComparisonTable(title, text=text, extra=extra)


def _drawing(region: RegionAnalysis) -> tuple[str, dict[str, object]]:
    """All lines, and for each line the data that an editor needs for navigation."""
    lines: list[str] = []
    marks: list[tuple[int, int, int, str]] = []
    about: list[dict[str, object]] = []
    legends: list[tuple[int, str]] = []
    for prediction in region.predictions:
        model = registry.get(prediction.microarchitecture)
        texts = as_written.texts(region, prediction)
        drawn = timeline.draw(prediction, texts=texts)
        heading = (
            f"{model.name} ({model.title}): {wording.figure_of(prediction)} cycles/iter, "
            f"{wording.bound_of(prediction)}"
        )
        lines += ["", heading] if lines else [heading]
        marks.append((len(lines) - 1, 0, len(heading), "heading"))
        about += [{}] * (len(lines) - len(about))
        legends.append((len(lines) - 1, vocabulary.of(model.name).timeline_legend))
        marks += [(mark.line + len(lines), mark.begin, mark.end, mark.kind) for mark in drawn.marks]
        lines += drawn.lines
        for number, round_, column, note in zip(
            drawn.instructions, drawn.rounds, drawn.columns, drawn.notes, strict=True
        ):
            if number is None:
                about.append({})
                continue
            about.append(
                {
                    "iteration": round_,
                    "column": column,
                    "name": texts[number],
                    "waits": note,
                    "source": region.region.lines[region.instruction_lines[number]].line,
                }
            )
    return "\n".join(lines), {
        "marks": [list(mark) for mark in marks],
        "lines": about,
        "legends": [list(legend) for legend in legends],
    }
