"""Encodings chosen without an assembler equal those of GNU as, for every form of the instruction set with
random operands. What GNU as rejects is rejected."""

from __future__ import annotations

import random
import re

import pytest
from cyclelens.analyzer.frontend.encoding.choice import EncodingRequest, choose
from cyclelens.analyzer.frontend.statements.operand_types import (
    Immediate,
    Register,
)
from testkit.gnu_as import AS, assembled, refused
from testkit.random_statements import misfits, statements
from testkit.single_statements import code_of

needs_gnu_as = pytest.mark.skipif(AS is None, reason="GNU as is not installed")


def _mnemonic(text: str) -> str:
    return next(word for word in text.split() if word[0] != "{")


@needs_gnu_as
@pytest.mark.parametrize("dialect", ["att", "intel"])
def test_every_form_of_avx512_has_the_bytes_of_gnu_as(dialect: str) -> None:
    texts = statements(random.Random(f"evex {dialect}"), dialect, encodings={"evex"}, each=3)
    expected = assembled(dialect, texts)
    assert sum(map(bool, expected.values())) > 3000
    wrong = {text: (code_of(text, dialect), expected[text]) for text in texts}
    assert {text: pair for text, pair in wrong.items() if pair[0] is not None and pair[0] != pair[1]} == {}


@needs_gnu_as
@pytest.mark.parametrize("dialect", ["att", "intel"])
def test_every_other_form_has_the_bytes_of_gnu_as_or_is_refused(dialect: str) -> None:
    texts = statements(random.Random(f"others {dialect}"), dialect, encodings={"legacy", "vex"}, each=2)
    expected = assembled(dialect, texts)
    known = {_mnemonic(text) for text, code in expected.items() if code}
    assert len(known) > 1000
    wrong = {}
    for text in texts:
        code = code_of(text, dialect)
        # What GNU as 2.40 does not know at all is newer than it.
        if code and code != expected[text] and _mnemonic(text) in known:
            wrong[text] = code.hex(), expected[text].hex()
    assert wrong == {}


@needs_gnu_as
@pytest.mark.parametrize("dialect", ["att", "intel"])
def test_what_gnu_as_refuses_is_refused(dialect: str) -> None:
    rng = random.Random(f"misfits {dialect}")
    texts = rng.sample(misfits(rng, dialect, {"legacy", "vex", "evex"}), 1500)
    wrong = refused(dialect, texts)
    assert len(wrong) > 1000
    # Some instructions are newer than GNU as 2.40.
    known = {text for text, said in wrong.items() if "no such instruction" not in said}
    ours = {text: code_of(text, dialect) for text in texts}
    assert {text: code.hex() for text, code in ours.items() if code and text in known} == {}
    taken = assembled(dialect, [text for text, code in ours.items() if code and text not in wrong])
    assert {text: ours[text] for text in taken} == taken


