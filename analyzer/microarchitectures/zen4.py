"""AMD's Zen 4, by the rules that were measured on it, on Zen 3 and on Zen 5 (docs/zen5.md), and its own
widths and capacities. It was measured by time stamps, without performance counters.

Widths are per cycle, sizes are capacities; ``cyclelens arch show ZEN4`` has the sources.

    ZEN4: Zen 4

      16 bytes -> 4 decoders -------------------------------+
      op cache: 12 lines of 9 per 64 bytes -> 9 macro-ops --+
        +---------------------------------------------------+
        v
      uop queue 144
        |
        v
      renamer 6 (6 of the vector unit) --> reorder buffer 320 --> retires 8
        |
        +-- load buffer 88, store buffer 64
        |
        +-- integer 0 24
        |     +-- ALU0  ALU, divide, branch
        |     +-- AGU0  load, store address
        |
        +-- integer 1 24
        |     +-- ALU1  ALU, shift, multiply
        |     +-- AGU1  load, store address
        |
        +-- integer 2 24
        |     +-- ALU2  ALU, shift
        |     +-- AGU2  load, store address
        |
        +-- integer 3 24
        |     +-- ALU3  ALU, branch
        |
        +-- branch 24
        |     +-- BR    branch
        |
        +-- store queue 64
        |     +-- SD0   store data
        |     +-- SD1   store data
        |
        +-- vector 0 64
        |     +-- FP0   vector, FP multiply
        |     +-- FP2   vector, shuffle, FP add
        |     +-- FP4   transfer, vector store
        |
        +-- vector 1 64
              +-- FP1   vector, shuffle, FP multiply, FP divide
              +-- FP3   vector, FP add
              +-- FP5   transfer
"""

from __future__ import annotations

from cyclelens.analyzer.microarchitectures import zen3, zen5
from cyclelens.analyzer.microarchitectures.instruction_sets import ZEN_4
from cyclelens.analyzer.model.macro_ops import FullLine, LoadQueue, StoreGathering
from cyclelens.analyzer.model.microarchitecture import UpperHalfRule, derived
from cyclelens.analyzer.model.provenance import Certainty, Source
from cyclelens.analyzer.model.units import unit
from msgspec.structs import replace

(_ZEN_3,) = zen3.MODELS
_MEASURED = Source(
    Certainty.MEASURED, "measured", "Measured by time stamps on an EPYC 9004 (docs/zen5.md, Zen 4)"
)
_FITTED = Source(
    Certainty.MEASURED,
    "fitted",
    "The value that fits blocks measured by time stamps on an EPYC 9004 (docs/zen5.md, Zen 4)",
)
_PENALTY = Source(
    Certainty.MEASURED,
    "random branches",
    "cyclelens characterize --core on an EPYC 9004: 14.1 to 14.4 (docs/branches.md); AMD's guide says "
    "11 to 18, commonly 13",
)
_AS_ZEN_3 = Source(
    Certainty.INFERRED, "as Zen 3", "As measured on Zen 3, which has the same units; not measured on Zen 4"
)
_UNITS = Source(
    Certainty.INFERRED,
    "LLVM, guide, measured",
    "The units that LLVM's X86ScheduleZnver3.td has with the guide's sections; that branches have a unit of "
    "their own, and that a store of a vector and a transfer begin in one cycle, was measured by time stamps "
    "on an EPYC 9004 (docs/zen5.md, M47, M48)",
)
_SCHEDULERS = Source(
    Certainty.INFERRED,
    "guide, measured",
    "The guide's schedulers for integer and vector operations; that branches wait in a queue of their own "
    "was measured by time stamps on an EPYC 9004 (docs/zen5.md, M48), and the queue's size is assumed",
)
_NOT_MEASURED = Source(Certainty.ASSUMED, "unknown", "Zen 3 and Zen 5 differ; not measured on Zen 4")

