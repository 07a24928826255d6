# Accounts for every issue slot: used by a uop, or lost, and for what reason.
#
# The renamer offers ``issue_width`` slots in every cycle. Uops issue in order, so each empty slot has one uop
# that should have taken it, the next one, and one reason. The stages record both when they refuse (the
# members ``refusal`` and ``refused_by``); this file sums them up after the run. For a full buffer it also
# follows the chain of waits: from the buffer's uop to the one that this waited for, and so on. The stages
# recorded the waits as well (``held``, ``queued``, ``last_input``, ``late_by``). This file only decides
# which of a uop's waits made it late: the longest.

_BUFFERS = REFUSALS[RS_FULL:]
_REASONS = ("dependency", "port", "divider", "unit", "fence", "retirement")
# All causes: those of the front end and of the renamer in the order of ``REFUSALS``, then for each
# buffer one per reason for which its oldest uop may be late. A core with several schedulers has as
# many further causes for each of them.
_CAUSES = (
    *(Cause(Area.FRONT_END, what) for what in REFUSALS[1:ISSUE_GROUP]),
    *(Cause(Area.RENAMER, what) for what in REFUSALS[ISSUE_GROUP:RS_FULL]),
    *(Cause(Area.BACK_END, buffer, why) for buffer in _BUFFERS for why in _REASONS),
)
cdef int _CAUSE_COUNT
_CAUSE_COUNT = len(_CAUSES)
cdef enum:
    _DEPENDENCY = 0
    _PORT = 1
    _DIVIDER = 2
    _UNIT = 3
    _FENCE = 4
    _RETIREMENT = 5
    _REASON_COUNT = 6
    _SATURATED = 95  # A port counts as always busy if it takes a uop in this percentage of cycles.


