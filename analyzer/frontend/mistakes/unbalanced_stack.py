"""A stack pointer that is not at a return where it was at the start of the function."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.frontend.mistakes.function_flow import FunctionFlow, FunctionStep, Mistake
from cyclelens.analyzer.isa.stack import StackRule

_State = tuple[int | None, int | None]
"""RSP and RBP, in bytes above the stack pointer at the start; None if unknown."""


def find(flow: FunctionFlow) -> Iterator[Mistake]:
    """Returns that take something else than the return address, as far as constants tell."""
    states: dict[int, _State] = {0: (0, None)} if flow.steps else {}
    waiting = list(states)
    while waiting:
        at = waiting.pop()
        after = _behind(flow.steps[at], states[at])
        for to in flow.successors[at]:
            known = states.get(to)
            merged = after if known is None else _merged(known, after)
            if merged != known:
                states[to] = merged
                waiting.append(to)
    pushed = {
        to for at, step in enumerate(flow.steps) if step.mnemonic == "push" for to in flow.successors[at]
    }
    stored = {
        height + step.does.stack.stored
        for at, step in enumerate(flow.steps)
        if step.does.stack.stored is not None and (height := states[at][0]) is not None
    }
    for at, step in enumerate(flow.steps):
        height = states[at][0]
        # PUSH and RET together are a jump, and some functions move their return address.
        if step.is_return and height and at not in pushed and height not in stored:
            side = "below" if height < 0 else "above"
            message = (
                f"rsp is {abs(height)} bytes {side} its value at the start of '{flow.name}', so this takes "
                "something else than the return address."
            )
            yield Mistake("stack-not-restored", message, step.index)


def _behind(step: FunctionStep, state: _State) -> _State:
    stack, frame = state
    change = step.does.stack
    if change.rule is StackRule.UNKNOWN:
        new = None
    else:
        base = stack if change.rule is StackRule.ADDED else frame
        new = None if base is None else base + change.bytes
    if step.does.sets_frame:
        frame = stack
    elif "RBP" in step.writes and not step.is_call:
        frame = None
    return new, frame


def _merged(one: _State, other: _State) -> _State:
    return (
        one[0] if one[0] == other[0] else None,
        one[1] if one[1] == other[1] else None,
    )
