"""The import as a command: progress for a person at a terminal, silence otherwise."""

from __future__ import annotations

from pathlib import Path

from cyclelens.analyzer.facts.importer import ImportSummary, import_tables
from cyclelens.analyzer.facts.store import default_tables
from tqdm import tqdm


def run_import(source: Path, target: Path | None = None) -> ImportSummary:
    """Import the XML ``source`` into ``target``, by default the tables that the program itself uses.

    A progress bar is drawn on standard error if that is a terminal; nothing else is printed. Raises
    ``ImportProblem``.
    """
    with tqdm(desc="Importing", unit="B", unit_scale=True, leave=False, disable=None) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        return import_tables(source, default_tables() if target is None else target, show)
