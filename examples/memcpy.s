# void *copy(void *to, const void *from, size_t bytes)
#
# Copies a multiple of 64 bytes, at least 64, between buffers that do not overlap. Two 32-byte loads and
# stores an iteration; the loop counts a negative offset up to zero, which saves the compare.

        .text
        .globl  copy
        .type   copy, @function
copy:
        mov     %rdi, %rax              # the result
        add     %rdx, %rdi              # both pointers to the end ...
        add     %rdx, %rsi
        neg     %rdx                    # ... and the offset from minus the size
        .p2align 4
# cyclelens-begin copy
.Lcopy:
        vmovdqu (%rsi,%rdx), %ymm0
        vmovdqu 32(%rsi,%rdx), %ymm1
        vmovdqu %ymm0, (%rdi,%rdx)      # an indexed store cannot use port 7
        vmovdqu %ymm1, 32(%rdi,%rdx)
        add     $64, %rdx
        jnz     .Lcopy
# cyclelens-end
        vzeroupper
        ret
        .size   copy, .-copy

# The same with plain addresses: the stores' addresses can be computed on port 7.

        .globl  copy_plain
        .type   copy_plain, @function
copy_plain:
        mov     %rdi, %rax
        .p2align 4
# cyclelens-begin copy-plain
1:
        vmovdqu (%rsi), %ymm0
        vmovdqu 32(%rsi), %ymm1
        vmovdqu %ymm0, (%rdi)
        vmovdqu %ymm1, 32(%rdi)
        add     $64, %rsi
        add     $64, %rdi
        sub     $64, %rdx
        ja      1b
# cyclelens-end
        vzeroupper
        ret
        .size   copy_plain, .-copy_plain
        .section .note.GNU-stack, "", @progbits
