"""Figures that depend on port binding: which do, and that measurements lie in the range of plausible
rules."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight import port_binding as module
from cyclelens.analyzer.insight import runs
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.insight.port_binding import LEAST_FACTOR, port_binding
from cyclelens.analyzer.insight.runs import Runs
from cyclelens.analyzer.isa.counted_loop import counted_loop
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.variants import variant
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, Target
from cyclelens.analyzer.model.choices import Model, Pointers
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.result import PortBinding, Prediction
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.simulator.variants import other_bindings
from msgspec import Struct
from msgspec.structs import replace
from testkit.blocks import block_of, store
from testkit.simulated import cycles

WITH_MOV = "01f7 89f3 ffc6 83feff 72f5"  # add edi, esi; mov ebx, esi; inc esi; cmp esi, -1; jb
WITHOUT_MOV = "01f7 ffc6 83feff 72f7"
# add ecx, [rdi+rax*4]; mov [rsi+rax*4], ecx; add rax, 1; cmp rdx, rax; jne
VPINSRQ = "c4e3f122c001 49ffcf 75f5"  # vpinsrq xmm0, xmm1, rax, 1; dec r15; jnz
LOOP_END = "49ffcf 75f5"  # dec r15; jnz
FOUR_STORES_BETWEEN_FMAS = (
    "c4c20da8c7c57c112fc4c20da8cfc4c20da8d7c57c116f20c4c20da8dfc4c20da8e7c57c116f40c4c20da8efc4c20da8f7"
    "c57c116f60c4c20da8ff"
)
TRANSPOSITION = "c5f814e1c5f815e9c5e814f3c5e815fbc55816c6c54812ccc55016d7c54012dd"
TWO_LOADS = "488b06 488b5608 4885c0 48ffc9 75f1"  # mov, mov, test; dec rcx; jnz
PREFIX_SUM = "030c87 890c86 4883c001 4839c2 75f1"

CHAIN = "480fafc9 480fafc9 4883c620 48ffca 75f1"  # two multiplications, each waiting for the other
DECODED = "66 0f1f440000 " * 7 + "48ffc0 48ffca 75cd"  # many no-ops
SINGLE = "48890648890e 48ffca 75f5"  # two stores

REFERENCE = ModelOptions(model=Model("reference"))
HARDWARE = ModelOptions(model=Model.HARDWARE)
MODELS = [pytest.param(REFERENCE, id="reference"), pytest.param(HARDWARE, id="hardware")]


def found(code: str, name: str, options: ModelOptions = REFERENCE) -> tuple[Prediction, PortBinding | None]:
    """A prediction of a loop, and what other bindings make of it."""
    core = variant(registry.get(name), options)
    block = block_of(code, name, loop=True, options=options)
    simulation = simulate(block, core, request=RunRequest(), options=options, caches=store().caches)
    prediction = explain(block, core, simulation, options)
    return prediction, port_binding(block, prediction, Runs(core, options, None, store().caches))


MEASURED = [
    # "Can x86's MOV really be free?", stackoverflow.com.
    (WITH_MOV, "HSW", 1.02),
    (WITH_MOV, "IVB", 1.00),
    (WITH_MOV, "SNB", 1.33),
    (WITHOUT_MOV, "HSW", 1.00),
    (WITHOUT_MOV, "IVB", 1.00),
    (WITHOUT_MOV, "SNB", 1.00),
    # On an EPYC of Zen 3 and a Xeon of Emerald Rapids, by time stamps.
    (WITH_MOV, "ZEN3", 0.99),
    (WITH_MOV, "SPR", 1.13),
    (WITHOUT_MOV, "SPR", 1.20),
    (VPINSRQ, "ZEN3", 1.59),
    # On an EPYC of Zen 4 (M43 of docs/zen5.md): the slowest and fastest of several loops, by their fillers.
    ("800601" + LOOP_END, "ZEN4", 6.02),  # add byte ptr [rsi], 1
    ("800601 800601" + LOOP_END, "ZEN4", 13.65),
    ("801601" + LOOP_END, "ZEN4", 7.57),  # adc byte ptr [rsi], 1
    ("801601 801601 801601 801601" + LOOP_END, "ZEN4", 31.2),
    ("0fb706 668906" + LOOP_END, "ZEN4", 6.21),  # movzx eax, word ptr [rsi]; mov [rsi], ax
    ("0fb706 83c001 668906" + LOOP_END, "ZEN4", 7.75),
    ("0fb706 83c001 83c001 83c001 668906" + LOOP_END, "ZEN4", 9.0),
    # M44: two, three and eight FMAs and a store; stores between eight FMAs; AXPY.
    ("c5fc28c2 c4e275a8c3 c4e275a8c3 c5fc1107" + LOOP_END, "ZEN4", 1.61),
    ("c5fc28c2 c4e275a8c3 c4e275a8c3 c4e275a8c3 c5fc1107" + LOOP_END, "ZEN4", 1.93),
    ("c5fc28c2" + 8 * "c4e275a8c3" + "c5fc1107" + LOOP_END, "ZEN4", 4.10),
    (FOUR_STORES_BETWEEN_FMAS + LOOP_END, "ZEN4", 6.63),
    ("c5fc100c06 c4e27da80c07 c5fc110c07 4883c020" + LOOP_END, "ZEN4", 1.12),
    # Pipes of vector uops (M32): shuffles of a transposition in one of two states, and products in a chain.
    (TRANSPOSITION + LOOP_END, "ZEN4", 2.80),
    ("c5f459c3 c5fc58c4 c5fc59c1 c5fc58c1 c5fc1107" + LOOP_END, "ZEN4", 1.16),
    # M47: two stores of 128 bits and two transfers, one after the other and in turn.
    ("c5f81107 c5f8114710 c5f97ec8 c5f97ecb" + LOOP_END, "ZEN4", 4.00),
    ("c5f81107 c5f97ec8 c5f8114710 c5f97ecb" + LOOP_END, "ZEN4", 2.00),
    # Additions to two and four words of 32 bits.
    ("830701 83470801" + LOOP_END, "ZEN4", 1.58),
    ("830701 83470801 83471001 83471801" + LOOP_END, "ZEN4", 2.85),
    # "Why does this loop take 1.32 cycles per iteration", stackoverflow.com.
    (PREFIX_SUM, "SKL", 1.32),
]


@pytest.mark.parametrize("options", MODELS)
@pytest.mark.parametrize(("code", "name", "measured"), MEASURED)
def test_the_measured_figure_lies_in_the_range(
    code: str, name: str, measured: float, options: ModelOptions
) -> None:
    prediction, bound = found(code, name, options)
    figure = prediction.cycles_per_iteration
    bound = bound or PortBinding(figure, figure)
    assert bound.least * 0.98 <= measured <= bound.most * 1.02


@pytest.mark.parametrize(
    ("code", "name"), [(WITH_MOV, "HSW"), (WITHOUT_MOV, "IVB"), (WITHOUT_MOV, "SNB"), (WITH_MOV, "SKL")]
)
def test_a_rule_that_binds_badly_does_not_hide_what_the_ports_could_do(code: str, name: str) -> None:
    prediction, bound = found(code, name)
    assert prediction.cycles_per_iteration == 2.0
    assert bound is not None
    assert bound.least == 1.0


@pytest.mark.parametrize(
    ("code", "name", "published", "measured"),
    [
        (WITH_MOV, "HSW", 2.00, 1.02),
        (WITHOUT_MOV, "IVB", 2.00, 1.00),
        (WITHOUT_MOV, "SNB", 2.00, 1.00),
        (WITH_MOV, "IVB", 1.00, 1.00),
    ],
)
def test_the_hardware_model_binds_as_was_measured_up_to_broadwell(
    code: str, name: str, published: float, measured: float
) -> None:
    assert cycles(code, name, loop=True, options=REFERENCE) == published
    assert cycles(code, name, loop=True, options=HARDWARE) == pytest.approx(measured, rel=0.03)


@pytest.mark.parametrize("name", registry.names())
@pytest.mark.parametrize("code", [WITH_MOV, WITHOUT_MOV, PREFIX_SUM, CHAIN])
def test_the_range_holds_the_figure_and_is_worth_mentioning(code: str, name: str) -> None:
    prediction, bound = found(code, name)
    figure = prediction.cycles_per_iteration
    if bound is not None:
        assert bound.least <= figure <= bound.most
        assert bound.least == figure or figure > LEAST_FACTOR * bound.least
        assert bound.most == figure or bound.most > LEAST_FACTOR * figure
        assert bound.least >= prediction.bounds["Ports"] - 0.005


@pytest.mark.parametrize("name", ["SNB", "SKL", "ICL", "SPR", "ZEN2", "ZEN3", "ZEN5"])
def test_it_is_the_same_in_every_run(name: str) -> None:
    results = []
    text = "# cyclelens-begin k\n.L1: add %esi, %edi\n inc %esi\n cmp $-1, %esi\n jc .L1\n# cyclelens-end\n"
    for _ in range(2):
        (region,) = (
            Analyzer()
            .analyze(text, AnalysisOptions(target=Target(microarchitectures=(name,), alignment=0)))
            .regions
        )
        results.append(region.predictions[0].port_binding)
    assert results[0] == results[1]


class Counted:
    """Simulations that were asked for beside the first."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        monkeypatch.setattr(runs, "simulate", self._simulate)

    def _simulate(self, *arguments: object, **options: object) -> object:
        self.count += 1
        return simulate(*arguments, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["SNB", "HSW", "SKL", "ICL", "SPR", "ZEN3"])
