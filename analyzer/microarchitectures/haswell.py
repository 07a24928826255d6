"""Haswell and Broadwell: eight ports, LSD with unrolling.

Widths are per cycle, sizes are capacities; ``cyclelens arch show HSW`` has the sources.

    HSW: Haswell

      16 bytes -> 5 instructions -> queue 20 -> 4 decoders --+
      op cache: 3 lines of 6 per 32 bytes -> 4 uops ---------+
      microcode -> 4 uops -----------------------------------+
      loops that fit into the uop queue stay there (LSD) ----+
        +----------------------------------------------------+
        v
      uop queue 56
        |
        v
      renamer 4 --> reorder buffer 192 --> retires 4
        |
        +-- load buffer 72, store buffer 42
        |
        +-- scheduler 60
              +-- p0  ALU, shift, divide, branch, vector, FP multiply, FP divide, transfer
              +-- p1  ALU, high-byte merge, slow LEA, multiply, vector, FP add, FP multiply
              +-- p2  load, store address
              +-- p3  load, store address
              +-- p4  store data
              +-- p5  ALU, high-byte merge, vector, shuffle
              +-- p6  ALU, shift, branch
              +-- p7  store address
"""

from __future__ import annotations

from cyclelens.analyzer.microarchitectures.instruction_sets import BROADWELL, HASWELL
from cyclelens.analyzer.microarchitectures.literature import (
    BRANCH_UNITS,
    FITTED,
    MISPREDICTION_HASWELL,
    UFS,
    UICA,
    UOPS_INFO,
    UPPER_HALVES_PUT_ASIDE,
    same_as,
)
from cyclelens.analyzer.microarchitectures.tables import unroll_table
from cyclelens.analyzer.model.microarchitecture import Microarchitecture, Policies, UpperHalfRule, derived
from cyclelens.analyzer.model.provenance import Sources
from cyclelens.analyzer.model.units import Divider, Units, unit

_UNITS = Units(
    (
        unit("0", "ALU, shift, branch, divide, vector, FP multiply, FP divide, transfer"),
        unit("1", "ALU, high-byte merge, slow LEA, multiply, vector, FP add, FP multiply"),
        unit("2", "load, store address"),
        unit("3", "load, store address"),
        unit("4", "store data"),
        unit("5", "ALU, high-byte merge, vector, shuffle"),
        unit("6", "ALU, shift, branch"),
        unit("7", "store address"),
    ),
    prefix="p",
)

_RESOURCES = (
    "load_buffer_size load_matrix_size store_buffer_size branch_buffer_size integer_registers "
    "vector_registers all_registers"
)

_HASWELL = Microarchitecture(
    name="HSW",
    title="Haswell",
    products="Core 4th generation, Xeon E5 v3",
    sources=Sources(
        UICA,
        {
            UOPS_INFO: "load_latency vector_load_latency",
            BRANCH_UNITS: "taken_branch_units passed_branch_units",
            MISPREDICTION_HASWELL: "misprediction_penalty",
            FITTED: "failed_forwarding_cycles policies.hardware_binding",
            UPPER_HALVES_PUT_ASIDE: "upper_halves upper_half_switch_cycles",
            UFS: _RESOURCES,
        },
    ),
    facts_name="HSW",
    extensions=HASWELL,
    instruction_queue_size=20,
    dsb_width=4,
    dsb_block_bytes=32,
    dsb_lines_per_block=3,
    dsb_to_ms_stall=4,
    idq_size=56,
    pop_rsp_ends_decode_group=True,
    fusible_on_last_decoder=False,
    jcc_erratum=False,
    both_halves_cacheable=False,
    dsb_loses_width_across_blocks=False,
    lsd_enabled=True,
    lsd_unroll=unroll_table((4, 8), (5, 6), (6, 5), (8, 4), (12, 3), (28, 2)),
    issue_width=4,
    high8_renamed=True,
    movzx_high8_alias_eliminated=False,
    move_elimination_pipeline_length=2,
    move_elimination_gpr_slots=4,
    move_elimination_simd_slots=4,
    all_gpr_aliases_overwritten=True,
    reorder_buffer_size=192,
    retire_width=4,
    # 60 is published for both; 64 is published elsewhere for Broadwell. The validated model uses 60.
    reservation_station_size=60,
    taken_branch_units=_UNITS.named(["6"]),
    passed_branch_units=_UNITS.named(["0", "6"]),
    policies=Policies(binding="eight_ports", hardware_binding="loads_in_turn"),
    units=_UNITS,
    dividers=(Divider(_UNITS.names, through="0"),),
    fast_pointer_chasing=True,
    upper_halves=UpperHalfRule.PUT_ASIDE,
    upper_half_switch_cycles=70,
    failed_forwarding_cycles=13,
    misprediction_penalty=16,
    load_buffer_size=72,
    load_matrix_size=32,
    store_buffer_size=42,
    branch_buffer_size=48,
    integer_registers=144,
    vector_registers=138,
    all_registers=177,
)

MODELS = (
    _HASWELL,
    derived(
        _HASWELL,
        name="BDW",
        title="Broadwell",
        products="Core 5th generation, Xeon E5 v4",
        facts_name="BDW",
        extensions=BROADWELL,
        # A shrink of Haswell.
        sources={same_as("Haswell"): _RESOURCES},
    ),
)
