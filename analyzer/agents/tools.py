"""The tools of an agent, without the protocol: each takes plain values and returns text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from difflib import unified_diff
from pathlib import Path

from cyclelens.analyzer.agents import answers
from cyclelens.analyzer.agents.request import RefusedRequest, Request
from cyclelens.analyzer.common.documents import DIAGNOSTICS, DOCUMENTS
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.measuring.equality import VersionPair, compare
from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.values import confidence
from cyclelens.analyzer.model.choices import Clocks
from cyclelens.analyzer.model.machine_file import MachineFile
from cyclelens.analyzer.rewrites.proposal import Fix, apply, no_rewrite
from cyclelens.analyzer.rewrites.search import Advice, search
from cyclelens.analyzer.simulator.failures import Cancelled

SECONDS = 50
"""Seconds that an answer may take unless the user chose others; clients often give up after 60."""


class Tools:
    """Answers requests one after the other. Each may bring more folders whose files it may read.

    :param folders: folders whose files any request may read.
    :param may_run: whether code may be run in the sandbox to compare results.
    :param machine: what was measured on this machine.
    :param seconds: how long an answer may take.
    """

    def __init__(
        self,
        folders: Sequence[str] = (),
        *,
        may_run: bool = False,
        machine: MachineFile | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._folders = tuple(folders)
        self._machine = machine
        self._may_run = may_run
        self._seconds = seconds
        self._analyzer: Analyzer | None = None
        # One request after the other, by the thread that has opened the tables.
        self._thread = ThreadPoolExecutor(max_workers=1)

    def analyze(
        self,
        source: str,
        *,
        region: str = "",
        function: str = "",
        core: str = "",
        folders: Sequence[str] = (),
    ) -> str:
        """Each region of a text or a file: cycles per iteration, what limits it, and what it assumes."""
        return self._in_turn(
            folders, lambda request: answers.of_analysis(request.analysis(source, region, function, core))
        )

    def compare(self, before: str, after: str, *, core: str = "", folders: Sequence[str] = ()) -> str:
        """The figures of two versions, region by region, with the gain."""

        def compared(request: Request) -> str:
            return answers.of_comparison(
                request.analysis(before, core=core), request.analysis(after, core=core)
            )

        return self._in_turn(folders, compared)

    def rewrites(
        self, source: str, *, region: str = "", core: str = "", show: int = 0, folders: Sequence[str] = ()
    ) -> str:
        """Rewrites that make the regions faster, simplest first; with ``show``, this one as a diff. A search
        that takes too long is ended, and the answer says so."""
        return self._in_turn(folders, lambda request: self._rewritten(request, source, region, core, show))

    def check(
        self, before: str, after: str, *, region: str, times: int = 1, folders: Sequence[str] = ()
    ) -> str:
        """Whether a region of two versions gives the same results on random registers and memory. ``times``:
        iterations of the first one in an iteration of the second."""
        if not self._may_run:
            raise RefusedRequest(
                "the user has not allowed code to be run: cyclelens mcp --allow-run allows it, in a sandbox"
            )
        return self._in_turn(folders, lambda request: self._checked(request, before, after, region, times))

    def explain(self, code: str) -> str:
        """The page about a diagnostic code."""
        for page in _pages(DIAGNOSTICS):
            if page.stem == code:
                return page.read_text("utf-8")
        known = ", ".join(page.stem for page in _pages(DIAGNOSTICS))
        raise RefusedRequest(f"there is no page about '{code}'; known: {known}")

    def cores(self) -> str:
        """The cores that can be simulated, and this machine's."""
        lines = []
        for name in registry.names():
            core = registry.get(name)
            lines.append(f"{name}: {core.title}{' (approximate)' if confidence(name) else ''}")
        own = registry.native()
        return "\n".join([*lines, f"this machine: {'not simulated' if own is None else own.name}"])

    def _in_turn(self, folders: Sequence[str], answer: Callable[[Request], str]) -> str:
        end = time.monotonic() + self._seconds

        def answered() -> str:
            self._analyzer = self._analyzer or Analyzer()
            named = (*self._folders, *folders)
            return answer(Request(self._analyzer, named, lambda: time.monotonic() > end, self._machine))

        try:
            return self._thread.submit(answered).result()
        except Cancelled:
            raise RefusedRequest(
                f"this takes longer than {self._seconds:g} s: name a region, or start with --seconds N"
            ) from None

    def _rewritten(self, request: Request, source: str, region: str, core: str, show: int) -> str:
        text = request.text(source)
        analysis = request.analysis(source, region, "", core)
        options = request.options(source, region, "", core)
        found: list[Fix] = []
        listed: list[str] = []
        for each in analysis.regions:
            if each.predictions:
                prediction = each.predictions[0]
                advice, is_whole = _advice(
                    search(request.analyzer, text, options, analysis.dialect, each, request.cancel),
                    Advice(each.region.name, prediction.shown_cycles),
                )
                found += advice.fixes
                listed.append(answers.of_advice(advice, prediction, is_whole=is_whole))
        if not show:
            return "\n".join(listed) or answers.of_analysis(analysis)
        if not 0 < show <= len(found):
            raise RefusedRequest(no_rewrite(show, len(found)))
        changed = apply(text, found[show - 1].proposal.edits)
        return "\n".join(unified_diff(text.split("\n"), changed.split("\n"), "before", "after", lineterm=""))

    def _checked(self, request: Request, before: str, after: str, region: str, times: int) -> str:
        analysis = request.analysis(before, region)
        found = next((each for each in analysis.regions if each.predictions), None)
        if found is None:
            return answers.of_analysis(analysis)
        source = request.options(before, region, "", "").source
        versions = VersionPair(request.text(before), request.text(after), times)
        try:
            with Harness(clock=Clocks.NONE) as harness:
                return f"{region}: {compare(harness, versions, source, found)}"
        except CannotMeasure as error:
            raise RefusedRequest(f"nothing can be run here: {error}") from None


def documents() -> dict[str, Path]:
    """The documents for users, by name, without the pages about diagnostic codes."""
    return {page.stem: page for page in _pages(DOCUMENTS)}


def index() -> str:
    """The list of the pages about diagnostic codes, each with a sentence."""
    folder = _folder(DIAGNOSTICS)
    return "" if folder is None else (folder / "README.md").read_text("utf-8")


def _advice(candidates: Iterator[Advice | None], advice: Advice) -> tuple[Advice, bool]:
    """The last advice of a search, and whether the search came to its end."""
    try:
        for better in candidates:
            advice = better or advice
    except Cancelled:
        return advice, False
    return advice, True


def _folder(folders: Sequence[Path]) -> Path | None:
    return next((each for each in folders if each.is_dir()), None)


def _pages(folders: Sequence[Path]) -> list[Path]:
    """The pages of the first folder that exists, by name."""
    folder = _folder(folders)
    return [] if folder is None else sorted(set(folder.glob("*.md")) - {folder / "README.md"})
