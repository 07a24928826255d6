# float dot(const float *a, const float *b, size_t blocks)
#
# The dot product of two arrays of 8 * blocks floats, blocks > 0 (System V calling convention).
# AVX2 and FMA, one accumulator: every fused multiply-add waits for the one before it, so the loop
# takes the latency of one FMA, whatever else the core could do. The second version keeps four sums.

        .text
        .globl  dot
        .type   dot, @function
dot:
        vxorps  %xmm0, %xmm0, %xmm0     # sum
        .p2align 4
# cyclelens-begin dot
.Lblock:
        vmovups (%rsi), %ymm1           # eight floats of b
        vfmadd231ps (%rdi), %ymm1, %ymm0
        add     $32, %rsi
        add     $32, %rdi
        dec     %rdx
        jnz     .Lblock
# cyclelens-end
        vextractf128 $1, %ymm0, %xmm1   # add the eight partial sums
        vaddps  %xmm1, %xmm0, %xmm0
        vhaddps %xmm0, %xmm0, %xmm0
        vhaddps %xmm0, %xmm0, %xmm0
        vzeroupper
        ret
        .size   dot, .-dot

# The same with four accumulators; blocks is a multiple of four.

        .globl  dot4
        .type   dot4, @function
dot4:
        vxorps  %xmm0, %xmm0, %xmm0
        vxorps  %xmm1, %xmm1, %xmm1
        vxorps  %xmm2, %xmm2, %xmm2
        vxorps  %xmm3, %xmm3, %xmm3
        xor     %eax, %eax              # offset in bytes
        shl     $5, %rdx                # bytes
        .p2align 4
# cyclelens-begin dot4
.Lfour:
        vmovups (%rsi,%rax), %ymm4
        vmovups 32(%rsi,%rax), %ymm5
        vmovups 64(%rsi,%rax), %ymm6
        vmovups 96(%rsi,%rax), %ymm7
        vfmadd231ps (%rdi,%rax), %ymm4, %ymm0
        vfmadd231ps 32(%rdi,%rax), %ymm5, %ymm1
        vfmadd231ps 64(%rdi,%rax), %ymm6, %ymm2
        vfmadd231ps 96(%rdi,%rax), %ymm7, %ymm3
        sub     $-128, %rax             # the short way to add 128
        cmp     %rdx, %rax
        jb      .Lfour
# cyclelens-end
        vaddps  %ymm1, %ymm0, %ymm0
        vaddps  %ymm3, %ymm2, %ymm2
        vaddps  %ymm2, %ymm0, %ymm0
        vextractf128 $1, %ymm0, %xmm1
        vaddps  %xmm1, %xmm0, %xmm0
        vhaddps %xmm0, %xmm0, %xmm0
        vhaddps %xmm0, %xmm0, %xmm0
        vzeroupper
        ret
        .size   dot4, .-dot4
        .section .note.GNU-stack, "", @progbits
