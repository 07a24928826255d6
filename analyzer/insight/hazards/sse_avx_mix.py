"""``sse-avx-mix``: legacy SSE next to 256-bit code, whose upper halves the core has to keep (UH1 to UH3)."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.insight import amounts
from cyclelens.analyzer.microarchitectures import caveats, registry
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.microarchitecture import Microarchitecture, UpperHalfRule
from cyclelens.analyzer.model.result import Finding, Prediction
from cyclelens.analyzer.model.source import Severity
from cyclelens.analyzer.model.upper_halves import UpperHalves
from cyclelens.analyzer.uops.upper_halves import MERGING, UpperEffect, effects, may_mix, uses_of

CODE = "sse-avx-mix"
_WAY_OUT = (
    "Write the SSE instructions with VEX (a 'v' in front, the destination once more as the first source), or "
    "put vzeroupper between the 256-bit code and them."
)
_ELSEWHERE = "Other cores take 70 to 200 cycles for a switch, or merge every result with the old register."


def find(prediction: Prediction) -> Iterator[Finding]:
    """One finding per instruction at which upper halves are, or may be, saved, restored or merged."""
    templates = prediction.instructions
    instructions = [template.instruction for template in templates]
    if not may_mix(instructions):
        return
    uses = uses_of(instructions)
    if not any(use.is_wide for use in uses):
        return
    core = registry.get(prediction.microarchitecture)
    simulated = any(each.switches_upper_halves or each.merges_upper_half for each in templates)
    if prediction.mode is Mode.ONCE:
        uses.append(UpperHalves.CLEARS)  # as callers and callees do
    for index, (template, effect) in enumerate(
        zip(templates, effects(uses, core.upper_halves), strict=False)
    ):
        if effect is None:
            continue
        if core.upper_halves is UpperHalfRule.MERGED_BY_TARGET and not template.merges_upper_half:
            continue
        yield Finding(
            code=CODE,
            severity=Severity.INFORMATION if core.upper_halves in MERGING else Severity.WARNING,
            instruction=index,
            message=_message(core, effect, simulated) + _more(prediction, index),
            label="SSE/AVX mix",
            microarchitecture=prediction.microarchitecture,
            outside=not simulated or not effect.certain,
        )


def _message(core: Microarchitecture, effect: UpperEffect, simulated: bool) -> str:
    """What happens, its cost if known, and what to do about it."""
    if core.upper_halves in MERGING:
        blend = "moves and zero idioms need a unit" if core.macro_ops else "the blend is one more uop"
        what = (
            "legacy SSE writes a vector register while upper halves are in use, so the result is merged with "
            f"the old register: it waits for that, and {blend}"
        )
    elif effect.fetches:
        what = "VEX code after legacy SSE makes the core fetch back the upper halves of all vector registers"
    else:
        what = (
            "legacy SSE writes a vector register after 256-bit code, so the core puts aside the upper "
            "halves of all vector registers"
        )
    return f"SSE/AVX mix: {what}{_condition(effect)}. {_cost(core, effect, simulated)}{_WAY_OUT}"


def _more(prediction: Prediction, index: int) -> str:
    """What loops took beyond the figure, where a load is merged and that was measured."""
    most = caveats.merged_load_cycles(prediction.microarchitecture)
    loads = any(access.read for access in prediction.instructions[index].memory_operands)
    if not most or not loads or prediction.mode is not Mode.LOOP:
        return ""
    more = amounts.cycles(most)
    return f" Loops with such a load took up to {more} more than the figure, by an unknown rule."


def _condition(effect: UpperEffect) -> str:
    return "" if effect.certain else ", if they are in use where the region begins or a call returns"


def _cost(core: Microarchitecture, effect: UpperEffect, simulated: bool) -> str:
    if core.upper_halves is UpperHalfRule.UNKNOWN:
        return f"Its cost on {core.title} is not known and comes on top of the figure. {_ELSEWHERE} "
    about = ""
    if core.upper_halves is UpperHalfRule.PUT_ASIDE:
        about = f"{core.title} takes about {core.upper_half_switch_cycles} cycles for it. "
    if not effect.certain:
        return f"{about}The cost comes on top of the figure, which assumes that they are not. "
    return about if simulated else f"{about}The cost comes on top of the figure of the published model. "