@pytest.mark.parametrize("code", [CHAIN, DECODED, SINGLE])
def test_a_loop_that_ports_do_not_limit_is_not_tried(
    code: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = Counted(monkeypatch)
    prediction, bound = found(code, name)
    assert prediction.bounds["Ports"] < module.NEAR * max(prediction.bounds.values()) or code == SINGLE
    figure = prediction.cycles_per_iteration
    # Of the loop of two stores Zen 3 has several steady states, which no simulation finds.
    state = PortBinding(figure, 1.25 * figure, steady_states=True)
    assert bound == (state if (code, name) == (SINGLE, "ZEN3") else None)
    if prediction.cycles_per_iteration <= LEAST_FACTOR * max(prediction.bounds.values()) and code != SINGLE:
        assert tried.count == 0


@pytest.mark.parametrize("name", ["SNB", "HSW", "SKL", "ICL", "SPR", "ZEN3"])
def test_few_simulations_are_made(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = Counted(monkeypatch)
    # Of its own rule and another one on Zen 3 the prefix sum makes different figures.
    found(PREFIX_SUM if name == "ZEN3" else WITH_MOV, name)
    others = max(len(list(other_bindings(registry.get(each), ModelOptions()))) for each in registry.names())
    assert 0 < tried.count <= 1 + others


TEXT = (
    "# cyclelens-begin k arch=SKL\n.p2align 5\n.L1: add %esi, %edi\n mov %esi, %ebx\n inc %esi\n"
    " cmp $-1, %esi\n jc .L1\n# cyclelens-end\n"
)


def test_the_first_answer_does_not_wait_for_it_and_an_edit_elsewhere_does_not_repeat_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = Counted(monkeypatch)
    analyzer = Analyzer()
    options = AnalysisOptions(target=Target(model=REFERENCE), detail=Detail(quick=True))
    (region,) = analyzer.analyze(TEXT, options).regions
    assert region.predictions[0].port_binding is None
    first = tried.count
    whole = AnalysisOptions(target=Target(model=REFERENCE), detail=Detail(trace=True, trace_rounds=3))
    (region,) = analyzer.analyze(TEXT, whole).regions
    known = region.predictions[0].port_binding
    assert known is not None
    assert known.least == 1.0
    assert tried.count > first
    after = tried.count
    (region,) = analyzer.analyze("# another line\n" + TEXT, whole).regions
    assert region.predictions[0].port_binding == known
    (region,) = analyzer.analyze(TEXT, AnalysisOptions(target=Target(model=REFERENCE))).regions
    assert region.predictions[0].port_binding == known
    assert tried.count == after


# Loops on an EPYC of Zen 3, by time stamps: the lowest and the highest of six runs.
@pytest.mark.parametrize(
    ("code", "lowest", "highest"),
    [
        ("488b4424184c8b78684d85ff", 1.00, 1.03),
        ("488b4c24688b140883fa23", 1.00, 1.16),
        ("6690483b9040030000", 1.00, 1.14),
        ("498b1cef4889df", 1.00, 1.24),
        ("4889d748898424200400004c89bc24280400004d85ff", 1.04, 1.28),
    ],
)
def test_short_loops_that_access_memory_have_several_steady_states(
    code: str, lowest: float, highest: float
) -> None:
    looped = counted_loop(bytes.fromhex(code), 1)
    assert looped is not None
    prediction, bound = found(looped.hex(), "ZEN3", ModelOptions(assume=Pointers.SAME))
    figure = prediction.cycles_per_iteration
    assert figure == pytest.approx(lowest, rel=0.05)
    assert bound == PortBinding(figure, 1.25 * figure, steady_states=True)
    assert highest <= 1.03 * bound.most


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (TWO_LOADS, "ZEN5"),  # measured there with counters: one state
        ("4889c1 4885c0 48ffc9 75f5", "ZEN3"),  # nothing of memory
        ("488b06 480fafc8 4889ca 48ffc9 75f1", "ZEN3"),  # a chain of three cycles
    ],
)
def test_other_loops_have_one(code: str, name: str) -> None:
    _, bound = found(code, name)
    assert bound is None


