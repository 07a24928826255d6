"""``unknown-instruction``: the tables have no figures for an instruction, so the region's figure is
a lower bound or absent."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.insight import vocabulary
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity

CODE = "unknown-instruction"
_X87 = "FPU"
_STACK = "the x87 stack"


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per instruction without figures."""
    unit = vocabulary.of(prediction.microarchitecture).unit
    consequence = (
        f"It is counted as one uop without a {unit} and "
        "without dependencies; its real cost comes on top of the figure and is not known."
    )
    for index, template in enumerate(prediction.instructions):
        if template.facts is None:
            yield finding(index, template.instruction, prediction.microarchitecture, consequence)


def finding(
    index: int, instruction: Instruction, microarchitecture: str, consequence: str, *, why: str = ""
) -> Finding:
    """``consequence``: a sentence on what it means for the figure; ``why``: the reason as in ``LeftOut``."""
    if any(name.startswith(_X87) for name in instruction.extensions):
        lead = why if why.startswith(_STACK) else "the x87 unit is not modelled"
        reason = f"{lead[0].upper()}{lead[1:]}: there are no figures for '{instruction.mnemonic}' on"
    elif instruction.mnemonic:
        reason = f"There are no figures for '{instruction.mnemonic}' on"
    else:
        reason = f"The bytes {instruction.code.hex()} are not a known instruction on"
    return Finding(
        code=CODE,
        severity=Severity.WARNING,
        instruction=index,
        message=f"{reason} {microarchitecture}. {consequence}",
        label="unknown instruction",
        microarchitecture=microarchitecture,
    )
