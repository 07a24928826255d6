"""The graph of dependencies: the critical chain, the room of the others, the way through an iteration."""

from fractions import Fraction

import pytest
from blocks import block_of
from cyclelens.analyzer.bounds.dependencies import dependency_bound
from cyclelens.analyzer.insight.dependencies import critical_chain, dependencies, dependencies_of
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.simulator.pipeline import simulate


def of(code, name="SKL"):
    return dependencies_of(block_of(code, name, loop=False), registry.get(name))


def test_a_chain_over_two_instructions():
    """add rax, rbx; imul rbx, rax: 1 + 3 cycles round."""
    graph = of("4801d8480fafd8")
    assert graph.cycles_per_iteration == 4
    assert graph.chain_cycles == {0: 1, 1: 3}
    assert graph.chain_iterations == 1
    assert graph.slack == (0, 0)


def test_room_is_what_a_shorter_circle_lacks():
    """imul rax, rax takes 3 cycles, add rbx, rbx beside it only 1."""
    graph = of("480fafc04801db")
    assert graph.chain == (0,)
    assert graph.slack == (0, 2)


def test_an_instruction_on_no_circle_has_no_room_to_speak_of():
    """imul rax, rax; lea rcx, [rax+1]: nothing reads rcx."""
    assert of("480fafc0488d4801").slack == (0, None)


def test_a_chain_may_take_several_iterations():
    """add rax, rbx; xchg rcx, rax: the sum comes back to rax in every second iteration."""
    graph = of("4801d84891")
    assert graph.chain_iterations * graph.cycles_per_iteration == sum(graph.chain_latencies)


def test_the_way_through_one_iteration_ends_with_the_last_latency():
    """mov rax, [rsi]; imul rax, rax; add rbx, rax: 5 + 3 + 1 cycles."""
    graph = of("488b06480fafc04801c3")
    assert graph.path == (0, 1, 2)
    assert graph.path_cycles == 9


def test_slowing_an_instruction_down_by_its_room_is_free():
    """add rax, rax; add rax, rax; imul rbx, rbx: the second circle has 3 - 2 cycles more."""
    graph = of("4801c04801c0480fafdb")
    assert graph.slack == (1, 1, 0)


@pytest.mark.parametrize(
    "code", ["4801d8480fafd8", "48f7e1", "488b00", "4811d84811d9", "f2480f2ac0f2480f2cc0"]
)
@pytest.mark.parametrize("name", ["SNB", "HSW", "SKL", "RKL"])
def test_the_chain_is_the_bound(code, name):
    block = block_of(code, name, loop=False)
    graph = dependencies_of(block, registry.get(name))
    assert float(graph.cycles_per_iteration) == dependency_bound(block, registry.get(name))
    assert sum(graph.chain_latencies) == graph.cycles_per_iteration * graph.chain_iterations
    critical = {edge.producer for edge in graph.edges if edge.critical}
    assert critical == set(graph.chain)
    assert all(graph.slack[instruction] == Fraction(0) for instruction in graph.chain)


@pytest.mark.parametrize("code", ["4801d8480fafd8", "4811d84811d9", "4801d84891", "90"])
def test_a_prediction_carries_its_chain(code):
    block, model = block_of(code, "SKL", loop=False), registry.get("SKL")
    prediction = explain(block, model, simulate(block, model))
    graph = dependencies(prediction)
    assert prediction.chain == tuple(zip(graph.chain, graph.chain_latencies, strict=True))
    assert critical_chain(prediction) == graph.chain_cycles