SPELLINGS = [
    ("movsl", "a5"),
    ("inb $5", "e405"),
    ("in (%dx)", "ed"),
    ("outw $0x7f", "66e77f"),
    ("shld %eax, %ebx", "0fa5c3"),
    ("fnstsw", "dfe0"),
    ("vmovd %xmm0, %rax", "c4e1f97ec0"),
    ("movd %rax, %mm0", "480f6ec0"),
    ("{store} popw %ax", "6658"),
    ("pushw %fs", "660fa0"),
    ("sldt %r14", "410f00c6"),
    ("pf2id 0x80(%r9,%r11,4), %mm1", "430f0f8c99800000001d"),
    ("fstenvs -0x1000(%r10d)", "9b676641d9b200f0ffff"),
    ("xlat %ds:(%rbx)", "d7"),
    ("callw *%ax", "66ffd0"),
    ("callw *(%rdi)", "66ff17"),
    ("jmpw *8(%rdi)", "66ff6708"),
    ("lcall *(%rdi)", "ff1f"),
    ("ljmpw *(%rdi)", "66ff2f"),
    ("rex.w lcall *(%rdi)", "48ff1f"),
    ("lar %ax, %rax", "480f02c0"),
    ("lsl %r9w, %ecx", "410f03c9"),
    ("fstpl %st(3)", "dddb"),
    ("fcompl %st(1)", "d8d9"),
    ("pextrwq $1, %xmm0, %rax", "660fc5c001"),
    ("vpinsrwq $1, %rax, %xmm1, %xmm0", "c5f1c4c001"),
    ("movmskpsq %xmm0, %rax", "0f50c0"),
    ("movq $0x1122334455667788, %rax", "48b88877665544332211"),
]
SUFFIXES = [
    ("movq rax, 5", "48c7c005000000"),
    ("movq rax, 0x1122334455667788", "48b88877665544332211"),
    ("movq rax, qword ptr [rdi]", "488b07"),
    ("movq [rdi], rax", "488907"),
    ("movq xmm0, rax", "66480f6ec0"),
    ("movd eax, 5", "b805000000"),
    ("movd xmm0, eax", "660f6ec0"),
    ("addd eax, 5", "83c005"),
    ("incq [rdi]", "48ff07"),
    ("sard [rdi], 1", "d13f"),
    ("cmovneq rax, rbx", "480f45c3"),
    ("crc32b eax, [rdi]", "f20f38f007"),
    ("setbb al", "0f92c0"),
    ("retq", "c3"),
    ("call word ptr [rdi]", "66ff17"),
    ("lar rax, ax", "480f02c0"),
]


@pytest.mark.parametrize(("text", "expected"), SPELLINGS)
def test_what_a_text_leaves_out_is_completed(text: str, expected: str) -> None:
    assert (code_of(text, "att") or b"").hex() == expected


@pytest.mark.parametrize(("text", "expected"), SUFFIXES)
def test_intel_syntax_has_suffixes_for_gnu_as(text: str, expected: str) -> None:
    assert (code_of(text, "intel") or b"").hex() == expected


@pytest.mark.parametrize(
    "text", ["addw eax, 5", "addb rax, 1", "addl eax, 5", "shld [rdi]", "pushd 5", "flds [rdi]"]
)
def test_these_suffixes_in_intel_syntax_are_refused(text: str) -> None:
    assert code_of(text, "intel") == b""


