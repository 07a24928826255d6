"""Parameters of one microarchitecture. ``_width`` is per cycle, ``_size`` is a capacity."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from cyclelens.analyzer.model.macro_ops import MacroOpRules
from cyclelens.analyzer.model.provenance import NO_SOURCES, Source, Sources
from cyclelens.analyzer.model.units import NO_UNITS, Divider, Scheduler, Units, UnitSet
from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from typing import Any


class Policies(Struct, frozen=True, kw_only=True):
    """The rules by which cores differ in kind, each by the name under which
    ``simulator/policies.pxi`` lists its class."""

    front_end: str = "mite_dsb_lsd"
    binding: str
    """How a unit is chosen for an issuing uop; on a core that counts macro-ops, how a scheduler is chosen."""
    hardware_binding: str = ""
    """Replaces ``binding`` in the hardware model if measurements contradict it; empty: ``binding``."""
    elimination: str = "shared_slots"
    """Which register moves the renamer eliminates; empty: none."""
    addition: str = ""
    """Which additions of constants the renamer carries out; empty: none."""
    memory_renaming: str = ""
    """Which loads are renamed to the register that a store in flight has stored; empty: none."""
    picker: str = "bound_unit"
    """Which ready uops leave the scheduler in a cycle."""
    dispatch_rule: str = ""
    """Which units block each other; empty: none."""
    store_commit: str = ""
    """Which stores may commit together; empty: all, if no store queue is simulated."""
    late_operands: str = ""
    """What operations with a last-moment operand waste, on a core that counts macro-ops; empty: nothing."""


class TargetDependency(Struct, frozen=True):
    """Instructions whose result waits for the old value of their target."""

    records: str
    """Names of their records, as a regular expression."""
    cycles: int
    """From the old value to the result."""


class Maker(StrEnum):
    """The vendor of a core, which decides the names of its parts."""

    INTEL = "Intel"
    AMD = "AMD"


class UpperHalfRule(StrEnum):
    """What a core does when legacy SSE has to keep upper halves of vector registers that are in use."""

    PUT_ASIDE = "put aside"
    """Saves all upper halves at the first such instruction, and restores them at the first one with VEX."""
    MERGED = "merged"
    """Merges every result of such an instruction with the old register."""
    MERGED_BY_TARGET = "merged by target"
    """Merges moves and zero idioms only, where the code has written the target's upper half (M7)."""
    FREE = "free"
    """Costs nothing; used to find the price of the other rules."""
    UNKNOWN = "not known"


UNLIMITED = 1 << 20
"""A number of move-elimination slots that is never reached."""


