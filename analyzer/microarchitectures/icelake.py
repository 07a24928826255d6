"""Ice Lake, Tiger Lake and Rocket Lake: ten ports, five-wide rename, 64-byte DSB blocks.

Source of all other figures: the uiCA paper (Abel, Reineke, ICS 2022) and the parameter set published with it.
Load and store buffer: Intel's optimization manual, on the Ice Lake client microarchitecture. The sizes of the
register files are published; how many registers are free in them is an estimate (``tables``).
"""

from __future__ import annotations

from dataclasses import replace

from cyclelens.analyzer.microarchitectures.instruction_sets import ICE_LAKE, TIGER_LAKE
from cyclelens.analyzer.microarchitectures.tables import (
    free_integer_registers,
    free_vector_registers,
    unroll_table,
)
from cyclelens.analyzer.model.microarchitecture import UNLIMITED, Microarchitecture, Policies
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

_ICE_LAKE = Microarchitecture(
    name="ICL",
    title="Ice Lake",
    facts_name="ICL",
    extensions=ICE_LAKE,
    # The published parameter set marks this figure as uncertain.
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
    # Switched off for general-purpose registers by a microcode update.
    move_elimination_gpr_slots=0,
    move_elimination_simd_slots=UNLIMITED,
    all_gpr_aliases_overwritten=True,
    reorder_buffer_size=352,
    retire_width=8,
    reservation_station_size=160,
    policies=Policies(binding="ten_ports", dispatch_rule="store_pairs"),
    units=_UNITS,
    dividers=(Divider(_UNITS.names, through="0"),),
    closed_by_512_bit=_UNITS.named(["1"]),
    fast_pointer_chasing=False,
    failed_forwarding_cycles=12,
    load_buffer_size=128,
    store_buffer_size=72,
    integer_registers=free_integer_registers(280),
    vector_registers=free_vector_registers(224),
)

MODELS = (
    _ICE_LAKE,
    replace(_ICE_LAKE, name="TGL", title="Tiger Lake", facts_name="TGL", extensions=TIGER_LAKE),
    replace(
        _ICE_LAKE,
        name="RKL",
        title="Rocket Lake",
        facts_name="RKL",
        move_elimination_gpr_slots=UNLIMITED,
    ),
)
