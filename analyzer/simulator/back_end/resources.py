"""The buffers and register files that an instruction needs besides reorder buffer and scheduler (optional;
B1 to B6 of docs/pipeline.md 7).

The rules are those of UFS (Palomares, Wong, Kuck, Jalby, "Evaluating Out-of-Order Engine Limitations Using
Uop Flow Simulation"). An instruction takes all its entries when its first uop issues, in order, and frees
them when its last uop has retired. The load matrix is freed as soon as the load has executed.
"""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.simulator.tables.arrays import PairQueue, Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import ELIMINATED, LOAD, NONE, STORE_ADDRESS, UNKNOWN

_COUNT = 7
_LOAD_BUFFER, _STORE_BUFFER, _BRANCH_BUFFER, _INTEGER_REGISTERS, _ALL_REGISTERS, _LOAD_MATRIX = (
    0,
    1,
    2,
    3,
    5,
    6,
)
_UNLIMITED = 1 << 20


class Resources:
    """Tracks which instructions hold entries. The renamer asks it before it issues an instruction.

    An instruction that needs more entries than exist gets all of them as soon as none is in use.
    """

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture, options: ModelOptions) -> None:
        self._columns = columns
        self._program = columns.program
        self._wanted = options.limited
        self._rob_size = microarchitecture.reorder_buffer_size
        self._load_matrix: int = microarchitecture.load_matrix_size or 0
        self.limited = False
        """Whether any resource can run out on this block."""
        self.missing = NONE
        """The resource that the latest instruction has to wait for, NONE if it has all."""
        self._sizes = ints(_COUNT)
        sizes = (
            microarchitecture.load_buffer_size,
            microarchitecture.store_buffer_size,
            microarchitecture.branch_buffer_size,
            microarchitecture.integer_registers,
            microarchitecture.vector_registers,
            microarchitecture.all_registers,
            microarchitecture.load_matrix_size,
        )
        for resource, size in enumerate(sizes):
            self._sizes[resource] = _UNLIMITED if size is None else size

    def start(self) -> None:
        """Reset: find out which resources can run out on the program; none is in use."""
        self.limited = self._wanted
        if self.limited:
            self._find_limits()

    def _find_limits(self) -> None:
        self.used = ints(_COUNT)
        self._needs = ints(_COUNT * self._program.instructions)
        for i in range(self._program.instructions):
            self._count_needs(i)
        self._active = ints(_COUNT)
        """The resources that can run out, ascending; all but the load matrix are freed at retirement."""
        self._active_count = 0
        self._retiring_count = 0
        self._needy = ints(self._program.instructions)
        """Instructions that need any of those."""
        self._find_active(self._rob_size)
        self.limited = self._active_count > 0
        self._holders = PairQueue()
        """Instructions in flight, oldest first, as (first uop, last uop)."""
        self._holders.start(self._rob_size + 64)
        self._loads = ints(self._load_matrix + self._program.uops)
        """Loads that have an entry in the load matrix."""

    def _count_needs(self, i: int) -> None:
        """Count the entries of each resource that an instruction takes."""
        program = self._program
        first = _COUNT * i
        for uop in range(program.i_uop0[i], program.i_uop0[i] + program.i_uop_count[i]):
            if program.u_kind[uop] == LOAD:
                self._needs[first + _LOAD_BUFFER] += 1
            elif program.u_kind[uop] == STORE_ADDRESS:
                self._needs[first + _STORE_BUFFER] += 1
        # A macro-fused pair takes the branch's entry too.
        if program.i_branch[i] or program.i_first[i]:
            self._needs[first + _BRANCH_BUFFER] = 1
        outputs = program.i_outputs_count[i]
        if program.i_no_uops[i]:
            outputs = 0  # zero idioms and NOPs produce no value of their own
        for output in range(program.i_outputs0[i], program.i_outputs0[i] + outputs):
            register_class = program.key_class[program.output_key[output]]
            if register_class >= 0:
                self._needs[first + _INTEGER_REGISTERS + register_class] += 1
                self._needs[first + _ALL_REGISTERS] += 1
        if self._sizes[_LOAD_MATRIX] < _UNLIMITED:
            self._needs[first + _LOAD_MATRIX] = self._needs[first + _LOAD_BUFFER]

    def _find_active(self, rob_size: int) -> None:
        """Leave out resources that never run out before the reorder buffer does: saves much of the cost."""
        program = self._program
        fused = 0
        for idq_uop in range(program.idq_uops):
            fused += program.q_fused_count[idq_uop]
        # Whole rounds, the partial rounds at both ends, and the instruction that asks.
        rounds = rob_size // fused + 3
        for resource in range(_COUNT):
            need = 0
            for i in range(program.instructions):
                need += self._needs[_COUNT * i + resource]
            if need * rounds > self._sizes[resource]:
                self._active[self._active_count] = resource
                self._active_count += 1
                if resource != _LOAD_MATRIX:
                    self._retiring_count += 1
                for i in range(program.instructions):
                    if self._needs[_COUNT * i + resource]:
                        self._needy[i] = 1
            else:
                for i in range(program.instructions):
                    self._needs[_COUNT * i + resource] = 0

    def take(self, first: int, cycle: int) -> bool:
        """Take all entries for the instruction that begins with this uop; False if one is missing."""
        columns = self._columns
        if columns.instance_uop0[columns.instance[first]] != first:
            return True  # a uop that the renamer itself puts in front of an instruction
        i = columns.position[first]
        if not self._needy[i]:
            return True
        last = first + self._program.i_uop_count[i] - 1
        self._release()
        missing = self._missing(i)
        if missing == _LOAD_MATRIX:
            self._release_loads(cycle)
            missing = self._missing(i)
        self.missing = missing
        if missing != NONE:
            return False
        for position in range(self._retiring_count):
            resource = self._active[position]
            self.used[resource] += self._needs[_COUNT * i + resource]
        if self._needs[_COUNT * i + _LOAD_MATRIX]:
            for uop in range(first, last + 1):
                if self._program.u_kind[columns.static[uop]] == LOAD:
                    self._loads[self.used[_LOAD_MATRIX]] = uop
                    self.used[_LOAD_MATRIX] += 1
        self._holders.push(first, last)
        return True

    def comes_with_retirement(self) -> bool:
        """Whether the missing resource is freed at retirement and not before."""
        return self.missing != _LOAD_MATRIX

    def eliminate(self, i: int) -> None:
        """The renamer carries out the instruction just issued, which therefore shares its source's
        register."""
        self._give_back(i)

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state that does not follow from the uops in flight."""
        self._release()
        for resource in range(_LOAD_MATRIX):
            state.add(self.used[resource])
        holders = self._holders
        for position in range(holders.count):
            first = holders.firsts[(holders.head + position) & holders.mask]
            state.add(1 if self._columns.port[first] == ELIMINATED else 0)

    def _missing(self, i: int) -> int:
        """The first resource that an instruction has to wait for, NONE if there is none."""
        for position in range(self._active_count):
            resource = self._active[position]
            need = self._needs[_COUNT * i + resource]
            if need and self.used[resource] and self.used[resource] + need > self._sizes[resource]:
                return resource
        return NONE

    def _release(self) -> None:
        """Free the entries of instructions that have retired."""
        columns = self._columns
        holders = self._holders
        while holders.count > 0 and columns.retired[holders.seconds[holders.head]] != UNKNOWN:
            first = holders.firsts[holders.head]
            if columns.port[first] != ELIMINATED:
                self._give_back(columns.position[first])
            holders.pop()

    def _give_back(self, i: int) -> None:
        for position in range(self._retiring_count):
            resource = self._active[position]
            self.used[resource] -= self._needs[_COUNT * i + resource]

    def _release_loads(self, cycle: int) -> None:
        """Free the load-matrix entries of loads that executed before this cycle."""
        columns = self._columns
        kept = 0
        for position in range(self.used[_LOAD_MATRIX]):
            uop = self._loads[position]
            if columns.executed[uop] == UNKNOWN or columns.executed[uop] >= cycle:
                self._loads[kept] = uop
                kept += 1
        self.used[_LOAD_MATRIX] = kept
