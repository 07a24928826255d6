"""Finds the pointers and counters of a loop, and unrolls its body.

Where a pointer advances by a constant, only the last copy of the body contains the addition, and the others
change their displacements instead. The comparison stays in the last copy, too.

add $32, %rsi        ->    vmovups 32(%rsi), %ymm1  ...  add $64, %rsi
"""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.model.instruction import OperandKind
from cyclelens.analyzer.rewrites.loops.body import Body, Item, moved
from cyclelens.analyzer.rewrites.site import Site
from cyclelens.analyzer.uops.registers import canonical
from msgspec import Struct

_COMPARISONS = ("cmp", "test")
_ADDITIONS = ("add", "sub", "inc", "dec", "lea")


class PointerStep(Struct, frozen=True):
    """A register that one instruction advances by a constant, and that only addresses and the loop's
    comparison read."""

    register: str
    """Its canonical name."""
    index: int
    """Index of the instruction that advances it."""
    amount: int


class Steps(Struct, frozen=True):
    """How a loop advances and ends."""

    steps: Mapping[str, PointerStep]
    """Steps by canonical register."""
    comparison: int | None
    """Index of the instruction whose flags the jump reads; None if it is one of the steps."""

    def at(self, index: int) -> PointerStep | None:
        """The step made by the instruction ``index``, if any."""
        return next((step for step in self.steps.values() if step.index == index), None)


def step_of(body: Body, index: int) -> PointerStep | None:
    """The constant step of an instruction that only adds to a register; None for any other."""
    instruction = body.templates[index].instruction
    operands, name = instruction.operands, instruction.mnemonic
    if name not in _ADDITIONS or not operands or operands[0].kind is not OperandKind.REGISTER:
        return None
    register = operands[0].register or ""
    if register != canonical(register) and not register.startswith("E") and not register.endswith("D"):
        return None  # an 8- or 16-bit register
    amount: int | None = None
    if name in ("inc", "dec"):
        amount = 1 if name == "inc" else -1
    elif name in ("add", "sub") and len(operands) == 2 and operands[1].kind is OperandKind.IMMEDIATE:
        amount = instruction.immediate
        amount = -amount if amount is not None and name == "sub" else amount
    elif name == "lea" and operands[1].base == register and not operands[1].index:
        amount = operands[1].displacement
    return PointerStep(canonical(register), index, amount) if amount else None


def steps_of(body: Body) -> Steps | None:
    """The steps and comparison of a loop; None if its end condition does not allow unrolling."""
    decides = _decides(body)
    if decides is None:
        return None
    writers: dict[str, list[int]] = {}
    for index in range(body.last):
        for register in body.written(index):
            writers.setdefault(register, []).append(index)
    steps = {}
    for index in range(body.last):
        step = step_of(body, index)
        if step is None or len(writers[step.register]) != 1:
            continue
        if all(
            _as_address(body, other, step.register)
            for other in range(body.last)
            if other not in (index, decides)
        ):
            steps[step.register] = step
    comparison = None if any(step.index == decides for step in steps.values()) else decides
    if comparison is not None and not _comparable(body, comparison, steps, writers):
        return None
    return Steps(steps, comparison) if _flags_fit(body, steps, decides) else None


def _decides(body: Body) -> int | None:
    """Index of the instruction whose flags the jump reads; None unless one sets them all."""
    wanted = set(body.templates[body.last].flag_inputs)
    for index in range(body.last - 1, -1, -1):
        found = wanted.intersection(body.templates[index].flag_outputs)
        if found:
            return index if found == wanted else None
    return None


def _as_address(body: Body, index: int, register: str) -> bool:
    """Whether an instruction uses a register only in 64-bit addresses, or not at all."""
    if register not in body.touched(index):
        return True
    template = body.templates[index]
    operands = template.instruction.operands
    named = [name for each in operands for name in (each.base, each.index) if name]
    own = [each.register for each in operands if each.register and canonical(each.register) == register]
    if own or any(canonical(name) == register and name != register for name in named):
        return False
    return register in named and not any(each.canonical == register for each in template.register_inputs)


def _comparable(
    body: Body, index: int, steps: Mapping[str, PointerStep], writers: Mapping[str, list[int]]
) -> bool:
    """Whether one comparison can serve several copies.

    It can if it reads only registers that do not change and steps that precede it."""
    template = body.templates[index]
    if template.instruction.mnemonic not in _COMPARISONS or template.memory_operands:
        return False
    for register in body.touched(index):
        if register in steps:
            if steps[register].index > index:
                return False
        elif register in writers:
            return False
    return True


def _flags_fit(body: Body, steps: Mapping[str, PointerStep], decides: int) -> bool:
    """Whether only the jump reads flags of instructions that some copies omit."""
    special = {step.index for step in steps.values()} | {decides}
    latest: int | None = None
    for index in range(body.last):
        template = body.templates[index]
        if template.flag_inputs and (latest is None or latest in special):
            return False
        if template.flag_outputs:
            latest = index
    return True


def unrolled(body: Body, times: int) -> list[Item] | None:
    """The statements of ``times`` copies of the body; None if one of them cannot be written."""
    found = steps_of(body)
    if found is None:
        return None
    items: list[Item] = []
    for copy in range(times):
        is_last = copy == times - 1
        for index, site in enumerate(body.sites[:-1]):
            step = found.at(index)
            if step is not None:
                if is_last:
                    items.append(Item(index, stepped(site, step, times)))
            elif index != found.comparison:
                text = moved(site, _distance(body, found, index, copy, is_last))
                if text is None:
                    return None
                items.append(Item(index, text))
            elif is_last:
                items.append(Item(index, site.statement.text))
    items.append(Item(body.last, body.sites[-1].statement.text))
    return items


def _distance(body: Body, found: Steps, index: int, copy: int, is_last: bool) -> int:
    """Bytes to add to an instruction's address in copy number ``copy``."""
    distance = 0
    for operand in body.templates[index].instruction.operands:
        for register, scale in ((operand.base, 1), (operand.index, operand.scale)):
            step = found.steps.get(register or "")
            if step is None:
                continue
            behind = step.index < index
            copies = 0 if behind and is_last else copy + behind
            distance += copies * step.amount * scale
    return distance


def stepped(site: Site, step: PointerStep, times: int) -> str:
    """The statement that makes ``times`` steps at once."""
    amount, operands = step.amount * times, site.operands
    instruction = site.template.instruction
    if instruction.mnemonic == "lea":
        text = moved(site, amount - step.amount)
        return text or site.statement.text
    name = site.statement.text.split()[0]
    suffix = name[3:] if site.att and len(name) == 4 else ""
    if -128 <= amount < 128 or amount != 128:
        return site.write(f"{'sub' if amount < 0 else 'add'}{suffix}", operands[0], site.number(abs(amount)))
    return site.write(f"sub{suffix}", operands[0], site.number(-amount))
