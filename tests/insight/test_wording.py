"""The limits of a kernel, in words."""

import pytest
from cyclelens.analyzer.insight import vocabulary
from cyclelens.analyzer.insight.findings import find
from cyclelens.analyzer.insight.wording import (
    bound_by,
    elsewhere,
    explanations,
    figure,
    front_end,
    places,
    problem_place,
)
from cyclelens.analyzer.model.result import PortBinding, Position
from cyclelens.analyzer.model.source import UNKNOWN_LINE, Problem, SourceLine
from msgspec.structs import replace
from testkit.factories import prediction, template

INTEL, AMD = vocabulary.of("SKL"), vocabulary.of("ZEN5")


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
    assert bound_by(INTEL, bottlenecks) == words


def test_names_that_do_not_fit_are_counted():
    assert bound_by(INTEL, ["Decoder", "Issue"], limit=24) == "decoder- and issue-bound"
    assert bound_by(INTEL, ["Decoder", "Issue"], limit=23) == "decoder-bound and 1 more"


def test_without_a_bottleneck_the_closest_bound_is_named():
    block = prediction([template()], bottlenecks=["unknown"], bounds={"Issue": 1.0, "Predecoder": 3.5})
    assert list(explanations(block))[-1] == "The closest bound is Predecoder with 3.50 cycles."


def test_front_end_sources_are_named_with_their_shares():
    assert front_end(prediction([template()], front_end={"DSB": 4.0})) == "DSB"
    assert front_end(prediction([template()], front_end={"MITE": 1.0, "MS": 3.0})) == "MS 75 %, MITE 25 %"


def test_zero_is_blank_in_tables():
    assert [figure(value) for value in (0.0, 0.004, 0.25, 2)] == ["", "", "0.25", "2.00"]


def test_amds_cores_are_described_in_amds_words():
    assert bound_by(AMD, ["DSB", "Issue", "Ports"]) == "op-cache-, dispatch- and unit-bound"
    letters = {word.split()[0]: letter for letter, word in AMD.events}
    assert (letters["dispatched"], letters["issued"]) == ("D", "I")
    assert [AMD.part(name) for name in ("MITE", "RS integer 2", "ROB")] == [
        "decoders",
        "integer scheduler 2",
        "retire queue",
    ]
    assert AMD.one_unit("AGU1") == "AGU1"
    assert INTEL.one_unit("5") == "port 5"


def test_an_unknown_instruction_has_no_unit_on_amds_cores():
    block = prediction([template(facts=None)], microarchitecture="ZEN5")
    (finding,) = find(block)
    assert "one uop without a unit" in finding.message


def test_both_makers_have_words_for_the_same_things():
    assert AMD.waits.keys() == INTEL.waits.keys()
    assert (
        AMD.explanations.keys() == INTEL.explanations.keys() == AMD.bound_by.keys() == INTEL.bound_by.keys()
    )
    assert len(AMD.events) == len(INTEL.events)


@pytest.mark.parametrize(
    ("core", "least", "most", "words"),
    [
        ("SKL", 1.5, 2.0, " (to 2.00: depends on port binding)"),
        ("SKL", 1.0, 1.5, " (from 1.00: depends on port binding)"),
        ("SKL", 1.0, 2.125, " (1.00 to 2.12: depends on port binding)"),
        ("ZEN3", 1.5, 2.0, " (to 2.00: depends on unit binding)"),
    ],
)
def test_a_figure_that_hangs_on_binding_says_so(core, least, most, words):
    block = replace(
        prediction([template()], cycles=1.5), microarchitecture=core, port_binding=PortBinding(least, most)
    )
    assert elsewhere(block) == words
    places = tuple(Position(at, cycles, frozenset()) for at, cycles in enumerate((1.5, 3.0)))
    assert elsewhere(replace(block, positions=places)) == f"{words} (3.00 at 1 of 2 positions)"


@pytest.mark.parametrize(
    ("least", "words"),
    [
        (1.0, " (to 1.25: several steady states)"),
        (0.5, " (0.50 to 1.25: depends on unit binding and steady state)"),
    ],
)
def test_a_figure_of_several_steady_states_says_so(least, words):
    block = replace(
        prediction([template()], cycles=1.0),
        microarchitecture="ZEN3",
        port_binding=PortBinding(least, 1.25, steady_states=True),
    )
    assert elsewhere(block) == words


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([11], "line 12"),
        ([11, 11], "line 12"),
        ([12, 11], "lines 12 and 13"),
        ([10, 11, 12], "lines 11 to 13"),
        ([11, 14, 47, 48, 49, 50], "lines 12, 15 and 48 to 51"),
    ],
)
def test_neighbouring_lines_are_a_range(lines, words):
    assert places(SourceLine(line, 4, 7, "nop", b"\x90", "keystone") for line in lines) == words


def test_lines_and_columns_count_from_one():
    problem = Problem(11, 4, 7, "syntax-error", "What is this?")
    assert problem_place(problem, "a.s") == "a.s:12:5"
    assert problem_place(replace(problem, line=UNKNOWN_LINE), "a.s") == "a.s"
