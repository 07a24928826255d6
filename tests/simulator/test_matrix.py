"""Every core with both models gives a figure or a reason for every input, and never an internal error.

Every sixth pair of a core and a way tries a block; ``benchmarks/every_core.py`` tries all blocks by all, and
thousands more, each night."""

from itertools import product

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Model
from testkit import core_answers
from testkit.blocks import store

GENERATED = 60
SHARE, EXAMPLES_SHARE = 6, 4
RUNS = list(product(registry.names(), core_answers.MODELS, core_answers.WAYS))


@pytest.mark.parametrize(("core", "model", "way"), RUNS)
def test_every_block_has_an_answer(core: str, model: Model, way: str) -> None:
    # Another sixth for each way of a core, and for each core in turn.
    first = (RUNS.index((core, model, way)) + registry.names().index(core)) % SHARE
    blocks = [*core_answers.kernels(), *core_answers.generated(GENERATED)][first::SHARE]
    ends = core_answers.of_blocks(blocks, core, model, way, store())
    assert not core_answers.internal_errors(ends)
    assert ends.total() == len(blocks)
    assert ends[core_answers.FIGURE] > len(blocks) / 4
    assert "" not in ends


@pytest.mark.parametrize("core", ["SKL", "GNR", "LNL"])
def test_every_form_of_microcode_has_an_answer(core: str) -> None:
    """For example XSAVEC, two of whose stores must not retire together on Golden Cove (Z5)."""
    blocks = [*core_answers.instances(core, store(), microcode_only=True)]
    assert len(blocks) > 300
    for way in core_answers.WAYS:
        assert not core_answers.internal_errors(
            core_answers.of_blocks(blocks, core, Model.HARDWARE, way, store())
        )


@pytest.mark.parametrize("model", core_answers.MODELS)
@pytest.mark.parametrize("path", core_answers.EXAMPLES, ids=lambda path: path.stem)
def test_every_example_has_a_figure_on_a_quarter_of_the_cores(path, model: Model) -> None:
    cores = registry.names()[core_answers.EXAMPLES.index(path) % EXAMPLES_SHARE :: EXAMPLES_SHARE]
    ends = core_answers.of_example(path, model, store(), cores)
    assert not core_answers.internal_errors(ends)
    assert ends[core_answers.FIGURE] >= len(cores)


@pytest.mark.parametrize("mode", ["loop", "unroll"])
@pytest.mark.parametrize("core", registry.names())
def test_a_move_that_switches_upper_halves_is_not_eliminated(core: str, mode: str) -> None:
    """vmovaps ymm0, ymm1; movapd xmm0, xmm1, either way round: the switch holds up issue until it is over."""
    moves = [bytes.fromhex(code) for code in ("c5fc28c1660f28c1", "660f28c1c5fc28c1")]
    assert core_answers.of_blocks(moves, core, Model.HARDWARE, mode, store()) == {core_answers.FIGURE: 2}


def test_the_blocks_are_the_same_every_time() -> None:
    assert list(core_answers.generated(5)) == list(core_answers.generated(20))[:5]
