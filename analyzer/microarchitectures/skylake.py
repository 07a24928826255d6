"""Skylake and its descendants: eight ports, six-wide DSB, the JCC erratum, the LSD switched off by microcode
except on Cascade Lake.

Widths are per cycle, sizes are capacities; ``cyclelens arch show SKL`` has the sources.

    SKL: Skylake

      16 bytes -> 5 instructions -> queue 25 -> 4 decoders --+
      op cache: 3 lines of 6 per 32 bytes -> 6 uops ---------+
      microcode -> 4 uops -----------------------------------+
        +----------------------------------------------------+
        v
      uop queue 64
        |
        v
      renamer 4 --> reorder buffer 224 --> retires 4
        |
        +-- load buffer 72, store buffer 56
        |
        +-- scheduler 97
              +-- p0  ALU, shift, divide, branch, vector, FP add, FP multiply, FP divide, transfer
              +-- p1  ALU, high-byte merge, slow LEA, multiply, vector, FP add, FP multiply
              +-- p2  load, store address
              +-- p3  load, store address
              +-- p4  store data
              +-- p5  ALU, high-byte merge, vector, shuffle
              +-- p6  ALU, shift, branch
              +-- p7  store address
"""

from __future__ import annotations

from cyclelens.analyzer.microarchitectures.instruction_sets import CASCADE_LAKE, SKYLAKE, SKYLAKE_X
from cyclelens.analyzer.microarchitectures.literature import (
    BRANCH_UNITS,
    FITTED,
    FREE_REGISTERS,
    INTEL_MANUAL,
    MISPREDICTION_SKYLAKE,
    TRANSFERS,
    UICA,
    UOPS_INFO,
    UPPER_HALVES_MERGED,
)
from cyclelens.analyzer.microarchitectures.tables import (
    free_integer_registers,
    free_vector_registers,
    unroll_table,
)
from cyclelens.analyzer.model.microarchitecture import Microarchitecture, Policies, UpperHalfRule, derived
from cyclelens.analyzer.model.provenance import Sources
from cyclelens.analyzer.model.units import Divider, Units, unit

_UNITS = Units(
    (
        unit("0", "ALU, shift, branch, divide, vector, FP add, FP multiply, FP divide, transfer"),
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

_SKYLAKE = Microarchitecture(
    name="SKL",
    title="Skylake",
    products="Core 6th generation, Xeon E3 v5",
    sources=Sources(
        UICA,
        {
            UOPS_INFO: "load_latency vector_load_latency",
            TRANSFERS: "transfer_excess",
            BRANCH_UNITS: "taken_branch_units passed_branch_units",
            MISPREDICTION_SKYLAKE: "misprediction_penalty",
            FITTED: "failed_forwarding_cycles",
            UPPER_HALVES_MERGED: "upper_halves upper_half_switch_cycles",
            INTEL_MANUAL: "load_buffer_size store_buffer_size",
            FREE_REGISTERS: "integer_registers vector_registers",
        },
    ),
    facts_name="SKL",
    extensions=SKYLAKE,
    instruction_queue_size=25,
    dsb_width=6,
    dsb_block_bytes=32,
    dsb_lines_per_block=3,
    dsb_to_ms_stall=2,
    idq_size=64,
    pop_rsp_ends_decode_group=False,
    fusible_on_last_decoder=True,
    jcc_erratum=True,
    both_halves_cacheable=True,
    dsb_loses_width_across_blocks=True,
    lsd_enabled=False,
    lsd_unroll={},
    issue_width=4,
    high8_renamed=True,
    movzx_high8_alias_eliminated=False,
    move_elimination_pipeline_length=2,
    move_elimination_gpr_slots=4,
    move_elimination_simd_slots=4,
    all_gpr_aliases_overwritten=True,
    reorder_buffer_size=224,
    retire_width=4,
    reservation_station_size=97,
    taken_branch_units=_UNITS.named(["6"]),
    passed_branch_units=_UNITS.named(["0", "6"]),
    policies=Policies(binding="eight_ports"),
    units=_UNITS,
    dividers=(Divider(_UNITS.names, through="0"),),
    closed_by_512_bit=_UNITS.named(["1"]),
    transfer_excess=1,
    fast_pointer_chasing=True,
    upper_halves=UpperHalfRule.MERGED,
    failed_forwarding_cycles=12,
    misprediction_penalty=16.5,
    load_buffer_size=72,
    store_buffer_size=56,
    integer_registers=free_integer_registers(180),
    vector_registers=free_vector_registers(168),
)

MODELS = (
    _SKYLAKE,
    derived(
        _SKYLAKE,
        name="SKX",
        title="Skylake-X",
        products="Xeon Scalable 1st generation, Core i9-7900X",
        facts_name="SKX",
        extensions=SKYLAKE_X,
    ),
    derived(_SKYLAKE, name="KBL", title="Kaby Lake", products="Core 7th generation", facts_name="KBL"),
    derived(
        _SKYLAKE,
        name="CFL",
        title="Coffee Lake",
        products="Core 8th and 9th generation",
        facts_name="CFL",
    ),
    derived(
        _SKYLAKE,
        name="CLX",
        title="Cascade Lake-X",
        products="Xeon Scalable 2nd generation, Core i9-10900X",
        sources={UICA: "lsd_enabled lsd_unroll"},
        facts_name="CLX",
        extensions=CASCADE_LAKE,
        lsd_enabled=True,
        lsd_unroll=unroll_table((2, 2), (5, 6), (6, 2), (13, 3), (28, 2)),
    ),
)
