# lcp_stall.s in the Intel dialect.

        .intel_syntax noprefix
        .text
        .globl  checksum
        .type   checksum, @function
checksum:
        push    r15
        mov     r15, rdi
        xor     eax, eax
        .p2align 6
# cyclelens-begin unrolled
        add     ax, 0x1234
        dec     r15
# cyclelens-end

        .p2align 6
# cyclelens-begin loop
.Lloop:
        add     ax, 0x1234
        dec     r15
        jnz     .Lloop
# cyclelens-end
        pop     r15
        ret
        .size   checksum, .-checksum
        .section .note.GNU-stack, "", @progbits
