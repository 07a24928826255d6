"""The tables of memory levels: every value has a source, and levels grow with the distance from the core."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.memory_levels import levels_of
from cyclelens.analyzer.model.memory_levels import LevelParameter, MemoryLevels
from cyclelens.analyzer.model.provenance import Certainty

TABLES = {name: found for name in registry.names() if (found := levels_of(name)) is not None}
CORES = pytest.mark.parametrize(("core", "levels"), TABLES.items(), ids=list(TABLES))


def parameters(levels: MemoryLevels) -> list[LevelParameter]:
    values = (getattr(level, name) for level in levels.levels for name in level.__struct_fields__)
    return [value for value in values if isinstance(value, LevelParameter)]


def test_the_cores_with_levels() -> None:
    intel = {"SNB", "HSW", "SKL", "SKX", "KBL", "CFL", "CLX", "ICL"}
    assert set(TABLES) == intel | {"ZEN2", "ZEN3", "ZEN4", "ZEN5"}


@CORES
def test_every_value_names_its_source(core: str, levels: MemoryLevels) -> None:
    for value in parameters(levels):
        assert value.value > 0
        assert value.source.certainty in (Certainty.MEASURED, Certainty.PUBLISHED, Certainty.INFERRED)
        assert value.source.text


@CORES
def test_levels_grow_and_slow_down_with_the_distance(core: str, levels: MemoryLevels) -> None:
    assert levels.names == ("L1", "L2", "L3", "memory")
    for name in ("size", "latency"):
        found = [getattr(level, name).value for level in levels.levels if getattr(level, name) is not None]
        assert found == sorted(found)
    _, l2, l3, _ = levels.levels
    assert l2.load is not None
    assert l3.load is None or l2.load.value <= l3.load.value


@CORES
def test_a_working_set_is_in_the_nearest_level_that_holds_it(core: str, levels: MemoryLevels) -> None:
    first = levels.levels[0].size
    assert first is not None
    assert levels.holding(int(first.value)) == "L1"
    assert levels.holding(int(first.value) + 1) == "L2"
    assert levels.holding(1 << 40) == "memory"


def test_an_unknown_core_has_no_levels() -> None:
    assert levels_of("GNR") is None
