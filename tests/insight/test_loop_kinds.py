"""Kinds of loops that take other times than the figure: measured by time stamps on an EPYC 9004."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.result import Prediction

TEXT = ".intel_syntax noprefix\n# cyclelens-begin k\n.p2align 6\n1: {}\n dec r15\n jnz 1b\n# cyclelens-end\n"


def predicted(body: str, core: str = "ZEN4") -> Prediction:
    options = AnalysisOptions(target=Target(microarchitectures=(core,)))
    (region,) = Analyzer().analyze(TEXT.format(body.replace(";", "\n")), options).regions
    return region.predictions[0]


def differences(made: Prediction) -> list[float]:
    found = [each.values for each in made.assumptions if each.code == "measured-otherwise"]
    return [float(each["difference_cycles"]) for each in found if each is not None]


@pytest.mark.parametrize(
    ("body", "measured"),
    [
        ("imul r10, rbx, 3; lea rdx, [rbx+1]; lea rsi, [rbx+2]; lea r8, [rbx+3]", 1.50),
        ("pdep r10, rbx, rax; add rdx, 1; add rsi, 1; add r8, 1", 1.58),
        ("add rdx, 1; add rsi, 1; add r8, 1; imul r10, rbx, 3", 1.66),
        (
            "imul r10, rbx, 3; imul rcx, rbx, 3; lea rdx, [rbx+1]; lea rsi, [rbx+2]; lea r8, [rbx+3]; "
            "lea r9, [rbx+4]; lea r11, [rbx+5]",
            3.25,
        ),
        ("add r10, rbx; sub [rdi+192], r9; setz sil; imul rdx, rbx, 7", 1.62),
        ("vmovq xmm0, r8; vpor ymm6, ymm4, ymm5; vpcmpeqb ymm1, ymm4, ymm5", 1.28),
        ("vmovq xmm0, r8; vmovups [rdi], ymm3; vpor ymm6, ymm4, ymm5", 1.28),
        ("vcvtsi2sd xmm0, xmm6, r8; vpor ymm7, ymm4, ymm5; vpcmpeqb ymm2, ymm4, ymm5", 1.63),
        ("vcvtsi2sd xmm0, xmm1, rax; add rbx, rcx; sub rdx, [rdi]", 1.45),
        ("vmovd eax, xmm0; not rbx", 2.00),
        ("vmovd eax, xmm0; lea rbx, [rcx+1]", 1.50),
        ("vpmovmskb eax, xmm0; sub rcx, rdx; vpcmpgtb xmm9, xmm11, xmm3", 1.57),
        ("vcvttsd2si rax, xmm0; vcvttsd2si rbx, xmm1; lea rdx, [rcx+2]", 2.75),
        ("mov rax, rbx; mul bx", 2.00),
        ("mov eax, 1; mul cx; imul r8, r9; imul r10, r9", 3.00),
        ("mov rax, rbx; imul rcx", 1.79),
        ("bt r11, 5; neg r10; shl r9, 3; sub r10, rbx; cmovz rbx, r9", 3.00),
        ("imul rax, rax; shl r8, 3; shl r9, 3; shl r10, 3; shl r11, 3", 3.50),
        ("imul rax, rax; imul rdx, rdx; rol r8, 7; sar r9, cl; shlx rsi, r10, rcx", 3.50),
        (
            "vpermilps ymm7, ymm7, 27; vmulps ymm0, ymm1, ymm2; vaddps ymm3, ymm4, ymm5; "
            "vmulps ymm6, ymm1, ymm2; vaddps ymm8, ymm4, ymm5; vpaddd ymm9, ymm10, ymm11; lea rax, [rbx+1]",
            2.36,
        ),
        (
            "vpaddd ymm7, ymm7, ymm1; vmulps ymm0, ymm1, ymm2; vaddps ymm3, ymm4, ymm5; "
            "vmulps ymm6, ymm1, ymm2; vaddps ymm8, ymm4, ymm5; vpaddd ymm9, ymm10, ymm11",
            1.91,
        ),
        ("inc qword ptr [r13+160]; vmovaps ymm1, [rdi]; vmovaps ymm2, [rdi+32]", 1.50),
        ("xor [r13+160], r8; vmovdqu ymm0, [r12+128]", 1.16),
        ("vinserti128 ymm1, ymm4, xmm1, 1; vandps ymm10, ymm8, ymm1", 1.22),
        ("vbroadcastss ymm1, xmm1; vpand ymm10, ymm5, ymm1", 1.22),
        ("lahf; rcr ax, 3", 4.00),
        ("cmc; rcr ax, 3", 4.00),
        ("imul rax, rbx, 3; shl rcx, 3; shl rdx, 3", 1.75),
        ("imul rax, rbx, 3; bzhi rcx, rbx, rsi; shl rdx, 3", 1.83),
        (
            "mov rbx, [rdi+48]; movzx rcx, byte ptr [rdi]; add r10, rbx; mov r9, [r12+16]; mov rcx, [r12]",
            1.50,
        ),
        ("mov rax, [rdi]; mov rcx, [rdi+8]; mov rdx, [rdi+16]; mov [r13], rsi; cmp rsi, rbp", 1.50),
        ("vextracti128 xmm1, ymm1, 1; vpshufb ymm10, ymm5, ymm1; vshufps ymm10, ymm7, ymm9, 9", 4.00),
        ("vpermq ymm1, ymm1, 3; vpshufb ymm10, ymm5, ymm1; vshufps ymm10, ymm7, ymm9, 9", 5.00),
        ("vucomiss xmm0, xmm1; setb al", 1.51),
        ("vucomiss xmm0, xmm1; cmp rax, rbx", 1.25),
        ("vmovsd xmm0, [rdi]; vucomisd xmm0, xmm1", 1.20),
        ("vaddps ymm0, ymm0, ymm11; vaddps ymm10, ymm10, ymm0; vpaddd ymm1, ymm8, ymm9", 4.00),
        ("vfmadd213pd ymm0, ymm3, ymm11; vfmadd231ps ymm10, ymm0, ymm8; vaddps ymm1, ymm8, ymm9", 5.06),
        ("vfmadd213pd ymm0, ymm3, ymm11; vmulps ymm10, ymm0, ymm8; vmulps ymm1, ymm8, ymm9", 4.87),
        (
            "vpsubd ymm8, ymm4, ymm2; vpshufb ymm5, ymm11, ymm9; vpsubd ymm10, ymm11, ymm9; "
            "vpermq ymm7, ymm6, 3",
            1.34,
        ),
        ("xchg ax, bx; xchg dx, si", 1.53),
        ("xchg al, bl; xchg dl, sil", 1.53),
        ("xadd ax, bx; xadd dx, si", 1.53),
        ("mov rax, [rdi]; mov rdx, [rdi+8]; mov ebx, ds", 1.49),
        ("mov rax, [rdi]; mov rdx, [rdi+8]; mov rsi, [rdi+16]; mov bx, ds", 2.00),
        ("fld st(0); fadd qword ptr [rdi]; fstp st(0)", 1.50),
        ("fldz; fadd qword ptr [rdi]; fstp st(0)", 2.00),
        ("fld qword ptr [rdi]; fadd qword ptr [rdi+8]; fstp st(0)", 1.12),
        ("push rbx; pop rax; mov [rdi+16], r9; mov [rdi+24], r8", 3.00),
        ("sub rsi, [rdi+64]; mov [rdi+64], r8; add r11, 1; or r10, rdx", 1.26),
        ("add r11, r9; sub [rdi+8], rdx; mov rbx, [rdi+32]", 1.15),
        ("mov [rdi+192], rdx; sub rdx, rax; cmp rbx, rsi; movsxd r8, edx", 1.15),
        ("mov rcx, [rdi]; add rdi, 8; add rdx, rcx", 1.19),
        ("mov rcx, [rdi]; mov rax, [rsi]; add rdi, 8; add rdx, rcx", 1.47),
        ("movzx ecx, byte ptr [rdi]; add rdi, 1; add edx, ecx; add eax, edx", 1.38),
        ("mov rcx, [rdi]; add rdi, 8; test rcx, rcx", 1.19),
        (
            "mov r9, [rsi+rax*8]; shlx r8, r9, rcx; or r8, r10; shrx r10, r9, r11; mov [rdi+rax*8], r8; "
            "inc rax",
            1.87,
        ),
        (
            "movzx eax, byte ptr [rsi+r8]; mov byte ptr [rdi+2*r8], al; movzx eax, byte ptr [rdx+r8]; "
            "mov byte ptr [rdi+2*r8+1], al; inc r8",
            1.50,
        ),
        (
            "vmovups ymm0, [rsi+rax]; vmovups ymm1, [rdx+rax]; vfmadd213ps ymm0, ymm1, [rdi+rax]; "
            "vmovups [r8+rax], ymm0; add rax, 32",
            1.74,
        ),
        (
            "vmovups ymm0, [rsi+rax]; vmovups ymm1, [rdx+rax]; vfmadd213ps ymm0, ymm1, [rdi+rax]; "
            "add rax, 32",
            1.66,
        ),
        ("vmovups zmm0, [rdi+8]; lea rax, [rbx+1]", 1.50),
        ("vmovups zmm0, [rdi+8]; vmovups zmm1, [rdi+72]; vmovups zmm2, [rdi+136]", 4.51),
        ("vmovups [rdi+8], zmm0", 3.00),
        ("vunpcklps zmm0, zmm0, zmm1", 1.16),
        ("vpaddd zmm0, zmm0, [rdi]; add rdi, 64", 1.15),
        ("vcmpps k1, zmm6, zmm2, 1; vpsubq ymm7, ymm1, ymm1; vpcmpeqd ymm6, ymm3, ymm5", 1.69),
        (
            "vpavgb ymm6, ymm4, ymm4; vpblendd ymm2, ymm3, ymm1, 5; vmovd xmm2, dword ptr [rdi+128]; "
            "vmulpd zmm1, zmm4, zmm7",
            1.28,
        ),
        (
            "push rdx; pop r8; vmovups xmm0, [rcx+8]; cmp dword ptr [rdi+64], 5; movzx edx, byte ptr [rcx]",
            1.84,
        ),
        (
            "vpaddq ymm7, ymm0, ymm1; vpsrlq ymm8, ymm7, 30; vpxor ymm7, ymm8, ymm7; vpmuludq ymm8, "
            "ymm7, ymm2; vpsrlq ymm9, ymm7, 32; vpmuludq ymm9, ymm9, ymm3; vpaddq ymm8, ymm8, ymm9; "
            "vpsllq ymm8, ymm8, 32; vpmuludq ymm7, ymm7, ymm3; vpaddq ymm7, ymm8, ymm7; vpsrlq ymm8, "
            "ymm7, 27; vpxor ymm7, ymm8, ymm7",
            3.49,
        ),
    ],
)
def test_a_loop_of_a_kind_says_what_such_loops_took(body: str, measured: float) -> None:
    made = predicted(body)
    ends = sorted((0.0, max(differences(made), key=abs)))
    least, most = (made.cycles_per_iteration + each for each in ends)
    assert least - 0.02 <= measured <= most + 0.02
    assert abs(measured / made.cycles_per_iteration - 1) > 0.05


@pytest.mark.parametrize(
    ("body", "measured"),
    [
        ("imul r10, rbx, 3; lea rdx, [rbx+1]; lea rsi, [rbx+2]", 1.00),
        ("imul rax, rbx; add rdx, 1; add rsi, 1; add r8, 1", 3.00),
        (
            "imul r10, rbx, 3; lea rdx, [rbx+1]; lea rsi, [rbx+2]; lea r8, [rbx+3]; lea r9, [rbx+4]; "
            "lea r11, [rbx+5]; lea rax, [rbx+6]",
            2.00,
        ),
        ("popcnt r10, rbx; add rdx, 1; add rsi, 1; add r8, 1", 1.25),
        ("vmovq xmm0, r8", 1.00),
        ("vmovd esi, xmm5; vmovd edx, xmm5", 2.00),
        ("vmovups [rdi+64], ymm2; vmovups [rdi+96], ymm2", 2.00),
        ("vaddps ymm0, ymm0, ymm11; vaddps ymm10, ymm10, ymm0", 3.00),
        ("vfmadd213pd ymm0, ymm3, ymm11; vmulps ymm1, ymm8, ymm9", 4.00),
        ("vpermd ymm7, ymm6, ymm3; vpsubd ymm8, ymm4, ymm2", 1.00),
        ("imul rax, rax; shl r8, 3; shl r9, 3; shl r10, 3", 3.00),
        ("vpaddd ymm7, ymm7, ymm1; vpaddd ymm0, ymm1, ymm2; vpaddd ymm3, ymm4, ymm5", 1.00),
        ("mul bx", 3.00),
        ("imul rcx", 3.00),
        ("rcr ax, 3", 3.00),
        ("add rcx, rdx; rcr bx, 3", 3.00),
        ("imul rax, rbx, 3; shl rcx, 3", 1.00),
        ("vcvttsd2si rax, xmm0; mov rbx, [rdi]", 1.00),
        ("mov rbx, [rdi]; mov rcx, [rdi+8]; mov r10, rbx; mov r9, [r12+16]; mov rcx, [r12+8]", 1.33),
        ("mov rbx, [rdi]; mov rcx, [rdi+8]; vpaddd xmm0, xmm1, xmm2; mov r9, [r12]; mov rcx, [r12+8]", 1.33),
        ("vextracti128 xmm1, ymm1, 1; vpshufb ymm10, ymm5, ymm1", 3.00),
        ("xchg ax, bx", 1.00),
        ("mov ebx, ds; mov edx, ds", 2.00),
        ("fld qword ptr [rdi]; fstp st(0)", 1.00),
        ("push rbx; pop rax; mov [rdi+16], r9", 2.00),
        ("mov [rdi+16], r9; add rax, 1", 1.00),
        ("mov rax, [rdi]; add rdx, 1; add rsi, 1", 1.00),
        (
            "vmovups ymm0, [rsi]; vmovups ymm1, [rdx]; vfmadd213ps ymm0, ymm1, [rdi]; vmovups [r8], ymm0; "
            "add rax, 32",
            1.50,
        ),
        (
            "vmovups xmm0, [rsi+rax]; vmovups xmm1, [rdx+rax]; vfmadd213ps xmm0, xmm1, [r8+rax]; "
            "vmovups [rdi+rax], xmm0; add rax, 16",
            1.52,
        ),
        ("mov rcx, [rdi]; add rdi, 8; add rdx, rax", 1.00),
        ("mov rcx, [rsi]; add rdi, 8; add rdx, rcx", 1.00),
        ("mov rcx, [rdi]; imul rax, rax; add rdi, 8; add rdx, rcx", 3.00),
        ("vmovups zmm0, [rdi+64]; lea rax, [rbx+1]", 1.00),
        ("vmovups [rdi+64], zmm0", 2.00),
        ("vpaddd zmm0, zmm0, zmm1", 1.00),
        ("vunpcklps zmm0, zmm2, zmm1", 1.00),
        ("push rdx; pop r8; vmovups xmm0, [rcx+8]", 1.00),
        ("vpaddd ymm0, ymm1, ymm2; vpaddd ymm3, ymm1, ymm2; vpaddd ymm4, ymm1, ymm2", 1.00),
        ("vpaddd zmm0, zmm1, zmm2; vpaddd zmm3, zmm1, zmm2; vpaddd zmm4, zmm1, zmm2", 1.50),
    ],
)
def test_loops_beside_them_say_nothing(body: str, measured: float) -> None:
    made = predicted(body)
    assert made.cycles_per_iteration == pytest.approx(measured, rel=0.03)
    assert not differences(made)


def test_other_cores_were_not_measured() -> None:
    assert not differences(predicted("xchg ax, bx; xchg dx, si", "ZEN3"))
    assert not differences(predicted("imul r10, rbx, 3; add rdx, 1; add rsi, 1; add r8, 1", "SKL"))
