"""Zen 5, server core (EPYC 9005, family 1Ah model 2): measured by performance counters on a real core.

Widths are per cycle, sizes are capacities; ``cyclelens arch show ZEN5`` has the sources.

    ZEN5: Zen 5

      16 bytes -> 4 decoders -------------------------------+
      op cache: 16 lines of 6 per 64 bytes -> 8 macro-ops --+
        +---------------------------------------------------+
        v
      uop queue 64
        |
        v
      renamer 8 (6 of the vector unit) --> reorder buffer 448 --> retires 8
        |
        +-- store buffer 104
        |
        +-- integer 88
        |     +-- ALU0  ALU
        |     +-- ALU1  ALU
        |     +-- ALU2  ALU, multiply
        |     +-- ALU3  ALU, shift, multiply, branch
        |     +-- ALU4  ALU, shift, multiply, branch
        |     +-- ALU5  ALU, shift, divide, branch
        |
        +-- address 56
        |     +-- AGU0  load, store address
        |     +-- AGU1  load, store address
        |     +-- AGU2  load, store address
        |     +-- AGU3  load, store address
        |
        +-- vector 168
              +-- FP0   vector, FP multiply
              +-- FP1   vector, shuffle, FP multiply, FP divide
              +-- FP2   vector, shuffle, FP add
              +-- FP3   vector, FP add
              +-- FP4   transfer
              +-- FP5   transfer
              +-- I2F   from integer
"""

from __future__ import annotations

from itertools import combinations

from cyclelens.analyzer.microarchitectures import zen
from cyclelens.analyzer.microarchitectures.instruction_sets import ZEN_5
from cyclelens.analyzer.model.macro_ops import MacroOpRules, OnePage, WastedSlots
from cyclelens.analyzer.model.microarchitecture import (
    UNLIMITED,
    Maker,
    Microarchitecture,
    Policies,
    TargetDependency,
    UpperHalfRule,
)
from cyclelens.analyzer.model.provenance import Certainty, Source, Sources
from cyclelens.analyzer.model.units import Scheduler, Units, UopKind, unit

_PIPES = "0123"
_ALUS = "ALU0 ALU1 ALU2 ALU3 ALU4 ALU5"

UNITS = Units(
    (
        unit("ALU0", "ALU", "integer"),
        unit("ALU1", "ALU", "integer"),
        unit("ALU2", "ALU, multiply", "integer"),
        unit("ALU3", "ALU, multiply, shift, branch", "integer"),
        unit("ALU4", "ALU, multiply, shift, branch", "integer"),
        unit("ALU5", "ALU, shift, branch, divide", "integer"),
        *(unit(f"AGU{n}", "load, store address", "address") for n in range(4)),
        unit("FP0", "vector, FP multiply", "vector"),
        unit("FP1", "vector, FP multiply, FP divide, shuffle", "vector"),
        unit("FP2", "vector, FP add, shuffle", "vector"),
        unit("FP3", "vector, FP add", "vector"),
        unit("FP4", "transfer", "vector"),
        unit("FP5", "transfer", "vector"),
        unit("I2F", "from integer", "vector"),
    ),
    sets={
        "ALU": (UopKind.COMPUTE, _ALUS),
        "ALU012345": (UopKind.COMPUTE, _ALUS),
        # The names are those of the measurement; only shared use tells which units they mean.
        "ALU012": (UopKind.COMPUTE, "ALU2 ALU3 ALU4"),
        "ALU234": (UopKind.COMPUTE, "ALU3 ALU4 ALU5"),
        "DIV": (UopKind.COMPUTE, "ALU5"),
        "LD": (UopKind.LOAD, "AGU0 AGU1 AGU2 AGU3"),
        "ST": (UopKind.STORE_ADDRESS, "AGU0 AGU1 AGU2 AGU3"),
        "I2F": (UopKind.COMPUTE, "I2F"),
        "FP45": (UopKind.COMPUTE, "FP4 FP5"),
    }
    | {
        "FP" + "".join(pipes): (UopKind.COMPUTE, " ".join(f"FP{pipe}" for pipe in pipes))
        for count in range(1, 5)
        for pipes in combinations(_PIPES, count)
    },
    letters={},
)


