"""The graph of dependencies: critical chains, the slack of other instructions, the path through an
iteration."""

import csv
from fractions import Fraction
from pathlib import Path

import pytest
from cyclelens.analyzer.bounds.dependencies import dependency_bound
from cyclelens.analyzer.bounds.dependency_graph import MOST_CHAINS
from cyclelens.analyzer.insight.dependencies import dependencies, dependencies_of
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.simulator import simulate
from testkit.blocks import block_of, in_a_loop

REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "kernels.csv"
FMA = "c4e275b8"  # vfmadd231ps ymm0, ymm1, [rdi]: 07
DOT = "c5fc100e" + FMA + "07"


def chain(graph):
    (only,) = graph.chains
    return [step.instruction for step in only]


def of(code, name="SKL"):
    return dependencies_of(block_of(code, name, loop=False), registry.get(name))


def test_a_chain_over_two_instructions():
    """add rax, rbx; imul rbx, rax: 1 + 3 cycles round."""
    graph = of("4801d8480fafd8")
    assert graph.cycles_per_iteration == 4
    assert graph.chain_cycles == {0: 1, 1: 3}
    assert graph.chain_iterations == (1,)
    assert graph.slack == (0, 0)


def test_room_is_what_a_shorter_circle_lacks():
    """imul rax, rax takes 3 cycles, add rbx, rbx beside it only 1."""
    graph = of("480fafc04801db")
    assert chain(graph) == [0]
    assert graph.slack == (0, 2)


def test_an_instruction_on_no_circle_has_no_room_to_speak_of():
    """imul rax, rax; lea rcx, [rax+1]: nothing reads rcx."""
    assert of("480fafc0488d4801").slack == (0, None)


def test_a_chain_may_take_several_iterations():
    """add rax, rbx; xchg rcx, rax: the sum comes back to rax in every second iteration."""
    graph = of("4801d84891")
    adds_up(graph)
    assert max(graph.chain_iterations) > 1


def test_the_way_through_one_iteration_ends_with_the_last_latency():
    """mov rax, [rsi]; imul rax, rax; add rbx, rax: 5 + 3 + 1 cycles."""
    graph = of("488b06480fafc04801c3")
    assert graph.path == (0, 1, 2)
    assert graph.path_cycles == 9


@pytest.mark.parametrize("addition", ["4801d8", "4801c3"])
def test_the_way_through_one_iteration_takes_the_longer_input(addition):
    """imul rbx, rbx; add rax, rbx or the reverse; imul of the sum: 3 + 1 + 3 cycles, not 1 + 3."""
    square = {"4801d8": "480fafc0", "4801c3": "480fafdb"}[addition]
    graph = of("480fafdb" + addition + square)
    assert (graph.path, graph.path_cycles) == ((0, 1, 2), 7)


def test_slowing_an_instruction_down_by_its_room_is_free():
    """add rax, rax; add rax, rax; imul rbx, rbx: the second circle has 3 - 2 cycles more."""
    graph = of("4801c04801c0480fafdb")
    assert graph.slack == (1, 1, 0)


def adds_up(graph):
    """Every chain consists of edges that are marked, with the latencies that make the figure."""
    assert len(graph.chains) == len(graph.chain_iterations)
    edges = {(edge.producer, edge.consumer, edge.name, edge.latency) for edge in graph.edges if edge.critical}
    for steps, iterations in zip(graph.chains, graph.chain_iterations, strict=True):
        assert sum(step.latency for step in steps) == graph.cycles_per_iteration * iterations
        for step, following in zip(steps, steps[1:] + steps[:1], strict=True):
            assert (step.instruction, following.instruction, step.value, step.latency) in edges
    listed = {step.instruction for steps in graph.chains for step in steps}
    assert graph.more_chains or {edge[0] for edge in edges} == listed == set(graph.chain_cycles)


@pytest.mark.parametrize(
    "code", ["4801d8480fafd8", "48f7e1", "488b00", "4811d84811d9", "f2480f2ac0f2480f2cc0", DOT]
)
@pytest.mark.parametrize("name", ["SNB", "HSW", "SKL", "RKL"])
def test_the_chains_are_the_bound(code, name):
    block = block_of(code, name, loop=False)
    graph = dependencies_of(block, registry.get(name))
    assert float(graph.cycles_per_iteration) == dependency_bound(block, registry.get(name))
    adds_up(graph)
    assert all(graph.slack[instruction] == Fraction(0) for instruction in graph.chain_cycles)


