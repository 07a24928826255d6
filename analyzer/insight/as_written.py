"""The instructions of a region in the words and the syntax of its text."""

from __future__ import annotations

from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis


def text(region: RegionAnalysis, prediction: Prediction, instruction: int) -> str:
    """An instruction as it is written; as it was decoded where its statement became several."""
    # Ascending: the instructions of a statement are neighbours.
    around = region.instruction_lines[max(0, instruction - 1) : instruction + 2]
    statement = region.instruction_lines[instruction]
    if around.count(statement) == 1:
        return " ".join(region.region.lines[statement].text.split())
    return prediction.instructions[instruction].instruction.text


def texts(region: RegionAnalysis, prediction: Prediction) -> tuple[str, ...]:
    """Every instruction as it is written."""
    return tuple(text(region, prediction, index) for index in range(len(prediction.instructions)))


def with_places(region: RegionAnalysis, prediction: Prediction) -> tuple[str, ...]:
    """What to call each instruction: ``line 16: add $32, %rsi``."""
    return tuple(
        f"{wording.place(region.region.lines[statement])}: {written}"
        for statement, written in zip(region.instruction_lines, texts(region, prediction), strict=True)
    )
