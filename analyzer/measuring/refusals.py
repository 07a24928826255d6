"""What is never run, whatever the sandbox would do about it: said before, instead of a signal after."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.model.instruction import Instruction, OperandKind

_LINE = 64

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
    "hlt": "privileged instructions",
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
}
_MNEMONICS = {
    "wrpkru": "protection-key (PKU) instructions",
    "rdpkru": "protection-key (PKU) instructions",
    "wrfsbase": "changes of segment bases",
    "wrgsbase": "changes of segment bases",
    "swapgs": "privileged instructions",
    "popf": "changes of system flags",
    "popfq": "changes of system flags",
    "invlpg": "privileged instructions",
    "wbinvd": "privileged instructions",
    "wbnoinvd": "privileged instructions",
    "invd": "privileged instructions",
}
_NOT_VIRTUAL = ("vmov", "vmul", "vmin", "vmax", "vmask", "vmps", "vmpsadbw")


def refusal(instructions: Sequence[Instruction]) -> str:
    """Why this code is not run, or an empty text."""
    for instruction in instructions:
        mnemonic = instruction.mnemonic
        if not mnemonic:
            return "not all of its bytes are instructions"
        kind = _MNEMONICS.get(mnemonic)
        if kind is None and not mnemonic.startswith(_NOT_VIRTUAL):
            kind = next((text for start, text in _PREFIXES.items() if mnemonic.startswith(start)), None)
        if kind is not None:
            return f"'{instruction.text}': {kind} are not run"
        if b"\xf0" in instruction.code[: instruction.opcode_offset] or mnemonic == "xchg":
            for operand in instruction.operands:
                # All initial addresses are multiples of 64.
                if operand.kind is OperandKind.MEMORY and operand.displacement % _LINE > _LINE - 8:
                    return f"'{instruction.text}': a lock across two cache lines stops the whole machine"
    return ""
