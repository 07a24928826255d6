"""``cyclelens characterize``: measures instruction tables by microbenchmarks, on any machine."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cyclelens.analyzer.common import temporary
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.regular_files import AT_ONCE, read_given
from cyclelens.analyzer.common.usage import OK, new_parser, output_path

if TYPE_CHECKING:
    from cyclelens.analyzer.characterizing.between_tables import CoreRecords
    from cyclelens.analyzer.characterizing.characterize import VariantRow
    from cyclelens.analyzer.characterizing.comparison import Score, TableComparison
    from cyclelens.analyzer.characterizing.machines import Machine, RememberedMachine
    from cyclelens.analyzer.facts.store import FactsStore
    from cyclelens.analyzer.model.facts import InstructionFacts
    from cyclelens.analyzer.model.microarchitecture import Microarchitecture
    from cyclelens.analyzer.model.options import ModelOptions

_NUMBER = re.compile(r"\d+(\.\d+)?")
_SIMULATED = "sim:"
_NATIVE = "native"


def main(arguments: list[str]) -> int:
    """Characterise variants, write the table, and compare it with the known ones."""
    parser = new_parser(
        "characterize",
        "Find the latency, throughput, uops and ports of instructions by microbenchmarks, and compare them "
        "with the tables. Every variant of an instruction that the tables list can be measured.",
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
        "--blocks",
        type=Path,
        metavar="FILE",
        help="only variants that occur in these blocks, one per line in hexadecimal; the most frequent first",
    )
    parser.add_argument(
        "--missing",
        metavar="FILE",
        help="measure what the regions of this file (assembly or ELF) have and the tables lack, and add it "
        "to those of --data",
    )
    parser.add_argument("--most", type=_number, metavar="N", help="only the first N variants")
    parser.add_argument(
        "--tables",
        metavar="NAME",
        help="the microarchitecture whose tables list the variants and are compared "
        "(default: the machine's own)",
    )
    parser.add_argument(
        "--output",
        type=output_path,
        metavar="FILE.xml",
        help="write a table to this file; FILE.xml.runs keeps the runs so far, and an interrupted command "
        "resumes from it",
    )
    parser.add_argument(
        "--core",
        action="store_true",
        help="measure the core's width and buffer sizes instead, and compare them with its model",
    )
    parser.add_argument(
        "--memory",
        action="store_true",
        help="measure the levels of this machine's memory instead: bandwidths and latencies; "
        "--output FILE.toml writes what --machine-file takes",
    )
    parser.add_argument(
        "--compare",
        nargs=2,
        metavar=("A", "B"),
        help="run nothing: compare two tables, each a microarchitecture (SKL) or a file (skl.xml)",
    )
    options = parser.parse_args(arguments)
    if options.compare is not None:
        return _compare(options)
    if options.memory:
        from cyclelens.analyzer.cli import characterize_memory

        if options.machine != _NATIVE:
            raise InputError("--memory measures this machine: a simulator has no levels of memory")
        return characterize_memory.run(options.output)

    if options.missing is not None:
        from cyclelens.analyzer.cli import missing_figures

        model = _model(options)
        return missing_figures.run(
            options.missing, model, lambda store: _machine(options.machine, model, store)
        )

    from cyclelens.analyzer.characterizing.characterize import Characterizer
    from cyclelens.analyzer.characterizing.comparison import TableComparison
    from cyclelens.analyzer.characterizing.truth import SimulatedLatencies
    from cyclelens.analyzer.facts.store import TablesUnavailable, open_store
    from tqdm import tqdm

    try:
        store = open_store()
    except TablesUnavailable as error:
        raise InputError(error) from None
    model = _model(options)
    if options.core:
        return _core(options.machine, model, store)
    wanted = list(_wanted(store, model, options))[: options.most]
    if not wanted:
        raise InputError(f"no variant in the tables of {model.facts_name} matches the options")
    simulated = options.machine.startswith(_SIMULATED)
    comparison = TableComparison(model, SimulatedLatencies(model, store) if simulated else None)
    rows = []
    with (
        _machine(options.machine, model, store) as machine,
        _remembered(machine, options.output) as remembered,
    ):
        characterizer = Characterizer(remembered or machine, store, model)
        for facts in tqdm(wanted, unit=" variants", disable=None):
            row = characterizer.row(facts)
            rows.append(row)
            comparison.add(row)
    if options.output is not None:
        _write(options.output, rows, model, keep=bool(remembered and remembered.busy))
    for line in _report(rows, options.machine):
        print(line)
    if remembered and remembered.busy:
        print(
            f"   {remembered.busy:5} codes could not be measured because the machine was busy; "
            "run the command again to retry them"
        )
    for line in _compared(comparison, model):
        print(line)
    return OK


def _core(name: str, model: Microarchitecture, store: FactsStore) -> int:
    from cyclelens.analyzer.characterizing.mispredictions import penalty
    from cyclelens.analyzer.characterizing.sizes import sizes
    from cyclelens.analyzer.model.options import ModelOptions

    with _machine(name, model, store, ModelOptions(resources=True)) as machine:
        print(f"{'':20} {name:>12} {model.name + ' (model)':>14}")
        for size in sizes(machine):
            found = "" if size.found is None else size.found
            print(f"{size.title:20} {found:>12} {_known(model, size.field):>14}  {size.problem}".rstrip())
        cost, known = penalty(machine), model.misprediction_penalty
        shown = [
            "" if cost.cycles is None else f"{cost.cycles:.1f}",
            "not known" if known is None else f"{known:g}",
        ]
        print(f"{'misprediction, cycles':20} {shown[0]:>11} {shown[1]:>14}  {cost.problem}".rstrip())
    return OK


def _known(model: Microarchitecture, field: str) -> str:
    """The model's value for a size."""
    from cyclelens.analyzer.characterizing.sizes import known_size

    known = known_size(model, field)
    if known is not None:
        return str(known)
    return "no limit" if model.macro_ops is not None and getattr(model, field) else "not known"


