"""AMD's Zen 3, by the rules that were measured on Zen 5 (docs/zen5.md) and its own widths and capacities.
Its differences from Zen 5 are assumed to be those that were measured on Zen 4.

Dependent operations waste nothing (M14, M15): no such waste was found on Zen 4.

Widths are per cycle, sizes are capacities; ``cyclelens arch show ZEN3`` has the sources.

    ZEN3: Zen 3

      16 bytes -> 4 decoders ------------------------------+
      op cache: 8 lines of 8 per 64 bytes -> 8 macro-ops --+
        +--------------------------------------------------+
        v
      uop queue 72
        |
        v
      renamer 6 (6 of the vector unit) --> reorder buffer 256 --> retires 8
        |
        +-- load buffer 72, store buffer 64
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
        |     +-- FP45  transfer
        |
        +-- vector 1 64
              +-- FP1   vector, shuffle, FP multiply, FP divide
              +-- FP3   vector, FP add
"""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.microarchitectures import zen5
from cyclelens.analyzer.microarchitectures.instruction_sets import ZEN_3
from cyclelens.analyzer.microarchitectures.literature import same_as
from cyclelens.analyzer.model.macro_ops import LoadQueue, MemoryGroup, StoreGathering
from cyclelens.analyzer.model.microarchitecture import UpperHalfRule, derived
from cyclelens.analyzer.model.provenance import Certainty, Source
from cyclelens.analyzer.model.units import Scheduler, Unit, Units, UopKind, unit
from msgspec.structs import replace

_UNITS = (
    unit("ALU0", "ALU, divide, branch", "integer 0"),
    unit("ALU1", "ALU, multiply, shift", "integer 1"),
    unit("ALU2", "ALU, shift", "integer 2"),
    unit("ALU3", "ALU, branch", "integer 3"),
    unit("BR", "branch", "branch"),
    unit("AGU0", "load, store address", "integer 0"),
    unit("AGU1", "load, store address", "integer 1"),
    unit("AGU2", "load, store address", "integer 2"),
    unit("SD0", "store data", "store queue"),
    unit("SD1", "store data", "store queue"),
    unit("FP0", "vector, FP multiply", "vector 0"),
    unit("FP1", "vector, FP multiply, FP divide, shuffle", "vector 1"),
    unit("FP2", "vector, FP add, shuffle", "vector 0"),
    unit("FP3", "vector, FP add", "vector 1"),
)
_LETTERS = {
    "0": "ALU0",
    "1": "ALU1",
    "5": "ALU2",
    "6": "ALU3",
    "2": "AGU0",
    "3": "AGU1",
    "F": "AGU2",
    "4": "SD0",
    "9": "SD1",
    "A": "FP0",
    "B": "FP1",
    "C": "FP2",
    "D": "FP3",
}
_SETS = {"78": (UopKind.STORE_ADDRESS, "AGU0 AGU1 AGU2")}


def units_with(leaving: Mapping[str, Unit]) -> Units:
    """The units of a generation, with those through which values leave the vector unit, by letter in the
    tables."""
    letters = _LETTERS | {letter: each.name for letter, each in leaving.items()}
    return Units((*_UNITS, *leaving.values()), letters=letters, sets=_SETS)


(_ZEN_5,) = zen5.MODELS
GUIDE = Source(
    Certainty.PUBLISHED,
    "AMD 19h",
    "AMD: Software Optimization Guide for the processors of family 19h, chapters on instruction fetch and "
    "decode, op cache, integer execution, load-store and FP unit",
)
_PENALTY = Source(
    Certainty.PUBLISHED,
    "AMD 19h",
    "AMD: Software Optimization Guides for Zen 3 and Zen 4, on branches: 11 to 18 cycles, commonly 13",
)
MEASURED_BY_OTHERS = Source(
    Certainty.PUBLISHED,
    "C&C",
    "Chips and Cheese: AMD's Zen 4 Part 1, Frontend and Execution Engine (2022), measured",
)
_BRANCH_UNIT = Source(
    Certainty.INFERRED,
    "LLVM, guide, as Zen 4",
    "The schedulers of the guide and the units that LLVM's X86ScheduleZnver3.td has with the guide's "
    "sections; that branches have a unit and a queue of their own is as measured on Zen 4 (docs/zen5.md, "
    "M48), and the queue's size is assumed",
)
_SHARED_UNITS = Source(
    Certainty.INFERRED,
    "guide, tables",
    "The guide's units; for integer instructions, the tables give the number of units, not which ones",
)
_MEASURED = Source(
    Certainty.MEASURED, "measured", "Measured by time stamps on an EPYC 7003 (docs/zen5.md, Zen 3)"
)
_AS_ZEN_4 = Source(Certainty.INFERRED, "as Zen 4", "As measured on Zen 4, which has the same units")
_FITTED = Source(
    Certainty.MEASURED,
    "fitted",
    "The value that fits blocks measured by time stamps on an EPYC 7003 (docs/zen5.md, Zen 3)",
)
LEFT_OUT = Source(Certainty.ASSUMED, "unknown", "Not known on this core; the model leaves it out")
_SECOND_ACCESS = Source(
    Certainty.INFERRED,
    "two accesses",
    "A second access takes at least one cycle; more is not known",
)

