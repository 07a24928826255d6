# jcc_erratum.s in the Intel dialect.

        .intel_syntax noprefix
        .text
        .globl  sum
        .type   sum, @function
sum:
        xor     eax, eax
        xor     ecx, ecx
        xor     edx, edx
        xor     r8d, r8d
        .p2align 6
# cyclelens-begin erratum
.Lsum:
        add     rax, [rdi]
        add     rcx, [rdi + 8]
        add     rdx, [rdi + 16]
        add     r8, [rdi + 24]
        add     rdi, 32
        prefetcht0 byte ptr [rdi + 256]
        sub     rsi, 1                  # bytes 26 to 29
        jnz     .Lsum                   # bytes 30 and 31
# cyclelens-end
        add     rax, rcx
        add     rdx, r8
        add     rax, rdx
        ret
        .size   sum, .-sum

        .globl  sum_padded
        .type   sum_padded, @function
sum_padded:
        xor     eax, eax
        xor     ecx, ecx
        xor     edx, edx
        xor     r8d, r8d
        .p2align 6
# cyclelens-begin avoided
.Lpadded:
        add     rax, [rdi]
        add     rcx, [rdi + 8]
        add     rdx, [rdi + 16]
        add     r8, [rdi + 24]
        add     rdi, 32
        prefetcht0 byte ptr [rdi + 256]
        .p2align 5
        sub     rsi, 1
        jnz     .Lpadded
# cyclelens-end
        add     rax, rcx
        add     rdx, r8
        add     rax, rdx
        ret
        .size   sum_padded, .-sum_padded
        .section .note.GNU-stack, "", @progbits