def _compare(options: argparse.Namespace) -> int:
    one, other = options.compare
    from cyclelens.analyzer.characterizing.between_tables import compare

    with _table(one) as first, _table(other) as second:
        classes, differences = compare(first, second)
    print(f"{one} beside {other}")
    print(f"   {'':18} {'variants':>8}  {'uops':24} {'ports':24} latencies")
    for name, found in classes.items():
        print(f"   {name:18} {found.variants:8}  {found.uops!s:24} {found.ports!s:24} {found.latencies}")
    shown = [each for each in differences if options.forms is None or options.forms.search(each.name)]
    for each in shown[: options.most]:
        print(f"   {each.name}: {each.what} {each.found}, {other}: {each.table}")
    return OK


@contextmanager
def _table(name: str) -> Iterator[CoreRecords]:
    """The tables of a microarchitecture, or those of a file, imported temporarily."""
    from cyclelens.analyzer.characterizing.between_tables import CoreRecords
    from cyclelens.analyzer.facts.importer import ImportProblem, import_tables
    from cyclelens.analyzer.facts.store import TablesUnavailable, open_store
    from cyclelens.analyzer.microarchitectures import registry

    try:
        if not name.lower().endswith((".xml", ".xml.xz")):
            yield CoreRecords(open_store(), registry.get(name).facts_name)
            return
        with temporary.folder() as folder:
            tables = Path(folder) / "tables.sqlite"
            (microarchitecture, *more) = import_tables(Path(name), tables).microarchitectures
            if more:
                raise InputError(f"{name} contains several microarchitectures: import it, and name one")
            store = open_store(tables)
            try:
                yield CoreRecords(store, microarchitecture)
            finally:
                store.close()
    except (ImportProblem, TablesUnavailable, registry.UnknownMicroarchitecture) as error:
        raise InputError(str(error)) from None


@contextmanager
def _remembered(machine: Machine, output: Path | None) -> Iterator[RememberedMachine | None]:
    """The machine with its answers saved beside the output until that is written; None without output."""
    from cyclelens.analyzer.characterizing.machines import RememberedMachine

    if output is None:
        yield None
        return
    remembered = RememberedMachine(machine, _runs(output))
    try:
        yield remembered
    finally:
        remembered.close()


def _runs(output: Path) -> Path:
    return output.with_name(f"{output.name}.runs")


def _write(output: Path, rows: list[VariantRow], model: Microarchitecture, *, keep: bool) -> None:
    from cyclelens.analyzer.characterizing.table import xml

    output.write_text("\n".join(xml(rows, model)) + "\n", encoding="utf-8")
    if not keep:
        _runs(output).unlink()


def _report(rows: list[VariantRow], machine: str) -> Iterator[str]:
    """How many variants were characterised, and why the others were not."""
    missing = Counter(row.problem for row in rows if row.problem)
    yield f"{len(rows) - sum(missing.values())} of {len(rows)} variants characterised on {machine}"
    uncertain = Counter(
        _NUMBER.sub("N", found.problem)
        for row in rows
        for found in row.latencies.values()
        if found.cycles is None
    )
    uncertain.update(
        "whether one decoder takes it or any"
        for row in rows
        if row.front_end.slots is not None and row.front_end.complex_decoder is None
    )
    uncertain.update(_NUMBER.sub("N", row.ports_problem) for row in rows if row.ports_problem)
    for what, problems in (("not", missing), ("uncertain", uncertain)):
        for problem, count in problems.most_common():
            yield f"   {count:5} {what}: {problem}"
    for idiom, count in Counter(row.idiom for row in rows if row.idiom is not None).most_common():
        yield f"   {count:5} {idiom}s"
    bypasses = (found.bypass for row in rows for found in row.latencies.values())
    for bypass, count in Counter(str(each) for each in bypasses if each is not None).most_common():
        yield f"   {count:5} latencies with a {bypass}"
    fronts = [row.front_end for row in rows]
    for what, number in (
        ("micro-fused", sum(_fused(row) for row in rows)),
        ("for one of the decoders only", sum(bool(each.complex_decoder) for each in fronts)),
        ("microcoded", sum(bool(each.microcode) for each in fronts)),
        ("macro-fused with a jump", sum(bool(each.fuses_with) for each in fronts)),
    ):
        if number:
            yield f"   {number:5} {what}"


