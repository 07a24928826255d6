"""Compares the measured throughput of every form on AMD's cores with the simulated one.

    python benchmarks/amd_throughput.py --arch ZEN3 [--every 10] [--worst 40]

The measured figures come from the tables. The benchmark simulates independent instances, as `cyclelens
characterize` makes them; forms without an instance are counted and omitted.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from cyclelens.analyzer.characterizing.instances import EncodableVariant, variant
from cyclelens.analyzer.characterizing.machines import SimulatedMachine
from cyclelens.analyzer.characterizing.throughput import throughput
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.facts.store import FactsStore, open_store
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.facts import InstructionFacts
from msgspec import Struct

CORES = ("ZEN+", "ZEN2", "ZEN3", "ZEN4")
TOLERANCE = 0.06


class Form(Struct, frozen=True):
    """A form with its measured and simulated cycles per instance."""

    name: str
    measured: float
    simulated: float

    @property
    def ratio(self) -> float:
        """Simulated cycles per measured cycle; below 1 is too fast."""
        return self.simulated / self.measured


def measured_forms(store: FactsStore, core: str) -> list[InstructionFacts]:
    """Forms with a measured throughput on a core."""
    name = registry.get(core).facts_name
    every = {facts.name: facts for form in store.forms() for facts in store.candidates(name, form)}
    return [facts for facts in every.values() if facts.base.throughput]


def simulated(store: FactsStore, core: str, forms: list[InstructionFacts]) -> Iterator[Form]:
    """Simulate the forms that have instances."""
    model = registry.get(core)
    machine = SimulatedMachine(model, store, counted=False)
    matcher = Matcher(model.facts_name)
    for facts in forms:
        made = variant(facts, matcher, store)
        run = throughput(machine, made) if isinstance(made, EncodableVariant) else made
        if not isinstance(run, str) and facts.base.throughput:
            yield Form(facts.name, facts.base.throughput, run.cycles)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--arch", action="append", choices=CORES)
    parser.add_argument("--every", type=int, default=1, help="only one form of so many")
    parser.add_argument("--worst", type=int, default=0, help="so many of each kind are listed")
    options = parser.parse_args()
    store = open_store()
    print("core   forms  simulated  too fast  of these a cycle and more  too slow   (by more than 6 %)")
    for core in options.arch or CORES:
        forms = measured_forms(store, core)[:: options.every]
        found = sorted(simulated(store, core, forms), key=lambda each: each.ratio)
        fast = [each for each in found if each.ratio < 1 - TOLERANCE]
        slow = [each for each in reversed(found) if each.ratio > 1 + TOLERANCE]
        long = sum(each.measured >= 1 for each in fast)
        print(f"{core:5} {len(forms):6} {len(found):10} {len(fast):9} {long:26} {len(slow):9}")
        for each in (*fast[: options.worst], *slow[: options.worst]):
            print(f"   {each.simulated:8.2f} instead of {each.measured:8.2f}  {each.name}")


if __name__ == "__main__":
    main()
