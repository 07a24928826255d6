"""A register of the caller that a function changes and does not restore."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.frontend.mistakes.function_flow import FunctionFlow, FunctionStep, Mistake, spread

CALLERS = frozenset({"RBX", "RBP", "R12", "R13", "R14", "R15"})
"""Registers that a function has to preserve under both calling conventions, System V's and Windows'."""
COPIES = ("push", "mov", "movq", "movd", "vmovq", "movaps", "movups", "movdqa", "movdqu", "xchg", "vmovaps",
          "vmovups", "vmovdqa", "vmovdqu")  # fmt: skip
"""Instructions that save a register or bring it back."""
_RESTORE = (*COPIES, "pop", "leave")


def find(flow: FunctionFlow) -> Iterator[Mistake]:
    """Registers that are changed on some way to a return. A register that is never saved cannot be
    restored; one that is saved counts as restored once it is popped, loaded or copied."""
    if not flow.is_declared:
        return
    saved = frozenset[str]().union(*(step.reads for step in flow.steps if step.mnemonic in COPIES))
    changing: dict[str, FunctionStep] = {}

    def behind(at: int, before: frozenset[str]) -> frozenset[str]:
        step = flow.steps[at]
        if step.is_call:
            return before
        written = step.writes & CALLERS
        restored = written & saved if step.mnemonic in _RESTORE else frozenset[str]()
        for name in written - restored:
            changing.setdefault(name, step)
        return before - restored | written - restored

    changed = spread(flow, frozenset(), behind)
    told = set[str]()
    for at, step in enumerate(flow.steps):
        for name in sorted(changed[at] - told) if step.is_return else ():
            told.add(name)
            message = (
                f"{name.lower()} belongs to the caller: '{flow.name}' changes it here, and returns in line "
                "{0} without restoring it."
            )
            yield Mistake("register-not-restored", message, changing[name].index, (step.index,))