_SWITCHES = Source(
    Certainty.MEASURED,
    "switches",
    "Loops that switch twice between legacy SSE and 256-bit code, measured on an EPYC 7003: 338 to 346 "
    "cycles (docs/pipeline.md, UH2)",
)

MODELS = (
    derived(
        _ZEN_5,
        name="ZEN3",
        title="Zen 3",
        products="Ryzen 5000, EPYC 7003",
        sources={
            GUIDE: "decoders dsb_width dsb_lines_per_block dsb_slots_per_line idq_size issue_width "
            "reorder_buffer_size retire_width load_buffer_size "
            "macro_ops.decode_buffer_bytes macro_ops.line_entries "
            "macro_ops.line_pairs macro_ops.vector_pickable macro_ops.vector_bits "
            "macro_ops.load_latency "
            "macro_ops.vector_load_latency macro_ops.loads_per_cycle macro_ops.vector_loads_per_cycle "
            "macro_ops.mixed_memory_ops_per_cycle macro_ops.stores_per_cycle macro_ops.memory_ops_per_cycle "
            "macro_ops.store_queue macro_ops.fast_fp_adds policies.front_end",
            _PENALTY: "misprediction_penalty",
            MEASURED_BY_OTHERS: "macro_ops.vector_dispatch_width macro_ops.taken_branch_eighths "
            "macro_ops.mask_operations_per_cycle",
            _BRANCH_UNIT: "units schedulers reservation_station_size",
            _SHARED_UNITS: "macro_ops.units_by_mnemonic macro_ops.wide_constant_units",
            _MEASURED: "macro_ops.sse_to_integer_excess macro_ops.zeroing_upper_ends_group "
            "macro_ops.zeroing_upper_needs_unit macro_ops.divider_apart "
            "macro_ops.decode_bytes macro_ops.long_instruction_bytes macro_ops.long_pair_eighths "
            "macro_ops.line_fields macro_ops.fields_per_entry "
            "macro_ops.one_operation_per_alu macro_ops.indexed_is_two_ops macro_ops.memory_change_is_two_ops "
            "macro_ops.microcode_keeps_dispatch macro_ops.long_lea_by_encoding "
            "macro_ops.stack_adjustment_is_two_ops macro_ops.fuses_moves macro_ops.fuses_memory_with_branch "
            "macro_ops.fuses_nops macro_ops.sse_idioms_execute macro_ops.domain_cycles "
            "macro_ops.store_chunk_bytes macro_ops.store_gathering macro_ops.stores_committed_per_cycle "
            "macro_ops.page_crossing_store_cycles "
            "macro_ops.forwarding macro_ops.forwarding_varies "
            "macro_ops.vector_forwarding macro_ops.wide_forwarding "
            "macro_ops.vector_to_integer_forwarding macro_ops.integer_to_vector_forwarding "
            "macro_ops.failed_forwarding macro_ops.failed_vector_forwarding "
            "macro_ops.failed_narrow_forwarding macro_ops.renaming_distance "
            "macro_ops.learnt_loads macro_ops.unlearnt_loads policies.memory_renaming policies.store_commit "
            "policies.late_operands",
            _FITTED: "macro_ops.page_decode_cycles macro_ops.small_loop_entries macro_ops.long_line_eighths "
            "macro_ops.load_queue macro_ops.crowded_loads macro_ops.forwarded_load_eighths "
            "macro_ops.transfer_alu_cycles macro_ops.pipes macro_ops.vector_pipes_shared "
            "macro_ops.steady_states_below macro_ops.slowest_state_percent",
            _AS_ZEN_4: "macro_ops.memory_group macro_ops.jump_eighths macro_ops.page_aliasing_cycles "
            "macro_ops.mask_to_integer_excess macro_ops.string_cycles "
            "macro_ops.to_integer_excess macro_ops.to_vector_excess",
            LEFT_OUT: "macro_ops.x87_forwarding macro_ops.false_renaming_bytes",
            _SECOND_ACCESS: "macro_ops.line_crossing_cycles",
            _SWITCHES: "upper_halves upper_half_switch_cycles",
        },
        inherited=same_as("Zen 5"),
        facts_name="ZEN3",
        extensions=ZEN_3,
        misprediction_penalty=13,
        dsb_lines_per_block=8,
        dsb_slots_per_line=8,
        idq_size=72,
        issue_width=6,
        reorder_buffer_size=256,
        reservation_station_size=5 * 24 + 64 + 2 * 64,
        schedulers=(
            *(Scheduler(f"integer {number}", 24) for number in range(4)),
            Scheduler("branch", 24),  # M48; the size is not known.
            Scheduler("store queue", 64),
            # 32 each, and half of the preceding queue of 64.
            Scheduler("vector 0", 64),
            Scheduler("vector 1", 64),
        ),
        policies=replace(
            _ZEN_5.policies, store_commit="gathered", late_operands="", memory_renaming="stack_or_learnt"
        ),
        # FP4 and FP5: one per cycle.
        units=units_with({"E": unit("FP45", "transfer", "vector 0")}),
        upper_halves=UpperHalfRule.PUT_ASIDE,
        upper_half_switch_cycles=170,
        load_buffer_size=72,
        macro_ops=replace(
            zen5.RULES,
            decode_buffer_bytes=24 * 16,
            long_instruction_bytes=8,
            long_pair_eighths=1,
            page_decode_cycles=4,
            line_entries=8,
            line_fields=4,
            fields_per_entry=2,
            line_pairs=False,
            taken_branch_eighths=0,
            jump_eighths=8,
            small_loop_entries=64,
            long_line_eighths=4,
            # Those come last that some operations need exactly: transfers from integers, moves across lanes.
            pipes=("FP3", "FP1", "FP2", "FP0"),
            one_operation_per_alu=True,
            memory_group=MemoryGroup(
                loads=4, vector_loads=3, loads_with_operation=3, stores=4, constant_stores=3, accesses=5
            ),
            indexed_is_two_ops=True,
            memory_change_is_two_ops=True,
            microcode_keeps_dispatch=True,
            long_lea_by_encoding=True,
            vector_pipes_shared=True,
            domain_cycles=1,
            transfer_alu_cycles=2,
            fuses_moves=False,
            fuses_memory_with_branch=False,
            vector_bits=256,
            zeroing_upper_ends_group=False,
            zeroing_upper_needs_unit=False,
            divider_apart=True,
            # Three per cycle, or two and the branch of a loop; which shifting ALU it is, is not known.
            wide_constant_units=("ALU0", "ALU1", "ALU3"),
            units_by_mnemonic=False,
            sse_idioms_execute=True,
            fast_fp_adds=False,
            wasted=None,
            line_crossing_cycles=1,
            loads_per_cycle=3,
            store_chunk_bytes=32,
            page_crossing_store_cycles=25,
            store_gathering=StoreGathering(chunks=4, in_flight=5, restart=4),
            load_queue=LoadQueue(entries=72, held=22),
            forwarding=6,
            crowded_loads=20,
            forwarded_load_eighths=5,
            vector_forwarding=9,
            wide_forwarding=(0, 1, 3),
            vector_to_integer_forwarding=6,
            integer_to_vector_forwarding=9,
            to_integer_excess=3,
            sse_to_integer_excess=3,
            mask_to_integer_excess=6,
            to_vector_excess=1,
            memory_ops_per_cycle=3,
            store_queue=64,
            false_renaming_bytes=0,
            page_aliasing_cycles=7,
            # 18 cycles from the store to the load's result.
            failed_forwarding=12,
            failed_vector_forwarding=10,
            failed_narrow_forwarding=19,
            learnt_loads=24,
            unlearnt_loads=25,
            renaming_distance=14,
            forwarding_varies=True,
            steady_states_below=1.6,
            slowest_state_percent=25,
            one_page=None,
        ),
    ),
)
