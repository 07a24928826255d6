"""Explains why a statement cannot be encoded: the instruction does not exist, or is not supported here."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.common.suggestions import did_you_mean
from cyclelens.analyzer.frontend.source.lexer import QUOTED
from cyclelens.analyzer.frontend.statements.operand_types import (
    Operand,
    Register,
    Rounding,
    Scope,
    UnsupportedError,
)
from cyclelens.analyzer.isa import decoder

APX = "APX (r16 to r31, {nf}, a new destination for the result) is not supported here."

_APX_PREFIX = re.compile(r"\s*\{\s*(nf|rex2|dfv\s*=)", re.IGNORECASE)
_APX_NAME = re.compile(
    r"\s*(push2p?|pop2p?|pushp|popp|ccmp[a-z]+|ctest[a-z]+|cfcmov[a-z]+|setzu[a-z]+|jmpabs)\b", re.IGNORECASE
)
_APX_REGISTER = re.compile(r"(%?)\b(r(?:1[6-9]|2\d|3[01])[bwd]?)(?![\w.$@])", re.IGNORECASE)
AVX10 = "AVX10.2 is not supported here."

_AVX10_NAME = (
    r"v(?:add|sub|mul|div|min|max|sqrt|rcp|rsqrt|getexp|getmant|scalef|reduce|rndscale|fpclass|cmp|comis"
    r"|fn?m(?:add|sub)(?:132|213|231))s?(?:ne)?p?bf16"
    r"|vminmax(?:[ps][sdh]|(?:ne)?p?bf16)|vu?comxs[sdh]|vdpphps|vmovrs[bwdq]"
    r"|vcvt(?:t?(?:ps|ph|(?:ne)?bf16)2iu?bs|tp[sd]2u?[dq]qs|ts[sd]2u?sis)"
    r"|vcvt(?:(?:2|bias|ne2?)?ph2[bh]f8s?|hf82ph|2ps2phx)"
)
_AVX10_WIDE = r"vmpsadbw|vpdpb(?:ss|su|uu)ds?|vpdpw(?:su|us|uu)ds?|vsm4(?:key4|rnds4)"
"""Instructions whose 512-bit form is new in AVX10.2 (Intel, AVX10.2 Architecture Specification, 361050)."""
_QUOTED = re.compile(QUOTED)
_SUFFIXES = frozenset("bwlqstxyz")
"""Operand size suffixes of AT&T syntax."""
_FAMILIES = (
    r"(j|set|cmov)n?(?:[abcegloszp]|[abgl]e|p[eo])[bwlq]?|mov[sz](b[wlq]|w[lq]|lq)|f[a-z]+ll"
    r"|v?p?(cmp|com)[a-z]+(_[a-z]+)?(u?[bwdq]|[ps][sdh])"
)
"""Conditions, extending moves and comparisons, which have many names."""
_OTHER_NAMES = frozenset([
    "cbtw", "cwtl", "cltq", "cwtd", "cltd", "cqto", "fwait", "icebp", "iret", "lcall", "ljmp", "lret",
    "movabs", "popf", "pushf", "sal", "ud2a", "xlat", "xlatb",
])  # fmt: skip
"""Mnemonics that assemblers know under other names than the decoder."""
_EXTENDS = "; did you mean 'movzx', in AT&T syntax also 'movzbl' or 'movzwl'?"


def refuse_apx(text: str, is_att: bool, scope: Scope) -> None:
    """Raise UnsupportedError for a statement that only makes sense with APX."""
    if _APX_PREFIX.match(text) or _APX_NAME.match(text):
        raise UnsupportedError(APX)
    for percent, name in _APX_REGISTER.findall(_QUOTED.sub("", text)):
        # In Intel syntax a symbol may have this name.
        if percent or (not is_att and scope.evaluate(name).symbol == name):
            raise UnsupportedError(APX)


def refused(mnemonic: str, operands: Sequence[Operand], who: str, reason: str = "") -> str:
    """Message that ``who`` rejects an instruction with these operands, for a ``reason`` if one is known."""
    if mnemonic == "frstpm":
        return "'frstpm' is an instruction of the 287 that no 64-bit processor has."
    vectors = {operand.name[0] for operand in operands if isinstance(operand, Register)}
    if (
        re.fullmatch(_AVX10_NAME, mnemonic)
        or ("z" in vectors and re.fullmatch(_AVX10_WIDE, mnemonic))
        or ("y" in vectors and any(isinstance(operand, Rounding) for operand in operands))
    ):
        return AVX10
    return no_such(mnemonic, who, reason)


def no_such(mnemonic: str, who: str, reason: str = "") -> str:
    """Message that ``who`` rejects an instruction: it does not exist (with the nearest name), or not with
    such operands, for a ``reason`` if one is known."""
    if is_known(mnemonic):
        return f"{who} does not accept '{mnemonic}' with such operands{f': {reason}' if reason else ''}."
    hint = _EXTENDS if mnemonic == "movz" else did_you_mean(mnemonic, decoder.mnemonics())
    return f"{who} does not know the instruction '{mnemonic}'{hint or '.'}"


def is_known(mnemonic: str) -> bool:
    """Whether an instruction has this name, in lower case, in some assembler."""
    if mnemonic == "movz":
        return False
    names = {mnemonic, mnemonic[:-1] if mnemonic[-1] in _SUFFIXES else mnemonic}
    return bool(names & (decoder.mnemonics() | _OTHER_NAMES)) or re.fullmatch(_FAMILIES, mnemonic) is not None
