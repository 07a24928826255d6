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
        # Between them what is none of the stack's business: add, nop, call, push and pop, imul.
        (FLD + "4801d8" + "90" + "ffd0" + "5058" + "480fafc0" + FSTP, ""),
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
