"""A comparison whose flags another instruction overwrites before a jump reads them."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.frontend.mistakes.function_flow import FLAGS, FunctionFlow, Mistake

_COMPARES = (
    "cmp",
    "test",
    "comis",
    "ucomis",
    "vcomis",
    "vucomis",
    "ptest",
    "vptest",
    "vtestp",
    "kortest",
    "ktest",
)
"""Beginnings of the instructions that give nothing but flags."""
_COUNTS_DOWN = ("dec", "sub")
"""Counters of loops: the jump behind them is meant for them."""


def find(flow: FunctionFlow) -> Iterator[Mistake]:
    """Comparisons that nothing reads, where a jump, SETcc or CMOVcc reads the flags of their overwriter."""
    for at, step in enumerate(flow.steps):
        compared = step.writes & FLAGS
        if not compared or step.writes != compared or not step.mnemonic.startswith(_COMPARES):
            continue
        over = _overwriter(flow, at, compared)
        if over is None or flow.steps[over].mnemonic in _COUNTS_DOWN:
            continue
        reader = _reader(flow, over)
        if reader is not None:
            last = flow.steps[reader]
            message = (
                f"{flow.steps[over].written} overwrites the flags of {step.written} in line {{0}} before "
                f"{last.written} in line {{1}} reads them."
            )
            yield Mistake("flags-overwritten", message, flow.steps[over].index, (step.index, last.index))


def _overwriter(flow: FunctionFlow, compare: int, compared: frozenset[str]) -> int | None:
    """The step that overwrites the comparison's flags; None if another one may read some of them first, or if
    the paths differ."""
    left, at = compared, compare
    while len(flow.successors[at]) == 1:
        (at,) = flow.successors[at]
        step = flow.steps[at]
        if step.reads & left or step.leaves is not None or at <= compare:
            return None
        written = step.does.effects.overwritten & left
        left -= written
        if not left:
            return at
    return None


def _reader(flow: FunctionFlow, over: int) -> int | None:
    """The next step that reads flags on the straight way from the overwriter."""
    at = over
    while len(flow.successors[at]) == 1:
        (at,) = flow.successors[at]
        step = flow.steps[at]
        if step.reads & FLAGS:
            return at
        if step.writes & FLAGS or step.leaves is not None or at <= over:
            return None
    return None
