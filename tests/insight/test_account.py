"""The account of issue slots adds up and names a kernel's main cause."""

import pytest
from cyclelens.analyzer.insight import vocabulary
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.account import Area
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.uops.block import build_block
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from testkit.blocks import block_of, in_a_loop, store

NAMES = ("SNB", "HSW", "SKL", "ICL")
# Each with `dec r15; jnz` behind it where it is a loop.
KERNELS = {
    "nops": ("90909090", "nop; nop; nop; nop"),
    "lcp": ("6605341249ffcf", "add ax, 0x1234; dec r15"),
    "multiply": ("480fafc049ffcf75f7", "imul rax, rax"),
    "ports": ("480fafc6480fafde480fafce480fafd649ffcf75eb", "four independent imul"),
    "chase": ("488b0049ffcf75f8", "mov rax, [rax]"),
    "divide": ("f30f5ec149ffcf75f7", "divss xmm0, xmm1"),
    "fence": ("0faee84801c0", "lfence; add rax, rax"),
    "microcode": ("48f7f7", "div rdi"),
    "high byte": ("88dc01c80fb6d449ffc875f4", "mov ah, bl; add eax, ecx; movzx edx, ah"),
    "read-modify-write": ("48830601", "add qword ptr [rsi], 1"),
}


def account(block, model, **options):
    result = simulate(block, model, request=RunRequest(account=True), **options).account
    assert result is not None
    return result


def of(kernel, name):
    return account(block_of(KERNELS[kernel][0], name), registry.get(name))


def first_cause(kernel, name="SKL"):
    cause = of(kernel, name).main_cause()
    assert cause is not None
    return vocabulary.of(name).cause(cause)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_used_and_lost_slots_are_all_slots(kernel, name):
    result = of(kernel, name)
    assert sum(result.used) + sum(result.lost.values()) == result.slots
    assert result.used_share + sum(share for _, share in result.causes()) == pytest.approx(1)
    assert result.used_share + sum(result.areas().values()) == pytest.approx(1)
    assert all(slots > 0 for slots in result.lost.values())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_slots_make_the_cycles_that_were_predicted(kernel, name):
    """The account looks at a window of issue, the figure at one of retirement: only their edges differ."""
    predicted = simulate(block_of(KERNELS[kernel][0], name), registry.get(name)).cycles_per_iteration
    assert of(kernel, name).cycles_per_iteration == pytest.approx(predicted, rel=0.04)


@pytest.mark.parametrize("kernel", KERNELS)
def test_used_slots_are_the_uops_that_were_issued(kernel):
    """The simulation counts them too, in its own window."""
    model = registry.get("SKL")
    block = block_of(KERNELS[kernel][0], "SKL")
    simulation = simulate(block, model, request=RunRequest(account=True))
    result = simulation.account
    assert result is not None
    extra = [usage for usage in (*simulation.merge_usage, *simulation.sync_usage) if usage is not None]
    issued = sum(usage.issued for usage in (*simulation.usage, *extra))
    assert sum(result.used) / result.rounds == pytest.approx(issued, rel=0.02)


@settings(max_examples=25, deadline=None)
@given(
    pieces=st.lists(
        st.sampled_from(
            [
                "4801d8",
                "480fafc3",
                "488b06",
                "488907",
                "66053412",
                "90",
                "f30f5ec1",
                "4889d8",
                "88dc",
                "50",
                "58",
            ]
        ),
        min_size=1,
        max_size=12,
    ),
    name=st.sampled_from(NAMES),
    alignment=st.integers(0, 63),
    loop=st.booleans(),
)
def test_any_block_adds_up(pieces, name, alignment, loop):
    code = bytes.fromhex("".join(pieces))
    if loop:
        code += bytes.fromhex("49ffcf75") + (256 - len(code) - 5).to_bytes(1, "little")
    model = registry.get(name)
    block = build_block(decode(code), model, store(), loop=loop, alignment=alignment)
    result = account(block, model)
    assert sum(result.used) + sum(result.lost.values()) == result.slots
    assert result.slots > 0
    assert min(result.used) >= 0


def test_a_block_at_full_width_loses_nothing():
    assert of("nops", "SKL").used_share == 1
    assert of("nops", "SKL").main_cause() is None


@pytest.mark.parametrize(
    ("kernel", "cause"),
    [
        ("lcp", "front end: LCP"),
        ("multiply", "back end: integer registers full, dependency"),
        ("chase", "back end: load buffer full, dependency"),
        ("ports", "back end: RS full, port"),
        ("fence", "renamer: serialization"),
        ("high byte", "renamer: register merge"),
    ],
)
def test_the_main_cause_is_what_the_kernel_is_about(kernel, cause):
    assert first_cause(kernel) == cause