def test_chance_of_the_users_choice_is_not_questioned() -> None:
    assert found(WITH_MOV, "SKL", ModelOptions(model=Model("reference"), port_seed=1))[1] is None


def test_an_instruction_without_figures_leaves_no_range() -> None:
    # fnop has no record.
    prediction, bound = found("d9d0 01f7 ffc6 83feff 72f5", "SKL")
    assert any(template.facts is None for template in prediction.instructions)
    assert bound is None


# vmovaps ymm0, [rdi+rax]; vaddps ymm0, ymm0, [rdi+rax+second]; vmovaps [rdi+rax+third], ymm0; add rax, 32;
# dec r15; jnz
IN_STEP = "c5fc280407 c5fc588407{} c5fc298407{} 4883c020 49ffcf 75e3"


@pytest.mark.parametrize(
    ("name", "second", "third", "slowest"),
    [
        ("ZEN3", 4160, 8320, 1.51),  # the lowest of six runs
        ("ZEN4", 8192, 16448, 1.57),  # in a third of the runs, 1.04 in most others
    ],
)
def test_a_loop_whose_loads_meet_4k_aliasing_has_a_slower_state(
    name: str, second: int, third: int, slowest: float
) -> None:
    def code(distance: int) -> str:
        return IN_STEP.format(second.to_bytes(4, "little").hex(), distance.to_bytes(4, "little").hex())

    prediction, bound = found(code(third).replace(" ", ""), name)
    assert bound is not None
    assert bound.steady_states
    assert prediction.cycles_per_iteration < slowest <= bound.most == 2.0
    _, apart = found(code(third + 2048).replace(" ", ""), name)
    assert apart is None or apart.most < slowest


