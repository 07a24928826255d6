"""What the worker sends back: finished texts and figures, small, and free of analyzer internals.

Line numbers are zero-based and belong to the text that was analysed; ``documents/session.py`` moves
them with edits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.model.result import Hint, Work
from cyclelens.analyzer.model.source import Problem
from cyclelens.analyzer.rewrites.proposal import Fix
from cyclelens.analyzer.rewrites.search import Advice

ANALYSIS = "analysis"
"""The task of a job that wants everything about a text."""

SEARCH = "search"
"""The task of a job that looks for rewrites; it is answered with ``SearchUpdate``, several times."""

MEASURE, CHECK = "measure", "check"
"""The tasks of jobs that measure a region, and that compare what it and its rewrites compute."""


@dataclass(frozen=True, slots=True)
class TimelineResult:
    """The first rounds of one region on one microarchitecture, cycle by cycle."""

    microarchitecture: str
    cycles_per_iteration: float
    text: str
    """Drawn with characters, for hovers and plain windows."""
    instructions: tuple[str, ...] = ()
    """By the number that a row gives."""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    """The events of every uop, one row each; ``columns`` names the fields, times are in cycles."""


@dataclass(frozen=True, slots=True)
class RegionResult:
    """All that an editor can ask about one region."""

    name: str
    first_line: int
    last_line: int
    complete: bool
    """False: something is wrong with the text, ``note`` says what; an older result may be shown instead. True
    without a figure: no CPU that was asked for can run the region."""
    headline: str = ""
    """``4.00 cycles/iter · SKL · latency-bound``."""
    cycles: float | None = None
    """Cycles per iteration on the primary microarchitecture; None without an exact figure: a lower bound is
    compared with nothing."""
    figure: str = ""
    """The same as it is written: ``at least 4.00`` for a lower bound."""
    work: Work | None = None
    """What an iteration does, if that is known."""
    microarchitecture: str = ""
    """The primary one."""
    note: str = ""
    summary: str = ""
    """Markdown for the line of the opening marker."""
    hints: tuple[Hint, ...] = ()
    cards: Mapping[int, str] = field(default_factory=dict)
    """Line -> markdown about its instructions; with the second answer, like timelines and plain data."""
    findings: tuple[Problem, ...] = ()
    """Hazards, at the statements they belong to."""
    timelines: tuple[TimelineResult, ...] = ()
    unmarked: bool = False
    """A loop that nobody asked for: its figure is shown, and nothing else unasked."""
    fixes: tuple[Fix, ...] = ()
    """Rewrites that make the region faster; they are found last."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The region's analysis as plain JSON values; with the second answer."""


@dataclass(frozen=True, slots=True)
class FileResult:
    """The whole answer for one text."""

    regions: tuple[RegionResult, ...] = ()
    problems: tuple[Problem, ...] = ()
    dialect: str = ""
    detailed: bool = True
    """False: cards of instructions, timelines and plain data are still missing."""
    pending: bool = False
    """Regions are still missing."""
    calls: Mapping[str, str] = field(default_factory=dict)
    """Markdown about what intrinsics became, by their names; with the second answer."""
    failed: str = ""
    """Why nothing is known of the text; what is known of an earlier one stays."""


@dataclass(frozen=True, slots=True)
class RegionFindings:
    """What is known of a region beyond what is shown at once."""

    cycles: float
    """Its figure."""
    advice: Advice
    costs: Mapping[tuple[str, int], tuple[float, str]] = field(default_factory=dict)
    """By code and line, counted from the region's first, what findings cost in cycles per iteration, and the
    sentence that says so."""

    def moved(self, lines: int) -> RegionFindings:
        """The same for a text in which everything is this many lines further down."""
        return replace(self, advice=self.advice.moved(lines))


@dataclass(frozen=True, slots=True)
class SearchUpdate:
    """What a search has found by now, by region."""

    regions: Mapping[str, RegionFindings]


@dataclass(frozen=True, slots=True)
class Job:
    """One text to analyse. Identifiers ascend, so that "cancelled up to" is a single number."""

    identifier: int
    uri: str
    revision: int
    text: str
    options: AnalysisOptions
    hint_kinds: tuple[str, ...] = ()
    """The kinds of hints that are wanted."""
    task: str = ANALYSIS
    """Or the name of a comparison (``comparisons/registry.py``), which is answered with steps and a table, or
    one of ``measurements.py``, which is answered with a table."""
    region: str = ""
    """Name of the region to compare."""
    other: str = ""
    """Name of the region to compare it with, if it is a region."""
    path: str = ""
    """The file that the text belongs to, if it is compared with what is committed; empty if there is none."""
    html: bool = False
    """The client shows pages."""
    fixes: tuple[Fix, ...] = ()
    """Rewrites that are to be checked."""
    ahead: bool = False
    """Begun before its time: behind the first result the worker waits for the word to go on."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """What is known of a job by now: a result, an error text, or neither: then it goes on, or is done."""

    identifier: int
    result: FileResult | ComparisonTable | ComparisonProgress | SearchUpdate | None = None
    error: str = ""
    last: bool = False
    """True: the job is done; False: a result with more in it may follow."""
