"""What makes a prediction less certain than others."""

from __future__ import annotations

from cyclelens.analyzer.microarchitectures.values import confidence
from cyclelens.analyzer.model.result import Prediction


def is_uncertain(prediction: Prediction) -> bool:
    """True if some instruction has no figures at all: the real figure may be much higher."""
    return any(template.facts is None for template in prediction.instructions)


def doubt(prediction: Prediction) -> str:
    """What to write behind a figure that is not to be taken at face value: `` (uncertain)`` without figures
    of some instruction, `` (approximate)`` on a microarchitecture whose values are
    not all known; else empty."""
    if is_uncertain(prediction):
        return " (uncertain)"
    return " (approximate)" if confidence(prediction.microarchitecture) else ""


def reservations(prediction: Prediction) -> tuple[str, ...]:
    """Sentences on why to read the figure with care; empty for a prediction of full confidence."""
    total = len(prediction.instructions)
    name = prediction.microarchitecture
    unknown = sum(template.facts is None for template in prediction.instructions)
    estimated = sum(
        template.facts is not None and template.facts.constructed for template in prediction.instructions
    )
    doubts = confidence(name)
    sentences = [f"Confidence: {doubts}."] if doubts else []
    if unknown:
        have = "instruction has" if unknown == 1 else "instructions have"
        sentences.append(f"{unknown} {have} no figures on {name}: the real loop may take longer.")
    if estimated:
        sentences.append(
            f"The figures of {estimated} of {total} instructions on {name} were put together from published "
            "tables, not measured."
        )
    return tuple(sentences)
