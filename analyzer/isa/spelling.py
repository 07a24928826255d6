"""How instructions are spelt: by the manual, by the formatter, and where the two differ."""

from __future__ import annotations

from functools import cache

from iced_x86 import Formatter, Instruction, OpCodeInfo


def described(info: OpCodeInfo) -> str:
    """A decoder code as Intel's manual writes it: ``o64 01 /r ADD r/m64, r64``."""
    return f"{info.op_code_string} {info.instruction_string}"


@cache
def formatter() -> Formatter:
    """Intel's syntax, as people read it. Made when a text is first asked for: its tables take 1 ms."""
    from iced_x86 import CC_e, CC_ne, FormatterSyntax, MemorySizeOptions

    formatter = Formatter(FormatterSyntax.INTEL)
    formatter.space_after_operand_separator = True
    formatter.hex_prefix, formatter.hex_suffix, formatter.uppercase_hex = "0x", "", False
    formatter.signed_immediate_operands = True
    formatter.rip_relative_addresses = True
    formatter.memory_size_options = MemorySizeOptions.ALWAYS
    formatter.use_pseudo_ops = False
    # The spelling of the fact tables where it is common in source code too.
    formatter.cc_e, formatter.cc_ne = CC_e.Z, CC_ne.NZ
    return formatter


_SPELLING = {
    "je": "jz", "jne": "jnz", "cmove": "cmovz", "cmovne": "cmovnz", "sete": "setz", "setne": "setnz",
    "loope": "loopz", "loopne": "loopnz", "sal": "shl", "retf": "ret far", "wait": "fwait", "xlatb": "xlat",
    "reservednop": "nop",
}  # fmt: skip
"""Of the manual's mnemonics, where the formatter has another."""
_SPELT_TWO_WAYS = frozenset({"call", "jmp", "cmpxchg", "prefetch", "loadall"})
"""Those that it has only for some of their codes."""


def mnemonic(instruction: Instruction, info: OpCodeInfo) -> str:
    """As the formatter spells it, which is asked only where that is not known."""
    name = info.instruction_string.split(" ", 1)[0].lower()
    # 90 is an XCHG where it has another width.
    if name in _SPELT_TWO_WAYS or name.startswith("cmpn") or (name == "nop" and info.op_code == 0x90):
        from iced_x86 import FormatMnemonicOptions

        return formatter().format_mnemonic(instruction, FormatMnemonicOptions.NO_PREFIXES)
    return _SPELLING.get(name, name)
