"""Golden Cove and Redwood Cove: twelve ports, six-wide rename, additions and memory renamed.

Widths are per cycle, sizes are capacities; ``cyclelens arch show GNR`` has the sources. Intel's manual names
the third load port 11 and the fifth ALU 10; the instruction tables name them A and B.

    GNR: Granite Rapids

      32 bytes -> 8 instructions -> queue 48 -> 6 decoders --+
      op cache: 6 lines of 8 per 64 bytes -> 8 uops ---------+
      microcode -> 4 uops -----------------------------------+
        +----------------------------------------------------+
        v
      uop queue 192
        |
        v
      renamer 6 --> reorder buffer 512 --> retires 8
        |
        +-- load buffer 192, store buffer 114
        |
        +-- arithmetic 112
        |     +-- p0   ALU, shift, divide, branch, vector, FP multiply, FP divide, transfer
        |     +-- p1   ALU, high-byte merge, slow LEA, multiply, vector, shuffle, FP add, FP multiply
        |     +-- p5   ALU, high-byte merge, slow LEA, vector, shuffle, FP add
        |     +-- p6   ALU, shift, branch
        |     +-- p10  ALU
        |
        +-- memory 72
        |     +-- p2   load
        |     +-- p3   load
        |     +-- p7   store address
        |     +-- p8   store address
        |     +-- p11  load
        |
        +-- store data 48
              +-- p4   store data
              +-- p9   store data
"""

from __future__ import annotations

from cyclelens.analyzer.microarchitectures.instruction_sets import (
    ALDER_LAKE,
    GRANITE_RAPIDS,
    SAPPHIRE_RAPIDS,
)
from cyclelens.analyzer.microarchitectures.literature import (
    INTEL_MANUAL,
    UOPS_INFO,
    same_as,
)
from cyclelens.analyzer.model.microarchitecture import (
    UNLIMITED,
    Microarchitecture,
    Policies,
    UpperHalfRule,
    derived,
)
from cyclelens.analyzer.model.provenance import Certainty, Source, Sources
from cyclelens.analyzer.model.units import NO_UNITS, Divider, Scheduler, Units, unit

_UNITS = Units(
    (
        unit("0", "ALU, shift, branch, divide, vector, FP multiply, FP divide, transfer", "arithmetic"),
        unit(
            "1",
            "ALU, high-byte merge, slow LEA, multiply, vector, shuffle, FP add, FP multiply",
            "arithmetic",
        ),
        unit("2", "load", "memory"),
        unit("3", "load", "memory"),
        unit("4", "store data", "store data"),
        unit("5", "ALU, high-byte merge, slow LEA, vector, shuffle, FP add", "arithmetic"),
        unit("6", "ALU, shift, branch", "arithmetic"),
        unit("7", "store address", "memory"),
        unit("8", "store address", "memory"),
        unit("9", "store data", "store data"),
        unit("10", "ALU", "arithmetic"),
        unit("11", "load", "memory"),
    ),
    prefix="p",
    letters={**{digit: digit for digit in "0123456789"}, "A": "11", "B": "10"},
)

