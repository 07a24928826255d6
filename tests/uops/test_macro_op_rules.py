"""Macro-ops of AMD's cores by the rules of docs/zen5.md, and the x87 stack."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.units import Role, UopKind
from cyclelens.analyzer.model.uops import Block, Trait, ValueKind
from cyclelens.analyzer.uops.macro_fusion import fuses_after_move
from cyclelens.analyzer.uops.op_cache import EIGHTHS, layout
from cyclelens.analyzer.uops.registers import canonical, is_general_purpose, is_simd, width
from cyclelens.analyzer.uops.x87_stack import MOVES, OVERFLOWS
from testkit.blocks import block_of, template_of, templates_of
from testkit.narrowing import some
from testkit.single_statements import code_of

JNZ = "75f0"


def code(statements: str) -> str:
    return "".join(some(code_of(each, "intel")).hex() for each in statements.split("; "))


@pytest.mark.parametrize(
    ("pair", "fuses"),
    [
        ("mov rax, rbx; add rax, rcx", True),
        ("mov eax, ebx; sub eax, 5", True),
        ("mov rax, rbx; inc rax", True),
        ("mov rax, rbx; not rax", True),
        ("mov rax, rbx; sar rax, 3", True),
        ("mov rax, rbx; sbb rax, rcx", True),
        # Not an operation on the target alone.
        ("mov rax, rbx; imul rax, rcx", False),
        ("mov rax, rbx; cmp rax, rcx", False),
        ("mov rax, rbx; add rcx, rax", False),
        ("mov rax, rbx; add rax, rax", False),
        ("mov rax, rbx; add eax, ecx", False),
        # Not a move between two registers of 32 or 64 bits.
        ("mov rax, 5; add rax, rcx", False),
        ("mov ax, bx; add ax, cx", False),
        ("mov al, bl; add al, cl", False),
        ("mov rax, rax; add rax, rcx", False),
        ("mov rsp, rbx; add rsp, rcx", False),
        ("mov rax, rsp; add rax, rcx", False),
        ("lea rax, [rbx]; add rax, rcx", False),
    ],
)
def test_a_move_and_the_operation_on_its_target_are_one_macro_op(pair: str, fuses: bool) -> None:
    """M6."""
    first, second = (each.instruction for each in templates_of(code(pair), "ZEN5"))
    assert fuses_after_move(first, second, False) is fuses


def test_an_operation_that_fuses_with_a_branch_does_not_fuse_with_a_move() -> None:
    for pair, fuses in {"mov rax, rbx; add rax, rcx": False, "mov rax, rbx; shl rax, 3": True}.items():
        first, second = (each.instruction for each in templates_of(code(pair), "ZEN5"))
        assert fuses_after_move(first, second, True) is fuses


@pytest.mark.parametrize("core", ["ZEN3", "ZEN4", "ZEN5"])
@pytest.mark.parametrize(
    ("first", "fuses"),
    [
        *((f"{name} rax, rbx", True) for name in ("cmp", "test", "add", "sub", "and", "or", "xor")),
        ("inc rax", True),
        ("dec rax", True),
        ("cmp rax, 5", True),
        ("cmp [rip+64], rax", True),
        ("cmp dword ptr [rip+64], 5", False),
        ("adc rax, rbx", False),
        ("shl rax, 1", False),
        ("bt rax, 3", False),
        ("neg rax", False),
    ],
)
def test_an_operation_and_the_branch_behind_it_are_one_macro_op(first: str, fuses: bool, core: str) -> None:
    """M5."""
    if "[" in first:
        fuses = fuses and some(registry.get(core).macro_ops).fuses_memory_with_branch
    operation, branch = templates_of(code(first) + JNZ, core)
    assert (operation.fused_with_next, branch.fused_with_previous) == (fuses, fuses)
    jump = templates_of(code(first) + "ebf0", core)
    assert not jump[0].fused_with_next


@pytest.mark.parametrize("core", ["ZEN3", "ZEN4", "ZEN5"])
def test_moves_and_idioms_need_no_unit(core: str) -> None:
    """M7: each keeps its macro-op."""
    for text in ("xor eax, eax", "sub rax, rax", "vpxor xmm0, xmm0, xmm0", "nop"):
        template = template_of(code(text), core)
        assert not any(uop.units.mask for uop in template.uops), text
        assert some(template.macro_ops).entries == 1, text
    for text in ("mov rax, rbx", "movaps xmm0, xmm1", "mov eax, ebx", "lea rax, [rbx]", "lea eax, [rbx]"):
        assert template_of(code(text), core).eliminable_move, text
    for text in (
        "movss xmm0, xmm1",
        "mov al, bl",
        "mov rax, [rbx]",
        "mov rax, 5",
        "mov rax, rsp",
        "lea ax, [rbx]",
    ):
        assert not template_of(code(text), core).eliminable_move, text


def test_a_stack_adjustment_is_two_macro_ops() -> None:
    """M8."""
    for text, slots in {"add rsp, 8": 2, "sub rsp, 64": 2, "add rsp, rax": 1, "add rax, 8": 1}.items():
        template = template_of(code(text), "ZEN4")
        assert len(template.fused_uops) == slots, text


@pytest.mark.parametrize(
    ("role", "texts"),
    [
        (Role.ALU, "add rax, rbx; movzx eax, bl; lea rax, [rbx+8]; popcnt rax, rbx; setz al; bswap rax"),
        (Role.SHIFT, "shl rax, 3; sar rax, cl; shlx rax, rbx, rcx; bt rax, 3; tzcnt rax, rbx"),
        (Role.MULTIPLY, "imul rax, rbx"),
    ],
)  # fmt: skip
def test_which_alus_execute_what(role: Role, texts: str) -> None:
    """M9."""
    units = registry.get("ZEN5").units.having(role)
    for text in texts.split("; "):
        computing = {uop.units.mask for uop in template_of(code(text), "ZEN5").uops}
        assert computing == {units.mask}, text


def test_bit_changes_begin_one_at_a_time() -> None:
    """M9."""
    for text, alone in {
        "bts rax, 3": True,
        "shld rax, rbx, 3": True,
        "bt rax, 3": False,
        "shl rax, 3": False,
    }.items():
        first = template_of(code(text), "ZEN5").uops[0]
        assert bool(first.traits & Trait.ALONE) is alone, text


def test_an_address_of_three_components_is_two_operations_in_turn() -> None:
    """M10: the base takes two cycles, the index one."""
    first, second = template_of(code("lea rax, [rbx+rcx*2+8]"), "ZEN5").uops
    assert first.inputs == ((ValueKind.REGISTER, "RBX"),)
    ((half, cycles),) = first.outputs
    assert (cycles, set(second.inputs)) == (1, {half, (ValueKind.REGISTER, "RCX")})
    assert second.outputs == (((ValueKind.REGISTER, "RAX"), 1),)
    for text in ("lea rax, [rbx+rcx*2]", "lea rax, [rbx+8]", "lea rax, [rcx*2+8]"):
        assert len(template_of(code(text), "ZEN5").uops) == 1, text


@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        ("mov rax, [rsi]", 4),
        ("mov rax, [rsi+8]", 4),
        ("mov rax, [rsi+rdi]", 4),
        ("mov rax, [rsi+rdi*8]", 5),
        ("mov rax, [rsi+rdi+8]", 5),
        ("add rax, [rsi]", 4),
        ("movups xmm0, [rsi]", 7),
        ("movups xmm0, [rsi+rdi*8]", 8),
    ],
)
def test_cycles_of_a_load(text: str, cycles: int) -> None:
    """M17."""
    load = next(uop for uop in template_of(code(text), "ZEN5").uops if uop.kind is UopKind.LOAD)
    assert [each for _, each in load.outputs] == [cycles]


def test_data_of_a_store_and_transfers_take_alus() -> None:
    """M11."""
    alus = registry.get("ZEN5").units.having(Role.ALU).mask
    stored = [
        uop for uop in template_of(code("mov [rsi], rax"), "ZEN5").uops if uop.kind is UopKind.STORE_DATA
    ]
    assert [uop.units.mask for uop in stored] == [alus]
    transfer = template_of(code("vmovd xmm0, eax"), "ZEN5").uops
    assert sum(uop.units.mask == alus for uop in transfer) == 2


@pytest.mark.parametrize(
    ("text", "fields", "wide"),
    [
        ("add rax, rbx", 0, 0),
        ("add rax, 5", 1, 0),
        ("add rax, 500", 1, 1),
        ("mov rax, 0x123456789abcdef0", 2, 2),
        ("add rax, [rsi]", 0, 0),
        ("add rax, [rsi+8]", 1, 0),
        ("add rax, [rsi+800]", 1, 1),
        ("add rax, [rip+8]", 1, 1),
        ("add dword ptr [rsi+8], 5", 2, 0),
        ("add dword ptr [rsi+800], 500", 2, 2),
        ("lea rax, [rbx+8]", 1, 0),
        # Its eight bits stand for a multiple of 64.
        ("vmovups zmm0, [rsi+64]", 1, 1),
        ("vmovups ymm0, [rsi+64]", 1, 0),
        ("nop dword ptr [rax+8]", 0, 0),
    ],
)
def test_constants_take_fields_of_an_op_cache_line(text: str, fields: int, wide: int) -> None:
    """M2 and M37."""
    ops = some(template_of(code(text), "ZEN4").macro_ops)
    assert (ops.fields, ops.wide_fields) == (fields, wide)


@pytest.mark.parametrize(("alignment", "windows"), [(0, 1), (1, 2), (32, 1), (40, 1)])
def test_a_loop_that_ends_with_its_window_reaches_no_other(alignment: int, windows: int) -> None:
    """M2: a window takes a cycle for its first pair of lines, also if only an instruction's end is in it. A
    loop no longer than a window is read at once if its part in the first one fits into a line."""
    size = 64 if alignment < 32 else 32
    block = block_of("0f1f840000000000" * (size // 8), "ZEN5", loop=True, alignment=alignment)
    rules = some(registry.get("ZEN5").macro_ops)
    assert layout(block.instructions, alignment, rules).eighths == windows * EIGHTHS


def problems(block: Block) -> set[str]:
    return {template.left_out for template in block.instructions}


FLD, FSTP, FADD_TO_NEXT = "dd07", "dd1f", "dec1"  # fld [rdi]; fstp [rdi]; faddp st(1), st
ADD_THIRD, EXCHANGE = "d8c2", "d9c9"  # fadd st, st(2); fxch st(1)


@pytest.mark.parametrize(
    ("statements", "problem"),
    [
        (FLD + FSTP, ""),
        (FLD * 8 + FSTP * 8, ""),
        (FLD, MOVES),
        (FSTP, MOVES),
        (FLD + FSTP * 2, MOVES),
        (ADD_THIRD + EXCHANGE, MOVES),  # two values have changed places
        (2 * (ADD_THIRD + EXCHANGE), ""),
        # The value on top stays below eight more: nine in all.
        (FLD * 8 + FADD_TO_NEXT * 8, OVERFLOWS),
        (FLD * 7 + FADD_TO_NEXT * 7, ""),
        (ADD_THIRD + FLD * 6 + FSTP * 6, OVERFLOWS),
        (FLD * 6 + FSTP * 6 + ADD_THIRD, OVERFLOWS),
        (FLD * 5 + FSTP * 5 + ADD_THIRD, ""),
    ],
)
def test_the_stack_is_the_same_when_the_code_runs_again(statements: str, problem: str) -> None:
    assert problems(block_of(statements, "ZEN3", loop=True)) <= {problem, ""}
    assert problem in problems(block_of(statements, "ZEN3", loop=True))


@pytest.mark.parametrize(
    ("text", "slots", "mite", "ms", "is_complex", "simple"),
    [
        ("add rax, rbx", 1, 1, 0, False, 4),
        ("add rax, [rsi]", 2, 2, 0, True, 3),
        ("mov [rsi], rax", 2, 2, 0, True, 3),
        ("add [rsi], rax", 4, 4, 0, True, 1),
    ],
)
def test_without_micro_fusion_each_uop_has_a_slot_and_a_decoder_output(
    text: str, slots: int, mite: int, ms: int, is_complex: bool, simple: int
) -> None:
    options = ModelOptions(micro_fusion=False)
    (found,) = block_of(code(text), "HSW", loop=False, options=options).instructions
    assert (found.retire_slots, found.mite_uops, found.ms_uops) == (slots, mite, ms)
    assert found.complex_decoder is is_complex
    if is_complex:
        assert found.available_simple_decoders == simple


def test_without_macro_fusion_nothing_waits_for_its_successor() -> None:
    for fusion in (True, False):
        options = ModelOptions(macro_fusion=fusion)
        dec, jnz = block_of("49ffcf75fb", "SKL", options=options).instructions
        assert (dec.fused_with_next, jnz.fused_with_previous, dec.macro_fusible) == (fusion,) * 3


@pytest.mark.parametrize(
    ("names", "register", "bits"),
    [
        ("RAX EAX AX AL AH", "RAX", (64, 32, 16, 8, 8)),
        ("RDX EDX DX DL DH", "RDX", (64, 32, 16, 8, 8)),
        ("RSP ESP SP SPL", "RSP", (64, 32, 16, 8)),
        ("RDI EDI DI DIL", "RDI", (64, 32, 16, 8)),
        ("R8 R8D R8W R8B", "R8", (64, 32, 16, 8)),
        ("R15 R15D R15W R15B", "R15", (64, 32, 16, 8)),
        ("XMM3 YMM3 ZMM3", "XMM3", (0, 0, 0)),
        ("MM3", "MM3", (0,)),
        ("K3", "K3", (0,)),
    ],
)
def test_parts_of_a_register_are_renamed_as_one(names: str, register: str, bits: tuple[int, ...]) -> None:
    for name, wide in zip(names.split(), bits, strict=True):
        assert (canonical(name), width(name), is_general_purpose(name)) == (register, wide, wide > 0)
        assert is_simd(name) is ("MM" in register)


def read_by(text: str, core: str) -> set[str]:
    """The registers that the uops of an instruction read, addresses apart."""
    return {
        register
        for uop in template_of(code(text), core).uops
        if uop.kind in (UopKind.COMPUTE, UopKind.STORE_DATA)
        for kind, register in uop.inputs
        if kind is ValueKind.REGISTER
    }


@pytest.mark.parametrize("core", ["ZEN3", "ZEN4", "ZEN5"])
@pytest.mark.parametrize(
    ("text", "registers"),
    [
        ("mov al, bl", "RAX RBX"),
        ("mov ax, bx", "RAX RBX"),
        ("mov al, 5", "RAX"),
        ("mov ax, 5", "RAX"),
        ("mov eax, 5", ""),
        ("mov al, [rsi]", "RAX"),
        ("mov ax, [rsi]", "RAX"),
        ("mov eax, [rsi]", ""),
        ("popcnt ax, bx", "RAX RBX"),
        ("movzx ax, bl", "RAX RBX"),
        ("movzx eax, bl", "RBX"),
        ("setz al", "RAX"),
        ("cmovz eax, ebx", "RAX RBX"),
        ("bsf eax, ebx", "RAX RBX"),
        ("bsr eax, ebx", "RAX RBX"),
        ("lzcnt eax, ebx", "RBX"),
        ("sqrtss xmm0, xmm1", "XMM0 XMM1"),
        ("sqrtps xmm0, xmm1", "XMM1"),
        ("rcpss xmm0, xmm1", "XMM0 XMM1"),
        ("rsqrtss xmm0, xmm1", "XMM0 XMM1"),
        ("roundss xmm0, xmm1, 1", "XMM0 XMM1"),
        ("roundps xmm0, xmm1, 1", "XMM1"),
        ("cvtss2sd xmm0, xmm1", "XMM0 XMM1"),
        ("cvtps2pd xmm0, xmm1", "XMM1"),
        ("cvtdq2ps xmm0, xmm1", "XMM1"),
        ("movss xmm0, xmm1", "XMM0 XMM1"),
        ("movhps xmm0, [rsi]", "XMM0"),
        ("movlpd xmm0, [rsi]", "XMM0"),
        # With VEX the rest of the target comes from the first source.
        ("vsqrtss xmm0, xmm1, xmm2", "XMM1 XMM2"),
        ("vroundsd xmm0, xmm1, xmm2, 1", "XMM1 XMM2"),
        ("vcvtsd2ss xmm0, xmm1, xmm2", "XMM1 XMM2"),
        ("vmovss xmm0, xmm1, xmm2", "XMM1 XMM2"),
        ("vmovhps xmm0, xmm1, [rsi]", "XMM1"),
        ("vmovhps [rsi], xmm1", "XMM1"),
        ("vmovlpd [rsi], xmm1", "XMM1"),
        ("vsqrtps xmm0, xmm1", "XMM1"),
        ("vmovss xmm0, [rsi]", ""),
    ],
)
def test_results_that_keep_a_part_of_their_target_read_it(text: str, registers: str, core: str) -> None:
    """M7 and M42."""
    assert read_by(text, core) == set(registers.split())


@pytest.mark.parametrize("core", ["ZEN3", "ZEN4", "ZEN5"])
@pytest.mark.parametrize("text", ["cvtsi2sd xmm0, rax", "vcvtsi2sd xmm0, xmm1, rax"])
def test_a_conversion_needs_the_rest_of_its_target_after_the_transfer(text: str, core: str) -> None:
    kept = (ValueKind.REGISTER, "XMM1" if text[0] == "v" else "XMM0")
    conversion = next(uop for uop in template_of(code(text), core).uops if kept in uop.inputs)
    total = conversion.outputs[0][1]
    late = conversion.late[conversion.inputs.index(kept)] if conversion.late else 0
    assert total - late == 3


@pytest.mark.parametrize("core", ["ZEN3", "ZEN4", "ZEN5"])
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("cvtsi2sd xmm0, rax", "XMM0"),
        ("vcvtsi2sd xmm0, xmm1, rax", "XMM1"),
        ("pinsrd xmm0, eax, 1", "XMM0"),
        ("vpinsrw xmm0, xmm1, eax, 1", "XMM1"),
    ],
)
def test_a_transferred_value_goes_from_uop_to_uop(text: str, kept: str, core: str) -> None:
    """M27: only the first uop reads the integer register; the last one reads what has arrived."""
    first, *others = template_of(code(text), core).uops
    assert first.inputs == ((ValueKind.REGISTER, "RAX"),)
    passed = first
    for uop in others:
        ((value, _),) = passed.outputs
        assert uop.inputs in ((value,), ((ValueKind.REGISTER, kept), value))
        passed = uop
    assert (ValueKind.REGISTER, kept) in passed.inputs
    assert [value for value, _ in passed.outputs] == [(ValueKind.REGISTER, "XMM0")]


@pytest.mark.parametrize("core", ["ZEN3", "ZEN4", "ZEN5"])
@pytest.mark.parametrize(
    ("text", "kind", "traits"),
    [
        ("add [rsi], rax", UopKind.STORE_DATA, Trait.OWN_RESULT),
        ("inc dword ptr [rsi]", UopKind.STORE_DATA, Trait.OWN_RESULT),
        ("setz byte ptr [rsi]", UopKind.STORE_DATA, Trait.OWN_RESULT),
        ("mov [rsi], rax", UopKind.STORE_DATA, Trait.NONE),
        ("push rax", UopKind.STORE_DATA, Trait.NONE),
        ("movaps [rsi], xmm0", UopKind.STORE_DATA, Trait.VECTOR),
        ("vpextrd [rsi], xmm0, 1", UopKind.STORE_DATA, Trait.VECTOR | Trait.OWN_RESULT),
        ("add [rsi], rax", UopKind.LOAD, Trait.READ_MODIFY_WRITE),
        ("pop rax", UopKind.LOAD, Trait.READ_MODIFY_WRITE),
        ("push qword ptr [rsi]", UopKind.LOAD, Trait.READ_MODIFY_WRITE),
        ("add rax, [rsi]", UopKind.LOAD, Trait.NONE),
        ("cmp [rsi], rax", UopKind.LOAD, Trait.NONE),
        ("xadd [rsi], rax", UopKind.LOAD, Trait.NONE),
        ("addps xmm0, [rsi]", UopKind.LOAD, Trait.VECTOR),
        ("vmovaps ymm0, [rsi]", UopKind.LOAD, Trait.VECTOR),
    ],
)
def test_what_loads_and_stores_are_to_the_scheduler(
    text: str, kind: UopKind, traits: Trait, core: str
) -> None:
    """M16, M40: XADD's load is not renamed, and its stored value is a result of its own."""
    seen = Trait.VECTOR | Trait.WIDE | Trait.OWN_RESULT | Trait.READ_MODIFY_WRITE
    uops = [uop for uop in template_of(code(text), core).uops if uop.kind is kind]
    assert {uop.traits & seen for uop in uops} == {traits}


