# size_t find(const unsigned char *text, size_t bytes, int byte)
#
# Position of the first such byte, or bytes if there is none. bytes is a multiple of 64 (of 16 for find16).

        .text
        .globl  find
        .type   find, @function
find:
        vmovd   %edx, %xmm2
        vpbroadcastb %xmm2, %ymm2
        xor     %eax, %eax
        .p2align 4
# AVX2, 64 bytes an iteration; the exit is a jump out of the region that is assumed not to be taken.
# cyclelens-begin find-avx2
.Lnext:
        vpcmpeqb (%rdi,%rax), %ymm2, %ymm0
        vpcmpeqb 32(%rdi,%rax), %ymm2, %ymm1
        vpor    %ymm1, %ymm0, %ymm3
        vpmovmskb %ymm3, %ecx
        test    %ecx, %ecx
        jnz     .Lfound
        add     $64, %rax
        cmp     %rsi, %rax
        jb      .Lnext
# cyclelens-end
        vzeroupper
        ret
.Lfound:
        vpmovmskb %ymm0, %edx
        vpmovmskb %ymm1, %ecx
        shl     $32, %rcx
        or      %rdx, %rcx
        bsf     %rcx, %rcx
        add     %rcx, %rax
        vzeroupper
        ret
        .size   find, .-find

# SSE2, 16 bytes an iteration.

        .globl  find16
        .type   find16, @function
find16:
        movd    %edx, %xmm2
        punpcklbw %xmm2, %xmm2
        pshuflw $0, %xmm2, %xmm2
        punpcklqdq %xmm2, %xmm2
        xor     %eax, %eax
        .p2align 4
# cyclelens-begin find-sse2
1:      movdqu  (%rdi,%rax), %xmm0
        pcmpeqb %xmm2, %xmm0
        pmovmskb %xmm0, %ecx
        test    %ecx, %ecx
        jnz     2f
        add     $16, %rax
        cmp     %rsi, %rax
        jb      1b
# cyclelens-end
        ret
2:      bsf     %ecx, %ecx
        add     %rcx, %rax
        ret
        .size   find16, .-find16
        .section .note.GNU-stack, "", @progbits
