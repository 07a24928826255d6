"""Ablations and the hardware model: each choice has a block whose figure it changes and one that it does not
touch. In every comment the reason is worked out by hand."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.prediction import Predictor
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.variants import variant
from cyclelens.analyzer.model.choices import Binding, Model, MoveElimination, Pointers
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.simulator.variants import unbound
from msgspec.structs import replace
from testkit.blocks import block_of, store
from testkit.simulated import cycles, rows_of, simulated

ADD_CHAIN = "4801d8"  # add rax, rbx
THREE_ADDS = "4801d84801d94801da"  # add rax/rcx/rdx, rbx
TWO_LOAD_ADDS = "48030648031e"  # add rax, [rsi]; add rbx, [rsi]
SWAP_LIKE = "4889d84889c3"  # mov rax, rbx; mov rbx, rax
CHAIN_AND_30_LOADS = 4 * "480fafc0" + "31c0" + 30 * "483b1e"  # imul rax, rax; xor eax, eax; cmp rbx, [rsi]
LENGTH_CHANGING = "6605341249ffcf"  # add ax, 0x1234; dec r15


UNFUSED = replace(PUBLISHED, unfused_reorder_buffer=True)


def loop(body: str) -> str:
    """The body with a counter in R15 behind it."""
    back = 256 - (len(body) // 2 + 5)
    return f"{body}49ffcf75{back:02x}"


@pytest.mark.parametrize(
    ("name", "options", "code", "published", "changed"),
    [
        # The predecoder's stall for the length-changing prefix goes; the chain through RAX stays.
        ("SKL", ModelOptions(simple_front_end=True), LENGTH_CHANGING, 3.42, 1.0),
        ("SKL", ModelOptions(simple_front_end=True), ADD_CHAIN, 1.0, 1.0),
        # Three fused uops become five, for four issue slots.
        ("SKL", ModelOptions(micro_fusion=False), loop(TWO_LOAD_ADDS), 1.0, 1.25),
        ("SKL", ModelOptions(micro_fusion=False), loop(ADD_CHAIN), 1.0, 1.0),
        # Thirty loads take 15 cycles; their 65 uops with the chain retire four per cycle.
        ("SNB", ModelOptions(unfused_reorder_buffer=True), CHAIN_AND_30_LOADS, 15.0, 16.25),
        ("SNB", ModelOptions(unfused_reorder_buffer=True), ADD_CHAIN, 1.0, 1.0),
        # Four fused uops become five, for four issue slots.
        ("SKL", ModelOptions(macro_fusion=False), loop(ADD_CHAIN + "9090"), 1.0, 1.25),
        ("SKL", ModelOptions(macro_fusion=False), ADD_CHAIN, 1.0, 1.0),
        # Six rounds of five uops issue in eight cycles; one by one they take two each.
        ("HSW", ModelOptions(lsd_unrolling=False), loop(THREE_ADDS + "90"), 1.33, 2.0),
        ("SKL", ModelOptions(lsd_unrolling=False), loop(THREE_ADDS + "90"), 1.25, 1.25),
        # Two moves in a chain cost two cycles, unless both are eliminated.
        ("SKL", ModelOptions(move_elimination=MoveElimination.NONE), loop(SWAP_LIKE), 1.0, 2.0),
        ("SKL", ModelOptions(move_elimination=MoveElimination.FULL), loop(SWAP_LIKE), 1.0, 1.0),
        # Six rounds of five uops issue in eight cycles, were all moves eliminated.
        ("CLX", ModelOptions(move_elimination=MoveElimination.FULL), loop(2 * SWAP_LIKE), 1.83, 1.34),
        ("SKL", ModelOptions(move_elimination=MoveElimination.NONE), loop(ADD_CHAIN), 1.0, 1.0),
        # Eight moves are two cycles of four or six slots; in a chain they take eight.
        ("ZEN3", ModelOptions(move_elimination=MoveElimination.NONE), 4 * SWAP_LIKE, 2.0, 8.0),
        ("ZEN4", ModelOptions(move_elimination=MoveElimination.NONE), 4 * SWAP_LIKE, 2.0, 8.0),
        ("ZEN5", ModelOptions(move_elimination=MoveElimination.NONE), 4 * SWAP_LIKE, 2.0, 8.0),
        ("ZEN5", ModelOptions(move_elimination=MoveElimination.FULL), 4 * SWAP_LIKE, 2.0, 2.0),
        # One allowed port leaves nothing to chance.
        ("SKL", ModelOptions(port_seed=1), "480fafc3", 3.0, 3.0),  # imul rax, rbx
    ],
)
def test_ablations(name: str, options: ModelOptions, code: str, published: float, changed: float) -> None:
    assert cycles(code, name, options=PUBLISHED) == published
    assert cycles(code, name, options=replace(options, model=Model.UICA)) == changed


@pytest.mark.parametrize(
    "options",
    [
        ModelOptions(simple_front_end=True),
        ModelOptions(port_seed=1),
        ModelOptions(binding=Binding.UFS),
        ModelOptions(unfused_reorder_buffer=True),
    ],
)
def test_what_no_stage_of_a_core_knows_is_no_figure(options: ModelOptions) -> None:
    """Zen 3 to 5 have neither a front end without limits nor chance; Zen 2 has both."""
    codes = [bytes.fromhex(ADD_CHAIN), bytes.fromhex(THREE_ADDS)]
    refused = Predictor().predict_batch(codes, "ZEN5", options=options)
    assert [each.cycles_per_iteration for each in refused] == [None, None]
    assert all("ZEN5 counts macro-ops" in each.problem for each in refused)
    assert Predictor().predict(codes[0], "ZEN2", options=options).cycles_per_iteration == 1


@pytest.mark.parametrize(("least", "rounds"), [((10, 500), 502), ((1000, 0), 1001), ((2, 100), 102)])
def test_a_run_has_at_least_these_iterations_and_cycles(least: tuple[int, int], rounds: int) -> None:
    """An iteration of one addition takes a cycle, so that rounds and cycles are nearly the same."""
    options = ModelOptions(min_iterations=least[0], min_cycles=least[1])
    assert abs(simulated(ADD_CHAIN, "SKL", options=options).simulated_cycles - rounds) <= 25
    assert cycles(ADD_CHAIN, "SKL", options=options) == 1.0


def test_a_run_without_a_steady_state_or_without_end_is_refused() -> None:
    for iterations, least in ((1, 500), (10, -1), (10, 10**9)):
        with pytest.raises(ValueError, match=r"^a run of at least"):
            ModelOptions(min_iterations=iterations, min_cycles=least)


def test_random_ports_cost_throughput_and_repeat() -> None:
    """Four uops for four ports fit only if each takes another one."""
    options = ModelOptions(port_seed=7)
    first = cycles(loop(THREE_ADDS), "SKL", options=options)
    assert first > 1.05
    assert cycles(loop(THREE_ADDS), "SKL", options=options) == first
    used = simulated(loop(THREE_ADDS), "SKL", options=options).usage[0].ports
    assert set(used) == set("0156")


def test_ufs_binds_to_the_least_loaded_port_and_on_a_tie_to_the_lowest() -> None:
    """An addition issues every eight cycles and leaves before the next one comes: all its ports
    are empty, so that the lowest takes every one; the published rule takes the highest. Four
    additions take all four ports."""
    ufs = replace(PUBLISHED, binding=Binding.UFS)
    alone = "8d4301" + 31 * "90"  # lea eax, [rbx+1]: ports 1 and 5
    for options, port in ((ufs, "1"), (PUBLISHED, "5")):
        used = simulated(alone, "SKL", options=options).usage[0].ports
        assert {name for name, uops in used.items() if uops} == {port}
    four = THREE_ADDS + "4801de"
    usage = simulated(four, "SKL", options=ufs).usage
    assert {name for each in usage for name, uops in each.ports.items() if uops} == set("0156")


def test_without_micro_fusion_the_reorder_buffer_holds_and_retires_single_uops() -> None:
    """UFS's Sandy Bridge (table 3 of its paper): a micro-fused load takes two of the 168 entries, and two of
    the four slots of retirement, while divisions keep what follows from retiring."""
    code = 8 * "48f7f1" + 400 * "483b1e"  # div rcx; cmp rbx, [rsi]
    held, retired = [], []
    for options in (PUBLISHED, UNFUSED):
        rows = rows_of(code, "SNB", options=options)
        held.append(
            max(sum((row.issued or 0) <= now < (row.retired or 0) for row in rows) for now in range(300))
        )
        cycle = [row.retired for row in rows]
        retired.append(max(map(cycle.count, set(cycle))))
    assert held[0] > 168 >= held[1] > 168 - 4
    assert retired == [8, 4]


STORE_BYTE = "880424"  # mov [rsp], al
LOAD_WORD = "488b1c24"  # mov rbx, [rsp]
STORE_LOW, STORE_HIGH = "890424", "89442404"  # mov [rsp], eax; mov [rsp+4], eax
STORE_WIDE, LOAD_HIGH = "48890424", "8b5c2404"  # mov [rsp], rax; mov ebx, [rsp+4]
HARDWARE = ModelOptions(model=Model.HARDWARE)


@pytest.mark.parametrize(
    ("code", "published", "hardware"),
    [
        # The load has its data 12 cycles after the store has left, a cycle after the load before it.
        (STORE_BYTE + LOAD_WORD, 1.0, 13.0),
        # A load across two stores waits for the later one, which leaves a cycle after the other.
        (STORE_LOW + STORE_HIGH + LOAD_WORD, 2.0, 14.0),
        # What a wider store has written can be forwarded.
        (STORE_WIDE + LOAD_HIGH, 1.0, 1.0),
        # Other bytes of the same word are other memory.
        (STORE_LOW + LOAD_HIGH, 1.0, 1.0),
        # mov rbx, [rsi]: nothing says that it is the same memory.
        (STORE_BYTE + "488b1e", 1.0, 1.0),
    ],
    ids=["narrow-store", "two-stores", "wide-store", "beside", "elsewhere"],
)
def test_failed_forwarding(code: str, published: float, hardware: float) -> None:
    assert cycles(code, "SKL", options=PUBLISHED) == published
    assert cycles(code, "SKL", options=HARDWARE) == hardware


def test_older_microarchitectures_wait_a_cycle_longer() -> None:
    figures = {name: cycles(STORE_BYTE + LOAD_WORD, name, options=HARDWARE) for name in ("IVB", "HSW", "SKL")}
    assert figures == {"IVB": 14.0, "HSW": 14.0, "SKL": 13.0}


def test_the_hardware_model_follows_addresses_through_sums() -> None:
    """lea rcx, [rdi+8]; mov [rcx], rax; mov rax, [rdi+8]: a chain through memory, five cycles."""
    code = "488d4f08488901488b4708"
    assert cycles(code, "SKL", options=PUBLISHED) == 1.0
    assert cycles(code, "SKL", options=HARDWARE) == 5.0


@pytest.mark.parametrize(("scale", "figure"), [("4c38", 5.0), ("4c78", 1.0)])
def test_a_sum_of_a_number_and_an_index_is_followed_without_a_scale(scale: str, figure: float) -> None:
    """xor r8d, r8d; lea rcx, [r8+rdi+8] or [r8+rdi*2+8]; mov [rcx], rax; mov rax, [rdi+8]"""
    assert cycles(f"4531c0498d{scale}08488901488b4708", "SKL", options=HARDWARE) == figure


@pytest.mark.parametrize(
    ("code", "published", "hardware"),
    [
        ("48890648895e08", 1.0, 1.0),  # mov [rsi], rax; mov [rsi+8], rbx
        ("488906488d4e08488919", 2.0, 1.0),  # mov [rsi], rax; lea rcx, [rsi+8]; mov [rcx], rbx
        ("505358415a", 1.0, 1.0),  # push rax; push rbx; pop rax; pop r10
        ("50535b58", 1.0, 5.0),  # push rax; push rbx; pop rbx; pop rax: each waits for what it pushed (O6d)
        ("48890648895e40", 2.0, 2.0),  # mov [rsi], rax; mov [rsi+64], rbx
        ("48890648891f", 2.0, 2.0),  # mov [rsi], rax; mov [rdi], rbx
    ],
)
def test_two_stores_of_a_line_leave_together_on_ice_lake(
    code: str, published: float, hardware: float
) -> None:
    """In either model (Z1); however their addresses are put together where sums are followed."""
    assert cycles(code, "ICL", options=PUBLISHED) == published
    assert cycles(code, "ICL", options=HARDWARE) == hardware


def test_the_hardware_model_moves_the_stack_pointer() -> None:
    """push rax; mov [rsp], bl; pop rax: the byte lies in the word that is popped."""
    code = "50881c2458"
    assert cycles(code, "SKL", options=HARDWARE) > 12


def test_the_profiler_of_bhive_lets_different_registers_meet() -> None:
    """mov rax, [rsi]; add rax, 1; mov [rdi], rax: through one word, if both registers hold the same."""
    code = "488b064883c001488907"
    assert cycles(code, "SKL", options=HARDWARE) == 1.0
    bhive = ModelOptions(model=Model.HARDWARE, assume=Pointers.BHIVE)
    assert cycles(code, "SKL", options=bhive) == 6.0
    assert cycles(code.replace("488907", "48890424"), "SKL", options=bhive) == 1.0  # but not RSP


def test_pointers_from_memory_are_equal_for_bhive_only() -> None:
    """mov rcx, [rdi]; mov rdx, [rsi+16]; mov [rcx+8], rax; mov rax, [rdx+8]"""
    code = "488b0f488b561048894108488b4208"
    assert cycles(code, "SKL", options=HARDWARE) == 1.5
    assert cycles(code, "SKL", options=ModelOptions(model=Model.HARDWARE, assume=Pointers.BHIVE)) == 5.0


def test_pointers_of_bhive_need_the_hardware_model() -> None:
    with pytest.raises(ValueError, match="needs the hardware model"):
        ModelOptions(model=Model.UICA, assume=Pointers.BHIVE)


@pytest.mark.parametrize("name", ["model", "assume", "harness", "move_elimination"])
def test_a_word_is_no_choice(name: str) -> None:
    """Rules ask for members: a word would be followed by none of them."""
    with pytest.raises(TypeError, match=name):
        ModelOptions(**{name: "same"})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "published", "freed"),
    [
        (4 * "8d4301", 2.0, 1.5),  # lea eax, [rbx+1]: ports 1 and 5; without them predecoding limits it
        # Six products that wait for none of the others: port 1 alone
        ("480fafc3480fafcb480fafd3480faff3480faffb4c0fafc3", 6.0, 6.0),
        (5 * "488b06", 2.5, 2.5),  # mov rax, [rsi]
        (2 * "488906", 2.0, 2.0),  # mov [rsi], rax
        ("0f5ec10f5ed1", 11.0, 11.0),  # two divps, one after the other in the divider
    ],
)
def test_only_uops_that_could_take_another_unit_need_not_wait(
    code: str, published: float, freed: float
) -> None:
    block, core = (
        block_of(code, "SKL", loop=False, options=PUBLISHED),
        variant(registry.get("SKL"), PUBLISHED),
    )
    figures = [
        simulate(
            block, each, request=RunRequest(), options=PUBLISHED, caches=store().caches
        ).cycles_per_iteration
        for each in (core, unbound(core))
    ]
    assert figures == [published, freed]
