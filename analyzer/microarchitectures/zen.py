"""AMD's Zen, Zen+ and Zen 2, approximate: widths and capacities are published, the rest is hardly known.

The schedulers of a core are combined into one. Zen 2's memory renaming is in the latencies of its tables.
None of the rules measured on Zen 3 to 5 is taken over; docs/zen5.md says of each what is certain here.

Widths are per cycle, sizes are capacities; ``cyclelens arch show ZEN2`` has the sources.

    ZEN2: Zen 2

      32 bytes -> 8 instructions -> queue 40 -> 4 decoders --+
      op cache: 8 lines of 8 per 64 bytes -> 8 uops ---------+
      microcode -> 4 uops -----------------------------------+
        +----------------------------------------------------+
        v
      uop queue 72
        |
        v
      renamer 6 --> reorder buffer 224 --> retires 8
        |
        +-- store buffer 48
        |
        +-- scheduler 192
              +-- ALU0  ALU, shift, branch
              +-- ALU1  ALU, shift, multiply
              +-- ALU2  ALU, shift, divide
              +-- ALU3  ALU, shift, branch
              +-- LD0   load
              +-- LD1   load
              +-- SA0   store address
              +-- SD0   store data
              +-- FP0   vector, FP multiply
              +-- FP1   vector, shuffle, FP multiply, FP divide
              +-- FP2   vector, shuffle, FP add, transfer
              +-- FP3   vector, FP add, FP divide
"""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.microarchitectures.instruction_sets import ZEN, ZEN_2
from cyclelens.analyzer.microarchitectures.literature import SPLIT_STORES, TRANSFERS
from cyclelens.analyzer.model.microarchitecture import (
    UNLIMITED,
    Maker,
    Microarchitecture,
    Policies,
    TargetDependency,
    UpperHalfRule,
    derived,
)
from cyclelens.analyzer.model.provenance import Certainty, Source, Sources
from cyclelens.analyzer.model.units import Divider, Unit, Units, unit

_GUIDE_CHAPTERS = (
    "chapters on instruction fetch and decode, op cache, integer execution, load-store and FP unit"
)
_GUIDE_17 = Source(
    Certainty.PUBLISHED,
    "AMD 17h",
    f"AMD: Software Optimization Guide for the processors of family 17h, {_GUIDE_CHAPTERS}",
)
_ONE_LINE = Source(
    Certainty.PUBLISHED,
    "Ryzen 9 3900X",
    "stackoverflow.com, 'Why is my loop much faster when it is contained in one cache line?': two billion "
    "iterations of six instructions took 450 ms in one line and 900 ms across two on a Ryzen 9 3900X, about "
    "one and two cycles each",
)
_PENALTY = Source(
    Certainty.PUBLISHED,
    "AMD 17h",
    "AMD: Software Optimization Guide for the processors of family 17h, on branches: 12 to 18 cycles, "
    "commonly 16",
)
_INTELS = Source(
    Certainty.UNUSED,
    "Intel's",
    "A rule of Intel's cores; unknown on AMD's",
)
_KEPT = Source(
    Certainty.MEASURED,
    "loops",
    "AMD's manual, volume 4: EXTRQ and INSERTQ read their target; loops of one on an EPYC 9004 take 3.00 "
    "cycles in all four forms, as long as the tables have from the other source",
)
KEPT = TargetDependency(r"(EXTRQ|INSERTQ) .*", 3)
"""The tables lack that these read their target."""
_LOAD_QUEUE = Source(
    Certainty.PUBLISHED,
    "guide, Chips and Cheese",
    "The guide's load queue; a load that has its data leaves it, and a larger structure follows the load "
    "until it retires (chipsandcheese.com, AMD's Zen 4, Part 2, which says so of all cores since Zen)",
)
_UNKNOWN = Source(
    Certainty.ASSUMED,
    "unknown",
    "Not published for family 17h; a plausible value. No rule that was measured on Zen 3 to 5 is taken over "
    "(docs/zen5.md, Zen 2, Zen+ and Zen)",
)
_INTEGER_UNITS = Source(
    Certainty.INFERRED,
    "guide, tables",
    "The guide's units; which of them an instruction uses is published only for floating point "
    "(data/SOURCES.md)",
)
_LETTERS = {
    "0": "ALU0",
    "1": "ALU1",
    "5": "ALU2",
    "6": "ALU3",
    "2": "LD0",
    "3": "LD1",
    "7": "SA0",
    "4": "SD0",
    "A": "FP0",
    "B": "FP1",
    "C": "FP2",
    "D": "FP3",
}
"""Letter in ``facts/zen.py`` -> unit."""


def _units(*others: Unit) -> Units:
    """The units of a generation: the common ALUs and floating-point pipes, and ``others``."""
    units: Sequence[Unit] = (
        unit("ALU0", "ALU, shift, branch"),
        unit("ALU1", "ALU, shift, multiply"),
        unit("ALU2", "ALU, shift, divide"),
        unit("ALU3", "ALU, shift, branch"),
        *others,
        unit("FP0", "vector, FP multiply"),
        unit("FP1", "vector, FP multiply, FP divide, shuffle"),
        unit("FP2", "vector, FP add, shuffle, transfer"),
        unit("FP3", "vector, FP add, FP divide"),
    )
    names = {each.name for each in units}
    return Units(units, letters={letter: name for letter, name in _LETTERS.items() if name in names})


def _numbered(name: str, count: int, roles: str) -> list[Unit]:
    return [unit(f"{name}{number}", roles) for number in range(count)]


