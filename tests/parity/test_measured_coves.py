"""Granite Rapids against blocks measured on one. The file is not part of the project; where it is missing
this test is skipped."""

from pathlib import Path

import pytest
from cyclelens.analyzer.evaluation.blocks import BlockBuilder
from cyclelens.analyzer.evaluation.datasets import Selection, read_samples
from cyclelens.analyzer.evaluation.metrics import mean_error
from cyclelens.analyzer.model.choices import Pointers, Repetition
from cyclelens.analyzer.model.options import ModelOptions

BLOCKS = Path(__file__).resolve().parents[3] / "shared" / "measured" / "redwood-cove-dev.csv"
if not BLOCKS.is_file():
    pytest.skip(f"the measured blocks are not here ({BLOCKS})", allow_module_level=True)


@pytest.mark.parametrize(("mode", "most"), [(Repetition.UNROLL, 0.018), (Repetition.LOOP, 0.013)])
def test_the_mean_error(mode: Repetition, most: float) -> None:
    builder = BlockBuilder(ModelOptions(assume=Pointers.SAME))
    samples = read_samples(BLOCKS, Selection(microarchitectures=("GNR",), mode=mode))
    pairs = [(builder.simulate(sample)[1].cycles_per_iteration, sample.cycles) for sample in samples]
    assert len(pairs) == 1000
    error = mean_error(pairs)
    assert error is not None and error <= most
