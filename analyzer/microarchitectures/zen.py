"""AMD's Zen+ to Zen 4, approximately: widths and capacities are published, the rest is not known in detail.

Sources: AMD's "Software Optimization Guide" for the processors of family 17h (models 00h-2Fh, and 30h and
greater) and of family 19h, chapters on instruction fetch and decode, op cache, integer execution, load-store
and floating-point unit. The schedulers of a core are taken together: the model has one. Which unit a uop
goes to is published for no generation; here it is the one with the fewest uops waiting. Latencies of loads
are those of the guide; that Zen 2 and later rename some memory is not modelled. ``facts/zen.py`` says what
the ports mean.
"""

from __future__ import annotations

from dataclasses import replace

from cyclelens.analyzer.model.microarchitecture import UNLIMITED, Microarchitecture, PortPolicy

_CONFIDENCE = (
    "approximate: which unit a uop goes to, and the front end outside the op cache, are not published for AMD"
)
_UNITS = "01234567ABCD"
_UNITS_OF_ZEN_3 = "0123456789ABCDEF"
_NAMES = "p0156 ALU0 to ALU3, p23 loads, p7 store addresses, p4 store data, pA to pD FP0 to FP3"

_ZEN_2 = Microarchitecture(
    name="ZEN2",
    title="Zen 2",
    facts_name="ZEN2",
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
    port_policy=PortPolicy.LEAST_USED,
    ports=_UNITS,
    port_names=_NAMES,
    alu_ports="0156",
    load_latency=4,
    vector_load_latency=7,
    fast_pointer_chasing=False,
    slow_256_bit_memory=False,
    failed_forwarding_cycles=12,
    load_buffer_size=44,
    store_buffer_size=48,
)
_ZEN_3 = replace(
    _ZEN_2,
    name="ZEN3",
    title="Zen 3",
    facts_name="ZEN3",
    reorder_buffer_size=256,
    # 4 x 24, and 2 x 32 with a queue of 64.
    reservation_station_size=224,
    ports=_UNITS_OF_ZEN_3,
    port_names=(
        "p0156 ALU0 to ALU3, p23F loads, p78 store addresses, p49 store data, pA to pD FP0 to FP3, "
        "pE FP4 and FP5"
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
        reorder_buffer_size=192,
        port_names=_NAMES.replace("p23 loads, p7 store addresses", "p23 loads and store addresses"),
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
        # Zen 4's op cache delivers nine macro-ops a cycle; the stage of the model knows eight.
        reorder_buffer_size=320,
        load_buffer_size=88,
    ),
)
