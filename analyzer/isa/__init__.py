"""Machine code to instructions and back: bytes, registers, operands, flags."""

from __future__ import annotations

from cyclelens.analyzer.common.stand_ins import import_without

_LATER = """
CC_a CC_ae CC_b CC_be CC_e CC_g CC_ge CC_l CC_le CC_ne CC_np CC_p Code CodeSize ConditionCode CpuidFeature
DecoderError FlowControl FormatMnemonicOptions FormatterSyntax MandatoryPrefix MemorySize MemorySizeOptions
Mnemonic MvexConvFn MvexEHBit MvexRegMemConv MvexTupleTypeLutKind OpAccess OpCodeOperandKind OpCodeTableKind
RepPrefixKind RflagsBits TupleType
"""
"""Enumerations of iced-x86 that no prediction asks for. It imports all 39 of them, one with 5,000 names, and
takes half of its time for that."""

import_without(
    "iced_x86", {"typing": {"TYPE_CHECKING": False}, **{f"iced_x86.{name}": {} for name in _LATER.split()}}
)
