"""One change at a time, simulated again."""

import pytest
from cyclelens.analyzer.insight import sweeps
from cyclelens.analyzer.insight.capacities import SIZES, ChangeError, changed
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.insight.false_dependencies import false_dependency
from cyclelens.analyzer.insight.whatif import NO_LATENCIES, BlockEdit, Experiment, with_latencies
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Model
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.simulator import simulate
from msgspec.structs import replace
from testkit.blocks import block_of, store
from testkit.narrowing import some

MULTIPLY = "480fafc04801db49ffcf75f4"  # imul rax, rax; add rbx, rbx; dec r15; jnz
CHASE = "488b0049ffcf75f8"  # mov rax, [rax]; dec r15; jnz
# A load and a chain through ten additions that starts anew every time: only buffers limit the overlap.
PARALLEL = "488b06" + "4801c0" * 10 + "49ffcf75da"
LCP = "6605341249ffcf"  # add ax, 0x1234; dec r15
PORT = "480fafc6480fafde49ffcf75f4"  # two imul that do not depend on each other


def experiment(code, name="SKL", *, settled=False, model=PUBLISHED, latencies=NO_LATENCIES, **options):
    block = block_of(code, name, options=model, **options)
    parameters = registry.get(name)
    prediction = explain(block, parameters, simulate(block, parameters, options=model))
    return Experiment(prediction, store(), latencies=latencies, settled=settled, options=model)


def cycles(result):
    return result.cycles_per_iteration


def test_no_change_is_the_prediction():
    subject = experiment(MULTIPLY)
    assert cycles(subject.baseline()) == subject.prediction.cycles_per_iteration == 3


def test_without_the_instruction_of_the_chain():
    assert cycles(experiment(MULTIPLY).edited(BlockEdit(removed=frozenset([0])))) == 1


def test_the_only_instruction_cannot_be_removed():
    with pytest.raises(ChangeError):
        experiment("90", loop=False).edited(BlockEdit(removed=frozenset([0])))


@pytest.mark.parametrize("latency", [1, 2, 7])
def test_the_latency_of_the_chain_is_the_figure(latency):
    result = experiment(MULTIPLY).with_latency(0, latency)
    assert cycles(result) == latency
    assert "Dependencies" in result.bottlenecks


def test_latencies_that_the_text_asks_for_hold_in_every_experiment():
    subject = experiment(MULTIPLY, latencies={1: 20})  # of add rbx, rbx
    assert cycles(subject.baseline()) == 20
    assert cycles(subject.edited(BlockEdit(removed=frozenset([0])))) == 20  # it is at another place then
    assert cycles(subject.edited(BlockEdit(removed=frozenset([1])))) == 3
    assert cycles(subject.swapped(0, 1)) == 20
    assert cycles(subject.edited(BlockEdit(times=2))) == 20
    assert cycles(subject.edited(BlockEdit(alignment=16))) == 20
    assert cycles(subject.with_latency(1, 7)) == 7
    assert cycles(subject.with_latency(0, 30)) == 30


def test_a_dependency_that_is_not_waited_for():
    assert cycles(experiment(MULTIPLY).without_input(0, "rax")) == pytest.approx(1.0, abs=0.01)


def test_a_register_that_is_not_read_cannot_be_ignored():
    with pytest.raises(ChangeError):
        experiment(MULTIPLY).without_input(0, "rbx")


def test_other_ports():
    subject = experiment(PORT)
    assert cycles(subject.baseline()) == pytest.approx(3, abs=0.01)
    assert cycles(experiment("480fafc649ffcf75f7").with_ports(0, "6")) >= 2


def test_ports_that_do_not_exist():
    with pytest.raises(ChangeError):
        experiment(PORT).with_ports(0, "9")


def test_unrolling_divides_the_cost_of_the_loop_itself():
    subject = experiment("909049ffcf75f9")
    assert cycles(subject.baseline()) == 1
    assert cycles(subject.edited(BlockEdit(times=4))) == pytest.approx((4 * 2 + 1) / 4 / 4, abs=0.02)


def test_only_a_loop_can_be_unrolled():
    with pytest.raises(ChangeError):
        experiment(LCP, loop=False).edited(BlockEdit(times=2))


@pytest.mark.parametrize(
    ("code", "unrolls"),
    [
        (MULTIPLY, True),
        (MULTIPLY[:-4], False),  # no loop
        ("488b004885c075f8", False),  # mov rax, [rax]; test rax, rax; jnz: the data end it
    ],
)
def test_a_loop_that_counts_can_be_unrolled(code, unrolls):
    assert experiment(code).unrolls is unrolls


