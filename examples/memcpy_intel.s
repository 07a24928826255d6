// memcpy.s in the Intel dialect.

        .intel_syntax noprefix
        .text
        .globl  copy
        .type   copy, @function
copy:
        mov     rax, rdi                # the result
        add     rdi, rdx                # both pointers to the end ...
        add     rsi, rdx
        neg     rdx                     # ... and the offset from minus the size
        .p2align 4
        // cyclelens-begin copy
.Lcopy:
        vmovdqu ymm0, [rsi + rdx]
        vmovdqu ymm1, [rsi + rdx + 32]
        vmovdqu [rdi + rdx], ymm0       # an indexed store cannot use port 7
        vmovdqu [rdi + rdx + 32], ymm1
        add     rdx, 64
        jnz     .Lcopy
        // cyclelens-end
        vzeroupper
        ret
        .size   copy, .-copy

        .globl  copy_plain
        .type   copy_plain, @function
copy_plain:
        mov     rax, rdi
        .p2align 4
        // cyclelens-begin copy-plain
1:
        vmovdqu ymm0, [rsi]
        vmovdqu ymm1, [rsi + 32]
        vmovdqu [rdi], ymm0
        vmovdqu [rdi + 32], ymm1
        add     rsi, 64
        add     rdi, 64
        sub     rdx, 64
        ja      1b
        // cyclelens-end
        vzeroupper
        ret
        .size   copy_plain, .-copy_plain
        .section .note.GNU-stack, "", @progbits
