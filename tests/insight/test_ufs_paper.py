"""The worked example of UFS's paper: what limits the loop that finishes a Fourier transform of real numbers.

Palomares, Wong, Kuck, Jalby, "Evaluating Out-of-Order Engine Limitations Using Uop Flow Simulation" (2015),
has for the loop ``realft2_4_de`` on Sandy Bridge 16.00 cycles by its ports, 19.03 with 1,000 entries in every
buffer, 23.01 with the real ones (measured: 23.36). The paper's code is not at hand; ``docs/figures/realft.s``
computes the same formulas.
"""

from pathlib import Path

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.insight.whatif import SIZES, Experiment
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from msgspec.structs import replace

LOOP = Path(__file__).parents[2] / "docs" / "figures" / "realft.s"
MANY = 1000


@pytest.fixture(scope="module")
def loop() -> Experiment:
    target = Target(microarchitectures=("SNB",))
    (region,) = Analyzer().analyze(LOOP.read_text(), AnalysisOptions(target=target)).regions
    return Experiment(region.predictions[0], open_store(), settled=True)


def test_the_ports_alone_allow_sixteen_cycles(loop: Experiment) -> None:
    """Sixteen additions and subtractions for the one port that adds."""
    assert loop.prediction.bounds["Ports"] == 16.0


def test_without_limits_of_buffers_it_takes_nineteen(loop: Experiment) -> None:
    behind = ("rob", "rs", "lb", "sb", "lm", "bb", "int", "vec", "regs")
    unlimited = replace(loop.model, **{SIZES[name]: MANY for name in behind})
    assert loop.with_model(unlimited).cycles_per_iteration == pytest.approx(19.03, rel=0.01)


def test_the_scheduler_and_no_other_buffer_costs_the_rest(loop: Experiment) -> None:
    whole = loop.baseline().cycles_per_iteration
    assert whole == pytest.approx(23.36, rel=0.1)
    alone = {
        name: loop.with_parameter(name, str(MANY)).cycles_per_iteration for name in ("rs", "rob", "vec", "lm")
    }
    assert alone.pop("rs") == pytest.approx(19.03, rel=0.01)
    assert set(alone.values()) == {whole}
