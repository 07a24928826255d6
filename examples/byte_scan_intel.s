# byte_scan.s in the Intel dialect.

        .intel_syntax noprefix
        .text
        .globl  find
        .type   find, @function
find:
        vmovd   xmm2, edx
        vpbroadcastb ymm2, xmm2
        xor     eax, eax
        .p2align 4
# cyclelens-begin find-avx2
.Lnext:
        vpcmpeqb ymm0, ymm2, [rdi + rax]
        vpcmpeqb ymm1, ymm2, [rdi + rax + 32]
        vpor    ymm3, ymm0, ymm1
        vpmovmskb ecx, ymm3
        test    ecx, ecx
        jnz     .Lfound
        add     rax, 64
        cmp     rax, rsi
        jb      .Lnext
# cyclelens-end
        vzeroupper
        ret
.Lfound:
        vpmovmskb edx, ymm0
        vpmovmskb ecx, ymm1
        shl     rcx, 32
        or      rcx, rdx
        bsf     rcx, rcx
        add     rax, rcx
        vzeroupper
        ret
        .size   find, .-find

        .globl  find16
        .type   find16, @function
find16:
        movd    xmm2, edx
        punpcklbw xmm2, xmm2
        pshuflw xmm2, xmm2, 0
        punpcklqdq xmm2, xmm2
        xor     eax, eax
        .p2align 4
# cyclelens-begin find-sse2
1:      movdqu  xmm0, xmmword ptr [rdi + rax]
        pcmpeqb xmm0, xmm2
        pmovmskb ecx, xmm0
        test    ecx, ecx
        jnz     2f
        add     rax, 16
        cmp     rax, rsi
        jb      1b
# cyclelens-end
        ret
2:      bsf     ecx, ecx
        add     rax, rcx
        ret
        .size   find16, .-find16
        .section .note.GNU-stack, "", @progbits
