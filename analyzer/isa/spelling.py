"""Spells instructions as Intel's manual and as the formatter do, and knows the differences."""

from __future__ import annotations

from functools import cache

from iced_x86 import (
    CC_e,
    CC_ne,
    FormatMnemonicOptions,
    Formatter,
    FormatterSyntax,
    Instruction,
    MemorySizeOptions,
    OpCodeInfo,
)


def described(info: OpCodeInfo) -> str:
    """A decoder code in the manual's notation: ``o64 01 /r ADD r/m64, r64``."""
    return f"{info.op_code_string} {info.instruction_string}"


@cache
def formatter() -> Formatter:
    """The formatter for Intel's syntax. Built on first use, because its tables take 1 ms."""
    formatter = Formatter(FormatterSyntax.INTEL)
    formatter.space_after_operand_separator = True
    formatter.hex_prefix, formatter.hex_suffix, formatter.uppercase_hex = "0x", "", False
    formatter.signed_immediate_operands = True
    formatter.rip_relative_addresses = True
    formatter.memory_size_options = MemorySizeOptions.ALWAYS
    formatter.use_pseudo_ops = False
    # The fact tables' spelling, as long as it is also common in source code.
    formatter.cc_e, formatter.cc_ne = CC_e.Z, CC_ne.NZ
    return formatter


_SPELLING = {
    "je": "jz", "jne": "jnz", "cmove": "cmovz", "cmovne": "cmovnz", "sete": "setz", "setne": "setnz",
    "loope": "loopz", "loopne": "loopnz", "sal": "shl", "retf": "ret far", "wait": "fwait", "xlatb": "xlat",
    "reservednop": "nop",
}  # fmt: skip
"""The manual's mnemonics that the formatter spells differently."""
_SPELT_TWO_WAYS = frozenset({"call", "jmp", "cmpxchg", "prefetch", "loadall"})
"""Mnemonics that the formatter spells differently for some of their codes only."""


def mnemonic(instruction: Instruction, info: OpCodeInfo) -> str:
    """The mnemonic as the formatter spells it. The formatter runs only where that is unknown."""
    name = info.instruction_string.split(" ", 1)[0].lower()
    # 90 is an XCHG with other operand sizes.
    if name in _SPELT_TWO_WAYS or name.startswith("cmpn") or (name == "nop" and info.op_code == 0x90):
        return formatter().format_mnemonic(instruction, FormatMnemonicOptions.NO_PREFIXES)
    return _SPELLING.get(name, name)
