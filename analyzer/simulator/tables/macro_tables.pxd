# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.in_flight cimport InFlight
from cyclelens.analyzer.simulator.tables.operations cimport Operations
from cyclelens.analyzer.simulator.tables.queues cimport Queues



@cython.final
cdef class MacroTables:
    cdef public Columns columns
    cdef public Queues queues
    cdef public Operations operations
    cdef public InFlight flight
