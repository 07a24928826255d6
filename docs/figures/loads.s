# The two loops of the figure in docs/insight.md.

# cyclelens-begin chase
.Lchase:
        mov     (%rax), %rax
        dec     %r15
        jnz     .Lchase
# cyclelens-end

# A load with ten dependent additions, anew in every iteration.
# cyclelens-begin parallel
.Lparallel:
        mov     (%rsi), %rax
        .rept   10
        add     %rax, %rax
        .endr
        dec     %r15
        jnz     .Lparallel
# cyclelens-end
