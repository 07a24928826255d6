"""Rows of the tables in docs/accuracy.md and docs/zen5.md: models, ablations, rules of cores, cases."""

from __future__ import annotations

from typing import Any

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import MeasuredIn, Model, MoveElimination, Pointers
from cyclelens.analyzer.model.macro_ops import FullLine
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from msgspec.structs import replace

MODELS = {
    "`--model hardware` (default)": ModelOptions(),
    "the same, `--resources off`": ModelOptions(resources=False),
    "the same, `--assume stack`": ModelOptions(assume=Pointers.STACK),
    "the same, `--assume bhive`": ModelOptions(assume=Pointers.BHIVE),
    "`--model uica`, as published": PUBLISHED,
    "`--model uica --assume stack`": replace(PUBLISHED, assume=Pointers.STACK),
    "`--model uica --resources on`": replace(PUBLISHED, resources=True),
    "`--model bounds`": ModelOptions(model=Model.BOUNDS),
    "`--model baseline`, of uiCA's paper": ModelOptions(model=Model.BASELINE),
}


ABLATIONS = {
    "complete": PUBLISHED,
    "simple front end": replace(PUBLISHED, simple_front_end=True),
    "no micro-fusion": replace(PUBLISHED, micro_fusion=False),
    "no micro-fusion in the reorder buffer (B7)": replace(PUBLISHED, unfused_reorder_buffer=True),
    "no macro-fusion": replace(PUBLISHED, macro_fusion=False),
    "no LSD unrolling": replace(PUBLISHED, lsd_unrolling=False),
    "no move elimination": replace(PUBLISHED, move_elimination=MoveElimination.NONE),
    "full move elimination": replace(PUBLISHED, move_elimination=MoveElimination.FULL),
    "random ports": replace(PUBLISHED, port_seed=1),
    "random ports, no move elimination": replace(
        PUBLISHED, port_seed=1, move_elimination=MoveElimination.NONE
    ),
}
"""Ablations of the published model, as in its paper."""


ICE_LAKE = registry.get("ICL")


REDWOOD_COVE = registry.get("GNR")


REDWOOD_COVE_RULES: dict[str, dict[str, Any]] = {
    "complete": {},
    "five issue slots": {"issue_width": 5},
    "four decoders": {"decoders": 4},
    "predecoding of 16 bytes and 5 instructions": {"predecode_block_bytes": 16, "predecode_width": 5},
    "an instruction queue of 25": {"instruction_queue_size": 25},
    "six uops per cycle from the DSB, lines of six": {"dsb_width": 6, "dsb_slots_per_line": 6},
    "a fusible instruction on the last decoder (C4)": {"fusible_on_last_decoder": True},
    "three loads of one word together (Z6)": {"policies": replace(REDWOOD_COVE.policies, dispatch_rule="")},
    "results that never collide (Z7)": {"policies": replace(REDWOOD_COVE.policies, picker="bound_unit")},
    "stores of any lines together (Z5)": {"policies": replace(REDWOOD_COVE.policies, store_commit="")},
    "no addition at rename (V9)": {
        "add_offset_limit": 0,
        "policies": replace(REDWOOD_COVE.policies, addition=""),
    },
    "no memory renaming (W6)": {"policies": replace(REDWOOD_COVE.policies, memory_renaming="")},
    "plain stores that do not wait for their data (O6d)": {"stores_wait_for_data": False},
    "forwarding in five cycles always (W6)": {"late_forwarding_cycles": 0},
    "addresses by base and index alone (4.6)": {"tracks_values": False},
    "shifts by CL that wait for the flags (U5b)": {"shift_result_without_flags": False},
    "a slot for every move (A4)": {"fuses_moves": False},
    "the port to which the fewest uops are bound (P1, P2)": {
        "policies": replace(REDWOOD_COVE.policies, binding="fewest_waiting")
    },
    "one scheduler for all uops (P3)": {"schedulers": (), "schedulers_take_whole_groups": False},
    "no move elimination": {"move_elimination_gpr_slots": 0, "move_elimination_simd_slots": 0},
    "buffers as on Ice Lake": {
        name: getattr(ICE_LAKE, name)
        for name in ("reorder_buffer_size", "reservation_station_size", "idq_size")
    },
    "records of ADL-P (Golden Cove)": {"facts_name": "Golden Cove"},
}


