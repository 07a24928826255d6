"""Decodes bytes into instructions: everything that the encoding alone tells.

A thin layer over iced-x86, which answers the pipeline model's questions: opcode position, prefixes, encoded
widths, encoding form. Its callers need not know iced-x86. Facts that depend only on iced-x86's code are
computed once per code; those that also depend on prefixes and lengths, once per ``Encoding``. Whole
instructions can be cached by their bytes, because decoding does not depend on the address (displacements are
relative).
"""

from __future__ import annotations

from functools import cache

from cyclelens.analyzer.common.recent import Caches, Recent
from cyclelens.analyzer.isa.codes import EncodingForm, encoding_form_of, enum_names
from cyclelens.analyzer.isa.spelling import formatter
from cyclelens.analyzer.model.instruction import Encoding, Instruction, OperandKind
from iced_x86 import Decoder, DecoderOptions, EncodingKind, Mnemonic, OpKind, Register, RoundingControl
from iced_x86 import Instruction as IcedInstruction
from msgspec import Struct

OPTIONS = DecoderOptions.MPX
"""Needed for BND instructions, which are in the fact tables; without it iced-x86 decodes them as NOPs."""

_LEGACY_PREFIXES = frozenset(b"\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3")
_REX_PREFIXES = frozenset(range(0x40, 0x50))
_PREFIXES = _LEGACY_PREFIXES | _REX_PREFIXES

_IMMEDIATES = frozenset(value for value, name in enum_names(OpKind).items() if name.startswith("IMMEDIATE"))
_REGISTER, _MEMORY = OpKind.REGISTER, OpKind.MEMORY
_POINTERS = frozenset({Register.RIP, Register.EIP})
_NO_ADDRESS, _RELATIVE = -1, -2
"""Address classes in a cache key. Other addresses are classified by their displacement's size and by whether
they are scaled."""
_LEGACY, _VEX, _EVEX = EncodingKind.LEGACY, EncodingKind.VEX, EncodingKind.EVEX
_XOP = EncodingKind.XOP
_REX_ENCODINGS = frozenset({_LEGACY, EncodingKind.D3NOW})
_BRANCHES = frozenset({OpKind.NEAR_BRANCH16, OpKind.NEAR_BRANCH32, OpKind.NEAR_BRANCH64})
_MOST_KEPT = 8192
"""Instructions of machine code that a workspace caches."""
_LONGEST = 15
"""Maximum length of an instruction in bytes."""
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
"""Register names by iced-x86 number, in Intel's spelling: R8B where iced-x86 has R8L."""


@cache
def mnemonics() -> frozenset[str]:
    """All mnemonics in Intel's spelling; of synonymous conditions only one."""
    return frozenset([name.lower() for name in enum_names(Mnemonic).values()])


_SIGN_EXTENDED = frozenset(
    {OpKind.IMMEDIATE8TO16, OpKind.IMMEDIATE8TO32, OpKind.IMMEDIATE8TO64, OpKind.IMMEDIATE32TO64}
)
_WITHOUT_REGISTER_BITS = bytes([byte & 0xF8 if byte in _REX_PREFIXES else byte for byte in range(256)])
"""Maps each prefix to itself, except that of REX only the W bit stays."""


class _Decoding(Struct, frozen=True):
    """An encoding and where its instructions hold their numbers."""

    encoding: Encoding
    displacement: slice | None
    """Displacement of a RIP-relative address."""
    immediate: slice | None
    branch: bool


def signed(value: int) -> int:
    """An unsigned 64-bit value as a signed one."""
    return value if value < _SIGN else value - 2 * _SIGN


def _opcode_offset(code: bytes, facts: EncodingForm, prefix_end: int) -> int:
    encoding = facts.encoding
    if encoding == _VEX:
        return prefix_end + (2 if code[prefix_end] == 0xC5 else 3)
    if encoding == _EVEX:
        return prefix_end + 4
    if encoding == _XOP:
        return prefix_end + 3
    return prefix_end + facts.escape_bytes


