"""There and back between register files takes as long as was measured, not the sum of two upper bounds (O11).

uops.info's latency of a transfer is the time there and back less one cycle. Agner Fog's tables have 2 cycles
of MOVD and MOVQ in either direction on Skylake, 3 on Zen to Zen 2, 1 on Haswell; both ways took 4.00 on a
Redwood Cove.
"""

from __future__ import annotations

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.options import PUBLISHED
from cyclelens.analyzer.simulator import simulate
from testkit.blocks import block_of, template_of

VECTORS, MASKS = "66480f6ec066480f7ec0", "c5f892c8c5f893c1"
"""movq xmm0, rax; movq rax, xmm0, and kmovw k1, eax; kmovw eax, k1."""
CONVERSIONS = "f2480f2ac0f2480f2cc0"
"""cvtsi2sd xmm0, rax; cvttsd2si rax, xmm0."""


@pytest.mark.parametrize(
    ("code", "core", "cycles"),
    [
        *[(VECTORS, core, 2.0) for core in ("SNB", "IVB", "HSW", "BDW")],
        *[(VECTORS, core, 4.0) for core in ("SKL", "SKX", "CLX", "ICL", "TGL", "RKL", "ADL", "GNR")],
        *[(VECTORS, core, 6.0) for core in ("ZEN", "ZEN+", "ZEN2", "ZEN3")],
        (VECTORS, "ARL", 9.0),
        *[(MASKS, core, 4.0) for core in ("SKX", "CLX", "ICL", "RKL", "SPR", "GNR")],
        *[(CONVERSIONS, core, 12.0) for core in ("SKL", "ICL", "GNR")],
        (CONVERSIONS, "ZEN2", 14.0),
    ],
)
def test_both_ways_take_the_measured_cycles(code: str, core: str, cycles: float) -> None:
    assert simulate(block_of(code, core), registry.get(core)).cycles_per_iteration == pytest.approx(
        cycles, abs=0.05
    )


def test_the_published_model_adds_the_bounds() -> None:
    block = block_of(VECTORS, "SKL", options=PUBLISHED)
    assert simulate(block, registry.get("SKL"), options=PUBLISHED).cycles_per_iteration == pytest.approx(6.0)


def test_ways_within_a_register_file_keep_their_latency() -> None:
    inserted = template_of("66480f3a22c001", "SKL")  # pinsrq xmm0, rax, 1
    assert inserted.latencies == {("reg", 0, "reg", 0): 1, ("reg", 1, "reg", 0): 3}
    # RAX and RDX are the lengths of the strings, and ECX the place that was found.
    compared = template_of("660f3a61c100", "SKL")  # pcmpestri xmm0, xmm1, 0
    assert set(compared.latencies.values()) >= {17}
