"""How to simulate a region, from its marker and the options."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.common.suggestions import among
from cyclelens.analyzer.engine.settings import MARKERS
from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.frontend.source.scanner import LineIndex
from cyclelens.analyzer.insight.work import stated
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import Target
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.source import LINE_BYTES, Placement, Problem, Region, Severity
from msgspec import Struct

ALIGNMENTS = range(LINE_BYTES)
"""Offsets within a 64-byte line."""


class Plan(Struct, frozen=True):
    """How to simulate a region."""

    models: tuple[Microarchitecture, ...]
    mode: Mode
    placement: Placement


def at_line(
    line: int, text: str | None, code: str, message: str, severity: Severity = Severity.ERROR
) -> Problem:
    """A problem that covers a whole line."""
    width = 0
    if text is not None:
        lines = LineIndex(SourceText(text))
        width = lines.span(lines.start(line), len(text))[2]
    return Problem(line, 0, width, code, message, severity)


def plan(region: Region, target: Target, text: str | None) -> tuple[Plan, list[Problem]]:
    """Combine the marker and the options; a bad marker option becomes a problem at the marker."""
    problems: list[Problem] = []

    def problem(code: str, message: str, severity: Severity = Severity.ERROR) -> None:
        problems.append(at_line(region.first_line, text, code, message, severity))

    names: Sequence[str] = target.microarchitectures
    mode = target.mode
    placement = region.placement if target.alignment is None else Placement(target.alignment)
    placement = Placement(0, 1) if target.anywhere else placement
    for key, value in region.options.items():
        setting = MARKERS.get(key)
        if setting is None:
            message = f"unknown option '{key}'{among(key, sorted(MARKERS))}"
            problem("unknown-option", message, Severity.WARNING)
        elif key in target.forced:
            continue
        elif setting.name == "microarchitectures":
            names = [name for name in value.split(",") if name]
        elif setting.name == "mode":
            try:
                mode = Mode(value.lower())
            except ValueError:
                problem("bad-option-value", f"unknown mode '{value}'; known are {', '.join(Mode)}")
        elif setting.name == "alignment":
            if value.isascii() and value.isdecimal() and int(value) in ALIGNMENTS:
                placement = Placement(int(value))
            else:
                problem("bad-option-value", f"'{value}' is not an alignment: use 0 to {ALIGNMENTS[-1]} bytes")
        elif setting.name == "work" and stated(value) is None:
            expected = "a number of elements (per=8) or of bytes (per=32B)"
            problem("bad-option-value", f"'{value}' is not an amount of work: use {expected}")
    models = []
    for name in dict.fromkeys(name.strip().upper() for name in names):
        try:
            model = registry.get(name)
            if model not in models:
                models.append(model)
        except registry.UnknownMicroarchitecture as error:
            problem("unknown-microarchitecture", str(error))
    return Plan(tuple(models), mode, placement), problems
