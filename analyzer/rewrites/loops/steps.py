"""Unrolls the body of a loop as text.

Where a pointer advances by a constant, only the last copy of the body contains the addition, and the others
change their displacements instead. The comparison stays in the last copy, too.

add $32, %rsi        ->    vmovups 32(%rsi), %ymm1  ...  add $64, %rsi
"""

from __future__ import annotations

from cyclelens.analyzer.insight import loop_steps
from cyclelens.analyzer.insight.loop_steps import PointerStep, Steps, distance, together
from cyclelens.analyzer.rewrites.loops.body import Body, Item, moved
from cyclelens.analyzer.rewrites.site import Site


def steps_of(body: Body) -> Steps | None:
    """The steps and comparison of a loop; None if its end condition does not allow unrolling."""
    return loop_steps.steps_of(body.loop)


def unrolled(body: Body, times: int) -> list[Item] | None:
    """The statements of ``times`` copies of the body; None if one of them cannot be written."""
    found = steps_of(body)
    if found is None:
        return None
    items: list[Item] = []
    for copy in range(times):
        is_last = copy == times - 1
        for index, site in enumerate(body.sites[:-1]):
            step = found.at(index)
            if step is not None:
                if is_last:
                    items.append(Item(index, stepped(site, step, times)))
            elif index != found.comparison:
                text = moved(site, distance(found, body.templates[index], index, copy, times))
                if text is None:
                    return None
                items.append(Item(index, text))
            elif is_last:
                items.append(Item(index, site.statement.text))
    items.append(Item(body.last, body.sites[-1].statement.text))
    return items


def stepped(site: Site, step: PointerStep, times: int) -> str:
    """The statement that makes ``times`` steps at once."""
    instruction = site.template.instruction
    if instruction.mnemonic == "lea":
        text = moved(site, step.amount * (times - 1))
        return text or site.statement.text
    name = site.statement.text.split()[0]
    suffix = name[3:] if site.att and len(name) == 4 else ""
    mnemonic, amount = together(step, times)
    return site.write(f"{mnemonic}{suffix}", site.operands[0], site.number(amount))
