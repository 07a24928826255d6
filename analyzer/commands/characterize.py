"""``cyclelens characterize``: instruction tables from microbenchmarks, on any machine."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cyclelens.analyzer.commands.common import OK, InputError, new_parser

if TYPE_CHECKING:
    from cyclelens.analyzer.characterizing.comparison import Comparison, Score
    from cyclelens.analyzer.characterizing.machines import Machine
    from cyclelens.analyzer.facts.store import FactsStore
    from cyclelens.analyzer.model.facts import InstructionFacts
    from cyclelens.analyzer.model.microarchitecture import Microarchitecture

_SIMULATED = "sim:"
_NATIVE = "native"


def main(arguments: list[str]) -> int:
    """Find out what variants do, write it, and compare it with the tables."""
    parser = new_parser(
        "characterize",
        "Find the latency, throughput, uops and ports of instructions by microbenchmarks, and compare them "
        "with the tables. The variants are those of the tables whose operands are registers and immediates.",
    )
    parser.add_argument(
        "--machine",
        default=_NATIVE,
        metavar="native|sim:SKL",
        help="this machine, by cyclelens measure (default), or the simulator of a core",
    )
    parser.add_argument("--forms", type=_pattern, metavar="REGEX", help="only variants whose name matches")
    parser.add_argument("--extension", metavar="AVX2", help="only variants of this extension")
    parser.add_argument(
        "--tables",
        metavar="NAME",
        help="the microarchitecture whose tables say which variants there are, and are compared with "
        "(default: the machine's own)",
    )
    parser.add_argument("--output", type=Path, metavar="FILE.xml", help="write a table there")
    options = parser.parse_args(arguments)

    from cyclelens.analyzer.characterizing.characterize import characterize
    from cyclelens.analyzer.characterizing.comparison import Comparison
    from cyclelens.analyzer.characterizing.ports import pool
    from cyclelens.analyzer.characterizing.table import xml
    from cyclelens.analyzer.facts.store import TablesUnavailable, open_store
    from tqdm import tqdm

    try:
        store = open_store()
    except TablesUnavailable as error:
        raise InputError(error) from None
    model = _model(options)
    wanted = list(_wanted(store, model, options))
    if not wanted:
        raise InputError(f"no variant in the tables of {model.facts_name} is wanted")
    comparison, rows = Comparison(model), []
    with _machine(options.machine, model, store) as machine:
        progress = tqdm(wanted, unit=" variants", disable=None)
        for row in characterize(machine, store, model.facts_name, progress, pool(store, model.facts_name)):
            rows.append(row)
            comparison.add(row)
    if options.output is not None:
        options.output.write_text("\n".join(xml(rows, options.machine)) + "\n", encoding="utf-8")
    missing = Counter(row.problem for row in rows if row.problem)
    print(f"{len(rows) - sum(missing.values())} of {len(rows)} variants characterised on {options.machine}")
    for problem, count in missing.most_common():
        print(f"   {count:5} not: {problem}")
    for line in _compared(comparison, model):
        print(line)
    return OK


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {error}") from None


def _model(options: argparse.Namespace) -> Microarchitecture:
    """The core whose tables are used."""
    from cyclelens.analyzer.microarchitectures import registry

    simulated = options.machine.startswith(_SIMULATED)
    if not simulated and options.machine != _NATIVE:
        raise InputError(f"--machine: '{options.machine}' is neither native nor sim:NAME")
    own = options.machine.removeprefix(_SIMULATED) if simulated else _NATIVE
    try:
        return registry.get(options.tables or own)
    except registry.UnknownMicroarchitecture as error:
        hint = "" if simulated or options.tables else "; --tables NAME takes the variants of another core"
        raise InputError(f"{error}{hint}") from None


@contextmanager
def _machine(name: str, model: Microarchitecture, store: FactsStore) -> Iterator[Machine]:
    from cyclelens.analyzer.characterizing.machines import MeasuredMachine, SimulatedMachine
    from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness
    from cyclelens.analyzer.microarchitectures import registry

    if name.startswith(_SIMULATED):
        try:
            simulated = registry.get(name.removeprefix(_SIMULATED))
        except registry.UnknownMicroarchitecture as error:
            raise InputError(str(error)) from None
        yield SimulatedMachine(simulated, store)
        return
    try:
        with Harness(pages="shared") as harness:
            yield MeasuredMachine(harness)
    except CannotMeasure as error:
        raise InputError(f"nothing can be measured here: {error}") from None


def _wanted(
    store: FactsStore, model: Microarchitecture, options: argparse.Namespace
) -> Iterator[InstructionFacts]:
    for form in store.forms():
        for facts in store.candidates(model.facts_name, form):
            if options.extension not in (None, facts.extension):
                continue
            if options.forms is None or options.forms.search(facts.name):
                yield facts


def _compared(comparison: Comparison, model: Microarchitecture) -> Iterator[str]:
    def line(what: str, score: Score) -> str:
        return f"   {what:12} {score}"

    yield f"Equal to the tables of {model.name}:"
    yield line("latencies", comparison.latencies)
    yield line("uops", comparison.uops)
    yield line("ports", comparison.ports)
    for each in comparison.differences:
        yield f"   {each.name}: {each.what} {each.found}, in the tables {each.table}"
