"""Runs the native harness: one process for many blocks, with a sandboxed child for each."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from cyclelens.analyzer.measuring.quiet_core import round_cycles
from cyclelens.analyzer.measuring.requests import (
    Measurement,
    MeasurementRequest,
    OutputDifference,
    PairRequest,
)
from cyclelens.analyzer.model.choices import Clocks, Pages
from msgspec import Struct

PROGRAM = Path(__file__).with_name("cyclelens-harness")
MOST_EVENTS = 4
"""Most events counted besides cycles: some processors open a sixth counter and never count it."""
MILLISECONDS = 3000
"""Time limit of a block."""
_CHOICES = {Clocks.TIME_STAMPS: "--time-stamps", Clocks.NONE: "--no-clock"}
_END_SECONDS = 5


class CannotMeasure(Exception):
    """This machine cannot measure; the message says why."""


class Clock(Struct, frozen=True):
    """Source of the cycle counts, and the check of its accuracy."""

    source: Clocks
    """The source in use; never ``AUTO``."""
    imul: float
    """Cycles of one dependent IMUL by this clock."""
    knows_core: bool = True
    """Whether a thread that always shares the core is noticed, which requires a model of the core."""

    @property
    def caution(self) -> str:
        """A warning that concerns every figure; empty if there is none."""
        if self.knows_core:
            return ""
        return "a thread that shares the core all the time would not be noticed: the core has no model"


class Harness:
    """A running harness; a context manager. It must not be shared between threads."""

    def __init__(
        self,
        *,
        clock: Clocks = Clocks.AUTO,
        events: Sequence[int] = (),
        pages: Pages = Pages.PRIVATE,
        milliseconds: int = MILLISECONDS,
        step: int = 0,
    ) -> None:
        """Start the harness. Raises ``CannotMeasure``.

        ``events``: raw numbers of at most ``MOST_EVENTS`` events to count besides cycles, which requires
        counters. ``milliseconds``: the time limit per block. ``step``: for tests, ticks by which time stamps
        advance at once, as they do on some processors."""
        if not PROGRAM.exists():
            raise CannotMeasure(
                "the measuring program is missing: it is built only on Linux on x86-64, with a C compiler"
            )
        limits = ["--milliseconds", str(milliseconds), "--step", str(step)]
        limits += ["--shared-pages"] * (pages is Pages.SHARED)
        self._round = None if clock is Clocks.NONE else round_cycles()
        if self._round is not None:
            limits += ["--canary", f"{self._round:.3f}"]
        counted = [word for event in events for word in ("--event", f"{event:x}")]
        self._words = {
            source: [*limits, *(counted if source is Clocks.COUNTERS else [_CHOICES[source]])]
            for source in ((Clocks.COUNTERS, Clocks.TIME_STAMPS) if clock is Clocks.AUTO else (clock,))
        }
        self._open()

    def _open(self) -> None:
        problems = []
        for source, words in self._words.items():
            self._process = _start(words)
            greeting = self._read()
            if greeting.startswith("source="):
                fields = dict(part.partition("=")[::2] for part in greeting.split())
                source = Clocks(fields["source"])
                self.clock = Clock(source, float(fields["imul"]), self._round is not None)
                return
            self.close()
            problems.append(f"{source}: {greeting.partition('=')[2] or 'the measuring program ended'}")
        raise CannotMeasure("; ".join(problems))

    def measure(self, request: MeasurementRequest) -> Measurement:
        """Measure one block. Raises ``CannotMeasure`` if the harness itself has ended."""
        return Measurement.read(self._answer(request.line()))

    def compare(self, pair: PairRequest) -> OutputDifference:
        """Compare the results of two pieces of code. Raises as ``measure``."""
        return OutputDifference.read(self._answer(pair.line()))

    def _answer(self, request: str) -> str:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(request + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise CannotMeasure("the measuring program ended") from None
        line = self._read()
        if not line:
            raise CannotMeasure("the measuring program ended")
        return line

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def renew(self) -> None:
        """Restart the harness. Raises ``CannotMeasure``.

        A harness that once overestimated the processor's speed considers it busy forever."""
        self.close()
        self._open()

    def close(self) -> None:
        """End the harness process."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Harness:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _start(words: Sequence[str]) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            [str(PROGRAM), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            close_fds=True,
            env={"LC_ALL": "C"},
            cwd=os.sep,
        )
    except OSError as error:
        raise CannotMeasure(f"the measuring program cannot be started: {error.strerror}") from None
