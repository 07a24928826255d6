"""Measures the work of an iteration, so that different loops can be compared: four cycles for 32 bytes are
not the same as four cycles for 128.

The marker gives it (``per=8`` elements, ``per=32B`` bytes). Otherwise it is the number of bytes by which the
pointers of the accesses move.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from cyclelens.analyzer.insight.addresses import Access
from cyclelens.analyzer.insight.confidence import is_lower_bound
from cyclelens.analyzer.model.result import Prediction, RegionAnalysis, Work
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.uops.registers import canonical
from msgspec import Struct

_AMOUNT = r"([1-9]\d{0,8})(B?)"
_STACK = "RSP"
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
        if self.work is None or work is None or self.work.unit != work.unit:
            return self.cycles
        if self.work.amount == work.amount:
            return self.cycles  # exactly
        return self.cycles * work.amount / self.work.amount


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
    """The step of the addresses in bytes, where it is constant; the smallest if there are several, because
    rows of a matrix are far apart.

    ``accessed``: the ``accesses`` of the instructions in two iterations.
    """
    written = {output.canonical for template in instructions for output in template.register_outputs}
    steps: defaultdict[int, dict[str, None]] = defaultdict(dict)
    for now, later in zip(*accessed, strict=True):
        moved = later.address.plus(now.address, -1)
        names = [name for name in (now.access.base, now.access.index) if name and canonical(name) in written]
        if names and _STACK not in names and moved.constant and not moved.terms:
            steps[abs(moved.constant)].update(dict.fromkeys(name.lower() for name in names))
    if not steps:
        return None
    least = min(steps)
    names = list(steps[least])
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return Work(least, "byte", f"{'smallest step, of' if len(steps) > 1 else 'step of'} {listed}")


def sentence(region: RegionAnalysis, prediction: Prediction) -> str:
    """``32 bytes per iteration (step of rsi), 0.125 cycles per byte, 8.00 bytes per cycle``; only the work
    for a lower bound; empty if the work is unknown."""
    work, cycles = work_of(region), prediction.cycles_per_iteration
    if work is None:
        return ""
    if is_lower_bound(prediction):
        return str(work)
    rate = f", {work.amount / cycles:.2f} {work.unit}s per cycle" if cycles else ""
    return f"{work}, {cycles / work.amount:.3f} cycles per {work.unit}{rate}"


def rate(region: RegionAnalysis, prediction: Prediction) -> str:
    """``8.00 B/cycle`` or ``0.50 cycles/element``; empty if the work is unknown or the
    figure is a lower bound."""
    work, cycles = work_of(region), prediction.cycles_per_iteration
    if work is None or not cycles or is_lower_bound(prediction):
        return ""
    if work.unit == "byte":
        return f"{work.amount / cycles:.2f} B/cycle"
    return f"{cycles / work.amount:.2f} cycles/{work.unit}"


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
    """Both figures and the difference: ``3.42 -> 1.00, 3.4x``, in cycles per iteration;
    ``0.125 -> 0.031 cycles/byte, 4.0x`` if an iteration does another amount of work than before.

    Empty if the figures agree to two decimals.
    """
    found = difference(before, after)
    first, second = before.per_unit(), after.per_unit()
    if before.cycles_for(after.work) != before.cycles and first is not None and second is not None:
        digits = 3 if max(first, second) < 1 else 2
        unit = after.work.unit if after.work else ""
        both = f"{first:.{digits}f} -> {second:.{digits}f} cycles/{unit}"
        return f"{both}, {found.removesuffix(f' per {unit}')}" if found else ""
    both = f"{before.cycles:.2f} -> {after.cycles:.2f}"
    if found:
        return f"{both}, {found}"
    return "" if f"{before.cycles:.2f}" == f"{after.cycles:.2f}" else both
