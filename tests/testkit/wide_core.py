"""An invented core: 17 units, three schedulers, the instruction tables of Skylake.

Nothing but this file and an entry of the registry adds it to the program.
"""

from __future__ import annotations

from cyclelens.analyzer.microarchitectures.instruction_sets import SKYLAKE
from cyclelens.analyzer.model.microarchitecture import UNLIMITED, Microarchitecture, Policies
from cyclelens.analyzer.model.units import Divider, Scheduler, Units, UopKind, unit

INTEGER, MEMORY, VECTOR = Scheduler("INT", 64), Scheduler("MEM", 48), Scheduler("VEC", 32)
_ALUS = "ALU0 ALU1 ALU2 ALU3 ALU4 ALU5"
_AGUS = "AGU0 AGU1 AGU2 AGU3"
_PIPES = "FP0 FP1 FP2 FP3"

UNITS = Units(
    [
        unit("ALU0", "ALU, shift, branch", "INT"),
        unit("ALU1", "ALU, high-byte merge, multiply", "INT"),
        unit("ALU2", "ALU, divide", "INT"),
        unit("ALU3", "ALU, branch", "INT"),
        unit("ALU4", "ALU", "INT"),
        unit("ALU5", "ALU, high-byte merge", "INT"),
        *(unit(name, "load, store address", "MEM") for name in _AGUS.split()),
        unit("ST0", "store data", "MEM"),
        unit("ST1", "store data", "MEM"),
        *(unit(name, "vector, FP add, FP multiply", "VEC") for name in _PIPES.split()),
        unit("F2I", "transfer", "VEC"),
    ],
    letters={},
    sets={
        "0156": (UopKind.COMPUTE, _ALUS),
        "06": (UopKind.COMPUTE, "ALU0 ALU3"),
        "6": (UopKind.COMPUTE, "ALU0 ALU3"),
        "1": (UopKind.COMPUTE, "ALU1"),
        "15": (UopKind.COMPUTE, "ALU1 ALU5"),
        "0": (UopKind.COMPUTE, "F2I"),
        "5": (UopKind.COMPUTE, "FP1 FP2"),
        "05": (UopKind.COMPUTE, "FP0 FP3"),
        "01": (UopKind.COMPUTE, "FP0 FP1"),
        "015": (UopKind.COMPUTE, _PIPES),
        "23": (UopKind.LOAD, _AGUS),
        "237": (UopKind.STORE_ADDRESS, _AGUS),
        "4": (UopKind.STORE_DATA, "ST0 ST1"),
    },
)

WIDE = Microarchitecture(
    name="WIDE",
    title="a wide core",
    facts_name="SKL",
    instruction_queue_size=40,
    predecode_width=8,
    predecode_block_bytes=32,
    decoders=6,
    dsb_width=8,
    dsb_block_bytes=64,
    dsb_lines_per_block=8,
    dsb_slots_per_line=8,
    dsb_to_ms_stall=2,
    idq_size=96,
    pop_rsp_ends_decode_group=False,
    fusible_on_last_decoder=True,
    jcc_erratum=False,
    both_halves_cacheable=False,
    dsb_loses_width_across_blocks=False,
    lsd_enabled=False,
    lsd_unroll={},
    issue_width=8,
    high8_renamed=False,
    movzx_high8_alias_eliminated=False,
    move_elimination_pipeline_length=2,
    move_elimination_gpr_slots=UNLIMITED,
    move_elimination_simd_slots=UNLIMITED,
    all_gpr_aliases_overwritten=True,
    reorder_buffer_size=400,
    retire_width=8,
    reservation_station_size=144,
    schedulers=(INTEGER, MEMORY, VECTOR),
    policies=Policies(binding="fewest_waiting"),
    units=UNITS,
    dividers=(Divider(tuple(_ALUS.split())), Divider((*_PIPES.split(), "F2I"))),
    fast_pointer_chasing=False,
    failed_forwarding_cycles=12,
    extensions=SKYLAKE,
)
