# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.column_classes cimport FlightColumns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int CODE_LINE
cdef int ELIMINATED
cdef int MITE
cdef int NONE
cdef int RETIRING
cdef int UNKNOWN
cdef int _AHEAD
cdef long long _LATE
cdef int _MOST_KEPT
cdef int _RESULT


@cython.final
cdef class Columns(FlightColumns):
    cdef public Program program
    cdef int _margin
    cdef int _value_margin
    cdef public bint watched
    cdef public bint followed
    cdef public bint stamped
    cdef public int instances
    cdef public int uops
    cdef public int inputs
    cdef public int values
    cdef public int stores
    cdef int _most_instances
    cdef int _most_uops
    cdef int _most_inputs
    cdef int _most_values
    cdef int _most_stores
    cdef int start(self, bint watched, bint followed, bint stamped) except -1
    cpdef bint short(self) noexcept
    cdef inline int reserve(self) except -1:
        if self.instances > self._most_instances or self.uops > self._most_uops or self.inputs > self._most_inputs or (self.values > self._most_values) or (self.stores > self._most_stores):
            self._make_room()
    cdef int _make_room(self) except -1
    cdef inline int reserve_cycles(self, int end) except -1:
        if self.watched and end > self._cycles_ready:
            self._more_cycles(2 * end + 64)
    cdef inline void refuse(self, int cycle, int refusal, int by) noexcept:
        if self.watched:
            self.refusal[cycle] = refusal
            self.refused_by[cycle] = by
    cdef inline void refuse_for_retirement(self, int cycle, int buffer, int unfinished, int oldest) noexcept:
        if unfinished == -1:
            self.refuse(cycle, buffer + 32, oldest)
        elif self.needs_unit(unfinished):
            self.refuse(cycle, buffer, unfinished)
        else:
            self.refuse(cycle, buffer + 32, unfinished)
    cdef inline void queue(self, int uop, int queued, int behind) noexcept:
        self.queued[uop] = queued
        self.behind[uop] = behind
    cdef inline bint shares_slot(self, int uop) noexcept:
        return self.program.i_joins[self.position[uop]] != 0 and self.source[uop] != 1
    cdef inline bint younger(self, int input_row, int other) noexcept:
        return other == -1 or self.value_uop[self.input_value[input_row]] > self.value_uop[self.input_value[other]]
    cdef inline bint needs_unit(self, int uop) noexcept:
        return self.port[uop] != -2 and self.program.u_port_mask[self.static[uop]] != 0
    cdef void generate(self, int instances) noexcept
    cdef inline int address_of(self, int instance) noexcept:
        address = self.program.alignment + self.program.i_offset[instance % self.program.instructions]
        if self.program.loop:
            return address
        return address + instance // self.program.instructions * self.program.size
    cdef inline int new_uop(self, int instance, int i, int static) noexcept:
        uop = self.uops
        self.uops = uop + 1
        self.instance[uop] = instance
        self.position[uop] = i
        self.static[uop] = static
        return uop
    cdef inline int new_input(self, int value) noexcept:
        position = self.inputs
        self.inputs = position + 1
        self.input_value[position] = value
        return position
    cdef inline void await_input(self, int uop, int position, int value) noexcept:
        self.input_uop[position] = uop
        self.input_next[position] = self.value_waiters[value]
        self.value_waiters[value] = position
    cdef inline int new_value(self, int uop, int latency) noexcept:
        value = self.values
        self.values = value + 1
        self.value_ready[value] = -2
        self.value_uop[value] = uop
        self.value_latency[value] = latency
        return value
    cdef inline int old_value(self, int zero) noexcept:
        value = self.values
        self.values = value + 1
        self.value_zero[value] = zero
        return value
    @cython.locals(place=cython.longlong)
    cdef int record_value(self, Record state, int value, int oldest) except -1
    cdef inline int new_store(self) noexcept:
        store = self.stores
        self.stores = store + 1
        return store
