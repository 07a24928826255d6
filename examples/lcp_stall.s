# unsigned short checksum(size_t rounds)
#
# A length-changing prefix: 66 in front of an instruction with a 16-bit immediate makes its length depend
# on the prefix, and Intel's predecoder stops for three cycles at every one.
#
# Straight-line code is fetched and predecoded again and again, so it pays every time. A short loop
# pays in its first round only: later rounds come from the uop cache, behind the predecoder.

        .text
        .globl  checksum
        .type   checksum, @function
checksum:
        push    %r15
        mov     %rdi, %r15
        xor     %eax, %eax
        .p2align 6
# cyclelens-begin unrolled
        add     $0x1234, %ax
        dec     %r15
# cyclelens-end

        .p2align 6
# cyclelens-begin loop
.Lloop:
        add     $0x1234, %ax
        dec     %r15
        jnz     .Lloop
# cyclelens-end
        pop     %r15
        ret
        .size   checksum, .-checksum
        .section .note.GNU-stack, "", @progbits
