# big_add.s in the Intel dialect.

        .intel_syntax noprefix
        .text
        .globl  add_limbs
        .type   add_limbs, @function
add_limbs:
        xor     eax, eax                # clears CF
        .p2align 4
# cyclelens-begin add-limbs
.Llimbs:
        mov     r8, [rsi]
        mov     r9, [rsi + 8]
        mov     r10, [rsi + 16]
        mov     r11, [rsi + 24]
        adc     r8, [rdx]
        adc     r9, [rdx + 8]
        adc     r10, [rdx + 16]
        adc     r11, [rdx + 24]
        mov     [rdi], r8
        mov     [rdi + 8], r9
        mov     [rdi + 16], r10
        mov     [rdi + 24], r11
        lea     rsi, [rsi + 32]
        lea     rdx, [rdx + 32]
        lea     rdi, [rdi + 32]
        dec     rcx
        jnz     .Llimbs
# cyclelens-end
        adc     rax, rax                # the carry out
        ret
        .size   add_limbs, .-add_limbs
        .section .note.GNU-stack, "", @progbits
