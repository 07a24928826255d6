"""Parameters of cores that count macro-ops: AMD's from Zen 3 on.

Labels M1 to M42 refer to docs/zen5.md. Weights and costs in fractions of a cycle are in eighths, so that
states can be compared.
"""

from __future__ import annotations

from msgspec import Struct


class WastedSlots(Struct, frozen=True, kw_only=True):
    """Issue slots, in eighths, that an operation wastes beyond its own.

    An ALU operation wastes them if the operand it waited for came from an operation of one cycle (M14), a
    load if its address did (M15).
    """

    fresh: int
    """The producer had all inputs when it was dispatched."""
    fresh_decoded: int
    """As ``fresh``, in code from the decoders."""
    after_load: int
    """The producer waited for a load."""
    in_chain: int
    """The producer waited for another ALU operation."""
    multiplication: int
    """Wasted by every multiplication."""
    near_ops: int
    """Distance in macro-ops beyond which the weight of a fresh producer falls."""
    branch_alu_fresh: int
    branch_alu_waiting: int
    """From the ALUs of shifts and branches to any ALU."""
    to_branch_alu: int
    to_multiplier: int
    """Eighths of the weight for operations that only some ALUs execute."""
    to_any_alu: int
    """Eighths of the weight from such an operation to one that any ALU executes."""
    between_classes: int
    """Eighths of the weight between operations that only some, but different, ALUs execute."""
    address_from_alu: int
    address_from_load: int
    address_cycles: int
    """In long loops from the op cache, only a load picked within these cycles wastes slots."""


class OnePage(Struct, frozen=True, kw_only=True):
    """Extra cost of loads if a measuring harness maps all pages to one physical page (M22).

    In slots of the address units; for the stack in eighths of a slot.
    """

    other_page_slots: int
    """Cost of a load whose line was last read through another page."""
    walking_stack_eighths: int
    """Cost of a load that pops from a line that has not been read yet."""
    lines_remembered: int
    """Number of pages for which a line is remembered."""


class StoreGathering(Struct, frozen=True, kw_only=True):
    """Stores on their way to the cache, gathered in a queue of chunks (M28)."""

    chunks: int
    """Chunks that the queue holds; one per cycle goes to the cache."""
    in_flight: int
    """Cycles for which a chunk on its way to the cache delays partial words of the same place."""
    restart: int
    """Cycles from the latest chunk to one that had to wait for such a place."""


class LoadQueue(Struct, frozen=True, kw_only=True):
    """Loads in flight; entries are freed in order (M29)."""

    entries: int
    held: int
    """Cycles from the pick of a load until its entry is free."""


class MemoryGroup(Struct, frozen=True, kw_only=True):
    """Most memory accesses of the macro-ops that are dispatched in a cycle (M41)."""

    loads: int
    vector_loads: int
    loads_with_operation: int
    """Loads of integer instructions that also need an ALU."""
    stores: int
    constant_stores: int
    accesses: int
    """Loads and stores, without those of integer instructions that also need an ALU."""


class FullLine(Struct, frozen=True):
    """What a line of the op cache holds at most if it has this many entries (M37)."""

    entries: int
    fields: int
    """Immediates and displacements, that of a branch included."""
    wide_fields: int
    """Those of more than 8 bits, and that of a branch."""
    evex: int
    """Instructions encoded by EVEX."""