class Stated(Struct, frozen=True):
    """In the place of ``Runs``: a loop's figures without binding to ports and under other rules."""

    ideal: float
    others: tuple[float, ...]
    microarchitecture: object = None
    options: object = None

    def cycles(self, block: Block) -> float:
        return self.ideal if self.microarchitecture == "unbound" else self.others[int(str(self.options))]


@pytest.mark.parametrize(
    ("cycles_and_bounds", "ideal", "others", "expected"),
    [
        # Ports limit it: the other rules say how far.
        ((2.0, 2.0, 1.0), 9.0, (2.0, 2.5), (2.0, 2.5)),
        ((2.0, 2.0, 1.0), 9.0, (2.1, 2.0), None),  # five percent are no difference
        ((2.0, 1.8, 2.0), 9.0, (2.5,), (2.0, 2.5)),  # nearly the limit
        ((2.0, 1.7, 2.0), 9.0, (2.5,), None),
        # No bound explains it: it could be as fast as without binding, but not faster than the ports.
        ((3.0, 2.0, 1.0), 1.5, (3.0,), (2.0, 3.0)),
        ((3.0, 2.0, 1.0), 2.4, (2.8, 3.3), (2.4, 3.3)),
        ((3.0, 2.0, 1.0), 2.4, (2.2,), (2.2, 3.0)),
        ((3.0, 2.0, 1.0), 3.5, (2.9, 3.1), None),
        # Nor do ports: without them it would be as slow.
        ((3.0, 1.0, 2.0), 2.9, (4.0,), None),
        ((3.0, 1.0, 2.0), 2.5, (4.0,), (2.5, 4.0)),
    ],
)
def test_the_range_is_that_of_the_rules_that_fit(
    cycles_and_bounds: tuple[float, float, float],
    ideal: float,
    others: tuple[float, ...],
    expected: tuple[float, float] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prediction, _ = found(WITH_MOV, "SKL")
    figure, ports, chain = cycles_and_bounds
    bounds = {"Ports": ports, "Dependencies": chain}
    stated = replace(prediction, cycles_per_iteration=figure, bounds=bounds)
    monkeypatch.setattr(module, "unbound", lambda _: "unbound")
    monkeypatch.setattr(
        module, "other_bindings", lambda *_, **__: [("other", number) for number in range(len(others))]
    )
    monkeypatch.setattr(module, "_shares_pipes", lambda *_: False)
    block = block_of(WITH_MOV, "SKL", loop=True)
    result = module._under_other_rules(block, stated, Stated(ideal, others))  # type: ignore[arg-type]
    assert result == (None if expected is None else PortBinding(*expected))


def test_without_a_choice_of_ports_there_is_none_of_rules() -> None:
    """IMUL has one port, ADD four."""
    assert not module._has_choice(block_of("480fafc1 480fafd1".replace(" ", ""), "HSW"))
    assert module._has_choice(block_of("480fafc1 4801d0".replace(" ", ""), "HSW"))
