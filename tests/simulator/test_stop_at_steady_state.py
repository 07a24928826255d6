"""A run may stop when the pipeline's state repeats: figures derived from the period equal those of the
full run."""

from __future__ import annotations

import os

import pytest
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Model, Pointers
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.simulator import cycles_per_iteration, simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from msgspec.structs import replace
from testkit.blocks import block_of, in_a_loop
from testkit.core_tables import listed, mixed
from testkit.simulated import simulated

LOOPS = {
    "two adds": "4801d84801c349ffcf75f5",
    "move chain": "4889d84801c34889d94801cb49ffcf75ef",
    "pointer chasing": "488b0049ffcf75f8",
    "copy": "488b06488907 4883c608 4883c708 49ffcf75ed".replace(" ", ""),
    "store forwarding": "48890424488b042449ffcf75f3",
    "push and pop": "505b4801cb48ffca75f6",
    "shift by cl": "48d3e049ffcf75f8",
    "microcode": "48f726fc49ffcf75f7",
    "fences": "4803060faee848031f0faef848ffc975ef",
    "divider": "31d289f0f7f14d0fafc149ffca75f1",
    "high bytes": "88dc01c80fb6d449ffc875f4",
    "length-changing prefix": "6605341249ffcf75f7",
}
NAMES = ("SNB", "HSW", "SKL", "CLX", "ICL", "RKL", "ZEN3", "ZEN5")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("code", LOOPS.values(), ids=LOOPS.keys())
def test_the_window_is_the_same(code: str, name: str) -> None:
    """The figure of the window, and the window itself, follow from the period."""
    early = simulated(code, name, details=False)
    full = simulated(code, name, details=True)
    assert early.cycles_per_iteration == full.cycles_per_iteration
    assert (early.first_round, early.last_round) == (full.first_round, full.last_round)
    assert early.simulated_cycles <= full.simulated_cycles


@pytest.mark.parametrize("code", LOOPS.values(), ids=LOOPS.keys())
def test_the_period_is_what_a_long_run_tends_to(code: str) -> None:
    """The exact figure is off from that of a long run by no more than the ends of its window can be.

    Each of these loops repeats somewhere; where ports are bound in ever new ways a repetition may take
    longer than the run.
    """
    found = 0
    for name in NAMES:
        period = simulated(code, name, details=False).period
        if period is None:
            continue
        found += 1
        cycles, rounds = period
        long = simulated(code, name, details=True, min_cycles=4000)
        window = long.last_round - long.first_round
        assert abs(long.cycles_per_iteration - cycles / rounds) <= cycles / window + 0.005
    assert found


@pytest.mark.parametrize("name", (*NAMES, "GNR", "LNL"))
@pytest.mark.parametrize("code", LOOPS.values(), ids=LOOPS.keys())
def test_the_figure_alone_is_the_same(code: str, name: str) -> None:
    """Predictions ask for nothing else, and stages do not record for them what only reports read."""
    figure = cycles_per_iteration(block_of(code, name, loop=True), registry.get(name))
    assert figure == simulated(code, name, details=False).cycles_per_iteration


@pytest.mark.parametrize("rounds", range(1, 4))
def test_times_of_a_longer_run_do_not_remain(rounds: int) -> None:
    """A run of a few rounds has the same figure behind a long one as in a pipeline that is new."""
    code, short = LOOPS["two adds"], RunRequest(min_rounds=rounds, min_cycles=1, details=False)
    variant = replace(registry.get("SKL"), name="SKL")
    block, caches = block_of(code, "SKL", loop=True), Caches()
    first = simulate(block, variant, request=short, caches=caches)
    simulate(block, variant, request=RunRequest(details=False, min_cycles=4000), caches=caches)
    simulate(block, variant, request=RunRequest(details=True, min_cycles=2000), caches=caches)
    again = simulate(block, variant, request=short, caches=caches)
    assert again == first


PART = 1 if "CYCLELENS_ALL_RUNS" in os.environ else 10


@pytest.mark.parametrize("options", [ModelOptions(), PUBLISHED], ids=["hardware", "published"])
@pytest.mark.parametrize("name", registry.names())
def test_a_mixture_has_the_same_figure(name: str, options: ModelOptions) -> None:
    """Mixtures of all that the state has: every core takes another part of them, or all with
    CYCLELENS_ALL_RUNS set."""
    for mode, code, text in listed("mixtures")[registry.names().index(name) % PART :: PART]:
        early, full = (mixed(mode, code, name, options, details=details) for details in (False, True))
        assert early.cycles_per_iteration == full.cycles_per_iteration, text


def test_a_repetition_ends_the_run() -> None:
    """A loop that soon runs steadily is known after a fraction of the window."""
    assert simulated(LOOPS["push and pop"], "SKL", details=False).simulated_cycles < 100


@pytest.mark.parametrize(
    ("code", "rounds"),
    [
        pytest.param("0f1f8400000000000f1f840000000000", 1, id="16 bytes"),
        pytest.param("66053412 49ffcf", 16, id="7 bytes"),
        # Uops of the stack engine are numbered behind those that are fetched, 64 bytes at a time.
        pytest.param("50 5b 4801cb 48ffca", 8, id="8 bytes with a stack engine"),
    ],
)
def test_unrolled_code_repeats_with_its_alignment(code: str, rounds: int) -> None:
    """Code lies the same in the 16 bytes that are predecoded together after so many rounds: the period is a
    multiple of them."""
    early = simulated(code.replace(" ", ""), "SKL", details=False, loop=False)
    assert early.period is not None
    assert early.period[1] % rounds == 0
    assert early.simulated_cycles < 110
    full = simulated(code.replace(" ", ""), "SKL", details=True, loop=False)
    assert early.cycles_per_iteration == full.cycles_per_iteration


