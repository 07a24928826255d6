"""Measures the work of an iteration, so that different loops can be compared: four cycles for 32 bytes are
not the same as four cycles for 128.

The marker gives it (``per=8`` elements, ``per=32B`` bytes). Otherwise it is the distance by which the
pointers of the accesses move: in floats or doubles if the instructions compute with nothing else, in bytes
otherwise. It is unknown if the pointers move by different distances.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.insight.addresses import LONGEST_STEP, Access
from cyclelens.analyzer.insight.confidence import is_lower_bound, shows_at_least
from cyclelens.analyzer.model.label import AT_LEAST
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis, Work
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.uops.registers import canonical
from msgspec import Struct

_AMOUNT = r"([1-9]\d{0,8})(B?)"
_STACK = "RSP"
_SIZES = {"byte": 1, "float": 4, "double": 8}
"""Units of known size, in bytes."""
_ARITHMETIC = re.compile(r"v?(?:add|sub|mul|div|max|min|sqrt|fn?m(?:add|sub)(?:132|213|231))[ps]([sd])")
"""Arithmetic on floats (``s``) or doubles (``d``)."""
_PACKED_MOVE = re.compile(r"v?(?:mov[auhl]|movnt)p[sd]")
"""Moves whose names tell nothing of the type: compilers move doubles by ``movups``."""
_TYPED_MOVE = re.compile(r"v?(?:movs|broadcasts|maskmovp)([sd])")
_TIMES = 1.5
"""From this ratio on a gain is stated as a ratio; smaller ones are easier to read as a share of the time."""


class Pace(Struct, frozen=True):
    """A figure with its work, comparable with that of another region or another version of the same one."""

    cycles: float
    """Cycles per iteration."""
    work: Work | None = None

    def per_unit(self) -> float | None:
        """Cycles per element or byte; None if the work is unknown."""
        return None if self.work is None else self.cycles / self.work.amount

    def cycles_for(self, work: Work | None) -> float:
        """Cycles for another amount of work; per iteration unless both amounts are known in the same unit."""
        if self.work is None or work is None or not comparable(self.work, work):
            return self.cycles
        now, wanted = _size(self.work, work), _size(work, self.work)
        return self.cycles if now == wanted else self.cycles * wanted / now


def comparable(one: Work, other: Work) -> bool:
    """Whether two amounts have the same unit, or units of known size."""
    return one.unit == other.unit or (one.unit in _SIZES and other.unit in _SIZES)


def _size(work: Work, other: Work) -> int:
    """The amount of work; in bytes if the other one has another unit."""
    return work.amount if work.unit == other.unit else work.amount * _SIZES[work.unit]


def stated(option: str) -> Work | None:
    """Parses ``per=`` of a marker; None if it is empty or wrong."""
    match = re.fullmatch(_AMOUNT, option)
    return match and Work(int(match[1]), "byte" if match[2] else "element", f"per={option}")


def work_of(region: RegionAnalysis) -> Work | None:
    """Work of an iteration of a region; None if neither marker nor code gives it."""
    option = region.region.options.get("per")
    if option is not None and (work := stated(option)):
        return work
    return region.predictions[0].work if region.predictions else None


def inferred(
    instructions: Sequence[InstructionTemplate], accessed: Sequence[Sequence[Access]]
) -> Work | None:
    """The step of the addresses, where it is constant; None if there are several steps, or if a symbol that
    is not defined says it.

    ``accessed``: the ``accesses`` of the instructions in two iterations.
    """
    written = {output.canonical for template in instructions for output in template.register_outputs}
    steps: set[int] = set()
    through: dict[str, None] = {}
    moving: list[str] = []
    for now, later in zip(*accessed, strict=True):
        moved = later.address.plus(now.address, -1)
        names = [name for name in (now.access.base, now.access.index) if name and canonical(name) in written]
        if names and _STACK not in names and moved.constant and not moved.terms:
            steps.add(abs(moved.constant))
            through.update(dict.fromkeys(name.lower() for name in names))
            moving.append(instructions[now.instruction].instruction.mnemonic)
    if len(steps) != 1 or max(steps) > LONGEST_STEP:
        return None
    (step,) = steps
    *names, last = through
    unit = _element([template.instruction.mnemonic for template in instructions], moving)
    if step % _SIZES[unit]:
        unit = "byte"
    return Work(step // _SIZES[unit], unit, f"step of {', '.join(names)}{' and ' if names else ''}{last}")


def _element(mnemonics: Sequence[str], moving: Sequence[str]) -> str:
    """``float`` or ``double`` if all arithmetic of that kind is on it and all accesses that move
    (``moving``) may hold it; otherwise ``byte``."""
    computed = {match[1] for name in mnemonics if (match := _ARITHMETIC.fullmatch(name))}
    if len(computed) != 1:
        return "byte"
    (kind,) = computed
    for name in moving:
        typed = _ARITHMETIC.fullmatch(name) or _TYPED_MOVE.fullmatch(name)
        if (typed[1] != kind) if typed else not _PACKED_MOVE.fullmatch(name):
            return "byte"
    return "float" if kind == "s" else "double"


def sentence(region: RegionAnalysis, prediction: Prediction) -> str:
    """``32 bytes per iteration (step of rsi), 0.125 cycles per byte, 8.00 bytes per cycle``; only the work
    for a lower bound; empty if the work is unknown."""
    work, cycles = work_of(region), prediction.shown_cycles
    if work is None:
        return ""
    if shows_at_least(prediction):
        return str(work)
    rate = f", {work.amount / cycles:.2f} {work.unit}s per cycle" if cycles else ""
    return f"{work}, {cycles / work.amount:.3f} cycles per {work.unit}{rate}"


def rate(region: RegionAnalysis, prediction: Prediction) -> str:
    """``0.125 cycles/byte`` or ``0.500 cycles/float``; empty if the work is unknown, if the figure is a lower
    bound or if it is that of a function."""
    work, cycles = work_of(region), prediction.shown_cycles
    if work is None or not cycles or shows_at_least(prediction) or prediction.once is not None:
        return ""
    return f"{written(cycles / work.amount)[0]} cycles/{work.unit}"


def leading(region: RegionAnalysis, prediction: Prediction) -> str:
    """``rate`` in front of the figure per iteration: ``0.500 cycles/float, ``; empty if there is none."""
    found = rate(region, prediction)
    return f"{found}, " if found else ""


def pace(cycles: float, work: Work | None) -> str:
    """``0.500 cycles/float, 4.00 cycles/iter``; only the second if the work is unknown."""
    figure = f"{cycles:.2f} cycles/iter"
    return f"{written(cycles / work.amount)[0]} cycles/{work.unit}, {figure}" if work else figure


def pace_of(prediction: Prediction, cycles: float, work: Work | None) -> str:
    """``pace`` of a figure of the prediction's own kind: ``at least 4.00 cycles/iter`` for a lower bound,
    which has no figure per unit."""
    return f"{AT_LEAST}{pace(cycles, None)}" if is_lower_bound(prediction) else pace(cycles, work)


def written(*figures: float) -> list[str]:
    """Cycles per unit, all with two decimals, or with three if the figures are small: ``0.125``."""
    digits = 3 if max(figures) < 1 or min(figures) < 0.1 else 2
    return [f"{figure:.{digits}f}" for figure in figures]


def difference(before: Pace, after: Pace) -> str:
    """Compares the second pace with the first: ``3.4x`` from one and a half times as fast, ``-25 % time`` and
    ``+5 % time`` otherwise; ``3.4x per byte`` if the loops do different amounts of work.

    Empty if the figures agree to two decimals, or if the first is 0.
    """
    first, second = before.cycles_for(after.work), after.cycles
    if first <= 0 or f"{first:.2f}" == f"{second:.2f}":
        return ""
    share = abs(second / first - 1) * 100
    amount = (
        f"{first / second:.1f}x" if second and first / second >= _TIMES else _percent(share, second < first)
    )
    # The unit is left out if an iteration does as much work as before.
    per = f" per {after.work.unit}" if after.work and first != before.cycles else ""
    return f"{amount}{per}"


def _percent(share: float, less: bool) -> str:
    return f"{'-' if less else '+'}{f'{share:.0f}' if share >= 1 else f'{share:.1f}'} % time"


def change(before: Pace, after: Pace) -> str:
    """Both figures and the difference: ``0.500 -> 0.125 cycles/float, 4.0x``; ``3.42 -> 1.00, 3.4x``, in
    cycles per iteration, if the work is unknown.

    Empty if the figures agree to two decimals.
    """
    found, work = difference(before, after), after.work
    if found and work is not None and before.work is not None and comparable(before.work, work):
        first, second = written(before.cycles_for(work) / work.amount, after.cycles / work.amount)
        if first != second:
            return f"{first} -> {second} cycles/{work.unit}, {found.removesuffix(f' per {work.unit}')}"
    if not found and before.cycles_for(work) != before.cycles:
        return ""  # as long per unit as before
    both = f"{before.cycles:.2f} -> {after.cycles:.2f}"
    if found:
        return f"{both}, {found}"
    return "" if f"{before.cycles:.2f}" == f"{after.cycles:.2f}" else both
