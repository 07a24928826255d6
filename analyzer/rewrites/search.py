"""Searches for rewrites that make a loop faster: each alone, then the best combined with others.

The search takes long compared with an analysis, so displays do not wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.workspace import Cancel
from cyclelens.analyzer.insight.confidence import has_unknown_costs
from cyclelens.analyzer.insight.work import work_of, written
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.model.result import RegionAnalysis, Work
from cyclelens.analyzer.rewrites.loops.body import body_of
from cyclelens.analyzer.rewrites.proposal import Fix, Proposal, Replacement, apply
from cyclelens.analyzer.rewrites.registry import (
    LEAST_GAIN,
    MAX_LINES,
    REWRITES,
    carried,
    name_afterwards,
    proposals,
    tried,
)
from cyclelens.analyzer.rewrites.site import MarkedText, Site
from cyclelens.analyzer.simulator.failures import Cancelled
from msgspec import Struct
from msgspec.structs import replace

_WIDTHS = (1, 8, 6)
"""Beam width per level: the original text, the best texts with one rewrite, and the best with two."""
_MOST = 240
"""Most rewrites tried per region; each costs a simulation."""
_MOST_SMALL = 20
"""Most rewrites of single statements tried per text."""
_NOTABLE = 0.98
"""A more complex rewrite must be below this fraction of the simpler one's figure to be listed."""


class Advice(Struct, frozen=True):
    """Rewrites that help a region: the simplest first, each better than the one before."""

    region: str
    cycles: float
    """Cycles per iteration of the original region."""
    fixes: tuple[Fix, ...] = ()

    @property
    def best(self) -> Fix | None:
        return self.fixes[-1] if self.fixes else None

    def moved(self, lines: int) -> Advice:
        """The same advice for a text shifted down by ``lines``."""
        return replace(self, fixes=tuple(fix.moved(lines) for fix in self.fixes))

    def __str__(self) -> str:
        """``two accumulators: 4.00, four: 2.00``. Empty if nothing helps."""
        return next(self.sentences(), "")

    def sentences(self, work: Work | None = None) -> Iterator[str]:
        """Phrases in decreasing detail: the best rewrite with a simpler one, single rewrites, the best
        figure alone. Figures are cycles per unit of ``work``, the work of an iteration; None: per iteration.
        """
        if not self.fixes:
            return
        last = self.fixes[-1]

        def figure(fix: Fix) -> str:
            return written(fix.after / work.amount)[0] if work else f"{fix.after:.2f}"

        def words(fix: Fix) -> str:
            return f"{fix.proposal.short}: {figure(fix)}"

        for simpler in self.fixes[:-1]:
            # After "two accumulators", "four" needs no noun.
            same = last.proposal.counted and last.proposal.counted == simpler.proposal.counted
            second = f"{last.proposal.count}: {figure(last)}" if same else words(last)
            yield f"{words(simpler)}, {second}"
        for fix in reversed(self.fixes):
            yield words(fix)
        yield f"rewrite: {figure(last)}"


_NOTHING = Proposal("", 0, (), kinds=())


class Candidate(Struct, frozen=True):
    """A rewrite and its effect."""

    fix: Fix
    text: str
    """The rewritten text."""


def alternatives(
    analyzer: Analyzer,
    text: str,
    options: AnalysisOptions,
    dialect: str,
    region: RegionAnalysis,
    cancel: Cancel | None = None,
) -> Iterator[Candidate]:
    """Every rewrite of a region, whether it helps or not; then the best ones combined.

    Raises ``Cancelled`` once ``cancel`` returns True."""
    if not region.predictions or text.count("\n") >= MAX_LINES or has_unknown_costs(region.predictions[0]):
        return  # the gain over a lower bound is unknown
    left = _MOST
    start = region.predictions[0].shown_cycles
    latest = [Candidate(Fix(_NOTHING, region.region.name, "", start, start, work=work_of(region)), text)]
    for width in _WIDTHS:
        found: list[Candidate] = []
        for first in sorted(latest, key=_promise)[:width]:
            changed = region if first.text == text else _again(analyzer, first, options, region, cancel)
            for proposal in () if changed is None else _all(first.text, dialect, changed):
                if changed is None or set(proposal.kinds).intersection(first.fix.proposal.kinds):
                    continue
                if left <= 0:
                    return
                left -= 1
                second = _candidate(analyzer, first.text, options, changed, proposal, cancel)
                if second is not None:
                    found.append(second if first.text == text else _both(text, first, second, start))
                    yield found[-1]
        latest = found


