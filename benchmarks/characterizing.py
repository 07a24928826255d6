"""How often `cyclelens characterize` finds the tables of simulated cores, without noise and with it.

    python benchmarks/characterizing.py BLOCKS --arch HSW --arch SKL

BLOCKS: blocks of machine code in hexadecimal, one per line. Half of the variants are the most frequent in
them; the others come from every class (extension and category) in turn, the most frequent of each first.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain, islice, zip_longest
from pathlib import Path

from cyclelens.analyzer.characterizing.characterize import Characterizer, VariantRow
from cyclelens.analyzer.characterizing.comparison import TableComparison
from cyclelens.analyzer.characterizing.machines import (
    ALL_THE_SAME,
    Machine,
    RepeatedRun,
    SimulatedMachine,
    Start,
)
from cyclelens.analyzer.characterizing.truth import SimulatedLatencies
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.facts.store import FactsStore, open_store
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.facts import InstructionFacts
from msgspec.structs import replace


class Noisy:
    """A machine whose clock has an error of up to ``share`` of the cycles."""

    def __init__(self, machine: Machine, share: float) -> None:
        self._machine, self._share, self._random = machine, share, random.Random(3)

    def run(self, code: bytes, start: Start = ALL_THE_SAME) -> RepeatedRun | str:
        """Run the code; cycles have the error, counts are exact."""
        return self._off(self._machine.run(code, start))

    def straight(self, code: bytes) -> RepeatedRun | str:
        """As ``run``."""
        return self._off(self._machine.straight(code))

    def _off(self, run: RepeatedRun | str) -> RepeatedRun | str:
        if isinstance(run, str):
            return run
        return replace(run, cycles=run.cycles * (1 + self._random.uniform(-self._share, self._share)))


def chosen(store: FactsStore, name: str, file: Path, most: int) -> list[InstructionFacts]:
    """Select variants by frequency and by class."""
    matcher, found = Matcher(name), Counter[str]()
    every = {facts.name: facts for form in store.forms() for facts in store.candidates(name, form)}
    for line in file.read_text(encoding="ascii").split():
        for instruction in decode(bytes.fromhex(line)):
            facts = matcher.find(instruction, store)
            if facts is not None:
                found[facts.name] += 1
    by_frequency = [every[each] for each, _ in found.most_common()]
    first = by_frequency[: most // 2]
    classes = defaultdict[tuple[str, str], list[InstructionFacts]](list)
    rest = {facts.name: facts for facts in chain(by_frequency, every.values())}
    for facts in rest.values():
        if facts not in first:
            classes[facts.extension, facts.category].append(facts)
    turns: Iterator[InstructionFacts | None] = chain.from_iterable(zip_longest(*classes.values()))
    return first + list(islice((each for each in turns if each is not None), most - len(first)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("blocks", type=Path)
    parser.add_argument("--arch", action="append", required=True)
    parser.add_argument("--most", type=int, default=600)
    parser.add_argument("--noise", type=float, default=2.0, help="percent")
    options = parser.parse_args()
    store = open_store()
    for name in options.arch:
        model = registry.get(name)
        machine = SimulatedMachine(model, store)
        wanted = chosen(store, model.facts_name, options.blocks, options.most)
        for title, other in (
            ("exact", machine),
            (f"{options.noise} % noise", Noisy(machine, options.noise / 100)),
            ("cycles alone", SimulatedMachine(model, store, counted=False)),
        ):
            report(
                name,
                title,
                TableComparison(model, SimulatedLatencies(model, store)),
                rows(other, store, name, wanted),
            )


def rows(
    machine: Machine, store: FactsStore, name: str, wanted: list[InstructionFacts]
) -> Iterator[VariantRow]:
    """Characterize each variant."""
    characterizer = Characterizer(machine, store, registry.get(name))
    return map(characterizer.row, wanted)


def report(name: str, title: str, comparison: TableComparison, found: Iterator[VariantRow]) -> None:
    """Print a line of scores, then the missing variants and every difference."""
    missing, unknown = Counter[str](), []
    for row in found:
        comparison.add(row)
        missing[row.problem] += 1
        if row.ports_problem:
            unknown.append(f"{row.facts.name}: {row.ports_problem}")
    print(f"{name}, {title}: {missing['']} of {missing.total()} variants")
    for what in ("latencies", "uops", "ports", "slots", "decoders", "jumps", "throughput"):
        print(f"   {what:10} {getattr(comparison, what)}")
    for problem, count in missing.items():
        if problem:
            print(f"   {count:5} {problem}")
    print(f"   ports of {len(unknown)} not found:")
    for line in unknown:
        print(f"      {line}")
    for each in comparison.differences:
        if each.what != "throughput":
            print(f"      {each.name}: {each.what} {each.found}, in the tables {each.table}")


if __name__ == "__main__":
    main()
