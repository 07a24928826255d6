"""The tools of an agent, without the protocol: each takes plain values and returns text."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from difflib import unified_diff
from pathlib import Path

from cyclelens.analyzer.agents import answers
from cyclelens.analyzer.common.diagnostic_pages import FOLDERS
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.files import MAXIMUM_BYTES, analyze_bytes, explained, to_text
from cyclelens.analyzer.frontend.files.includes import read_permitted
from cyclelens.analyzer.frontend.objects.formats import is_object
from cyclelens.analyzer.measuring.equality import VersionPair, compare
from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.values import confidence
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions, Target
from cyclelens.analyzer.model.choices import Clocks
from cyclelens.analyzer.model.machine_file import MachineFile
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.model.source import Origin
from cyclelens.analyzer.rewrites.proposal import Fix, apply
from cyclelens.analyzer.rewrites.search import advise
from cyclelens.analyzer.simulator.failures import Cancelled

PATIENCE = 60.0
"""Seconds that an answer may take."""


class RefusedRequest(Exception):
    """A request that cannot be answered; the text says why, for the agent."""


class Tools:
    """Answers requests one after the other.

    :param folders: folders whose files may be read; of others nothing is.
    :param may_run: whether code may be run in the sandbox to compare results.
    :param machine: what was measured on this machine.
    """

    def __init__(
        self, folders: Sequence[str] = (), *, may_run: bool = False, machine: MachineFile | None = None
    ) -> None:
        self._machine = machine
        self.folders = [os.path.realpath(folder) for folder in folders]
        self._may_run = may_run
        self._analyzer: Analyzer | None = None
        # One request after the other, by the thread that has opened the tables.
        self._thread = ThreadPoolExecutor(max_workers=1)

    def analyze(self, source: str, *, region: str = "", function: str = "", core: str = "") -> str:
        """Each region of a text or a file: cycles per iteration, what limits it, and what it assumes."""
        return self._in_turn(lambda: answers.of_analysis(self._analysis(source, region, function, core)))

    def compare(self, before: str, after: str, *, core: str = "") -> str:
        """The figures of two versions, region by region, with the gain."""
        return self._in_turn(
            lambda: answers.of_comparison(self._analysis(before, core=core), self._analysis(after, core=core))
        )

    def rewrites(self, source: str, *, region: str = "", core: str = "", show: int = 0) -> str:
        """Rewrites that make the regions faster, simplest first; with ``show``, this one as a diff."""
        return self._in_turn(lambda: self._rewritten(source, region, core, show))

    def check(self, before: str, after: str, *, region: str, times: int = 1) -> str:
        """Whether a region of two versions gives the same results on random registers and memory. ``times``:
        iterations of the first one in an iteration of the second."""
        if not self._may_run:
            raise RefusedRequest(
                "the user has not allowed code to be run: cyclelens mcp --allow-run allows it, in a sandbox"
            )
        return self._in_turn(lambda: self._checked(before, after, region, times))

    def explain(self, code: str) -> str:
        """The page about a diagnostic code."""
        for page in _pages():
            if page.stem == code:
                return page.read_text("utf-8")
        raise RefusedRequest(
            f"there is no page about '{code}'; known: {', '.join(page.stem for page in _pages())}"
        )

    def cores(self) -> str:
        """The cores that can be simulated, and this machine's."""
        lines = []
        for name in registry.names():
            core = registry.get(name)
            lines.append(f"{name}: {core.title}{' (approximate)' if confidence(name) else ''}")
        own = registry.native()
        return "\n".join([*lines, f"this machine: {'not simulated' if own is None else own.name}"])

    def _in_turn(self, answer: Callable[[], str]) -> str:
        try:
            return self._thread.submit(answer).result()
        except Cancelled:
            raise RefusedRequest(f"this takes longer than {PATIENCE:.0f} s; name a region") from None

    def _rewritten(self, source: str, region: str, core: str, show: int) -> str:
        text = self._text(source)
        options = self._options(source, region, "", core)
        analysis = self._analysis(source, region, "", core)
        found: list[Fix] = []
        listed: list[str] = []
        for each in analysis.regions:
            if each.predictions:
                advice = advise(self._own, text, options, analysis.dialect, each, _limit())
                found += advice.fixes
                listed.append(answers.of_advice(advice))
        if not show:
            return "\n".join(listed) or answers.of_analysis(analysis)
        if not 0 < show <= len(found):
            raise RefusedRequest(f"there are {len(found)} rewrites, but no number {show}")
        changed = apply(text, found[show - 1].proposal.edits)
        return "\n".join(unified_diff(text.split("\n"), changed.split("\n"), "before", "after", lineterm=""))

    def _checked(self, before: str, after: str, region: str, times: int) -> str:
        analysis = self._analysis(before, region)
        found = next((each for each in analysis.regions if each.predictions), None)
        if found is None:
            return answers.of_analysis(analysis)
        source = self._options(before, region, "", "").source
        versions = VersionPair(self._text(before), self._text(after), times)
        try:
            with Harness(clock=Clocks.NONE) as harness:
                return f"{region}: {compare(harness, versions, source, found)}"
        except CannotMeasure as error:
            raise RefusedRequest(f"nothing can be run here: {error}") from None

    @property
    def _own(self) -> Analyzer:
        self._analyzer = self._analyzer or Analyzer()
        return self._analyzer

    def _analysis(self, source: str, region: str = "", function: str = "", core: str = "") -> Analysis:
        options = self._options(source, region, function, core)
        try:
            if (path := self._path(source)) is None:
                return explained(self._own.analyze(source, options, _limit()), options.source)
            return analyze_bytes(self._own, self._read(path), path, options, function or None)
        except InputError as error:
            raise RefusedRequest(str(error)) from None

    def _options(self, source: str, region: str, function: str, core: str) -> AnalysisOptions:
        path = self._path(source)
        origin = Origin(path or "", tuple(self.folders) if path else ())
        default = registry.default()
        target = Target(default.names, by_default=default.reason, machine=self._machine)
        if core:
            try:
                target = target.only_on(registry.get(core).name)
            except ValueError as error:
                raise RefusedRequest(str(error)) from None
        # Texts come from an agent: no program of this machine reads them.
        source_options = SourceOptions(
            region=region or None, function=function or None, allow_external_programs=False, origin=origin
        )
        return AnalysisOptions(source_options, target)

    def _path(self, source: str) -> str | None:
        """The file that a source names; None if it is a text."""
        if "\n" in source or len(source) > 4096 or not os.path.isabs(source):
            return None
        return source

    def _text(self, source: str) -> str:
        if (path := self._path(source)) is None:
            return source
        if is_object(data := self._read(path)):
            raise RefusedRequest(f"{path} is machine code; rewrites change texts")
        return to_text(data)

    def _read(self, path: str) -> bytes:
        if not self.folders:
            raise RefusedRequest(
                "no folder may be read: send the text, or start cyclelens mcp --folder FOLDER"
            )
        try:
            return read_permitted(path, Origin("", tuple(self.folders)), MAXIMUM_BYTES)
        except OSError as error:
            raise RefusedRequest(f"{path} cannot be read: {error.strerror or error}") from None


def _limit() -> Callable[[], bool]:
    end = time.monotonic() + PATIENCE
    return lambda: time.monotonic() > end


def _pages() -> Iterator[Path]:
    """The pages about diagnostics, by code."""
    folder = next((each for each in FOLDERS if each.is_dir()), None)
    return iter(() if folder is None else sorted(set(folder.glob("*.md")) - {folder / "README.md"}))
