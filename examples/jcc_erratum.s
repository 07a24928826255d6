# uint64_t sum(const uint64_t *values, size_t blocks)
#
# Skylake's microcode keeps no code in the uop cache when a jump, fused with its compare or not, crosses or
# ends at a 32-byte boundary (Intel's "jump conditional code" erratum). Here the loop is 32 bytes long, and
# its jump ends exactly at the boundary: the whole loop has to be decoded again in every round.

        .text
        .globl  sum
        .type   sum, @function
sum:
        xor     %eax, %eax
        xor     %ecx, %ecx
        xor     %edx, %edx
        xor     %r8d, %r8d
        .p2align 6
# cyclelens-begin erratum
.Lsum:
        add     (%rdi), %rax
        add     8(%rdi), %rcx
        add     16(%rdi), %rdx
        add     24(%rdi), %r8
        add     $32, %rdi
        prefetcht0 256(%rdi)
        sub     $1, %rsi                # bytes 26 to 29
        jnz     .Lsum                   # bytes 30 and 31
# cyclelens-end
        add     %rcx, %rax
        add     %r8, %rdx
        add     %rdx, %rax
        ret
        .size   sum, .-sum

# Six bytes of NOP move the pair behind the boundary.

        .globl  sum_padded
        .type   sum_padded, @function
sum_padded:
        xor     %eax, %eax
        xor     %ecx, %ecx
        xor     %edx, %edx
        xor     %r8d, %r8d
        .p2align 6
# cyclelens-begin avoided
.Lpadded:
        add     (%rdi), %rax
        add     8(%rdi), %rcx
        add     16(%rdi), %rdx
        add     24(%rdi), %r8
        add     $32, %rdi
        prefetcht0 256(%rdi)
        .p2align 5
        sub     $1, %rsi
        jnz     .Lpadded
# cyclelens-end
        add     %rcx, %rax
        add     %r8, %rdx
        add     %rdx, %rax
        ret
        .size   sum_padded, .-sum_padded
        .section .note.GNU-stack, "", @progbits
