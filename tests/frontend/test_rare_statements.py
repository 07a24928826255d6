"""Rarely used statements: the bytes of GNU as and NASM, or their refusal."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.source import AssembledFile
from testkit.gnu_as import AS, assembled
from testkit.single_statements import code_of

ATT = """
{rex} mov %al, %bl|{rex} mov %ah, %bl|{rex} mov %rax, %rbx|{rex} nop|{rex} pause|{rex} addps %xmm0, %xmm1
{rex} popcnt %eax, %ebx|{rex} fsave (%rax)|{rex} vaddps %xmm0, %xmm1, %xmm2|lock {rex} addl $1, (%rax)
movsl %eax, %rbx|movsl (%rax), %rbx|movsb (%rax), %eax|movsw (%rax), %eax|movsw (%rax), %ax|movsww %ax, %ax
movzxb %al, %eax|movzxw (%rax), %eax|movsxb (%rax), %ax|movsxl %eax, %rax|movzl %eax, %rax|movslq %eax, %eax
movzww %ax, %ax|movsxdl %eax, %rax|mov %db7, %rax|mov %rax, %db0|fildq (%rax)|fistpq (%rax)|fisttpq (%rax)
fistq (%rax)|div %rcx, %rax|divb %cl, %al|divw (%rax), %ax|idiv (%rbx), %eax|div %rcx, %rbx|mul %ecx, %eax
ud2b %eax, %ebx|ud2b|xlat %fs:(%rbx)|xlat (%ebx)|movs|cmps (%rdi), (%rsi)|stos
movsb %fs:(%rsi), (%rdi)
movsb (%rsi), %fs:(%rdi)|movsb (%esi), (%edi)|movsb (%esi), (%rdi)|movsw %fs:(%esi), (%edi)
lods %gs:(%rsi), %eax|outsb %gs:(%rsi), (%dx)|insb (%dx), (%edi)|rep movsb %fs:(%rsi), (%rdi)
vmrun %rax|vmload %eax|invlpga %rax, %ecx|invlpga %eax, %ecx|skinit %eax|skinit %rax|clzero %eax
monitor %rax, %ecx, %edx|monitor %eax, %ecx, %edx|monitorx %eax, %ecx, %edx|mwait %eax, %ecx
mwaitx %eax, %ecx, %ebx|mwaitx %eax, %ecx|umwait %ecx, %edx, %eax|tpause %eax, %edx, %ecx|umwait %rax
vaddps %zmm0, %zmm1, {rn-sae}, %zmm2|vaddps %zmm0{rn-sae}, %zmm1, %zmm2|lcallw *(%rax)|ljmp *(%rax)
cmpxchg8bq (%rdi)|lock cmpxchg8bq 8(%rax,%rcx,4)|cmpxchg8bw (%rdi)|cmpxchg16bq (%rdi)
xstorerng|rep xstorerng|repne xstore-rng|REP XCRYPT-ECB|xcryptecb|repz xcryptcbc|rep montmul
cs rep xsha1|data16 xsha256|rex64 xsha1|xcrypt-rng|lock xstorerng
"""
INTEL = """
push word ptr 1|push qword ptr 1
push dword ptr 1|push word ptr 0x1234|push qword ptr 0x1234|mov eax, dword ptr 4
mov eax, word ptr 4|mov al, byte ptr 5|mov dword ptr [rax], dword ptr 5|add rax, dword ptr 4
{rex} add eax, ebx
jmp near ptr [rax]|call far ptr [rax]|jmp far ptr [rax]|call far ptr f|jmp dword ptr [rax]
call dword ptr [rax]
call word ptr [rax]|jmp fword ptr [rax]|lcall [rax]|ljmp [rax]|ljmp fword ptr [rax]|lcall qword ptr [rax]
retfq|retfd|retfw|lretq|mov rax, db7|mov db7, rax|xlat byte ptr fs:[rbx]
movs byte ptr [edi], byte ptr [esi]
movs dword ptr es:[rdi], dword ptr fs:[rsi]|outs dx, byte ptr fs:[rsi]|scas byte ptr [edi]
monitor eax, ecx, edx
vaddps zmm2, zmm1, zmm0{rn-sae}|vaddps zmm2, zmm1{rn-sae}, zmm0|vrndscaleps zmm1, zmm0{sae}, 1
vcvtsi2sd xmm2, xmm1, {rz-sae}, rax|vcvtsi2sd xmm2, xmm1{rz-sae}, rax|vcvtsi2sd xmm2, xmm1, rax{rz-sae}
vfpclasspd k1, qword bcst [rax], 1|vfpclassps k1, dword ptr [rax]{1to4}, 1|vcvtpd2ps xmm0, qword bcst [rax]
vcvtpd2ps ymm0, qword bcst [rax]|vcvtpd2ph xmm0, qword bcst [rax]|vaddps zmm2, {rz-sae}, zmm1, zmm0
"""


@pytest.mark.skipif(AS is None, reason="GNU as is not installed")
@pytest.mark.parametrize(("dialect", "lines"), [("att", ATT), ("intel", INTEL)])
def test_rare_statements_have_the_bytes_of_gnu_as_or_are_refused(dialect: str, lines: str) -> None:
    texts = lines.strip().replace("\n", "|").split("|")
    expected = assembled(dialect, texts)
    found = {text: code_of(text, dialect) for text in texts}
    assert {text: (found[text], expected[text]) for text in texts if found[text] != expected[text]} == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{rex} mov %al, %bl", "4088c3"),
        ("{rex} jmp 1f; 1:", "40eb00"),
        ("monitor %eax, %ecx, %edx", "670f01c8"),
        ("movsw %fs:(%esi), (%edi)", "646766a5"),
        (".intel_syntax noprefix; mov eax, dword ptr 4", "b804000000"),
        (".intel_syntax noprefix; jc near ptr 1f; 1:", "7200"),
        (".intel_syntax noprefix; call far ptr [rax]", "ff18"),
    ],
)
def test_the_bytes_of_rare_statements(code: Callable[..., str], text: str, expected: str) -> None:
    assert code(text) == expected


def test_a_call_with_a_16_bit_distance_is_named(region: Callable[..., AssembledFile]) -> None:
    (problem,) = region("callw f").problems
    assert problem.message == ("GNU as writes a 16-bit distance for 'callw', but processors read 32 bits.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("repne xcryptcbc", "GNU as does not accept two prefixes of the same kind."),
        ("frstpm", "'frstpm' is an instruction of the 287 that no 64-bit processor has."),
    ],
)
def test_what_is_refused_has_one_sentence(
    region: Callable[..., AssembledFile], text: str, message: str
) -> None:
    assert [problem.message for problem in region(text).problems] == [message]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("repne xcryptecb", "f20fa7c8"),
        ("mov eax, f", "b8........"),
        ("mov rax, f", "48b8................"),
        ("push f", "68........"),
        ("add ebx, f + 4", "81c3........"),
        ("mov eax, [f]", "8b0425........"),
        ("mov eax, f - x", "b8" + "05000000"),
    ],
)
def test_a_name_is_a_number_for_nasm(nasm: Callable[[str], AssembledFile], text: str, expected: str) -> None:
    result = nasm(text)
    assert not result.problems
    found = result.regions[0].code.hex()
    assert len(found) == len(expected)
    assert all(one in (other, ".") for one, other in zip(expected, found, strict=True))


@pytest.mark.parametrize("text", ["push [rax]", "pop [rax]", "jmp ax", "call word [rax]"])
def test_what_nasm_refuses_is_refused(nasm: Callable[[str], AssembledFile], text: str) -> None:
    result = nasm(text)
    assert [problem.line for problem in result.problems] == [4]
    assert result.regions[0].incomplete


@pytest.fixture
def nasm() -> Callable[[str], AssembledFile]:
    """Assembles statements of NASM without any other program."""

    def of(text: str) -> AssembledFile:
        lines = "bits 64", "section .text", "x:", "; cyclelens-begin r", text, "; cyclelens-end", "f:"
        return assemble("\n".join(lines), SourceOptions(allow_external_programs=False))

    return of


def test_what_a_name_is_relative_to_changes_no_byte_in_nasm(nasm: Callable[[str], AssembledFile]) -> None:
    """The bytes are those of NASM 2.16; the linker fills in the zeros."""
    found = nasm(
        "extern foo, bar\n.l: call foo wrt ..plt\nmov rax, [rel bar wrt ..got]\n"
        "add rax, [rel bar WRT ..got]\ndec rbx\njnz .l"
    )
    assert [problem.code for problem in found.problems] == []
    code = b"".join(region.code for region in found.regions)
    assert code.hex() == "e800000000488b050000000048030500000000" + "48ffcb75e8"