RULES = MacroOpRules(
    decode_bytes=16,
    decode_buffer_bytes=64,
    long_instruction_bytes=10,
    long_pair_eighths=0,
    page_decode_cycles=0,
    line_entries=6,
    line_fields=6,
    fields_per_entry=0,
    full_lines=(),
    line_pairs=True,
    taken_branch_eighths=4,
    jump_eighths=4,
    small_loop_entries=96,
    long_line_eighths=0,
    vector_dispatch_width=6,
    stack_adjustment_is_two_ops=True,
    fuses_moves=True,
    fuses_memory_with_branch=True,
    zeroing_upper_ends_group=True,
    zeroing_upper_needs_unit=True,
    fuses_nops=False,
    one_operation_per_alu=False,
    memory_group=None,
    indexed_is_two_ops=False,
    memory_change_is_two_ops=False,
    memory_change_has_one_address=False,
    microcode_keeps_dispatch=False,
    long_lea_by_encoding=False,
    # The outer pipes come first: fewer operations need exactly these.
    pipes=("FP3", "FP0", "FP2", "FP1"),
    vector_pickable=64,
    vector_pipes_shared=False,
    vector_schedulers_plausible=False,
    domain_cycles=0,
    transfer_alu_cycles=0,
    vector_bits=512,
    divider_apart=False,
    wide_constant_units=("ALU3", "ALU4", "ALU5"),
    units_by_mnemonic=True,
    to_integer_excess=0,
    sse_to_integer_excess=0,
    mask_to_integer_excess=0,
    to_vector_excess=0,
    string_cycles=3,
    sse_idioms_execute=False,
    fast_fp_adds=True,
    wasted=WastedSlots(
        fresh=8,
        fresh_decoded=14,
        after_load=6,
        in_chain=2,
        multiplication=4,
        near_ops=4,
        branch_alu_fresh=5,
        branch_alu_waiting=6,
        to_branch_alu=4,
        to_multiplier=5,
        to_any_alu=5,
        between_classes=4,
        address_from_alu=5,
        address_from_load=3,
        address_cycles=12,
    ),
    load_latency=4,
    vector_load_latency=7,
    line_crossing_cycles=2,
    loads_per_cycle=4,
    vector_loads_per_cycle=2,
    stores_per_cycle=2,
    memory_ops_per_cycle=4,
    mixed_memory_ops_per_cycle=3,
    stores_committed_per_cycle=2,
    store_chunk_bytes=0,
    page_crossing_store_cycles=23,
    store_queue=104,
    forwarding=7,
    change_forwarding=0,
    change_behind_load_eighths=0,
    computed_store_eighths=0,
    looped_lock_cycles=0,
    change_load_eighths=0,
    forwarding_varies=False,
    changes_leave_singly=True,
    vector_forwarding=9,
    x87_forwarding=0,
    wide_forwarding=(0, 0, 2),
    vector_to_integer_forwarding=6,
    integer_to_vector_forwarding=10,
    forwarding_from_address=4,
    failed_forwarding=9,
    failed_vector_forwarding=6,
    failed_narrow_forwarding=9,
    crowded_loads=0,
    forwarded_load_eighths=0,
    store_gathering=None,
    load_queue=None,
    false_renaming_bytes=1024,
    page_aliasing_cycles=0,
    learnt_loads=34,
    unlearnt_loads=50,
    renaming_distance=0,
    steady_states_below=0,
    slowest_state_percent=0,
    mask_operations_per_cycle=2,
    third_source_eighths=0,
    most_third_source_eighths=0,
    one_page=OnePage(other_page_slots=2, walking_stack_eighths=38, lines_remembered=4),
)

_MEASURED = Source(
    Certainty.MEASURED, "measured", "Measured by performance counters on an EPYC 9005 (docs/zen5.md)"
)
_GUIDE = Source(
    Certainty.PUBLISHED,
    "AMD 1Ah",
    "AMD: Software Optimization Guide for the Zen 5 microarchitecture",
)
_TARGETS = Source(
    Certainty.PUBLISHED,
    "llvm-project 206849",
    "llvm-project, issue 206849 and pull request 207079: compressing and expanding without merging wait for "
    "the target on Ryzen 7000 and 9000, about five times as long as with a zero idiom in front",
)
_DEPENDENCIES = (
    *(
        TargetDependency(rf"VP?(COMPRESS|EXPAND)\w+ \({width}, .*", cycles)
        for width, cycles in (("ZMM", 5), ("YMM", 4), ("XMM", 2))
    ),
    zen.KEPT,
)
"""The cycles were measured on Zen 4."""
_PENALTY = Source(
    Certainty.PUBLISHED,
    "AMD 1Ah",
    "AMD: Software Optimization Guide for the Zen 5 microarchitecture, on branches: 12 to 18 cycles, "
    "commonly 15",
)
_SHARED = Source(
    Certainty.INFERRED,
    "shared units",
    "Measurements show which instructions share units, but not the units' numbers",
)
_FITS = Source(
    Certainty.INFERRED,
    "pipes counted",
    "The order that fits the number of operations counted on each pipe",
)
_SOONEST = Source(
    Certainty.ASSUMED,
    "next cycle",
    "The cycle after dispatch; throughput measurements show no more",
)
_WITHOUT = Source(
    Certainty.UNUSED,
    "other rules",
    "Replaced by the rules for macro-ops",
)

