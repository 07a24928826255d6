# The memory accesses of a dispatch group, of which each kind has a limit (M41).

cdef enum:
    _LOADS = 0
    _VECTOR_LOADS = 1
    _LOADS_WITH_OPERATION = 2
    _STORES = 3
    _CONSTANT_STORES = 4
    _ACCESSES = 5
    _ACCESS_KINDS = 6


@cython.final
cdef class MemoryGroup:
    """The accesses that were dispatched in a cycle, by kind."""

    cdef Tables tables
    cdef Program program
    cdef Operations operations
    cdef bint _limited
    cdef int _alus
    cdef int[::1] _most  # By kind, like all others.
    cdef int[::1] _count
    cdef int[::1] _added

    def __init__(self, MacroTables macro, microarchitecture):
        rules = microarchitecture.macro_ops.memory_group
        self.tables = macro.tables
        self.program = macro.tables.program
        self.operations = macro.operations
        self._limited = rules is not None
        self._alus = microarchitecture.units.having(Role.ALU).mask
        self._most = ints(_ACCESS_KINDS)
        self._count = ints(_ACCESS_KINDS)
        self._added = ints(_ACCESS_KINDS)
        if rules is not None:
            self._most[_LOADS] = rules.loads
            self._most[_VECTOR_LOADS] = rules.vector_loads
            self._most[_LOADS_WITH_OPERATION] = rules.loads_with_operation
            self._most[_STORES] = rules.stores
            self._most[_CONSTANT_STORES] = rules.constant_stores
            self._most[_ACCESSES] = rules.accesses

    cdef void clear(self) noexcept nogil:
        """Begin a new group."""
        for kind in range(_ACCESS_KINDS):
            self._count[kind] = 0

    cdef bint take(self, int first, int i) noexcept nogil:
        """Add an instruction to the group if its accesses find room, or else return False. An instruction of
        more accesses goes alone."""
        if not self._limited or not self._accesses(first, i):
            return True
        for kind in range(_ACCESS_KINDS):
            if self._count[kind] and self._count[kind] + self._added[kind] > self._most[kind]:
                return False
        for kind in range(_ACCESS_KINDS):
            self._count[kind] += self._added[kind]
        return True

    cdef bint _accesses(self, int first, int i) noexcept nogil:
        """Count the accesses of an instruction. Returns False if it has none."""
        cdef BlockUop *uop
        cdef int loads, stores, number, static
        cdef bint operates, vector, constant
        operates = vector = constant = False
        loads = stores = 0
        for number in range(first, first + self.program.instruction[i].uop_count):
            static = self.tables.uop[number].static
            uop = &self.program.uop[static]
            if uop.kind == LOAD:
                loads += 1
                vector = vector or self.operations.t_traits[static] & VECTOR_TRAIT != 0
            elif uop.kind == STORE_DATA:
                stores += 1
                constant = uop.in_count == 0
            elif uop.kind == COMPUTE:
                operates = operates or (uop.port_mask != 0 and uop.port_mask & ~self._alus == 0)
        if loads + stores == 0:
            return False
        self._added[_LOADS] = loads
        self._added[_VECTOR_LOADS] = loads if vector else 0
        self._added[_LOADS_WITH_OPERATION] = loads if operates and not vector else 0
        self._added[_STORES] = stores
        self._added[_CONSTANT_STORES] = stores if constant else 0
        self._added[_ACCESSES] = 0 if operates and not vector else loads + stores
        return True
