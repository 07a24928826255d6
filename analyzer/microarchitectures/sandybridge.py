"""Sandy Bridge and Ivy Bridge: six ports, 32-byte DSB blocks, slow 256-bit memory accesses.

Source of all other figures: the uiCA paper (Abel, Reineke, ICS 2022) and the parameter set published with it.
Out-of-order resources: table 3 of the UFS paper (Palomares, Wong, Kuck, Jalby), measured effective sizes.
"""

from __future__ import annotations

from dataclasses import replace

from cyclelens.analyzer.microarchitectures.instruction_sets import INTEL, IVY_BRIDGE
from cyclelens.analyzer.model.microarchitecture import Microarchitecture, Policies
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
    # The instruction tables hold no zero-uop moves for SNB, so these figures never act there.
    move_elimination_pipeline_length=3,
    move_elimination_gpr_slots=4,
    move_elimination_simd_slots=4,
    all_gpr_aliases_overwritten=False,
    reorder_buffer_size=168,
    retire_width=4,
    reservation_station_size=54,
    policies=Policies(binding="six_ports", dispatch_rule="wide_memory"),
    units=_UNITS,
    dividers=(Divider(_UNITS.names, through="0"),),
    fast_pointer_chasing=True,
    failed_forwarding_cycles=13,
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
    replace(
        _SANDY_BRIDGE,
        name="IVB",
        title="Ivy Bridge",
        facts_name="IVB",
        extensions=IVY_BRIDGE,
        idq_size=56,
        integer_registers=130,
        vector_registers=113,
        all_registers=165,
    ),
)
