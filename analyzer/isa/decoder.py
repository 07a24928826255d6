"""From bytes to instructions: what the encoding alone says.

A thin layer over iced-x86 that answers the questions the pipeline model asks (position of the opcode,
prefixes, encoded widths, encoding form) and that nothing else in the project needs to know is iced-x86.
Everything that depends only on the decoder's code is worked out once per code, and what more depends on
prefixes and lengths once per ``Encoding``. Whole instructions can be remembered by their bytes, because
decoding does not depend on the address (displacements are kept relative).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.common.named_tuple import NamedTuple
from cyclelens.analyzer.common.recent import Caches, Recent
from cyclelens.analyzer.isa.codes import Said, enum_names, said_of
from cyclelens.analyzer.isa.forms import forms_of
from cyclelens.analyzer.isa.spelling import formatter
from cyclelens.analyzer.model.instruction import Encoding, Instruction, OperandKind
from iced_x86 import Decoder, DecoderOptions, EncodingKind, OpKind, Register, RoundingControl
from iced_x86 import Instruction as IcedInstruction

OPTIONS = DecoderOptions.MPX
"""The fact tables have the BND instructions, which iced-x86 otherwise reads as NOPs."""

_LEGACY_PREFIXES = frozenset(b"\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3")
_REX_PREFIXES = frozenset(range(0x40, 0x50))
_PREFIXES = _LEGACY_PREFIXES | _REX_PREFIXES

_IMMEDIATES = frozenset(
    value for name, value in vars(OpKind).items() if name.startswith("IMMEDIATE") and isinstance(value, int)
)
_REGISTER, _MEMORY = OpKind.REGISTER, OpKind.MEMORY
_POINTERS = frozenset({Register.RIP, Register.EIP})
_NO_ADDRESS, _RELATIVE = -1, -2
"""Beside what tells other addresses apart: the size of their displacement, and whether they scale."""
_LEGACY, _VEX, _EVEX = EncodingKind.LEGACY, EncodingKind.VEX, EncodingKind.EVEX
_XOP = EncodingKind.XOP
_REX_ENCODINGS = frozenset({_LEGACY, EncodingKind.D3NOW})
_BRANCHES = frozenset({OpKind.NEAR_BRANCH16, OpKind.NEAR_BRANCH32, OpKind.NEAR_BRANCH64})
_MOST_KEPT = 16_384
"""Instructions that a workspace remembers of machine code."""
_LONGEST = 15
"""Bytes of an instruction."""
_SIGN = 1 << 63
_REP, _REPNE = 3, 2
"""Values of ``Instruction.repeat``."""
_ADDRESS_ONLY = frozenset({"lea", "bndmk", "bndcl", "bndcn", "bndcu"})


def _register_names() -> dict[int, str | None]:
    names: dict[int, str | None] = {
        value: f"{name[:-1]}B" if name[0] == "R" and name[1].isdigit() and name[-1] == "L" else name
        for value, name in enum_names(Register).items()
    }
    names[Register.NONE] = None
    return names


REGISTERS = _register_names()
"""By number, in Intel's spelling: R8B where iced-x86 says R8L."""


@cache
def mnemonics() -> frozenset[str]:
    """All instructions by Intel's name; of conditions one name each."""
    from iced_x86 import Mnemonic

    return frozenset([name.lower() for name in enum_names(Mnemonic).values()])


_SIGN_EXTENDED = frozenset(
    {OpKind.IMMEDIATE8TO16, OpKind.IMMEDIATE8TO32, OpKind.IMMEDIATE8TO64, OpKind.IMMEDIATE32TO64}
)
_WITHOUT_REGISTER_BITS = bytes([byte & 0xF8 if byte in _REX_PREFIXES else byte for byte in range(256)])
"""Prefixes by themselves, of REX only whether it makes operands wide."""


@dataclass(frozen=True, slots=True)
class _CodeFacts:
    """What holds for every instruction with one decoder code."""

    said: Said
    forms: Mapping[str, str]
    extensions: frozenset[str]
    visible: tuple[int, ...]
    """Numbers of the operands that the tables show."""
    places: tuple[int, ...]
    """Those that are registers or addresses."""


class _Decoding(NamedTuple):
    """An encoding, and where its instructions have their numbers."""

    encoding: Encoding
    displacement: slice | None
    """Of an address that is relative to the instruction's own."""
    immediate: slice | None
    branch: bool


def _code_facts(instruction: IcedInstruction) -> _CodeFacts:
    said = said_of(instruction)
    visible = tuple(map(int, said.visible))
    return _CodeFacts(
        said=said,
        forms=forms_of(said.description),
        extensions=frozenset(said.extensions.split()),
        visible=visible,
        places=tuple([n for n in visible if instruction.op_kind(n) in (_REGISTER, _MEMORY)]),
    )


def _signed(value: int) -> int:
    """Of 64 bits without a sign."""
    return value if value < _SIGN else value - 2 * _SIGN