def _fused(row: VariantRow) -> bool:
    """Whether it has fewer slots than uops."""
    slots = row.front_end.slots
    return slots is not None and row.uops is not None and slots < round(row.uops)


def _number(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number")
    return int(text)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a regular expression: {error}") from None


def _model(options: argparse.Namespace) -> Microarchitecture:
    """The core whose tables are used. Raises InputError."""
    from cyclelens.analyzer.microarchitectures import registry

    simulated = options.machine.startswith(_SIMULATED)
    if not simulated and options.machine != _NATIVE:
        raise InputError(f"--machine: '{options.machine}' is neither native nor sim:NAME")
    own = options.machine.removeprefix(_SIMULATED) if simulated else _NATIVE
    try:
        return registry.get(options.tables or own)
    except registry.UnknownMicroarchitecture as error:
        hint = "" if simulated or options.tables else "; --tables NAME uses the variants of another core"
        raise InputError(f"{error}{hint}") from None


@contextmanager
def _machine(
    name: str, model: Microarchitecture, store: FactsStore, options: ModelOptions | None = None
) -> Iterator[Machine]:
    from cyclelens.analyzer.characterizing.machines import SimulatedMachine, opened
    from cyclelens.analyzer.measuring.harness import CannotMeasure
    from cyclelens.analyzer.microarchitectures import registry
    from cyclelens.analyzer.model.options import PUBLISHED

    if name.startswith(_SIMULATED):
        try:
            simulated = registry.get(name.removeprefix(_SIMULATED))
        except registry.UnknownMicroarchitecture as error:
            raise InputError(str(error)) from None
        yield SimulatedMachine(simulated, store, options or PUBLISHED)
        return
    try:
        own = registry.get(_NATIVE)
    except registry.UnknownMicroarchitecture:
        own = None  # the meaning of its counters is unknown, too
    try:
        with opened(own) as machine:
            yield machine
    except CannotMeasure as error:
        raise InputError(f"nothing can be measured here: {error}") from None


def _wanted(
    store: FactsStore, model: Microarchitecture, options: argparse.Namespace
) -> Iterator[InstructionFacts]:
    for facts in _all(store, model) if options.blocks is None else _of_blocks(options.blocks, store, model):
        if options.extension not in (None, facts.extension):
            continue
        if options.forms is None or options.forms.search(facts.name):
            yield facts


def _all(store: FactsStore, model: Microarchitecture) -> Iterator[InstructionFacts]:
    for form in store.forms():
        yield from store.candidates(model.facts_name, form)


def _of_blocks(file: Path, store: FactsStore, model: Microarchitecture) -> Iterator[InstructionFacts]:
    """The variants in a file of blocks, most frequent first. Raises InputError."""
    from cyclelens.analyzer.facts.matching import Matcher
    from cyclelens.analyzer.isa.decoder import decode

    try:
        lines = read_given(file, AT_ONCE).decode("ascii").split()
        blocks = [decode(bytes.fromhex(line)) for line in lines]
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise InputError(f"{file}: {error}") from None
    matcher, found = Matcher(model.facts_name), Counter[str]()
    by_name = {}
    for block in blocks:
        for instruction in block:
            facts = matcher.find(instruction, store)
            if facts is not None:
                by_name[facts.name] = facts
                found[facts.name] += 1
    for name, _ in found.most_common():
        yield by_name[name]


def _compared(comparison: TableComparison, model: Microarchitecture) -> Iterator[str]:
    def line(what: str, score: Score) -> str:
        return f"   {what:12} {score}"

    yield f"Equal to the tables of {model.name}:"
    yield line("latencies", comparison.latencies)
    yield line("throughput", comparison.throughput)
    yield line("uops", comparison.uops)
    yield line("ports", comparison.ports)
    yield line("slots", comparison.slots)
    yield line("decoders", comparison.decoders)
    yield line("fusing jumps", comparison.jumps)
    yield line("one register", comparison.same_register)
    for each in comparison.differences:
        yield f"   {each.name}: {each.what} {each.found}, in the tables {each.table}"