def test_a_repetition_that_takes_longer_than_the_anchors_are_apart_is_found() -> None:
    """Straight-line code of 7 bytes repeats after 16 rounds: the period is 55 cycles,
    and 3.4375 cycles an iteration are exact."""
    found = simulated("66053412 49ffcf".replace(" ", ""), "SKL", details=False, loop=False).period
    assert found is not None
    cycles, rounds = found
    assert cycles / rounds == 55 / 16


def test_addresses_that_come_near_each_other_later_are_waited_for() -> None:
    """A load that walks towards a store by 4 bytes a round meets it in round 448, in part, and waits for its
    commit. All 447 rounds before repeat each other in one cycle, and the run must not end with them."""
    code = "488906 488b9f00070000 4883ef04 49ffcf75ec".replace(" ", "")
    options = ModelOptions(assume=Pointers.SAME)
    early = simulated(code, "ZEN5", details=False, options=options)
    full = simulated(code, "ZEN5", details=True, options=options)
    assert early.cycles_per_iteration == full.cycles_per_iteration > 1.02


WALKING = {
    # Pairs of stores to one line, and three loads of one word, come at some rounds only.
    "four stores": "48894a1048894309488942f4894a284883c31048894f4348894b484883c218",
    "stores and loads": "894b18488947044889f348834704014889423c48894239488943204883c602",
    "loads of a word": "488b4e3c48894f08488947104883c702",
    "a constant address": "bb40000000894e3c48894f484889423c4883c203488942100fb64638",
    # A store crosses the end of its page in one round of 256, and of its chunk in some.
    "a page": "488b42284883c610488b4b3c488946fc8943084883474801",
    "chunks": "488947f74883c24089430848894b1848894f384801c848894afc48894ff8",
}
VARIANTS = {
    "published": ModelOptions(),
    "hardware": ModelOptions(model=Model.HARDWARE),
    "hardware, one page": ModelOptions(model=Model.HARDWARE, assume=Pointers.BHIVE),
    "hardware, the same": ModelOptions(model=Model.HARDWARE, assume=Pointers.SAME),
}


@pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS.keys())
@pytest.mark.parametrize("loop", [True, False], ids=["loop", "unrolled"])
@pytest.mark.parametrize("name", ["SKL", "ICL", "GNR", "LNL", "ZEN4", "ZEN5"])
def test_where_in_its_line_an_access_is_may_matter(name: str, loop: bool, options: ModelOptions) -> None:
    """Pointers walk on by less than a line: all is as before only when they are at the same place again."""
    for title, code in WALKING.items():
        whole = code + loop * f"49ffcf75{256 - len(code) // 2 - 5:02x}"  # dec r15; jnz
        early, full = (
            simulated(whole, name, details=details, loop=loop, options=options) for details in (False, True)
        )
        assert early.cycles_per_iteration == full.cycles_per_iteration, title


@pytest.mark.parametrize("name", ["SNB", "SKL"])
def test_the_hardware_model_and_the_simple_front_end_repeat(name: str) -> None:
    hardware = simulated(LOOPS["copy"], name, details=False, options=ModelOptions(model=Model.HARDWARE))
    assert hardware.period is not None
    assert hardware.simulated_cycles < 100
    simple = simulated(
        "480fafc3", name, details=False, loop=False, options=ModelOptions(simple_front_end=True)
    )
    assert simple.period is not None
    assert simple.simulated_cycles < 200


def test_a_loop_that_walks_through_memory_repeats() -> None:
    """Addresses that move on differ in every round; that none of them meets another repeats."""
    found = simulated(LOOPS["copy"], "ZEN5", details=False)
    assert found.period == (4, 4)
    assert found.simulated_cycles < 100


@pytest.mark.parametrize(
    "code", ["48c7060500000048c746080600000049ffcf75ec", "480fafc04801c14801c24801c349ffcf75ee"]
)
def test_what_has_been_there_for_long_keeps_no_state_from_coming_again(code: str) -> None:
    """Constants that are stored, and operands that no longer matter to what waits for others."""
    run = simulated(code, "ZEN5", details=False)
    assert run.period is not None
    assert run.simulated_cycles < 100


def test_values_of_registers_do_not_count_without_a_store() -> None:
    """A pointer that goes on never has the same value, but there is no store that a load could overlap."""
    options = ModelOptions(assume=Pointers.BHIVE)
    loads = "488b03 4883c308 49ffcf 75f4".replace(" ", "")
    assert simulated(loads, "HSW", details=False, options=options).period is not None
    stores = loads.replace("488b03", "488903")
    assert simulated(stores, "HSW", details=False, options=options).period is None


@pytest.mark.parametrize(("between", "period"), [(15, None), (16, (111, 3))])
@pytest.mark.parametrize("name", ["ZEN3", "ZEN4"])
def test_sixteen_stores_back_one_to_the_same_chunk_is_looked_for(
    name: str, between: int, period: tuple[int, int] | None
) -> None:
    """A store through a pointer that moves by a chunk meets the first store of its round in a later one.
    Fewer stores lie between them than are looked through, or as many."""

    def store(place: int) -> str:  # mov [rdi + place], rax
        return "488987" + place.to_bytes(4, "little", signed=True).hex()

    before = store(11 * 32) + "".join(store(-4096 - 64 * number) for number in range(between))
    behind = "".join(store(-3 * 4096 - 64 * number) for number in range(19))
    code = in_a_loop(before + "488906" + behind + "4883c620")  # mov [rsi], rax; ..; add rsi, 32
    same = ModelOptions(assume=Pointers.SAME)
    assert simulated(code, name, loop=True, options=same, details=False).period == period
