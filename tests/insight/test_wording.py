"""The limits of a kernel, in words."""

import pytest
from cyclelens.analyzer.insight import vocabulary
from cyclelens.analyzer.insight.findings import find
from cyclelens.analyzer.insight.wording import (
    at_positions,
    bound_by,
    by_position,
    cycles_per,
    elsewhere,
    explanations,
    figure,
    front_end,
    limits,
    lost,
    offsets,
    on_chain,
    one_pass,
    place,
    places,
    problem_place,
    region_place,
    short_place,
    slots,
    source_line,
    sources,
    tied,
    unit,
    unit_in_words,
    weight,
)
from cyclelens.analyzer.model.account import Account, Area, Cause
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.paths import Weight
from cyclelens.analyzer.model.result import OnePass, PortBinding, Position
from cyclelens.analyzer.model.source import UNKNOWN_LINE, Problem, Region, SourceLine
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


@pytest.mark.parametrize(
    ("core", "units", "named"),
    [
        (
            "ZEN4",
            "ALU: integer, BR: branches, AGU: loads and store addresses, SD: store data, FP: vector pipes",
            "ALU, BR, AGU, SD or FP",
        ),
        ("ZEN5", "ALU: integer, AGU: loads and store addresses, FP: vector pipes", "ALU, AGU or FP"),
        (
            "ZEN2",
            "ALU: integer, LD: loads, SA: store addresses, SD: store data, FP: vector pipes",
            "ALU, LD, SA, SD or FP",
        ),
        (
            "ZEN",
            "ALU: integer, LD: loads and store addresses, SD: store data, FP: vector pipes",
            "ALU, LD, SD or FP",
        ),
    ],
)
def test_the_units_of_an_amd_core_are_those_that_it_has(core, units, named):
    words = vocabulary.of(core)
    assert f"on each unit ({units})" in "; ".join(words.legend)
    assert words.explanations["Ports"] == (
        f"The units that these operations need ({named}) are busy all the time."
    )


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
    assert (
        elsewhere(replace(block, positions=places)) == f"{words} (or 3.00 at one of two positions in memory)"
    )


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
        (range(0, 48, 2), f"lines {', '.join(map(str, range(1, 47, 2)))} and 47"),
        (range(0, 6000, 2), f"lines {', '.join(map(str, range(1, 47, 2)))} and 2,977 more"),
    ],
)
def test_neighbouring_lines_are_a_range(lines, words):
    assert places(SourceLine(line, 4, 7, "nop", b"\x90", "keystone") for line in lines) == words


def test_lines_and_columns_count_from_one():
    problem = Problem(11, 4, 7, "syntax-error", "What is this?")
    assert problem_place(problem, "a.s") == "a.s:12:5"
    assert problem_place(replace(problem, line=UNKNOWN_LINE), "a.s") == "a.s"


def test_adjacent_offsets_are_a_range():
    assert offsets([0, 16]) == "0, 16"
    assert offsets([*range(28), 60]) == "0 to 27, 60"
    assert offsets([4, 5]) == "4 to 5"
    assert offsets([]) == ""


NOWHERE = SourceLine(UNKNOWN_LINE, 0, 3, "nop", b"\x90", "object file", address=0x1139)


@pytest.mark.parametrize(
    ("statement", "words", "short", "source"),
    [
        (SourceLine(11, 4, 7, "nop", b"\x90", "keystone"), "line 12", "12", "12"),
        (replace(NOWHERE, line=11, file="src/dot.c"), "0x1139 (dot.c:12)", "0x1139 (dot.c:12)", "dot.c:12"),
        (NOWHERE, "0x1139", "0x1139", ""),
    ],
)
def test_a_statement_has_a_line_or_an_address(statement, words, short, source):
    assert (place(statement), short_place(statement), source_line(statement)) == (words, short, source)
    text = Region(name="k", first_line=2, last_line=9, lines=(statement,))
    assert region_place(text) == (words if statement.address else "line 3")


def test_places_of_several_statements_in_an_object_are_their_addresses():
    one = replace(NOWHERE, line=11, file="dot.c")
    assert places([one, one, replace(NOWHERE, address=0x113C)]) == "0x1139 (dot.c:12), 0x113c"
    here = SourceLine(11, 4, 7, "nop", b"\x90", "keystone")
    assert places([here, one]) == "line 12, 0x1139 (dot.c:12)"
    elsewhere = replace(here, line=4, file="src/mac.inc")
    assert places([elsewhere, here]) == "line mac.inc:5, line 12"