def test_a_latency_is_that_of_the_operation_or_of_a_load_alone():
    """mov rax, [rsi] and add rbx, [rsi], whose load keeps its cycles."""
    block = block_of("488b0648031e", "SKL")
    load, addition = with_latencies(block, {0: 9, 1: 7}).instructions
    assert load.latencies["addr", 0, "reg", 0] == 9
    assert addition.latencies["reg", 0, "reg", 0] == 7
    kept = block.instructions[1].latencies["addr", 0, "reg", 0]
    assert addition.latencies["addr", 0, "reg", 0] == kept != 7


def test_a_parameter_of_the_microarchitecture():
    subject = experiment(LCP, loop=False)
    assert cycles(subject.baseline()) == 3.44
    assert cycles(subject.with_parameter("length_changing_prefix_penalty", "0")) < 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nonsense", "1"),
        ("rob", "x"),
        ("rob", "1"),
        ("jcc_erratum", "7"),
        ("ports", "01"),
        ("issue_width", "5"),
        ("rob", "1000000"),
        ("dsb_block_bytes", "0"),
        ("idq", "8"),
    ],
)
def test_parameters_that_make_no_sense(name, value):
    with pytest.raises(ChangeError):
        changed(registry.get("SKL"), name, value)


@pytest.mark.parametrize(("size", "rounds"), [("70", 6), ("35", 5), ("18", 3), ("11", 1)])
def test_the_lsd_places_what_the_idq_holds(size, rounds):
    """Rounds of six uops on Ice Lake."""
    code = "90" * 5 + "49ffcf75f6"
    smaller = changed(registry.get("ICL"), "idq", size)
    assert simulate(block_of(code, "ICL"), smaller).lsd_unroll == rounds


@pytest.mark.parametrize(("name", "widest"), [("SNB", 4), ("SKL", 8), ("ICL", 8)])
def test_wider_groups_than_there_are_port_rules_for_are_refused(name, widest):
    def figure(width):
        core = replace(registry.get(name), issue_width=width)
        return simulate(block_of("90" * 32, name), core, options=PUBLISHED)

    assert figure(widest).cycles_per_iteration > 0
    with pytest.raises(ValueError, match="at most"):
        figure(widest + 1)


def test_a_change_after_which_nothing_moves_is_an_error():
    with pytest.raises(ChangeError, match="nothing"):
        experiment(LCP, loop=False).with_parameter("predecode_width", "64")


def test_short_names_are_capacities():
    assert changed(registry.get("SKL"), "rs", "50").reservation_station_size == 50
    assert changed(registry.get("SKL"), "jcc_erratum", "no").jcc_erratum is False


@pytest.mark.parametrize(
    ("name", "least"),
    [
        *((name, 1) for name in ("lb", "sb", "int", "vec", "predecode_width", "predecode_block_bytes")),
        ("iq", 5),  # the predecoder's instructions of a cycle
        ("rob", 4),
        ("rs", 4),  # an issue group
        ("move_elimination_gpr_slots", 0),
    ],
)
def test_a_smaller_value_than_uops_need_to_get_through_is_refused(name, least):
    field = SIZES.get(name, name)
    assert getattr(changed(registry.get("SKL"), name, str(least)), field) == least
    with pytest.raises(ChangeError, match=f"{field} is a whole number from {least} to 10000"):
        changed(registry.get("SKL"), name, str(least - 1))


def test_a_size_that_is_not_known_can_be_tried():
    """Five loads that wait for each other: with a load matrix like Haswell's, Skylake has to wait too."""
    code = "4883c301488b7424404c8b4618498b3cd84c8b4f0841f681aa00000080"
    subject = experiment(code, loop=False, model=ModelOptions(resources=True))
    assert cycles(subject.with_parameter("lm", "32")) > 1.1 * cycles(subject.baseline())


def test_an_exchange_and_an_alignment_are_simulated():
    subject = experiment(MULTIPLY)
    assert cycles(subject.swapped(0, 1)) == 3
    assert cycles(subject.edited(BlockEdit(alignment=60))) >= 3


def test_pointer_chasing_costs_every_cycle_of_latency():
    sweep = sweeps.load_latency(experiment(CHASE, settled=True), range(4, 41, 6))
    assert sweep.slope == pytest.approx(1.0, abs=0.01)
    # Every step is slower than the one before: nothing is hidden.
    assert sweep.knee == 4