@pytest.mark.parametrize(
    ("text", "traits"),
    [
        ("addps xmm0, xmm1", Trait.FP_ADD | Trait.TAKES_FP_ADD),
        ("vsubsd xmm0, xmm1, xmm2", Trait.FP_ADD | Trait.TAKES_FP_ADD),
        ("maxps xmm0, xmm1", Trait.TAKES_FP_ADD),
        ("vcmppd ymm0, ymm1, ymm2, 1", Trait.TAKES_FP_ADD),
        ("mulps xmm0, xmm1", Trait.NONE),
        ("paddd xmm0, xmm1", Trait.NONE),
        ("vmovaps zmm0, [rsi]", Trait.VECTOR | Trait.WIDE),
        ("kaddw k1, k2, k3", Trait.MASK),
        ("vpcmpeqd k1, zmm0, zmm1", Trait.MASK),
    ],
)
def test_what_vector_operations_are_to_the_scheduler(text: str, traits: Trait) -> None:
    """M14, M20."""
    assert template_of(code(text), "ZEN5").uops[0].traits == traits


@pytest.mark.parametrize("core", ["ZEN3", "ZEN4", "ZEN5"])
def test_only_loads_and_stores_name_a_memory_operand(core: str) -> None:
    for text in (
        "add [rsi], rax",
        "mov rax, [rsi]",
        "vpgatherdd ymm0, [rsi+ymm1*4], ymm2",
        "prefetcht0 [rsi]",
    ):
        template = template_of(code(text), core)
        for uop in template.uops:
            prefetch = text.startswith("prefetch")
            accesses = uop.kind not in (UopKind.COMPUTE, UopKind.EMPTY) and not prefetch
            assert uop.memory_operand == (0 if accesses else -1), text