_BLOCKS = Source(
    Certainty.MEASURED,
    "blocks",
    "1,000 blocks measured on a Redwood Cove server core: the model fits them no better with other values "
    "(docs/accuracy.md)",
)
_CASES = Source(
    Certainty.MEASURED, "cases", "Known cases measured on a Redwood Cove server core (docs/accuracy.md)"
)
_SHLX = Source(
    Certainty.PUBLISHED, "shlxplained", "tavianator.com/2025/shlxplained.html, measured on Golden Cove"
)
_POPPING = Source(
    Certainty.PUBLISHED,
    "Chips and Cheese",
    "chipsandcheese.com, Popping the Hood on Golden Cove (2021), measured",
)
_PENALTY = Source(
    Certainty.INFERRED,
    "Architecture Day",
    "Reports on Intel's Architecture Day 2021 say a cycle more than on Sunny Cove; not measured",
)
_GOLDEN_COVE_BLOCKS = Source(
    Certainty.MEASURED,
    "blocks",
    "1,000 blocks measured on an Emerald Rapids: the model fits them with this value (docs/accuracy.md)",
)
_REGISTERS = Source(
    Certainty.MEASURED,
    "characterize --core",
    "Free for renaming, by cyclelens characterize --core: 246 to 250 and 271 to 283 on a Granite Rapids, "
    "234 to 238 and 284 to 286 on an Emerald Rapids",
)
_SCHEDULERS = Source(
    Certainty.PUBLISHED,
    "LLVM",
    "The scheduling model of Alder Lake in LLVM; cyclelens characterize --core finds 110 to 111 of the 112 "
    "on a Granite Rapids and an Emerald Rapids",
)
_ADDITIONS = Source(
    Certainty.MEASURED,
    "chains",
    "Chains of additions and other instructions, measured on an Emerald Rapids (docs/pipeline.md, U12)",
)
_SHARED_RESULTS = Source(
    Certainty.MEASURED,
    "loops",
    "Loops of instructions of three cycles and of one, measured on an Emerald Rapids (docs/pipeline.md, Z7)",
)
_SWITCHES = Source(
    Certainty.MEASURED,
    "switches",
    "Loops that switch two and four times between legacy SSE and 256-bit code, measured on an Emerald "
    "Rapids: 395 and 802 cycles (docs/pipeline.md, UH2)",
)
_ASSISTS = Source(
    Certainty.INFERRED,
    "as SPR",
    "As measured on an Emerald Rapids; Intel's event list has the same assist on this core "
    "(ASSISTS.SSE_AVX_MIX)",
)
_LSD_OFF = Source(
    Certainty.UNUSED,
    "LSD is off",
    "The model fits the blocks worse with a loop stream detector",
)
_NO_BORDER = Source(
    Certainty.INFERRED,
    "blocks",
    "With Ice Lake's batches, the model fits a server core's blocks worse than without an LSD",
)
_CLIENT_LSD = Source(
    Certainty.PUBLISHED,
    "Jia, Chips and Cheese",
    "Observed with performance counters (jia.je; chipsandcheese.com)",
)

_CONFIRMED = Source(
    Certainty.MEASURED,
    "as GNR, blocks",
    "Found on Redwood Cove; with all these values, the model's error is 2.8 % (straight-line code) and "
    "1.2 % (loops) on 1,000 blocks measured on an Emerald Rapids",
)
_NOT_TRIED = Source(
    Certainty.INFERRED,
    "as GNR",
    "Found later on Redwood Cove; the blocks were not measured again on Golden Cove",
)
_ELSEWHERE = {
    INTEL_MANUAL: "predecode_block_bytes decoders dsb_width idq_size issue_width reorder_buffer_size "
    "retire_width",
    _SHLX: "add_offset_limit policies.addition",
    _POPPING: "load_buffer_size store_buffer_size branch_buffer_size",
    _SCHEDULERS: "reservation_station_size schedulers",
    UOPS_INFO: "units load_latency vector_load_latency",
    _ADDITIONS: "chained_addition_cycles",
    _REGISTERS: "integer_registers vector_registers",
    _LSD_OFF: "lsd_unroll lsd_has_borders",
    _PENALTY: "misprediction_penalty",
    same_as("Ice Lake"): "dsb_lines_per_block dsb_to_ms_stall mite_to_ms_stall ms_width "
    "failed_forwarding_cycles",
}
"""Sources that both cores share, other than the measured blocks."""

