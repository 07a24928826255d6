"""The interface of the compiled core: threads, and one clear exception for everything that has no figure."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.uops import Trait, UopKind
from cyclelens.analyzer.simulator.core import cycles_per_iteration, simulate
from cyclelens.analyzer.simulator.failures import Cancelled
from cyclelens.analyzer.simulator.run_request import RunRequest
from msgspec.structs import replace
from testkit.blocks import block_of

CONSTANTS = Path(__file__).parents[2] / "analyzer" / "simulator" / "tables" / "constants.pxi"
CODES = ("480fafc0", "488b00488b4808", "4883060148890e", "0f5ec10f5ec1", "9090")


@pytest.mark.parametrize("name", ["SKL", "GNR", "ZEN5"])
def test_two_threads_find_what_one_finds(name: str) -> None:
    core = registry.get(name)
    blocks = [block_of(code, name, loop=False) for code in CODES]

    def run() -> list[object]:
        caches = Caches()
        return [simulate(each, core, request=RunRequest(trace=True), caches=caches) for each in blocks * 3]

    with ThreadPoolExecutor(2) as threads:
        found = [each.result() for each in [threads.submit(run) for _ in range(2)]]
    assert found == [run()] * 2


@pytest.mark.parametrize("name", ["SKL", "ZEN5"])
def test_an_empty_block_has_no_figure(name: str) -> None:
    core = registry.get(name)
    empty = replace(block_of("90", name, loop=False), entries=())
    for run in (simulate, cycles_per_iteration):
        with pytest.raises(ValueError, match="a block needs at least one instruction"):
            run(empty, core)


@pytest.mark.parametrize("name", ["SKL", "ZEN5"])
def test_a_run_is_cancelled(name: str) -> None:
    with pytest.raises(Cancelled):
        simulate(
            block_of("480fafc0", name, loop=False),
            registry.get(name),
            request=RunRequest(min_cycles=100_000),
            cancel=lambda: True,
        )


def test_the_numbers_of_kinds_and_traits_of_uops_are_those_of_the_model() -> None:
    numbers = dict(re.findall(r"^    ([A-Z_]+) = (\d+)", CONSTANTS.read_text("utf-8"), re.MULTILINE))
    for kind in UopKind:
        assert int(numbers[kind.name]) == kind.value, kind
    for trait in Trait:
        if f"{trait.name}_TRAIT" in numbers:
            assert int(numbers[f"{trait.name}_TRAIT"]) == trait.value, trait
    traits = {name.removesuffix("_TRAIT") for name in numbers if name.endswith("_TRAIT")}
    assert traits
    assert traits <= set(Trait.__members__)
