"""Finds the pointers and counters of a loop, which its copies need only once if it is unrolled.

A pointer that advances by a constant needs one addition for all copies; the other copies change their
displacements instead. The comparison is needed once, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.isa.displacements import moved
from cyclelens.analyzer.isa.encoder import encodings
from cyclelens.analyzer.isa.register_use import used_registers
from cyclelens.analyzer.model.instruction import OperandKind
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.uops.registers import canonical
from msgspec import Struct

_COMPARISONS = ("cmp", "test")
_ADDITIONS = ("add", "sub", "inc", "dec", "lea")


class UnrolledLoop(Struct, frozen=True, dict=True):
    """The instructions of a loop; the last one is its conditional jump."""

    templates: Sequence[InstructionTemplate]

    @property
    def last(self) -> int:
        """Index of the jump."""
        return len(self.templates) - 1

    @cached_property
    def touched(self) -> tuple[frozenset[str], ...]:
        """Canonical registers that each instruction reads or writes, explicitly or implicitly."""
        return tuple(map(_touched, self.templates))

    def written(self, index: int) -> set[str]:
        """Canonical registers that an instruction writes."""
        return {operand.canonical for operand in self.templates[index].register_outputs}


def _touched(template: InstructionTemplate) -> frozenset[str]:
    operands = (*template.register_inputs, *template.address_inputs, *template.register_outputs)
    return used_registers(template.instruction.code).union([operand.canonical for operand in operands])


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


def step_of(loop: UnrolledLoop, index: int) -> PointerStep | None:
    """The constant step of an instruction that only adds to a register; None for any other."""
    instruction = loop.templates[index].instruction
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


def steps_of(loop: UnrolledLoop) -> Steps | None:
    """The steps and comparison of a loop; None if its end condition does not allow unrolling."""
    decides = _decides(loop)
    if decides is None:
        return None
    writers: dict[str, list[int]] = {}
    for index in range(loop.last):
        for register in loop.written(index):
            writers.setdefault(register, []).append(index)
    steps = {}
    for index in range(loop.last):
        step = step_of(loop, index)
        if step is None or len(writers[step.register]) != 1:
            continue
        if all(
            _as_address(loop, other, step.register)
            for other in range(loop.last)
            if other not in (index, decides)
        ):
            steps[step.register] = step
    comparison = None if any(step.index == decides for step in steps.values()) else decides
    if comparison is not None and not _comparable(loop, comparison, steps, writers):
        return None
    return Steps(steps, comparison) if _flags_fit(loop, steps, decides) else None


def _decides(loop: UnrolledLoop) -> int | None:
    """Index of the instruction whose flags the jump reads; None unless one sets them all."""
    wanted = set(loop.templates[loop.last].flag_inputs)
    for index in range(loop.last - 1, -1, -1):
        found = wanted.intersection(loop.templates[index].flag_outputs)
        if found:
            return index if found == wanted else None
    return None


def _as_address(loop: UnrolledLoop, index: int, register: str) -> bool:
    """Whether an instruction uses a register only in 64-bit addresses, or not at all."""
    if register not in loop.touched[index]:
        return True
    template = loop.templates[index]
    operands = template.instruction.operands
    named = [name for each in operands for name in (each.base, each.index) if name]
    own = [each.register for each in operands if each.register and canonical(each.register) == register]
    if own or any(canonical(name) == register and name != register for name in named):
        return False
    return register in named and not any(each.canonical == register for each in template.register_inputs)


def _comparable(
    loop: UnrolledLoop, index: int, steps: Mapping[str, PointerStep], writers: Mapping[str, list[int]]
) -> bool:
    """Whether one comparison can serve several copies.

    It can if it reads only registers that do not change and steps that precede it."""
    template = loop.templates[index]
    if template.instruction.mnemonic not in _COMPARISONS or template.memory_operands:
        return False
    for register in loop.touched[index]:
        if register in steps:
            if steps[register].index > index:
                return False
        elif register in writers:
            return False
    return True


def _flags_fit(loop: UnrolledLoop, steps: Mapping[str, PointerStep], decides: int) -> bool:
    """Whether only the jump reads flags of instructions that some copies omit."""
    special = {step.index for step in steps.values()} | {decides}
    latest: int | None = None
    for index in range(loop.last):
        template = loop.templates[index]
        if template.flag_inputs and (latest is None or latest in special):
            return False
        if template.flag_outputs:
            latest = index
    return True


def distance(steps: Steps, template: InstructionTemplate, index: int, copy: int, times: int) -> int:
    """Bytes to add to the address of the instruction ``index`` in copy number ``copy`` of ``times``."""
    bytes_ahead = 0
    for operand in template.instruction.operands:
        for register, scale in ((operand.base, 1), (operand.index, operand.scale)):
            step = steps.steps.get(register or "")
            if step is None:
                continue
            behind = step.index < index
            copies = 0 if behind and copy == times - 1 else copy + behind
            bytes_ahead += copies * step.amount * scale
    return bytes_ahead


def together(step: PointerStep, times: int) -> tuple[str, int]:
    """Mnemonic and constant of the instruction that makes ``times`` steps at once.

    128 does not fit a signed byte, but -128 does."""
    amount = step.amount * times
    if abs(amount) == 128:
        return "add" if amount < 0 else "sub", -128
    return ("sub" if amount < 0 else "add"), abs(amount)


def unrolled(loop: UnrolledLoop, times: int) -> list[tuple[int, bytes]] | None:
    """``times`` copies of the loop without its jump: the index of each instruction and its code. None if its
    end condition does not allow that. Raises ValueError if an instruction cannot be encoded.
    """
    if any(each.is_branch or each.rsp_change or each.instruction.repeat for each in loop.templates[:-1]):
        return None
    steps = steps_of(loop) if loop.templates[loop.last].flag_inputs else None
    if steps is None:
        return None
    found = []
    for copy in range(times):
        is_last = copy == times - 1
        for index, template in enumerate(loop.templates[:-1]):
            code = template.instruction.code
            step = steps.at(index)
            if step is None and index != steps.comparison:
                code = moved(code, distance(steps, template, index, copy, times))
            elif not is_last:
                continue
            elif step is not None:
                code = _stepped(code, template, step, times)
            found.append((index, code))
    return found


def _stepped(code: bytes, template: InstructionTemplate, step: PointerStep, times: int) -> bytes:
    instruction = template.instruction
    if instruction.mnemonic == "lea":
        return moved(code, step.amount * (times - 1))
    mnemonic, amount = together(step, times)
    operands = (instruction.operands[0].register or "", amount)
    # A short form keeps the lowest byte of a number that it has no room for.
    fitting = [code for code in encodings(mnemonic, operands) if decode(code)[0].immediate == amount]
    if not fitting:
        raise ValueError(f"{times} steps of {step.amount} do not fit one instruction")
    return min(fitting, key=len)