MODELS = (
    Microarchitecture(
        name="ZEN5",
        title="Zen 5",
        products="Ryzen 9000, EPYC 9005",
        maker=Maker.AMD,
        sources=Sources(
            _MEASURED,
            {
                _GUIDE: "decoders dsb_width dsb_lines_per_block dsb_slots_per_line issue_width "
                "reorder_buffer_size retire_width reservation_station_size",
                _PENALTY: "misprediction_penalty",
                _TARGETS: "target_dependencies",
                _SHARED: "units.ALU2 units.ALU3 units.ALU4 units.ALU5",
                _SOONEST: "issue_to_dispatch_delay",
                _FITS: "macro_ops.pipes",
                _WITHOUT: "instruction_queue_size predecode_width predecode_block_bytes "
                "predecode_to_decode_delay length_changing_prefix_penalty mite_to_ms_stall dsb_to_ms_stall "
                "ms_width branch_ends_decode_group lsd_has_borders add_offset_limit "
                "policies.addition policies.dispatch_rule "
                "fuses_moves taken_branch_units passed_branch_units transfer_excess "
                "shift_result_without_flags stores_wait_for_data "
                "tracks_values late_forwarding_cycles chained_addition_cycles "
                "pop_rsp_needs_complex_decoder pop_rsp_ends_decode_group fusible_on_last_decoder jcc_erratum "
                "both_halves_cacheable several_uops_need_complex_decoder fusible_waits_for_next "
                "branch_across_blocks_costs_a_block large_immediate_takes_slot "
                "crowded_prefixes_uncacheable dsb_loses_width_across_blocks dsb_serves_rounds_together "
                "stack_offset_limit lsd_enabled lsd_unroll movzx_high8_alias_eliminated "
                "move_elimination_pipeline_length move_elimination_gpr_slots move_elimination_simd_slots "
                "all_gpr_aliases_overwritten dividers closed_by_512_bit "
                "load_latency vector_load_latency fast_pointer_chasing failed_forwarding_cycles "
                "store_buffer_size",
            },
        ),
        facts_name="ZEN5",
        extensions=ZEN_5,
        instruction_queue_size=64,
        decoders=4,
        dsb_width=8,
        dsb_block_bytes=64,
        dsb_lines_per_block=16,
        dsb_to_ms_stall=0,
        idq_size=64,
        pop_rsp_needs_complex_decoder=False,
        pop_rsp_ends_decode_group=False,
        fusible_on_last_decoder=True,
        length_changing_prefix_penalty=0,
        jcc_erratum=False,
        both_halves_cacheable=False,
        several_uops_need_complex_decoder=False,
        fusible_waits_for_next=False,
        fuses_across_lines=True,
        branch_across_blocks_costs_a_block=False,
        large_immediate_takes_slot=False,
        crowded_prefixes_uncacheable=False,
        dsb_loses_width_across_blocks=False,
        dsb_serves_rounds_together=True,
        stack_offset_limit=None,
        lsd_enabled=False,
        lsd_unroll={},
        issue_width=8,
        high8_renamed=False,
        movzx_high8_alias_eliminated=False,
        move_elimination_pipeline_length=2,
        move_elimination_gpr_slots=UNLIMITED,
        move_elimination_simd_slots=UNLIMITED,
        all_gpr_aliases_overwritten=True,
        reorder_buffer_size=448,
        retire_width=8,
        issue_to_dispatch_delay=1,
        reservation_station_size=88 + 56 + 168,
        schedulers=(Scheduler("integer", 88), Scheduler("address", 56), Scheduler("vector", 168)),
        policies=Policies(
            front_end="op_cache",
            binding="emptiest_scheduler",
            elimination="every_move",
            memory_renaming="same_registers",
            picker="oldest_ready",
            store_commit="two_stores",
            late_operands="wasted_slots",
        ),
        units=UNITS,
        dividers=(),
        load_latency=4,
        vector_load_latency=7,
        target_dependencies=_DEPENDENCIES,
        fast_pointer_chasing=False,
        upper_halves=UpperHalfRule.MERGED_BY_TARGET,
        failed_forwarding_cycles=9,
        misprediction_penalty=15,
        store_buffer_size=104,
        macro_ops=RULES,
    ),
)
