"""A register that is read although nothing has written it since the start of the function."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.frontend.mistakes.function_flow import FunctionFlow, FunctionStep, Mistake, spread
from cyclelens.analyzer.frontend.mistakes.unrestored_register import CALLERS, COPIES

_UNDEFINED = frozenset({
    "RAX", "R11", *CALLERS,
    *(f"XMM{number}" for number in range(8, 32)), *(f"K{number}" for number in range(8)),
})  # fmt: skip
"""Registers without an argument under System V and Windows. R10 may hold a static chain."""
_SETS_ALL_BITS = ("pcmpeq", "vpcmpeq", "vpternlog", "sbb", "kxnor")
"""Their result does not depend on the register when all operands are the same."""
_KEEPS_REST = ("cvt", "vcvt", "sqrt", "vsqrt", "round", "vround", "rcp", "vrcp", "rsqrt", "vrsqrt", "movlp",
               "movhp", "vmovlp", "vmovhp", "pinsr", "vpinsr", "insert", "vinsert", "vgather", "vpgather",
               "movs", "vmovs", "vgetexp", "vgetmant", "vrndscale", "vreduce", "unpck", "vunpck",
               "punpck", "vpunpck")  # fmt: skip
"""They may take what they do not compute from a register, whatever it holds."""


def find(flow: FunctionFlow) -> Iterator[Mistake]:
    """The first read of each such register, if no way from the start to it writes the register."""
    if not flow.is_declared:
        return

    def behind(at: int, before: frozenset[str]) -> frozenset[str]:
        step = flow.steps[at]
        return frozenset() if step.is_call else before - step.writes

    unwritten = spread(flow, _UNDEFINED, behind)
    told = set[str]()
    for at, step in enumerate(flow.steps):
        for name in sorted((step.reads & unwritten[at]) - told):
            if _is_meant(step, name) or _may_be_written(flow, at, name):
                continue
            told.add(name)
            message = f"Nothing in '{flow.name}' has written {name.lower()} before this reads it."
            yield Mistake("register-not-written", message, step.index)


def _is_meant(step: FunctionStep, name: str) -> bool:
    mnemonic = step.mnemonic
    if name in step.does.addresses:
        return False
    if name.startswith("XMM") and mnemonic.startswith(_KEEPS_REST):
        return True
    if mnemonic.startswith(_SETS_ALL_BITS) and len({each for each in step.reads if len(each) > 1}) == 1:
        return True
    # AL counts the vector arguments of a function with a variable number of them.
    return mnemonic in COPIES or (name == "RAX" and mnemonic == "test")


def _may_be_written(flow: FunctionFlow, place: int, name: str) -> bool:
    """Whether a step writes the register on a way from the start that does not pass the place."""
    return any(
        at != place and (flow.steps[at].is_call or name in flow.steps[at].writes)
        for at in flow.reached([0], lambda at: at != place)
    )
