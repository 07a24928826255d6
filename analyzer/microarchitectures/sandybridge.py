"""Sandy Bridge and Ivy Bridge: six ports, 32-byte DSB blocks, slow 256-bit memory accesses.

Widths are per cycle, sizes are capacities; ``cyclelens arch show SNB`` has the sources.

    SNB: Sandy Bridge

      16 bytes -> 5 instructions -> queue 20 -> 4 decoders --+
      op cache: 3 lines of 6 per 32 bytes -> 4 uops ---------+
      microcode -> 4 uops -----------------------------------+
      loops that fit into the uop queue stay there (LSD) ----+
        +----------------------------------------------------+
        v
      uop queue 28
        |
        v
      renamer 4 --> reorder buffer 168 --> retires 4
        |
        +-- load buffer 64, store buffer 36
        |
        +-- scheduler 54
              +-- p0  ALU, shift, divide, vector, FP multiply, FP divide, transfer
              +-- p1  ALU, high-byte merge, slow LEA, multiply, vector, FP add
              +-- p2  load, store address
              +-- p3  load, store address
              +-- p4  store data
              +-- p5  ALU, high-byte merge, shift, branch, vector, shuffle
"""

from __future__ import annotations

from cyclelens.analyzer.microarchitectures.instruction_sets import INTEL, IVY_BRIDGE
from cyclelens.analyzer.microarchitectures.literature import (
    FITTED,
    MISPREDICTION_SANDY_BRIDGE,
    SPLIT_STORES,
    UFS,
    UICA,
    UOPS_INFO,
    UPPER_HALVES_PUT_ASIDE,
)
from cyclelens.analyzer.model.microarchitecture import Microarchitecture, Policies, UpperHalfRule, derived
from cyclelens.analyzer.model.provenance import Sources
from cyclelens.analyzer.model.units import Divider, Units, unit

_UNITS = Units(
    (
        unit("0", "ALU, shift, divide, vector, FP multiply, FP divide, transfer"),
        unit("1", "ALU, high-byte merge, slow LEA, multiply, vector, FP add"),
        unit("2", "load, store address"),
        unit("3", "load, store address"),
        unit("4", "store data"),
        unit("5", "ALU, high-byte merge, shift, branch, vector, shuffle"),
    ),
    prefix="p",
)

_SANDY_BRIDGE = Microarchitecture(
    name="SNB",
    title="Sandy Bridge",
    products="Core 2nd generation, Xeon E5",
    sources=Sources(
        UICA,
        {
            UOPS_INFO: "load_latency vector_load_latency",
            MISPREDICTION_SANDY_BRIDGE: "misprediction_penalty",
            SPLIT_STORES: "failed_forwarding_cycles",
            FITTED: "policies.hardware_binding",
            UPPER_HALVES_PUT_ASIDE: "upper_halves upper_half_switch_cycles",
            UFS: "load_buffer_size load_matrix_size store_buffer_size branch_buffer_size integer_registers "
            "vector_registers all_registers",
        },
    ),
    facts_name="SNB",
    extensions=INTEL,
    instruction_queue_size=20,
    dsb_width=4,
    dsb_block_bytes=32,
    dsb_lines_per_block=3,
    dsb_to_ms_stall=4,
    idq_size=28,
    pop_rsp_ends_decode_group=True,
    fusible_on_last_decoder=False,
    jcc_erratum=False,
    both_halves_cacheable=False,
    dsb_loses_width_across_blocks=False,
    lsd_enabled=True,
    lsd_unroll={},
    issue_width=4,
    high8_renamed=True,
    movzx_high8_alias_eliminated=True,
    # The instruction tables hold no zero-uop moves for SNB, so these figures have no effect.
    move_elimination_pipeline_length=3,
    move_elimination_gpr_slots=4,
    move_elimination_simd_slots=4,
    all_gpr_aliases_overwritten=False,
    reorder_buffer_size=168,
    retire_width=4,
    reservation_station_size=54,
    policies=Policies(binding="six_ports", hardware_binding="loads_in_turn", dispatch_rule="wide_memory"),
    units=_UNITS,
    dividers=(Divider(_UNITS.names, through="0"),),
    fast_pointer_chasing=True,
    upper_halves=UpperHalfRule.PUT_ASIDE,
    upper_half_switch_cycles=70,
    failed_forwarding_cycles=15,
    misprediction_penalty=15,
    load_buffer_size=64,
    load_matrix_size=32,
    store_buffer_size=36,
    branch_buffer_size=48,
    integer_registers=128,
    vector_registers=112,
    all_registers=141,
)

MODELS = (
    _SANDY_BRIDGE,
    derived(
        _SANDY_BRIDGE,
        name="IVB",
        title="Ivy Bridge",
        products="Core 3rd generation, Xeon E5 v2",
        sources={
            UICA: "idq_size",
            UFS: "integer_registers vector_registers all_registers",
            FITTED: "failed_forwarding_cycles",
        },
        facts_name="IVB",
        extensions=IVY_BRIDGE,
        idq_size=56,
        failed_forwarding_cycles=13,
        integer_registers=130,
        vector_registers=113,
        all_registers=165,
    ),
)
