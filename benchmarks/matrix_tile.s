# A tile of a matrix product, 4 rows by 16 columns of floats, two steps of the inner dimension a round:
# 30 instructions, the size of region for which docs/performance.md states how long an edit takes.
#
# rsi: end of the rows' panel (4 floats a step); rdi: end of the columns' panel (16 floats a step);
# rcx: minus the bytes of the rows' panel.

        .text
        .globl  matrix_tile
matrix_tile:
        .p2align 4
# cyclelens-begin tile
.Lsteps:
        vmovups (%rdi,%rcx,4), %ymm8
        vmovups 32(%rdi,%rcx,4), %ymm9
        vbroadcastss (%rsi,%rcx), %ymm10
        vbroadcastss 4(%rsi,%rcx), %ymm11
        vbroadcastss 8(%rsi,%rcx), %ymm12
        vbroadcastss 12(%rsi,%rcx), %ymm13
        vfmadd231ps %ymm8, %ymm10, %ymm0
        vfmadd231ps %ymm9, %ymm10, %ymm1
        vfmadd231ps %ymm8, %ymm11, %ymm2
        vfmadd231ps %ymm9, %ymm11, %ymm3
        vfmadd231ps %ymm8, %ymm12, %ymm4
        vfmadd231ps %ymm9, %ymm12, %ymm5
        vfmadd231ps %ymm8, %ymm13, %ymm6
        vfmadd231ps %ymm9, %ymm13, %ymm7
        vmovups 64(%rdi,%rcx,4), %ymm8
        vmovups 96(%rdi,%rcx,4), %ymm9
        vbroadcastss 16(%rsi,%rcx), %ymm10
        vbroadcastss 20(%rsi,%rcx), %ymm11
        vbroadcastss 24(%rsi,%rcx), %ymm12
        vbroadcastss 28(%rsi,%rcx), %ymm13
        vfmadd231ps %ymm8, %ymm10, %ymm0
        vfmadd231ps %ymm9, %ymm10, %ymm1
        vfmadd231ps %ymm8, %ymm11, %ymm2
        vfmadd231ps %ymm9, %ymm11, %ymm3
        vfmadd231ps %ymm8, %ymm12, %ymm4
        vfmadd231ps %ymm9, %ymm12, %ymm5
        vfmadd231ps %ymm8, %ymm13, %ymm6
        vfmadd231ps %ymm9, %ymm13, %ymm7
        add     $32, %rcx
        jnz     .Lsteps
# cyclelens-end
        ret
