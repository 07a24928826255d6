"""What is in flight, in integer columns: instances, uops, results and stores are indices into them.

A uop's index is its sequence number: uops are numbered in the order of their creation, so smaller is older
(uiCA model, chapter 0). Columns only grow; nothing is allocated per cycle.
"""

from __future__ import annotations

from cyclelens.analyzer.simulator.program import Program

FOREVER = -1
"""Ready time of a value that was there before the simulation began."""
UNKNOWN = -2
"""A cycle that is not known yet."""
NONE = -1
"""No index."""

NO_SOURCE, MITE, MS, DSB, LSD, STACK_ENGINE = range(6)
SOURCE_NAMES = ("", "MITE", "MS", "DSB", "LSD", "SE")

ELIMINATED = -2
"""In the port column: the uop was an eliminated move."""


class Columns:
    """The shared state of one simulation. Stages read and write columns; they never call each other."""

    def __init__(self, program: Program) -> None:
        self.program = program
        # dynamic instructions, numbered round by round: instance = round * instructions + position
        self.instance_uop0: list[int] = []
        self.address: list[int] = []
        """Of the first byte; in a loop every round has the same addresses (L2)."""
        self.predecoded: list[int] = []
        self.removed: list[int] = []
        # uops
        self.instance: list[int] = []
        self.static: list[int] = []
        self.source: list[int] = []
        self.added: list[int] = []
        self.issued: list[int] = []
        self.ready: list[int] = []
        self.dispatched: list[int] = []
        self.executed: list[int] = []
        self.retired: list[int] = []
        self.port: list[int] = []
        self.store: list[int] = []
        self.latency_bonus: list[int] = []
        self.first_input: list[int] = []
        self.first_result: list[int] = []
        self.pending: list[int] = []
        self.next_uop: list[int] = []
        # inputs of renamed uops
        self.input_value: list[int] = []
        self.input_uop: list[int] = []
        self.input_next: list[int] = []
        # values: results of uops, or there since before the start
        self.value_ready: list[int] = []
        self.value_uop: list[int] = []
        self.value_latency: list[int] = []
        self.value_zero: list[bool] = []
        self.value_waiters: list[int] = []
        # store-buffer entries
        self.store_address: list[int] = []
        self.store_data: list[int] = []
        self.store_waiters: list[int] = []
        self.store_key: list[tuple[int, int, int, int] | None] = []

    def generate(self, instances: int) -> None:
        """Create the uops of all instances up to (not including) this number (L5)."""
        program = self.program
        instruction_count = program.instructions
        for instance in range(len(self.instance_uop0), instances):
            instruction = instance % instruction_count
            self.instance_uop0.append(len(self.static))
            self.address.append(self.address_of(instance))
            self.predecoded.append(UNKNOWN)
            self.removed.append(UNKNOWN)
            static = program.i_uop0[instruction]
            for uop in range(static, static + program.i_uop_count[instruction]):
                self.new_uop(instance, uop)

    def address_of(self, instance: int) -> int:
        """Address of an instance, existing or not."""
        program = self.program
        number, instruction = divmod(instance, program.instructions)
        address = program.alignment + program.i_offset[instruction]
        return address if program.loop else address + number * program.size

    def new_uop(self, instance: int, static: int) -> int:
        """A fresh uop of the instance; returns its index."""
        uop = len(self.static)
        self.instance.append(instance)
        self.static.append(static)
        self.source.append(NO_SOURCE)
        self.added.append(UNKNOWN)
        self.issued.append(UNKNOWN)
        self.ready.append(UNKNOWN)
        self.dispatched.append(UNKNOWN)
        self.executed.append(UNKNOWN)
        self.retired.append(UNKNOWN)
        self.port.append(NONE)
        self.store.append(NONE)
        self.latency_bonus.append(0)
        self.first_input.append(NONE)
        self.first_result.append(NONE)
        self.pending.append(0)
        self.next_uop.append(NONE)
        return uop

    def new_value(self, uop: int, latency: int) -> int:
        """A result of a uop that is being renamed; unknown until it is dispatched."""
        self.value_ready.append(UNKNOWN)
        self.value_uop.append(uop)
        self.value_latency.append(latency)
        self.value_zero.append(False)
        self.value_waiters.append(NONE)
        return len(self.value_ready) - 1

    def old_value(self, *, zero: bool = False) -> int:
        """A value that needs no uop: from before the start, or of an instruction without uops (``zero``)."""
        self.value_ready.append(FOREVER)
        self.value_uop.append(NONE)
        self.value_latency.append(0)
        self.value_zero.append(zero)
        self.value_waiters.append(NONE)
        return len(self.value_ready) - 1

    def new_store(self, key: tuple[int, int, int, int] | None) -> int:
        """A store-buffer entry under an address key."""
        self.store_address.append(UNKNOWN)
        self.store_data.append(UNKNOWN)
        self.store_waiters.append(NONE)
        self.store_key.append(key)
        return len(self.store_key) - 1
