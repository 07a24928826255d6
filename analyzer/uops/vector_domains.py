"""The domain of a vector operation, floating point or integers, by its mnemonic (M33 of docs/zen5.md).

A result that crosses from one domain to the other is later, on cores whose ``domain_cycles`` says so.
"""

from __future__ import annotations

import re
from functools import cache

from cyclelens.analyzer.model.uops import Trait

_FP = re.compile(
    r"(add|sub|mul|div|min|max|sqrt|rsqrt|rcp|and|andn|or|xor|round|addsub|hadd|hsub|dp|blendv|test)[ps][sd]"
    r"|(cmp|cvt)\w*[ps][sdi]\w*|u?comis[sd]|fn?m(add|sub|addsub|subadd)\w+|movs[sd]"
    r"|perm2[fi]128|(extract|insert)[fi]128|broadcasts[sd]"
)
_INTEGERS = (
    r"p[a-z]+\w*|shufp[sd]|unpck[lh]p[sd]|mov(hl|lh)ps|mov[lh]p[sd]|blendp[sd]|insertps|mov(s[hl]|d)dup"
    r"|permil\w+|permp[sd]|aes\w+|mpsadbw|movmskp[sd]"
)
_NOT_VECTOR = frozenset(("pdep", "pext", "popcnt", "push", "pop", "pause"))
_FROM_INTEGER = frozenset(("movd", "movq"))
"""Transfers, whose results are in the integer domain wherever the inputs come from."""


@cache
def domain_traits(mnemonic: str) -> Trait:
    """The domain in which a vector operation expects its inputs, and that of its result."""
    name = mnemonic.removeprefix("v")
    if name in _FROM_INTEGER:
        return Trait.MAKES_INTEGERS
    if mnemonic in _NOT_VECTOR:
        return Trait.NONE
    if _FP.fullmatch(name):
        return Trait.IN_FP | Trait.MAKES_FP
    if re.fullmatch(_INTEGERS, name):
        return Trait.IN_INTEGERS | Trait.MAKES_INTEGERS
    return Trait.NONE
