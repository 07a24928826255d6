"""Ice Lake, Tiger Lake and Rocket Lake: ten ports, five-wide rename, 64-byte DSB blocks.

Widths are per cycle, sizes are capacities; ``cyclelens arch show ICL`` has the sources.

    ICL: Ice Lake

      16 bytes -> 5 instructions -> queue 25 -> 4 decoders --+
      op cache: 6 lines of 6 per 64 bytes -> 6 uops ---------+
      microcode -> 4 uops -----------------------------------+
      loops that fit into the uop queue stay there (LSD) ----+
        +----------------------------------------------------+
        v
      uop queue 70
        |
        v
      renamer 5 --> reorder buffer 352 --> retires 8
        |
        +-- load buffer 128, store buffer 72
        |
        +-- scheduler 160
              +-- p0  ALU, shift, divide, branch, vector, FP add, FP multiply, FP divide, transfer
              +-- p1  ALU, high-byte merge, slow LEA, multiply, vector, shuffle, FP add, FP multiply
              +-- p2  load
              +-- p3  load
              +-- p4  store data
              +-- p5  ALU, high-byte merge, vector, shuffle
              +-- p6  ALU, shift, branch
              +-- p7  store address
              +-- p8  store address
              +-- p9  store data
"""

from __future__ import annotations

from cyclelens.analyzer.microarchitectures.instruction_sets import ICE_LAKE, TIGER_LAKE
from cyclelens.analyzer.microarchitectures.literature import (
    FREE_REGISTERS,
    INTEL_MANUAL,
    SPLIT_STORES,
    TRANSFERS,
    UICA,
    UOPS_INFO,
    UPPER_HALVES_MERGED,
    same_as,
)
from cyclelens.analyzer.microarchitectures.tables import (
    free_integer_registers,
    free_vector_registers,
    unroll_table,
)
from cyclelens.analyzer.model.microarchitecture import (
    UNLIMITED,
    Microarchitecture,
    Policies,
    UpperHalfRule,
    derived,
)
from cyclelens.analyzer.model.provenance import Certainty, Source, Sources
from cyclelens.analyzer.model.units import Divider, Units, unit

_UNITS = Units(
    (
        unit("0", "ALU, shift, branch, divide, vector, FP add, FP multiply, FP divide, transfer"),
        unit("1", "ALU, high-byte merge, slow LEA, multiply, vector, shuffle, FP add, FP multiply"),
        unit("2", "load"),
        unit("3", "load"),
        unit("4", "store data"),
        unit("5", "ALU, high-byte merge, vector, shuffle"),
        unit("6", "ALU, shift, branch"),
        unit("7", "store address"),
        unit("8", "store address"),
        unit("9", "store data"),
    ),
    prefix="p",
)

_UNCERTAIN = Source(
    Certainty.INFERRED, "uiCA, uncertain", "The parameter set published with uiCA marks it as uncertain"
)

_STORED_VALUES = Source(
    Certainty.INFERRED,
    "uops.info's latencies",
    "uops.info: no cycles through memory for MOV, MOVZX and POP, and for POPCNT its own 3; for operations "
    "that read a register, too, and for those that change memory, no less than on Skylake",
)

_ICE_LAKE = Microarchitecture(
    name="ICL",
    title="Ice Lake",
    products="Core 10th generation, Xeon Scalable 3rd generation",
    sources=Sources(
        UICA,
        {
            _UNCERTAIN: "instruction_queue_size",
            UOPS_INFO: "load_latency vector_load_latency",
            TRANSFERS: "transfer_excess",
            _STORED_VALUES: "stores_wait_for_data policies.memory_renaming",
            same_as("Skylake"): "misprediction_penalty",
            SPLIT_STORES: "failed_forwarding_cycles",
            UPPER_HALVES_MERGED: "upper_halves upper_half_switch_cycles",
            INTEL_MANUAL: "load_buffer_size store_buffer_size",
            FREE_REGISTERS: "integer_registers vector_registers",
        },
    ),
    facts_name="ICL",
    extensions=ICE_LAKE,
    instruction_queue_size=25,
    dsb_width=6,
    dsb_block_bytes=64,
    dsb_lines_per_block=6,
    dsb_to_ms_stall=2,
    idq_size=70,
    pop_rsp_ends_decode_group=False,
    fusible_on_last_decoder=True,
    jcc_erratum=False,
    both_halves_cacheable=False,
    dsb_loses_width_across_blocks=True,
    lsd_enabled=True,
    lsd_unroll=unroll_table((6, 6), (8, 4), (12, 3), (30, 2)),
    issue_width=5,
    high8_renamed=False,
    movzx_high8_alias_eliminated=False,
    move_elimination_pipeline_length=2,
    # A microcode update switched it off for general-purpose registers.
    move_elimination_gpr_slots=0,
    move_elimination_simd_slots=UNLIMITED,
    all_gpr_aliases_overwritten=True,
    reorder_buffer_size=352,
    retire_width=8,
    reservation_station_size=160,
    policies=Policies(binding="ten_ports", dispatch_rule="store_pairs", memory_renaming="learnt_loads"),
    stores_wait_for_data=True,
    units=_UNITS,
    dividers=(Divider(_UNITS.names, through="0"),),
    closed_by_512_bit=_UNITS.named(["1"]),
    transfer_excess=1,
    fast_pointer_chasing=False,
    upper_halves=UpperHalfRule.MERGED,
    failed_forwarding_cycles=16,
    misprediction_penalty=16.5,
    load_buffer_size=128,
    store_buffer_size=72,
    integer_registers=free_integer_registers(280),
    vector_registers=free_vector_registers(224),
)

MODELS = (
    _ICE_LAKE,
    derived(
        _ICE_LAKE,
        name="TGL",
        title="Tiger Lake",
        products="Core 11th generation (mobile)",
        facts_name="TGL",
        extensions=TIGER_LAKE,
    ),
    derived(
        _ICE_LAKE,
        name="RKL",
        title="Rocket Lake",
        products="Core 11th generation (desktop)",
        sources={UICA: "move_elimination_gpr_slots"},
        facts_name="RKL",
        move_elimination_gpr_slots=UNLIMITED,
    ),
)
