"""The messages of the worker: finished texts and figures, small, and free of analyzer internals.

Line numbers are zero-based and refer to the analysed text; ``documents/session.py`` moves them with edits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable
from cyclelens.analyzer.insight.label import headline
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.model.label import RegionLabel
from cyclelens.analyzer.model.result import Hint, Work
from cyclelens.analyzer.model.source import Problem
from cyclelens.analyzer.rewrites.proposal import Fix
from cyclelens.analyzer.rewrites.search import Advice
from msgspec import Struct, field
from msgspec.structs import replace

ANALYSIS = "analysis"
"""Task of a job that analyses a whole text."""

SEARCH = "search"
"""Task of a job that searches for rewrites; it is answered with several ``SearchUpdate``."""

MEASURE, CHECK, COMPLETE = "measure", "check", "complete"
"""Tasks of jobs that measure a region, compare the results of a region and its rewrites, or measure its
instructions without figures."""


class TimelineResult(Struct, frozen=True):
    """The first rounds of one region on one microarchitecture, cycle by cycle."""

    microarchitecture: str
    cycles_per_iteration: float
    text: str
    """Drawn with characters, for hovers and plain windows."""
    instructions: tuple[str, ...] = ()
    """Texts of the instructions; rows refer to them by index."""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    """The events of every uop, one row each; ``columns`` names the fields, times are in cycles."""


class RegionResult(Struct, frozen=True):
    """Everything that an editor can request about one region."""

    name: str
    first_line: int
    last_line: int
    complete: bool
    """False: the text has an error, which ``note`` states; an older result may be shown instead. True without
    a figure: none of the requested cores can run the region."""
    labels: tuple[RegionLabel, ...] = ()
    """One per microarchitecture, the primary one first; a single one with a reason if none has a figure."""
    cycles: float | None = None
    """Cycles per iteration on the primary microarchitecture; None if there is no exact figure, because a
    lower bound is not compared with anything."""
    work: Work | None = None
    """The work that an iteration does; None if unknown."""
    microarchitecture: str = ""
    """The primary microarchitecture."""
    note: str = ""
    summary: str = ""
    """Markdown for the line of the opening marker."""
    hints: tuple[Hint, ...] = ()
    cards: Mapping[int, str] = field(default_factory=dict)
    """Line -> Markdown about its instructions; part of the second answer, like timelines and plain data."""
    findings: tuple[Problem, ...] = ()
    """Hazards, at the statements that cause them."""
    timelines: tuple[TimelineResult, ...] = ()
    unmarked: bool = False
    """An unmarked loop: it has no diagnostics and no advice."""
    quiet: bool = False
    """One of many unmarked loops: only its figure is shown."""
    fixes: tuple[Fix, ...] = ()
    """Rewrites that make the region faster; part of the last answer."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The region's analysis as plain JSON values; part of the second answer."""
    version: int = 0
    """Equal numbers from one worker mean the same result; 0: not known."""
    screen: int = 0
    """Version of the content that editors keep on the screen until a notification, apart from bars; they
    request everything else."""
    bars: int = 0
    """Version of the bars."""

    @property
    def headline(self) -> str:
        """``4.00 cycles/iter · SKL · latency-bound``, and the same of the other microarchitectures."""
        return headline(self.labels)

    @property
    def figure(self) -> str:
        """The primary figure: ``4.00``; ``at least 4.00`` for a lower bound."""
        return self.labels[0].figure if self.labels else ""


class FileResult(Struct, frozen=True):
    """The complete answer for one text."""

    regions: tuple[RegionResult, ...] = ()
    problems: tuple[Problem, ...] = ()
    dialect: str = ""
    detailed: bool = True
    """False: cards of instructions, timelines and plain data are still to come."""
    pending: bool = False
    """Some regions are still to come."""
    calls: Mapping[str, str] = field(default_factory=dict)
    """Markdown about what each intrinsic was compiled to, by name; part of the second answer."""
    failed: str = ""
    """Why the text could not be analysed; the results of an earlier text stay."""


class RegionFindings(Struct, frozen=True):
    """Results of the background search for a region."""

    cycles: float
    """The region's figure in cycles per iteration."""
    advice: Advice
    costs: Mapping[tuple[str, int], tuple[float, str]] = field(default_factory=dict)
    """(Code, line relative to the region's first) -> cost of the finding in cycles per iteration, and the
    sentence that states it."""

    def moved(self, lines: int) -> RegionFindings:
        """The same findings for a text that has moved down by this many lines."""
        return replace(self, advice=self.advice.moved(lines))


class SearchUpdate(Struct, frozen=True):
    """The results of a search so far, by region."""

    regions: Mapping[str, RegionFindings]


class Job(Struct, frozen=True):
    """One text to analyse. Identifiers ascend, so that a single number can cancel all jobs up to it."""

    identifier: int
    uri: str
    revision: int
    text: str
    options: AnalysisOptions
    hint_kinds: tuple[str, ...] = ()
    """The enabled kinds of hints."""
    task: str = ANALYSIS
    """``ANALYSIS``, the name of a comparison (``comparisons/registry.py``), which is answered with steps and
    a table, or a task of ``measuring.py``, which is answered with a table."""
    region: str = ""
    """Name of the region to compare or measure."""
    other: str = ""
    """Name of the second region, if two regions are compared."""
    path: str = ""
    """File of the text, if it is compared with the committed version; empty if there is none."""
    html: bool = False
    """Whether the client can show HTML pages."""
    fixes: tuple[Fix, ...] = ()
    """Rewrites to check."""


class Step(Struct, frozen=True):
    """Permission for the worker to go on with a job whose figures it has sent."""

    job: int
    """The job's identifier."""
    identifier: int
    """The identifier of this step, for its cancellation; 0: drop the job."""


class TimelineQuestion(Struct, frozen=True):
    """Asks for a part of a region's timeline; the answer is Markdown for a hover."""

    identifier: int
    """From the numbers of jobs, so that a later job can cancel it."""
    job: Job
    """The analysis that the region was seen in; a worker that has forgotten it repeats it."""
    region: str
    line: int


class TimelineAnswer(Struct, frozen=True):
    """The answer to a ``TimelineQuestion``."""

    text: str
    """Empty if there is no timeline."""


class JobResult(Struct, frozen=True):
    """A message about a job: a result, an error text, or neither, which means that it continues or is
    done."""

    identifier: int
    result: FileResult | ComparisonTable | ComparisonProgress | SearchUpdate | TimelineAnswer | None = None
    error: str = ""
    last: bool = False
    """True: the job is done; False: a more complete result may follow."""
    paused: bool = False
    """True: the job waits for a ``Step``. The details of these figures are still to come; or further figures,
    if these are pending, or without a result."""