_ZEN_2 = Microarchitecture(
    name="ZEN2",
    title="Zen 2",
    facts_name="ZEN2",
    extensions=ZEN_2,
    products="Ryzen 3000, EPYC 7002",
    maker=Maker.AMD,
    sources=Sources(
        named={
            _GUIDE_17: "predecode_block_bytes decoders dsb_width dsb_block_bytes dsb_lines_per_block "
            "dsb_slots_per_line idq_size issue_width reorder_buffer_size retire_width "
            "reservation_station_size load_latency vector_load_latency store_buffer_size "
            "upper_halves upper_half_switch_cycles",
            _PENALTY: "misprediction_penalty",
            _LOAD_QUEUE: "load_matrix_size",
            _KEPT: "target_dependencies",
            TRANSFERS: "transfer_excess",
            _INTELS: "jcc_erratum both_halves_cacheable length_changing_prefix_penalty "
            "pop_rsp_needs_complex_decoder pop_rsp_ends_decode_group several_uops_need_complex_decoder "
            "fusible_waits_for_next branch_ends_decode_group lsd_has_borders add_offset_limit "
            "policies.addition policies.late_operands policies.memory_renaming fuses_moves "
            "taken_branch_units passed_branch_units "
            "shift_result_without_flags stores_wait_for_data tracks_values late_forwarding_cycles "
            "chained_addition_cycles "
            "branch_across_blocks_costs_a_block large_immediate_takes_slot crowded_prefixes_uncacheable "
            "dsb_loses_width_across_blocks stack_offset_limit lsd_enabled lsd_unroll high8_renamed "
            "schedulers_take_whole_groups taken_branches_per_cycle "
            "movzx_high8_alias_eliminated fast_pointer_chasing closed_by_512_bit "
            "shared_integer_results shared_vector_results",
            _UNKNOWN: "instruction_queue_size predecode_width predecode_to_decode_delay dsb_to_ms_stall "
            "mite_to_ms_stall ms_width fusible_on_last_decoder fuses_across_lines "
            "move_elimination_pipeline_length move_elimination_gpr_slots move_elimination_simd_slots "
            "issue_to_dispatch_delay policies dividers",
            SPLIT_STORES: "failed_forwarding_cycles",
            _ONE_LINE: "dsb_lines_per_cycle dsb_serves_rounds_together",
            _INTEGER_UNITS: "units all_gpr_aliases_overwritten",
        },
    ),
    # Two windows of 16 bytes per cycle go to the decoders.
    instruction_queue_size=40,
    predecode_width=8,
    predecode_block_bytes=32,
    predecode_to_decode_delay=3,
    length_changing_prefix_penalty=0,
    # The op cache: eight instructions per entry, up to eight macro-ops per cycle.
    dsb_width=8,
    dsb_block_bytes=64,
    dsb_lines_per_block=8,
    dsb_slots_per_line=8,
    dsb_to_ms_stall=0,
    mite_to_ms_stall=0,
    idq_size=72,
    pop_rsp_needs_complex_decoder=False,
    pop_rsp_ends_decode_group=False,
    fusible_on_last_decoder=True,
    jcc_erratum=False,
    both_halves_cacheable=False,
    several_uops_need_complex_decoder=False,
    fusible_waits_for_next=False,
    fuses_across_lines=True,
    branch_across_blocks_costs_a_block=False,
    large_immediate_takes_slot=False,
    crowded_prefixes_uncacheable=False,
    dsb_loses_width_across_blocks=False,
    dsb_lines_per_cycle=1,
    stack_offset_limit=None,
    lsd_enabled=False,
    lsd_unroll={},
    issue_width=6,
    high8_renamed=False,
    movzx_high8_alias_eliminated=False,
    move_elimination_pipeline_length=2,
    move_elimination_gpr_slots=UNLIMITED,
    move_elimination_simd_slots=UNLIMITED,
    all_gpr_aliases_overwritten=True,
    reorder_buffer_size=224,
    retire_width=8,
    # 4 x 16 and 28 for integer and address uops, 36 and a queue of 64 before it for the vector ones.
    reservation_station_size=192,
    policies=Policies(binding="fewest_waiting"),
    units=_units(
        *_numbered("LD", 2, "load"),
        *_numbered("SA", 1, "store address"),
        *_numbered("SD", 1, "store data"),
    ),
    dividers=(Divider(("ALU0", "ALU1", "ALU2", "ALU3")), Divider(("FP0", "FP1", "FP2", "FP3"))),
    load_latency=4,
    vector_load_latency=7,
    fast_pointer_chasing=False,
    target_dependencies=(KEPT,),
    transfer_excess=2,
    upper_halves=UpperHalfRule.PUT_ASIDE,
    # "Approximately 100" in either direction.
    upper_half_switch_cycles=100,
    failed_forwarding_cycles=19,
    misprediction_penalty=16,
    load_matrix_size=44,
    store_buffer_size=48,
)

_ZEN_PLUS = derived(
    _ZEN_2,
    name="ZEN+",
    title="Zen+",
    products="Ryzen 2000",
    sources={
        _GUIDE_17: "reorder_buffer_size reservation_station_size store_buffer_size",
        _INTEGER_UNITS: "units",
    },
    facts_name="ZEN+",
    extensions=ZEN,
    reorder_buffer_size=192,
    units=_units(*_numbered("LD", 2, "load, store address"), *_numbered("SD", 1, "store data")),
    # 6 x 14, and 36 with a queue of 60.
    reservation_station_size=180,
    store_buffer_size=44,
)

MODELS = (
    # The guide describes this core, and AMD names no difference of Zen+ but faster caches and memory. Nobody
    # published records of its own: those of Zen+ stand for them.
    derived(_ZEN_PLUS, name="ZEN", title="Zen", products="Ryzen 1000, EPYC 7001"),
    _ZEN_PLUS,
    _ZEN_2,
)
