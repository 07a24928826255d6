"""What Ice Lake, Tiger Lake and Rocket Lake do with stored words: O6d and W6 of docs/pipeline.md."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.options import PUBLISHED
from cyclelens.analyzer.simulator import simulate
from testkit.blocks import block_of

CORES = ("ICL", "TGL", "RKL")
CHAINS = {
    # uops.info: no cycles from a stored word to what loads it, 3 of popcnt
    "mov [rdi], rax; mov rbx, [rdi]; imul rax, rbx": ("488907488b1f480fafc3", 3.0),
    "mov [rdi], rax; popcnt rax, [rdi]": ("488907f3480fb807", 3.0),
    "push rax; pop rbx; imul rax, rbx": ("505b480fafc3", 3.0),
    # as on Skylake: forwarding of 5 cycles and the operation
    "mov [rdi], rax; imul rbx, [rdi]; mov rax, rbx": ("488907480faf1f4889d8", 8.0),
    "mov [rdi], rax; vmovq xmm0, [rdi]; vmovq rax, xmm0": ("488907c5fa7e07c4e1f97ec0", 8.0),
}


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize(("code", "cycles"), CHAINS.values(), ids=CHAINS)
def test_what_is_loaded_waits_for_what_is_stored(core: str, code: str, cycles: float) -> None:
    found = simulate(block_of(code, core, loop=True), registry.get(core)).cycles_per_iteration
    assert found == pytest.approx(cycles, abs=1.0)


def test_the_published_model_waits_for_nothing() -> None:
    code, _ = CHAINS["mov [rdi], rax; popcnt rax, [rdi]"]
    block = block_of(code, "ICL", loop=True, options=PUBLISHED)
    assert simulate(block, registry.get("ICL"), options=PUBLISHED).cycles_per_iteration < 1.5


def test_copies_learn_nothing() -> None:
    """In straight-line code the load is forwarded: at least 4 cycles more than the product."""
    code, _ = CHAINS["mov [rdi], rax; mov rbx, [rdi]; imul rax, rbx"]
    assert simulate(block_of(code, "ICL", loop=False), registry.get("ICL")).cycles_per_iteration >= 7.0