def test_loads_in_parallel_are_hidden_up_to_a_knee():
    sweep = sweeps.load_latency(experiment(PARALLEL, settled=True), (5, 8, 10, 40, 80, 160))
    assert sweep.cycles[1] < 1.03 * sweep.cycles[0]
    assert sweep.knee is not None and 8 <= sweep.knee < 40
    assert 0 < sweep.slope < 0.5


def test_a_kernel_that_waits_for_the_buffers_gains_from_larger_ones():
    """Independent chains of a load and ten additions: how many overlap depends on the scheduler."""
    sweep = sweeps.sizes(experiment(PARALLEL, settled=True), ("rs",), (0.2, 0.5, 1.0, 2.0))
    (row,) = sweep.cycles
    assert list(row) == sorted(row, reverse=True)
    assert row[0] > 1.2 * row[-1]


def test_two_capacities_make_a_grid():
    sweep = sweeps.sizes(experiment(MULTIPLY), ("rs", "rob"), (0.5, 1.0))
    assert sweep.cycles == ((3, 3), (3, 3))


def test_one_capacity_against_all_others_shows_which_of_them_limits():
    """The scheduler limits independent chains: larger others gain nothing, a larger scheduler does."""
    sweep = sweeps.sizes(experiment(PARALLEL, settled=True), ("rs", sweeps.OTHERS), (0.5, 1.0, 2.0))
    assert sweep.names == ("rs", "others") and sweep.sizes[1] == (50, 100, 200)
    half, same, double = sweep.cycles
    assert same[0] > 1.2 * same[1] and double[0] > 1.2 * double[1]
    assert half[1] > same[1] == double[1]  # half of the others would limit, too
    # Without a change of the others, the row is that of the scheduler alone.
    (alone,) = sweeps.sizes(experiment(PARALLEL, settled=True), ("rs",), (0.5, 1.0, 2.0)).cycles
    assert same == alone


@pytest.mark.parametrize("names", [("nonsense",), ("others",), ("others", "rs"), ("rs", "rob", "iq")])
def test_other_resources_cannot_be_scaled(names):
    with pytest.raises(ChangeError):
        sweeps.sizes(experiment(MULTIPLY), names, (1.0,))


# Eight stores and a chain of multiplications that starts anew every time.
STORES = "0f57c0" + 4 * "f20f59c0" + 8 * "488907" + "49ffcf75cc"


@pytest.mark.parametrize(("core", "entries"), [("SNB", 36), ("HSW", 42), ("SKL", 56)])
def test_stores_are_hidden_until_the_store_buffer_is_full(core, entries):
    """A store keeps its entry until it ends: eight of them per iteration of eight cycles, by Little's law."""
    subject = experiment(STORES, core, settled=True, model=ModelOptions(resources=True))
    per_iteration, hidden = 8, entries // 2
    sweep = sweeps.store_latency(subject, (1, hidden, 160, 320))
    assert sweep.of == "store"
    assert sweep.cycles[:2] == (per_iteration, per_iteration)
    assert sweep.slope == pytest.approx(per_iteration / entries, rel=0.05)
    # Without this limit the larger reorder buffer hides more.
    free = experiment(STORES, core, settled=True, model=ModelOptions(resources=False))
    assert sweeps.store_latency(free, (160,)).cycles[0] < 0.6 * sweep.cycles[2]


def test_a_load_of_what_was_stored_does_not_wait_for_the_end_of_the_store():
    subject = experiment("488907488b07", "SKL", settled=True)  # mov [rdi], rax; mov rax, [rdi]
    first, last = sweeps.store_latency(subject, (1, 30)).cycles
    assert first == last == cycles(subject.baseline())


def test_a_resource_can_be_scaled_where_it_is_a_limit():
    subject = experiment(STORES, settled=True, model=ModelOptions(resources=True))
    sweep = sweeps.sizes(subject, ("sb",), (0.25, 0.5, 1.0, 2.0))
    assert sweep.sizes == ((14, 28, 56, 112),)
    (row,) = sweep.cycles
    assert row[0] > 1.3 * 8 and row[-1] == 8


@pytest.mark.parametrize(("name", "model"), [("sb", PUBLISHED), ("lm", ModelOptions(resources=True))])
def test_a_resource_that_is_no_limit_cannot_be_scaled(name, model):
    with pytest.raises(ChangeError, match=r"--resources on|no size is known"):
        sweeps.sizes(experiment(STORES, model=model), (name,), (1.0,))