def _opcode_offset(code: bytes, facts: _CodeFacts, prefix_end: int) -> int:
    encoding = facts.said.encoding
    if encoding == _VEX:
        return prefix_end + (2 if code[prefix_end] == 0xC5 else 3)
    if encoding == _EVEX:
        return prefix_end + 4
    if encoding == _XOP:
        return prefix_end + 3
    return prefix_end + facts.said.escape_bytes


def _wide(code: bytes, encoding: int, prefix_end: int) -> bool:
    """REX.W or its VEX, EVEX or XOP counterpart."""
    if encoding in _REX_ENCODINGS:
        # A REX that is not the last prefix has no effect.
        return prefix_end > 0 and code[prefix_end - 1] & 0xF8 == 0x48
    if encoding == _VEX:
        return code[prefix_end] == 0xC4 and code[prefix_end + 2] & 0x80 != 0
    return code[prefix_end + 2] & 0x80 != 0


def _operand_size(facts: _CodeFacts, wide: bool, has_66: bool) -> int:
    """1, 2, 3 for 16, 32, 64 bits."""
    if wide or facts.said.force_64:
        return 3
    if has_66:
        return 1
    return 3 if facts.said.default_64 else 2


def _form(instruction: IcedInstruction, facts: _CodeFacts, repeat: int, has_memory: bool) -> str:
    """Name of the encoding form: a prefix's own form if the tables have one, else the plain one."""
    operand = "mem" if has_memory else "reg"
    if instruction.has_lock_prefix:
        prefix = " lock"
    elif repeat:
        prefix = " repne" if repeat == _REPNE else " rep"
    else:
        return facts.forms.get(operand, "")
    return facts.forms.get(operand + prefix) or facts.forms.get(operand, "")


def _text(code: bytes) -> str:
    """What people read of an instruction."""
    instruction = Decoder(64, code, OPTIONS).decode()
    if instruction.is_invalid:
        return f"(bad) 0x{code[0]:02x}"
    if any(instruction.op_kind(number) in _BRANCHES for number in range(instruction.op_count)):
        return f"{formatter().format_mnemonic(instruction)} .{_distance(instruction) + len(code):+d}"
    return formatter().format(instruction)


def _distance(branch: IcedInstruction) -> int:
    """From the address behind a branch to its target."""
    return _signed(branch.near_branch_target - branch.next_ip)


_INVALID = Encoding(_text)


class _Decoded:
    """What was decoded before."""

    def __init__(self, caches: Caches) -> None:
        self.instructions: Recent[bytes, Instruction] = caches.recent(_MOST_KEPT)
        """By their bytes."""
        self.readings: Recent[tuple[object, ...], _Decoding] = caches.recent(_MOST_KEPT)
        """By all that tells encodings apart."""
        self.facts: dict[int, _CodeFacts] = {}
        """By the decoder's code."""
        self.read = IcedInstruction()
        """The latest that a decoder has read."""


def _instruction(
    code: bytes, instruction: IcedInstruction, decoder: Decoder, decoded: _Decoded
) -> Instruction:
    """The instruction that ``code`` consists of; the decoder has just read it."""
    number = instruction.code
    facts = decoded.facts.get(number)
    if facts is None:
        facts = decoded.facts[number] = _code_facts(instruction)
    registers: list[str | None] = []
    address, scale = _NO_ADDRESS, 1
    for position in facts.places:
        if instruction.op_kind(position) == _REGISTER:
            registers.append(REGISTERS[instruction.op_register(position)])
        else:
            base, scale = instruction.memory_base, instruction.memory_index_scale
            address = _RELATIVE if base in _POINTERS else 2 * instruction.memory_displ_size + (scale > 1)
            registers.append(REGISTERS[base])
            registers.append(REGISTERS[instruction.memory_index])
    prefix_end = 0
    while code[prefix_end] in _PREFIXES:
        prefix_end += 1
    prefixes = code[:prefix_end].translate(_WITHOUT_REGISTER_BITS)
    key: tuple[object, ...] = (number, len(code), prefixes, address)
    if facts.said.encoding == _EVEX:
        if (mask := REGISTERS[instruction.op_mask]) is not None:
            registers.append(mask)
        # Zeroing, length or rounding, broadcast.
        key = (*key, code[prefix_end + 2] & 0x80, code[prefix_end + 3] & 0xF0, mask is None)
    elif facts.said.encoding not in _REX_ENCODINGS:
        key = (*key, code[prefix_end], _wide(code, facts.said.encoding, prefix_end))
    reading = decoded.readings[key]
    if reading is None:
        reading = decoded.readings[key] = _reading(code, instruction, decoder, facts, prefix_end)
    encoding, relative, numbers, branch = reading
    displacement = 0
    if relative is not None:
        displacement = int.from_bytes(code[relative], "little", signed=True)
    elif address > 1:
        displacement = _signed(instruction.memory_displacement)
    elif branch:
        displacement = _distance(instruction)
    immediate = None if numbers is None else int.from_bytes(code[numbers], "little", signed=True)
    return Instruction(code, encoding, tuple(registers), immediate, displacement, scale)


