"""Draws a bar for the cycles that the instructions of a line lose, as a share of the iteration's cycles.

add $0x1234, %ax                     ▇ LCP stall
dec %r15                             ▁
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from cyclelens.analyzer.hints.layout import END_OF_LINE
from cyclelens.analyzer.insight import vocabulary, wording
from cyclelens.analyzer.model.result import Hint, RegionAnalysis

KIND = "heat"

BARS = "▁▂▃▄▅▆▇█"
"""The first bar is up to an eighth of the cycles, the second up to two eighths, and so on."""

WORTH_A_BAR = 0.02
"""Smallest share of the cycles that gets a bar."""


def hints(region: RegionAnalysis) -> Iterator[Hint]:
    """A hint per line that loses cycles; none if the prediction has no account of lost slots."""
    prediction = region.predictions[0] if region.predictions else None
    if prediction is None or prediction.account is None or prediction.cycles_per_iteration <= 0:
        return
    words = vocabulary.of(prediction.microarchitecture)
    lost: defaultdict[int, float] = defaultdict(float)
    reasons: defaultdict[int, list[str]] = defaultdict(list)
    for index, statement in enumerate(region.instruction_lines):
        if reason := wording.lost(words, prediction.account, index):
            line = region.region.lines[statement].line
            lost[line] += prediction.account.lost_cycles(index)
            reasons[line].append(reason)
    for line, cycles in lost.items():
        share = cycles / prediction.cycles_per_iteration
        if share >= WORTH_A_BAR:
            yield Hint(
                line=line,
                column=END_OF_LINE,
                label=BARS[min(int(share * len(BARS)), len(BARS) - 1)],
                tooltip=f"{share:.0%} of the cycles. {'; '.join(dict.fromkeys(reasons[line]))}.",
                kind=KIND,
            )