class MacroOpRules(Struct, frozen=True, kw_only=True):
    """Parameters beyond those of all cores, in cycles, bytes, macro-ops or instructions as named."""

    # front end
    decode_bytes: int
    """Bytes per cycle from the instruction cache to the decoders."""
    decode_buffer_bytes: int
    long_instruction_bytes: int
    """A longer instruction begins a decode group."""
    long_pair_eighths: int
    """Additional cost of a long instruction right after another one."""
    page_decode_cycles: int
    """Cycles that the decoders lose at the end of a page of code."""
    line_entries: int
    line_fields: int
    """Immediates and displacements per op cache line."""
    fields_per_entry: int
    """Further fields that fit into an entry of the line; 0: the line ends when its fields do."""
    full_lines: tuple[FullLine, ...]
    """Further limits of lines with that many entries; lines are then read one by one, as with
    ``fields_per_entry``."""
    line_pairs: bool
    """Two lines are read per cycle, and what follows the first two lines of a window shares
    lines with the next windows."""
    taken_branch_eighths: int
    """Cost of the taken branch of a loop that is not small."""
    jump_eighths: int
    """Cost of a window within a loop that ends in a jump, if two lines hold it."""
    small_loop_entries: int
    """A loop of at most this many entries is small: it may be read ahead, and its branch costs nothing."""
    long_line_eighths: int
    """Cost of a line in a loop that is not small, and at least a cycle for each window; 0: as in a small
    loop."""
    # dispatch
    vector_dispatch_width: int
    stack_adjustment_is_two_ops: bool
    fuses_moves: bool
    fuses_memory_with_branch: bool
    """A conditional branch shares the macro-op even of an operation that reads memory (M5)."""
    zeroing_upper_ends_group: bool
    """Nothing after VZEROUPPER is dispatched in the same cycle (M4)."""
    zeroing_upper_needs_unit: bool
    """VZEROUPPER occupies a unit, as its record says."""
    one_operation_per_alu: bool
    """Of the macro-ops dispatched in a cycle, each ALU's scheduler takes one operation (M30)."""
    memory_group: MemoryGroup | None
    """None: no limit."""
    indexed_is_two_ops: bool
    """A load with operation and a store whose address has an index are two macro-ops (M31)."""
    memory_change_is_two_ops: bool
    """An integer instruction that changes a word in memory is two macro-ops at least (M31)."""
    memory_change_has_one_address: bool
    """Its load and its store share an address: it is one of the accesses of a cycle (M43)."""
    long_lea_by_encoding: bool
    """LEA with base and index is two operations if its encoding has a displacement, even 0."""
    microcode_keeps_dispatch: bool
    """Microcode is dispatched as slowly as it was measured in a row, and nothing beside it (M39)."""
    fuses_nops: bool
    """A NOP shares the macro-op of the previous instruction."""
    # schedulers
    pipes: tuple[str, ...]
    """Vector units in the order of preference; a uop takes the first free one."""
    vector_pickable: int
    """Number of oldest waiting vector uops that can be picked; the others queue before the schedulers."""
    vector_pipes_shared: bool
    """A vector uop may take any pipe that fits, whichever scheduler it waits in (M32)."""
    vector_schedulers_plausible: bool
    """Loops were measured that vector uops bound to their schedulers explain, and others that they do not."""
    domain_cycles: int
    """Additional latency of a vector result between the domains of floating point and integers (M33)."""
    transfer_alu_cycles: int
    """Cycles for which a transfer to an integer register keeps one of the shifting ALUs from operations other
    than multiplications; one to the flags alone takes as many slots of ALUs (M34)."""
    vector_bits: int
    """A wider operation occupies its pipe for several cycles."""
    divider_apart: bool
    """A vector division occupies its pipe for one cycle and a separate divider for its duration;
    otherwise it occupies the pipe."""
    wide_constant_units: tuple[str, ...]
    """Units that move a constant of 64 bits into a register."""
    units_by_mnemonic: bool
    """Integer units are known by mnemonic (M9).

    Otherwise the tables give the number of units, and the mnemonic's units are used only if their number
    agrees.
    """
    to_integer_excess: int
    """Cycles by which the tables' latencies from vector to integer registers are too
    high: they are upper bounds."""
    sse_to_integer_excess: int
    """As ``to_integer_excess``, of instructions without VEX."""
    mask_to_integer_excess: int
    """As ``to_integer_excess``, from mask registers."""
    to_vector_excess: int
    """As ``to_integer_excess``, from integer to vector and mask registers."""
    string_cycles: int
    """Cycles between consecutive string instructions."""
    sse_idioms_execute: bool
    """Zero idioms of SSE without VEX wait for no input but use a pipe."""
    fast_fp_adds: bool
    """An FP addition reaches the next FP addition a cycle earlier than other consumers (M20)."""
    wasted: WastedSlots | None
    # memory
    load_latency: int
    vector_load_latency: int
    line_crossing_cycles: int
    loads_per_cycle: int
    vector_loads_per_cycle: int
    stores_per_cycle: int
    memory_ops_per_cycle: int
    mixed_memory_ops_per_cycle: int
    """Limit if a vector load is among the accesses of the cycle."""
    stores_committed_per_cycle: int
    store_chunk_bytes: int
    """Only stores into one aligned chunk of this many bytes commit together, and a store into two chunks
    takes two cycles.

    0: any stores commit together, except one that crosses a line.
    """
    page_crossing_store_cycles: int
    """Cycles that a store into two pages takes; it commits alone."""
    store_queue: int
    forwarding: int
    change_forwarding: int
    """As ``forwarding``, to an instruction whose load and store share an address (M43)."""
    change_behind_load_eighths: int
    """Slots of the address units beyond its own that the load of an instruction that changes memory costs
    directly behind another load, in eighths (M43)."""
    computed_store_eighths: int
    """Cycles, in eighths, for which a constant of 32 bits or the result of an operation on memory keeps the
    unit of its data (M46)."""
    looped_lock_cycles: float
    """Cycles of the first locked change of memory behind the branch of a loop (M45); 0: as of others."""
    change_load_eighths: int
    """Slots of the address units beyond its own that the load of such an instruction costs, in eighths."""
    forwarding_varies: bool
    """In some states forwarding takes up to a cycle less or more, and ``changes_leave_singly`` (M43)."""
    changes_leave_singly: bool
    """Stores that an instruction with one address reads are among those that leave one per cycle (M28)."""
    vector_forwarding: int
    wide_forwarding: tuple[int, int, int]
    """Additional cycles of forwarding for stored vectors of up to 128, 256 and 512 bits."""
    x87_forwarding: int
    """Additional cycles of forwarding what x87 code stores."""
    vector_to_integer_forwarding: int
    integer_to_vector_forwarding: int
    forwarding_from_address: int
    """Cycles from the pick of a store's address to the pick of a load that it forwards to."""
    failed_forwarding: int
    """Cycles from a store's commit to the pick of the load that could not forward from it."""
    failed_vector_forwarding: int
    failed_narrow_forwarding: int
    """As ``failed_forwarding``, from a store of less than four bytes to an integer load."""
    crowded_loads: int
    """With this many forwarding loads that wait, forwarding takes a cycle more (M35); 0: never."""
    forwarded_load_eighths: int
    """Slots of the address units beyond its own that a load costs if a store's data reach it, in eighths."""
    store_gathering: StoreGathering | None
    load_queue: LoadQueue | None
    false_renaming_bytes: int
    """A load with a store's registers and a displacement that differs by a multiple of this is mistaken for
    one that reads the store, and is repeated; 0: not known."""
    page_aliasing_cycles: int
    """Extra cycles of a load whose lower 12 address bits equal those of a store in flight to another page; 0:
    none.

    Reported but not simulated.
    """
    learnt_loads: int
    """Number of loads that a predictor can learn to rename although their registers
    differ from the store's."""
    unlearnt_loads: int
    """With this many loads the predictor holds none of them; in between it holds some."""
    renaming_distance: int
    """Stores between a store and a load that is renamed to it; 0: any number."""
    steady_states_below: float
    """A loop that accesses memory and takes fewer cycles per iteration settles in one of several steady
    states, and the simulation shows the fastest (M38); 0: not known."""
    slowest_state_percent: int
    """By how much an iteration takes longer in the slowest of these states."""
    mask_operations_per_cycle: int
    third_source_eighths: int
    """Operations with three sources that a store of a vector or a transfer to integer registers keeps from
    two pipes, in eighths (M44); 0: none."""
    most_third_source_eighths: int
    """The same in the slowest loops that were measured."""
    one_page: OnePage | None
    """None if not known."""