@pytest.mark.parametrize("core", ["ZEN3", "ZEN4", "ZEN5", "ZEN2", "SKL"])
def test_an_instruction_without_figures_leaves_the_others_as_they_are(core: str) -> None:
    add, unknown, load, branch = block_of("4801d8" + "d9d0" + "488b06" + "75f6", core).instructions
    assert (add.facts is None, unknown.facts is None) == (False, True)
    assert add.uops == template_of("4801d8", core).uops
    assert load.uops == template_of("488b06", core).uops
    assert branch.is_branch


@pytest.mark.parametrize(
    ("statements", "loop", "fused"),
    [
        ("mov rax, rbx; shl rax, 3", True, [0]),
        ("mov rax, rbx; add rax, rcx", True, [1]),  # the addition with the loop's branch
        ("mov rax, rbx; add rax, rcx; nop", True, [0]),
        ("nop; nop; mov rax, rbx; add rax, rcx", True, [3]),
        ("mov rax, rbx; add rax, rcx", False, [0]),
        ("add rax, rcx; mov rax, rbx", False, [1]),  # with the addition of the next copy
        ("add rax, rcx; nop; mov rax, rbx", True, []),
        ("mov rax, rbx; mov rcx, rax", True, []),
        ("mov rax, [rsi]; add rax, rcx; nop", True, []),
        ("mov rax, rbx; add rax, [rsi]; nop", True, []),
    ],
)
def test_which_pairs_of_a_block_are_one_macro_op(statements: str, loop: bool, fused: list[int]) -> None:
    """M5 and M6: of a move, an operation and a branch the operation belongs to the branch."""
    block = block_of(code(statements) + JNZ * loop, "ZEN5", loop=loop)
    assert [at for at, each in enumerate(block.instructions) if each.fused_with_next] == fused