def _wide(code: bytes, encoding: int, prefix_end: int) -> bool:
    """Whether REX.W or its VEX, EVEX or XOP counterpart is set."""
    if encoding in _REX_ENCODINGS:
        # A REX that is not the last prefix has no effect.
        return prefix_end > 0 and code[prefix_end - 1] & 0xF8 == 0x48
    if encoding == _VEX:
        return code[prefix_end] == 0xC4 and code[prefix_end + 2] & 0x80 != 0
    return code[prefix_end + 2] & 0x80 != 0


def _operand_size(facts: EncodingForm, wide: bool, has_66: bool) -> int:
    """Operand size as 1, 2 or 3 for 16, 32 or 64 bits."""
    if wide or facts.force_64:
        return 3
    if has_66:
        return 1
    return 3 if facts.default_64 else 2


def _form(instruction: IcedInstruction, facts: EncodingForm, repeat: int, has_memory: bool) -> str:
    """Name of the encoding form: the one specific to the prefix if the tables have it, else the plain one."""
    operand = "mem" if has_memory else "reg"
    if instruction.has_lock_prefix:
        prefix = " lock"
    elif repeat:
        prefix = " repne" if repeat == _REPNE else " rep"
    else:
        return facts.forms.get(operand, "")
    return facts.forms.get(operand + prefix) or facts.forms.get(operand, "")


def _text(code: bytes) -> str:
    """The instruction as text; ``(bad)`` if it cannot be decoded."""
    instruction = Decoder(64, code, OPTIONS).decode()
    if instruction.is_invalid:
        return f"(bad) 0x{code[0]:02x}"
    if any(instruction.op_kind(number) in _BRANCHES for number in range(instruction.op_count)):
        return f"{formatter().format_mnemonic(instruction)} .{_distance(instruction) + len(code):+d}"
    return formatter().format(instruction)


def _distance(branch: IcedInstruction) -> int:
    """Distance in bytes from the end of a branch to its target."""
    return signed(branch.near_branch_target - branch.next_ip)


_INVALID = Encoding(_text)


class _Decoded:
    """Caches of decoded instructions."""

    def __init__(self, caches: Caches) -> None:
        self.instructions: Recent[bytes, Instruction] = caches.recent(_MOST_KEPT)
        """Instructions by their bytes."""
        self.decodings: Recent[tuple[object, ...], _Decoding] = caches.recent(_MOST_KEPT)
        """Decodings by everything that distinguishes encodings."""
        self.facts: dict[int, EncodingForm] = {}
        """Facts by iced-x86 code."""
        self.read = IcedInstruction()
        """Reused by the decoder for every instruction."""


def _instruction(
    code: bytes, instruction: IcedInstruction, decoder: Decoder, decoded: _Decoded
) -> Instruction:
    """Build the instruction of the bytes ``code``, which the decoder has just read."""
    number = instruction.code
    facts = decoded.facts.get(number)
    if facts is None:
        facts = decoded.facts[number] = encoding_form_of(instruction)
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
    if facts.encoding == _EVEX:
        if (mask := REGISTERS[instruction.op_mask]) is not None:
            registers.append(mask)
        # Zeroing, vector length or rounding, broadcast.
        key = (*key, code[prefix_end + 2] & 0x80, code[prefix_end + 3] & 0xF0, mask is None)
    elif facts.encoding not in _REX_ENCODINGS:
        key = (*key, code[prefix_end], _wide(code, facts.encoding, prefix_end))
    decoding = decoded.decodings.get(key)
    if decoding is None:
        decoding = decoded.decodings[key] = _decoding_of(code, instruction, decoder, facts, prefix_end)
    displacement = 0
    if decoding.displacement is not None:
        displacement = int.from_bytes(code[decoding.displacement], "little", signed=True)
    elif address > 1:
        displacement = signed(instruction.memory_displacement)
    elif decoding.branch:
        displacement = _distance(instruction)
    numbers = decoding.immediate
    immediate = None if numbers is None else int.from_bytes(code[numbers], "little", signed=True)
    return Instruction(code, decoding.encoding, tuple(registers), immediate, displacement, scale)


