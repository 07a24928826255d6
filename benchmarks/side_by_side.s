# Twenty kernels for side_by_side.py, each a loop that walks through little memory or none.
    .intel_syntax noprefix

# cyclelens-begin sum-of-integers
.Lsum:
    add     rax, [rsi]
    add     rax, [rsi + 8]
    add     rsi, 16
    dec     rcx
    jnz     .Lsum
# cyclelens-end

# cyclelens-begin dot-product-one-sum
.Ldot1:
    vmovups     ymm1, [rsi]
    vfmadd231ps ymm0, ymm1, [rdi]
    add         rsi, 32
    add         rdi, 32
    dec         rcx
    jnz         .Ldot1
# cyclelens-end

# cyclelens-begin dot-product-four-sums
.Ldot4:
    vmovups     ymm4, [rsi]
    vmovups     ymm5, [rsi + 32]
    vmovups     ymm6, [rsi + 64]
    vmovups     ymm7, [rsi + 96]
    vfmadd231ps ymm0, ymm4, [rdi]
    vfmadd231ps ymm1, ymm5, [rdi + 32]
    vfmadd231ps ymm2, ymm6, [rdi + 64]
    vfmadd231ps ymm3, ymm7, [rdi + 96]
    dec         rcx
    jnz         .Ldot4
# cyclelens-end

# cyclelens-begin axpy
.Lsaxpy:
    vmovups     ymm1, [rsi + rax]
    vfmadd213ps ymm1, ymm0, [rdi + rax]
    vmovups     [rdi + rax], ymm1
    add         rax, 32
    dec         rcx
    jnz         .Lsaxpy
# cyclelens-end

# cyclelens-begin copy-64-bytes-in-two
.Lcopy:
    vmovdqu ymm0, [rsi]
    vmovdqu ymm1, [rsi + 32]
    vmovdqu [rdi], ymm0
    vmovdqu [rdi + 32], ymm1
    dec     rcx
    jnz     .Lcopy
# cyclelens-end

# cyclelens-begin largest-of-32-integers
.Lmax:
    vpmaxsd zmm0, zmm0, [rsi]
    vpmaxsd zmm1, zmm1, [rsi + 64]
    dec     rcx
    jnz     .Lmax
# cyclelens-end

# cyclelens-begin polynomial
.Lhorner:
    vmovups     ymm1, [rsi]
    vmovaps     ymm0, ymm2
    vfmadd213ps ymm0, ymm1, ymm3
    vfmadd213ps ymm0, ymm1, ymm4
    vfmadd213ps ymm0, ymm1, ymm5
    vmovups     [rdi], ymm0
    dec         rcx
    jnz         .Lhorner
# cyclelens-end

# cyclelens-begin FNV-1a
.Lfnv:
    movzx   edx, byte ptr [rsi]
    xor     rax, rdx
    imul    rax, rbx
    dec     rcx
    jnz     .Lfnv
# cyclelens-end

# cyclelens-begin xorshift
.Lxorshift:
    mov     rdx, rax
    shl     rdx, 13
    xor     rax, rdx
    mov     rdx, rax
    shr     rdx, 7
    xor     rax, rdx
    mov     rdx, rax
    shl     rdx, 17
    xor     rax, rdx
    dec     rcx
    jnz     .Lxorshift
# cyclelens-end

# cyclelens-begin count-of-bits
.Lbits:
    popcnt  rax, [rsi]
    popcnt  rdx, [rsi + 8]
    add     r8, rax
    add     r9, rdx
    dec     rcx
    jnz     .Lbits
# cyclelens-end

# cyclelens-begin SHA-256-four-rounds
.Lsha:
    movdqa      xmm0, xmm3
    paddd       xmm0, [rsi]
    sha256rnds2 xmm2, xmm1
    sha256msg1  xmm3, xmm4
    pshufd      xmm0, xmm0, 14
    sha256rnds2 xmm1, xmm2
    dec         rcx
    jnz         .Lsha
# cyclelens-end

# cyclelens-begin AES-four-blocks
.Laes:
    vaesenc xmm0, xmm0, [rsi]
    vaesenc xmm1, xmm1, [rsi]
    vaesenc xmm2, xmm2, [rsi]
    vaesenc xmm3, xmm3, [rsi]
    dec     rcx
    jnz     .Laes
# cyclelens-end

# cyclelens-begin gather
.Lgather:
    vpxor      xmm3, xmm3, xmm3
    vpcmpeqd   ymm2, ymm1, ymm1
    vpgatherdd ymm0, [rsi + ymm3 * 4], ymm2
    vpaddd     ymm4, ymm4, ymm0
    dec        rcx
    jnz        .Lgather
# cyclelens-end

# cyclelens-begin masked-sum
.Lmasked:
    vmovdqu32 zmm1, [rsi]
    vpcmpgtd  k1, zmm1, zmm2
    vpaddd    zmm0 {k1}, zmm0, zmm1
    dec       rcx
    jnz       .Lmasked
# cyclelens-end

# cyclelens-begin sum-of-256-bit-numbers
.Ladc:
    mov     rax, [rsi]
    add     [rdi], rax
    mov     rax, [rsi + 8]
    adc     [rdi + 8], rax
    mov     rax, [rsi + 16]
    adc     [rdi + 16], rax
    mov     rax, [rsi + 24]
    adc     [rdi + 24], rax
    lea     rsi, [rsi + 32]
    lea     rdi, [rdi + 32]
    dec     rcx
    jnz     .Ladc
# cyclelens-end

# cyclelens-begin product-of-numbers-of-64-bits-and-192
.Lmulx:
    mulx    r9, r8, [rsi]
    mulx    r11, r10, [rsi + 8]
    mulx    r13, r12, [rsi + 16]
    add     r9, r10
    adc     r11, r12
    adc     r13, 0
    dec     rcx
    jnz     .Lmulx
# cyclelens-end

# cyclelens-begin end-of-a-string
.Lstring:
    vmovdqu   ymm1, [rsi]
    vpcmpeqb  ymm1, ymm1, ymm0
    vpmovmskb eax, ymm1
    or        edx, eax
    dec       rcx
    jnz       .Lstring
# cyclelens-end

# cyclelens-begin transposition-of-four-by-four
.Ltranspose:
    vunpcklps xmm4, xmm0, xmm1
    vunpckhps xmm5, xmm0, xmm1
    vunpcklps xmm6, xmm2, xmm3
    vunpckhps xmm7, xmm2, xmm3
    vmovlhps  xmm8, xmm4, xmm6
    vmovhlps  xmm9, xmm6, xmm4
    vmovlhps  xmm10, xmm5, xmm7
    vmovhlps  xmm11, xmm7, xmm5
    dec       rcx
    jnz       .Ltranspose
# cyclelens-end

# cyclelens-begin remainders
.Lremainder:
    mov     eax, [rsi]
    xor     edx, edx
    div     ebx
    add     r8d, edx
    dec     rcx
    jnz     .Lremainder
# cyclelens-end

# cyclelens-begin tile-of-a-product-of-matrices
.Ltile:
    vmovups      zmm8, [rsi]
    vbroadcastss zmm9, [rdi]
    vbroadcastss zmm10, [rdi + 4]
    vfmadd231ps  zmm0, zmm8, zmm9
    vfmadd231ps  zmm1, zmm8, zmm10
    vfmadd231ps  zmm2, zmm8, dword ptr [rdi + 8] {1to16}
    vfmadd231ps  zmm3, zmm8, dword ptr [rdi + 12] {1to16}
    dec          rcx
    jnz          .Ltile
# cyclelens-end
