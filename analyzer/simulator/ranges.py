"""What the simulator can count with: every parameter of a core lies in a range. ``tables/ranges.pxi`` says
the same of instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cyclelens.analyzer.model.microarchitecture import UNLIMITED, Microarchitecture
from msgspec import Struct

_AT_LEAST_ONE = frozenset(
    (
        *("decode_buffer_bytes", "decode_bytes", "decoders", "dsb_block_bytes", "dsb_lines_per_block"),
        *("dsb_slots_per_line", "dsb_width", "entries", "idq_size", "instruction_queue_size"),
        *("issue_to_dispatch_delay", "issue_width", "line_entries", "lines_remembered", "loads_per_cycle"),
        *("memory_ops_per_cycle", "mixed_memory_ops_per_cycle", "move_elimination_pipeline_length"),
        *("ms_width", "predecode_block_bytes", "predecode_width", "reorder_buffer_size"),
        *("reservation_station_size", "retire_width", "store_queue", "stores_committed_per_cycle"),
        *("stores_per_cycle", "vector_bits", "vector_dispatch_width", "vector_loads_per_cycle"),
        *("vector_pickable", "chunks"),
    )
)
"""Parameters by which a stage divides, or without which nothing moves."""
_BLOCKS = frozenset({"dsb_block_bytes", "predecode_block_bytes"})
_LEAST_BLOCK = 16
"""Bytes, a power of two: an instruction, which has up to 15 bytes, lies in two of them at most."""
_MOST_CHUNK = 64
"""Bytes of data that a store queue gathers, a power of two: a line. 0 stands for a line, too."""


def check_core(microarchitecture: Microarchitecture) -> None:
    """Raises ValueError if a parameter of the core is not one that the stages can count with."""
    if microarchitecture.macro_ops is None and not microarchitecture.dividers:
        raise ValueError(f"{microarchitecture.name}: it has no divider")
    _check(microarchitecture.name, microarchitecture)


def _check(core: str, parameters: Struct) -> None:
    for name in parameters.__struct_fields__:
        value = getattr(parameters, name)
        if isinstance(value, Struct):
            _check(core, value)
        elif isinstance(value, Mapping):
            _check_numbers(core, name, (*value.keys(), *value.values()))
        elif isinstance(value, tuple):
            for part in value:
                if isinstance(part, Struct):
                    _check(core, part)
            _check_numbers(core, name, value)
        else:
            _check_numbers(core, name, (value,))


def _check_numbers(core: str, name: str, values: Sequence[object]) -> None:
    least = 1 if name in _AT_LEAST_ONE else 0
    for value in values:
        if not isinstance(value, int):
            continue
        if not least <= value <= UNLIMITED:
            raise ValueError(f"{core}: {name} is {value}; it must be {least} to {UNLIMITED}")
        if name in _BLOCKS and (value.bit_count() != 1 or value < _LEAST_BLOCK):
            raise ValueError(f"{core}: {name} is {value}; it must be a power of two from {_LEAST_BLOCK} on")
        if name == "store_chunk_bytes" and (value.bit_count() > 1 or value > _MOST_CHUNK):
            raise ValueError(f"{core}: {name} is {value}; it must be 0 or a power of two up to {_MOST_CHUNK}")
