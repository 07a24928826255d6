"""Agreement with the published uiCA model on 32 kernels, one per mechanism, on eight microarchitectures.

``kernels.csv`` has the cycles per iteration that the published model predicts from the instruction tables of
uops.info, rounded to two decimals. ``test_parity.py`` compares all that there is, where that is at hand; this
sample is always here.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from cyclelens.analyzer.evaluation.blocks import BlockBuilder
from cyclelens.analyzer.evaluation.datasets import Selection, read_samples
from cyclelens.analyzer.model.options import PUBLISHED

SAMPLES = read_samples(Path(__file__).with_name("kernels.csv"), Selection())
CORES = ("SNB", "IVB", "HSW", "BDW", "SKL", "CLX", "ICL", "RKL")


@pytest.mark.parametrize("core", CORES)
def test_figures_are_those_of_the_published_model(core: str) -> None:
    builder = BlockBuilder(PUBLISHED)
    samples = [sample for sample in SAMPLES if sample.microarchitecture == core]
    assert len(samples) >= 27
    found = {sample: round(builder.simulate(sample)[1].cycles_per_iteration, 2) for sample in samples}
    assert found == {sample: sample.cycles for sample in samples}
