"""Instructions of a region as its text spells them."""

from __future__ import annotations

from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis
from msgspec import Struct


def text(region: RegionAnalysis, prediction: Prediction, instruction: int) -> str:
    """An instruction as written; as decoded if its statement made several."""
    # Ascending: the instructions of a statement are adjacent.
    around = region.instruction_lines[max(0, instruction - 1) : instruction + 2]
    statement = region.instruction_lines[instruction]
    if around.count(statement) == 1:
        return " ".join(region.region.lines[statement].text.split())
    return prediction.instructions[instruction].instruction.text


def texts(region: RegionAnalysis, prediction: Prediction) -> tuple[str, ...]:
    """Every instruction as written."""
    return tuple(text(region, prediction, index) for index in range(len(prediction.instructions)))


class PlacedInstruction(Struct, frozen=True):
    """An instruction with its line; as text ``line 16: add $32, %rsi``."""

    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


def with_places(region: RegionAnalysis, prediction: Prediction) -> tuple[PlacedInstruction, ...]:
    """Each instruction with its line."""
    return tuple(
        PlacedInstruction(wording.place(region.region.lines[statement]), written)
        for statement, written in zip(region.instruction_lines, texts(region, prediction), strict=True)
    )
