"""``cyclelens characterize --missing FILE``: measures what has no figures, for tables of one's own."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from cyclelens.analyzer.cli.common import add_analysis_arguments, analyze_file
from cyclelens.analyzer.common import temporary
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.own_tables import OWN_TABLES
from cyclelens.analyzer.common.usage import OK, PROBLEMS

if TYPE_CHECKING:
    from cyclelens.analyzer.characterizing.characterize import VariantRow
    from cyclelens.analyzer.characterizing.machines import Machine
    from cyclelens.analyzer.facts.store import FactsStore
    from cyclelens.analyzer.model.instruction import Instruction
    from cyclelens.analyzer.model.microarchitecture import Microarchitecture

Opened = Callable[["FactsStore"], AbstractContextManager["Machine"]]
"""Opens the machine, given the tables."""


def run(file: str, model: Microarchitecture, opened: Opened) -> int:
    """Measure the instructions of a file's regions that the tables lack, and merge what was found into the
    tables of ``--data``, which begin as a copy of the shipped ones. Returns 1 if a figure is still missing.
    Raises InputError."""
    from cyclelens.analyzer.characterizing.characterize import Characterizer
    from cyclelens.analyzer.characterizing.missing import lacking
    from cyclelens.analyzer.facts.store import TablesUnavailable, open_store, shipped_tables

    own = os.environ.get(OWN_TABLES)
    if not own:
        raise InputError("--missing adds to tables of your own: name them with --data own.sqlite")
    try:
        if not Path(own).exists():
            os.environ[OWN_TABLES] = ""
        instructions = list(_instructions(file, model))
        store = open_store(own if Path(own).exists() else shipped_tables())
        found = lacking(instructions, model.facts_name, store)
        for mnemonic, why in found.unknown.items():
            print(f"   {mnemonic}: not measured: {why}")
        if not found.described:
            print(f"{file}: {model.name} has figures for all {'other ' * bool(found.unknown)}instructions")
            return PROBLEMS if found.unknown else OK
        with opened(store) as machine:
            characterizer = Characterizer(machine, store, model)
            rows = [characterizer.row(facts, described) for facts, described in found.described]
    except TablesUnavailable as error:
        raise InputError(error) from None
    finally:
        os.environ[OWN_TABLES] = own
    for row in rows:
        print(f"   {row.facts.name}: {_said(row)}")
    measured = [row for row in rows if not row.problem]
    left_out = _merge(measured, model, Path(own)) if measured else ()
    for name in left_out:
        print(f"   {name}: left out, because it is not known which units execute it")
    added = len(measured) - len(left_out)
    if added:
        forms = "form" if added == 1 else "forms"
        print(f"{added} {forms} of {model.name} added to {own}; --data {own} uses them in every command")
    return OK if added == len(rows) and not found.unknown else PROBLEMS


def _instructions(file: str, model: Microarchitecture) -> Iterator[Instruction]:
    """The instructions of all regions of a file. Raises InputError."""
    parser = argparse.ArgumentParser()
    add_analysis_arguments(parser)
    options = parser.parse_args([f"--arch={model.name}", "--", file])
    options.core_in_report = options.core_is_said = True
    for region in analyze_file(options).regions:
        yield from region.region.instructions


def _said(row: VariantRow) -> str:
    """The figures of a row in words."""
    if row.problem or row.cycles is None:
        return f"not measured: {row.problem or 'no figure'}"
    cycles = [latency.cycles for latency in row.latencies.values() if latency.cycles is not None]
    latency = f", latency {min(cycles)} to {max(cycles)}" if cycles else ""
    return f"throughput {row.cycles:.2f} cycles{latency}"


def _merge(rows: list[VariantRow], model: Microarchitecture, own: Path) -> tuple[str, ...]:
    """Add rows to the tables; returns the forms that were left out. Raises InputError."""
    from cyclelens.analyzer.characterizing.table import xml
    from cyclelens.analyzer.cli.import_tables import run_import
    from cyclelens.analyzer.facts.importer import ImportProblem

    with temporary.folder() as folder:
        file = Path(folder) / "found.xml"
        file.write_text("\n".join(xml(rows, model)) + "\n", encoding="utf-8")
        try:
            return run_import(file, own, merge=True).without_units
        except ImportProblem as error:
            raise InputError(error) from None
