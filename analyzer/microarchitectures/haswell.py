"""Haswell and Broadwell: eight ports, LSD with unrolling.

Source of all other figures: the uiCA paper (Abel, Reineke, ICS 2022) and the parameter set published with it.
Out-of-order resources: table 3 of the UFS paper (Palomares, Wong, Kuck, Jalby), measured effective sizes.
None are published for Broadwell, a shrink of Haswell, that differ.
"""

from __future__ import annotations

from dataclasses import replace

from cyclelens.analyzer.microarchitectures.instruction_sets import BROADWELL, HASWELL
from cyclelens.analyzer.microarchitectures.tables import unroll_table
from cyclelens.analyzer.model.microarchitecture import Microarchitecture, Policies
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

_HASWELL = Microarchitecture(
    name="HSW",
    title="Haswell",
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
    # 60 is published for both; 64 is published for Broadwell elsewhere. The model that was validated uses 60.
    reservation_station_size=60,
    policies=Policies(binding="eight_ports"),
    units=_UNITS,
    dividers=(Divider(_UNITS.names, through="0"),),
    fast_pointer_chasing=True,
    failed_forwarding_cycles=13,
    load_buffer_size=72,
    load_matrix_size=32,
    store_buffer_size=42,
    branch_buffer_size=48,
    integer_registers=144,
    vector_registers=138,
    all_registers=177,
)

MODELS = (_HASWELL, replace(_HASWELL, name="BDW", title="Broadwell", facts_name="BDW", extensions=BROADWELL))