@pytest.mark.parametrize(
    ("name", "fillers", "what"),
    [
        ("SKL", "488b06", "load buffer"),
        ("SKL", "488907", "store buffer"),
        ("HSW", "7400", "branch buffer"),
        ("SKL", "8d4101", "integer registers"),
        ("SKL", "660ffeca", "vector registers"),
        ("SNB", "8d4101660ffeca", "registers"),
        ("HSW", "488b03", "load matrix"),
    ],
    ids=lambda value: value if " " in value else None,
)
def test_a_resource_that_is_full_is_named(name, fillers, what):
    """More than fit behind a chain of square roots and what waits for its result (movq rbx, xmm0)."""
    options = ModelOptions(resources=True)
    block = block_of(12 * "f20f51c0" + "66480f7ec3" + 100 * fillers, name, loop=False, options=options)
    result = account(block, registry.get(name), options=options)
    cause = result.main_cause()
    assert (cause.what, cause.why) == (what, "dependency")
    assert sum(result.used) + sum(result.lost.values()) == result.slots


@pytest.mark.parametrize("name", ["SNB", "HSW", "CLX", "ICL"])
def test_the_lsd_loses_only_the_ends_of_its_batches(name):
    """imul rax, rax; add rbx, rbx; dec r15; jnz: the chain is the cause, although the LSD delivers."""
    block = block_of("480fafc04801db49ffcf75f4", name)
    assert simulate(block, registry.get(name)).lsd_unroll
    cause = account(block, registry.get(name)).main_cause()
    assert (cause.area, cause.why) == (Area.BACK_END, "dependency")
    # Five uops, one iteration at a time: a cycle with four, and a cycle with one.
    short = account(block_of("4801db4801d94801da4801de49ffcf75ef", "SNB"), registry.get("SNB"))
    assert short.main_cause().what == "LSD"


def test_merge_uops_issue_alone():
    what = {cause.what for cause, _ in of("high byte", "SKL").causes()}
    assert "register merge" in what


def test_the_prefix_is_blamed_and_not_what_waits_behind_it():
    result = of("lcp", "SKL")
    assert result.lost_cycles(0) > 0.9 * (result.lost_cycles(0) + result.lost_cycles(1))


def test_lost_cycles_and_used_slots_make_the_figure():
    result = of("lcp", "SKL")
    lost = sum(result.lost_cycles(index) for index in range(2))
    used = sum(result.used) / result.width / result.rounds
    assert lost + used == pytest.approx(result.cycles_per_iteration)


@pytest.mark.parametrize(
    ("code", "name", "words"),
    [
        ("480fafc0" + "4801c3" * 6, "ZEN5", "back end: integer scheduler full, dependency"),
        ("480fafc0" + "488b1c06" * 4, "ZEN5", "back end: address scheduler full, dependency"),
        ("f30f59c1" * 2 + "f30f59d0" * 4, "ZEN5", "back end: FP scheduler full, dependency"),
        ("48890648890e48891648891e", "ZEN5", "back end: address scheduler full, busy unit"),
        ("90" * 20, "ZEN5", "front end: op cache"),
    ],
)
def test_of_several_schedulers_the_full_one_is_named_in_the_words_of_the_maker(code, name, words):
    cause = account(block_of(in_a_loop(code), name), registry.get(name)).main_cause()
    assert cause is not None
    assert vocabulary.of(name).cause(cause) == words


@pytest.mark.parametrize("kernel", ["multiply", "chase"])
def test_the_published_model_blames_the_scheduler(kernel):
    """It knows no other buffers that could be full before."""
    block = block_of(KERNELS[kernel][0], "SKL", options=PUBLISHED)
    cause = account(block, registry.get("SKL"), options=PUBLISHED).main_cause()
    assert cause is not None
    assert vocabulary.of("SKL").cause(cause) == "back end: RS full, dependency"


def test_a_larger_scheduler_moves_the_blame_to_the_reorder_buffer():
    model = replace(registry.get("SKL"), reservation_station_size=4000)
    result = account(block_of(KERNELS["multiply"][0], "SKL"), model, options=PUBLISHED)
    cause = result.main_cause()
    assert cause is not None
    assert (cause.area, cause.what) == (Area.BACK_END, "ROB")


def test_only_who_asks_for_the_account_gets_it():
    assert simulate(block_of("90", "SKL", loop=False), registry.get("SKL")).account is None


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_account_changes_nothing_else(kernel):
    """The run may go on for it, but figures, averages and trace are those of the run without it."""
    model = registry.get("SKL")
    block = block_of(KERNELS[kernel][0], "SKL")
    with_account = simulate(block, model, request=RunRequest(trace=True, account=True))
    assert replace(with_account, account=None) == simulate(block, model, request=RunRequest(trace=True))


@pytest.mark.parametrize(("kernel", "cycles", "uops"), [("chase", 4, 2), ("multiply", 3, 2), ("nops", 1, 4)])
def test_whole_iterations_are_accounted_for_exactly(kernel, cycles, uops):
    """There are whole iterations between two equal states of the pipeline."""
    result = of(kernel, "SKL")
    assert result.slots == 4 * cycles * result.rounds
    assert sum(result.used) == uops * result.rounds


def test_a_load_that_waits_for_a_store_blames_what_the_store_waits_for():
    """``imul rax, rax; mov [rsi], rax; mov rax, [rsi]``: the multiplication, not the store or the load."""
    code = "480fafc0488906488b0649ffcf75f1"
    result = account(block_of(code, "SKL"), registry.get("SKL"))
    cause = result.main_cause()
    assert cause is not None and cause.why == "dependency"
