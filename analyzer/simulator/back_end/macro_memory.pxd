# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.emulator cimport Emulator
from cyclelens.analyzer.simulator.back_end.load_renaming cimport LoadRenaming
from cyclelens.analyzer.simulator.back_end.one_page cimport LinesOfOnePage
from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.in_flight cimport InFlight
from cyclelens.analyzer.simulator.tables.operations cimport Operations
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int BLOCKED
cdef int MISTAKEN
cdef int NONE
cdef int _LINE
cdef int _PAGE
cdef int _READ_MODIFY_WRITE
cdef int _VECTOR


@cython.final
cdef class MacroMemory:
    cdef Columns _columns
    cdef Program _program
    cdef Operations _operations
    cdef InFlight _flight
    cdef public Emulator emulator
    cdef LinesOfOnePage _one_page
    cdef LoadRenaming _load_renaming
    cdef int _forwarding
    cdef int _vector_forwarding
    cdef int _to_integer
    cdef int _to_vector
    cdef int _from_address
    cdef public int chunk
    cdef int _alike
    cdef public bint crosses
    cdef inline void start(self) noexcept:
        self._load_renaming.start()
    cdef inline int record(self, Record state) except -1:
        self._load_renaming.record(state)
    @cython.locals(address=cython.longlong)
    cdef void open_store(self, int uop, int static, int base, int index) noexcept
    cdef inline int crossing(self, long long address, int size) noexcept:
        if address % 4096 + size > 4096:
            return 2
        return 1 if address % self.chunk + size > self.chunk else 0
    @cython.locals(address=cython.longlong)
    cdef int load(self, int uop, int static, int base, int index) noexcept
    @cython.locals(ahead=cython.longlong, other_page=cython.bint, offset=cython.longlong)
    cdef int _find_store(self, int uop, long long address, int base, int index) noexcept
    cdef int forwarding_latency(self, int store, int static) noexcept
