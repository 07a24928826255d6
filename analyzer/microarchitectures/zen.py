"""AMD's Zen+ to Zen 4, approximately: widths and capacities are published, the rest is not known in detail.

Sources: AMD's "Software Optimization Guide" for the processors of family 17h (models 00h-2Fh, and 30h and
greater) and of family 19h, chapters on instruction fetch and decode, op cache, integer execution, load-store
and floating-point unit. The schedulers of a core are taken together: the model has one. Which unit a uop
goes to is published for no generation; here it is the one with the fewest uops waiting. Latencies of loads
are those of the guide; that Zen 2 and later rename some memory is not modelled.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cyclelens.analyzer.microarchitectures.instruction_sets import ZEN, ZEN_2, ZEN_3, ZEN_4
from cyclelens.analyzer.model.microarchitecture import UNLIMITED, Microarchitecture, Policies
from cyclelens.analyzer.model.units import Divider, Unit, Units, unit

_CONFIDENCE = (
    "approximate: which unit a uop goes to, and the front end outside the op cache, are not published for AMD"
)
_LETTERS = {
    "0": "ALU0",
    "1": "ALU1",
    "5": "ALU2",
    "6": "ALU3",
    "2": "LD0",
    "3": "LD1",
    "F": "LD2",
    "7": "SA0",
    "8": "SA1",
    "4": "SD0",
    "9": "SD1",
    "A": "FP0",
    "B": "FP1",
    "C": "FP2",
    "D": "FP3",
    "E": "FP45",
}
"""The units by the letters of ``facts/zen.py``."""


def _units(*others: Unit) -> Units:
    """The units of a generation: the same ALUs and floating-point pipes, and these."""
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
    confidence=_CONFIDENCE,
    # Two windows of 16 bytes a cycle go to the decoders.
    instruction_queue_size=40,
    predecode_width=8,
    predecode_block_bytes=32,
    predecode_to_decode_delay=3,
    length_changing_prefix_penalty=0,
    # The op cache: eight instructions an entry, up to eight macro-ops a cycle.
    dsb_width=8,
    dsb_block_bytes=64,
    dsb_lines_per_block=8,
    dsb_slots_per_line=8,
    dsb_to_ms_stall=2,
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
    dsb_serves_rounds_together=True,
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
    failed_forwarding_cycles=12,
    load_buffer_size=44,
    store_buffer_size=48,
)
_ZEN_3 = replace(
    _ZEN_2,
    name="ZEN3",
    title="Zen 3",
    facts_name="ZEN3",
    extensions=ZEN_3,
    reorder_buffer_size=256,
    # 4 x 24, and 2 x 32 with a queue of 64.
    reservation_station_size=224,
    units=_units(
        *_numbered("LD", 3, "load"),
        *_numbered("SA", 2, "store address"),
        *_numbered("SD", 2, "store data"),
        # FP4 and FP5: one a cycle.
        unit("FP45", "transfer"),
    ),
    load_buffer_size=72,
    store_buffer_size=64,
)

MODELS = (
    replace(
        _ZEN_2,
        name="ZEN+",
        title="Zen+",
        facts_name="ZEN+",
        extensions=ZEN,
        reorder_buffer_size=192,
        units=_units(*_numbered("LD", 2, "load, store address"), *_numbered("SD", 1, "store data")),
        # 6 x 14, and 36 with a queue of 60.
        reservation_station_size=180,
        store_buffer_size=44,
    ),
    _ZEN_2,
    _ZEN_3,
    replace(
        _ZEN_3,
        name="ZEN4",
        title="Zen 4",
        facts_name="ZEN4",
        extensions=ZEN_4,
        # Zen 4's op cache delivers nine macro-ops a cycle; the stage of the model knows eight.
        reorder_buffer_size=320,
        load_buffer_size=88,
    ),
)
