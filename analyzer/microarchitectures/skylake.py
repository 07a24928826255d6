"""Skylake and its descendants: eight ports, six-wide DSB, the JCC erratum, the LSD switched off by microcode
except on Cascade Lake.

Source of all other figures: the uiCA paper (Abel, Reineke, ICS 2022) and the parameter set published with it.
Load and store buffer: Intel's optimization manual, on the Skylake client microarchitecture. The sizes of the
register files are published; how many registers are free in them is an estimate (``tables``).
"""

from __future__ import annotations

from dataclasses import replace

from cyclelens.analyzer.microarchitectures.instruction_sets import CASCADE_LAKE, SKYLAKE, SKYLAKE_X
from cyclelens.analyzer.microarchitectures.tables import (
    free_integer_registers,
    free_vector_registers,
    unroll_table,
)
from cyclelens.analyzer.model.microarchitecture import Microarchitecture, Policies
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
    policies=Policies(binding="eight_ports"),
    units=_UNITS,
    dividers=(Divider(_UNITS.names, through="0"),),
    closed_by_512_bit=_UNITS.named(["1"]),
    fast_pointer_chasing=True,
    failed_forwarding_cycles=12,
    load_buffer_size=72,
    store_buffer_size=56,
    integer_registers=free_integer_registers(180),
    vector_registers=free_vector_registers(168),
)

MODELS = (
    _SKYLAKE,
    replace(
        _SKYLAKE,
        name="SKX",
        title="Skylake-X",
        facts_name="SKX",
        extensions=SKYLAKE_X,
    ),
    replace(_SKYLAKE, name="KBL", title="Kaby Lake", facts_name="KBL"),
    replace(_SKYLAKE, name="CFL", title="Coffee Lake", facts_name="CFL"),
    replace(
        _SKYLAKE,
        name="CLX",
        title="Cascade Lake-X",
        facts_name="CLX",
        extensions=CASCADE_LAKE,
        lsd_enabled=True,
        lsd_unroll=unroll_table((2, 2), (5, 6), (6, 2), (13, 3), (28, 2)),
    ),
)