@pytest.mark.skipif(not REFERENCE.exists(), reason="the reference set is not beside the repository")
def test_what_is_marked_adds_up_on_every_kernel_of_the_reference_set():
    with REFERENCE.open() as stream:
        kernels = list(csv.DictReader(stream))
    bound = 0
    for row in kernels:
        loop = row["mode"] == "loop"
        code = in_a_loop(row["hex"]) if loop else row["hex"]
        for name in ("SNB", "SKL", "ICL"):
            block = block_of(code, name, loop=loop)
            model = registry.get(name)
            prediction = explain(block, model, simulate(block, model))
            graph = dependencies(prediction)
            adds_up(graph)
            if "Dependencies" in prediction.bottlenecks:
                bound += 1
                assert float(graph.cycles_per_iteration) == prediction.bounds["Dependencies"], row["name"]
                assert graph.chains, row["name"]
    assert bound > 50


def test_a_critical_edge_has_the_latency_of_its_own_operand():
    """vmovups ymm1, [rsi]; vfmadd231ps ymm0, ymm1, [rdi]: 4 cycles from ymm0, 12 from the load's address."""
    graph = of(DOT)
    (edge,) = [edge for edge in graph.edges if edge.critical]
    assert (edge.producer, edge.consumer, edge.name, edge.latency) == (1, 1, "ymm0", 4)


def test_so_has_one_of_a_shorter_chain():
    """The same with imul rax, rax twice beside it, which takes 6 cycles."""
    graph = of(DOT + 2 * "480fafc0")
    assert graph.cycles_per_iteration == 6
    assert [edge.latency for edge in graph.edges if edge.name == "ymm0"] == [4]


def test_values_are_named_as_their_readers_write_them():
    """add eax, ebx; imul rbx, rax; vaddps ymm0, ymm0, ymm0; vaddps xmm1, xmm0, xmm0; adc ecx, 0"""
    graph = of("01d8480fafd8c5fc58c0c5f858c883d100")
    names = {(edge.producer, edge.consumer): edge.name for edge in graph.edges}
    assert names[0, 1] == "rax" and names[0, 0] == "eax" and names[1, 0] == "ebx"
    assert names[2, 2] == "ymm0" and names[2, 3] == "xmm0" and names[4, 4] == "ecx"
    assert {edge.name for edge in graph.edges} >= {"C"}


@pytest.mark.parametrize("accumulators", [1, 2, 4])
def test_all_chains_that_tie_are_listed(accumulators):
    graph = of("".join(f"c4e275b8{7 + 8 * number:02x}" for number in range(accumulators)))
    assert [steps[0].value for steps in graph.chains] == [f"ymm{number}" for number in range(accumulators)]
    assert graph.chain_cycles == dict.fromkeys(range(accumulators), 4)
    assert not graph.more_chains
    adds_up(graph)


def test_two_ways_of_a_chain_that_tie_are_both_listed():
    """lea rbx, [rax+1]; lea rcx, [rax+1]; lea rax, [rbx+rcx]"""
    graph = of("488d5801488d4801488d040b")
    assert len(graph.chains) == 2
    assert set(graph.chain_cycles) == {0, 1, 2}
    adds_up(graph)


def test_more_chains_than_can_be_listed_are_all_marked():
    """Ten times: lea rbx, [rax+1]; lea rcx, [rax+1]; lea rax, [rbx+rcx]. A thousand chains tie."""
    graph = of(10 * "488d5801488d4801488d040b")
    assert len(graph.chains) <= MOST_CHAINS
    assert len(graph.chain_cycles) == 30
    adds_up(graph)


def test_a_prediction_carries_its_chains():
    for code in ("4801d8480fafd8", "4811d84811d9", "4801d84891", "90", DOT + "c4e275b80f"):
        block, model = block_of(code, "SKL", loop=False), registry.get("SKL")
        prediction = explain(block, model, simulate(block, model))
        graph = dependencies(prediction)
        assert dict(prediction.chain) == graph.chain_cycles
        assert prediction.tied_chains == len(graph.chains)


@pytest.mark.parametrize("name", ["SKL", "GNR", "ZEN2", "ZEN5"])
@pytest.mark.parametrize("loop", [False, True])
def test_a_predicted_block_has_the_dependencies_of_the_block(name, loop):
    """Also of a loop whose load is renamed to the register that was stored (W6)."""
    model = registry.get(name)
    for code in ("48894424084883c0018b442408", "48890648ffc0488b06", "505b4801d8"):
        block = block_of(in_a_loop(code) if loop else code, name, loop=loop)
        found = dependencies(explain(block, model, simulate(block, model)))
        assert found.cycles_per_iteration == pytest.approx(dependency_bound(block, model))