OTHER_TOOLS = {
    "llvm-mca 22, `graniterapids`": ("61", "20"),
    "llvm-mca 22, its best model for these blocks (`znver4`)": ("32", "9"),
    "OSACA, `SPR`": ("45", "16"),
}
"""Errors of other tools on the Redwood Cove blocks, as published with the measurements."""


REDWOOD_COVE_OPTIONS = ModelOptions(model=Model.UICA, assume=Pointers.SAME)
"""Options for the blocks' measurement, in which all registers hold one value.

They use the published model, because the default compares values on every core (4.6); both models give the
same figures for these blocks."""


CASE_RULES = {
    r"nop": "R4",
    r"add cx|cmp cx": "3.3, no Q3",
    r"add r64,r64 x|shl r,cl|cmp \+|cmov": "P1",
    r"mov r64|movaps|vmovups": "Y2",
    r"movzx": "V4",
    r"xor|v?pxor|vpcmpeqd": "W1",
    r"add rax,1|inc|lea rax,\[rax\+8\]|add rax,0x": "V9",
    r"cmp\+jne|test\+jz|dec/jnz": "D8",
    r"jmp|4 taken": "3.6, D8",
    r"3 loads r64, same|3 loads|6 loads|2 loads|cmp rax,\[m\]|vgather": "Z6",
    r"2 stores|1 store": "Z5",
    r"store-forward|add .*\[|mov \[rsi\]|movups|push rax": "W6",
    r"lock": "D3",
    r"push x2": "E2, W6",
    r"addps": "U12",
    r"mulps|vfmadd.*chain|pmulld|aesenc|pclmul|movd|haddps|.* chain|pointer": "D5",
    r".*div|.*sqrt": "D2, Z3",
    r".*zmm": "V6",
}
"""Rule of docs/pipeline.md behind a known case, by a pattern for the beginning of its name; the first match
counts. All other cases follow from the ports of the tables (U1)."""


ZEN_5 = registry.get("ZEN5")


assert ZEN_5.macro_ops is not None and ZEN_5.macro_ops.wasted is not None
ZEN_5_WASTED = ZEN_5.macro_ops.wasted


ZEN_4 = registry.get("ZEN4")


ZEN_5_OPTIONS = ModelOptions(assume=Pointers.SAME)


ZEN_5_ONE_PAGE = ModelOptions(assume=Pointers.SAME, harness=MeasuredIn.ONE_PAGE)


ZEN_5_RULES: dict[str, dict[str, Any]] = {
    "complete": {},
    "32 bytes per cycle to the decoders (M1)": {"decode_bytes": 32},
    "long instructions decoded as others (M1)": {"long_instruction_bytes": 15},
    "every window of the op cache at eight entries per cycle (M2)": {"line_pairs": False},
    "lines of the op cache without a limit of fields (M2)": {"line_fields": 99},
    "one taken branch per cycle (M2)": {"jump_eighths": 8},
    "small loops as long ones (M3, M18)": {"small_loop_entries": 0},
    "eight vector macro-ops per cycle (M4)": {"vector_dispatch_width": 8},
    "no pair of move and ALU operation (M6)": {"fuses_moves": False},
    "stack adjustments of one macro-op (M8)": {"stack_adjustment_is_two_ops": False},
    "units by the tables alone (M9)": {"units_by_mnemonic": False},
    "multiplications of one slot (M14)": {"wasted": replace(ZEN_5_WASTED, multiplication=0)},
    "three loads per cycle (M16)": {"loads_per_cycle": 3, "memory_ops_per_cycle": 3},
    "four accesses per cycle beside a vector load (M16)": {"mixed_memory_ops_per_cycle": 4},
    "one store per cycle (M16)": {"stores_per_cycle": 1, "stores_committed_per_cycle": 1},
    "no load learnt (M18)": {"learnt_loads": 0, "unlearnt_loads": 1},
    "failed forwarding as forwarding (M19)": {"failed_forwarding": 0, "failed_vector_forwarding": 0},
    "512 bits forwarded as 256 (M19)": {"wide_forwarding": (0, 0, 0)},
    "vectors stored and loaded in ten cycles (M19)": {"vector_forwarding": 10},
    "no false renaming (M26)": {"false_renaming_bytes": 0},
    "additions in three cycles always (M20)": {"fast_fp_adds": False},
    "one mask operation more per cycle (M20)": {"mask_operations_per_cycle": 3},
}
"""Changes of ``MacroOpRules``; further rows change the core."""