def _promise(each: Candidate) -> tuple[float, int]:
    return each.fix.after, each.fix.proposal.times


def search(
    analyzer: Analyzer,
    text: str,
    options: AnalysisOptions,
    dialect: str,
    region: RegionAnalysis,
    cancel: Cancel | None = None,
) -> Iterator[Advice | None]:
    """Advice for a region, each better than the last, and None after each candidate that brings nothing new.

    Raises ``Cancelled`` once ``cancel`` returns True."""
    if not region.predictions:
        return
    best = Advice(region.region.name, region.predictions[0].shown_cycles)
    found: list[Candidate] = []
    for candidate in alternatives(analyzer, text, options, dialect, region, cancel):
        found.append(candidate)
        better = _ranked(best, found)
        if better.fixes != best.fixes:
            best = better
            yield best
        else:
            yield None


def advise(
    analyzer: Analyzer,
    text: str,
    options: AnalysisOptions,
    dialect: str,
    region: RegionAnalysis,
    cancel: Cancel | None = None,
) -> Advice:
    """The final advice for a region, which must have a prediction. Raises as ``search``."""
    advice = Advice(region.region.name, region.predictions[0].shown_cycles)
    for better in search(analyzer, text, options, dialect, region, cancel):
        advice = better or advice
    return advice


def _all(text: str, dialect: str, region: RegionAnalysis) -> Iterator[Proposal]:
    lines = tuple(text.split("\n"))
    body = body_of(Site(MarkedText(lines, region.region), dialect, region, 0))
    if body is not None:
        for propose in REWRITES:
            yield from propose(body)
    yield from list(proposals(lines, dialect, region))[:_MOST_SMALL]


def _candidate(
    analyzer: Analyzer,
    text: str,
    options: AnalysisOptions,
    region: RegionAnalysis,
    proposal: Proposal,
    cancel: Cancel | None,
) -> Candidate | None:
    if cancel is not None and cancel():
        raise Cancelled
    fix = tried(analyzer, text, options, region, proposal, cancel)
    return None if fix is None else Candidate(fix, apply(text, proposal.edits))


def _again(
    analyzer: Analyzer,
    first: Candidate,
    options: AnalysisOptions,
    region: RegionAnalysis,
    cancel: Cancel | None,
) -> RegionAnalysis | None:
    """Analyse the region again after a rewrite; None if it has no prediction."""
    name = name_afterwards(region, first.fix.proposal)
    core = region.predictions[0].microarchitecture
    alone = AnalysisOptions(
        replace(options.source, region=name),
        options.target.only_on(core),
        replace(options.detail, trace=False),
    )
    regions = analyzer.analyze(first.text, alone, cancel).regions
    if len(regions) != 1 or not regions[0].predictions:
        return None
    own, *others = regions[0].predictions
    kept = carried(region.predictions[0], own, first.fix.proposal)
    return replace(regions[0], predictions=(kept, *others))


def _both(text: str, first: Candidate, second: Candidate, start: float) -> Candidate:
    """Combine two successive rewrites into one."""
    one, other = first.fix.proposal, second.fix.proposal
    title = f"{one.title}; {other.title[:1].lower()}{other.title[1:]}"
    proposal = Proposal(
        title,
        one.line,
        (difference(text, second.text),),
        times=one.times * other.times,
        cleared=one.cleared | other.cleared,
        brief=f"{one.short} + {other.short}",
        count=one.count,
        counted=f"{one.counted} + {other.short}" if one.counted else "",
        whole=True,
        kinds=one.kinds + other.kinds,
    )
    after = second.fix.after / one.times
    fix = replace(first.fix, proposal=proposal, before=start, after=after, where="")
    return Candidate(fix, second.text)


def difference(old: str, new: str) -> Replacement:
    """One edit that turns ``old`` into ``new``."""
    before, after = old.split("\n"), new.split("\n")
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    end = len(before) - tail
    lines = after[head : len(after) - tail]
    return Replacement(head, 0, end, 0, "".join(f"{line}\n" for line in lines))


def _ranked(advice: Advice, found: Sequence[Candidate]) -> Advice:
    """The rewrites that help, the simplest first, without those that a simpler one matches."""

    def effort(each: Candidate) -> tuple[int, int, int]:
        return len(each.fix.proposal.kinds), each.fix.proposal.times, len(each.text)

    best, chosen = advice.cycles, list[Fix]()
    for each in sorted(found, key=effort):
        if each.fix.after < min(best - LEAST_GAIN, best * _NOTABLE):
            best = each.fix.after
            chosen.append(each.fix)
    return replace(advice, fixes=tuple(chosen))
