"""Throughput: cycles of an instance among others that do not depend on it."""

from __future__ import annotations

from cyclelens.analyzer.characterizing.instances import Variant, breakers, family
from cyclelens.analyzer.characterizing.machines import Machine, Run

MOST_INSTANCES = 8


def independent(variant: Variant, count: int) -> bytes | None:
    """So many instances with destinations of their own; sources are never written. None without registers."""
    code, used = b"", frozenset[str]()
    sources: dict[int, str] = {}
    for number in range(count):
        chosen = variant.choose(sources, used)
        made = None if chosen is None else variant.encode(chosen)
        if chosen is None or made is None:
            return None
        if number == 0:
            sources = {
                each.index: family(chosen[each.index])
                for each in variant.registers
                if not each.written and len(each.registers) > 1
            }
        targets = [each.index for each in variant.registers if each.written]
        used |= {family(chosen[index]) for index in targets}
        code += made
    return code


def throughput(machine: Machine, variant: Variant) -> Run | str:
    """The fewest cycles of an instance, and what it executes, over several numbers of instances, with and
    without instructions that break the dependences through what is not named."""
    best: Run | str = "no instance could be made"
    breaking = breakers(variant, frozenset())
    count = 1
    while count <= MOST_INSTANCES:
        code = independent(variant, count)
        if code is None:
            break
        for extra in (b"", breaking) if breaking else (b"",):
            run = machine.run(code + extra)
            if isinstance(run, str):
                return run
            cycles = run.cycles / count
            if isinstance(best, str) or cycles < best.cycles:
                units = None if run.units is None or extra else run.units
                uops = None if run.uops is None or extra else run.uops / count
                known = None if isinstance(best, str) else best
                best = Run(
                    cycles,
                    uops if uops is not None or known is None else known.uops,
                    {name: each / count for name, each in units.items()}
                    if units is not None
                    else known.units
                    if known
                    else None,
                )
        count += 1 if count < 4 else 2
    return best
