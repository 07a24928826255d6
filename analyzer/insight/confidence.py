"""Decides how certain a prediction is, and whether it is only a lower bound."""

from __future__ import annotations

import os

from cyclelens.analyzer.common.own_tables import OWN_TABLES
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.caveats import bit_moves, decided_by
from cyclelens.analyzer.microarchitectures.values import confidence
from cyclelens.analyzer.model.microarchitecture import UpperHalfRule
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.uops.left_out import names
from cyclelens.analyzer.uops.upper_halves import mixes_for_certain


def is_lower_bound(prediction: Prediction) -> bool:
    """True if the region takes at least the predicted cycles, but maybe more: costs of its own are unknown,
    or it calls functions, which are not counted."""
    return has_unknown_costs(prediction) or bool(uncounted(prediction))


def uncounted(prediction: Prediction) -> str:
    """What a figure leaves out although every instruction has its cost: the called functions; empty if there
    are none."""
    calls = sum(template.instruction.mnemonic == "call" for template in prediction.instructions)
    return (
        f"the called function{'s' * (calls > 1)} {'are' if calls > 1 else 'is'} not counted" if calls else ""
    )


def has_unknown_costs(prediction: Prediction) -> bool:
    """True if an instruction of the region may cost more than predicted.

    Reasons: it has no record, its time depends on data and only the least is known, memory or a count
    decides its time, or the core keeps upper halves of vector registers at an unknown cost. No gain may be
    computed from such a prediction.
    """
    return (
        _lacks_records(prediction)
        or bool(_by_data(prediction))
        or bool(_decided(prediction))
        or _keeps_at_unknown_price(prediction)
    )


def shows_at_least(prediction: Prediction) -> bool:
    """Whether the shown figure is a lower bound: ``is_lower_bound``, with mispredicted branches of which not
    all is known, or for data at a level whose transfers are not known."""
    given = prediction.mispredictions
    chosen = None if prediction.data is None else prediction.data.chosen
    return (
        is_lower_bound(prediction)
        or (given is not None and given.is_lower_bound)
        or (chosen is not None and (chosen.cycles is None or chosen.least))
    )


def _lacks_records(prediction: Prediction) -> bool:
    return any(template.facts is None for template in prediction.instructions)


def _by_data(prediction: Prediction) -> list[str]:
    """Mnemonics of instructions whose time depends on their data, with no useful upper limit."""
    name = prediction.microarchitecture
    found = [template.instruction.mnemonic for template in prediction.instructions]
    return list(dict.fromkeys(each for each in found if bit_moves(each, name)))


def _decided(prediction: Prediction) -> list[tuple[str, str]]:
    """What decides the time of instructions beyond the core (``memory``, ``the count``), and their mnemonics
    as in a sentence."""
    found: dict[str, dict[str, None]] = {}
    for template in prediction.instructions:
        instruction = template.instruction
        mnemonic = f"rep {instruction.mnemonic}" if instruction.repeat else instruction.mnemonic
        if what := decided_by(mnemonic):
            found.setdefault(what, {})[mnemonic] = None
    return [(what, " and ".join(names)) for what, names in found.items()]


def _keeps_at_unknown_price(prediction: Prediction) -> bool:
    if registry.get(prediction.microarchitecture).upper_halves is not UpperHalfRule.UNKNOWN:
        return False
    return mixes_for_certain([template.instruction for template in prediction.instructions])


def lacking(prediction: Prediction) -> str:
    """Why a figure is a lower bound: ``no figures for fxch and fnop``, ``the time of pext depends on the
    mask``; empty for an exact figure."""
    reasons = []
    if _lacks_records(prediction):
        reasons.append(f"no figures for {names(prediction.instructions)}")
    if by_data := _by_data(prediction):
        reasons.append(f"the time of {' and '.join(by_data)} depends on the mask")
    reasons += [f"{what} decides the time of {mnemonics}" for what, mnemonics in _decided(prediction)]
    if _keeps_at_unknown_price(prediction):
        reasons.append("no price for legacy SSE beside 256-bit code")
    return "; ".join(reasons)


def doubt(prediction: Prediction) -> str:
    """The mark after a figure of a core whose values are not all known: `` (approximate)``; otherwise empty.

    ``wording.figure_of`` marks lower bounds.
    """
    return " (approximate)" if confidence(prediction.microarchitecture) else ""


def reservations(prediction: Prediction) -> tuple[str, ...]:
    """Sentences on why to read the figure with care; empty at full confidence."""
    total = len(prediction.instructions)
    name = prediction.microarchitecture
    unknown = sum(template.facts is None for template in prediction.instructions)
    estimated = sum(
        template.facts is not None and template.facts.constructed for template in prediction.instructions
    )
    doubts = confidence(name)
    sentences = [f"Confidence: {doubts}."] if doubts else []
    if unknown:
        have = "instruction has" if unknown == 1 else "instructions have"
        sentences.append(
            f"{unknown} {have} no figures on {name}: the figure is a lower bound, the real loop takes as "
            "long or longer."
        )
    for what, mnemonics in _decided(prediction):
        why = ", because the caches do not keep what they write" if what == "memory" else ""
        sentences.append(
            f"{what.capitalize()} decides the time of {mnemonics}{why}: the figure is a lower bound."
        )
    if _keeps_at_unknown_price(prediction):
        sentences.append(
            f"The cost of legacy SSE beside 256-bit code on {name} is not known: the figure is a lower bound."
        )
    if estimated:
        which = f"all {total}" if estimated == total > 1 else f"{estimated} of {total}"
        sentences.append(
            f"The figures of {which} instructions on {name} were derived from published tables, not measured."
        )
    if own := os.environ.get(OWN_TABLES):
        sentences.append(f"The instruction tables are your own: {os.path.basename(own)}.")
    return tuple(sentences)
