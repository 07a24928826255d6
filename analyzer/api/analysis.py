"""Analyses assembly texts and files: ``analyze``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.files import analyze_bytes, beside, read_bytes
from cyclelens.analyzer.engine.shared import shared_workspace
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions, Target
from cyclelens.analyzer.model.choices import Mode, Regions, Syntax
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.model.source import NOWHERE
from cyclelens.analyzer.reports.json import document
from cyclelens.arguments import cores_named, data_or_size, machine_named, model_named, one_of
from cyclelens.results import Report
from msgspec.structs import replace

Source = str | os.PathLike[str]
"""The text of an assembly file, or the path of an assembly or ELF file."""
Shares = str | Mapping[str, str]
"""Shares of branches, written as in a marker: for all regions, or by the name of a region."""


def analyze(
    source: Source,
    *,
    arch: str | Sequence[str] | None = None,
    mode: str | None = None,
    alignment: int | None = None,
    regions: str = "auto",
    region: str | None = None,
    function: str | None = None,
    syntax: str = "auto",
    model: str = "hardware",
    taken: Shares = "",
    mispredicted: Shares = "",
    data: str = "",
    working_set: str = "",
    machine_file: str | os.PathLike[str] | None = None,
    external_programs: bool = True,
) -> Report:
    """The analysis of all regions of an assembly text (``str``) or of a file (``pathlib.Path``: assembly, or
    an ELF object, program or library).

    ``arch``: one core or several, instead of those that markers name (where neither does, as in
    ``predict``). ``mode``: ``auto``, ``loop``, ``unroll`` or ``once``. ``alignment``: offset of every region
    within a 64-byte line, instead of where the text puts it. ``regions``: ``auto``, ``markers``, ``loops`` or
    ``both``; ``region``: only the one of this name. ``function``: only this one, by its label or symbol, in
    an ELF file also by an address. ``syntax``: ``auto``, ``att`` or ``intel``.
    ``taken`` and ``mispredicted``: how often branches are taken and mispredicted, instead of what markers say
    (``0.9``, ``.Lskip:0.9``; docs/branches.md). ``data``: where the data are (``L2``, ``rsi:L3,rdi:L1``), or
    ``working_set``: their size (``2MiB``; docs/data.md). ``machine_file``: the measured memory levels of a
    machine; None: the file that ``CYCLELENS_MACHINE_FILE`` names, if any. ``external_programs``: whether the
    machine's assemblers and C preprocessor may be run.

    Errors in the text become ``problems`` of the report. Raises ValueError for an argument that is not one of
    the allowed values and for an unsupported file, OSError if the file cannot be opened, and
    ``TablesUnavailable``.

    >>> report = analyze("# cyclelens-begin sum\\n add %rax, %rbx\\n add %rbx, %rax\\n# cyclelens-end\\n")
    >>> report.region("sum").cycles_per_iteration
    2.0
    """
    one_of("syntax", syntax, tuple(Syntax))
    one_of("mode", mode or "auto", tuple(Mode))
    one_of("regions", regions, tuple(Regions))
    forced = {"arch": arch, "mode": mode, "alignment": alignment, "align": alignment}
    options = AnalysisOptions(
        SourceOptions(
            syntax=Syntax(syntax),
            regions=Regions(regions),
            region=region,
            function=function,
            allow_external_programs=external_programs,
        ),
        Target(
            microarchitectures=cores_named(arch),
            by_default=registry.default().reason if arch is None else "",
            mode=Mode(mode or "auto"),
            alignment=alignment,
            model=ModelOptions(model=model_named(model)),
            taken=_by_region(taken),
            mispredicted=_by_region(mispredicted),
            data=data_or_size(data, working_set),
            machine=machine_named(machine_file),
            forced=frozenset(name for name, value in forced.items() if value is not None),
        ),
    )
    with shared_workspace() as workspace:
        analysis = analysis_of(Analyzer(workspace), source, options)
        return Report.of(document(analysis, "" if isinstance(source, str) else os.fspath(source)))


def _by_region(shares: Shares) -> tuple[tuple[str, str], ...]:
    """Pairs of a region's name (empty: all regions) and its shares."""
    return tuple(shares.items()) if isinstance(shares, Mapping) else (("", shares),) if shares else ()


def analysis_of(analyzer: Analyzer, source: Source, options: AnalysisOptions) -> Analysis:
    """The analysis of a text or a file. Raises the same errors as ``analyze``."""
    if not isinstance(source, str):
        origin = beside(NOWHERE, os.fspath(source))
        options = replace(options, source=replace(options.source, origin=origin))
    try:
        if not isinstance(source, str):
            os.stat(source)  # raises OSError like Python's own functions
            return analyze_bytes(
                analyzer, read_bytes(os.fspath(source)), os.fspath(source), options, options.source.function
            )
        if "\n" not in source and os.path.isfile(source):
            raise ValueError(f"'{source}' is the name of a file: pass pathlib.Path('{source}'), or its text")
        return analyze_bytes(analyzer, source.encode(), "the text", options, options.source.function)
    except InputError as error:
        raise ValueError(str(error)) from None
