"""Which steady states figures show, and how they are reported; nothing is run."""

import csv
import io
import json
import random
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.measuring import repeated
from cyclelens.analyzer.measuring.harness import Clock
from cyclelens.analyzer.measuring.requests import Measurement, MeasurementRequest
from cyclelens.analyzer.measuring.states import described, steady_states
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.model.choices import Clocks
from cyclelens.server.worker_messages.results import Job
from cyclelens.server.workers import measuring
from msgspec.structs import replace


def near(cycles, count, seed=0, noise=0.003):
    """Figures around one, as runs in one steady state give."""
    chance = random.Random(seed)
    return [cycles * (1 + chance.uniform(-noise, noise)) for _ in range(count)]


def shares(states):
    return [(round(state.cycles, 2), round(state.share, 2)) for state in states]


def test_runs_that_agree_show_one_state():
    assert shares(steady_states([near(1.0, 29)])) == [(1.0, 1.0)]


def test_two_states_have_the_shares_of_their_runs():
    assert shares(steady_states([near(1.0, 7) + near(1.33, 3)])) == [(1.0, 0.7), (1.33, 0.3)]


def test_every_process_counts_the_same_however_many_samples_it_gave():
    assert shares(steady_states([near(1.33, 9), near(1.0, 29), near(1.0, 29)])) == [(1.0, 0.67), (1.33, 0.33)]


def test_what_is_rare_or_single_is_no_state():
    assert shares(steady_states([[*near(1.0, 28), 1.5]])) == [(1.0, 0.97)]
    assert shares(steady_states([near(1.0, 38) + near(1.5, 2)])) == [(1.0, 0.95)]
    assert shares(steady_states([[*near(1.0, 2), 1.5]])) == [(1.0, 0.67)]


def test_a_smear_without_gaps_is_not_cut_into_states():
    (state,) = steady_states([[1 + n / 100 for n in range(30)]])
    assert state.share == pytest.approx(1)


@pytest.mark.parametrize("seed", range(20))
def test_the_noise_of_one_state_never_makes_two(seed):
    """Nine samples that lie within a per cent, as a coarse clock reads them."""
    assert len(steady_states([near(2.0, 9, seed, 0.009)])) == 1


def test_figures_without_samples_show_no_state():
    assert steady_states([]) == ()


def test_states_are_reported_with_their_shares():
    assert (
        described(steady_states([near(1.0, 7) + near(1.33, 3)])) == "1.00 in 70 % of the runs, 1.33 in 30 %"
    )
    assert described(steady_states([near(1.0, 9)])) == ""


class Told:
    """A harness whose processes settle in the states that it was told."""

    clock = Clock(Clocks.TIME_STAMPS, 3.0)

    def __init__(self, *cycles):
        self._cycles, self.asked = cycles, 0

    def measure(self, request):
        cycles = self._cycles[self.asked % len(self._cycles)]
        self.asked += 1
        text = ",".join(f"{figure:.5f}" for figure in near(cycles, 9, self.asked))
        return Measurement.read(f"status=ok attempts=9 pages=0 late_pages=0 huge=0 cycles={text}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


REQUEST = MeasurementRequest(code=bytes.fromhex("4801d8"), instructions=1)


def test_several_states_are_looked_at_in_more_processes():
    harness = Told(1.0, 1.0, 1.33)
    found = repeated.repeated(harness, REQUEST, 3)
    assert harness.asked == 9
    assert shares(found.states) == [(1.0, 0.67), (1.33, 0.33)]
    assert found.cycles == pytest.approx(1.0, rel=0.01)
    assert found.spread == pytest.approx(0.33, abs=0.02)


def test_one_state_needs_no_more_processes():
    harness = Told(1.0)
    assert len(repeated.repeated(harness, REQUEST, 3).states) == 1
    assert harness.asked == 3


def test_a_busy_machine_gets_no_further_runs():
    """An editor waits for the answer."""

    class Busy(Told):
        def measure(self, request):
            found = super().measure(request)
            return found if self.asked < 3 else Measurement.read("status=busy attempts=9")

    harness = Busy(1.0, 1.33)
    assert len(repeated.repeated(harness, REQUEST, 3).states) == 2
    assert harness.asked == 3


def test_what_was_not_measured_has_no_states():
    problem = Measurement.read("status=busy attempts=9")
    assert repeated.median_of([problem, problem]) == problem
    one = replace(Told(1.0).measure(REQUEST), cycles=2.0)
    assert repeated.median_of([problem, one]).cycles == 2.0


@pytest.fixture
def unsteady(monkeypatch):
    monkeypatch.setattr("cyclelens.analyzer.measuring.harness.Harness", lambda **_: Told(1.0, 1.0, 1.33))


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "loop.s"
    file.write_text(
        "# cyclelens-begin one\n.L1:\n    add %rax, %rax\n    dec %rcx\n    jnz .L1\n# cyclelens-end\n"
    )
    return str(file)


def test_the_text_names_the_states(unsteady, source, capsys):
    main(["measure", source, "--arch", "SKL"])
    assert "   States:     1.00 in 67 % of the runs, 1.33 in 33 %\n" in capsys.readouterr().out


def test_the_json_lists_the_states(unsteady, source, capsys):
    main(["measure", source, "--arch", "SKL", "--format", "json"])
    (found,) = json.loads(capsys.readouterr().out)
    first, second = found["steady_states"]
    assert first == {"cycles": pytest.approx(1.0, rel=0.01), "share": pytest.approx(2 / 3)}
    assert second == {"cycles": pytest.approx(1.33, rel=0.01), "share": pytest.approx(1 / 3)}


def test_blocks_have_a_column_of_states(unsteady, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("4801d8\n"))
    main(["measure", "--blocks", "--mode", "loop"])
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    states = [each.split(":") for each in row["states"].split()]
    assert [(round(float(cycles), 2), share) for cycles, share in states] == [(1.0, "0.67"), (1.33, "0.33")]


def test_an_editor_shows_the_states_on_the_line(source, monkeypatch):
    monkeypatch.setattr("cyclelens.server.workers.measuring.Harness", lambda **_: Told(1.0, 1.0, 1.33))
    job = Job(1, source, 1, Path(source).read_text(encoding="utf-8"), AnalysisOptions(), region="one")
    table = measuring.measure(Analyzer(), job)
    states = "1.00 in 67 % of the runs, 1.33 in 33 %"
    assert table.title.endswith(f", measured {states}")
    assert f"Steady states: {states}" in table.text
    (row,) = table.rows
    assert dict(zip(measuring.COLUMNS, row, strict=True))["steady_states"] == states
