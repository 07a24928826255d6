"""The timeline as it is shown: where it begins, and what its values are called."""

from blocks import block_of
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.insight.pressure import port_pressure, port_shares
from cyclelens.analyzer.insight.timelines import shown, steady_row
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.simulator.pipeline import simulate

# vmovups ymm1, [rsi]; vfmadd231ps ymm0, ymm1, [rdi]; add esi, 1; lea rdi, [rsi]; dec r15; jnz
KERNEL = "c5fc100ec4e275b80783c601488d3e49ffcf75ea"


def predicted(code=KERNEL, **options):
    block, model = block_of(code, "SKL"), registry.get("SKL")
    return explain(block, model, simulate(block, model, trace=True, **options))


def test_the_steady_state_begins_with_the_iterations_of_the_averages():
    prediction = predicted()
    row = prediction.simulation.trace.rows[steady_row(prediction)]
    assert row.round == prediction.simulation.first_round > 0
    assert steady_row(predicted(trace_rounds=2)) == 0


def test_some_of_the_steady_state_is_always_there():
    prediction = predicted()
    first = prediction.simulation.first_round
    assert {row.round for row in shown(prediction, 1).rows} == set(range(first + 3))
    assert len(shown(prediction, 100).rows) > steady_row(prediction) + 90
    assert shown(prediction).rows == prediction.simulation.trace.rows


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
