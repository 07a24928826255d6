# The decoded stream buffer (uop cache): delivery of its lines (X1 to X6; uiCA model, 3.6.4).


@cython.final
cdef class Dsb:
    """Delivers from at most two lines per cycle."""

    cdef Program program
    cdef Layout _layout
    cdef PairQueue _lines
    cdef PairQueue _delivered
    cdef Shortage _shortage
    cdef MicrocodeQueue _microcode
    cdef int _width
    cdef bint _loses_width
    cdef bint _one_line
    cdef int _ms_stall
    cdef int _most_taken
    cdef int position
    cdef bint extra_last_cycle
    # The latest instruction delivered in the latest cycle, NONE if there was none.
    cdef int last_instruction
    cdef bint finished  # Whether its last uop was delivered.
    cdef int _taken_branches  # Taken branches delivered in this cycle.

    def __init__(
        self, Tables tables, microarchitecture, Layout layout, Queues queues, MicrocodeQueue microcode
    ):
        self.program = tables.program
        self._layout = layout
        self._lines = queues.lines
        self._delivered = queues.delivered
        self._shortage = queues.shortage
        self._microcode = microcode
        self._width = microarchitecture.dsb_width
        self._loses_width = microarchitecture.dsb_loses_width_across_blocks
        self._one_line = microarchitecture.dsb_lines_per_cycle == 1
        self._ms_stall = microarchitecture.dsb_to_ms_stall
        self._most_taken = microarchitecture.taken_branches_per_cycle

    cdef void start(self) noexcept nogil:
        """Reset to the beginning of a line."""
        self.position = 0
        self.extra_last_cycle = False
        self.last_instruction = NONE
        self.finished = False
        self._taken_branches = 0

    cdef void tick(self) noexcept nogil:
        """Simulate one cycle, in which nothing has been delivered yet."""
        cdef bint fresh, extra_before
        budget = self._width
        fresh = self.position == 0
        extra_before = self.extra_last_cycle
        self.extra_last_cycle = False
        self.last_instruction = NONE
        self.finished = False
        opened_second = False
        count = 0
        self._taken_branches = 0
        self._shortage.note(LATE_DSB)
        while budget > 0 and self._lines.count > 0:
            if count > 0:
                # The line of the last entry is used up: open the next (X1).
                if opened_second or not self._may_open():
                    break
                opened_second = True
            line = self._lines.firsts[self._lines.head]
            first_instance = self._lines.seconds[self._lines.head] * self.program.instructions
            first = self._layout.line_first[line]
            entry = first + self.position
            end = self._layout.line_end[line]
            while entry < end and budget > 0:
                if self._layout.entry_extra_slot[entry] and budget < 2:
                    break
                i = self._layout.entry_instruction[entry]
                self._delivered.firsts[count] = self._layout.entry_idq_uop[entry]
                self._delivered.seconds[count] = first_instance + i
                count += 1
                self._delivered.count = count
                budget -= 1
                if not self._layout.entry_plain[entry]:
                    budget = self._behind(entry, budget)
                entry += 1
            if entry == first + self.position:
                break
            self.last_instruction = self._layout.entry_instruction[entry - 1]
            self.finished = self._layout.entry_last[entry - 1] != 0
            if entry < end:
                self.position = entry - first
                break
            self._lines.pop()
            self.position = 0
            if budget > 0 and self._lines.count > 0 and self._loses_width:
                budget = self._across_lines(end - first - 1, count, budget, fresh, extra_before)

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        state.add(self.position)
        state.add(self.extra_last_cycle)

    cdef int _behind(self, int entry, int budget) noexcept nogil:
        """The remaining budget after an entry with an immediate, microcode or a jump."""
        cdef Instruction *instruction
        i = self._layout.entry_instruction[entry]
        instruction = &self.program.instruction[i]
        if self._layout.entry_extra_slot[entry]:
            budget = 0
            self.extra_last_cycle = True
        if self._layout.entry_ms[entry]:
            end = instruction.idq0 + instruction.idq_count
            first = self._layout.entry_idq_uop[entry] + 1
            instance = self._delivered.seconds[self._delivered.count - 1]
            self._microcode.hand_over(first, end, instance, i, self._ms_stall, 0)
            self._shortage.blame(MICROCODE_SWITCH, i)
            budget = 0
        if self._most_taken and self._layout.entry_last[entry] and self._taken(i):
            # Limit on taken branches per cycle (X6).
            self._taken_branches += 1
            if self._taken_branches == self._most_taken:
                budget = 0
        return budget

    cdef int _next_line_start(self) noexcept nogil:
        """Instruction at the start of the next queued line."""
        line = self._lines.firsts[self._lines.head]
        return self._layout.entry_instruction[self._layout.line_first[line]]

    cdef bint _may_open(self) noexcept nogil:
        """Whether a second line may be opened after the last delivered entry (X1)."""
        line = self._lines.firsts[self._lines.head]
        if self._one_line or self._layout.entry_ms[self._layout.line_end[line] - 1]:
            return False
        last = self.last_instruction
        end = self._layout.address[last] + self.program.instruction[last].length
        return end == self._layout.address[self._next_line_start()] or last == self.program.key_instruction

    cdef bint _taken(self, int i) noexcept nogil:
        """Whether an instruction is followed by another one than its successor in the code."""
        if self.program.loop and i == self.program.key_instruction:
            return True
        return self.program.instruction[i].jump != 0

    cdef int _across_lines(
        self, int slot, int count, int budget, bint fresh, bint extra_before
    ) noexcept nogil:
        """The remaining budget when a line ends within a cycle (X5)."""
        cdef bint same_block, last
        here = self._layout.address[self.last_instruction] // self._layout.block_bytes
        same_block = self._layout.address[self._next_line_start()] // self._layout.block_bytes == here
        last = self.last_instruction == self.program.key_instruction
        if same_block:
            return 0 if self._layout.block_bytes == 32 and last and not extra_before else budget
        if fresh:
            if count <= 2:
                return 4
            if count <= 4:
                return 2
            return 1 if count == 5 else budget
        if last:
            if count == 1 or (count == 2 and slot >= 4):
                return 4
            return min(budget, 2)
        return budget
