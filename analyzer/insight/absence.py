"""Instructions that a microarchitecture does not have: no figure there, and what to say instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.result import Finding, Missing
from cyclelens.analyzer.model.source import Severity

CODE = "missing-extension"


def sentence(absent: Iterable[Missing]) -> str:
    """``SNB has no FMA; SKL has no AVX-512.``"""
    return f"{'; '.join(each.reason for each in absent)}."


def finding(absent: Missing, instructions: Sequence[Instruction]) -> Finding:
    """One hazard for all of them, at the first."""
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
