"""Decides whether a figure is meaningful without the instructions that have no record.

A figure that leaves out an instruction is a lower bound. There is no figure if one of these is left out:

- an instruction of a unit that is not modelled, or only in part (x87, AMX);
- x87 code that does not restore the position of the stack;
- a system operation, or an instruction that is microcode on another core: it takes longer than most loops;
- more than half of the instructions, not counting the counter and the jump of a loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.facts.matching import find_facts
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.uops import InstructionTemplate
from msgspec import Struct

_X87 = "x87 is not modelled"
_UNITS = {"FPU": _X87, "CYRIX_FPU": _X87, "AMX": "AMX is not modelled"}
"""Units that no core's tables describe, by prefix of their extensions' names."""
_SYSTEM = frozenset(
    [
        "AESKLE",
        "ENQCMD",
        "FRED",
        "FXSR",
        "HLE_OR_RTM",
        "HRESET",
        "INVEPT",
        "INVLPGB",
        "INVPCID",
        "INVVPID",
        "KL",
        "LKGS",
        "MCOMMIT",
        "MONITOR",
        "MONITORX",
        "MSR",
        "MSRLIST",
        "PADLOCK_ACE",
        "PADLOCK_GMI",
        "PADLOCK_PHE",
        "PADLOCK_PMM",
        "PADLOCK_RNG",
        "PADLOCK_UNDOC",
        "PCONFIG",
        "RMPQUERY",
        "RTM",
        "SEP",
        "SEV_ES",
        "SEV_SNP",
        "SGX1",
        "SKINIT",
        "SKINIT_OR_SVM",
        "SMM",
        "SMX",
        "SVM",
        "SYSCALL",
        "TDX",
        "UINTR",
        "VMX",
        "WAITPKG",
        "WBNOINVD",
        "WIDE_KL",
        "WRMSRNS",
        "XSAVE",
        "XSAVEC",
        "XSAVEOPT",
        "XSAVES",
    ]
)
"""Extensions whose operations take tens to thousands of cycles (Intel's and AMD's manuals): they save state,
change privilege, wait, or encrypt with a wrapped key."""
_MNEMONICS = frozenset(
    [
        "hlt",
        "int",
        "int1",
        "int3",
        "invd",
        "iret",
        "iretd",
        "iretq",
        "ltr",
        "retf",
        "retfd",
        "retfq",
        "swapgs",
        "wbinvd",
    ]
)
"""Such operations of the base instruction set."""
_MICROCODE = "microcode may take longer than everything else"
_MOST = "most of the code"
_DECODED_UOPS = 4
"""On Intel's cores, an instruction of more uops comes from microcode (docs/pipeline.md, D)."""
_LONG = 10
"""Cycles per instance."""
_NAMED = 4


class LeftOut(Struct, frozen=True):
    """Instructions without a record that dominate the region."""

    instructions: tuple[int, ...]
    """Indices of all instructions without a record."""
    names: str
    """For example ``tdpbssd and tileloadd``."""
    why: str
    """For example ``AMX is not modelled``."""


def without_record(instructions: Sequence[InstructionTemplate]) -> tuple[int, ...]:
    """Indices of the instructions that the tables of their core do not describe."""
    return tuple([index for index, each in enumerate(instructions) if each.facts is None])


def names(instructions: Sequence[InstructionTemplate]) -> str:
    """Mnemonics of those without a record, each once: ``tdpbssd and tileloadd``."""
    return listed(
        [
            each.instruction.mnemonic or each.instruction.code.hex()
            for each in instructions
            if each.facts is None
        ]
    )


def listed(mnemonics: Sequence[str]) -> str:
    """Joins distinct mnemonics: ``fld1, fadd and fxch``; beyond four the rest is counted."""
    each = list(dict.fromkeys(mnemonics))
    if len(each) > _NAMED:
        each[_NAMED - 1 :] = [f"{len(each) - _NAMED + 1} more"]
    return each[0] if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}"


def what_counts(instructions: Sequence[InstructionTemplate], store: FactsStore) -> LeftOut | None:
    """Why there is no figure; None if there is one, maybe a lower bound. Raises ``TablesUnavailable``."""
    absent = without_record(instructions)
    if not absent:
        return None
    why = ""
    for index in absent:
        if why := instructions[index].left_out or unmodelled(instructions[index].instruction):
            break
    if why == _X87 and any(each.facts and each.facts.extension == "X87" for each in instructions):
        why = "x87 is modelled in part"
    if not why and any(_is_long(instructions[index].instruction, store) for index in absent):
        why = _MICROCODE
    if not why and 2 * len(absent) > _end(instructions):
        why = _MOST
    if not why:
        return None
    return LeftOut(absent, names(instructions), why)


def unmodelled(instruction: Instruction) -> str:
    """The sentence that its unit is not modelled, so that no record would give a figure; otherwise empty."""
    for name in instruction.extensions:
        for beginning, why in _UNITS.items():
            if name.startswith(beginning):
                return why
    return ""


def _is_long(instruction: Instruction, store: FactsStore) -> bool:
    if instruction.extensions & _SYSTEM or instruction.mnemonic in _MNEMONICS:
        return True
    for name in store.microarchitectures():
        facts = find_facts(instruction, name, store)
        if facts and ((facts.base.uops or 0) > _DECODED_UOPS or (facts.base.tp or 0) >= _LONG):
            return True
    return False


def _end(instructions: Sequence[InstructionTemplate]) -> int:
    """Number of instructions before the counter and the jump that end a loop."""
    count = len(instructions)
    if not instructions[-1].is_branch:
        return count
    return count - 1 if instructions[-1].instruction.mnemonic == "jmp" else count - 2
