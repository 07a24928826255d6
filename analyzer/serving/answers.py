"""Answers the page's requests with plain JSON values. One analyzer serves all windows, one request at a time;
a request is cancelled when a later one of the same window supersedes it."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

from cyclelens.analyzer.comparisons.registry import table
from cyclelens.analyzer.comparisons.request import ComparisonRequest
from cyclelens.analyzer.comparisons.table import ComparisonTable
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.settings import ANALYSIS, checked, forced, to_options
from cyclelens.analyzer.engine.workspace import Cancel, Workspace
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.frontend.objects.raw_code import RawCodeError, from_hexadecimal
from cyclelens.analyzer.hints.registry import hints
from cyclelens.analyzer.insight import label, wording
from cyclelens.analyzer.insight.findings import at_statement
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.values import confidence
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail
from cyclelens.analyzer.model.machine_file import MachineFile
from cyclelens.analyzer.model.result import RegionAnalysis
from cyclelens.analyzer.model.source import Problem
from cyclelens.analyzer.reports.card import instruction_cards
from cyclelens.analyzer.reports.registry import FORMATS, render
from cyclelens.analyzer.rewrites.proposal import Fix, apply
from cyclelens.analyzer.rewrites.search import advise
from cyclelens.analyzer.serving.disassembly import written_out
from cyclelens.analyzer.simulator.failures import Cancelled
from msgspec.structs import replace

LONGEST_TEXT = 1 << 20
"""Longest text in characters, a hundred times a long kernel."""
LONGEST_CODE = 1 << 16
"""Longest machine code in characters; it is assembled again to verify the text made from it."""
PATIENCE = 60.0
"""Seconds that a request may take."""
_KEPT_PAGES = 32
_CHOICES = ("microarchitectures", "syntax", "mode", "alignment", "regions", "model")
"""The analysis settings that the page may set; the others name files and programs of this machine."""
_COMPARISONS = ("timeline", "microarchitectures", "alignments", "sensitivity", "tools")
_VIEW = "view"
"""Requests of this kind are about a region of the text analysed last; a window shows one of them."""
_SHOWN = ("region", "chain", "ports", "fusion", "rename", "stalls")

Answer = dict[str, Any]
_Found = TypeVar("_Found")


class BadRequest(ValueError):
    """The request is malformed; the message says why."""


class Superseded(Exception):
    """A later request superseded this one, or it took too long."""


class Answers:
    """Answers requests from any thread. Raises ``TablesUnavailable`` if there are no tables."""

    def __init__(self, *, external_programs: bool, machine: MachineFile | None = None) -> None:
        """``machine``: what was measured on this machine."""
        self._external_programs = external_programs
        self._measured = machine
        # Only the thread that opened the tables may use them.
        self._worker = ThreadPoolExecutor(max_workers=1)
        self._store = self._worker.submit(open_store).result()
        self._analyzer = Analyzer(Workspace(self._store))
        self._numbering = Lock()
        self._latest = Counter[tuple[str, str]]()
        """(Window, kind) -> number of requests so far."""
        self._pages: OrderedDict[str, str] = OrderedDict()
        self._made = 0

    @property
    def questions(self) -> Mapping[str, Callable[[Answer], Answer]]:
        """Handlers of requests by name."""
        return {
            "analysis": self.analysis,
            "card": self.card,
            "comparison": self.comparison,
            "instructions": self.instructions,
            "report": self.report,
            "rewrites": self.rewrites,
        }

    @property
    def asked(self) -> int:
        """Number of requests so far."""
        return self._latest.total()

    def page(self, name: str) -> str | None:
        """A report made for an earlier answer; None if it is no longer kept."""
        return self._pages.get(name)

    def analysis(self, asked: Answer) -> Answer:
        """Figures, hints and problems of a text."""
        text, options = self._text(asked), self._options(asked)
        found = self._work(asked, "analysis", lambda cancel: self._analyzer.analyze(text, options, cancel))
        return {
            "regions": [_region(region) for region in found.regions],
            "hints": [
                {"line": hint.line, "column": hint.column, "label": hint.label, "tooltip": hint.tooltip}
                for hint in hints(found, _SHOWN)
            ],
            "problems": [
                *map(_problem, found.problems),
                *(_problem(at_statement(region, one)) for region in found.regions for one in region.findings),
            ],
        }

    def card(self, asked: Answer) -> Answer:
        """Markdown about the instructions of a ``line``; empty if it has none."""
        text, options, line = self._text(asked), self._options(asked), asked.get("line")
        if not isinstance(line, int):
            raise BadRequest("'line' must be a number, counted from zero")
        found = self._work(asked, "card", lambda cancel: self._analyzer.analyze(text, options, cancel))
        for region in found.regions:
            if known := instruction_cards(region).get(line):
                return {"card": known}
        return {"card": ""}

    def instructions(self, asked: Answer) -> Answer:
        """Machine code in hexadecimal as an assembly text; ``problem`` says why it cannot be read."""
        text = self._text(asked)
        if len(text) > LONGEST_CODE:
            return {"text": "", "problem": f"it has more than {LONGEST_CODE:,} characters"}

        def write(cancel: Cancel) -> str:
            return written_out(
                from_hexadecimal(text), allow_external_programs=self._external_programs, cancel=cancel
            )

        try:
            return {"text": self._work(asked, "instructions", write), "problem": ""}
        except RawCodeError as error:
            return {"text": "", "problem": str(error)}

    def report(self, asked: Answer) -> Answer:
        """A report about the whole text in one of the formats of ``cyclelens analyze``."""
        text, options, kind = self._text(asked), self._options(asked), asked.get("format")
        if not isinstance(kind, str) or kind not in FORMATS:
            raise BadRequest(f"'format' must be one of {', '.join(FORMATS)}")
        full = kind == "html"
        options = replace(options, detail=Detail(trace=full, account=full, prices=True))
        found = self._work(asked, "report", lambda cancel: self._analyzer.analyze(text, options, cancel))
        return {"report": render(found, "kernel.s", kind)}

    def comparison(self, asked: Answer) -> Answer:
        """A comparison of a region with other processors, positions or variants, or its timeline; ``page``
        names the report."""
        text, options, kind = self._text(asked), self._options(asked), asked.get("kind")
        region = asked.get("region")
        if kind not in _COMPARISONS or not isinstance(region, str):
            raise BadRequest(f"'kind' must be one of {', '.join(_COMPARISONS)}, and 'region' a name")
        if kind == "microarchitectures":
            # Compare all cores, whichever the page has selected.
            target = options.target
            options = replace(options, target=replace(target, forced=target.forced - {"arch"}))

        def compare(cancel: Cancel) -> ComparisonTable:
            # A separate analyzer, so that many figures do not evict those of the text.
            alone = Analyzer(self._analyzer.workspace.beside(cached_predictions=1))
            return table(kind, ComparisonRequest(alone, text, options, region, html=True, cancel=cancel))

        found = self._work(asked, _VIEW, compare)
        html = found.extra.get("html")
        return {
            "title": found.title,
            "columns": list(found.columns),
            "rows": [list(row) for row in found.rows],
            "text": found.text,
            "page": self._keep(html) if isinstance(html, str) else None,
        }

    def rewrites(self, asked: Answer) -> Answer:
        """The rewrites that ``cyclelens rewrite`` finds, with the text after each; those of one region if the
        request names it."""
        text, options, name = self._text(asked), self._options(asked), asked.get("region")

        def better(cancel: Cancel) -> list[Fix]:
            found = self._analyzer.analyze(text, options, cancel)
            alone = Analyzer(self._analyzer.workspace.beside())
            return [
                fix
                for region in found.regions
                if region.predictions and name in (None, region.region.name)
                for fix in advise(alone, text, options, found.dialect, region, cancel).fixes
            ]

        rewrites = [
            {
                "title": fix.proposal.title,
                "region": fix.region,
                "line": fix.proposal.line,
                "microarchitecture": fix.microarchitecture,
                "before": fix.before,
                "after": fix.after,
                "gain": fix.gain,
                "where": fix.where,
                "text": apply(text, fix.proposal.edits),
            }
            for fix in self._work(asked, _VIEW, better)
        ]
        return {"rewrites": rewrites}

    def _text(self, asked: Answer) -> str:
        text = asked.get("text")
        if not isinstance(text, str) or len(text) > LONGEST_TEXT:
            raise BadRequest(f"'text' must be a string of at most {LONGEST_TEXT:,} characters")
        return text

    def _options(self, asked: Answer) -> AnalysisOptions:
        given = asked.get("options", {})
        if not isinstance(given, dict) or not given.keys() <= {*_CHOICES}:
            raise BadRequest(f"'options' must be an object with {', '.join(_CHOICES)}")
        values: dict[str, Any] = {}
        for setting in ANALYSIS:
            value = given.get(setting.name)
            try:
                values[setting.name] = (
                    setting.default if value is None else checked(setting, value, registry.names())
                )
            except ValueError as wrong:
                raise BadRequest(f"{setting.name}: {wrong}") from None
        # Settings on the page override the markers, like the options of a command.
        given = {name for name, value in given.items() if value is not None}
        options = to_options(values)
        return AnalysisOptions(
            replace(options.source, allow_external_programs=self._external_programs),
            replace(options.target, machine=self._measured, forced=forced(given)),
        )

    def _work(self, asked: Answer, kind: str, job: Callable[[Cancel], _Found]) -> _Found:
        """Run a job in its turn. Raises ``Superseded``."""
        window = asked.get("window", "")
        if not isinstance(window, str) or len(window) > 64:
            raise BadRequest("'window' must be a short string")
        with self._numbering:
            self._latest[window, kind] += 1
            if kind == "analysis":
                # Cancel views of the older text, which would only delay this request.
                self._latest[window, _VIEW] += 1
            number = self._latest[window, kind]

        def turn() -> _Found:
            end = time.monotonic() + PATIENCE

            def cancel() -> bool:
                return self._latest[window, kind] != number or time.monotonic() > end

            if cancel():
                raise Superseded
            try:
                return job(cancel)
            except Cancelled:
                raise Superseded from None

        return self._worker.submit(turn).result()

    def _keep(self, page: str) -> str:
        with self._numbering:
            self._made += 1
            name = str(self._made)
            self._pages[name] = page
            while len(self._pages) > _KEPT_PAGES:
                self._pages.popitem(last=False)
        return name


def cores() -> list[Answer]:
    """The microarchitectures in the page's list."""
    found, (first, *_) = [], registry.default().names
    for name in registry.names():
        core = registry.get(name)
        title = core.title + (" (approximate)" if confidence(name) else "")
        by_default = name == first
        found.append({"name": name, "title": title, "products": core.products, "by_default": by_default})
    return found


def _region(region: RegionAnalysis) -> Answer:
    return {
        "name": region.region.name,
        "first_line": region.region.first_line,
        "last_line": region.region.last_line,
        "figures": [
            {
                "microarchitecture": prediction.microarchitecture,
                "cycles_per_iteration": prediction.cycles_per_iteration,
                "figure": wording.figure_of(prediction),
                "headline": label.headline([shown]),
            }
            for prediction, shown in zip(region.predictions, label.of_region(region), strict=False)
        ],
        "note": region.note or "; ".join(missing.reason for missing in region.missing),
    }


def _problem(problem: Problem) -> Answer:
    return {
        "line": problem.line,
        "column": problem.column,
        "end_column": problem.end_column,
        "code": problem.code,
        "message": problem.message,
        "severity": str(problem.severity),
    }
