"""What blocks the units of a simulated core, found once for all characterizers of it, and among fewer
instructions: finding it takes some fifty times as long as a variant. Skylake with counters tries all of them.
Machines that are more than simulated cores find their own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from cyclelens.analyzer.characterizing import characterize
from cyclelens.analyzer.characterizing.characterize import Characterizer
from cyclelens.analyzer.characterizing.machines import SimulatedMachine
from cyclelens.analyzer.characterizing.ports import LOAD, STORE, Blockers, pool
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.model.facts import InstructionFacts

OF_A_KIND = 2
"""Instructions that are tried of those with the same units in the same encoding."""


def few(store: FactsStore, microarchitecture: str) -> list[InstructionFacts]:
    """Of each kind in the pool those with the fewest dependences, and the accesses to memory."""
    kinds = defaultdict(list)
    for facts in pool(store, microarchitecture):
        if facts.base.uops == 1 or facts.name in (LOAD, STORE):
            vectors = any("MM" in "".join(each.registers) for each in facts.operands)
            kinds[facts.base.ports, facts.name.startswith("V"), vectors].append(facts)
    return [facts for kind in kinds.values() for facts in sorted(kind, key=_dependences)[:OF_A_KIND]]


def _dependences(facts: InstructionFacts) -> tuple[int, int]:
    read = sum(
        each.read and (each.written or each.kind == "flags" or len(each.registers) == 1)
        for each in facts.operands
    )
    return read, -min((len(each.registers) for each in facts.operands if each.kind == "reg"), default=0)


@contextmanager
def shared_blockers() -> Iterator[None]:
    """While the context lasts."""
    find = Characterizer._known_blockers
    known: dict[tuple[object, ...], tuple[Characterizer, Blockers]] = {}

    def found(self: Characterizer) -> Blockers:
        machine = self._machine
        with pytest.MonkeyPatch.context() as patch:
            if (self._model.name, getattr(machine, "_counted", False)) != ("SKL", True):
                patch.setattr(characterize, "pool", few)
            if type(machine) is not SimulatedMachine:
                return find(self)
            # Cores are compared as objects, which the first characterizer keeps.
            cores = (id(machine._model), id(self._model), machine._options, machine._counted)
            key = (*cores, str(self._store._path))
            if key not in known:
                known[key] = (self, find(self))
            return known[key][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Characterizer, "_known_blockers", found)
        yield
