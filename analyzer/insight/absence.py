"""Reports why a core has no figure: it lacks an instruction, or the instruction
that matters has no record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cyclelens.analyzer.insight.hazards import unknown_instruction
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.result import Finding, MissingPrediction
from cyclelens.analyzer.model.source import Severity

CODE = "missing-extension"
_COUNTS = "It dominates the region, so there is no figure."


def sentence(absent: Iterable[MissingPrediction]) -> str:
    """One sentence for all cores without a figure: ``SNB has no FMA; SKL has no AVX-512.``"""
    return f"{'; '.join(each.reason for each in absent)}."


def findings(absent: MissingPrediction, instructions: Sequence[Instruction]) -> Iterator[Finding]:
    """One hazard for all instructions that the core lacks, or one per instruction without a record."""
    if not absent.left_out:
        yield _finding(absent, instructions)
        return
    for index in absent.instructions:
        yield unknown_instruction.finding(
            index, instructions[index], absent.microarchitecture, _COUNTS, why=absent.left_out
        )


def _finding(absent: MissingPrediction, instructions: Sequence[Instruction]) -> Finding:
    """A hazard at the first of the missing instructions."""
    first, more = absent.instructions[0], len(absent.instructions) - 1
    others = f" and {more} more" if more else ""
    return Finding(
        code=CODE,
        severity=Severity.WARNING,
        instruction=first,
        message=f"{absent.reason}: '{instructions[first].text}'{others} cannot run there.",
        label=f"not on {absent.microarchitecture}",
        microarchitecture=absent.microarchitecture,
    )