class Microarchitecture(Struct, frozen=True, kw_only=True):
    """All parameters of docs/pipeline.md chapter 1, in cycles, bytes, instructions or uops as named."""

    name: str
    title: str
    products: str = ""
    """Examples of processors with this core, by product name."""
    maker: Maker = Maker.INTEL
    facts_name: str
    """The core whose instruction tables apply."""
    sources: Sources = NO_SOURCES
    """Where each value below comes from, and how certain it is."""
    extensions: frozenset[str]
    """Instruction-set extensions, in the decoder's spelling."""
    # front end
    instruction_queue_size: int
    predecode_width: int = 5
    predecode_block_bytes: int = 16
    predecode_to_decode_delay: int = 3
    length_changing_prefix_penalty: int = 3
    decoders: int = 4
    dsb_width: int
    dsb_block_bytes: int
    dsb_lines_per_block: int
    dsb_slots_per_line: int = 6
    dsb_to_ms_stall: int
    mite_to_ms_stall: int = 1
    ms_width: int = 4
    idq_size: int
    pop_rsp_needs_complex_decoder: bool = True
    pop_rsp_ends_decode_group: bool
    fusible_on_last_decoder: bool
    jcc_erratum: bool
    """A jump that crosses or ends at a 32-byte boundary makes its block uncacheable."""
    both_halves_cacheable: bool
    """A 32-byte block is cached only if both halves of its 64-byte line are cacheable."""
    several_uops_need_complex_decoder: bool = True
    """Only the complex decoder takes an instruction of more than one decoded uop, as for microcode (V7)."""
    fusible_waits_for_next: bool = True
    """An instruction that could fuse is decoded only when its successor has arrived (C4)."""
    branch_ends_decode_group: bool = True
    """Nothing is decoded together with what follows a branch or a macro-fused pair (C8)."""
    fuses_across_lines: bool = False
    """A branch at the beginning of a 64-byte line can fuse with the previous instruction (A1)."""
    branch_across_blocks_costs_a_block: bool = True
    """An empty predecode block follows a branch that crosses the end of a block (F1)."""
    large_immediate_takes_slot: bool = True
    """A large immediate takes a slot of a DSB line (K1)."""
    crowded_prefixes_uncacheable: bool = True
    """A block with too many length-changing prefixes is not cached (Q3)."""
    dsb_loses_width_across_blocks: bool
    """Crossing into another block or round reduces the uops that a cycle delivers (X5)."""
    taken_branches_per_cycle: int = 0
    """Taken branches that the DSB passes per cycle (X6); 0: as many as its uops of a cycle contain."""
    dsb_lines_per_cycle: int | None = None
    """Lines from which a cycle delivers (X1); None: two."""
    dsb_serves_rounds_together: bool = False
    """Uops of two rounds of a loop within one block can be delivered in the same cycle (6.2)."""
    stack_offset_limit: int | None = 192
    """Bytes; a larger offset inserts a synchronisation uop (E3). None: no offset does."""
    lsd_enabled: bool
    lsd_has_borders: bool = True
    """The LSD places rounds in the IDQ only when it is empty, so the last cycle of a batch is not full."""
    lsd_unroll: Mapping[int, int]
    """IDQ uops per round -> rounds placed in the IDQ at once; 1 for sizes that are not listed."""
    # renamer
    issue_width: int
    high8_renamed: bool
    movzx_high8_alias_eliminated: bool
    move_elimination_pipeline_length: int
    move_elimination_gpr_slots: int
    move_elimination_simd_slots: int
    all_gpr_aliases_overwritten: bool
    add_offset_limit: int = 0
    """Limit of the sum of constants that the renamer adds to a 64-bit register: from minus this to below this
    (V9).

    0: the renamer adds none.
    """
    fuses_moves: bool = False
    """A move and the next operation on its result share an issue slot (A4)."""
    taken_branch_units: UnitSet = NO_UNITS
    """Units of a loop's taken conditional branch, if the record has more (D8), or if that one has them and
    the next field has more."""
    passed_branch_units: UnitSet = NO_UNITS
    """Units of a conditional branch that is not taken, if more than the record's (D6).

    Hardware model only.
    """
    # back end
    reorder_buffer_size: int
    retire_width: int
    reservation_station_size: int
    """Total entries of all schedulers."""
    schedulers: tuple[Scheduler, ...] = ()
    """The schedulers that the units name, with their entries; empty: a single scheduler."""
    schedulers_take_whole_groups: bool = False
    """Nothing issues while any of several schedulers might not accept a whole issue group (P3)."""
    issue_to_dispatch_delay: int = 5
    policies: Policies
    units: Units
    dividers: tuple[Divider, ...]
    closed_by_512_bit: UnitSet = NO_UNITS
    """Units closed to vector uops while 512-bit instructions are in flight, unless
    they have no other (V6)."""
    shared_integer_results: UnitSet = NO_UNITS
    """Units at which an integer result of one cycle never arrives together with a later one's (Z7)."""
    shared_vector_results: UnitSet = NO_UNITS
    """The same for results in vector and mask registers."""
    load_latency: int = 5
    """Cycles from a load's dispatch to its result; the next field is for vector registers."""
    vector_load_latency: int = 5
    fast_pointer_chasing: bool
    chained_addition_cycles: int = 0
    """Latency from one floating-point addition to the next; other consumers take one cycle more
    (U12). 0: as in the tables."""
    shift_result_without_flags: bool = False
    """In a two-uop shift by CL, the result does not wait for the flags (U5b)."""
    stores_wait_for_data: bool = False
    """A plain store depends on its data even if the tables give no latency (O6d)."""
    target_dependencies: tuple[TargetDependency, ...] = ()
    """Instructions whose result waits for the target's old value, beyond those of which the tables say so
    (V12).

    Hardware model only.
    """
    transfer_excess: int = 0
    """Cycles by which the tables' latencies between general-purpose registers and vectors or masks, which are
    upper bounds, are too long in each direction (O11).

    Hardware model only.
    """
    tracks_values: bool = False
    """Addresses are compared using known sums and the stack pointer (4.6)."""
    late_forwarding_cycles: int = 0
    """Extra cycles of forwarding if an operation has just computed the data (W6)."""
    upper_halves: UpperHalfRule = UpperHalfRule.UNKNOWN
    """What legacy SSE next to 256-bit code costs (UH1).

    Hardware model only, except for a core that counts macro-ops and merges (M7, M42).
    """
    upper_half_switch_cycles: int = 0
    """Cycles to save the upper halves, and again to restore them (UH2)."""
    failed_forwarding_cycles: int
    """Cycles from a store leaving the store buffer to the result of a load that could not forward from it.

    Hardware model only; fitted to measured blocks (docs/accuracy.md).
    """
    # Out-of-order resources, an optional part of the model (docs/pipeline.md 7): limits on instructions in
    # flight. None: not known, no limit.
    load_buffer_size: int | None = None
    load_matrix_size: int | None = None
    """Most loads that have issued and not yet executed."""
    store_buffer_size: int | None = None
    branch_buffer_size: int | None = None
    integer_registers: int | None = None
    """Physical registers beyond those that hold architectural state; likewise for the next two."""
    vector_registers: int | None = None
    all_registers: int | None = None
    """Integer and vector registers together."""
    misprediction_penalty: float | None = None
    """Cycles that a mispredicted branch adds if its code is in the uop cache (docs/branches.md). None: not
    known.

    No simulation uses it.
    """
    macro_ops: MacroOpRules | None = None
    """Rules of a core that counts macro-ops and picks uops by age; None for others."""

    def __hash__(self) -> int:
        # Cheaper than hashing a hundred parameters, and few cores share a name. (The table of LSD counts is
        # unhashable.)
        return hash(self.name)

    @property
    def scheduler_sizes(self) -> tuple[int, ...]:
        """Entries of each scheduler: as published, or scaled with ``reservation_station_size``."""
        if not self.schedulers:
            return (self.reservation_station_size,)
        published = sum(scheduler.entries for scheduler in self.schedulers)
        return tuple(
            max(1, scheduler.entries * self.reservation_station_size // published)
            for scheduler in self.schedulers
        )

    @property
    def scheduler_of_units(self) -> tuple[int, ...]:
        """Index of each unit's scheduler. Raises ValueError if a unit names an unknown scheduler."""
        if not self.schedulers:
            return (0,) * len(self.units)
        names = [scheduler.name for scheduler in self.schedulers]
        return tuple(names.index(unit.scheduler) for unit in self.units.all)


IDENTITY = frozenset({"name", "title", "products", "maker", "facts_name", "sources", "extensions"})
"""Fields that identify a core. All other fields are values, and each has a source."""


def derived(
    base: Microarchitecture,
    *,
    sources: Mapping[Source, str] | None = None,
    inherited: Source | None = None,
    **changes: Any,
) -> Microarchitecture:
    """A core described by its differences from another one.

    ``sources``: of the differing values, in the form of ``Sources``; other names are allowed. ``inherited``:
    source of all other values; None if they are as certain as on the base core. Raises ValueError for a
    difference without a source.
    """
    named = sources or {}
    known = {name.partition(".")[0] for names in named.values() for name in names.split()}
    if missing := changes.keys() - IDENTITY - known:
        raise ValueError(f"without a source: {', '.join(sorted(missing))}")
    return replace(base, sources=base.sources.derived(named, inherited), **changes)
