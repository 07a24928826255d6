"""Removes fusions from instructions, for ablation studies (uiCA model, 2.9 and A3)."""

from __future__ import annotations

from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.uops.operands import Prepared
from msgspec.structs import replace

_MOST_MITE_UOPS = 4
_SIMPLE_DECODERS = 3


def ablated(prepared: Prepared, options: ModelOptions) -> Prepared:
    """The instruction without the fusions that the options switch off."""
    if not options.macro_fusion:
        # Without fusion partners, it does not wait for its successor in the decoder either.
        prepared = replace(prepared, facts=replace(prepared.facts, macro_fusible_with=frozenset()))
    if not options.micro_fusion:
        prepared = _without_micro_fusion(prepared)
    return prepared


def _without_micro_fusion(prepared: Prepared) -> Prepared:
    """Gives every uop an issue slot and a decoder output of its own."""
    figures = prepared.figures
    ms_uops = figures.ms_uops or 0
    retire_slots = max(prepared.uop_count, (figures.mite_uops or 1) + ms_uops)
    mite_uops = retire_slots - ms_uops
    ms_uops += max(0, mite_uops - _MOST_MITE_UOPS)
    mite_uops = min(mite_uops, _MOST_MITE_UOPS)
    complex_decoder, simple_decoders = prepared.complex_decoder, prepared.available_simple_decoders
    if mite_uops > 1:
        complex_decoder = True
        most = 0 if ms_uops else _SIMPLE_DECODERS
        simple_decoders = min(1 + _MOST_MITE_UOPS - mite_uops, simple_decoders, most)
    return replace(
        prepared,
        figures=replace(figures, retire_slots=retire_slots, mite_uops=mite_uops, ms_uops=ms_uops),
        complex_decoder=complex_decoder,
        available_simple_decoders=simple_decoders,
    )
