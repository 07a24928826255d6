"""What a core says of itself that counts macro-ops: AMD's, from Zen 3 on. Labels M1 to M26 stand in
docs/zen5.md. Weights and costs that are no whole cycles are in eighths, so that states can be compared."""

from __future__ import annotations

from cyclelens.analyzer.common.data_classes import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WastedSlots:
    """Issue slots, in eighths, that an ALU operation wastes beyond its own when the operand that it waited
    for came from an operation of one cycle (M14), and a load when its address did (M15)."""

    fresh: int
    """The producer had all inputs when it was dispatched."""
    fresh_decoded: int
    """The same in code from the decoders."""
    after_load: int
    """The producer waited for a load."""
    in_chain: int
    """The producer waited for another ALU operation."""
    multiplication: int
    """Every multiplication, beyond its own slot."""
    near_ops: int
    """So many macro-ops behind, the weight of a fresh producer begins to fall."""
    branch_alu_fresh: int
    branch_alu_waiting: int
    """From the ALUs of shifts and branches to any."""
    to_branch_alu: int
    to_multiplier: int
    """Eighths of the weight for operations that only some ALUs execute."""
    to_any_alu: int
    """The same from such an operation to one that any ALU executes."""
    between_classes: int
    """The same between operations that only some execute, and not the same ones."""
    address_from_alu: int
    address_from_load: int
    address_cycles: int
    """In the op cache's long loops only a load picked this soon wastes anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnePage:
    """What loads cost beyond their own where a measuring harness maps all pages to one physical page (M22):
    slots of the address units, in eighths for the stack's."""

    other_page_slots: int
    """A load whose line was last read through another page."""
    walking_stack_eighths: int
    """A load that pops from a line that has not been read yet."""
    lines_remembered: int
    """Of how many pages a line is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MacroOpRules:
    """Parameters beyond those that all cores have, in cycles, bytes, macro-ops or instructions as named."""

    # front end
    decode_bytes: int
    """From the instruction cache to the decoders, per cycle."""
    decode_buffer_bytes: int
    long_instruction_bytes: int
    """A longer instruction begins a decode group."""
    line_entries: int
    line_fields: int
    """Immediates and displacements in an op-cache line."""
    line_pairs: bool
    """Two lines are read in a cycle, and what lies behind the first two of a window shares lines with the
    next windows."""
    window_eighths: tuple[int, ...]
    """Cost of a window of the op cache by its entries, in eighths of a cycle, where lines are not read in
    pairs; beyond the table eight entries take a cycle."""
    taken_branch_eighths: int
    """Of a loop that is not small."""
    jump_eighths: int
    """Of a window that ends in a jump within a loop, if two lines hold it."""
    small_loop_entries: int
    """Up to here a loop is small: it may be read ahead, and its branch costs nothing."""
    # dispatch
    vector_dispatch_width: int
    stack_adjustment_is_two_ops: bool
    fuses_moves: bool
    fuses_memory_with_branch: bool
    """A conditional branch shares the macro-op of an operation that reads memory too (M5)."""
    zeroing_upper_ends_group: bool
    """Nothing behind VZEROUPPER is dispatched in the same cycle (M4); else it takes no unit either."""
    fuses_nops: bool
    """A NOP shares the macro-op of what stands before it."""
    # schedulers
    pipes: tuple[str, ...]
    """The vector units in the order in which a uop takes one that is free; it takes one of them first."""
    vector_pickable: int
    """The oldest of the waiting vector uops that can be picked; the others queue before the schedulers."""
    vector_bits: int
    """A wider operation keeps its pipe for several cycles."""
    divider_apart: bool
    """A vector division takes its pipe for a cycle, and the divider behind it for as long as it lasts; else
    the pipe is busy."""
    units_by_mnemonic: bool
    """Integer units are known by mnemonic (M9). Else the tables know how many units take an instruction, and
    only where the mnemonic's are as many it tells which."""
    to_integer_excess: int
    """Cycles by which the tables' latencies from vector to integer registers, upper bounds, are too high."""
    mask_to_integer_excess: int
    """The same from mask registers."""
    to_vector_excess: int
    """The same from integer to vector and mask registers."""
    string_cycles: int
    """From one string instruction to the next."""
    sse_idioms_execute: bool
    """Zero idioms of SSE without VEX wait for nothing, but take a pipe."""
    fast_fp_adds: bool
    """An FP addition reaches the next one per cycle earlier than anything else (M20)."""
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
    """If vector loads meet any other access in a cycle."""
    stores_committed_per_cycle: int
    store_chunk_bytes: int
    """Only stores into one aligned chunk of so many bytes leave together, and one into two chunks takes two
    cycles; 0: any stores do, but for one that crosses a line."""
    page_crossing_store_cycles: int
    """A store into two pages leaves alone and takes so long."""
    store_queue: int
    forwarding: int
    vector_forwarding: int
    wide_forwarding: tuple[int, int, int]
    """Cycles by which stored vectors of up to 128, 256 and 512 bits come later than that."""
    vector_to_integer_forwarding: int
    integer_to_vector_forwarding: int
    forwarding_from_address: int
    """From the pick of a store's address to that of a load that it forwards to."""
    failed_forwarding: int
    """From a store's commit to the pick of the load that could not forward from it."""
    failed_vector_forwarding: int
    false_renaming_bytes: int
    """A load from the registers of a store and a displacement that differs by a multiple of this is taken for
    one that reads what is stored, and is done again; 0: not known."""
    page_aliasing_cycles: int
    """What a load takes longer whose lower 12 bits of the address are those of a store in flight to another
    page; 0: nothing. It is told and not simulated."""
    learnt_loads: int
    """Loads that a predictor learns to rename although their registers differ from the store's."""
    unlearnt_loads: int
    """So many loads are more than it holds; in between it holds some."""
    mask_operations_per_cycle: int
    one_page: OnePage | None
    """None: not known."""
