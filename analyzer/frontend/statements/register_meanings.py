"""What a register is, in one plain sentence each: its place, its width, and who saves it in a call.

Who saves a register: System V Application Binary Interface, AMD64 supplement, section 3.2; Microsoft, x64
calling convention.
"""

from __future__ import annotations

from collections.abc import Callable

from cyclelens.analyzer.frontend.statements.registers import (
    GENERAL_8,
    GENERAL_16,
    GENERAL_32,
    GENERAL_64,
    REGISTERS,
)

_KEPT = frozenset(["rbx", "rsp", "rbp", "r12", "r13", "r14", "r15"])
"""General-purpose registers that a function leaves as they were, in both conventions."""
_KEPT_ON_WINDOWS = frozenset(["rdi", "rsi"])
_ROLES = {
    "rax": "in System V what a function returns",
    "rdx": "in System V the third integer argument, on Windows the second",
    "rdi": "in System V the first integer argument",
    "rsi": "in System V the second integer argument",
    "rcx": "in System V the fourth integer argument, on Windows the first",
    "r8": "in System V the fifth integer argument, on Windows the third",
    "r9": "in System V the sixth integer argument, on Windows the fourth",
    "rsp": "the address of the top of the stack",
    "rbp": "often the base of the stack frame",
}
"""What a register is used for in calls."""
_SEGMENTS = {
    "cs": "The code segment, which has no base in 64-bit code.",
    "ds": "The data segment, which has no base in 64-bit code.",
    "es": "The extra segment, which has no base in 64-bit code.",
    "ss": "The stack segment, which has no base in 64-bit code.",
    "fs": "A segment whose base is added to addresses; Linux keeps thread-local data there.",
    "gs": "A segment whose base is added to addresses; Windows keeps thread-local data there.",
}
_CONTROL = {
    "cr0": "switches of the processor's modes",
    "cr2": "the address of the last page fault",
    "cr3": "the address of the page tables",
    "cr4": "switches of the processor's features",
    "cr8": "the priority below which interrupts wait",
}
_DEBUG = {"dr6": "which breakpoint was hit", "dr7": "which breakpoints are on"}
_VECTOR_BITS = {"x": 128, "y": 256, "z": 512}


def register_meaning(name: str) -> str:
    """A sentence about a register; empty if there is no such register. ``name``: in any case, with or without
    AT&T's percent sign."""
    name = name.lower().removeprefix("%").replace(" ", "")
    if name not in REGISTERS:
        return ""
    if name in GENERAL_64 | GENERAL_32 | GENERAL_16 | GENERAL_8:
        return _general(name)
    if name in _SEGMENTS:
        return _SEGMENTS[name]
    for prefix, sentence in _OTHERS.items():
        if name.startswith(prefix):
            return sentence(name)
    return _vector(name)


def _general(name: str) -> str:
    whole = _whole(name)
    if name in GENERAL_64:
        role = f": {_ROLES[name]}" if name in _ROLES else ""
        return f"A 64-bit general-purpose register{role}. {_saved(name)}"
    part = f"the low 8 bits of {whole}"
    if name in GENERAL_32:
        part = f"the low 32 bits of {whole}; a write clears the upper 32"
    elif name in GENERAL_16:
        part = f"the low 16 bits of {whole}; a write keeps the others"
    elif name.endswith("h"):
        part = f"bits 8 to 15 of {whole}; a write keeps the others"
    else:
        part += "; a write keeps the others"
    return f"{part[0].upper()}{part[1:]}. {_saved(whole)}"


def _whole(name: str) -> str:
    """The 64-bit register of a general-purpose one."""
    if name[1:2].isdigit():
        return name.rstrip("dwbl")
    if name in GENERAL_64:
        return name
    stem = name.removeprefix("e") if name in GENERAL_32 else name
    if name in GENERAL_8:
        stem = f"{name[0]}x" if len(name) == 2 else name[:2]
    return f"r{stem}"


def _saved(whole: str) -> str:
    if whole in _KEPT:
        return f"A function that changes {whole} restores it."
    if whole in _KEPT_ON_WINDOWS:
        return f"A function may change {whole}; on Windows it restores it."
    return f"A function may change {whole}."


def _vector(name: str) -> str:
    number, bits = int(name[3:]), _VECTOR_BITS[name[0]]
    part = f"A {bits}-bit vector register"
    if bits < 512:
        whole = "ymm" if bits == 128 else "zmm"
        part += f", the low half of {whole}{number}"
    if number >= 16:
        part += ", which only AVX-512 and later encodings reach"
    saved = "A function may change it"
    if 6 <= number < 16:
        saved += "; on Windows it restores the low 128 bits"
    return f"{part}. {saved}."


def _mask(name: str) -> str:
    none = " In braces it would mean no mask." if name == "k0" else ""
    return f"A 64-bit mask register: one bit per element.{none} A function may change it."


def _stack(name: str) -> str:
    place = f"{name[3]} below the top" if len(name) > 2 and name[3] != "0" else "the top"
    return f"An 80-bit floating-point register, {place} of the x87 stack."


_OTHERS: dict[str, Callable[[str], str]] = {
    "k": _mask,
    "tmm": lambda _: "An AMX tile: up to 16 rows of 64 bytes. A function may change it.",
    "mm": lambda name: (
        f"A 64-bit MMX register, the low 64 bits of x87 register {name[2]}; emms comes before x87 code."
    ),
    "st": _stack,
    "cr": lambda name: f"A control register of the system: {_CONTROL.get(name, 'reserved')}.",
    "dr": lambda name: f"A debug register of the system: {_DEBUG.get(name, 'the address of a breakpoint')}.",
    "bnd": lambda _: "A bounds register of MPX, which new processors no longer have.",
    "rip": lambda _: "The instruction pointer: as a base, the address of the next instruction.",
    "eip": lambda _: "The low 32 bits of the instruction pointer.",
}
"""The first letters of other registers, and their sentences."""