MODELS = (
    derived(
        _ZEN_3,
        name="ZEN4",
        title="Zen 4",
        products="Ryzen 7000, EPYC 9004",
        sources={
            _PENALTY: "misprediction_penalty",
            zen3.GUIDE: "dsb_width dsb_lines_per_block dsb_slots_per_line reorder_buffer_size "
            "load_buffer_size macro_ops.line_entries",
            zen3.MEASURED_BY_OTHERS: "idq_size",
            _UNITS: "units",
            _SCHEDULERS: "schedulers reservation_station_size",
            _MEASURED: "upper_halves upper_half_switch_cycles macro_ops.memory_group "
            "decoders issue_width macro_ops.jump_eighths macro_ops.fuses_memory_with_branch "
            "macro_ops.mask_to_integer_excess macro_ops.string_cycles macro_ops.sse_idioms_execute "
            "macro_ops.page_crossing_store_cycles macro_ops.decode_bytes macro_ops.long_instruction_bytes "
            "macro_ops.stack_adjustment_is_two_ops macro_ops.fuses_moves macro_ops.fuses_nops "
            "macro_ops.load_latency macro_ops.loads_per_cycle macro_ops.vector_loads_per_cycle "
            "macro_ops.mixed_memory_ops_per_cycle macro_ops.stores_per_cycle macro_ops.memory_ops_per_cycle "
            "macro_ops.stores_committed_per_cycle macro_ops.store_chunk_bytes macro_ops.forwarding "
            "macro_ops.x87_forwarding macro_ops.vector_forwarding macro_ops.wide_forwarding "
            "macro_ops.vector_to_integer_forwarding "
            "macro_ops.integer_to_vector_forwarding macro_ops.to_integer_excess macro_ops.to_vector_excess "
            "macro_ops.failed_forwarding macro_ops.page_aliasing_cycles policies.memory_renaming "
            "policies.store_commit "
            "policies.late_operands "
            "macro_ops.vector_bits macro_ops.sse_to_integer_excess macro_ops.page_decode_cycles "
            "macro_ops.domain_cycles "
            "macro_ops.store_gathering macro_ops.failed_vector_forwarding macro_ops.failed_narrow_forwarding "
            "macro_ops.long_lea_by_encoding macro_ops.one_operation_per_alu macro_ops.vector_pipes_shared "
            "macro_ops.zeroing_upper_ends_group macro_ops.zeroing_upper_needs_unit macro_ops.divider_apart "
            "macro_ops.indexed_is_two_ops macro_ops.memory_change_is_two_ops "
            "target_dependencies "
            "macro_ops.microcode_keeps_dispatch macro_ops.line_fields macro_ops.fields_per_entry "
            "macro_ops.full_lines macro_ops.memory_change_has_one_address "
            "macro_ops.change_forwarding macro_ops.forwarding_varies macro_ops.changes_leave_singly "
            "macro_ops.change_load_eighths macro_ops.looped_lock_cycles macro_ops.computed_store_eighths "
            "macro_ops.change_behind_load_eighths "
            "macro_ops.vector_schedulers_plausible macro_ops.third_source_eighths "
            "macro_ops.most_third_source_eighths",
            _FITTED: "macro_ops.pipes macro_ops.transfer_alu_cycles",
            _AS_ZEN_3: "macro_ops.small_loop_entries macro_ops.long_line_eighths macro_ops.load_queue",
            _NOT_MEASURED: "macro_ops.long_pair_eighths "
            "macro_ops.crowded_loads macro_ops.forwarded_load_eighths "
            "macro_ops.renaming_distance macro_ops.learnt_loads macro_ops.unlearnt_loads "
            "macro_ops.steady_states_below macro_ops.slowest_state_percent",
        },
        facts_name="ZEN4",
        extensions=ZEN_4,
        misprediction_penalty=14,
        dsb_width=9,
        dsb_lines_per_block=12,
        dsb_slots_per_line=9,
        idq_size=144,
        reorder_buffer_size=320,
        upper_halves=UpperHalfRule.MERGED,
        upper_half_switch_cycles=0,
        load_buffer_size=88,
        units=zen3.units_with(
            {
                # Either may take a store or a transfer, one of each per cycle: as if each had its own (M47).
                "E": unit("FP5", "transfer", "vector 1"),
                "G": unit("FP4", "transfer, vector store", "vector 0"),
            }
        ),
        policies=replace(_ZEN_3.policies, memory_renaming="same_names"),
        macro_ops=replace(
            _ZEN_3.macro_ops or zen5.RULES,
            line_entries=9,
            line_fields=8,
            fields_per_entry=0,
            full_lines=(
                FullLine(entries=8, fields=8, wide_fields=5, evex=4),
                FullLine(entries=9, fields=6, wide_fields=4, evex=1),
            ),
            long_instruction_bytes=10,
            long_pair_eighths=0,
            # The one that transfers from integers need comes last.
            pipes=("FP0", "FP1", "FP2", "FP3"),
            page_decode_cycles=0,
            domain_cycles=0,
            sse_to_integer_excess=4,
            page_crossing_store_cycles=34,
            forwarding=7,
            change_forwarding=5,
            change_behind_load_eighths=3,
            computed_store_eighths=9,
            looped_lock_cycles=6.0,
            change_load_eighths=0,
            forwarding_varies=True,
            changes_leave_singly=False,
            x87_forwarding=4,
            crowded_loads=0,
            forwarded_load_eighths=0,
            failed_forwarding=13,
            failed_vector_forwarding=12,
            failed_narrow_forwarding=13,
            learnt_loads=34,
            unlearnt_loads=50,
            renaming_distance=0,
            steady_states_below=0,
            slowest_state_percent=0,
            store_gathering=StoreGathering(chunks=4, in_flight=0, restart=0),
            load_queue=LoadQueue(entries=88, held=22),
            zeroing_upper_ends_group=True,
            fuses_nops=True,
            vector_schedulers_plausible=True,
            third_source_eighths=8,
            most_third_source_eighths=12,
            memory_change_has_one_address=True,
        ),
    ),
)
