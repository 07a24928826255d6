"""Tables shared by the stages of a core that counts macro-ops."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.in_flight import InFlight
from cyclelens.analyzer.simulator.tables.operations import Operations
from cyclelens.analyzer.simulator.tables.queues import Queues


class MacroTables:
    """The tables of one pipeline."""

    def __init__(self, columns: Columns, queues: Queues, operations: Operations, flight: InFlight) -> None:
        self.columns: Columns = columns
        self.queues: Queues = queues
        self.operations: Operations = operations
        self.flight: InFlight = flight
