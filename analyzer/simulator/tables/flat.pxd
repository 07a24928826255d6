# Made by dev/declarations.py; do not edit.
cimport cython

cdef int NO_KEY
cdef int _ADDED
cdef int _BASE
cdef int _CHASING
cdef int _DISPLACEMENT
cdef int _EXTRA_SLOT
cdef int _INDEX
cdef int _LCP
cdef int _LENGTH
cdef int _MAX_POINTER_CHASING_DISPLACEMENT
cdef int _NAMELESS
cdef int _OPCODE
cdef int _SCALE


cdef class FlatOriginal:
    cdef public object template
    cdef public object instruction
    cdef public object encoding
    cdef bytes _names
    cdef public object tp_name
    cdef public int symbol_sign
    cdef public bint adds
    cdef public bint merges
    cdef public bint stores
    cdef public int[::1] rows
    cdef public int[::1] key_places
    cdef public bytes keys
    cdef public int[::1] slots
    cdef int[::1] _named
    cdef public int[::1] addresses
    cdef public int[::1] loads
    cdef public int[::1] encoded
    cdef public bint chases
    cdef bytes _renamed_keys(self, object names)
    cdef int _lay(self, object head, object outputs, object merges, tuple sizes, object uops, object template) except -1
    cdef int[::1] _put(self, list numbers, int[::1] column)
    cdef tuple _uop_row(self, object uop, object template, bint first, bint last)


@cython.final
cdef class FlatUop(FlatOriginal):
    pass


@cython.final
cdef class FlatInstruction:
    cdef public FlatOriginal like
    cdef public object instruction
    cdef public object macro_row
    cdef public object maker
    cdef public bytes kinds
    cdef public bytes keys
    cdef public long long symbol_delta
    cdef public object encoding
    cdef bint _differs
    cdef bint _extra_slot
    cdef int _added
    cdef int _scale
    cdef int _displacement
    cdef public tuple numbers
    cdef inline int size(self) noexcept:
        return len(self.like.rows)
    cdef inline int lay(self, int[::1] rows, int start) except -1:
        like = self.like
        for place in range(len(like.rows)):
            rows[start + place] = like.rows[place]
        if self._differs:
            self._lay_own(rows, start)
    cdef int _lay_own(self, int[::1] rows, int start) except -1


cdef bint _may_chase(int base, int displacement) noexcept
cdef int _in_32_bits(long long displacement) noexcept
