"""The decoder: facts that follow from the bytes alone."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.instruction import DecodedOperand, Instruction, OperandKind
from hypothesis import example, given
from hypothesis import strategies as st


def one(code: str) -> Instruction:
    """The single instruction that the hex text encodes."""
    (instruction,) = decode(bytes.fromhex(code))
    return instruction


# Sequences of real instructions and of noise; the latter mostly hits prefixes and rare opcodes.
machine_code = st.binary(max_size=40)


@given(machine_code)
@example(bytes.fromhex("62f1640b58"))
@example(b"\x66" * 20)
def test_every_byte_belongs_to_exactly_one_instruction(code: bytes) -> None:
    instructions = decode(code)
    assert b"".join(instruction.code for instruction in instructions) == code
    for instruction in instructions:
        assert instruction.text
        assert instruction.mnemonic or instruction.length == 1
        assert 0 <= instruction.opcode_offset < instruction.length


def test_decoding_goes_on_behind_bytes_that_are_no_instruction() -> None:
    bad, good = decode(bytes.fromhex("064801d8"))
    assert (bad.mnemonic, bad.iform, bad.length) == ("", "", 1)
    assert good.text == "add rax, rbx"


def test_an_instruction_that_is_cut_off_is_invalid() -> None:
    assert [instruction.mnemonic for instruction in decode(bytes.fromhex("0f"))] == [""]


def test_an_instruction_does_not_depend_on_its_position() -> None:
    code = bytes.fromhex("488b050800000075f3")
    assert decode(code + code) == decode(code) + decode(code)


@pytest.mark.parametrize(
    ("code", "offset"),
    [
        ("01d8", 0),
        ("4801d8", 1),  # REX
        ("0fafc3", 1),  # escape 0F
        ("660f3800c1", 3),  # 66, escape 0F 38
        ("f0480107", 2),  # LOCK, REX
        ("6466458b00", 3),  # segment, 66, REX
        ("c5f877", 2),  # two-byte VEX
        ("c4e37d4ac230", 3),  # three-byte VEX
        ("62f1640b580e", 4),  # EVEX
        ("8fe96095ca", 3),  # XOP
    ],
)
def test_opcode_offset_counts_prefixes_and_escapes(code: str, offset: int) -> None:
    assert one(code).opcode_offset == offset


@pytest.mark.parametrize(
    ("code", "immediate", "bits"),
    [
        ("4883c0ff", -1, 8),
        ("4805ff000000", 255, 32),
        ("660534ff", -204, 16),
        ("48b800000000ffffffff", -(1 << 32), 64),
        ("c8100001", 16, 16),  # ENTER 16, 1: the first counts
        ("48d1e0", None, 0),  # SHL rax, 1 has its "1" in the opcode
        ("48c1e001", 1, 8),  # the same shift with an encoded 1
        ("75f3", None, 0),  # a branch displacement is not an immediate
        ("c4e37d4ac230", None, 0),  # the fourth register of VBLENDVPS is not one either
    ],
)
def test_immediates_have_the_width_they_are_encoded_with(code: str, immediate: int | None, bits: int) -> None:
    assert (one(code).immediate, one(code).immediate_bits) == (immediate, bits)


def test_a_length_changing_prefix_needs_a_16_bit_immediate() -> None:
    assert one("66053412").has_length_changing_prefix  # add ax, 0x1234
    assert not one("6683c012").has_length_changing_prefix  # add ax, 0x12
    assert not one("0534120000").has_length_changing_prefix  # add eax, 0x1234
    assert not one("c21000").has_length_changing_prefix  # ret 16: no 66


def test_the_66_prefix_is_reported_even_where_it_has_no_effect() -> None:
    call = one("66e800000000")
    assert call.has_66_prefix
    assert call.effective_operand_size == 3


@pytest.mark.parametrize(
    ("code", "size"),
    [
        ("01d8", 2),
        ("6601d8", 1),
        ("4801d8", 3),
        ("664801d8", 3),  # REX.W beats 66
        ("50", 3),  # PUSH
        ("6650", 1),
        ("c3", 3),
        ("ffd0", 3),
    ],
)
def test_effective_operand_size(code: str, size: int) -> None:
    assert one(code).effective_operand_size == size


@pytest.mark.parametrize(
    ("code", "text", "displacement"),
    [("75f3", "jnz .-11", -13), ("0f85f0ffffff", "jnz .-10", -16), ("ebfe", "jmp .+0", -2)],
)
def test_branches_show_the_way_from_their_own_start(code: str, text: str, displacement: int) -> None:
    instruction = one(code)
    assert instruction.text == text
    assert instruction.branch_displacement == displacement
    assert [operand.kind for operand in instruction.operands] == [OperandKind.BRANCH]


@pytest.mark.parametrize(
    ("code", "operand"),
    [
        (
            "48034708",
            DecodedOperand(OperandKind.MEMORY, base="RDI", displacement=8, displacement_bits=8),
        ),
        (
            "488b04c500000000",
            DecodedOperand(OperandKind.MEMORY, index="RAX", scale=8, displacement_bits=32),
        ),
        (
            "488b0508000000",
            DecodedOperand(OperandKind.MEMORY, base="RIP", displacement=8, displacement_bits=32),
        ),
        ("8d0424", DecodedOperand(OperandKind.AGEN, base="RSP")),
        (
            # The displacement byte of an EVEX instruction counts in elements, here of 4 bytes.
            "62f27d3b9a4e04",
            DecodedOperand(OperandKind.MEMORY, base="RSI", displacement=16, displacement_bits=8),
        ),
        (
            "c4e26992040a",  # a gather: the index is a vector
            DecodedOperand(OperandKind.MEMORY, base="RDX", index="XMM1"),
        ),
    ],
)
def test_addresses(code: str, operand: DecodedOperand) -> None:
    assert operand in one(code).operands


@pytest.mark.parametrize(
    ("code", "registers"),
    [
        ("4488c0", ["AL", "R8B"]),
        ("6644 89c0", ["AX", "R8W"]),
        ("4489c0", ["EAX", "R8D"]),
        ("4088f0", ["AL", "SIL"]),
        ("88e0", ["AL", "AH"]),
        ("d3e0", ["EAX", "CL"]),
        ("0f6fc1", ["MM0", "MM1"]),
        ("c5fc28c1", ["YMM0", "YMM1"]),
    ],
)
def test_registers_have_intels_names(code: str, registers: list[str]) -> None:
    assert [operand.register for operand in one(code).operands] == registers


def test_avx512_attributes() -> None:
    plain, masked, zeroed = one("62f16408580e"), one("62f1640b580e"), one("62f1648b580e")
    assert (plain.mask, masked.mask, zeroed.mask) == (None, "K3", "K3")
    assert (masked.zeroing, zeroed.zeroing) == (False, True)
    assert one("62f27d3b9a4e04").broadcast and not masked.broadcast
    assert one("62f1741858c2").suppress_exceptions and not masked.suppress_exceptions


@pytest.mark.parametrize(("code", "repeat"), [("a4", 0), ("f3a4", 3), ("f2a6", 2), ("f3c3", 3)])
def test_repeat_prefixes(code: str, repeat: int) -> None:
    assert one(code).repeat == repeat


@pytest.mark.parametrize(
    ("code", "rm"), [("01d8", 0), ("01c3", 3), ("4101c3", 3), ("488b0424", 4), ("90", 0), ("7500", 0)]
)
def test_rm_is_the_digit_of_the_modrm_byte(code: str, rm: int) -> None:
    assert one(code).rm == rm


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("48034708", "add rax, qword ptr [rdi+8]"),
        ("488d4708", "lea rax, [rdi+8]"),
        ("f0480107", "lock add qword ptr [rdi], rax"),
        ("660500f0", "add ax, -0x1000"),
        ("488b0508000000", "mov rax, qword ptr [rip+8]"),
        ("c5ecc20e02", "vcmpps ymm1, ymm2, ymmword ptr [rsi], 2"),
        ("62f1748b58c2", "vaddps xmm0{k3}{z}, xmm1, xmm2"),
    ],
)
def test_text_is_readable_intel_syntax(code: str, text: str) -> None:
    assert one(code).text == text


@pytest.mark.parametrize(
    ("code", "iform"),
    [
        ("4801d8", "ADD_GPRv_GPRv_01"),
        ("4803c3", "ADD_GPRv_GPRv_03"),
        ("48034708", "ADD_GPRv_MEMv"),
        ("f0480107", "ADD_LOCK_MEMv_GPRv"),
        ("c5fc58c1", "VADDPS_YMMqq_YMMqq_YMMqq"),
        ("62f1640b580e", "VADDPS_XMMf32_MASKmskw_XMMf32_MEMf32_AVX512"),
        ("7500", "JNZ_RELBRb"),
        ("0f8700000000", "JNBE_RELBRd"),
        ("f3a4", "REP_MOVSB"),
        ("a4", "MOVSB"),
        ("f3c3", "RET_NEAR"),  # a prefix without a form of its own
        ("488d4708", "LEA_GPRv_AGEN"),
        ("90", "NOP_90"),
        ("6690", "NOP_90"),
        ("f390", "PAUSE"),
        ("4990", "XCHG_GPRv_OrAX"),
        ("660f1f840000000000", "NOP_MEMv_0F1F"),
        ("480fb6c3", "MOVZX_GPRv_GPR8"),
        ("4863c3", "MOVSXD_GPRv_GPRz"),
        ("48d1e0", "SHL_GPRv_ONE_D1r4"),
        ("48d1f0", ""),  # its undocumented twin, which the tables do not have
        ("48d3e0", "SHL_GPRv_CL_D3r4"),
        ("6aff", "PUSH_IMMb"),
        ("68ff000000", "PUSH_IMMz"),
        ("0f28c1", "MOVAPS_XMMps_XMMps_0F28"),
        ("0f29c1", "MOVAPS_XMMps_XMMps_0F29"),
        ("f20f10c1", "MOVSD_XMM_XMMsd_XMMsd_0F10"),
        ("d9c1", "FLD_ST0_X87"),
        ("d9fe", ""),  # FSIN: few x87 instructions are in the tables
    ],
)
def test_encoding_forms(code: str, iform: str) -> None:
    assert one(code).iform == iform
