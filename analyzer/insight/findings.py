"""Lists the hazard detectors. A new detector is a file in ``hazards/`` and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
from cyclelens.analyzer.model.result import Finding, Prediction, RegionAnalysis
from cyclelens.analyzer.model.source import Problem

Detector = Callable[[Prediction], Iterator[Finding]]

# Findings of one instruction keep this order: the most important first.
DETECTORS: tuple[Detector, ...] = (
    unknown_instruction.find,
    length_changing_prefix.find,
    long_instruction.find,
    jcc_erratum.find,
    op_cache_windows.find,
    failed_forwarding.find,
    false_renaming.find,
    page_aliasing.find,
    partial_word_store.find,
    sse_avx_mix.find,
    serialization.find,
    microcode.find,
    unlamination.find,
    split_by_index.find,
    register_merge.find,
    stack_sync.find,
    move_elimination.find,
    load_words.find,
)


def find(prediction: Prediction) -> tuple[Finding, ...]:
    """All hazards of a prediction, ordered by instruction."""
    found = [finding for detector in DETECTORS for finding in detector(prediction)]
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