def test_the_unit_says_what_is_counted():
    """Iterations of a loop, calls of a function, or one pass."""
    loop = prediction([template()], cycles=4.0)
    assert (unit(loop), unit_in_words(loop), one_pass(loop)) == ("cycles/iter", "cycles per iteration", "")
    once = OnePass(34, (), 0)
    call = replace(loop, once=once)
    assert (unit(call), unit_in_words(call)) == ("cycles/call", "cycles per call")
    assert cycles_per(call) == "4.00 cycles/call (34 for one pass)"
    alone = replace(call, mode=Mode.ONCE)
    assert (unit(alone), unit_in_words(alone), one_pass(alone)) == ("cycles", "cycles", "")


def test_in_one_pass_each_limit_says_its_cycles():
    once = replace(
        prediction([template()], bottlenecks=["Dependencies", "Ports", "Decoder"],
                   bounds={"Dependencies": 12.0, "Ports": 9.5, "Decoder": 3.0}),
        mode=Mode.ONCE, once=OnePass(20, (), 0),
    )  # fmt: skip
    assert list(explanations(once)) == [
        "The longest chain of dependent instructions takes 12.00 of the 20 cycles.",
        "Ports alone take 9.50 of the 20 cycles.",
        "Decoder alone takes 3.00 of the 20 cycles.",
    ]


def test_a_weight_says_what_the_profile_counted():
    assert weight(Weight(1620, 0, 0.84)) == "84% of the cycles, 1,620 iterations"
    assert weight(Weight(0, 35, 0.5)) == "50% of the cycles, 35 samples"
    assert weight(Weight(0, 0, 0.0)) == "not there"


def test_slots_name_the_three_largest_causes():
    lost_to = {"RS": 30, "ROB": 20, "LSD": 12, "DSB": 8, "MITE": 0}
    account = Account(4, 1, 100, (30,), {(Cause(Area.BACK_END, key), 0): n for key, n in lost_to.items()})
    assert slots(INTEL, replace(account, lost={}, slots=30)) == "100% used"
    shares = [part.split(" to ")[0] for part in slots(INTEL, account).partition("lost: ")[2].split("; ")]
    assert (slots(INTEL, account)[:9], shares) == ("30% used;", ["30%", "20%", "12%"])
    tiny = replace(account, slots=1000, used=(995,), lost={(Cause(Area.BACK_END, "RS"), 0): 5})
    assert slots(INTEL, tiny) == "100% used"  # rounded


def test_slots_that_stay_empty_because_of_an_instruction_are_given_in_cycles():
    account = Account(4, 10, 120, (0, 0), {(Cause(Area.BACK_END, "ROB"), 1): 20})
    assert lost(INTEL, account, 1).startswith("0.50 cycles of issue slots per iteration stay empty")
    assert lost(INTEL, account, 0) == ""


def test_sources_of_a_row_leave_out_what_gives_nothing():
    assert sources(INTEL, {"MS": 0.5, "DSB": 1.0, "MITE": 0.004}) == "DSB+MS"


def test_chains_that_tie_are_counted():
    assert (on_chain(1), on_chain(4)) == ("on the critical chain, 1 cycle", "on the critical chain, 4 cycles")
    assert (tied(1), tied(2).split(":")[0]) == ("", " 2 chains tie")


@pytest.mark.parametrize(
    ("cycles", "long", "short"),
    [
        ((1.0, 1.0), "", ""),
        ((2.0, 3.0, 2.0, 3.0), " (or 3.00 at two of four positions in memory)", " (to 3.00 by position)"),
        ((3.0, 2.0), " (or 2.00 at one of two positions in memory)", " (from 2.00 by position)"),
        (
            (2.5, 2.0, 3.0),
            " (or 2.00 to 3.00 at two of three positions in memory)",
            " (2.00 to 3.00 by position)",
        ),
        (
            (1.0, 2.0, 3.0, 4.0, 4.0),
            " (or 2.00 to 4.00 at 4 of 5 positions in memory)",
            " (to 4.00 by position)",
        ),
    ],
)
def test_figures_at_other_positions(cycles, long, short):
    found = tuple(Position(at, each, frozenset()) for at, each in enumerate(cycles))
    block = replace(prediction([template()], cycles=cycles[0]), positions=found)
    assert (at_positions(block), by_position(block)) == (long, short)


def test_limits_are_named_or_why_there_is_none():
    assert limits(prediction([template()], bottlenecks=["Dependencies", "Ports"])) == "Dependencies, Ports"
    assert limits(prediction([template()], bottlenecks=["unknown"])) == "none by itself"
    assert limits(prediction([template("vnew xmm0", facts=None)])) == "not known (no figures for vnew)"
