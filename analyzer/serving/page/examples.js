// Kernels to begin with.
export const EXAMPLES = {
  "Dot product: a chain": `# cyclelens-begin dot per=8
.loop:
    vmovups     (%rsi), %ymm1
    vfmadd231ps (%rdi), %ymm1, %ymm0
    add         $32, %rsi
    add         $32, %rdi
    dec         %r15
    jnz         .loop
# cyclelens-end
`,
  "16-bit constant: the predecoder": `# cyclelens-begin stall mode=unroll
    add $0x1234, %ax
    dec %r15
# cyclelens-end
`,
  "Strings: loop without markers, Intel syntax": `.next:
    movdqu   xmm1, xmmword ptr [rsi]
    pcmpeqb  xmm1, xmm0
    pmovmskb eax, xmm1
    test     eax, eax
    jnz      .found
    add      rsi, 16
    cmp      rsi, rdi
    jb       .next
.found:
    ret
`,
  "AVX-512: four sums": `# cyclelens-begin sums arch=ZEN5 per=64
.again:
    vaddps 0(%rsi), %zmm0, %zmm0
    vaddps 64(%rsi), %zmm1, %zmm1
    vaddps 128(%rsi), %zmm2, %zmm2
    vaddps 192(%rsi), %zmm3, %zmm3
    add    $256, %rsi
    cmp    %rdi, %rsi
    jne    .again
# cyclelens-end
`,
};
