"""What limits a kernel, in words."""

import pytest
from cyclelens.analyzer.insight.wording import bound_by, explanations, figure, front_end
from factories import prediction, template


@pytest.mark.parametrize(
    ("bottlenecks", "words"),
    [
        (["Dependencies"], "latency-bound"),
        (["Decoder", "Issue"], "decoder- and issue-bound"),
        (["DSB", "Dependencies", "Ports"], "DSB-, latency- and port-bound"),
        (["unknown"], "no single bottleneck"),
    ],
)
def test_bottlenecks_become_an_adjective(bottlenecks, words):
    assert bound_by(bottlenecks) == words


def test_names_that_do_not_fit_are_counted():
    assert bound_by(["Decoder", "Issue"], limit=24) == "decoder- and issue-bound"
    assert bound_by(["Decoder", "Issue"], limit=23) == "decoder-bound +1"


def test_without_a_bottleneck_the_closest_bound_is_named():
    block = prediction([template()], bottlenecks=["unknown"], bounds={"Issue": 1.0, "Predecoder": 3.5})
    assert list(explanations(block))[-1] == "The closest bound is Predecoder with 3.50 cycles."


def test_front_end_sources_are_named_with_their_shares():
    assert front_end(prediction([template()], front_end={"DSB": 4.0})) == "DSB"
    assert front_end(prediction([template()], front_end={"MITE": 1.0, "MS": 3.0})) == "MS 75 %, MITE 25 %"


def test_zero_is_blank_in_tables():
    assert [figure(value) for value in (0.0, 0.004, 0.25, 2)] == ["", "", "0.25", "2.00"]
