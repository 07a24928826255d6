"""Sources that several cores share."""

from __future__ import annotations

from cyclelens.analyzer.model.provenance import Certainty, Source

UICA = Source(
    Certainty.PUBLISHED,
    "uiCA",
    "Abel, Reineke: uiCA: Accurate Throughput Prediction of Basic Blocks on Recent Intel "
    "Microarchitectures (ICS 2022), and the parameter set published with it, validated there against "
    "hardware",
)
UFS = Source(
    Certainty.PUBLISHED,
    "UFS",
    "Palomares, Wong, Kuck, Jalby: Evaluating Out-Of-Order Engine Limitations Using Uop Flow Simulation "
    "(2015), table 3: effective sizes, measured",
)
UOPS_INFO = Source(
    Certainty.PUBLISHED, "uops.info", "uops.info: measured ports and latencies of instructions on this core"
)
INTEL_MANUAL = Source(
    Certainty.PUBLISHED,
    "Intel",
    "Intel: 64 and IA-32 Architectures Optimization Reference Manual, chapter on this microarchitecture",
)
BRANCH_UNITS = Source(
    Certainty.PUBLISHED,
    "Intel, Agner Fog",
    "Intel: 64 and IA-32 Architectures Optimization Reference Manual, the ports of Haswell and later: two "
    "branch units, of which the one on port 0 has no taken branches; Agner Fog: Instruction tables: a "
    "conditional branch that is not taken on ports 0 and 6 (0.5 cycles), a taken one and JMP on port 6",
)
TRANSFERS = Source(
    Certainty.PUBLISHED,
    "Agner Fog, uops.info",
    "Agner Fog: Instruction tables: MOVD and MOVQ 2 cycles either way on Skylake, 3 on Zen to Zen 2. "
    "uops.info publishes 3 and 5 as upper bounds: the measured way there and back, less one cycle. That rule "
    "gives the 4.00, 6.0 and 7.0 cycles which both ways took on a Redwood Cove, a Zen 3 and a Zen 4",
)
UPPER_HALVES_PUT_ASIDE = Source(
    Certainty.PUBLISHED,
    "Intel, Agner Fog",
    "Intel: 64 and IA-32 Architectures Optimization Reference Manual, Mixing AVX Code with SSE Code, the "
    "state machine before Skylake; Agner Fog: The microarchitecture of Intel, AMD and VIA CPUs: about 70 "
    "cycles for each of its transitions",
)
UPPER_HALVES_MERGED = Source(
    Certainty.PUBLISHED,
    "Intel",
    "Intel: 64 and IA-32 Architectures Optimization Reference Manual, Mixing AVX Code with SSE Code, from "
    "Skylake on: a dependency on the old destination, and a blend uop for every SSE instruction (event "
    "UOPS_ISSUED.VECTOR_WIDTH_MISMATCH)",
)
MISPREDICTION_SANDY_BRIDGE = Source(
    Certainty.PUBLISHED,
    "Agner Fog",
    "Agner Fog: The microarchitecture of Intel, AMD and VIA CPUs, Sandy Bridge: 15 cycles or more for code "
    "in the uop cache",
)
MISPREDICTION_HASWELL = Source(
    Certainty.PUBLISHED,
    "LLVM, Agner Fog",
    "LLVM: X86SchedHaswell.td; Agner Fog measured 15 to 20 cycles",
)
MISPREDICTION_SKYLAKE = Source(
    Certainty.PUBLISHED,
    "7-cpu, Agner Fog",
    "7-cpu.com, Skylake: 16.5 cycles for code in the uop cache, 19 to 20 for other code; Agner Fog measured "
    "15 to 20",
)
SPLIT_STORES = Source(
    Certainty.PUBLISHED,
    "gist bc9af3a0",
    "Travis Downs, gist.github.com/travisdowns/bc9af3a0aaca5399824cf182f85b9e9c: two stores of 8 bytes and a "
    "load of 16 take 17.0, 14.0, 21.0, 14.9 and 17.0 cycles on an Ice Lake, Skylake, Zen 2, Haswell and "
    "Sandy Bridge",
)
FITTED = Source(Certainty.INFERRED, "fitted", "Fitted to measured blocks (docs/accuracy.md)")
FREE_REGISTERS = Source(
    Certainty.INFERRED,
    "file size",
    "The published size of the register file, minus the registers that hold architectural state on "
    "Haswell according to UFS",
)


def same_as(title: str) -> Source:
    """The source of values that are known only for an older core."""
    return Source(Certainty.INFERRED, f"as {title}", f"As on {title}; nothing else is known")
