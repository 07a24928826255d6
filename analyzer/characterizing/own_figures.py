"""Measures the instructions that a core's tables lack, and adds them to tables of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from cyclelens.analyzer.characterizing.characterize import Characterizer, VariantRow
from cyclelens.analyzer.characterizing.machines import Machine
from cyclelens.analyzer.characterizing.missing import lacking
from cyclelens.analyzer.characterizing.table import xml
from cyclelens.analyzer.common import temporary
from cyclelens.analyzer.facts.importer import import_tables
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.facts.store import FactsStore, open_store, shipped_tables
from cyclelens.analyzer.model.facts import InstructionFacts
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.failures import Cancelled
from msgspec import Struct

Opened = Callable[[FactsStore], AbstractContextManager[Machine]]
"""Opens the machine, given the tables."""


class AddedFigures(Struct, frozen=True):
    """Results of measuring what the tables lack."""

    rows: tuple[VariantRow, ...]
    """One per variant, in the order of the code."""
    unknown: Mapping[str, str]
    """Mnemonics of instructions that were not measured, with the reason."""
    left_out: tuple[str, ...] = ()
    """Measured forms that the tables cannot take, because it is not known which units execute them."""

    @property
    def added(self) -> tuple[str, ...]:
        """Names of the forms that the tables have now."""
        return tuple(
            row.facts.name for row in self.rows if not row.problem and row.facts.name not in self.left_out
        )

    @property
    def complete(self) -> bool:
        """Whether every instruction has figures now."""
        return len(self.added) == len(self.rows) and not self.unknown


def add_figures(
    instructions: Iterable[Instruction],
    model: Microarchitecture,
    own: Path,
    opened: Opened,
    cancelled: Callable[[], bool] = lambda: False,
) -> AddedFigures:
    """Measure the instructions that the tables ``own`` lack for a core, and merge the figures into them.

    ``own`` begins as a copy of the shipped tables. ``cancelled`` is asked before each instruction and before
    ``own`` changes: if it says so, nothing is kept and ``Cancelled`` is raised. Raises ``TablesUnavailable``,
    ``ImportProblem``, and what opening the machine raises.
    """
    store = open_store(own if own.exists() else shipped_tables())
    try:
        found = lacking(instructions, model.facts_name, store)
        if not found.described:
            return AddedFigures((), found.unknown)
        with opened(store) as machine:
            characterizer = Characterizer(machine, store, model)
            rows = tuple(_row(characterizer, *each, cancelled) for each in found.described)
        measured = [row for row in rows if not row.problem]
        left_out: tuple[str, ...] = ()
        if measured:
            with temporary.folder() as folder:
                file = Path(folder) / "found.xml"
                file.write_text("\n".join(xml(measured, model)) + "\n", encoding="utf-8")
                written = import_tables(file, own, base=store, ready=partial(_go_on, cancelled))
            left_out = tuple(written.without_units)
        return AddedFigures(rows, found.unknown, left_out)
    finally:
        store.close()


def _row(
    characterizer: Characterizer, facts: InstructionFacts, described: Matcher, cancelled: Callable[[], bool]
) -> VariantRow:
    _go_on(cancelled)
    return characterizer.row(facts, described)


def _go_on(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise Cancelled


def said(row: VariantRow) -> str:
    """The figures of a row in words."""
    if row.problem or row.cycles is None:
        return f"not measured: {row.problem or 'no figure'}"
    cycles = [latency.cycles for latency in row.latencies.values() if latency.cycles is not None]
    latency = f", latency {min(cycles)} to {max(cycles)}" if cycles else ""
    return f"throughput {row.cycles:.2f} cycles{latency}"
