"""The table import as a command, with a progress bar on terminals."""

from __future__ import annotations

import os
from pathlib import Path

from cyclelens.analyzer.common.own_tables import OWN_TABLES
from cyclelens.analyzer.common.regular_files import open_given
from cyclelens.analyzer.facts import benchmarks
from cyclelens.analyzer.facts.importer import (
    ImportProblem,
    ImportSummary,
    import_benchmarks,
    import_tables,
)
from cyclelens.analyzer.facts.store import default_tables, open_store, shipped_tables
from tqdm import tqdm

_BEGINNING = 4096
"""Bytes that tell XML from a benchmark's text."""


def is_benchmark(source: Path) -> bool:
    """Whether a file has results of ibench or asmbench. False if it cannot be read."""
    try:
        with open_given(source) as stream:
            return benchmarks.is_benchmark(stream.read(_BEGINNING).decode("utf-8", "replace"))
    except OSError:
        return False  # the import says why


def run_benchmarks(
    source: Path, microarchitecture: str, target: Path | None = None
) -> tuple[ImportSummary, benchmarks.Found]:
    """Add results of ibench or asmbench for a core to the tables ``target``, as ``run_import`` with
    ``merge``."""
    path = _own(target)
    base = open_store(path if path.exists() else shipped_tables())
    try:
        return import_benchmarks(source, path, base, microarchitecture)
    finally:
        base.close()


def run_import(source: Path, target: Path | None = None, *, merge: bool = False) -> ImportSummary:
    """Import the XML file ``source`` into ``target``, by default the tables that the program uses.

    ``merge``: add to the tables of ``target``, or to a copy of the shipped ones if it does not exist; the
    default is then the user's own tables. Draws a progress bar on standard error if that is a terminal, and
    prints nothing else. Raises ``ImportProblem`` and ``TablesUnavailable``.
    """
    path = _own(target) if merge else Path(default_tables()) if target is None else target
    base = open_store(path if path.exists() else shipped_tables()) if merge else None
    with tqdm(desc="Importing", unit="B", unit_scale=True, leave=False, disable=None) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        try:
            return import_tables(source, path, show, base)
        finally:
            if base is not None:
                base.close()


def _own(target: Path | None) -> Path:
    """Tables that figures may be added to: the given ones or the user's own. Raises ``ImportProblem``."""
    path = target or os.environ.get(OWN_TABLES)
    if not path:
        raise ImportProblem(
            "--merge does not change the tables that ship with Cyclelens unless --output names them: "
            "name tables of your own with --data own.sqlite or --output own.sqlite"
        )
    return Path(path)