@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        ("divsd xmm0, xmm1", {"ZEN3": 4.5, "ZEN4": 5, "ZEN5": 4}),
        ("vdivpd ymm0, ymm1, ymm2", {"ZEN3": 4.5, "ZEN4": 5, "ZEN5": 4}),
        ("sqrtps xmm0, xmm1", {"ZEN3": 5, "ZEN4": 5, "ZEN5": 4}),
        ("div ecx", {"ZEN3": 6, "ZEN4": 6, "ZEN5": 6}),
    ],
)
def test_a_division_keeps_a_divider_busy(text: str, cycles: dict[str, float]) -> None:
    """uops.info's throughputs. The integer divider, and on Zen 3 and Zen 4 that of vectors, is no unit."""
    for core, busy in cycles.items():
        template = template_of(code(text), core)
        divider = registry.get(core).units.having(Role.FP_DIVIDE)
        *_, last = template.uops
        assert last.busy_eighths == 8 * busy
        assert bool(last.traits & Trait.DIVIDES) is (core != "ZEN5" or text == "div ecx")
        assert core != "ZEN5" or text == "div ecx" or last.units.mask == divider.mask


@pytest.mark.parametrize("core", ["ZEN3", "ZEN4", "ZEN5"])
@pytest.mark.parametrize(
    ("text", "vector", "ends"),
    [
        ("add rax, rbx", 0, False),
        ("mov [rsi], rax", 0, False),
        ("vaddps xmm0, xmm1, xmm2", 1, False),
        ("movaps xmm0, xmm1", 1, False),
        ("movaps [rsi], xmm0", 1, False),
        ("vmovd eax, xmm0", 1, False),
        ("cvtsi2sd xmm0, rax", 2, False),
        ("ldmxcsr [rsi]", 0, True),
    ],
)
def test_macro_ops_that_the_vector_unit_accepts(text: str, vector: int, ends: bool, core: str) -> None:
    """M4."""
    ops = some(template_of(code(text), core).macro_ops)
    assert (ops.vector_ops, ops.ends_group) == (vector, ends)
