"""Finds the streams of a loop, accesses that walk through one array by a constant step, and the figures of
the loop by the level that holds their data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import lcm

from cyclelens.analyzer.insight.addresses import LONGEST_STEP, Access
from cyclelens.analyzer.insight.memory_levels.ecm import InCore, cycles
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.memory_levels import levels_of
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.memory_levels import PAGE_BYTES, DataLevels, LevelFigure, MemoryLevels, Stream
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.source import LINE_BYTES
from cyclelens.analyzer.model.units import Role, UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate
from msgspec.structs import replace

_FASTEST_LOAD = 4
"""Latency in cycles that no core's loads from L1 undercut."""
_NON_TEMPORAL = re.compile(r"v?movnt(?!dqa)\w+")
"""Stores past the caches; ``movntdqa`` loads."""
_SCATTERED = re.compile(r"v?p?(gather|scatter)\w+")


def data_levels(prediction: Prediction, accessed: Sequence[Sequence[Access]]) -> DataLevels | None:
    """The figures by level; None for code that is no loop, and for loops that touch no new addresses, so that
    their data stay in the first-level cache. ``accessed``: the ``accesses`` of its instructions in two
    iterations."""
    if prediction.mode is not Mode.LOOP:
        return None
    found = streams_of(prediction.instructions, accessed)
    if not instructions_of(found):
        return None
    levels = levels_in_use(prediction)
    nearest = None if levels is None else levels.levels[0].latency
    # An instruction may be on the chain with another operand than its address, and a gather often is.
    least = _FASTEST_LOAD if nearest is None else nearest.value
    waited = {
        index
        for index, added in prediction.chain
        if added >= least and not _SCATTERED.fullmatch(prediction.instructions[index].instruction.mnemonic)
    }
    found = replace(found, chased=tuple(index for index in found.scattered if index in waited))
    if levels is None:
        return found
    core = in_core(prediction)
    figures = []
    for level in levels.levels:
        latency = None if level.latency is None else level.latency.value
        time = cycles(levels, core, found.streams, [level.name] * len(found.streams))
        if found.chased:
            time = _waited(prediction, len(found.chased), time, latency, levels)
        elif not found.streams and level is not levels.levels[0]:
            time = None
        figures.append(LevelFigure(level.name, time, latency))
    file = "" if prediction.machine is None else prediction.machine.file
    return replace(found, figures=tuple(figures), translation=levels.translation, file=file)


def _waited(
    prediction: Prediction, loads: int, time: float | None, latency: float | None, levels: MemoryLevels
) -> float | None:
    """Cycles of an iteration whose critical chain leads through loads from one level: the chain with this
    level's latency in place of that of L1, if it is longer than ``time``."""
    nearest = levels.levels[0].latency
    if time is None or latency is None or nearest is None:
        return None
    chain = prediction.bounds.get("Dependencies", 0.0)
    return max(time, chain + loads * (latency - nearest.value))


def levels_in_use(prediction: Prediction) -> MemoryLevels | None:
    """The measured memory levels of the user's machine, else those of the core; None if they are not
    known."""
    own = prediction.machine
    return levels_of(prediction.microarchitecture) if own is None else own.levels


def in_core(prediction: Prediction) -> InCore:
    """The time of an iteration in the core, and of its loads by the units that they share."""
    units = registry.get(prediction.microarchitecture).units
    loads = sum(uop.kind is UopKind.LOAD for each in prediction.instructions for uop in each.uops)
    return InCore(prediction.cycles_per_iteration, loads / len(units.having(Role.LOAD).names))


def instructions_of(data: DataLevels) -> tuple[int, ...]:
    """Indices of all instructions that touch new addresses, ascending."""
    streams = (index for stream in data.streams for index in stream.instructions)
    return tuple(sorted({*data.scattered, *data.far, *streams}))


def streams_of(
    instructions: Sequence[InstructionTemplate], accessed: Sequence[Sequence[Access]]
) -> DataLevels:
    """The streams in order of their first access, and the instructions whose accesses move on but are no
    stream; without figures.

    ``accessed``: the ``accesses`` of the instructions in two iterations.
    """
    groups: dict[object, list[Access]] = {}
    steps: dict[object, int] = {}
    scattered: dict[int, None] = {}
    far: dict[int, None] = {}
    for now, later in zip(*accessed, strict=True):
        moved = later.address.plus(now.address, -1)
        if moved.terms or _SCATTERED.fullmatch(_mnemonic(instructions, now)):
            scattered[now.instruction] = None
        elif abs(moved.constant) > LONGEST_STEP:
            continue
        elif abs(moved.constant) > PAGE_BYTES:  # prefetchers do not follow it
            far[now.instruction] = None
        elif moved.constant:
            key = frozenset(now.address.terms.items()), moved.constant
            groups.setdefault(key, []).append(now)
            steps[key] = moved.constant
    found = tuple(_stream(instructions, group, steps[key]) for key, group in groups.items())
    return DataLevels(found, tuple(scattered), far=tuple(far))


def _mnemonic(instructions: Sequence[InstructionTemplate], access: Access) -> str:
    return instructions[access.instruction].instruction.mnemonic


def _stream(instructions: Sequence[InstructionTemplate], group: Sequence[Access], step: int) -> Stream:
    first = group[0].access
    stores = [each for each in group if each.access.written]
    past_caches = [each for each in stores if _NON_TEMPORAL.fullmatch(_mnemonic(instructions, each))]
    only_past = bool(past_caches) and len(past_caches) == len(group)
    offsets = sorted({each.address.constant for each in group})
    return Stream(
        pointer=(first.base or first.index or "").lower(),
        step=step,
        lines=_lines(offsets, step),
        loaded=not only_past,
        stored=bool(stores),
        non_temporal=only_past,
        instructions=tuple(dict.fromkeys(each.instruction for each in group)),
        distances=_distances(offsets, max(abs(step), LINE_BYTES)),
    )


def _lines(offsets: Iterable[int], step: int) -> float:
    """Lines that an iteration touches for the first time, if the pointer is aligned to a line."""
    step = abs(step)
    period = lcm(step, LINE_BYTES)
    rounds = period // step
    touched = {
        (offset + number * step) % period // LINE_BYTES for offset in offsets for number in range(rounds)
    }
    return len(touched) / rounds


def _distances(offsets: Sequence[int], apart: int) -> tuple[int, ...]:
    """Bytes between the beginnings of neighbouring rows; a row ends where the next offset is more than
    ``apart`` bytes away."""
    starts, last = offsets[:1], offsets[0]
    for offset in offsets[1:]:
        if offset - last > apart:
            starts = [*starts, offset]
        last = offset
    return tuple(later - earlier for earlier, later in pairwise(starts))