_GRANITE_RAPIDS = Microarchitecture(
    name="GNR",
    title="Granite Rapids",
    products="Xeon 6 with P-cores",
    sources=Sources(
        _BLOCKS,
        {
            **_ELSEWHERE,
            _CASES: "taken_branch_units policies.memory_renaming fuses_moves closed_by_512_bit "
            "late_forwarding_cycles branch_ends_decode_group schedulers_take_whole_groups policies.binding "
            "taken_branches_per_cycle",
            _ASSISTS: "upper_halves upper_half_switch_cycles",
        },
    ),
    facts_name="Redwood Cove",
    extensions=GRANITE_RAPIDS,
    instruction_queue_size=48,
    predecode_width=8,
    predecode_block_bytes=32,
    decoders=6,
    dsb_width=8,
    dsb_block_bytes=64,
    dsb_lines_per_block=6,
    dsb_slots_per_line=8,
    dsb_to_ms_stall=2,
    idq_size=192,
    pop_rsp_ends_decode_group=False,
    fusible_on_last_decoder=False,
    branch_ends_decode_group=False,
    jcc_erratum=False,
    both_halves_cacheable=False,
    crowded_prefixes_uncacheable=False,
    large_immediate_takes_slot=False,
    dsb_loses_width_across_blocks=False,
    taken_branches_per_cycle=3,
    dsb_serves_rounds_together=True,
    lsd_enabled=False,
    lsd_has_borders=False,
    lsd_unroll={},
    issue_width=6,
    high8_renamed=False,
    movzx_high8_alias_eliminated=False,
    move_elimination_pipeline_length=2,
    move_elimination_gpr_slots=UNLIMITED,
    move_elimination_simd_slots=UNLIMITED,
    all_gpr_aliases_overwritten=True,
    add_offset_limit=1024,
    fuses_moves=True,
    taken_branch_units=_UNITS.named(["6"]),
    reorder_buffer_size=512,
    retire_width=8,
    reservation_station_size=112 + 72 + 48,
    schedulers=(Scheduler("arithmetic", 112), Scheduler("memory", 72), Scheduler("store data", 48)),
    schedulers_take_whole_groups=True,
    policies=Policies(
        binding="twelve_ports",
        addition="owed_constants",
        memory_renaming="learnt_pairs",
        dispatch_rule="load_words",
        store_commit="one_line",
        picker="shared_results",
    ),
    units=_UNITS,
    dividers=(Divider(_UNITS.names, through="0"),),
    closed_by_512_bit=_UNITS.named(["1"]),
    shared_integer_results=_UNITS.named(["1"]),
    shared_vector_results=_UNITS.named(["5"]),
    fast_pointer_chasing=False,
    chained_addition_cycles=2,
    shift_result_without_flags=True,
    stores_wait_for_data=True,
    tracks_values=True,
    late_forwarding_cycles=1,
    upper_halves=UpperHalfRule.PUT_ASIDE,
    upper_half_switch_cycles=199,
    failed_forwarding_cycles=14,
    misprediction_penalty=17,
    load_buffer_size=192,
    store_buffer_size=114,
    branch_buffer_size=128,
    integer_registers=248,
    vector_registers=280,
)

_SAPPHIRE_RAPIDS = derived(
    _GRANITE_RAPIDS,
    name="SPR",
    title="Sapphire Rapids",
    products="Xeon Scalable 4th and 5th generation",
    sources={
        **_ELSEWHERE,
        _GOLDEN_COVE_BLOCKS: "fuses_moves",
        _SWITCHES: "upper_halves upper_half_switch_cycles",
        _SHARED_RESULTS: "policies.picker shared_integer_results shared_vector_results",
        _NOT_TRIED: "policies.binding schedulers_take_whole_groups taken_branches_per_cycle",
    },
    inherited=_CONFIRMED,
    facts_name="Golden Cove",
    extensions=SAPPHIRE_RAPIDS,
    idq_size=144,
    fuses_moves=False,
    integer_registers=237,
    vector_registers=284,
)

METEOR_LAKE = derived(
    _GRANITE_RAPIDS,
    name="MTL",
    title="Meteor Lake",
    products="Core Ultra series 1",
    sources={
        _CLIENT_LSD: "lsd_enabled",
        _NO_BORDER: "lsd_unroll lsd_has_borders",
        UOPS_INFO: "closed_by_512_bit",
    },
    extensions=ALDER_LAKE,
    lsd_enabled=True,
    closed_by_512_bit=NO_UNITS,
)

MODELS = (
    derived(
        _SAPPHIRE_RAPIDS,
        name="ADL",
        title="Alder Lake",
        products="Core 12th, 13th and 14th generation",
        sources={
            _CLIENT_LSD: "lsd_enabled",
            _NO_BORDER: "lsd_unroll lsd_has_borders",
            UOPS_INFO: "closed_by_512_bit",
        },
        extensions=ALDER_LAKE,
        lsd_enabled=True,
        closed_by_512_bit=NO_UNITS,
    ),
    _SAPPHIRE_RAPIDS,
    METEOR_LAKE,
    _GRANITE_RAPIDS,
)
