# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.operations cimport Operations
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int _ADD
cdef int _ADDRESS
cdef int _AND
cdef int _ANY
cdef int _ANY_WORD
cdef long long _APART
cdef long long _CODE
cdef int _CONSTANT
cdef int _COPY
cdef int _IMUL
cdef int _INCREMENT
cdef int _IN_MEMORY
cdef int _LOAD
cdef long long _LOW
cdef long long _LOW_SIGN
cdef long long _MASK
cdef long long _MULTIPLIER
cdef int _NEG
cdef int _NOT
cdef int _NOTHING
cdef int _OPERATE
cdef int _OR
cdef int _PAGE_WORDS
cdef int _PATTERN
cdef int _REGISTERS
cdef int _SAR
cdef long long _SEED_MASK
cdef int _SHL
cdef int _SHR
cdef long long _SIGN
cdef int _STORE
cdef int _SUB
cdef int _WORDS
cdef int _XOR


@cython.final
cdef class Emulator:
    cdef Columns _columns
    cdef Program _program
    cdef Operations _operations
    cdef bint _same
    cdef bint _stack_apart
    cdef long long _word_mask
    cdef public long long[::1] register
    cdef long long[::1] _keys
    cdef long long[::1] _words
    cdef int[::1] _written
    cdef int _emulation
    cdef long long _seed
    cdef int _size
    cdef public long long load_address
    cdef public long long store_address
    cdef int _count
    @cython.locals(words=cython.bint)
    cdef void follow(self) noexcept
    cdef int _bit(self, int key) noexcept
    cdef bint _writes_word(self, int kind) noexcept
    cdef void start(self) noexcept
    @cython.locals(address=cython.longlong)
    cdef long long address(self, int static, int i, int instance) noexcept
    cdef long long _after(self, int i, int instance) noexcept
    cdef void execute(self, int i, int instance) noexcept
    cdef long long _any_word(self, int i) noexcept
    cdef void _copy(self, int source, int target) noexcept
    @cython.locals(value=cython.longlong, old=cython.longlong, target=cython.longlong)
    cdef void _execute(self, int i, int instance, int kind) noexcept
    cdef long long _operate(self, int operation, long long one, long long other, int bits) noexcept
    @cython.locals(one=cython.longlong)
    cdef long long _narrow(self, long long value, int bits, int sign) noexcept
    @cython.locals(one=cython.longlong, mask=cython.longlong)
    cdef void _set(self, int target, int bits, bint high, long long value) noexcept
    cdef long long _unknown(self) noexcept
    @cython.locals(one=cython.longlong, shift=cython.int, word=cython.longlong, value=cython.longlong)
    cdef long long _read(self, long long address, int bits) noexcept
    @cython.locals(one=cython.longlong, byte=cython.longlong, place=cython.int, before=cython.longlong, mask=cython.longlong, part=cython.longlong)
    cdef void _write(self, long long address, int bits, long long value) noexcept
    cdef void _forget(self) noexcept
    @cython.locals(slot=cython.int)
    cdef int _slot(self, long long word) noexcept
    @cython.locals(word=cython.longlong)
    cdef long long _word(self, long long number) noexcept
    @cython.locals(word=cython.longlong)
    cdef void _put(self, long long number, long long value) noexcept
