"""What the user is told about how far a figure can be trusted."""

from cyclelens.analyzer.insight.confidence import is_uncertain, reservations
from factories import facts, prediction, template


def test_measured_figures_need_no_reservation():
    block = prediction([template()])
    assert not is_uncertain(block)
    assert reservations(block) == ()


def test_an_instruction_without_figures_makes_the_prediction_uncertain():
    block = prediction([template(), template(facts=None)])
    assert is_uncertain(block)
    assert reservations(block) == ("1 instruction has no figures on SKL: the real loop may take longer.",)


def test_figures_that_were_not_measured_are_counted():
    block = prediction([template(), template(facts=facts(constructed=True))])
    assert not is_uncertain(block)
    (sentence,) = reservations(block)
    assert sentence.startswith("The figures of 1 of 2 instructions on SKL")
