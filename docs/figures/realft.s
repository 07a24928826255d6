# The loop that finishes a Fourier transform of real numbers, written anew from its formulas (Press and others,
# Numerical Recipes, "FFT of Real Functions"): one pair of complex numbers from each end of the array, and the
# next power of the root of unity. The UFS paper studies a compiler's code for the same formulas.
# rsi counts up, rdi down; xmm15, xmm14: factors; xmm11, xmm10: the root's power; xmm13, xmm12: its step.
# cyclelens-begin realft
.Lpair:
        movsd   (%rsi), %xmm0
        movsd   8(%rsi), %xmm1
        movsd   (%rdi), %xmm2
        movsd   8(%rdi), %xmm3
        movapd  %xmm0, %xmm4
        addsd   %xmm2, %xmm4
        mulsd   %xmm15, %xmm4
        movapd  %xmm1, %xmm5
        subsd   %xmm3, %xmm5
        mulsd   %xmm15, %xmm5
        addsd   %xmm3, %xmm1
        mulsd   %xmm14, %xmm1
        subsd   %xmm2, %xmm0
        mulsd   %xmm14, %xmm0
        movapd  %xmm11, %xmm6
        mulsd   %xmm1, %xmm6
        movapd  %xmm10, %xmm7
        mulsd   %xmm0, %xmm7
        movapd  %xmm11, %xmm8
        mulsd   %xmm0, %xmm8
        movapd  %xmm10, %xmm9
        mulsd   %xmm1, %xmm9
        movapd  %xmm4, %xmm0
        addsd   %xmm6, %xmm0
        subsd   %xmm7, %xmm0
        movsd   %xmm0, (%rsi)
        movapd  %xmm5, %xmm1
        addsd   %xmm8, %xmm1
        addsd   %xmm9, %xmm1
        movsd   %xmm1, 8(%rsi)
        subsd   %xmm6, %xmm4
        addsd   %xmm7, %xmm4
        movsd   %xmm4, (%rdi)
        subsd   %xmm5, %xmm8
        addsd   %xmm9, %xmm8
        movsd   %xmm8, 8(%rdi)
        movapd  %xmm11, %xmm2
        movapd  %xmm11, %xmm3
        mulsd   %xmm13, %xmm2
        movapd  %xmm10, %xmm0
        mulsd   %xmm12, %xmm0
        subsd   %xmm0, %xmm2
        addsd   %xmm2, %xmm11
        movapd  %xmm10, %xmm1
        mulsd   %xmm13, %xmm1
        mulsd   %xmm12, %xmm3
        addsd   %xmm3, %xmm1
        addsd   %xmm1, %xmm10
        add     $16, %rsi
        sub     $16, %rdi
        cmp     %rdi, %rsi
        jb      .Lpair
# cyclelens-end
