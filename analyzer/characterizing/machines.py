"""Machines for microbenchmarks: the simulator of a core, whose parameters are known, or this hardware."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from statistics import median
from time import monotonic, sleep
from typing import Protocol

from cyclelens.analyzer.common.regular_files import AT_ONCE, read_regular
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.isa.counted_loop import counted_loop
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.measuring.blocks import measure_block
from cyclelens.analyzer.measuring.harness import MOST_EVENTS, Harness
from cyclelens.analyzer.measuring.requests import BUSY, PATTERN, SAME, Inputs
from cyclelens.analyzer.microarchitectures.events import events
from cyclelens.analyzer.model.choices import Clocks, Pages, Repetition
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.uops.block import build_block
from msgspec import Struct
from msgspec.structs import astuple, replace

_TRIES, _PAUSE, _PATIENCE = 5, 2.0, 180.0
"""On a busy machine: measurements before a pause, its seconds, and the seconds until a code is given up.

Figures that were given up are missing from the tables."""
_STRAIGHT_RUNS = 3
_INSTRUCTIONS, _UNCOUNTED_INSTRUCTIONS = 100, 250
"""Instructions in a loop's body: enough to make the counter and jump negligible.

Without counters a loop needs more, because a round may take a whole number of cycles, and its end one
more."""


_STRAIGHT = "straight "


class RepeatedRun(Struct, frozen=True):
    """Figures per copy of a block that is repeated for long."""

    cycles: float
    uops: float | None = None
    """Executed uops; None where they are not counted."""
    units: Mapping[str, float] | None = None
    """Uops by execution unit, for counted units; None if no units are counted."""
    slots: float | None = None
    """Rename slots, which hold uops that leave the renamer as one; None where they are not counted."""
    decoded: float | None = None
    """Uops from the decoders; None where they are not counted, and in loops, which a uop cache delivers."""
    microcode: float | None = None
    """Uops from the microcode sequencer; None as above."""


class Start(Struct, frozen=True):
    """Initial registers and memory that differ from the default value."""

    registers: tuple[tuple[str, int], ...] = ()
    words: tuple[tuple[int, int], ...] = ()
    """64-bit words by their distance, in bytes, from the registers' default value."""


ALL_THE_SAME = Start()


class Machine(Protocol):
    """Interface of a processor for the algorithms."""

    def run(self, code: bytes, start: Start = ALL_THE_SAME) -> RepeatedRun | str:
        """Repeat the code in a loop; returns a problem if that is not possible."""
        ...

    def straight(self, code: bytes) -> RepeatedRun | str:
        """Run straight-line copies of the code from the decoders."""
        ...