def test_experiments_are_made_with_the_options_of_the_prediction():
    """mov [rsp], al; mov rbx, [rsp]: failed forwarding exists in the hardware model only."""
    code = "880424488b1c24"
    assert cycles(experiment(code, loop=False).baseline()) == 1
    assert cycles(experiment(code, loop=False, model=ModelOptions(model=Model.HARDWARE)).baseline()) == 13


@pytest.mark.parametrize(
    ("word", "value"),
    [("yes", True), ("True", True), ("1", True), ("no", False), ("false", False), ("0", False)],
)
def test_yes_and_no_have_several_words(word, value):
    core = registry.get("SKL")
    name = next(field for field in core.__struct_fields__ if isinstance(getattr(core, field), bool))
    assert getattr(changed(core, name, word), name) is value
    with pytest.raises(ChangeError, match="is yes or no"):
        changed(core, name, "perhaps")


def test_an_instruction_changes_with_the_branch_that_fuses_with_it_and_alone_otherwise():
    subject, changed_ones = experiment(PORT), []

    def note(template):
        changed_ones.append(template.instruction.mnemonic)
        return template

    for index in range(3):
        assert cycles(subject.replaced(index, note)) == cycles(subject.baseline())
    assert changed_ones == ["imul", "imul", "dec", "jnz"]


@pytest.mark.parametrize(
    ("cycles_by_latency", "knee", "slope"),
    [
        ((1.0, 1.0, 1.04, 2.0, 3.04), 6, 1.0),  # within 5 % of the first one
        ((1.0, 1.5, 2.0, 2.5, 3.0), 4, 0.5),
        ((1.0, 1.0, 1.0, 1.0, 1.0), None, 0.0),
        ((1.0, 1.0, 1.0, 1.0, 1.1), 7, 0.05),
    ],
)
def test_the_knee_is_the_largest_latency_that_is_hidden(cycles_by_latency, knee, slope):
    sweep = sweeps.LatencySweep((4, 5, 6, 7, 8), cycles_by_latency)
    assert (sweep.knee, sweep.slope) == (knee, pytest.approx(slope))


def test_a_latency_is_that_of_the_operation_and_of_a_load_only_if_there_is_no_other():
    # add rax, [rsi]; dec r15; jnz
    added = experiment("48030649ffcf75f8")
    assert cycles(added.baseline()) == 1
    assert added.with_latency(0, 6).bottlenecks == ("Dependencies",)
    assert cycles(added.with_latency(0, 6)) == 6
    # mov rax, [rax]: the load is the operation, and chases a pointer, which takes one less.
    assert cycles(experiment(CHASE).with_latency(0, 9)) == 8


def test_a_bound_does_not_see_a_dependency_that_is_not_waited_for():
    result = experiment(MULTIPLY).without_input(0, "rax")
    assert "Dependencies" in experiment(MULTIPLY).baseline().bottlenecks
    assert cycles(result) == pytest.approx(1.0, abs=0.01)
    flags = experiment("4811c0" + "49ffcf75f8").without_input(0, "C")  # adc rax, rax
    assert flags.bottlenecks


@pytest.mark.parametrize(
    ("code", "removed_by"),
    [
        ("f3480fb8c3", ("RAX", "xor", 2, False, "31c0")),  # popcnt rax, rbx
        ("f3490fb8cf", ("RCX", "xor", 2, False, "31c9")),  # popcnt rcx, r15
        ("f2480f2ac8", ("XMM1", "xorps", 2, True, "0f57c9")),  # cvtsi2sd xmm1, rax
        ("c4e1f32ac8", ("XMM1", "vxorps", 3, True, "c5f057c9")),  # vcvtsi2sd xmm1, xmm1, rax
    ],
)
def test_what_removes_a_false_dependency(code, removed_by):
    found = some(false_dependency(decode(bytes.fromhex(code))[0]))
    idiom = (found.register, found.mnemonic, found.operands, found.keeps_upper, found.code.hex())
    assert idiom == removed_by


def test_a_register_that_is_read_is_no_false_dependency():
    # popcnt rax, rax; vcvtsi2sd xmm1, xmm2, rax; add rax, rbx
    for code in ("f3480fb8c0", "c4e1eb2ac8", "4801d8"):
        assert false_dependency(decode(bytes.fromhex(code))[0]) is None


def test_the_later_of_two_edits_wins_where_both_say_something() -> None:
    """An edit that says nothing of the alignment keeps the other's."""
    aligned, other = BlockEdit(alignment=16), BlockEdit(alignment=32)
    assert (aligned | BlockEdit()).alignment == (BlockEdit() | aligned).alignment == 16
    assert (aligned | other).alignment == 32
    assert (BlockEdit() | BlockEdit()).alignment is None
