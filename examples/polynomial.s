# void evaluate(const double *x, double *y, size_t blocks)
#
# y = c0 + c1 x + c2 x^2 + c3 x^3 + c4 x^4 + c5 x^5 for 4 * blocks doubles, in two ways.

        .set    BLOCK, 4 * 8            # bytes of four doubles

        .text
        .globl  horner
        .type   horner, @function

# Horner's scheme: five multiply-adds, each waiting for the one before. The blocks are independent,
# so the core overlaps several of them as far as its scheduler reaches.
horner:
        vbroadcastsd top5(%rip), %ymm5
        .p2align 4
# cyclelens-begin horner
.Lhorner:
        vmovupd (%rdi), %ymm0
        vmovapd %ymm5, %ymm1
        vfmadd213pd poly4(%rip), %ymm0, %ymm1
        vfmadd213pd poly3(%rip), %ymm0, %ymm1
        vfmadd213pd poly2(%rip), %ymm0, %ymm1
        vfmadd213pd poly1(%rip), %ymm0, %ymm1
        vfmadd213pd poly0(%rip), %ymm0, %ymm1
        vmovupd %ymm1, (%rsi)
        add     $BLOCK, %rdi
        add     $BLOCK, %rsi
        dec     %rdx
        jnz     .Lhorner
# cyclelens-end
        vzeroupper
        ret
        .size   horner, .-horner

# Estrin's scheme: pairs first, then powers of x^2. More work, shorter chain.

        .globl  estrin
        .type   estrin, @function
estrin:
        vbroadcastsd top5(%rip), %ymm5
        vbroadcastsd top3(%rip), %ymm3
        vbroadcastsd top1(%rip), %ymm4
        .p2align 4
# cyclelens-begin estrin
.Lestrin:
        vmovupd (%rdi), %ymm0
        vmulpd  %ymm0, %ymm0, %ymm2     # x^2
        vmovapd %ymm5, %ymm6
        vmovapd %ymm3, %ymm7
        vmovapd %ymm4, %ymm1
        vfmadd213pd poly4(%rip), %ymm0, %ymm6 # c4 + c5 x
        vfmadd213pd poly2(%rip), %ymm0, %ymm7 # c2 + c3 x
        vfmadd213pd poly0(%rip), %ymm0, %ymm1 # c0 + c1 x
        vfmadd213pd %ymm7, %ymm2, %ymm6
        vfmadd213pd %ymm1, %ymm2, %ymm6
        vmovupd %ymm6, (%rsi)
        add     $BLOCK, %rdi
        add     $BLOCK, %rsi
        dec     %rdx
        jnz     .Lestrin
# cyclelens-end
        vzeroupper
        ret
        .size   estrin, .-estrin

        .section .rodata
        .p2align 5
poly0:  .double 1.0, 1.0, 1.0, 1.0
poly1:  .double 1.0, 1.0, 1.0, 1.0
poly2:  .double 0.5, 0.5, 0.5, 0.5
poly3:  .double 0.16666666666666666, 0.16666666666666666, 0.16666666666666666, 0.16666666666666666
poly4:  .double 0.041666666666666664, 0.041666666666666664, 0.041666666666666664, 0.041666666666666664
top1:   .double 1.0
top3:   .double 0.16666666666666666
top5:   .double 0.008333333333333333
        .section .note.GNU-stack, "", @progbits
