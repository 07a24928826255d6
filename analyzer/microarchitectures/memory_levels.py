"""The memory levels of each core as far as they are published, or measured for this project (docs/data.md).

Transfers are in cycles per 64-byte line: 32 bytes per cycle are 2 cycles per line. Times of memory hold for
the clock of the machine that their source names.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from cyclelens.analyzer.model.memory_levels import (
    MEMORY,
    LevelParameter,
    MemoryLevel,
    MemoryLevels,
    Overlap,
    Translation,
)
from cyclelens.analyzer.model.provenance import Certainty, Source
from cyclelens.analyzer.model.source import LINE_BYTES

_KIB, _MIB = 1024, 1024 * 1024

_STENGEL = Source(
    Certainty.PUBLISHED,
    "Stengel et al.",
    "Stengel, Treibig, Hager, Wellein: Quantifying performance bottlenecks of stencil computations using "
    "the Execution-Cache-Memory model (ICS 2015, arXiv 1410.5010): on Intel's cores only loads do not "
    "overlap with transfers, and transfers do not overlap with each other",
)
_HOFMANN = Source(
    Certainty.PUBLISHED,
    "Hofmann et al.",
    "Hofmann, Eitzinger, Fey: Execution-Cache-Memory Performance Model: Introduction and Validation (arXiv "
    "1509.03118): as Stengel et al., on Haswell",
)
_ECM_SERVERS = Source(
    Certainty.PUBLISHED,
    "RRZE ECM-Model",
    "RRZE-HPC/ECM-Model, ecm_generator/machine_model: read and write bandwidths of each level, and which "
    "times add up, for Skylake SP and Cascade Lake SP at 2.2 GHz, Ice Lake SP at 1.8 GHz, Rome at 2.0 GHz "
    "and Milan at 2.1 GHz; method by Hofmann, Alappat, Hager, Fey, Wellein: Bridging the architecture gap "
    "(arXiv 1907.00048)",
)
_KERNCRAFT_SNB = Source(
    Certainty.PUBLISHED,
    "kerncraft",
    "RRZE-HPC/kerncraft, examples/machine-files/SandyBridgeEP_E5-2680.yml (Xeon E5-2680 at 2.7 GHz); memory "
    "at 40 GB/s, the bandwidth of a socket",
)
_KERNCRAFT_HSW = Source(
    Certainty.PUBLISHED,
    "kerncraft",
    "RRZE-HPC/kerncraft, examples/machine-files/HaswellEP_E5-2695v3_CoD.yml (Xeon E5-2695 v3 at 2.3 GHz): "
    "32 bytes per cycle from L2, because 64 cannot be reached; memory at 32.1 GB/s, the bandwidth of the "
    "seven cores of a memory domain for loads",
)
_COPY_HSW = Source(
    Certainty.INFERRED,
    "from the copy",
    "From 17.7 GB/s (26.5 GB/s with the lines that stores read first) of the copy in the same machine file "
    "of kerncraft, minus the time of its two loaded lines",
)
_INTEL_SKL = Source(
    Certainty.PUBLISHED,
    "Intel",
    "Intel: 64 and IA-32 Architectures Optimization Reference Manual, cache parameters of the Skylake "
    "client: peak bandwidth of 64 bytes per cycle from L2",
)
_AS_HASWELL = Source(
    Certainty.INFERRED, "as Haswell", "As kerncraft has it for Haswell: 32 bytes per cycle from L3"
)
_AS_SKYLAKE = Source(Certainty.INFERRED, "as Skylake", "As on Skylake, whose core and caches it has")
_ICE_LAKE_SP = Source(
    Certainty.PUBLISHED,
    "RRZE ECM-Model",
    "RRZE-HPC/ECM-Model, _data/models/IcelakeSP_Platinum-8360Y.json: 64 bytes per cycle from L2, and no "
    "transfers overlap; a server with the same core",
)
_TWICE_ZEN4 = Source(
    Certainty.INFERRED,
    "twice Zen 4",
    "AMD said at Computex 2024 that the bandwidth of L1 and L2 grows; AIDA64 read 1,875 GB/s from L2 on a "
    "Ryzen 5 9600X, 58 bytes per cycle on each of six cores at 5.4 GHz, and 1,029 GB/s on a 7600X "
    "(tomshw.it, 10 June 2024)",
)
_AS_ZEN4 = Source(Certainty.INFERRED, "as Zen 4", "As measured on Zen 4")
_GUIDES = Source(
    Certainty.INFERRED,
    "guides, unchecked",
    "The figure of the maker's optimization manual as it is usually quoted; not compared with its text",
)
_PRODUCT = Source(
    Certainty.PUBLISHED,
    "product",
    "The maker's size of the cache, for the product that the source of the bandwidths names",
)
_SMALLEST = Source(
    Certainty.INFERRED, "typical product", "The cache of a typical product with four cores; others differ"
)
_MEASURED_ZEN4 = Source(
    Certainty.MEASURED,
    "measured",
    "Fitted to loops that only load and loops that only store, in buffers of 256 KiB, 8 MiB and 256 MiB on "
    "an EPYC 9004 (family 25, model 17, under KVM) by time stamps; copy, dot product and triad were not "
    "used",
)
_ZEN4_SIZES = Source(
    Certainty.PUBLISHED,
    "CPUID",
    "Sizes that CPUID reports on an EPYC 9004: 1 MiB of L2, 32 MiB of L3 per complex",
)
_CHASED_ZEN4 = Source(
    Certainty.MEASURED,
    "measured",
    "A chased pointer on the same EPYC 9004: 4.0 cycles in 16 KiB, 14.1 in 256 KiB; 49 to 61 in 2 to 8 MiB, "
    "of which 7 are for translation",
)
_TLB_ZEN4 = Source(
    Certainty.MEASURED,
    "measured",
    "A chased pointer on the same EPYC 9004, one line on each page of 4 KiB: 4.0 cycles on 64 pages, 10.9 on "
    "128 to 512; AMD's optimization guide for Zen 4 (57647) has 72 entries",
)
_PAST_ZEN4 = Source(
    Certainty.MEASURED,
    "measured",
    "Non-temporal stores of 32 and of 64 bytes into 16 KiB to 256 MiB on the same EPYC 9004: 8.4 to 8.7 "
    "cycles per line; lines of zeros take 2.6 to 3.0",
)
_ZEN4_OVERLAP = Source(
    Certainty.MEASURED,
    "measured",
    "As on Zen 2 and Zen 3: copies and dot products in L2 and L3 on an EPYC 9004 took the time of their "
    "slowest path, and not the sum",
)


def _parameter(value: float | None, source: Source) -> LevelParameter | None:
    return None if value is None else LevelParameter(value, source)


def _rate(bytes_per_cycle: float | None, source: Source) -> LevelParameter | None:
    return None if bytes_per_cycle is None else LevelParameter(LINE_BYTES / bytes_per_cycle, source)


def _first(kib: int, cycles: int) -> MemoryLevel:
    """L1: the simulation has its bandwidth."""
    return MemoryLevel("L1", LevelParameter(kib * _KIB, _PRODUCT), LevelParameter(cycles, _GUIDES))


def _client(
    size: Source,
    l2: Source,
    first: tuple[int, int] = (32, 4),
    second: tuple[int, int] = (256, 12),
    third: float | None = 44,
) -> MemoryLevels:
    """Skylake's client cores and their successors: memory differs too much among their products. ``first``,
    ``second``: KiB and latency of L1 and L2; ``third``: latency of L3."""
    return MemoryLevels(
        levels=(
            _first(*first),
            MemoryLevel(
                "L2",
                LevelParameter(second[0] * _KIB, _PRODUCT),
                LevelParameter(second[1], _GUIDES),
                load=_rate(64, l2),
                write_back=_rate(64, l2),
            ),
            MemoryLevel(
                "L3",
                LevelParameter(8 * _MIB, size),
                _parameter(third, _GUIDES),
                load=_rate(32, _AS_HASWELL),
                write_back=_rate(32, _AS_HASWELL),
            ),
            MemoryLevel(MEMORY),
        ),
        overlap=Overlap.NONE,
        overlap_source=_HOFMANN if l2 is _INTEL_SKL else l2,
    )


def _server(l1: int, sizes: tuple[int, float], memory: tuple[float, float]) -> MemoryLevels:
    """Intel's servers with a victim L3. ``sizes``: L2 in KiB, L3 in MiB; ``memory``: bytes per cycle, read
    and written."""
    return MemoryLevels(
        levels=(
            _first(l1, 4 if l1 == 32 else 5),
            MemoryLevel(
                "L2",
                LevelParameter(sizes[0] * _KIB, _ECM_SERVERS),
                LevelParameter(14, _GUIDES),
                load=_rate(64, _ECM_SERVERS),
                write_back=_rate(64, _ECM_SERVERS),
            ),
            MemoryLevel(
                "L3",
                LevelParameter(sizes[1] * _MIB, _ECM_SERVERS),
                load=_rate(16, _ECM_SERVERS),
                write_back=_rate(16, _ECM_SERVERS),
                both_ways=True,
                victim=True,
            ),
            MemoryLevel(
                MEMORY, load=_rate(memory[0], _ECM_SERVERS), write_back=_rate(memory[1], _ECM_SERVERS)
            ),
        ),
        overlap=Overlap.NONE,
        overlap_source=_ECM_SERVERS,
    )


def _zen(l3: int, latency: int, memory: tuple[float, float]) -> MemoryLevels:
    """Zen 2 and Zen 3. ``l3``: MiB of a complex; ``latency``: of L3; ``memory``: bytes per cycle, read and
    written."""
    return MemoryLevels(
        levels=(
            _first(32, 4),
            MemoryLevel(
                "L2",
                LevelParameter(512 * _KIB, _ECM_SERVERS),
                LevelParameter(12, _GUIDES),
                load=_rate(32, _ECM_SERVERS),
                write_back=_rate(32, _ECM_SERVERS),
                both_ways=True,
            ),
            MemoryLevel(
                "L3",
                LevelParameter(l3 * _MIB, _ECM_SERVERS),
                LevelParameter(latency, _GUIDES),
                load=_rate(24, _ECM_SERVERS),
                write_back=_rate(24, _ECM_SERVERS),
                both_ways=True,
                victim=True,
            ),
            MemoryLevel(
                MEMORY, load=_rate(memory[0], _ECM_SERVERS), write_back=_rate(memory[1], _ECM_SERVERS)
            ),
        ),
        overlap=Overlap.ALL,
        overlap_source=_ECM_SERVERS,
    )


_SNB = MemoryLevels(
    levels=(
        _first(32, 4),
        MemoryLevel(
            "L2",
            LevelParameter(256 * _KIB, _KERNCRAFT_SNB),
            LevelParameter(12, _GUIDES),
            load=_rate(32, _KERNCRAFT_SNB),
            write_back=_rate(32, _KERNCRAFT_SNB),
        ),
        MemoryLevel(
            "L3",
            LevelParameter(20 * _MIB, _KERNCRAFT_SNB),
            load=_rate(32, _KERNCRAFT_SNB),
            write_back=_rate(32, _KERNCRAFT_SNB),
        ),
        MemoryLevel(MEMORY, load=_rate(40 / 2.7, _KERNCRAFT_SNB), write_back=_rate(40 / 2.7, _KERNCRAFT_SNB)),
    ),
    overlap=Overlap.NONE,
    overlap_source=_STENGEL,
)
_HSW = MemoryLevels(
    levels=(
        _first(32, 4),
        MemoryLevel(
            "L2",
            LevelParameter(256 * _KIB, _KERNCRAFT_HSW),
            LevelParameter(11, _GUIDES),
            load=_rate(32, _KERNCRAFT_HSW),
            write_back=_rate(32, _KERNCRAFT_HSW),
        ),
        MemoryLevel(
            "L3",
            LevelParameter(18 * _MIB, _KERNCRAFT_HSW),
            load=_rate(32, _KERNCRAFT_HSW),
            write_back=_rate(32, _KERNCRAFT_HSW),
        ),
        MemoryLevel(
            MEMORY,
            load=_rate(32.08 / 2.3, _KERNCRAFT_HSW),
            # Three lines take 192 / (26.5 / 2.3) cycles, of which two loaded ones take 9.2.
            write_back=_parameter(7.5, _COPY_HSW),
        ),
    ),
    overlap=Overlap.NONE,
    overlap_source=_HOFMANN,
)
_ZEN4 = MemoryLevels(
    levels=(
        MemoryLevel("L1", LevelParameter(32 * _KIB, _ZEN4_SIZES), LevelParameter(4, _CHASED_ZEN4)),
        MemoryLevel(
            "L2",
            LevelParameter(1 * _MIB, _ZEN4_SIZES),
            LevelParameter(14, _CHASED_ZEN4),
            load=LevelParameter(2.0, _MEASURED_ZEN4),
            write_back=LevelParameter(2.0, _MEASURED_ZEN4),
            both_ways=True,
        ),
        MemoryLevel(
            "L3",
            LevelParameter(32 * _MIB, _ZEN4_SIZES),
            LevelParameter(50, _CHASED_ZEN4),
            load=LevelParameter(2.45, _MEASURED_ZEN4),
            write_back=LevelParameter(2.3, _MEASURED_ZEN4),
            both_ways=True,
            victim=True,
        ),
        MemoryLevel(
            MEMORY,
            load=LevelParameter(6.5, _MEASURED_ZEN4),
            write_back=LevelParameter(0.8, _MEASURED_ZEN4),
            non_temporal=LevelParameter(8.5, _PAST_ZEN4),
        ),
    ),
    overlap=Overlap.ALL,
    overlap_source=_ZEN4_OVERLAP,
    translation=Translation(72, 7.0, _TLB_ZEN4),
)

_ZEN5 = MemoryLevels(
    levels=(
        _first(48, 4),
        MemoryLevel(
            "L2",
            LevelParameter(1 * _MIB, _PRODUCT),
            LevelParameter(14, _GUIDES),
            load=_rate(64, _TWICE_ZEN4),
            write_back=_rate(64, _TWICE_ZEN4),
            both_ways=True,
        ),
        MemoryLevel("L3", LevelParameter(32 * _MIB, _PRODUCT), both_ways=True, victim=True),
        MemoryLevel(MEMORY),
    ),
    overlap=Overlap.ALL,
    overlap_source=_AS_ZEN4,
)

_LEVELS = MappingProxyType(
    {
        "SNB": _SNB,
        "HSW": _HSW,
        "SKL": _client(_SMALLEST, _INTEL_SKL),
        "KBL": _client(_SMALLEST, _AS_SKYLAKE),
        "CFL": _client(_SMALLEST, _AS_SKYLAKE),
        "ICL": _client(_SMALLEST, _ICE_LAKE_SP, (48, 5), (512, 13), None),
        "SKX": _server(32, (1024, 27.5), (54, 44)),
        "CLX": _server(32, (1024, 27.5), (28, 22)),
        "ZEN2": _zen(16, 39, (18, 21)),
        "ZEN3": _zen(32, 46, (20, 26)),
        "ZEN4": _ZEN4,
        "ZEN5": _ZEN5,
    }
)


levels_of: Callable[[str], MemoryLevels | None] = _LEVELS.get
"""The memory levels of a core by its name; None if they are not known."""
