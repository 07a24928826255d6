"""Explains why a statement cannot be encoded: the instruction does not exist, or is not supported here."""

from __future__ import annotations

import re

from cyclelens.analyzer.common.suggestions import did_you_mean
from cyclelens.analyzer.frontend.source.lexer import QUOTED
from cyclelens.analyzer.frontend.statements.operand_types import Scope, UnsupportedError
from cyclelens.analyzer.isa import decoder

APX = "APX (r16 to r31, {nf}, a new destination for the result) is not supported here."

_APX_PREFIX = re.compile(r"\s*\{\s*(nf|rex2|dfv\s*=)", re.IGNORECASE)
_APX_NAME = re.compile(
    r"\s*(push2p?|pop2p?|pushp|popp|ccmp[a-z]+|ctest[a-z]+|cfcmov[a-z]+|setzu[a-z]+|jmpabs)\b", re.IGNORECASE
)
_APX_REGISTER = re.compile(r"(%?)\b(r(?:1[6-9]|2\d|3[01])[bwd]?)(?![\w.$@])", re.IGNORECASE)
_QUOTED = re.compile(QUOTED)
_EVEX, _REX2 = b"\x62", b"\xd5"
_APX_MAP = 4
"""EVEX opcode map of promoted legacy instructions."""

_SUFFIXES = frozenset("bwlqstxyz")
"""Operand size suffixes of AT&T syntax."""
_FAMILIES = re.compile(
    r"(j|set|cmov)n?(?:[abcegloszp]|[abgl]e|p[eo])[bwlq]?|mov[sz](b[wlq]|w[lq]|lq)|f[a-z]+ll"
    r"|v?p?(cmp|com)[a-z]+(_[a-z]+)?(u?[bwdq]|[ps][sdh])"
)
"""Conditions, extending moves and comparisons, which have many names."""
_OTHER_NAMES = frozenset([
    "cbtw", "cwtl", "cltq", "cwtd", "cltd", "cqto", "fwait", "icebp", "iret", "lcall", "ljmp", "lret",
    "movabs", "popf", "pushf", "sal", "ud2a", "xlatb",
])  # fmt: skip
"""Mnemonics that assemblers know under other names than the decoder."""


def refuse_apx(text: str, is_att: bool, scope: Scope) -> None:
    """Raise UnsupportedError for a statement that only makes sense with APX."""
    if _APX_PREFIX.match(text) or _APX_NAME.match(text):
        raise UnsupportedError(APX)
    for percent, name in _APX_REGISTER.findall(_QUOTED.sub("", text)):
        # In Intel syntax a symbol may have this name.
        if percent or (not is_att and scope.evaluate(name).symbol == name):
            raise UnsupportedError(APX)


def is_apx(code: bytes) -> bool:
    """Whether these are the bytes of an APX instruction, which the decoder does not know."""
    return code[:1] == _REX2 or (code[:1] == _EVEX and len(code) > 1 and code[1] & 7 == _APX_MAP)


def no_such(mnemonic: str, who: str, *, several: bool = False) -> str:
    """Message that ``who`` rejects an instruction: it does not exist (with the nearest name), or not with
    such operands."""
    verb = "do" if several else "does"
    if _is_known(mnemonic):
        return f"{who} {verb} not accept '{mnemonic}' with such operands."
    hint = did_you_mean(mnemonic, decoder.mnemonics())
    return f"{who} {verb} not know the instruction '{mnemonic}'{hint or '.'}"


def _is_known(mnemonic: str) -> bool:
    names = {mnemonic, mnemonic[:-1] if mnemonic[-1] in _SUFFIXES else mnemonic}
    return bool(names & (decoder.mnemonics() | _OTHER_NAMES)) or _FAMILIES.fullmatch(mnemonic) is not None
