"""Performance events of the cores: uops by execution unit, slots of the renamer, and deliveries.

Sources: Intel's event tables (https://perfmon-events.intel.com): UOPS_DISPATCHED_PORT, from Ice Lake on
UOPS_DISPATCHED, UOPS_ISSUED.ANY, IDQ.MITE_UOPS, IDQ.MS_UOPS, L1D.REPLACEMENT, MISALIGN_MEM_REF and, from
Skylake on, MEM_INST_RETIRED.SPLIT_LOADS and SPLIT_STORES; AMD's processor programming references for
the families 17h, 19h and 1Ah: PMCx000 (assignment to floating-point pipes, 17h alone) and PMCx0C1 (retired
macro-ops). They stand here as published: no core whose counters could be read was at hand.
"""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from msgspec import Struct
from msgspec.structs import replace


class Events(Struct, frozen=True):
    """Raw event numbers for ``perf_event_open``: the mask above the event."""

    slots: int
    units: Mapping[int, tuple[str, ...]]
    """Event -> the units that it counts together."""
    complete: bool = True
    """True if the events cover all units of the core."""
    delivered: tuple[int, int] | None = None
    """Events of uops that come from the decoders, and from the microcode sequencer; None if not known."""
    disturbing: Mapping[int, str] = {}
    """Events that make a measured block worthless as a test of a core's model, with their names."""


def _by_mask(event: int, masks: Mapping[int, str]) -> dict[int, tuple[str, ...]]:
    return {mask << 8 | event: tuple(units.split()) for mask, units in masks.items()}


_MITE, _MS = 0x0479, 0x3079
_MISSES = {0x0151: "misses of the first-level data cache"}
_SPLITS = {0x01: "loads across two cache lines", 0x02: "stores across two cache lines"}
_OF_HASWELL = _MISSES | {mask << 8 | 0x05: name for mask, name in _SPLITS.items()}
_OF_SKYLAKE = _MISSES | {(mask | 0x40) << 8 | 0xD0: name for mask, name in _SPLITS.items()}
_SANDY_BRIDGE = Events(
    0x010E,
    _by_mask(0xA1, {0x01: "0", 0x02: "1", 0x0C: "2", 0x30: "3", 0x40: "4", 0x80: "5"}),
    delivered=(_MITE, _MS),
    disturbing=_OF_HASWELL,
)
_HASWELL = Events(
    0x010E,
    _by_mask(0xA1, {1 << port: str(port) for port in range(8)}),
    delivered=(_MITE, _MS),
    disturbing=_OF_HASWELL,
)
_SKYLAKE = replace(_HASWELL, disturbing=_OF_SKYLAKE)
_ICE_LAKE = Events(
    0x010E,
    _by_mask(0xA1, {0x01: "0", 0x02: "1", 0x04: "2 3", 0x10: "4 9", 0x20: "5", 0x40: "6", 0x80: "7 8"}),
    delivered=(_MITE, _MS),
    disturbing=_OF_SKYLAKE,
)
_GOLDEN_COVE = Events(
    0x01AE,
    _by_mask(0xB2, {0x01: "0", 0x02: "1", 0x04: "2 3 10", 0x10: "4 9", 0x20: "5 11", 0x40: "6", 0x80: "7 8"}),
    delivered=(_MITE, 0x2079),
    disturbing=_OF_SKYLAKE,
)
_ZEN = Events(0x00C1, _by_mask(0x00, {1 << pipe: f"FP{pipe}" for pipe in range(4)}), complete=False)
_ZEN_3 = Events(0x00C1, {}, complete=False)
_BY_CORE = {
    "SNB IVB": _SANDY_BRIDGE,
    "HSW BDW": _HASWELL,
    "SKL SKX KBL CFL CLX": _SKYLAKE,
    "ICL TGL RKL": _ICE_LAKE,
    "ADL SPR MTL GNR": _GOLDEN_COVE,
    "ZEN ZEN+ ZEN2": _ZEN,
    "ZEN3 ZEN4 ZEN5": _ZEN_3,
}


def events(model: Microarchitecture) -> Events | None:
    """The events of this core; None if not known."""
    return next((known for names, known in _BY_CORE.items() if model.name in names.split()), None)
