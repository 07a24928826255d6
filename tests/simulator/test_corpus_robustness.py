"""Real blocks on every microarchitecture: a simulation always ends with a figure."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from testkit.blocks import block_of

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "blocks.hex.xz"
BLOCKS = 300
DEC_JNZ = "49ffcf75f0"


@pytest.fixture(scope="module")
def blocks() -> list[str]:
    """Blocks spread evenly over the corpus."""
    if not CORPUS.exists():
        pytest.skip("the corpus of basic blocks is not beside the repository")
    lines = lzma.decompress(CORPUS.read_bytes()).decode("ascii").split()
    return lines[:: len(lines) // BLOCKS][:BLOCKS]


@pytest.mark.parametrize("loop", [False, True], ids=["unrolled", "loop"])
@pytest.mark.parametrize("name", registry.names())
def test_every_block_has_a_figure(blocks: list[str], name: str, loop: bool) -> None:
    """No real block stops the simulator, whatever it contains."""
    model = registry.get(name)
    assert len(blocks) == BLOCKS
    for code in blocks:
        block = block_of(code + DEC_JNZ * loop, name, loop=loop)
        result = simulate(block, model, request=RunRequest(min_rounds=10, min_cycles=150, details=False))
        assert result.cycles_per_iteration > 0, code
