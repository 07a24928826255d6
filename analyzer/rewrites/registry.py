"""Lists the rewrites, simulates each, and offers only those that help."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.workspace import Cancel
from cyclelens.analyzer.insight.confidence import has_unknown_costs
from cyclelens.analyzer.insight.work import work_of
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.model.result import Analysis, Prediction, RegionAnalysis
from cyclelens.analyzer.rewrites import (
    addition_at_rename,
    branch_free,
    branch_free_sums,
    false_dependency,
    indexed_address,
    jcc_erratum,
    length_changing_prefix,
    long_instruction,
    loop_alignment,
    macro_fusion,
    microcoded,
    partial_register,
    renamed_load,
    sse_avx_mix,
    three_component_lea,
)
from cyclelens.analyzer.rewrites.loops import (
    accumulators,
    constant_loads,
    order,
    own_pointers,
    unrolling,
    wide_copies,
)
from cyclelens.analyzer.rewrites.loops.body import Body
from cyclelens.analyzer.rewrites.proposal import Fix, Proposal, apply
from cyclelens.analyzer.rewrites.site import MarkedText, Site
from cyclelens.analyzer.simulator.failures import Cancelled
from msgspec.structs import replace

PROPOSERS: tuple[Callable[[Site], Iterator[Proposal]], ...] = (
    length_changing_prefix.propose,
    long_instruction.propose,
    jcc_erratum.propose,
    false_dependency.propose,
    macro_fusion.propose,
    three_component_lea.propose,
    indexed_address.propose,
    microcoded.propose,
    partial_register.propose,
    addition_at_rename.propose,
    renamed_load.propose,
    sse_avx_mix.propose,
    loop_alignment.propose,
    branch_free.propose,
    branch_free_sums.propose,
)

REWRITES: tuple[Callable[[Body], Iterator[Proposal]], ...] = (
    accumulators.propose,
    unrolling.propose,
    order.propose,
    wide_copies.propose,
    own_pointers.propose,
    constant_loads.propose,
)
"""Rewrites of whole loops."""

MAX_PROPOSALS = 40
"""Most rewrites tried per region; each costs a simulation."""

MAX_LINES = 25_000
"""Longest text, in lines, for which rewrites are tried: each assembles the text again."""

LEAST_GAIN = 0.005
"""Cycles per iteration below which figures are the same to two decimals."""


def fixes(
    analyzer: Analyzer,
    text: str,
    options: AnalysisOptions,
    analysis: Analysis,
    cancel: Cancel | None = None,
) -> Iterator[Fix]:
    """Rewrites that make a text's regions faster on their first microarchitecture.

    ``analysis`` must be that of ``text`` with ``options``. Raises ``Cancelled`` once ``cancel`` returns True.
    """
    lines = text.split("\n")
    if len(lines) > MAX_LINES:
        return
    for region in analysis.regions:
        if not region.predictions:
            continue
        chosen: dict[str, Fix] = {}
        for proposal in list(proposals(lines, analysis.dialect, region))[:MAX_PROPOSALS]:
            if cancel is not None and cancel():
                raise Cancelled
            fix = judge(analyzer, text, options, region, proposal, cancel)
            if fix is None:
                continue
            if not proposal.choice:
                yield fix
            elif proposal.choice not in chosen or fix.after < chosen[proposal.choice].after - LEAST_GAIN:
                chosen[proposal.choice] = fix
        yield from chosen.values()


def proposals(lines: Sequence[str], dialect: str, region: RegionAnalysis) -> Iterator[Proposal]:
    """Every candidate rewrite of single statements in a region, not yet simulated."""
    written = MarkedText(lines, region.region)
    own = len(region.predictions[0].instructions)
    for index in range(own):
        site = Site(written, dialect, region, index)
        if site.usable:
            for propose in PROPOSERS:
                yield from propose(site)


def tried(
    analyzer: Analyzer,
    text: str,
    options: AnalysisOptions,
    region: RegionAnalysis,
    proposal: Proposal,
    cancel: Cancel | None = None,
) -> Fix | None:
    """The rewrite with its figures, whether it helps or not; None if it cannot be compared."""
    found = _simulated(analyzer, text, options, region, proposal, cancel)
    if found is None:
        return None
    primary = region.predictions[0]
    after = found.shown_cycles / proposal.times
    before, work = primary.shown_cycles, work_of(region)
    return Fix(proposal, region.region.name, primary.microarchitecture, before, after, work=work)


def judge(
    analyzer: Analyzer,
    text: str,
    options: AnalysisOptions,
    region: RegionAnalysis,
    proposal: Proposal,
    cancel: Cancel | None = None,
) -> Fix | None:
    """The rewrite with its gain; None if it does not help or cannot be compared."""
    prediction = _simulated(analyzer, text, options, region, proposal, cancel)
    if prediction is None:
        return None
    primary = region.predictions[0]
    before, after = primary.shown_cycles, prediction.shown_cycles / proposal.times
    if after > before + LEAST_GAIN:
        return None
    where = ""
    if after > before - LEAST_GAIN:
        # The displayed figure does not change, but fewer positions may be slow.
        before, after = _worst(primary), _worst(prediction)
        if not proposal.choice or after > before - LEAST_GAIN:
            return None
        slow = [each for each in primary.positions if each.cycles_per_iteration == before]
        where = f" at {len(slow)} of {len(primary.positions)} positions"
    work = work_of(region)
    return Fix(proposal, region.region.name, primary.microarchitecture, before, after, where, work)


def _simulated(
    analyzer: Analyzer,
    text: str,
    options: AnalysisOptions,
    region: RegionAnalysis,
    proposal: Proposal,
    cancel: Cancel | None,
) -> Prediction | None:
    """Prediction of the region after a rewrite; None if it cannot be compared with the original."""
    primary = region.predictions[0]
    alone = AnalysisOptions(
        replace(options.source, region=name_afterwards(region, proposal)),
        options.target.only_on(primary.microarchitecture),
        replace(options.detail, trace=False, causes=False),
    )
    changed = analyzer.analyze(apply(text, proposal.edits), alone, cancel)
    if len(changed.regions) != 1 or not changed.regions[0].predictions:
        return None
    prediction = carried(primary, changed.regions[0].predictions[0], proposal)
    if has_unknown_costs(prediction) or has_unknown_costs(primary):
        return None  # some old or new instruction has no figures
    return prediction if prediction.mode == primary.mode else None


def carried(original: Prediction, changed: Prediction, proposal: Proposal) -> Prediction:
    """The prediction after a rewrite with the mispredicted branches of the original, except those that the
    rewrite removes."""
    given, own = original.mispredictions, changed.mispredictions
    if given is None:
        return changed
    kept = tuple(
        replace(each, executions=each.executions * proposal.times)
        for each in given.branches
        if each.jump.line not in proposal.predicted
    )
    base = changed.placed_cycles if own is None else own.base
    return replace(changed, mispredictions=replace(given, branches=kept, base=base))


def name_afterwards(region: RegionAnalysis, proposal: Proposal) -> str:
    """The region's name after a rewrite: a loop without a label is named after its first line."""
    place = region.region
    added = sum(
        edit.text.count("\n") - (edit.end_line - edit.line)
        for edit in proposal.edits
        if edit.line <= place.first_line and edit.end_line <= place.first_line
    )
    return (
        f"loop-{place.first_line + 1 + added}" if place.name == f"loop-{place.first_line + 1}" else place.name
    )


def _worst(prediction: Prediction) -> float:
    return max(position.cycles_per_iteration for position in prediction.positions)