def _reading(
    code: bytes, instruction: IcedInstruction, decoder: Decoder, facts: _CodeFacts, prefix_end: int
) -> _Decoding:
    """What an instruction has in common with others of the same code."""
    opcode_offset = _opcode_offset(code, facts, prefix_end)
    prefixes = code[:prefix_end]
    has_66 = 0x66 in prefixes
    constants = decoder.get_constant_offsets(instruction)
    kinds: list[OperandKind] = []
    immediate: slice | None = None
    for position in facts.visible:
        kind = instruction.op_kind(position)
        if kind == _REGISTER:
            kinds.append(OperandKind.REGISTER)
        elif kind == _MEMORY:
            kinds.append(OperandKind.AGEN if facts.said.mnemonic in _ADDRESS_ONLY else OperandKind.MEMORY)
        elif kind in _BRANCHES:
            kinds.append(OperandKind.BRANCH)
        elif kind in _IMMEDIATES:
            kinds.append(OperandKind.IMMEDIATE)
            # Shifts by one show a "1" that is not in the bytes.
            if constants.has_immediate:
                immediate = _part(constants.immediate_offset, constants.immediate_size)
    has_memory = OperandKind.MEMORY in kinds or OperandKind.AGEN in kinds
    displacement = _part(constants.displacement_offset, constants.displacement_size)
    is_relative = has_memory and instruction.memory_base in _POINTERS
    repeat = 0
    if 0xF3 in prefixes or 0xF2 in prefixes:
        repeat = _REPNE if instruction.has_repne_prefix else _REP if instruction.has_rep_prefix else 0
    is_evex = facts.said.encoding == _EVEX
    rounds = is_evex and instruction.rounding_control != RoundingControl.NONE
    encoding = Encoding(
        describe=_text,
        mnemonic=facts.said.mnemonic,
        iform=_form(instruction, facts, repeat, has_memory),
        kinds=tuple(kinds),
        opcode_offset=opcode_offset,
        has_66_prefix=has_66,
        immediate_bits=8 * constants.immediate_size if immediate else 0,
        displacement_bits=8 * constants.displacement_size if has_memory else 0,
        effective_operand_size=_operand_size(facts, _wide(code, facts.said.encoding, prefix_end), has_66),
        masked=is_evex and instruction.op_mask != Register.NONE,
        zeroing=is_evex and instruction.zeroing_masking,
        broadcast=is_evex and instruction.is_broadcast,
        suppress_exceptions=rounds or (is_evex and instruction.suppress_all_exceptions),
        repeat=repeat,
        has_modrm=facts.said.has_modrm,
        extensions=facts.extensions,
    )
    return _Decoding(encoding, displacement if is_relative else None, immediate, OperandKind.BRANCH in kinds)


def _part(start: int, size: int) -> slice:
    return slice(start, start + size)


class NumberField(NamedTuple):
    """Where an immediate or a displacement lies, and how many bytes it has: 0 if there is none."""

    start: int
    size: int
    is_signed: bool


def number_field(code: bytes, *, immediate: bool) -> NumberField:
    """The immediate of the last instruction, or its displacement."""
    instruction = IcedInstruction()
    decoder = Decoder(64, code, OPTIONS)
    while True:
        start = decoder.position
        decoder.decode_out(instruction)
        offsets = decoder.get_constant_offsets(instruction)
        if decoder.position >= len(code):
            break
    if immediate:
        kinds = {instruction.op_kind(number) for number in range(instruction.op_count)}
        is_signed = not kinds.isdisjoint(_SIGN_EXTENDED)
        return NumberField(start + offsets.immediate_offset, offsets.immediate_size, is_signed)
    return NumberField(start + offsets.displacement_offset, offsets.displacement_size, True)


def decode(code: bytes, caches: Caches | None = None) -> tuple[Instruction, ...]:
    """Decode 64-bit machine code from its first to its last byte. ``caches`` remember instructions.

    Never raises: where the bytes are no instruction, or end within one, the result has an instruction
    with empty mnemonic that covers one byte, and decoding goes on behind it.
    """
    decoded = (Caches() if caches is None else caches).of(_Decoded)
    instructions = decoded.instructions
    # Most of what a listing has is a single instruction, the same as another. (Blocks ask in vain: that costs
    # less without the old generation.)
    if len(code) <= _LONGEST and (only := dict.get(instructions, code)) is not None:
        return (only,)
    result = []
    decoder, instruction = Decoder(64, code, OPTIONS), decoded.read
    position = 0
    while position < len(code):
        decoder.decode_out(instruction)
        end = decoder.position
        encoding = code[position:end]
        known = instructions[encoding]
        if known is None:
            if instruction.is_invalid:
                known, end = Instruction(code[position : position + 1], _INVALID), position + 1
                decoder.position = end
            else:
                known = instructions[encoding] = _instruction(encoding, instruction, decoder, decoded)
        result.append(known)
        position = end
    return tuple(result)