def _decoding_of(
    code: bytes, instruction: IcedInstruction, decoder: Decoder, facts: EncodingForm, prefix_end: int
) -> _Decoding:
    """What the instruction shares with all others that have the same cache key."""
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
            kinds.append(OperandKind.AGEN if facts.mnemonic in _ADDRESS_ONLY else OperandKind.MEMORY)
        elif kind in _BRANCHES:
            kinds.append(OperandKind.BRANCH)
        elif kind in _IMMEDIATES:
            kinds.append(OperandKind.IMMEDIATE)
            # Shifts by one display a "1" that is not encoded.
            if constants.has_immediate:
                immediate = _part(constants.immediate_offset, constants.immediate_size)
    has_memory = OperandKind.MEMORY in kinds or OperandKind.AGEN in kinds
    displacement = _part(constants.displacement_offset, constants.displacement_size)
    is_relative = has_memory and instruction.memory_base in _POINTERS
    repeat = 0
    if 0xF3 in prefixes or 0xF2 in prefixes:
        repeat = _REPNE if instruction.has_repne_prefix else _REP if instruction.has_rep_prefix else 0
    is_evex = facts.encoding == _EVEX
    rounds = is_evex and instruction.rounding_control != RoundingControl.NONE
    encoding = Encoding(
        describe=_text,
        mnemonic=facts.mnemonic,
        iform=_form(instruction, facts, repeat, has_memory),
        kinds=tuple(kinds),
        opcode_offset=opcode_offset,
        has_66_prefix=has_66,
        immediate_bits=8 * constants.immediate_size if immediate else 0,
        displacement_bits=8 * constants.displacement_size if has_memory else 0,
        effective_operand_size=_operand_size(facts, _wide(code, facts.encoding, prefix_end), has_66),
        masked=is_evex and instruction.op_mask != Register.NONE,
        zeroing=is_evex and instruction.zeroing_masking,
        broadcast=is_evex and instruction.is_broadcast,
        suppress_exceptions=rounds or (is_evex and instruction.suppress_all_exceptions),
        repeat=repeat,
        evex=is_evex,
        has_modrm=facts.has_modrm,
        extensions=facts.extensions,
    )
    return _Decoding(encoding, displacement if is_relative else None, immediate, OperandKind.BRANCH in kinds)


def _part(start: int, size: int) -> slice:
    return slice(start, start + size)


class NumberField(Struct, frozen=True):
    """Position and size in bytes of an immediate or displacement. Size 0 means that there is none."""

    start: int
    size: int
    is_signed: bool


def number_field(code: bytes, *, immediate: bool) -> NumberField:
    """Position of the last instruction's immediate or displacement."""
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
    """Decode 64-bit machine code completely. ``caches`` keep instructions between calls.

    Never raises. Where bytes are not an instruction, or end within one, the result has an instruction of one
    byte with an empty mnemonic, and decoding continues after it.
    """
    decoded = (Caches() if caches is None else caches).of(_Decoded)
    instructions = decoded.instructions
    # A listing mostly decodes single, repeated instructions.
    if len(code) <= _LONGEST and (only := instructions.get(code)) is not None:
        return (only,)
    result = []
    decoder, instruction = Decoder(64, code, OPTIONS), decoded.read
    position = 0
    while position < len(code):
        decoder.decode_out(instruction)
        end = decoder.position
        encoding = code[position:end]
        known = instructions.get(encoding)
        if known is None:
            if instruction.is_invalid:
                known, end = Instruction(code[position : position + 1], _INVALID), position + 1
                decoder.position = end
            else:
                known = instructions[encoding] = _instruction(encoding, instruction, decoder, decoded)
        result.append(known)
        position = end
    return tuple(result)


def left_on_x87_stack(code: bytes) -> int:
    """Values that code leaves on the x87 stack; negative if it takes more than it puts there."""
    return -sum(each.fpu_stack_increment_info().increment for each in Decoder(64, code, OPTIONS))
