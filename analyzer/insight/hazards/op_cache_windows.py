"""``crowded-window``, ``straddling-loop``: a loop's op cache windows are slow to read (docs/zen5.md)."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.macro_ops import MacroOpRules
from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity
from cyclelens.analyzer.uops.op_cache import EIGHTHS, WINDOW, layout

CROWDED = "crowded-window"
STRADDLING = "straddling-loop"
CODES = frozenset({CROWDED, STRADDLING})
_STEP = 16
"""Distance, in bytes, of the positions that are tried."""


def find(prediction: Prediction) -> Iterator[Finding]:
    """Findings only if reading the windows limits the loop."""
    rules = registry.get(prediction.microarchitecture).macro_ops
    if rules is None or prediction.mode is not Mode.LOOP or "DSB" not in prediction.bottlenecks:
        return
    yield from _crowded(prediction, rules)
    yield from _straddling(prediction, rules)


def _crowded(prediction: Prediction, rules: MacroOpRules) -> Iterator[Finding]:
    """One finding at the first instruction of every window that takes longer to read than to dispatch."""
    width = registry.get(prediction.microarchitecture).issue_width
    placed = layout(prediction.instructions, prediction.alignment, rules)
    for window in placed.windows:
        cycles = window.eighths / EIGHTHS
        at_once = (2 if rules.line_pairs else 1) * rules.line_entries
        if window.entries <= at_once or cycles <= window.entries / width:
            continue
        yield Finding(
            code=CROWDED,
            severity=Severity.WARNING,
            instruction=window.first,
            message=(
                f"Crowded window: {window.entries} entries of the op cache begin within {WINDOW} bytes of "
                f"code, more than {_lines_at_once(rules)}, and take {cycles:.2f} cycles to read; "
                f"{window.entries / width:.2f} are enough to dispatch them.{_better(prediction, rules)}"
                f"{' Two short windows are read faster than one that is full.' if rules.line_pairs else ''}"
            ),
            label="crowded window",
            microarchitecture=prediction.microarchitecture,
        )


def _lines_at_once(rules: MacroOpRules) -> str:
    """The lines that are read in a cycle, in words."""
    return f"{'two lines' if rules.line_pairs else 'a line'} of {rules.line_entries}"


def _straddling(prediction: Prediction, rules: MacroOpRules) -> Iterator[Finding]:
    """One finding at the loop's first instruction if the loop spans more windows than it needs, and
    aligning it would be faster."""
    templates = prediction.instructions
    size = sum(template.instruction.length for template in templates)
    reached = (prediction.alignment + size - 1) // WINDOW + 1
    fewest = -(-size // WINDOW)
    here, aligned = layout(templates, prediction.alignment, rules), layout(templates, 0, rules)
    if reached <= fewest or aligned.eighths >= here.eighths:
        return
    yield Finding(
        code=STRADDLING,
        severity=Severity.WARNING,
        instruction=0,
        message=(
            f"The loop of {size} bytes begins {prediction.alignment} bytes into a window of the op "
            f"cache and lies in {reached} windows of {WINDOW} bytes instead of {fewest}: they take "
            f"{here.eighths / EIGHTHS:.2f} cycles per iteration to read, and "
            f"{aligned.eighths / EIGHTHS:.2f} if the loop is aligned to {WINDOW} bytes."
        ),
        label="loop straddles windows",
        microarchitecture=prediction.microarchitecture,
    )


def _better(prediction: Prediction, rules: MacroOpRules) -> str:
    """A sentence on the positions where the loop is read faster; empty if there are none."""
    here = layout(prediction.instructions, prediction.alignment, rules).eighths
    costs = {
        place: layout(prediction.instructions, place, rules).eighths for place in range(0, WINDOW, _STEP)
    }
    best = min(costs.values())
    if best >= here:
        return ""
    places = wording.offsets([place for place, cost in costs.items() if cost == best])
    return (
        f" The whole loop takes {here / EIGHTHS:.2f} cycles to read here, and {best / EIGHTHS:.2f} if it "
        f"begins {places} bytes after a boundary of {WINDOW}."
    )
