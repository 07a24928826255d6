"""Every core with both models has an answer to everything, a figure or a reason, and never an internal error.
``benchmarks/every_core.py`` asks ten times as much."""

import core_answers
import pytest
from blocks import store
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Model
from cyclelens.analyzer.simulator.form import compiled

GENERATED = 60 if compiled() else 3
KERNELS = 1000 if compiled() else 5


@pytest.mark.parametrize("way", core_answers.WAYS)
@pytest.mark.parametrize("model", core_answers.MODELS)
@pytest.mark.parametrize("core", registry.names())
def test_every_block_has_an_answer(core: str, model: Model, way: str) -> None:
    blocks = [*core_answers.kernels()[:KERNELS], *core_answers.generated(GENERATED)]
    ends = core_answers.of_blocks(blocks, core, model, way, store())
    assert not core_answers.internal_errors(ends)
    assert ends.total() == len(blocks)
    assert ends[core_answers.FIGURE] > len(blocks) / 4
    assert "" not in ends


@pytest.mark.parametrize("model", core_answers.MODELS)
@pytest.mark.parametrize("path", core_answers.EXAMPLES, ids=lambda path: path.stem)
def test_every_example_has_a_figure_on_every_core(path, model: Model) -> None:
    if not compiled():
        pytest.skip("as plain Python the examples take minutes")
    ends = core_answers.of_example(path, model, store(), registry.names())
    assert not core_answers.internal_errors(ends)
    assert ends[core_answers.FIGURE] >= len(registry.names())


def test_the_blocks_are_the_same_every_time() -> None:
    assert list(core_answers.generated(5)) == list(core_answers.generated(20))[:5]
