"""Which microarchitecture the processor of this machine has, by the family and model that it names itself.

Sources: Intel's "Software Developer's Manual", volume 4, table 2-1; AMD's revision guides and the processor
tables of Linux.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Processor(NamedTuple):
    """What CPUID says."""

    maker: str
    """``GenuineIntel`` or ``AuthenticAMD``."""
    family: int
    model: int
    stepping: int
    name: str
    """As people know it."""


_INTEL_6 = {
    "SNB": (42, 45),
    "IVB": (58, 62),
    "HSW": (60, 63, 69, 70),
    "BDW": (61, 71, 79, 86),
    "SKL": (78, 94),
    "CNL": (102,),
    "ICL": (106, 108, 125, 126),
    "TGL": (140, 141),
    "RKL": (167,),
    "ADL": (151, 154, 183, 186, 191),
    "SPR": (143, 207),
    "MTL": (170, 172),
    "GNR": (173, 174),
    "LNL": (189,),
    "ARL": (181, 197, 198),
}
_STEPPINGS = {85: (("SKX", 4), ("CLX", 15)), 142: (("KBL", 9), ("CFL", 15)), 158: (("KBL", 9), ("CFL", 15))}
"""Models that are several microarchitectures: each with its last stepping."""
_AMD_17_ZEN_PLUS = (0x08, 0x18)
_AMD_17_ZEN_2 = 0x30
"""From this model on."""
_AMD_19_ZEN_4 = (range(0x10, 0x20), range(0x60, 0x80), range(0xA0, 0xB0))


def microarchitecture_of(processor: Processor) -> str:
    """Its microarchitecture's name, of those that are simulated or not; empty if it is not known."""
    maker, family, model, stepping, _ = processor
    if maker == "GenuineIntel" and family == 6:
        for name, last in _STEPPINGS.get(model, ()):
            if stepping <= last:
                return name
        return next((name for name, models in _INTEL_6.items() if model in models), "")
    if maker != "AuthenticAMD":
        return ""
    if family == 0x17:
        return "ZEN2" if model >= _AMD_17_ZEN_2 else "ZEN+" if model in _AMD_17_ZEN_PLUS else "ZEN"
    if family == 0x19:
        return "ZEN4" if any(model in models for models in _AMD_19_ZEN_4) else "ZEN3"
    return "ZEN5" if family == 0x1A else ""


def this_processor(source: Path = Path("/proc/cpuinfo")) -> Processor | None:
    """The processor of this machine; None where Linux does not tell."""
    try:
        text = source.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    pairs = (line.partition(":")[::2] for line in text.partition("\n\n")[0].splitlines())
    return _read({key.strip(): value.strip() for key, value in pairs})


def _read(fields: Mapping[str, str]) -> Processor | None:
    try:
        return Processor(
            fields["vendor_id"],
            int(fields["cpu family"]),
            int(fields["model"]),
            int(fields["stepping"]),
            fields["model name"],
        )
    except (KeyError, ValueError):
        return None
