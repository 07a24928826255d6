"""What macro-ops of AMD's cores read, keep busy and are to the schedulers, by the rules of docs/zen5.md."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.units import Role, UopKind
from cyclelens.analyzer.model.uops import Trait, ValueKind
from testkit.blocks import block_of, template_of
from testkit.narrowing import some
from testkit.single_statements import code_of

JNZ = "75f0"


def code(statements: str) -> str:
    return "".join(some(code_of(each, "intel")).hex() for each in statements.split("; "))


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
        ("sqrtps xmm0, xmm1", {"ZEN3": 5, "ZEN4": 5, "ZEN5": 4.5}),
        ("div ecx", {"ZEN3": 6, "ZEN4": 6, "ZEN5": 6}),
    ],
)
def test_a_division_keeps_a_divider_busy(text: str, cycles: dict[str, float]) -> None:
    """uops.info's throughputs, and counters of an EPYC 9005. The integer divider, and on Zen 3 and Zen 4 that
    of vectors, is no unit."""
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
