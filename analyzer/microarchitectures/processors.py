"""Identifies the microarchitecture of this machine's processor by its family and model, unless it has an
extension that this core lacks: some hypervisors report a wrong model.

Sources: Intel's "Software Developer's Manual", volume 4, table 2-1; AMD's revision guides and the processor
tables of Linux. The features that decide if the model is wrong were read on such machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path

from msgspec import Struct


class Processor(Struct, frozen=True):
    """Identification of a processor by CPUID."""

    maker: str
    """``GenuineIntel`` or ``AuthenticAMD``."""
    family: int
    model: int
    stepping: int
    name: str
    """Name for people."""
    features: frozenset[str] = frozenset()
    """The extensions of ``FEATURES`` that it has, in the decoder's spelling."""
    code_cache: int = 0
    """Size of the first-level code cache in KB, 0 if unknown; ``data_cache`` likewise."""
    data_cache: int = 0


FEATURES = {
    "avx2": "AVX2",
    "avx512f": "AVX512F",
    "avx512_vnni": "AVX512_VNNI",
    "avx512_bf16": "AVX512_BF16",
    "avx512_fp16": "AVX512_FP16",
    "avx_vnni": "AVX_VNNI",
    "amx_tile": "AMX_TILE",
}
"""Extensions that distinguish generations, by Linux's name. A hypervisor may hide one but cannot add one."""


class CoreSignature(Struct, frozen=True):
    """A core with a unique combination of features."""

    name: str
    maker: str
    feature: str
    code_cache: int
    data_cache: int


_KINDS = (
    CoreSignature("SPR", "GenuineIntel", "AMX_TILE", 32, 48),
    CoreSignature("GNR", "GenuineIntel", "AMX_TILE", 64, 48),
    CoreSignature("ZEN5", "AuthenticAMD", "AVX512F", 32, 48),
)


def by_features(processor: Processor) -> str:
    """The core that an extension and the caches identify; empty if none of the known signatures matches."""
    found = (processor.maker, processor.code_cache, processor.data_cache)
    for kind in _KINDS:
        if kind.feature in processor.features and found == (kind.maker, kind.code_cache, kind.data_cache):
            return kind.name
    return ""


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
"""Models with several microarchitectures: each with its last stepping."""
_AMD_17_ZEN_PLUS = (0x08, 0x18)
_AMD_17_ZEN_2 = 0x30
"""First model."""
_AMD_19_ZEN_4 = (range(0x10, 0x20), range(0x60, 0x80), range(0xA0, 0xB0))


def microarchitecture_of(processor: Processor) -> str:
    """Name of the processor's microarchitecture, simulated or not; empty if unknown."""
    maker, family, model, stepping = processor.maker, processor.family, processor.model, processor.stepping
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


def this_processor(root: Path = Path("/")) -> Processor | None:
    """The processor of this machine; None if Linux does not tell. ``root``: root of the file system."""
    try:
        # Only the first processor: listing all of a large machine takes long.
        with (root / "proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            first = list(takewhile(str.strip, lines))
    except OSError:
        return None
    pairs = (line.partition(":")[::2] for line in first)
    return _read({key.strip(): value.strip() for key, value in pairs}, _first_level_caches(root))


def _first_level_caches(root: Path) -> dict[str, int]:
    """Sizes in KB by ``Instruction`` and ``Data``."""
    sizes = {}
    for cache in sorted((root / "sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind, size = ((cache / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        if level == "1" and size.endswith("K") and size[:-1].isdecimal():
            sizes[kind] = int(size[:-1])
    return sizes


def _read(fields: Mapping[str, str], caches: Mapping[str, int]) -> Processor | None:
    flags = fields.get("flags", "").split()
    try:
        return Processor(
            fields["vendor_id"],
            int(fields["cpu family"]),
            int(fields["model"]),
            int(fields["stepping"]),
            fields["model name"],
            frozenset(FEATURES[flag] for flag in flags if flag in FEATURES),
            caches.get("Instruction", 0),
            caches.get("Data", 0),
        )
    except (KeyError, ValueError):
        return None