class SimulatedMachine:
    """A simulated core. It counts everything or, if not ``counted``, only cycles."""

    def __init__(
        self,
        model: Microarchitecture,
        store: FactsStore,
        options: ModelOptions = PUBLISHED,
        *,
        counted: bool = True,
    ) -> None:
        self._model = model
        self._store = store
        self._counted = counted
        self._options = options
        self._known: dict[bytes, RepeatedRun | str] = {}

    def run(self, code: bytes, start: Start = ALL_THE_SAME) -> RepeatedRun | str:
        """Simulate the loop; initial values have no effect."""
        if code not in self._known:
            self._known[code] = self._simulated(code)
        return self._known[code]

    def straight(self, code: bytes) -> RepeatedRun | str:
        """Simulate straight-line copies; cycles and deliveries are counted."""
        try:
            block = build_block(decode(code, self._store.caches), self._model, self._store, loop=False)
            found = simulate(block, self._model, options=self._options, caches=self._store.caches)
        except Exception as error:  # as in a loop
            return f"the simulation failed: {error}"
        if not self._counted:
            return RepeatedRun(found.cycles_per_iteration)
        decoded, microcode = (
            sum(each.sources.get(source, 0.0) for each in found.usage) for source in ("MITE", "MS")
        )
        return RepeatedRun(found.cycles_per_iteration, decoded=decoded, microcode=microcode)

    def _simulated(self, code: bytes) -> RepeatedRun | str:
        instructions = decode(code, self._store.caches)
        if self._counted:
            copies = max(_INSTRUCTIONS // len(instructions), 1)
        else:
            copies = math.ceil(_UNCOUNTED_INSTRUCTIONS / len(instructions))
        looped = counted_loop(code, copies)
        if looped is None:
            return "no register is left to count rounds"
        try:
            block = build_block(decode(looped, self._store.caches), self._model, self._store, loop=True)
            if any(entry.facts is None for entry in block.entries):
                return "the core does not have the instruction"
            found = simulate(block, self._model, options=self._options, caches=self._store.caches)
        except Exception as error:  # one variant that fails must not end a run of thousands
            return f"the simulation failed: {error}"
        cycles, rounds = found.period or (found.cycles_per_iteration, 1)
        if not self._counted:
            return RepeatedRun(cycles / rounds / copies)
        units = {unit.name: 0.0 for unit in self._model.units.all}
        own = found.usage[: copies * len(instructions)]
        for usage in own:
            for name, uops in usage.ports.items():
                units[name] += uops
        return RepeatedRun(
            cycles / rounds / copies,
            sum(each.executed for each in own) / copies,
            {name: uops / copies for name, uops in units.items()},
            sum(each.issued for each in own) / copies,
        )


class _MeasuredBlock(Struct, frozen=True):
    cycles: float
    events: tuple[float, ...]


class Counting(Struct, frozen=True):
    """A harness, and the units of each event that it counts; none for slots."""

    harness: Harness
    events: tuple[tuple[str, ...], ...]


class MeasuredMachine:
    """This machine. It always gives cycles, and uops and slots if its counters count them.

    ``counting``: one harness per group of events that can be counted at once; ``complete``: whether the
    events cover every unit; ``delivered``: a harness that counts uops from decoders and microcode.
    """

    def __init__(
        self,
        harness: Harness,
        counting: Sequence[Counting] = (),
        *,
        complete: bool = False,
        delivered: Harness | None = None,
    ) -> None:
        self._harness, self._counting, self._complete = harness, counting, complete
        self._delivered = delivered
        self._busy_since: float | None = None

    def run(self, code: bytes, start: Start = ALL_THE_SAME) -> RepeatedRun | str:
        words = {PATTERN + distance: word for distance, word in start.words}
        inputs = Inputs(registers=dict(start.registers), words=words)
        found = self._measured(self._harness, code, Repetition.COPIES, inputs)
        return found if isinstance(found, str) else self._counted(RepeatedRun(found.cycles), code, inputs)

    def _counted(self, run: RepeatedRun, code: bytes, inputs: Inputs) -> RepeatedRun | str:
        units: dict[str, float] = {}
        slots = None
        for counting in self._counting:
            found = self._measured(counting.harness, code, Repetition.COPIES, inputs)
            if isinstance(found, str):
                return found
            for names, number in zip(counting.events, found.events, strict=True):
                if not names:
                    slots = number
                # Units with a common counter belong to the same sets.
                units |= dict.fromkeys(names, number / max(len(names), 1))
        uops = sum(units.values()) if self._complete and units else None
        return replace(run, uops=uops, units=units or None, slots=slots)

    def straight(self, code: bytes) -> RepeatedRun | str:
        """Median of several runs, because straight-line code is short and easily disturbed."""
        runs = [self._measured(self._harness, code, Repetition.UNROLL, SAME) for _ in range(_STRAIGHT_RUNS)]
        known = [run.cycles for run in runs if not isinstance(run, str)]
        if not known:
            return str(runs[0])
        found = RepeatedRun(median(known))
        if self._delivered is None:
            return found
        counted = self._measured(self._delivered, code, Repetition.UNROLL, SAME)
        if isinstance(counted, str):
            return counted
        decoded, microcode = counted.events
        return replace(found, decoded=decoded, microcode=microcode)

    def _measured(
        self, harness: Harness, code: bytes, mode: Repetition, inputs: Inputs
    ) -> _MeasuredBlock | str:
        """Measure once the machine is not busy; if it stays busy, only the first code waits."""
        for tries in count(1):
            found = measure_block(harness, code.hex(), mode, 1, inputs)
            if found.problem != BUSY:
                self._busy_since = None
                break
            if self._busy_since is None:
                self._busy_since = monotonic()
            if tries % _TRIES == 0:
                # Tries of slow code take seconds, too.
                if monotonic() - self._busy_since >= _PATIENCE:
                    break
                sleep(_PAUSE)
                harness.renew()
        return found.problem if found.cycles is None else _MeasuredBlock(found.cycles, found.events)


@contextmanager
def opened(own: Microarchitecture | None) -> Iterator[MeasuredMachine]:
    """This machine, with the counters of its core; ``own`` is None for an unknown core. Raises
    ``CannotMeasure``."""
    with ExitStack() as stack:
        harness = stack.enter_context(Harness(pages=Pages.SHARED))
        known = None if own is None or harness.clock.source is not Clocks.COUNTERS else events(own)
        if known is None:
            yield MeasuredMachine(harness)
            return
        every = [(known.slots, ()), *known.units.items()]
        counting = []
        for first in range(0, len(every), MOST_EVENTS):
            few = every[first : first + MOST_EVENTS]
            wanted = [raw for raw, _ in few]
            counter = Harness(clock=Clocks.COUNTERS, events=wanted, pages=Pages.SHARED)
            counting.append(Counting(stack.enter_context(counter), tuple(names for _, names in few)))
        delivered = None
        if known.delivered is not None:
            counter = Harness(clock=Clocks.COUNTERS, events=known.delivered, pages=Pages.SHARED)
            delivered = stack.enter_context(counter)
        yield MeasuredMachine(harness, counting, complete=known.complete, delivered=delivered)


class RememberedMachine:
    """A machine whose answers are kept in a file, so that an interrupted run can resume.

    The file has one JSON array per line: code in hexadecimal, after ``straight`` if it was no loop; the
    fields of ``RepeatedRun`` in their order, or the problem; registers and words at the start.
    """

    def __init__(self, machine: Machine, file: Path) -> None:
        self._machine = machine
        self._known = dict(_answers(file))
        self._stream = file.open("a", encoding="ascii")
        self.busy = 0
        """Number of codes not measured because the machine was busy; the file omits them, so that the next
        run tries again."""

    def run(self, code: bytes, start: Start = ALL_THE_SAME) -> RepeatedRun | str:
        """The machine's answer, from the file if it is there."""
        values = start.registers, start.words
        return self._remembered(code.hex(), values, lambda: self._machine.run(code, start))

    def straight(self, code: bytes) -> RepeatedRun | str:
        """The machine's answer for straight-line code, from the file if it is there."""
        return self._remembered(_STRAIGHT + code.hex(), ((), ()), lambda: self._machine.straight(code))

    def _remembered(
        self, code: str, values: tuple[object, object], ask: Callable[[], RepeatedRun | str]
    ) -> RepeatedRun | str:
        key = _key(code, *values)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = ask()
            if known == BUSY:
                self.busy += 1
                return known
            answer = known if isinstance(known, str) else list(astuple(known))
            self._stream.write(json.dumps([code, answer, *values]) + "\n")
            self._stream.flush()
        return known

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def _key(code: str, registers: object, words: object) -> str:
    return json.dumps([code, registers, words])


def _answers(file: Path) -> Iterator[tuple[str, RepeatedRun | str]]:
    """Answers in a file, up to the first incomplete line."""
    if not file.exists():
        return
    for line in read_regular(file, AT_ONCE).decode("ascii").splitlines():
        try:
            code, answer, registers, words = json.loads(line)
        except ValueError:
            return
        yield _key(code, registers, words), answer if isinstance(answer, str) else RepeatedRun(*answer)
