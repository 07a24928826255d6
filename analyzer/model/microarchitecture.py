"""Parameters of one microarchitecture. ``_width`` is per cycle, ``_size`` is a capacity."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from cyclelens.analyzer.common.data_classes import dataclass, replace
from cyclelens.analyzer.model.macro_ops import MacroOpRules
from cyclelens.analyzer.model.provenance import NO_SOURCES, Source, Sources
from cyclelens.analyzer.model.units import NO_UNITS, Divider, Scheduler, Units, UnitSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """The rules that a core follows where cores differ in kind, each by the name under which
    ``simulator/policies.py`` lists its class."""

    front_end: str = "mite_dsb_lsd"
    binding: str
    """How a unit is chosen for a uop that issues; of a core that counts macro-ops, how a scheduler is."""
    hardware_binding: str = ""
    """The same in the hardware model, where measurements speak against that rule; empty: that one."""
    elimination: str = "shared_slots"
    """Which register moves the renamer carries out; empty: none."""
    addition: str = ""
    """Which additions of constants the renamer carries out; empty: none."""
    memory_renaming: str = ""
    """Which loads take over the register that a store in flight has stored; empty: none do."""
    picker: str = "bound_unit"
    """Which ready uops leave the scheduler in a cycle."""
    dispatch_rule: str = ""
    """Which units hold each other back; empty: none do."""
    store_commit: str = ""
    """Which stores may go to the cache together; empty: all may, where no store queue is simulated."""
    late_operands: str = ""
    """What operations waste whose operand comes at the last moment, on a core that counts macro-ops; empty:
    nothing."""


class Maker(StrEnum):
    """Who makes a core, and so what its parts are called."""

    INTEL = "Intel"
    AMD = "AMD"


class UpperHalfRule(StrEnum):
    """What a core does when legacy SSE has to keep upper halves of vector registers that are in use."""

    PUT_ASIDE = "put aside"
    """It saves all of them at the first such instruction, and fetches them back at the first one with VEX."""
    MERGED = "merged"
    """It merges every result of such an instruction with the old register."""
    FREE = "free"
    """It costs nothing: how the price of the others is found."""
    UNKNOWN = "not known"


UNLIMITED = 1 << 20
"""A number of move-elimination slots that is never reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Microarchitecture:
    """Every parameter of docs/pipeline.md chapter 1, in cycles, bytes, instructions or uops as named."""

    name: str
    title: str
    products: str = ""
    """Some of the processors that have it, as they are sold."""
    maker: Maker = Maker.INTEL
    facts_name: str
    """Microarchitecture whose instruction tables apply."""
    sources: Sources = NO_SOURCES
    """Where each of the values below comes from, and how certain it is."""
    extensions: frozenset[str]
    """Extensions of the instruction set, in the decoder's spelling."""
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
    """An instruction of more than one decoded uop is for the complex decoder alone, as microcode is (V7)."""
    fusible_waits_for_next: bool = True
    """An instruction that could fuse is decoded only when its successor is there (C4)."""
    branch_ends_decode_group: bool = True
    """Nothing is decoded beside what follows a branch or a pair that fuses with one (C8)."""
    fuses_across_lines: bool = False
    """A branch at the beginning of a 64-byte line can fuse with the instruction before it (A1)."""
    branch_across_blocks_costs_a_block: bool = True
    """A branch that reaches over the end of a predecode block is followed by an empty one (F1)."""
    large_immediate_takes_slot: bool = True
    """In a DSB line (K1)."""
    crowded_prefixes_uncacheable: bool = True
    """A block with a certain crowd of length-changing prefixes is not cached (Q3)."""
    dsb_loses_width_across_blocks: bool
    """Going on into another block or round leaves room for fewer uops in a cycle (X5)."""
    taken_branches_per_cycle: int = 0
    """That the DSB goes beyond (X6); 0: as many as lie in its uops of a cycle."""
    dsb_serves_rounds_together: bool = False
    """Uops of two rounds of a loop within one block can be delivered in a cycle (6.2)."""
    stack_offset_limit: int | None = 192
    """Bytes; a larger offset inserts a synchronisation (E3). None: none does."""
    lsd_enabled: bool
    lsd_has_borders: bool = True
    """The LSD places rounds in the IDQ only when that is empty: the last cycle of a batch is not full."""
    lsd_unroll: Mapping[int, int]
    """IDQ uops per round -> rounds placed in the IDQ at once; sizes not listed: 1."""
    # renamer
    issue_width: int
    high8_renamed: bool
    movzx_high8_alias_eliminated: bool
    move_elimination_pipeline_length: int
    move_elimination_gpr_slots: int
    move_elimination_simd_slots: int
    all_gpr_aliases_overwritten: bool
    add_offset_limit: int = 0
    """Additions of constants to 64-bit registers are carried out at rename while the sum of a register's
    constants is at least minus this and less than this (V9); 0 where the renamer carries out none."""
    fuses_moves: bool = False
    """A move and the operation on its result behind it share an issue slot (A4)."""
    taken_branch_units: UnitSet = NO_UNITS
    """Units of the taken conditional branch of a loop, if they are fewer than the record's (D8)."""
    # back end
    reorder_buffer_size: int
    retire_width: int
    reservation_station_size: int
    """Entries of all schedulers together."""
    schedulers: tuple[Scheduler, ...] = ()
    """Those that the units name, with the entries of each; none: a single one holds all."""
    schedulers_take_whole_groups: bool = False
    """Nothing issues while one of several schedulers might not take a whole issue group (P3)."""
    issue_to_dispatch_delay: int = 5
    policies: Policies
    units: Units
    dividers: tuple[Divider, ...]
    closed_by_512_bit: UnitSet = NO_UNITS
    """Units that vector uops cannot use while 512-bit instructions are about, if they have others (V6)."""
    load_latency: int = 5
    """From a load's dispatch to its result; the next is the same for vector registers."""
    vector_load_latency: int = 5
    fast_pointer_chasing: bool
    chained_addition_cycles: int = 0
    """Of a floating-point addition from the result of another one; from all else it takes one more (U12). 0:
    what the tables say."""
    shift_result_without_flags: bool = False
    """The result of a shift by CL that is two uops does not wait for the flags (U5b)."""
    stores_wait_for_data: bool = False
    """A plain store depends on its data even where the tables give no latency (O6d)."""
    tracks_values: bool = False
    """Addresses are compared with what is known of sums and of the stack pointer (4.6)."""
    late_forwarding_cycles: int = 0
    """What forwarding takes longer where an operation has just computed the data (W6)."""
    upper_halves: UpperHalfRule = UpperHalfRule.UNKNOWN
    """What legacy SSE beside 256-bit code costs (UH1). Hardware model only, but for a core that counts
    macro-ops and merges (M7)."""
    upper_half_switch_cycles: int = 0
    """Cycles that the core takes to put the upper halves aside, and again to fetch them back (UH2)."""
    failed_forwarding_cycles: int
    """Hardware model only: from the cycle in which a store leaves the store buffer to the result of a load
    that could not forward from it. Fitted to measured blocks (docs/accuracy.md)."""
    # Out-of-order resources, an optional part of the model (docs/pipeline.md 7): what instructions in flight
    # can hold. None: no figure is known, and there is no limit.
    load_buffer_size: int | None = None
    load_matrix_size: int | None = None
    """Loads that have issued and not yet executed."""
    store_buffer_size: int | None = None
    branch_buffer_size: int | None = None
    integer_registers: int | None = None
    """Physical registers beyond those that hold architectural state; the same for the next two."""
    vector_registers: int | None = None
    all_registers: int | None = None
    """Integer and vector registers together."""
    macro_ops: MacroOpRules | None = None
    """Of a core that counts macro-ops and picks uops by age; None for all others."""

    def __hash__(self) -> int:
        # Of a hundred parameters; cores of one name are few. (Its table of LSD counts has no hash at all.)
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
        """For every unit the number of its scheduler. Raises ValueError for one that is not there."""
        if not self.schedulers:
            return (0,) * len(self.units)
        names = [scheduler.name for scheduler in self.schedulers]
        return tuple(names.index(unit.scheduler) for unit in self.units.all)


IDENTITY = frozenset({"name", "title", "products", "maker", "facts_name", "sources", "extensions"})
"""Fields that say which core it is. All others are values, and each has a source."""


def derived(
    base: Microarchitecture,
    *,
    sources: Mapping[Source, str] | None = None,
    inherited: Source | None = None,
    **changes: Any,
) -> Microarchitecture:
    """A core described by its differences from another one. ``sources``: those of the values that differ, as
    ``Sources`` takes them; it may name others too. ``inherited``: the source of all that does not differ,
    None where that is as certain as on the other core. Raises ValueError for a difference without a
    source."""
    named = sources or {}
    known = {name.partition(".")[0] for names in named.values() for name in names.split()}
    if missing := changes.keys() - IDENTITY - known:
        raise ValueError(f"without a source: {', '.join(sorted(missing))}")
    return replace(base, sources=base.sources.derived(named, inherited), **changes)