REFUSED = {
    "att": """
        add %eax, %bx; add %al, %ebx; movl %rax, (%rsi); addq %eax, (%rdi); cmovb %al, %bl; lea %rax, %rbx
        movzx %eax, %rbx; movsxd %ax, %eax; push %eax; pop %ds; push %cs; mov %eax, %cr3; bswap (%rax)
        xchg (%rax), (%rbx); xchg %eax, %rax; xchg $1, %eax; test (%rsi), $1; test $1, $2
        add $0x123456789, %rax; shl $300, %eax; rol $-129, %rax; push $0x123456789; int $256; ret $0x12345
        imul $0x123456789, %rax, %rbx; vpslld $300, %xmm0, %xmm1; pshufd $256, %xmm0, %xmm1; bt $256, %eax
        enter $65536, $0; cmp $3, $1; mov $1, $2; movabs $5, %eax; movabs (%rbx), %rax
        mov (%rax,%rbx,3), %eax; mov (%rax,%rsp), %eax; mov (,%rsp,2), %eax; mov (%bx,%si), %eax
        mov (%rax,%ecx), %edx; mov (%rip,%rax), %eax; mov (%al), %eax; mov 0x123456789(%rax), %eax
        movl %cs:(%rax), %ds:(%rbx); mov %zs:(%rax), %eax; movs %fs:(%rsi), %gs:(%rdi)
        mov %ah, %r8b; add %ah, %sil; mov %dh, (%r9); movzx %ah, %r8d; movzbq %ah, %rax; xchg %bh, %dil
        vaddps %xmm0, %ymm1, %ymm2; vaddps %zmm1, %ymm2, %zmm3; addps %ymm0, %ymm1; vaddps %xmm0, %xmm1
        vgatherdps %ymm0, (%rax), %ymm1
        vaddps (%rax){1to4}, %zmm0, %zmm1
        vaddps %zmm0, %zmm1, %zmm2{%k0}; vaddps %zmm0, %zmm1, %zmm2{z}; vaddps {sae}, %zmm0, %zmm1, %zmm2
        vmovaps %zmm0, (%rax){%k1}{z}; kaddb %k0, %k1; fadd %st(1), %st(2); fadd %st, %st(1), %st(2); fld %eax
        {evex} add %eax, %ebx; {vex} vaddps %zmm0, %zmm1, %zmm2
        lock add %eax, %ebx; lock mov %eax, (%rbx); rep add %eax, (%rbx)
    """,
    "intel": """
        add bx, eax; mov dword ptr [rsi], rax; add dword ptr [rdi], rax; mov [rax], 1; inc [rax]; push eax
        movzx rbx, eax; movsx eax, [rbx]; xchg [rax], [rbx]; test 1, [rsi]; add rax, 0x123456789; shl eax, 300
        movabs r9w, 0x100; movabs eax, 5; movabs rax, [rbx]; movabs rcx, rax; mov eax, [rax + rbx*3]
        mov eax, [rsp*2]; mov eax, [rax + ecx]; mov eax, [bx + si]; mov eax, [al]; mov r8b, ah; add sil, ah
        addps xmm1, qword ptr [rax]; vaddps ymm2, ymm1, xmmword ptr [rax]; vaddps zmm1, zmm0, dword ptr [rax]
        vaddps zmm2{k0}, zmm1, zmm0; fadd st(2), st(1); fadd qword ptr [rax], st; call eax
    """,
}


@pytest.mark.parametrize("dialect", ["att", "intel"])
def test_these_are_refused(dialect: str) -> None:
    texts = [text.strip() for text in re.split("[;\n]", REFUSED[dialect]) if text.strip()]
    assert {text: code for text in texts if (code := code_of(text, dialect))} == {}
    if AS is not None:
        assert [text for text in texts if text not in refused(dialect, texts)] == []


@pytest.mark.parametrize(
    ("mnemonic", "operands", "expected"),
    [
        ("add", [Register("ebx"), Immediate(0x1234)], "81c334120000"),
        ("add", [Register("ax"), Immediate(1)], "6683c001"),
        ("add", [Register("eax"), Immediate(0x1234)], "0534120000"),
        ("add", [Register("rax"), Immediate(0x1_0000_0000)], ""),
        ("xchg", [Register("rax"), Register("rbx")], "4893"),
        ("xchg", [Register("rbx"), Register("rax")], "4893"),
        ("mov", [Register("rax"), Immediate(1)], "48c7c001000000"),
        ("mov", [Register("rax"), Immediate(0x1_0000_0000)], "48b80000000001000000"),
        ("vmovaps", [Register("ymm1"), Register("ymm9")], "c57c29c9"),
        ("vmovaps", [Register("ymm17"), Register("ymm9")], "62c17c2828c9"),
        ("vpdpbusd", [Register("ymm3"), Register("ymm2"), Register("ymm1")], "62f26d2850d9"),
        ("vpextrw", [Register("rsi"), Register("xmm11"), Immediate(0x6E)], "c4c179c5f36e"),
        ("shl", [Register("eax")], "d1e0"),
        ("imul", [Register("eax"), Immediate(3)], "6bc003"),
        ("add", [Register("eax"), Register("bx")], ""),
        ("lfs", [Register("rax"), Register("rbx")], ""),
    ],
)
def test_gnu_as_prefers(mnemonic: str, operands: list[Register | Immediate], expected: str) -> None:
    chosen = choose(EncodingRequest(mnemonic, operands, is_att=False))
    assert (chosen.code.hex() if chosen else "") == expected
