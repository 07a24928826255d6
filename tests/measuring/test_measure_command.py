"""``cyclelens measure FILE`` on a machine with a model of its processor, and without."""

import json
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.microarchitectures import registry

pytestmark = pytest.mark.timed

TRIES = 10
EXAMPLE = Path(__file__).parents[2] / "examples" / "dot_product.s"


@pytest.fixture
def unknown_processor(any_clock, monkeypatch):
    monkeypatch.setattr(registry, "native", lambda: None)
    monkeypatch.setattr(registry, "own_name", lambda: "Cyrix 6x86")


@pytest.fixture
def measure(capsys):
    def measure(*words):
        for _ in range(TRIES):
            status = main(["measure", str(EXAMPLE), "--region", "dot", "--runs", "1", *words])
            shown = capsys.readouterr()
            if "the machine is busy" not in shown.out:
                return status, shown
        pytest.skip("the machine is too busy to measure anything")

    return measure


def test_without_a_model_the_output_says_what_is_missing(unknown_processor, measure):
    _, shown = measure()
    assert "Predicted:  no model of this machine (Cyrix 6x86); --arch NAME selects another one" in shown.out


def test_another_model_is_named_as_such(unknown_processor, measure):
    _, shown = measure("--arch", "SKL")
    assert "Predicted:  0.500 cycles/float, 4.00 cycles/iter (SKL)" in shown.out
    assert "Model:      of Skylake; this machine is different: Cyrix 6x86" in shown.out


def test_the_model_is_in_the_json_too(any_clock, measure):
    _, shown = measure("--arch", "HSW", "--format", "json")
    (found,) = json.loads(shown.out)
    assert (found["microarchitecture"], found["predicted"]) == ("HSW", 5.0)


def test_several_models_are_refused(any_clock, measure):
    status, shown = measure("--arch", "SKL,HSW")
    assert status == 1
    assert "--arch: name one model, not several" in shown.err