@cython.final
cdef class Accounting:
    """The slot records of one run."""

    cdef Tables tables
    cdef Program program
    cdef int _width
    cdef int[::1] used  # Slots used, by instruction.
    # Slots lost, by cause and the instruction to blame: cause * instructions + instruction.
    cdef int[::1] lost
    cdef int[::1] _heads  # Whether a uop is the first of a fused one.
    cdef int[::1] _taken  # Slots used, by cycle.
    cdef int[::1] busy  # Whether a port takes a uop in nearly every cycle.
    cdef int[::1] _why
    cdef int[::1] _whom
    cdef int[::1] _seen

    def __init__(self, Tables tables, microarchitecture):
        self.tables = tables
        self.program = tables.program
        self._width = microarchitecture.issue_width
        instructions = self.program.instructions
        self.used = ints(instructions)
        self.lost = ints((_CAUSE_COUNT + _REASON_COUNT * len(microarchitecture.schedulers)) * instructions)
        self._heads = ints(self.program.all_uops)
        for fused in range(self.program.all_fused_uops):
            self._heads[self.program.fused_uop[fused].uop0] = 1
        self._taken = ints(0)
        self.busy = ints(MOST_UNITS)
        # Answers found before, by instance.
        self._why = minus_ones(tables.instances)
        self._whom = ints(tables.instances)
        self._seen = minus_ones(instructions)

    cdef int tally(self, int begin, int end) except? -1:
        """Account for the slots of the cycles after ``begin`` up to ``end``; returns their number."""
        self._taken = ints(end - begin)
        self._count_uops(begin, end)
        slots = 0
        for cycle in range(begin + 1, end + 1):
            taken = self._taken[cycle - begin - 1]
            slots += max(taken, self._width)
            if taken < self._width:
                self.lost[self._cause(cycle)] += self._width - taken
        return slots

    cdef void _count_uops(self, int begin, int end) noexcept nogil:
        """Count the used slots, and find the busy ports."""
        cdef Uop *uop
        for number in range(self.tables.uops):
            uop = &self.tables.uop[number]
            if (
                begin < uop.issued <= end
                and self._heads[uop.static]
                and not self.tables.shares_slot(number)
            ):
                self.used[uop.position] += 1
                self._taken[uop.issued - begin - 1] += 1
            if uop.port >= 0 and begin < uop.dispatched <= end:
                self.busy[uop.port] += 1
        for port in range(MOST_UNITS):
            self.busy[port] = 100 * self.busy[port] >= _SATURATED * (end - begin)

    cdef int _cause(self, int cycle) noexcept nogil:
        """Why slots of a cycle stayed empty and which instruction is to blame, as an index of ``lost``."""
        cdef Uop *uop
        refusal = self.tables.cycle[cycle].refusal % RETIRING
        scheduler = self.tables.cycle[cycle].refusal // SCHEDULERS
        by = self.tables.cycle[cycle].refused_by
        uop = &self.tables.uop[by]
        if refusal < ISSUE_GROUP:
            return self._lost(refusal - 1, by)
        if refusal < RS_FULL:
            return self._lost(refusal - 1, uop.position)
        buffer = RS_FULL - 1 + (refusal - RS_FULL) * _REASON_COUNT
        if self.tables.cycle[cycle].refusal & RETIRING:
            return self._lost(buffer + _RETIREMENT, uop.position)
        if scheduler:
            buffer = _CAUSE_COUNT + (scheduler - 1) * _REASON_COUNT
        return self._reason(buffer, by)

    cdef int _lost(self, int cause, int instruction) noexcept nogil:
        return cause * self.program.instructions + instruction

    cdef int _reason(self, int buffer, int uop) noexcept nogil:
        """Why a uop is late, and because of which instruction. Follows the longest waits from uop to uop
        until one had to wait for its port, or the chain closes."""
        instance = self.tables.uop[uop].instance
        if self._why[instance] == NONE:
            self._trace_back(uop)
        return self._lost(buffer + self._why[instance], self._whom[instance])

    cdef void _trace_back(self, int origin) noexcept nogil:
        answer = self.tables.uop[origin].instance
        uop = origin
        slowest = NONE
        slowest_instruction = self.tables.uop[origin].position
        why = NONE
        while why == NONE:
            i = self.tables.uop[uop].position
            held = self.tables.uop[uop].held
            if held == HELD_BY_FENCE:
                why = _FENCE
                break
            ready = self.tables.uop[uop].ready
            waited = self.tables.uop[uop].dispatched - ready
            latency = self.tables.uop[uop].executed - self.tables.uop[uop].dispatched
            blocked = ready - self.tables.uop[uop].allowed
            if waited > max(latency, blocked) or (waited > 0 and self.busy[self.tables.uop[uop].port]):
                why = _DIVIDER if self.tables.uop[uop].queued == QUEUED_FOR_DIVIDER else _PORT
                break
            if latency > slowest or (latency == slowest and i > slowest_instruction):
                slowest = latency
                slowest_instruction = i
            producer = self._producer(uop)
            if held == HELD_BY_UNIT or held == HELD_BY_DIVIDER:
                why = _UNIT if held == HELD_BY_UNIT else _DIVIDER
                break
            if producer == NONE:
                why = _DEPENDENCY
                i = slowest_instruction
                break
            if self.tables.uop[producer].instance != self.tables.uop[uop].instance:
                self._seen[i] = answer
                if self._seen[self.tables.uop[producer].position] == answer:
                    why = _DEPENDENCY
                    i = slowest_instruction
                    break
            uop = producer
        self._why[answer] = why
        self._whom[answer] = i

    cdef int _producer(self, int number) noexcept nogil:
        """The uop that a uop waited for longest: the store that made a load late after its dispatch, or else
        the producer of the last input. NONE if it waited for none."""
        cdef Uop *uop = &self.tables.uop[number]
        if self.program.uop[uop.static].kind == LOAD and uop.late_by != NONE:
            return uop.late_by
        last = uop.last_input
        return NONE if last == NONE else self.tables.value[self.tables.input[last].value].uop


def account_of(Tables tables, microarchitecture, begin, end, rounds):
    """The account of the cycles after ``begin`` up to ``end``, which issue ``rounds`` iterations. All uops
    issued by then have retired."""
    accounting = Accounting(tables, microarchitecture)
    slots = accounting.tally(begin, end)
    count = tables.program.instructions
    causes = (
        *_CAUSES,
        *(
            Cause(Area.BACK_END, scheduler.buffer, why)
            for scheduler in microarchitecture.schedulers
            for why in _REASONS
        ),
    )
    lost = {
        (causes[place // count], place % count): slots for place, slots in enumerate(accounting.lost) if slots
    }
    used = tuple(accounting.used[i] for i in range(count))
    return Account(microarchitecture.issue_width, rounds, slots, used, lost)
