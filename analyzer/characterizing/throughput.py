"""Measures throughput: cycles per instance among independent ones."""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.characterizing.instances import EncodableVariant, breakers, family
from cyclelens.analyzer.characterizing.machines import Machine, RepeatedRun
from msgspec.structs import replace

_INSTANCES = (1, 2, 3, 4, 6, 8, 9, 10, 12, 14)
_MORE_INSTANCES = (16, 24)
"""Numbers of instances if instances also wait for earlier ones that changed the same memory."""
_ENOUGH, _TIMES = 8, (2, 3, 4)
"""Instances in separate registers that keep all units busy, and the repetitions to try with fewer."""
SLOW = 1000
"""Cycles per instance from which more instances add no information.

Such an instruction is microcode that waits for a device, or causes an exit of a virtual machine."""


def independent(
    variant: EncodableVariant, count: int, breaking: bytes = b"", *, indexed: bool = False, bare: bool = False
) -> bytes | None:
    """``instances``, concatenated."""
    made = instances(variant, count, breaking, indexed=indexed, bare=bare)
    return None if made is None else b"".join(made)


def instances(
    variant: EncodableVariant, count: int, breaking: bytes = b"", *, indexed: bool = False, bare: bool = False
) -> list[bytes] | None:
    """``count`` instances with separate destinations, each followed by ``breaking``; sources are never
    written.

    ``bare``: only the code before each instance. None if there are not enough registers."""
    every = list[bytes]()
    for number, chosen in enumerate(_choices(variant, count)):
        place = number * variant.apart
        made = variant.instance(chosen, place, indexed=indexed)
        if made is None:
            return None
        every.append(variant.before(chosen, 0, place) if bare else made + breaking)
    return every if len(every) == count else None


def _choices(variant: EncodableVariant, count: int) -> list[dict[int, str]]:
    """Registers of ``count`` instances, or of as many as there are registers for."""
    every, used = list[dict[int, str]](), frozenset[str]()
    sources: dict[int, str] = {}
    while len(every) < count and (chosen := variant.choose(sources, used)) is not None:
        if not every:
            sources = {
                each.index: family(chosen[each.index])
                for each in variant.registers
                if not each.written and len(each.registers) > 1
            }
        targets = [each.index for each in variant.registers if each.written]
        used |= {family(chosen[index]) for index in targets}
        every.append(chosen)
    return every


def spread(instances: list[bytes], others: list[bytes]) -> bytes:
    """Spread the instances evenly among the more numerous others, none of them last."""
    step = len(others) / len(instances)
    behind: dict[int, bytes] = {}
    for number, code in enumerate(instances):
        place = int(step * (number + 0.5))
        behind[place] = behind.get(place, b"") + code
    return b"".join(code + behind.get(place, b"") for place, code in enumerate(others))


def throughput(machine: Machine, variant: EncodableVariant) -> RepeatedRun | str:
    """Fewest cycles per instance, and its uops, over several numbers of instances.

    Instructions that break implicit dependences are tried after each instance, after the last one only,
    because they take slots too, and not at all. Instances with few registers are repeated before they are
    broken."""
    best: RepeatedRun | str = "no instance could be made"
    breaking, idioms = (breakers(variant, frozenset(), idioms=each) for each in (False, True))
    combinations = dict.fromkeys(((b"", b""), (breaking, b""), (b"", breaking), (b"", idioms)))
    after = variant.restoring()
    for count in _INSTANCES + _MORE_INSTANCES * variant.modifies_memory:
        for extra, last in combinations:
            code = independent(variant, count, extra)
            if code is None:
                return _repeated(machine, variant, best) if count <= _ENOUGH else best
            run = machine.run(code + last + after)
            if isinstance(run, str):
                return run
            cycles = run.cycles / count
            if isinstance(best, str) or cycles < best.cycles:
                # Uops and units come from the instances alone, without dependence breaking.
                if isinstance(best, str) or not extra + last:
                    best = replace(of_one(machine, variant, count, run), cycles=cycles)
                else:
                    best = replace(best, cycles=cycles)
                if best.cycles > SLOW:
                    return best
    return best


def _repeated(machine: Machine, variant: EncodableVariant, best: RepeatedRun | str) -> RepeatedRun | str:
    """Fewest cycles with all possible instances repeated several times, and dependence breaking at the
    end."""
    chosen = _choices(variant, _ENOUGH)
    code = independent(variant, len(chosen))
    last = b"".join(breakers(variant, frozenset(), each, idioms=True) for each in chosen)
    if isinstance(best, str) or not code or not last or variant.prepared or variant.pointers:
        return best
    for times in _TIMES:
        run = machine.run(code * times + last)
        if not isinstance(run, str):
            best = replace(best, cycles=min(best.cycles, run.cycles / times / len(chosen)))
    return best


def of_one(
    machine: Machine,
    variant: EncodableVariant,
    count: int,
    run: RepeatedRun,
    behind: bytes = b"",
    *,
    indexed: bool = False,
) -> RepeatedRun:
    """Counts per instance and the code after it, from a ``run`` of several.

    The code before each instance is counted alone and subtracted. If pointers must be reset, the difference
    between twice as many instances and ``run`` counts."""
    if variant.prepared:
        bare = independent(variant, count, indexed=indexed, bare=True)
        less = "" if bare is None else machine.run(bare + variant.restoring())
        return RepeatedRun(0.0) if isinstance(less, str) else _share(run, less, count)
    if not variant.pointers:
        return _share(run, RepeatedRun(0.0, 0.0, {}, 0.0), count)
    code = independent(variant, 2 * count, behind, indexed=indexed)
    twice = "" if code is None else machine.run(code + variant.restoring())
    return RepeatedRun(0.0) if isinstance(twice, str) else _share(twice, run, count)


def _share(run: RepeatedRun, less: RepeatedRun, count: int) -> RepeatedRun:
    def share(whole: float | None, part: float | None) -> float | None:
        return None if whole is None or part is None else (whole - part) / count

    units = None
    if run.units is not None:
        others: Mapping[str, float] = less.units or {}
        units = {name: (uops - others.get(name, 0.0)) / count for name, uops in run.units.items()}
    return RepeatedRun(
        (run.cycles - less.cycles) / count, share(run.uops, less.uops), units, share(run.slots, less.slots)
    )
