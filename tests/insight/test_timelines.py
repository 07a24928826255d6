"""The timeline: where it begins, and the names of its values."""

import re

from cyclelens.analyzer.insight import vocabulary
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.insight.pressure import port_pressure, port_shares
from cyclelens.analyzer.insight.timelines import shown, steady_row
from cyclelens.analyzer.insight.waits import ValueEdge
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.reports.timeline import explain as told
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from testkit.blocks import block_of

# vmovups ymm1, [rsi]; vfmadd231ps ymm0, ymm1, [rdi]; add esi, 1; lea rdi, [rsi]; dec r15; jnz
KERNEL = "c5fc100ec4e275b80783c601488d3e49ffcf75ea"


def predicted(code=KERNEL, **options):
    block, model = block_of(code, "SKL"), registry.get("SKL")
    return explain(block, model, simulate(block, model, request=RunRequest(trace=True, **options)))


def test_the_steady_state_begins_with_the_iterations_of_the_averages():
    prediction = predicted()
    rows = prediction.simulation.trace.rows
    assert rows[steady_row(prediction, rows)].round == prediction.simulation.first_round > 0
    short = predicted(trace_rounds=2)
    assert steady_row(short, short.simulation.trace.rows) == 0


def test_some_of_the_steady_state_is_always_there():
    prediction = predicted()
    rows, first = prediction.simulation.trace.rows, prediction.simulation.first_round
    begin = steady_row(prediction, rows)
    assert [row.round for row in shown(prediction, begin).rows][:: len(rows)] == [0]
    assert len(shown(prediction, begin).rows) > 2 * begin - 20
    assert shown(prediction).rows == rows
    assert {row.round for row in shown(prediction, 1).rows} == set(range(first, first + 3))


def test_a_warm_up_that_is_too_long_is_left_out():
    """What later rows waited for in it is still known."""
    prediction = predicted()
    whole, short = shown(prediction), shown(prediction, 1)
    first = steady_row(prediction, whole.rows)
    assert steady_row(prediction, short.rows) == 0

    def same(number, other):
        return short.row(number) == whole.row(other)

    for number, row in enumerate(short.rows):
        assert row == whole.rows[first + number]
        for one, other in zip(short.inputs[number], whole.inputs[first + number], strict=True):
            assert (one.value, one.ready) == (other.value, other.ready) and same(one.producer, other.producer)
        for wait, later in zip(short.waits[number], whole.waits[first + number], strict=True):
            assert (wait.begin, wait.end, wait.cause) == (later.begin, later.end, later.cause)
            assert (wait.uop is None and later.uop is None) or same(wait.uop, later.uop)
    assert short.chain == {
        ValueEdge(edge.producer - first, edge.consumer - first)
        for edge in whole.chain
        if edge.producer - first >= 0 and edge.consumer - first < len(short.rows)
    }
    for port, taken in short.ports.items():
        assert all(same(row, whole.ports[port][cycle]) for cycle, row in taken.items())


def test_values_are_called_what_their_readers_call_them():
    drawn = shown(predicted())
    read = {
        (row.instruction, value.value)
        for row, values in zip(drawn.rows, drawn.inputs, strict=True)
        for value in values
    }
    assert read >= {(0, "rsi"), (1, "rdi"), (1, "ymm0"), (1, "ymm1"), (2, "esi"), (3, "rsi"), (4, "r15")}
    waits = {wait.value for waits in drawn.waits for wait in waits if wait.cause == "input"}
    assert "ymm0" in waits and not any(value.isupper() for value in waits)


def test_shares_of_ports_are_the_averages_of_the_report():
    prediction = predicted()
    for port, uops in port_pressure(prediction).items():
        assert port_shares(prediction)[port] == uops / prediction.cycles_per_iteration


def test_waits_that_recur_are_told_once_with_their_sum():
    """The chain keeps the load buffer full: every few cycles a uop finds no room and then no issue slot."""
    prediction = predicted()
    found = shown(prediction)
    number = steady_row(prediction, found.rows)
    lines = list(told(found, number, ["instruction"] * 6, vocabulary.of("SKL")))
    waits = [wait for wait in found.waits[number] if wait.end > wait.begin]
    assert len(lines) == len({(wait.cause, wait.value) for wait in waits}) < len(waits) / 2
    spent = [int(re.findall(r": (\d+) cycles?", line)[0]) for line in lines]
    assert sum(spent) == sum(wait.end - wait.begin for wait in waits)
    full = [wait for wait in waits if wait.cause == "full"]
    start = f"{full[0].begin} to {full[-1].end}: {sum(wait.end - wait.begin for wait in full)} cycles in "
    assert any(line.startswith(f"{start}{len(full)} waits like the last, for room in") for line in lines)
    assert not any("in 1 waits" in line for line in lines)
