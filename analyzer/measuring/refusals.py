"""Refuses dangerous code before it runs, with a reason, rather than relying on the sandbox alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.isa.effects import written_registers
from cyclelens.analyzer.isa.register_use import is_privileged
from cyclelens.analyzer.measuring.loops import constant_step
from cyclelens.analyzer.measuring.requests import PATTERN, REGISTERS
from cyclelens.analyzer.model.instruction import DecodedOperand, Instruction, OperandKind

_LINE = 64
_LONGEST = 15
"""Longest x86 instruction in bytes."""
_BRANCHES = ("jmp", "call", "ret", "iret")

_PREFIXES = {
    "vm": "virtual-machine instructions",
    "encl": "enclave (SGX) instructions",
    "invept": "virtual-machine instructions",
    "invvpid": "virtual-machine instructions",
    "skinit": "virtual-machine instructions",
    "wrss": "shadow-stack (CET) instructions",
    "wruss": "shadow-stack (CET) instructions",
    "rstorssp": "shadow-stack (CET) instructions",
    "saveprevssp": "shadow-stack (CET) instructions",
    "setssbsy": "shadow-stack (CET) instructions",
    "clrssbsy": "shadow-stack (CET) instructions",
    "incssp": "shadow-stack (CET) instructions",
    "rdssp": "shadow-stack (CET) instructions",
    "sysenter": "system calls",
    "syscall": "system calls",
    "sysexit": "system calls",
    "sysret": "system calls",
    "iret": "privileged instructions",
    "int": "interrupts",
    "into": "interrupts",
    "senduipi": "user interrupts",
    "uiret": "user interrupts",
    "stui": "user interrupts",
    "clui": "user interrupts",
    "testui": "user interrupts",
    "umwait": "instructions that wait",
    "umonitor": "instructions that wait",
    "tpause": "instructions that wait",
    "monitor": "instructions that wait",
    "mwait": "instructions that wait",
    "ldtilecfg": "AMX instructions",
    "sttilecfg": "AMX instructions",
    "tile": "AMX instructions",
    "tdp": "AMX instructions",
    "tcmm": "AMX instructions",
    "getsec": "trusted-execution (SMX) instructions",
    "enqcmd": "commands to devices",
    "xrstor": "changes of the processor's state",
}
_MNEMONICS = {
    "wrpkru": "protection-key (PKU) instructions",
    "rdpkru": "protection-key (PKU) instructions",
    "wrfsbase": "changes of segment bases",
    "wrgsbase": "changes of segment bases",
    "popf": "changes of system flags",
    "popfq": "changes of system flags",
}
_NOT_VIRTUAL = ("vmov", "vmul", "vmin", "vmax", "vmask", "vmps", "vmpsadbw")


def refusal(instructions: Sequence[Instruction], registers: Mapping[str, int] | None = None) -> str:
    """Why this code must not run; empty if it may.

    ``registers`` holds initial values; all others are multiples of a cache line."""
    if not all(instruction.mnemonic for instruction in instructions):
        return "not all of its bytes are instructions"
    shown = len(instructions)
    instructions = [*instructions, *hidden(instructions)]
    for at, instruction in enumerate(instructions):
        kind = refused_kind(instruction.mnemonic)
        if kind is None and is_privileged(instruction.code):
            kind = "privileged instructions"
        if kind is not None:
            where = "" if at < shown else "a branch may enter the middle of an instruction and reach "
            return f"{where}'{instruction.text}': {kind} are not run"
    return split_lock(instructions, registers or {})


def hidden(instructions: Sequence[Instruction]) -> list[Instruction]:
    """Instructions that can run besides those of a linear reading.

    They begin where a branch enters the middle of an instruction or, if a branch target is computed, at any
    byte. The code is repeated, so its beginning follows its end."""
    code = b"".join(instruction.code for instruction in instructions)
    starts = {0, *accumulate(instruction.length for instruction in instructions)}
    found: list[Instruction] = []
    computed = any(map(_goes_anywhere, instructions))
    targets = list(range(len(code))) if computed else list(_targets(instructions, 0, len(code)))
    while targets:
        at = targets.pop()
        while at not in starts:
            starts.add(at)
            window = (code[at:] + code)[:_LONGEST]
            instruction = next(iter(decode(window)), None)
            if instruction is None or not instruction.mnemonic:
                break  # invalid instruction
            found.append(instruction)
            if _goes_anywhere(instruction) and not computed:
                computed = True
                targets += range(len(code))
            targets += _targets([instruction], at, len(code))
            at = (at + instruction.length) % len(code)
    return found


def _targets(instructions: Sequence[Instruction], at: int, size: int) -> Iterator[int]:
    """Branch targets as offsets in the repeated code. ``at`` is the offset of the first instruction."""
    for instruction in instructions:
        at += instruction.length
        if instruction.branch_displacement is not None:
            yield (at + instruction.branch_displacement) % size


def _goes_anywhere(instruction: Instruction) -> bool:
    """Whether the instruction is a branch with a computed target."""
    return instruction.mnemonic.startswith(_BRANCHES) and instruction.branch_displacement is None


def split_lock(instructions: Sequence[Instruction], registers: Mapping[str, int]) -> str:
    """Why a locked access that may span two cache lines is refused; empty if there is none."""
    for instruction in instructions:
        if b"\xf0" in instruction.code[: instruction.opcode_offset] or instruction.mnemonic == "xchg":
            for operand in instruction.operands:
                if operand.kind is OperandKind.MEMORY and _may_split(
                    instructions, operand, 1 << instruction.effective_operand_size, registers
                ):
                    return f"'{instruction.text}': it may lock two cache lines, which stops the whole machine"
    return ""


def refused_kind(mnemonic: str) -> str | None:
    """The refused kind that a mnemonic belongs to; None if it may run."""
    if mnemonic in _MNEMONICS or mnemonic.startswith(_NOT_VIRTUAL):
        return _MNEMONICS.get(mnemonic)
    return next((text for start, text in _PREFIXES.items() if mnemonic.startswith(start)), None)


def _may_split(
    instructions: Sequence[Instruction], operand: DecodedOperand, width: int, registers: Mapping[str, int]
) -> bool:
    """Whether an access of ``width`` bytes at this address may span two cache lines.

    Registers that the code changes must change by multiples of the width, which preserves alignment."""
    address, changes = operand.displacement, False
    for name, scale in ((operand.base, 1), (operand.index, operand.scale)):
        if name is None:
            continue
        if name not in REGISTERS:
            return name not in ("RIP", "EIP")  # memory beside the code is read-only
        address += registers.get(name, PATTERN) * scale
        for instruction in instructions:
            if name in written_registers(instruction.code):
                changes = True
                step = _step(instruction, name)
                if not step or step * scale % width:
                    return True
    return address % width != 0 if changes else address % _LINE + width > _LINE


def _step(instruction: Instruction, register: str) -> int:
    if register == "RSP" and instruction.mnemonic in ("push", "pop", "call", "ret"):
        named = any(operand.register == register for operand in instruction.operands)
        return 0 if (named and instruction.mnemonic == "pop") or instruction.has_66_prefix else 8
    return constant_step(instruction, register)
