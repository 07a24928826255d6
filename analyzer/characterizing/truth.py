"""Latencies of a simulated core as its uops have them, even where the tables differ.

The simulator takes most latencies from the tables. It has rules of its own for loads and stores, and for the
dependences between an instruction's uops (U3 to U11 of docs/pipeline.md). Where these differ from the tables,
a benchmark on the simulator shows the rules.
"""

from __future__ import annotations

from cyclelens.analyzer.characterizing.instances import ADDRESS, INDEX, variant
from cyclelens.analyzer.characterizing.latency import SAME_REGISTER, Pair
from cyclelens.analyzer.characterizing.links import BASE, CONTENTS, INDEXED
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.facts import InstructionFacts, OperandFacts
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import UopTemplate, Value, ValueKind
from cyclelens.analyzer.uops.block import build_block
from cyclelens.analyzer.uops.registers import canonical


class SimulatedLatencies:
    """Latencies of one simulated core."""

    def __init__(self, model: Microarchitecture, store: FactsStore) -> None:
        self._model, self._store = model, store
        self._matcher = Matcher(model.facts_name)

    def of(self, facts: InstructionFacts, pair: Pair) -> int | None:
        """Cycles from source to destination; None where the uops alone do not determine them."""
        source, target, part = pair
        found = variant(facts, self._matcher, self._store)
        if isinstance(found, str) or part in (SAME_REGISTER, CONTENTS):
            return None
        chosen = found.choose() or {}
        code = found.encode(chosen, indexed=part == INDEXED)
        operands = {each.index: each for each in facts.operands}
        if code is None or operands[target].kind == "mem":
            return None
        block = build_block(decode(code), self._model, self._store, loop=True)
        uops = block.instructions[0].uops
        paths = [
            cycles
            for begin in _values(operands[source], chosen, part)
            for end in _values(operands[target], chosen, "")
            if (cycles := _longest(uops, begin, end)) is not None
        ]
        return max(paths, default=None)


def _values(operand: OperandFacts, chosen: dict[int, str], part: str) -> list[Value]:
    if operand.kind == "flags":
        return [(ValueKind.FLAGS, "C"), (ValueKind.FLAGS, "SPAZO")]
    if part in (BASE, INDEXED):
        return [(ValueKind.REGISTER, ADDRESS if part == BASE else INDEX)]
    return [(ValueKind.REGISTER, canonical(chosen[operand.index]))]


def _longest(uops: tuple[UopTemplate, ...], begin: Value, end: Value) -> int | None:
    """Cycles of the longest path from a value that the instruction reads to one that it writes."""
    ready: dict[Value, int] = {}
    result = None
    for uop in uops:
        starts = [ready[value] for value in uop.inputs if value in ready]
        starts += [0] * (begin in uop.inputs)
        if not starts:
            continue
        for value, latency in uop.outputs:
            # A uop is dispatched at least one cycle after its producer, even if the tables say less.
            cycles = max(starts) + max(latency, 1)
            if value[0] == ValueKind.INTERNAL:
                ready[value] = cycles
            elif value == end:
                result = cycles
    return result
