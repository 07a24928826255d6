"""Every core with both models has an answer to everything, a figure or a reason, and never an internal error.
``benchmarks/every_core.py`` asks ten times as much."""

import matrix
import pytest
from blocks import store
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Model
from cyclelens.analyzer.simulator.form import compiled

GENERATED = 60 if compiled() else 3
KERNELS = 1000 if compiled() else 5


@pytest.mark.parametrize("way", matrix.WAYS)
@pytest.mark.parametrize("model", matrix.MODELS)
@pytest.mark.parametrize("core", registry.names())
def test_every_block_has_an_answer(core: str, model: Model, way: str) -> None:
    blocks = [*matrix.kernels()[:KERNELS], *matrix.generated(GENERATED)]
    ends = matrix.of_blocks(blocks, core, model, way, store())
    assert not matrix.internal_errors(ends)
    assert ends.total() == len(blocks)
    assert ends[matrix.FIGURE] > len(blocks) / 4
    assert "" not in ends


@pytest.mark.parametrize("model", matrix.MODELS)
@pytest.mark.parametrize("path", matrix.EXAMPLES, ids=lambda path: path.stem)
def test_every_example_has_a_figure_on_every_core(path, model: Model) -> None:
    if not compiled():
        pytest.skip("as plain Python the examples take minutes")
    ends = matrix.of_example(path, model, store(), registry.names())
    assert not matrix.internal_errors(ends)
    assert ends[matrix.FIGURE] >= len(registry.names())


def test_the_blocks_are_the_same_every_time() -> None:
    assert list(matrix.generated(5)) == list(matrix.generated(20))[:5]