ZEN_5_CORES: dict[str, Microarchitecture] = {
    "no wasted slots (M14, M15)": replace(
        ZEN_5,
        macro_ops=replace(ZEN_5.macro_ops, wasted=None),
        policies=replace(ZEN_5.policies, late_operands=""),
    ),
    "no memory renaming (M18)": replace(ZEN_5, policies=replace(ZEN_5.policies, memory_renaming="")),
    "dispatch of six": replace(ZEN_5, issue_width=6),
    "the model of Zen 4": ZEN_4,
}


ZEN_3 = registry.get("ZEN3")


assert ZEN_3.macro_ops is not None and ZEN_3.macro_ops.store_gathering is not None


ZEN_3_RULES: dict[str, dict[str, Any]] = {
    "complete": {},
    "long instructions from 11 bytes on (M1)": {"long_instruction_bytes": 10},
    "long instructions after each other at no cost (M1)": {"long_pair_eighths": 0},
    "no cost of a page's end in the decoders (M1)": {"page_decode_cycles": 0},
    "no wait for partial words (M28)": {
        "store_gathering": replace(ZEN_3.macro_ops.store_gathering, in_flight=0)
    },
    "no limit of the load queue (M29)": {"load_queue": None},
    "any number of operations for an ALU (M30)": {"one_operation_per_alu": False},
    "any number of accesses in a group (M41)": {"memory_group": None},
    "an index without a macro-op (M31)": {"indexed_is_two_ops": False},
    "microcode dispatched beside others (M39)": {"microcode_keeps_dispatch": False},
    "changes of memory as one macro-op (M31)": {"memory_change_is_two_ops": False},
    "vector schedulers of two pipes (M32)": {"vector_pipes_shared": False},
    "no domains (M33)": {"domain_cycles": 0},
    "transfers without an ALU (M34)": {"transfer_alu_cycles": 0},
    "forwarding in seven cycles, as one slot (M35)": {
        "forwarding": 7,
        "crowded_loads": 0,
        "forwarded_load_eighths": 0,
    },
    "no limit of learnt loads (M36)": {"learnt_loads": 1000, "unlearnt_loads": 1001},
    "lines without a limit of fields (M37)": {"line_fields": 99},
    "lines count in long loops, too (M37)": {"long_line_eighths": 0},
    "a unit for VZEROUPPER (M4)": {"zeroing_upper_needs_unit": True},
    "one macro-op of memory and branch (M5)": {"fuses_memory_with_branch": True},
    "zero idioms of SSE code without a pipe (M7)": {"sse_idioms_execute": False},
    "stack adjustments of one macro-op (M8)": {"stack_adjustment_is_two_ops": False},
    "two loads per cycle (M16)": {"loads_per_cycle": 2},
    "divisions that keep the pipe before the divider (M21)": {"divider_apart": False},
    "NOPs that share macro-ops, as on Zen 4 (M23)": {"fuses_nops": True},
    "a displacement of 0 that is none to LEA (M31)": {"long_lea_by_encoding": False},
    "pipes in the order of their numbers (M32)": {"pipes": ("FP0", "FP1", "FP2", "FP3")},
    "failed forwarding as on Zen 4 (M35)": {
        "failed_forwarding": 13,
        "failed_vector_forwarding": 12,
        "failed_narrow_forwarding": 13,
    },
    "memory renamed over any number of stores (M36)": {"renaming_distance": 0},
}
"""Changes of ``MacroOpRules``; further rows change the core."""


