"""Which extensions of the instruction set each microarchitecture has, in the decoder's spelling.

Sources: the CPUID feature flags in Intel's "Software Developer's Manual" (volume 2, CPUID; "Instruction Set
Extensions Programming Reference") and in AMD's "Architecture Programmer's Manual" (volume 3, appendix D), as
GCC's documentation lists them by processor. A core of several products has what its newest product has,
unless the maker switched it off for all of them. A new microarchitecture is one line of ``_HAS``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.result import Missing


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_EVERYWHERE = _set(
    "INTEL8086 INTEL186 INTEL286 INTEL386 INTEL486 X64 FPU FPU287 FPU387 CX8 CMOV MMX FXSR SSE SSE2 SSE3 "
    "SSSE3 SSE4_1 SSE4_2 POPCNT CMPXCHG16B CLFSH MULTIBYTENOP PAUSE CPUID MSR TSC RDPMC RDTSCP SYSCALL SEP "
    "SMM MONITOR AVX AES PCLMULQDQ XSAVE XSAVEOPT"
)
_IGNORED = _set("CET_IBT CET_SS MPX PREFETCHW PREFETCHWT1 PREFETCHITI CLDEMOTE")
"""In the space of NOPs: a core that does not have them runs them as such."""
_OLDER_MEANING = {"tzcnt": "bsf", "lzcnt": "bsr"}
"""A core that does not have them ignores their prefix and runs the other instruction."""

_INTEL = _EVERYWHERE | _set("VMX SMX")
_IVY_BRIDGE = _INTEL | _set("F16C RDRAND FSGSBASE")
_HASWELL = _IVY_BRIDGE | _set("AVX2 FMA BMI1 BMI2 LZCNT MOVBE INVPCID RTM HLE_OR_RTM")
_BROADWELL = _HASWELL | _set("ADX RDSEED SMAP")
_SKYLAKE = _BROADWELL | _set("CLFLUSHOPT XSAVEC XSAVES SGX1")
_SKYLAKE_X = _SKYLAKE | _set("AVX512F AVX512CD AVX512BW AVX512DQ AVX512VL CLWB PKU")
_ICE_LAKE = (
    _SKYLAKE_X
    | _set("AVX512_IFMA AVX512_VBMI AVX512_VBMI2 AVX512_VNNI AVX512_BITALG AVX512_VPOPCNTDQ")
    | _set("GFNI VAES VPCLMULQDQ SHA RDPID")
) - _set("RTM HLE_OR_RTM CLWB")
_TIGER_LAKE = _ICE_LAKE | _set("AVX512_VP2INTERSECT MOVDIRI MOVDIR64B CLWB KL AESKLE WIDE_KL")

_GOLDEN_COVE = (
    _ICE_LAKE
    | _set("AVX_VNNI CLWB MOVDIRI MOVDIR64B WAITPKG SERIALIZE PTWRITE UINTR ENQCMD PCONFIG WBNOINVD")
) - _set("SGX1")
_SAPPHIRE_RAPIDS = _GOLDEN_COVE | _set(
    "AVX512_BF16 AVX512_FP16 AMX_TILE AMX_INT8 AMX_BF16 TSXLDTRK RTM HLE_OR_RTM SGX1"
)
_ALDER_LAKE = frozenset(
    name for name in _GOLDEN_COVE - _set("ENQCMD UINTR WBNOINVD") if not name.startswith("AVX512")
) | _set("HRESET KL AESKLE WIDE_KL")

_AMD = _EVERYWHERE | _set("SVM SKINIT_OR_SVM")
_ZEN = _AMD | _set(
    "F16C RDRAND FSGSBASE AVX2 FMA BMI1 BMI2 LZCNT MOVBE ADX RDSEED SMAP CLFLUSHOPT XSAVEC XSAVES SHA SSE4A "
    "CLZERO MONITORX"
)
_ZEN_2 = _ZEN | _set("CLWB RDPID RDPRU WBNOINVD MCOMMIT")
_ZEN_3 = _ZEN_2 | _set("VAES VPCLMULQDQ PKU INVPCID INVLPGB")
_ZEN_4 = _ZEN_3 | _set(
    "AVX512F AVX512CD AVX512BW AVX512DQ AVX512VL AVX512_IFMA AVX512_VBMI AVX512_VBMI2 AVX512_VNNI "
    "AVX512_BITALG AVX512_VPOPCNTDQ AVX512_BF16 GFNI"
)

_HAS = {
    "SNB": _INTEL,
    "IVB": _IVY_BRIDGE,
    "HSW": _HASWELL,
    "BDW": _BROADWELL,
    "SKL": _SKYLAKE,
    "SKX": _SKYLAKE_X,
    "KBL": _SKYLAKE,
    "CFL": _SKYLAKE,
    "CLX": _SKYLAKE_X | _set("AVX512_VNNI"),
    "ICL": _ICE_LAKE,
    "TGL": _TIGER_LAKE,
    "RKL": _ICE_LAKE,
    "ADL": _ALDER_LAKE,
    "MTL": _ALDER_LAKE,
    "SPR": _SAPPHIRE_RAPIDS,
    "GNR": _SAPPHIRE_RAPIDS | _set("AMX_FP16"),
    "ZEN+": _ZEN,
    "ZEN2": _ZEN_2,
    "ZEN3": _ZEN_3,
    "ZEN4": _ZEN_4,
}

_RUNS = {name: has | _IGNORED for name, has in _HAS.items()}

_NAMES = {"AVX512F": "AVX-512", "D3NOW": "3DNow!", "HLE_OR_RTM": "RTM", "SSE4A": "SSE4a", "CX8": "CMPXCHG8B"}


def missing(instructions: Sequence[Instruction], microarchitectures: Iterable[str]) -> tuple[Missing, ...]:
    """Those of the microarchitectures that cannot run these instructions, and why. Raises KeyError for an
    unknown one."""
    found = []
    for name in microarchitectures:
        absent = {
            index: titles
            for index, instruction in enumerate(instructions)
            if (titles := _absent(instruction, name))
        }
        if absent:
            every = dict.fromkeys(title for titles in absent.values() for title in titles)
            found.append(Missing(name, tuple(every), tuple(absent)))
    return tuple(found)


def _absent(instruction: Instruction, microarchitecture: str) -> tuple[str, ...]:
    """What an instruction needs and the microarchitecture does not have, as people write it; empty if it can
    run there, if only with an older meaning."""
    absent = instruction.extensions - _RUNS[microarchitecture]
    if not absent or instruction.mnemonic in _OLDER_MEANING:
        return ()
    if "AVX512F" not in _HAS[microarchitecture]:
        # Its parts come only together with it.
        absent = frozenset("AVX512F" if name.startswith("AVX512") else name for name in absent)
    return tuple(sorted(_title(name) for name in absent))


def older_meaning(instruction: Instruction, microarchitecture: str) -> str:
    """What the microarchitecture runs instead of an instruction that it does not know; empty if it does."""
    if instruction.extensions <= _HAS[microarchitecture]:
        return ""
    return _OLDER_MEANING.get(instruction.mnemonic, "")


def _title(name: str) -> str:
    """``AVX-512 VNNI`` for ``AVX512_VNNI``, ``AVX-VNNI`` for ``AVX_VNNI``."""
    if name in _NAMES:
        return _NAMES[name]
    if name.startswith("AVX512"):
        return f"AVX-512 {name.removeprefix('AVX512').removeprefix('_')}"
    return name.replace("_", "-")
