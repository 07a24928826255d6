"""Where microbenchmarks run: the simulator of a core, whose truth is known, or this machine's hardware."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Protocol

from cyclelens.analyzer.decoding.counted_loop import counted_loop
from cyclelens.analyzer.decoding.decoder import decode
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.measuring.blocks import measure_block
from cyclelens.analyzer.measuring.harness import Harness
from cyclelens.analyzer.measuring.requests import BUSY, PATTERN, SAME, Inputs
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.simulator.pipeline import simulate
from cyclelens.analyzer.uops.block import build_block

_TRIES = 5
"""Where the machine is busy: a variant that is given up would be missing in the tables."""
_STRAIGHT_RUNS = 3
_INSTRUCTIONS = 100
"""Of a loop's body: the counter and the jump do not matter beside them."""


_STRAIGHT = "straight "


@dataclass(frozen=True, slots=True)
class Run:
    """What a machine says about one copy of a block that is repeated for long."""

    cycles: float
    uops: float | None = None
    """That were executed; None where they are not counted."""
    units: Mapping[str, float] | None = None
    """Uops by execution unit; None where they are not counted."""
    slots: float | None = None
    """Of the renamer: what leaves it as one; None where they are not counted."""


@dataclass(frozen=True, slots=True)
class Start:
    """What registers and memory hold at first, where it is not all the same."""

    registers: tuple[tuple[str, int], ...] = ()
    words: tuple[tuple[int, int], ...] = ()
    """Of 64 bits, by the distance from what the registers hold otherwise."""


ALL_THE_SAME = Start()


class Machine(Protocol):
    """All that the algorithms know of a processor."""

    def run(self, code: bytes, start: Start = ALL_THE_SAME) -> Run | str:
        """Repeat the code, or say why that cannot be done."""
        ...

    def straight(self, code: bytes) -> Run | str:
        """Run copies of the code end to end, out of the decoders."""
        ...


class SimulatedMachine:
    """A core as it is simulated. It counts everything."""

    def __init__(
        self, model: Microarchitecture, store: FactsStore, options: ModelOptions = PUBLISHED
    ) -> None:
        self._model = model
        self._store = store
        self._options = options
        self._known: dict[bytes, Run | str] = {}

    def run(self, code: bytes, start: Start = ALL_THE_SAME) -> Run | str:
        """The same whatever the values are."""
        if code not in self._known:
            self._known[code] = self._simulated(code)
        return self._known[code]

    def straight(self, code: bytes) -> Run | str:
        """Its cycles alone."""
        try:
            block = build_block(decode(code), self._model, self._store, loop=False)
            return Run(simulate(block, self._model, options=self._options).cycles_per_iteration)
        except Exception as error:  # as in a loop
            return f"the simulation failed: {error}"

    def _simulated(self, code: bytes) -> Run | str:
        instructions = decode(code)
        copies = max(_INSTRUCTIONS // len(instructions), 1)
        looped = counted_loop(code, copies)
        if looped is None:
            return "no register is left to count rounds"
        try:
            block = build_block(decode(looped), self._model, self._store, loop=True)
            if any(entry.facts is None for entry in block.entries):
                return "the core does not have the instruction"
            found = simulate(block, self._model, options=self._options)
        except Exception as error:  # one variant that fails must not end a run of thousands
            return f"the simulation failed: {error}"
        cycles, rounds = found.period or (found.cycles_per_iteration, 1)
        units: Counter[str] = Counter()
        own = found.usage[: copies * len(instructions)]
        for usage in own:
            units.update(usage.ports)
        return Run(
            cycles / rounds / copies,
            sum(each.executed for each in own) / copies,
            {name: uops / copies for name, uops in units.items()},
            sum(each.issued for each in own) / copies,
        )


class MeasuredMachine:
    """This machine. It says how many cycles; what else happens is found out by blocking units."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness

    def run(self, code: bytes, start: Start = ALL_THE_SAME) -> Run | str:
        words = {PATTERN + distance: word for distance, word in start.words}
        return self._measured(code, "copies", Inputs(registers=dict(start.registers), words=words))

    def straight(self, code: bytes) -> Run | str:
        """The median of several runs: straight-line code is short, and disturbed more easily."""
        runs = [self._measured(code, "unroll", SAME) for _ in range(_STRAIGHT_RUNS)]
        known = [run.cycles for run in runs if not isinstance(run, str)]
        return Run(median(known)) if known else runs[0]

    def _measured(self, code: bytes, mode: str, inputs: Inputs) -> Run | str:
        for _ in range(_TRIES):
            found = measure_block(self._harness, code.hex(), mode, 1, inputs)
            if found.problem != BUSY:
                break
        return found.problem if found.cycles is None else Run(found.cycles)


class RememberedMachine:
    """A machine whose answers are kept in a file, so that a run that was ended goes on where it was.

    One JSON array per line: code in hexadecimal, behind ``straight`` if it was no loop; cycles, uops, units
    and slots, or the problem; registers and words at the start.
    """

    def __init__(self, machine: Machine, file: Path) -> None:
        self._machine = machine
        self._known = dict(_answers(file))
        self._stream = file.open("a", encoding="ascii")

    def run(self, code: bytes, start: Start = ALL_THE_SAME) -> Run | str:
        """What the machine says, or said."""
        values = start.registers, start.words
        return self._remembered(code.hex(), values, lambda: self._machine.run(code, start))

    def straight(self, code: bytes) -> Run | str:
        """What the machine says of straight-line code, or said."""
        return self._remembered(_STRAIGHT + code.hex(), ((), ()), lambda: self._machine.straight(code))

    def _remembered(
        self, code: str, values: tuple[object, object], ask: Callable[[], Run | str]
    ) -> Run | str:
        key = _key(code, *values)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = ask()
            if known == BUSY:  # another run may find it quiet
                return known
            answer = known if isinstance(known, str) else [known.cycles, known.uops, known.units, known.slots]
            self._stream.write(json.dumps([code, answer, *values]) + "\n")
            self._stream.flush()
        return known

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def _key(code: str, registers: object, words: object) -> str:
    return json.dumps([code, registers, words])


def _answers(file: Path) -> Iterator[tuple[str, Run | str]]:
    """Those of a file; a line that was cut off ends them."""
    if not file.exists():
        return
    for line in file.read_text(encoding="ascii").splitlines():
        try:
            code, answer, registers, words = json.loads(line)
        except ValueError:
            return
        yield _key(code, registers, words), answer if isinstance(answer, str) else Run(*answer)
