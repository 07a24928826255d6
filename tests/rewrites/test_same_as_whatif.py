"""What-if and the rewrites of whole loops give one answer for the same change."""

from __future__ import annotations

from pathlib import Path

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.experiments import experiment
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.insight.as_written import with_places
from cyclelens.analyzer.insight.sensitivity import explore
from cyclelens.analyzer.insight.whatif import BlockEdit
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.rewrites.loops.body import body_of
from cyclelens.analyzer.rewrites.proposal import apply
from cyclelens.analyzer.rewrites.registry import REWRITES
from cyclelens.analyzer.rewrites.site import MarkedText, Site
from testkit.blocks import store

EXAMPLES = Path(__file__).parents[2] / "examples"
ALIGNED = AnalysisOptions(target=Target(microarchitectures=("SKL",), alignment=0))
NUMBERS = {"two": 2, "four": 4, "eight": 8}


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.s")))
def test_the_figure_of_a_change_is_that_of_its_rewrite(name: str) -> None:
    text = (EXAMPLES / f"{name}.s").read_text()
    analyzer = Analyzer(Workspace(store()))
    analysis = analyzer.analyze(text, ALIGNED)
    compared = 0
    for region in analysis.regions:
        tried = experiment(analyzer.workspace, region, region.predictions[0])
        body = body_of(Site(MarkedText(tuple(text.split("\n")), region.region), analysis.dialect, region, 0))
        for proposal in [found for propose in REWRITES for found in propose(body)] if body else ():
            if proposal.kinds == ("unrolling",):
                edit = BlockEdit(times=proposal.times)
            elif proposal.kinds == ("accumulators",) and len(tried.accumulators) == 1:
                edit = BlockEdit(split=((tried.accumulators[0], NUMBERS[proposal.count]),))
            else:
                continue
            changed = analyzer.analyze(apply(text, proposal.edits), ALIGNED)
            rewritten = next(each for each in changed.regions if each.region.name == region.region.name)
            figure = rewritten.predictions[0].cycles_per_iteration / proposal.times
            assert tried.edited(edit).cycles_per_iteration == pytest.approx(figure, abs=0.01), proposal.title
            compared += 1
    if name.removesuffix("_intel") in ("dot_product", "jcc_erratum", "memcpy", "polynomial"):
        assert compared


def test_a_loop_that_its_data_end_is_not_unrolled() -> None:
    """A copy without the test of its bytes would read on behind the match."""
    analyzer = Analyzer(Workspace(store()))
    for region in analyzer.analyze((EXAMPLES / "byte_scan.s").read_text(), ALIGNED).regions:
        tried = experiment(analyzer.workspace, region, region.predictions[0])
        places = with_places(region, region.predictions[0])
        changes = [each.change for each, _ in explore(tried, tried.baseline(), places)]
        assert changes and all(change.edit.copies == 1 for change in changes)
