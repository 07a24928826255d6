# polynomial.s in the Intel dialect.

        .intel_syntax noprefix
        .set    BLOCK, 4 * 8            # bytes of four doubles

        .text
        .globl  horner
        .type   horner, @function
horner:
        vbroadcastsd ymm5, qword ptr top5[rip]
        .p2align 4
# cyclelens-begin horner
.Lhorner:
        vmovupd ymm0, ymmword ptr [rdi]
        vmovapd ymm1, ymm5
        vfmadd213pd ymm1, ymm0, ymmword ptr poly4[rip]
        vfmadd213pd ymm1, ymm0, ymmword ptr poly3[rip]
        vfmadd213pd ymm1, ymm0, ymmword ptr [rip + poly2]
        vfmadd213pd ymm1, ymm0, ymmword ptr [rip + poly1]
        vfmadd213pd ymm1, ymm0, [rip + poly0]
        vmovupd ymmword ptr [rsi], ymm1
        add     rdi, BLOCK
        add     rsi, BLOCK
        dec     rdx
        jnz     .Lhorner
# cyclelens-end
        vzeroupper
        ret
        .size   horner, .-horner

        .globl  estrin
        .type   estrin, @function
estrin:
        vbroadcastsd ymm5, qword ptr [rip + top5]
        vbroadcastsd ymm3, qword ptr [rip + top3]
        vbroadcastsd ymm4, qword ptr [rip + top1]
        .p2align 4
# cyclelens-begin estrin
.Lestrin:
        vmovupd ymm0, [rdi]
        vmulpd  ymm2, ymm0, ymm0        # x^2
        vmovapd ymm6, ymm5
        vmovapd ymm7, ymm3
        vmovapd ymm1, ymm4
        vfmadd213pd ymm6, ymm0, [rip + poly4] # c4 + c5 x
        vfmadd213pd ymm7, ymm0, [rip + poly2] # c2 + c3 x
        vfmadd213pd ymm1, ymm0, [rip + poly0] # c0 + c1 x
        vfmadd213pd ymm6, ymm2, ymm7
        vfmadd213pd ymm6, ymm2, ymm1
        vmovupd [rsi], ymm6
        add     rdi, BLOCK
        add     rsi, BLOCK
        dec     rdx
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
