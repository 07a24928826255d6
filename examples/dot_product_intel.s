# dot_product.s in the Intel dialect.

        .intel_syntax noprefix
        .text
        .globl  dot
        .type   dot, @function
dot:
        vxorps  xmm0, xmm0, xmm0        # sum
        .p2align 4
# cyclelens-begin dot
.Lblock:
        vmovups ymm1, ymmword ptr [rsi] # eight floats of b
        vfmadd231ps ymm0, ymm1, ymmword ptr [rdi]
        add     rsi, 32
        add     rdi, 32
        dec     rdx
        jnz     .Lblock
# cyclelens-end
        vextractf128 xmm1, ymm0, 1      # add the eight partial sums
        vaddps  xmm0, xmm0, xmm1
        vhaddps xmm0, xmm0, xmm0
        vhaddps xmm0, xmm0, xmm0
        vzeroupper
        ret
        .size   dot, .-dot

        .globl  dot4
        .type   dot4, @function
dot4:
        vxorps  xmm0, xmm0, xmm0
        vxorps  xmm1, xmm1, xmm1
        vxorps  xmm2, xmm2, xmm2
        vxorps  xmm3, xmm3, xmm3
        xor     eax, eax                # offset in bytes
        shl     rdx, 5                  # bytes
        .p2align 4
# cyclelens-begin dot4
.Lfour:
        vmovups ymm4, [rsi + rax]
        vmovups ymm5, [rsi + rax + 32]
        vmovups ymm6, [rsi + rax + 64]
        vmovups ymm7, [rsi + rax + 96]
        vfmadd231ps ymm0, ymm4, [rdi + rax]
        vfmadd231ps ymm1, ymm5, [rdi + rax + 32]
        vfmadd231ps ymm2, ymm6, [rdi + rax + 64]
        vfmadd231ps ymm3, ymm7, [rdi + rax + 96]
        sub     rax, -128               # the short way to add 128
        cmp     rax, rdx
        jb      .Lfour
# cyclelens-end
        vaddps  ymm0, ymm0, ymm1
        vaddps  ymm2, ymm2, ymm3
        vaddps  ymm0, ymm0, ymm2
        vextractf128 xmm1, ymm0, 1
        vaddps  xmm0, xmm0, xmm1
        vhaddps xmm0, xmm0, xmm0
        vhaddps xmm0, xmm0, xmm0
        vzeroupper
        ret
        .size   dot4, .-dot4
        .section .note.GNU-stack, "", @progbits
