# Tables shared by the stages of a core that counts macro-ops.


@cython.final
cdef class MacroTables:
    """The tables of one pipeline."""

    cdef Tables tables
    cdef Queues queues
    cdef Operations operations
    cdef InFlight flight

    def __init__(self, Tables tables, Queues queues, Operations operations, InFlight flight):
        self.tables = tables
        self.queues = queues
        self.operations = operations
        self.flight = flight
