"""An engine for tests: regions of a toy text, and every way in which a worker can fail.

``region NAME`` .. ``end`` is a region. Its figure is its number of lines; a line ``bad`` makes it incomplete.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable
from cyclelens.analyzer.model.label import RegionLabel
from cyclelens.analyzer.model.result import Hint
from cyclelens.analyzer.model.source import Problem
from cyclelens.server.worker_messages.results import ANALYSIS, FileResult, Job, RegionResult, TimelineQuestion
from msgspec.structs import replace


class FakeEngine:
    def run(
        self, job: Job, cancel: Callable[[], bool]
    ) -> Iterator[FileResult | ComparisonProgress | ComparisonTable | None]:
        if job.task != ANALYSIS:
            yield from self.compare(job, cancel)
            return
        result = self.analyse(job, cancel)
        while "endless parts" in job.text and not cancel():
            time.sleep(0.01)
            yield None
        if "in parts" in job.text:
            yield replace(result, regions=result.regions[:1], pending=True)
            yield None
        if "cards later" in job.text:
            bare = tuple(replace(region, cards={}) for region in result.regions)
            yield replace(result, regions=bare, detailed=False)
            while "no cards" in job.text and not cancel():
                time.sleep(0.01)
            time.sleep(0.1)
        yield result
        if "slow timeline" in job.text:
            while not cancel():
                time.sleep(0.01)
        if "more" in job.text:
            yield replace(result, dialect="more")

    def timeline(self, question: TimelineQuestion, cancel: Callable[[], bool]) -> str:
        if question.region == "broken":
            raise ValueError("a mistake on purpose")
        while question.region == "endless" and not cancel():
            time.sleep(0.01)
        return f"line {question.line} of drawn" if question.region == "drawn" else ""

    def compare(self, job: Job, cancel: Callable[[], bool]) -> Iterator[ComparisonProgress | ComparisonTable]:
        """Takes long for a region ``long``, and until it is cancelled for one called ``endless``."""
        wait_for(job.region)
        for step in range(10 if job.region == "long" else 0):
            time.sleep(0.1)
            yield ComparisonProgress(step + 1, 10)
        while job.region == "endless" and not cancel():
            time.sleep(0.01)
        yield ComparisonTable(f"{job.task} of {job.region}", ("figure",), ((1.0,),), "a table")

    def analyse(self, job: Job, cancel: Callable[[], bool]) -> FileResult:
        if "print" in job.text:
            print("this must not reach the protocol")
            os.write(1, b"nor this\n")
        if "die" in job.text:
            os._exit(3)
        if "raise" in job.text:
            raise RuntimeError("a mistake on purpose")
        if "spawn" in job.text:
            sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
            problem = Problem(0, 0, 1, "pid", str(sleeper.pid))
            return FileResult(problems=(problem,))
        wait_for(job.text)
        while "hang" in job.text:
            time.sleep(0.01)
        while "wait until cancelled" in job.text:
            time.sleep(0.01)
            if cancel():
                raise InterruptedError
        lines = job.text.split("\n")
        starts = [index for index, line in enumerate(lines) if line.startswith("region ")]
        regions = tuple(_region(lines, start) for start in starts)
        problems = tuple(
            Problem(index, line.index("bad"), len(line), "fake-problem", "this line is bad")
            for index, line in enumerate(lines)
            if re.search(r"\bbad\b", line)
        )
        return FileResult(regions, problems, "fake")


def wait_for(text: str) -> None:
    """``wait for PATH``: make a file ``PATH.begun`` and wait until there is one at PATH."""
    if wanted := re.search(r"wait for (\S+)", text):
        Path(wanted[1] + ".begun").touch()
        while not Path(wanted[1]).exists():
            time.sleep(0.01)


def _region(lines: list[str], start: int) -> RegionResult:
    end = next((i for i in range(start, len(lines)) if lines[i] == "end"), len(lines) - 1)
    body = range(start + 1, end)
    name = lines[start].split()[1]
    if any("bad" in lines[index] for index in body):
        return RegionResult(name, start, end, complete=False, note="a line is bad")
    figure = f"{len(body)} cycles"
    hints = [Hint(start, len(lines[start]), figure, "tooltip", "region")]
    hints += [Hint(index, len(lines[index]), lines[index].strip(), kind="ports") for index in body]
    return RegionResult(
        name,
        start,
        end,
        complete=True,
        labels=(RegionLabel(number=str(len(body)), unit="cycles"),),
        summary=f"**{name}** takes `{figure}`",
        hints=tuple(hints),
        cards={index: f"card of {lines[index].strip()}" for index in body},
    )


def create() -> FakeEngine:
    return FakeEngine()


def create_broken() -> FakeEngine:
    raise RuntimeError("this engine cannot start")
