"""The first difference of two traces: which event it is, and which rules may cause it."""

import lzma

import pytest
from cyclelens.analyzer.evaluation.files import DatasetError
from cyclelens.analyzer.evaluation.traces import TraceDifference, first_difference, read_traces
from cyclelens.analyzer.model.simulation import TraceRow
from testkit.narrowing import some


def row(instruction=0, **changes):
    """One uop from the decoders that runs straight through the pipeline."""
    values = {
        "round": 0, "instruction": instruction, "kind": "uop", "idq_uop": 0, "fused_uop": 0, "uop": 0,
        "predecoded": 0, "removed_from_iq": 3, "source": "MITE", "added_to_idq": 3, "issued": 4, "ready": 9,
        "dispatched": 9, "executed": 11, "retired": 12, "port": "6", "ports": "0156",
    }  # fmt: skip
    return TraceRow(**(values | changes))


def difference_of(ours, reference) -> TraceDifference:
    """The first one of traces that have some."""
    return some(first_difference(ours, reference))


def test_equal_traces_have_no_difference():
    assert first_difference([row(), row(1)], [row(), row(1)]) is None


@pytest.mark.parametrize(
    ("event", "value", "rule"),
    [
        ("predecoded", 1, "predecoder"),
        ("source", "DSB", "front-end source"),
        ("removed_from_iq", 4, "decoders"),
        ("added_to_idq", 4, "decoders"),
        ("issued", 5, "renamer"),
        ("port", "5", "port binding"),
        ("ready", 10, "ready time"),
        ("dispatched", 10, "dispatch"),
        ("executed", 13, "completion"),
        ("retired", 13, "retirement"),
    ],
)
def test_each_event_names_its_rules(event, value, rule):
    difference = difference_of([row(**{event: value})], [row()])
    assert difference.event == event
    assert difference.ours == str(value)
    assert difference.rule.startswith(rule)


def test_the_earliest_cycle_wins_in_any_program_order():
    ours = [row(0, retired=13), row(1, dispatched=10)]
    difference = difference_of(ours, [row(0), row(1)])
    assert (difference.cycle, difference.instruction, difference.event) == (9, 1, "dispatched")
    assert difference.differing_events == 2


def test_the_cause_comes_before_its_effect_in_the_same_uop():
    difference = difference_of([row(port="5", ready=10, dispatched=10)], [row()])
    assert difference.event == "port"


def test_uops_from_the_microcode_sequencer_are_blamed_on_it():
    difference = difference_of([row(source="MS", added_to_idq=6)], [row(source="MS", added_to_idq=5)])
    assert difference.rule.startswith("microcode sequencer")


def test_an_eliminated_move_is_recognised_in_both_notations():
    without_port = {"port": "", "ready": None, "dispatched": None, "executed": 4}
    eliminated = row(ports="0156", **without_port)
    reference = row(ports="", **(without_port | {"port": "elim"}))
    assert first_difference([eliminated], [reference]) is None
    assert difference_of([row()], [reference]).rule.startswith("move elimination")


def test_a_different_number_of_uops_comes_before_everything():
    ours = [row(0, predecoded=1), row(1)]
    reference = [row(0), row(1), row(1, fused_uop=1)]
    difference = difference_of(ours, reference)
    assert (difference.instruction, difference.event) == (1, "uops")
    assert (difference.ours, difference.reference) == ("u", "u u")


def test_fused_uops_are_recognized():
    micro_fused = [row(uop=0), row(uop=1)]
    unlaminated = [row(fused_uop=0), row(fused_uop=1)]
    two_slots = [row(idq_uop=0), row(idq_uop=1)]
    assert difference_of(micro_fused, unlaminated).ours == "u+u"
    assert difference_of(micro_fused, unlaminated).reference == "u u"
    assert difference_of(micro_fused, two_slots).reference == "u | u"


def test_a_missing_synchronisation_uop_is_the_stack_engines_fault():
    sync = row(1, kind="sync", source="SE", port="5")
    difference = difference_of([row(0), row(1)], [row(0), sync, row(1)])
    assert (difference.kind, difference.ours, difference.reference) == ("sync", "absent", "u")
    assert difference.rule.startswith("stack engine")


def test_only_common_rounds_and_real_uops_are_compared():
    second_half = row(1, kind="fused", port="", issued=None)
    assert first_difference([row(), second_half, row(round=1)], [row()]) is None


def test_an_empty_trace_is_a_difference():
    assert difference_of([], [row()]).event == "uops"


def test_reading_a_compressed_trace_file(tmp_path):
    path = tmp_path / "SKL.csv.xz"
    header = (
        "kernel,round,instruction,kind,idq_uop,fused_uop,uop,predecoded,removed_from_iq,source,added_to_idq,"
        "issued,ready,dispatched,executed,retired,port\n"
    )
    with lzma.open(path, "wt") as stream:
        stream.write(
            header + "a,0,0,uop,0,0,0,0,3,MITE,3,4,9,9,11,12,6\nb,0,0,uop,0,0,0,,,LSD,,0,,,0,1,elim\n"
        )
    traces = dict(read_traces(path))
    assert list(traces) == ["a", "b"]
    assert first_difference([row()], traces["a"]) is None
    assert traces["b"][0].added_to_idq is None


def test_a_file_that_is_no_trace_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("hex,cycles\n90,1\n")
    with pytest.raises(DatasetError, match="lacks the column kernel"):
        list(read_traces(path))
