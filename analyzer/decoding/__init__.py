"""Machine code to instructions and back: bytes, registers, operands, flags."""

from __future__ import annotations

import sys
from types import ModuleType

_LATER = """
CC_a CC_ae CC_b CC_be CC_g CC_ge CC_l CC_le CC_np CC_p Code CodeSize ConditionCode DecoderError FlowControl
MandatoryPrefix MemorySize Mnemonic MvexConvFn MvexEHBit MvexRegMemConv MvexTupleTypeLutKind RepPrefixKind
TupleType
"""
"""Enumerations of iced-x86 that no prediction asks for."""


def _import_without_later() -> None:
    """iced-x86 imports all its 39 enumerations, one of them with 5,000 names, and takes half of its time for
    that. These here are stand-ins meanwhile; who asks for one later imports it as ever."""
    names = _LATER.split()
    sys.modules.update({f"iced_x86.{name}": ModuleType(name) for name in names})
    import iced_x86

    for name in names:
        del sys.modules[f"iced_x86.{name}"]
        delattr(iced_x86, name)


if "iced_x86" not in sys.modules:
    _import_without_later()
