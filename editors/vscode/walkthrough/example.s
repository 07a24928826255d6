# A checksum, unrolled: two instructions that should take one cycle.
#
# The line "cyclelens-begin" shows what they take and why. Put the cursor on the line marked "LCP stall"
# and press Ctrl+. (Cmd+. on macOS) to see what would be faster.

# cyclelens-begin checksum mode=unroll
        add     $0x1234, %ax
        dec     %r14
# cyclelens-end

# The same as a loop, from the uop cache: the prefix costs nothing there.

# cyclelens-begin loop
.Lloop:
        add     $0x1234, %ax
        dec     %r14
        jnz     .Lloop
# cyclelens-end
