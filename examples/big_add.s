# uint64_t add_limbs(uint64_t *sum, const uint64_t *a, const uint64_t *b, size_t blocks)
#
# Adds two numbers of 4 * blocks 64-bit limbs, least significant first, and returns the carry.
# The carry lives in CF across the whole loop, so nothing in it may write CF but adc: lea moves the
# pointers, and dec counts, because it leaves CF alone.

        .text
        .globl  add_limbs
        .type   add_limbs, @function
add_limbs:
        xor     %eax, %eax              # clears CF
        .p2align 4
# cyclelens-begin add-limbs
.Llimbs:
        mov     (%rsi), %r8
        mov     8(%rsi), %r9
        mov     16(%rsi), %r10
        mov     24(%rsi), %r11
        adc     (%rdx), %r8
        adc     8(%rdx), %r9
        adc     16(%rdx), %r10
        adc     24(%rdx), %r11
        mov     %r8, (%rdi)
        mov     %r9, 8(%rdi)
        mov     %r10, 16(%rdi)
        mov     %r11, 24(%rdi)
        lea     32(%rsi), %rsi
        lea     32(%rdx), %rdx
        lea     32(%rdi), %rdi
        dec     %rcx
        jnz     .Llimbs
# cyclelens-end
        adc     %rax, %rax              # the carry out
        ret
        .size   add_limbs, .-add_limbs
        .section .note.GNU-stack, "", @progbits
