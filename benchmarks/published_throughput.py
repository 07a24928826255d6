"""Compares the throughput that uops.info publishes with the simulated one, for one form of each kind.

    python benchmarks/published_throughput.py instructions.xml.xz --arch SKL [--seconds 120] [--worst 40]

The published figures come from the file that the tables are made from, because the tables of Intel's cores
and of Zen 5 keep few of them. Forms with equal figures and operands count once. Omitted are forms without an
instance, those whose instances need code in front (masks of gathers), and those that the core has switched
off. A published figure may be that of a chain which the test could not break. Of the forms that are too
fast, those without a mark are silent: reports do not name their published throughput.
"""

from __future__ import annotations

import argparse
import lzma
import time
from collections.abc import Iterator
from pathlib import Path

from cyclelens.analyzer.characterizing.instances import EncodableVariant, breakers, variant
from cyclelens.analyzer.characterizing.machines import SimulatedMachine
from cyclelens.analyzer.characterizing.throughput import independent
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.facts.store import FactsStore, open_store
from cyclelens.analyzer.microarchitectures import caveats, registry
from cyclelens.analyzer.model.facts import InstructionFacts
from lxml import etree

TOLERANCE = 0.1
LONGEST = 400
"""Cycles from which a form is omitted: it waits for a device or causes an exit of a virtual machine."""
PUBLISHED_AS = {"ADL": "ADL-P", "SPR": "ADL-P", "MTL": "MTL-P", "GNR": "MTL-P"}
WITHOUT_512_BITS = ("ADL", "MTL", "ARL", "LNL")
_INSTANCES = (4, 12)
"""Numbers of instances, which are few, so that a core takes some minutes."""
_REPEATED = ("_REP", "_LOCK")


def published(path: Path, name: str) -> dict[str, float]:
    """Fewest published cycles of each form on a microarchitecture."""
    found = dict[str, float]()
    with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as file:
        for _, element in etree.iterparse(file, events=("end",), tag="instruction"):
            for measured in element.iterfind(f"architecture[@name='{name}']/measurement"):
                cycles = [float(measured.get(key, "0")) for key in ("TP_loop", "TP_unrolled")]
                if any(cycles):
                    found[element.get("string", "")] = min(filter(None, cycles))
            element.clear()
    return found


def kinds(store: FactsStore, core: str, figures: dict[str, float]) -> list[InstructionFacts]:
    """One form of each kind, the slowest first."""
    name = registry.get(core).facts_name
    every = {facts.name: facts for form in store.forms() for facts in store.candidates(name, form)}
    found = dict[object, InstructionFacts]()
    for facts in every.values():
        switched_off = core in WITHOUT_512_BITS and ("ZMM" in facts.name or ", K, " in facts.name)
        cycles = figures.get(facts.name, LONGEST)
        if cycles < LONGEST and not switched_off and not any(each in facts.name for each in _REPEATED):
            operands = tuple((each.kind, each.width, each.read, each.written) for each in facts.operands)
            found.setdefault((repr(facts.base), round(cycles, 1), operands), facts)
    return sorted(found.values(), key=lambda each: -figures[each.name])


def compared(
    store: FactsStore, core: str, figures: dict[str, float], seconds: float
) -> Iterator[tuple[float, float, str, bool]]:
    """Simulated and published cycles and the name of each form, and whether reports name a throughput that
    the figure falls short of; until the time is over."""
    model = registry.get(core)
    machine, matcher = SimulatedMachine(model, store, counted=False), Matcher(model.facts_name)
    end = time.monotonic() + seconds
    for facts in kinds(store, core, figures):
        if time.monotonic() > end:
            print(f"{core}: stopped at {facts.name}")
            return
        made = variant(facts, matcher, store)
        if not isinstance(made, EncodableVariant) or made.prepared:
            continue
        if found := simulated(machine, made):
            mnemonic = facts.name.split()[0].partition("_")[0].lower()
            remarks = (
                facts.base.published,
                caveats.decided_by(mnemonic),
                caveats.beyond_units(mnemonic, core),
                caveats.throughput_elsewhere(mnemonic, core),
            )
            yield min(found), figures[facts.name], facts.name, any(remarks)


def simulated(machine: SimulatedMachine, made: EncodableVariant) -> list[float]:
    """Cycles per instance, with and without code that breaks implicit chains."""
    found = list[float]()
    for extra in dict.fromkeys((b"", breakers(made, frozenset(), idioms=True))):
        for count in _INSTANCES:
            code = independent(made, count, extra)
            run = "" if code is None else machine.run(code + made.restoring())
            if not isinstance(run, str):
                found.append(run.cycles / count)
            elif run:
                print(f"   {made.facts.name}: {run}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("published", type=Path, help="instructions.xml of uops.info, plain or xz-compressed")
    parser.add_argument("--arch", action="append", required=True)
    parser.add_argument("--seconds", type=float, default=600, help="time per core")
    parser.add_argument("--worst", type=int, default=40, help="so many of each kind are listed")
    options = parser.parse_args()
    store = open_store()
    for core in options.arch:
        figures = published(options.published, PUBLISHED_AS.get(core, core))
        found = sorted(compared(store, core, figures, options.seconds), key=lambda each: each[0] / each[1])
        fast = [each for each in found if each[0] < (1 - TOLERANCE) * each[1]]
        slow = [each for each in reversed(found) if each[0] > (1 + TOLERANCE) * each[1]]
        silent = sum(not named for *_, named in fast)
        print(
            f"{core}: {len(found)} forms, {len(fast)} too fast ({silent} silent), {len(slow)} too slow "
            "(by more than 10 %)"
        )
        for simulated, measured, name, named in (*fast[: options.worst], *slow[: options.worst]):
            print(f"   {simulated:8.2f} instead of {measured:8.2f}  {name}{' (named)' * named}")


if __name__ == "__main__":
    main()
