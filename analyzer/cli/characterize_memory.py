"""``cyclelens characterize --memory``: measures the levels of this machine's memory on one core, and what a
mispredicted branch costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cyclelens.analyzer.common.byte_sizes import written_size
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.usage import OK, PROBLEMS

if TYPE_CHECKING:
    from cyclelens.analyzer.characterizing.memory import LevelTime
    from cyclelens.analyzer.characterizing.mispredictions import Penalty
    from cyclelens.analyzer.measuring.machine_memory import MachineMemory

_RUNS = 3
_NOISY = 0.05
"""A wider spread is named."""


def run(output: Path | None) -> int:
    """Print what each level takes, and write the parameters to ``output``. Returns 1 if something could not
    be measured. Raises InputError."""
    from cyclelens.analyzer.characterizing.memory import Kind, sizes, times
    from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness
    from cyclelens.analyzer.measuring.machine_memory import this_machine
    from cyclelens.analyzer.measuring.working_sets import MILLISECONDS
    from tqdm import tqdm

    memory = this_machine()
    wanted = sizes(memory)
    if not wanted:
        raise InputError("nothing can be measured here: the system does not say how large the caches are")
    if output is not None:
        _core()
    found: list[LevelTime] = []
    try:
        with Harness(milliseconds=MILLISECONDS) as harness:
            progress = tqdm(
                times(harness, wanted, _RUNS), total=len(wanted) * len(Kind), unit=" loops", disable=None
            )
            found.extend(progress)
            source = harness.clock.source
    except CannotMeasure as error:
        raise InputError(f"nothing can be measured here: {error}") from None
    for line in _table(wanted, found):
        print(line)
    print(f"cycles per line of 64 bytes, of latency per load; one core, by {source}")
    cost = _penalty()
    print(f"misprediction: {cost.problem if cost.cycles is None else f'{cost.cycles:.1f} cycles'}")
    if output is not None:
        _write(output, found, memory, cost)
    return OK if all(each.measured.cycles is not None for each in found) else PROBLEMS


def _table(sizes: Mapping[str, int], found: Sequence[LevelTime]) -> Iterator[str]:
    from cyclelens.analyzer.characterizing.memory import Kind

    by_place = {(each.level, each.kind): each for each in found}
    yield f"{'':8} {'data':>8}" + "".join(f"  {kind:>18}" for kind in Kind)
    for level, size in sizes.items():
        cells = (_cell(by_place[level, kind]) for kind in Kind)
        yield f"{level:8} {written_size(size):>8}" + "".join(f"  {cell:>18}" for cell in cells)
    spreads = [each.measured.spread for each in found if each.measured.cycles is not None]
    if spreads:
        noisy = sum(spread > _NOISY for spread in spreads)
        quiet = "the machine was quiet" if not noisy else f"{noisy} of {len(spreads)} figures above 5 %"
        yield f"spread: at most {max(spreads):.1%}; {quiet}".replace("%;", " %;")
    huge = min(
        (each.measured.huge / each.size for each in found if each.measured.cycles is not None), default=0
    )
    small = "4 KiB, at least in part: address translation takes its time"
    yield f"pages: {'huge (2 MiB)' if huge >= 1 else small}"
    for problem in dict.fromkeys(each.measured.problem for each in found if each.measured.problem):
        yield f"not measured: {problem}"


def _cell(each: LevelTime) -> str:
    measured = each.measured
    if measured.cycles is None:
        return "-"
    return f"{measured.cycles:.2f} ({measured.spread:.1%})".replace("%", " %")


def _core() -> str:
    """The name of this machine's core, whose paths overlap in a known way. Raises InputError."""
    from cyclelens.analyzer.microarchitectures import registry
    from cyclelens.analyzer.microarchitectures.memory_levels import levels_of

    model = registry.native()
    if model is None or levels_of(model.name) is None:
        raise InputError(
            "--output: it is not known which transfers overlap on this machine's core "
            f"({registry.own_name() if model is None else model.title}), so the times give no parameters"
        )
    return model.name


def _penalty() -> Penalty:
    """What a mispredicted branch costs. Raises InputError."""
    from cyclelens.analyzer.characterizing.machines import opened
    from cyclelens.analyzer.characterizing.mispredictions import penalty
    from cyclelens.analyzer.measuring.harness import CannotMeasure
    from cyclelens.analyzer.microarchitectures import registry

    try:
        with opened(registry.native()) as machine:
            return penalty(machine)
    except CannotMeasure as error:
        raise InputError(f"nothing can be measured here: {error}") from None


def _write(output: Path, found: Sequence[LevelTime], memory: MachineMemory, penalty: Penalty) -> None:
    from cyclelens.analyzer.characterizing.memory import fitted
    from cyclelens.analyzer.microarchitectures import registry
    from cyclelens.analyzer.microarchitectures.machine_file import written
    from cyclelens.analyzer.microarchitectures.memory_levels import levels_of
    from cyclelens.analyzer.model.machine_file import MachineFile
    from cyclelens.analyzer.model.provenance import Certainty, Source

    name = _core()
    published = levels_of(name)
    assert published is not None
    source = Source(Certainty.MEASURED, "measured", "Measured by cyclelens characterize --memory")
    levels = fitted(published, found, memory, source)
    worst = max((each.measured.spread for each in found), default=0.0)
    about = f"{registry.own_name()}; cyclelens characterize --memory; spread at most {worst:.1%}"
    try:
        output.write_text(written(MachineFile(name, levels, penalty.cycles), about), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{output} cannot be written: {error.strerror or error}") from None
    print(f"written to {output}: --machine-file {output} uses it in every command")