ZEN_3_CORES: dict[str, Microarchitecture] = {
    "memory renamed as on Zen 5 (M18 for M36)": replace(
        ZEN_3, policies=replace(ZEN_3.policies, memory_renaming="same_registers")
    ),
}


assert ZEN_4.macro_ops is not None


ZEN_4_RULES: dict[str, dict[str, Any]] = {
    "complete": {},
    "four cycles of a page's end in the decoders, as on Zen 3 (M1)": {"page_decode_cycles": 4},
    "long instructions from 9 bytes on, as on Zen 3 (M1)": {"long_instruction_bytes": 8},
    "a unit for VZEROUPPER (M4)": {"zeroing_upper_needs_unit": True},
    "partial words wait, as on Zen 3 (M28)": {"store_gathering": ZEN_3.macro_ops.store_gathering},
    "no limit of the load queue (M29)": {"load_queue": None},
    "any number of operations for an ALU (M30)": {"one_operation_per_alu": False},
    "any number of accesses in a group (M41)": {"memory_group": None},
    "an index without a macro-op (M31)": {"indexed_is_two_ops": False},
    "vector schedulers of two pipes (M32)": {"vector_pipes_shared": False},
    "a cycle between domains, as on Zen 3 (M33)": {"domain_cycles": 1},
    "transfers without an ALU (M34)": {"transfer_alu_cycles": 0},
    "failed forwarding as on Zen 3 (M35)": {"failed_forwarding": 12, "failed_vector_forwarding": 10},
    "lines without a limit of fields (M37)": {"line_fields": 99, "full_lines": (FullLine(9, 99, 99, 9),)},
    "lines as on Zen 3 (M37)": {"line_fields": 4, "fields_per_entry": 2, "full_lines": ()},
    "lines count in long loops, too (M37)": {"long_line_eighths": 0},
    "microcode dispatched beside others (M39)": {"microcode_keeps_dispatch": False},
    "two addresses of a change of memory (M43)": {"memory_change_has_one_address": False},
    "forwarding to changes of memory as to loads (M43)": {"change_forwarding": 7},
    "three sources beside stores at no cost (M44)": {"third_source_eighths": 0},
}
"""Changes of ``MacroOpRules``; further rows change the core."""


ZEN_4_CORES: dict[str, Microarchitecture] = {
    "memory renamed as on Zen 5 (M18 for M40)": replace(
        ZEN_4, policies=replace(ZEN_4.policies, memory_renaming="same_registers")
    ),
    "memory renamed as on Zen 3 (M36 for M40)": replace(
        ZEN_4,
        policies=replace(ZEN_4.policies, memory_renaming="stack_or_learnt"),
        macro_ops=replace(ZEN_4.macro_ops, learnt_loads=24, unlearnt_loads=25, renaming_distance=14),
    ),
}


ZEN_3_OTHERS = {
    "llvm-mca 14.0.6, `znver3`": (
        "34.4 / 23.7",
        "20.7 / 55.0",
        "8.8 / 69.9",
        "50.6 / 19.9",
        "28.3 / 48.9",
        "24.0 / 42.5",
    ),
    "OSACA 0.7.1, `ZEN3`": (
        "23.4 / 33.7",
        "23.5 / 45.7",
        "7.6 / 81.2",
        "37.7 / 29.1",
        "39.5 / 33.8",
        "17.9 / 41.4",
    ),
}
"""Errors of other tools: llvm-mca on all these blocks, OSACA on every twentieth that it has data for."""


ZEN_5_OTHERS = {
    "llvm-mca 19.1.7, `znver5` (the figures of `znver4`)": (
        "35.3 / 16.5",
        "44.2 / 18.9",
        "18.4 / 70.9",
        "49.0 / 14.9",
        "48.6 / 25.0",
        "33.5 / 40.4",
    ),
    "llvm-mca 22.1.8, `znver5` (the figures of `znver4`)": (
        "28.6 / 16.6",
        "36.7 / 19.1",
        "12.4 / 71.4",
        "37.5 / 14.8",
        "46.8 / 25.0",
        "31.7 / 40.4",
    ),
}
"""Errors of other tools on all blocks: ``llvm_mca_errors.py``, for vector code with
``--max-spread 5 --max-pages 12``."""
