"""Lists the hazard detectors. A new detector is a file in ``hazards/`` and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto

from cyclelens.analyzer.insight.hazards import (
    failed_forwarding,
    false_renaming,
    jcc_erratum,
    length_changing_prefix,
    load_words,
    long_instruction,
    microcode,
    move_elimination,
    op_cache_windows,
    page_aliasing,
    partial_word_store,
    register_merge,
    serialization,
    split_by_index,
    sse_avx_mix,
    stack_sync,
    unknown_instruction,
    unlamination,
)
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Finding, Prediction, RegionAnalysis
from cyclelens.analyzer.model.source import Problem

Detector = Callable[[Prediction], Iterator[Finding]]


class HazardCores(Enum):
    """The cores that a hazard is of."""

    ALL = auto()
    UOPS = auto()
    """Intel's, which are simulated in uops."""
    MACRO_OPS = auto()
    """AMD's, which are simulated in macro-ops."""


# Findings of one instruction keep this order: the most important first.
DETECTORS: tuple[tuple[Detector, HazardCores], ...] = (
    (unknown_instruction.find, HazardCores.ALL),
    (length_changing_prefix.find, HazardCores.ALL),
    (long_instruction.find, HazardCores.MACRO_OPS),
    (jcc_erratum.find, HazardCores.ALL),
    (op_cache_windows.find, HazardCores.MACRO_OPS),
    (failed_forwarding.find, HazardCores.ALL),
    (false_renaming.find, HazardCores.MACRO_OPS),
    (page_aliasing.find, HazardCores.ALL),
    (partial_word_store.find, HazardCores.MACRO_OPS),
    (sse_avx_mix.find, HazardCores.ALL),
    (serialization.find, HazardCores.ALL),
    (microcode.find, HazardCores.ALL),
    (unlamination.find, HazardCores.UOPS),
    (split_by_index.find, HazardCores.MACRO_OPS),
    (register_merge.find, HazardCores.ALL),
    (stack_sync.find, HazardCores.ALL),
    (move_elimination.find, HazardCores.ALL),
    (load_words.find, HazardCores.ALL),
)


def find(prediction: Prediction) -> tuple[Finding, ...]:
    """All hazards of a prediction, ordered by instruction."""
    in_uops = registry.get(prediction.microarchitecture).macro_ops is None
    kinds = HazardCores.ALL, HazardCores.UOPS if in_uops else HazardCores.MACRO_OPS
    detectors = [detector for detector, cores in DETECTORS if cores in kinds]
    found = [finding for detector in detectors for finding in detector(prediction)]
    return tuple(sorted(found, key=lambda finding: finding.instruction))


def at_statement(region: RegionAnalysis, finding: Finding) -> Problem:
    """A finding as a problem at its statement; the message names the core unless it is the primary one."""
    statement = region.region.lines[region.instruction_lines[finding.instruction]]
    primary = region.predictions[0].microarchitecture if region.predictions else ""
    prefix = f"{finding.microarchitecture}: " if finding.microarchitecture not in ("", primary) else ""
    return Problem(
        line=statement.line,
        column=statement.column,
        end_column=statement.end_column,
        code=finding.code,
        message=prefix + finding.message,
        severity=finding.severity,
    )
