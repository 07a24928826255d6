"""``cyclelens characterize --missing FILE``: measures what has no figures, for tables of one's own."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cyclelens.analyzer.cli.common import add_analysis_arguments, analyze_file
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.own_tables import OWN_TABLES
from cyclelens.analyzer.common.usage import OK, PROBLEMS

if TYPE_CHECKING:
    from cyclelens.analyzer.characterizing.own_figures import Opened
    from cyclelens.analyzer.model.instruction import Instruction
    from cyclelens.analyzer.model.microarchitecture import Microarchitecture


def run(file: str, model: Microarchitecture, opened: Opened) -> int:
    """Measure the instructions of a file's regions that the tables lack, and merge what was found into the
    tables of ``--data``, which begin as a copy of the shipped ones. Returns 1 if a figure is still missing.
    Raises InputError."""
    from cyclelens.analyzer.characterizing.own_figures import add_figures, said
    from cyclelens.analyzer.facts.importer import ImportProblem
    from cyclelens.analyzer.facts.store import TablesUnavailable

    own = os.environ.get(OWN_TABLES)
    if not own:
        raise InputError("--missing adds to tables of your own: name them with --data own.sqlite")
    try:
        if not Path(own).exists():
            os.environ[OWN_TABLES] = ""
        found = add_figures(list(_instructions(file, model)), model, Path(own), opened)
    except (TablesUnavailable, ImportProblem) as error:
        raise InputError(error) from None
    finally:
        os.environ[OWN_TABLES] = own
    for mnemonic, why in found.unknown.items():
        print(f"   {mnemonic}: not measured: {why}")
    if not found.rows:
        print(f"{file}: {model.name} has figures for all {'other ' * bool(found.unknown)}instructions")
    for row in found.rows:
        print(f"   {row.facts.name}: {said(row)}")
    for name in found.left_out:
        print(f"   {name}: left out, because it is not known which units execute it")
    if added := len(found.added):
        forms = "form" if added == 1 else "forms"
        print(f"{added} {forms} of {model.name} added to {own}; --data {own} uses them in every command")
    return OK if found.complete else PROBLEMS


def _instructions(file: str, model: Microarchitecture) -> Iterator[Instruction]:
    """The instructions of all regions of a file. Raises InputError."""
    parser = argparse.ArgumentParser()
    add_analysis_arguments(parser)
    options = parser.parse_args([f"--arch={model.name}", "--", file])
    options.core_in_report = options.core_is_said = True
    for region in analyze_file(options).regions:
        yield from region.region.instructions
