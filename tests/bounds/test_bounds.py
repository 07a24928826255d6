"""Each bound alone, on hand-made templates that hold only what the bound reads."""

import random
from collections import Counter
from math import gcd

import pytest
from cyclelens.analyzer.bounds.decoder import decoder_bound
from cyclelens.analyzer.bounds.dependencies import critical_chains, dependency_bound
from cyclelens.analyzer.bounds.dsb import dsb_bound
from cyclelens.analyzer.bounds.issue import issue_bound
from cyclelens.analyzer.bounds.lines import store_bound
from cyclelens.analyzer.bounds.lsd import lsd_bound
from cyclelens.analyzer.bounds.ports import port_bound
from cyclelens.analyzer.bounds.predecoder import predecoder_bound
from cyclelens.analyzer.bounds.registry import compute_bounds, predict_analytically
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.simulation import Simulation
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import (
    Block,
    InstructionTemplate,
    MacroOps,
    MemoryAccess,
    RegisterOperand,
    UopTemplate,
    ValueKind,
)
from msgspec.structs import replace
from testkit.blocks import block_of
from testkit.instructions import made_up
from testkit.unit_sets import uops_on

HSW, SKL, ICL, ZEN5 = (registry.get(name) for name in ("HSW", "SKL", "ICL", "ZEN5"))
NOP = InstructionTemplate(
    instruction=made_up(),
    facts=None,
    name="",
    uops=(),
    fused_uops=(),
    idq_uops=(),
    uop_count=0,
    retire_slots=1,
    mite_uops=1,
    ms_uops=0,
    complex_decoder=False,
    available_simple_decoders=4,
    uses=(),
)


def nop(length=1, opcode=0, **changes):
    instruction = made_up(code=b"\x90" * length, opcode_offset=opcode)
    return replace(NOP, instruction=instruction, **changes)


def block(*templates, loop=False, alignment=0):
    return Block(templates, "SKL", loop, alignment)


class TestDecodersOfMacroOps:
    def test_four_instructions_a_cycle(self):
        assert decoder_bound(block(*[nop(4)] * 6), ZEN5) == 1.5

    def test_a_long_instruction_begins_a_cycle(self):
        assert decoder_bound(block(nop(11), nop(2), nop(11)), ZEN5) == 2
        assert decoder_bound(block(nop(10), nop(2), nop(10)), ZEN5) == 0.75

    def test_one_of_many_macro_ops_has_a_cycle_alone(self):
        many = nop(macro_ops=MacroOps(begins_decode_group=True))
        assert decoder_bound(block(nop(), many, nop()), ZEN5) == 2


class TestPredecoder:
    def test_five_instructions_a_cycle_in_a_16_byte_piece(self):
        assert predecoder_bound(block(*[nop(2)] * 8), SKL) == 2
        assert predecoder_bound(block(*[nop(4)] * 4), SKL) == 1

    def test_a_crossing_instruction_costs_a_place_where_its_opcode_is(self):
        # Five instructions end in the first piece and a sixth crosses into the second: 2 + 1 cycles if its
        # opcode is still in the first, 1 + 1 if only prefixes are.
        first = [nop(3)] * 5
        assert predecoder_bound(block(*first, nop(17, opcode=0)), SKL) == 3
        assert predecoder_bound(block(*first, nop(17, opcode=2)), SKL) == 2

    def test_a_loop_begins_a_piece(self):
        # Six instructions end in the first piece, one in the second.
        code = [*[nop(3)] * 5, nop(1), nop(4)]
        assert predecoder_bound(block(*code, loop=True), SKL) == 2 + 1
        assert predecoder_bound(block(*code[:5], nop(2, opcode=1), nop(3), loop=True), SKL) == 1 + 1

    def test_copies_end_to_end_take_what_their_pieces_take(self):
        choice = random.Random(6)
        for _ in range(200):
            code = [
                nop(length, choice.randrange(length), length_changing_prefix=choice.random() < 0.1)
                for length in choice.choices(range(1, 12), k=choice.randint(1, 9))
            ]
            size = sum(each.instruction.length for each in code)
            alignment, phases = choice.randrange(64), 16 // gcd(16, size)
            found = predecoder_bound(replace(block(*code), alignment=alignment), SKL)
            # Pieces of many copies, of which those of one period in the middle count.
            ends, opcodes, prefixes = Counter[int](), Counter[int](), Counter[int]()
            at = alignment - 64
            for template in code * (3 * phases + 128 // size + 2):
                end = (at + template.instruction.length - 1) // 16
                opcode = (at + template.instruction.opcode_offset) // 16
                ends[end] += 1
                opcodes[opcode] += opcode != end
                prefixes[opcode] += template.length_changing_prefix
                at += template.instruction.length
            cycles = {piece: -(-(ends[piece] + opcodes[piece]) // 5) for piece in ends | opcodes}
            first, count = 64 // 16 + 1, phases * size // 16
            expected = sum(
                cycles.get(piece, 0) + max(0, 3 * prefixes[piece] - cycles.get(piece - 1, 0) + 1)
                for piece in range(first, first + count)
            )
            assert found * phases == pytest.approx(expected), (code, alignment)

    def test_length_changing_prefixes_stall_three_cycles_less_the_surplus_before(self):
        slow = nop(16, length_changing_prefix=True)
        assert predecoder_bound(block(slow), SKL) == 4
        assert predecoder_bound(block(*[nop()] * 16, slow), SKL) == 4 + 1 + 3 - 3

    def test_a_loop_is_counted_once_and_padded_to_whole_pieces(self):
        assert predecoder_bound(block(nop(3), loop=True), SKL) == 1
        assert predecoder_bound(block(nop(3)), SKL) == pytest.approx(5 / 16, abs=0.07)


class TestDecoder:
    def test_four_simple_instructions_a_cycle(self):
        assert decoder_bound(block(*[nop()] * 6), SKL) == 1.5

    def test_a_complex_instruction_starts_a_cycle_and_limits_the_others(self):
        complex_one = nop(complex_decoder=True, available_simple_decoders=1)
        assert decoder_bound(block(complex_one, nop(), nop()), SKL) == 2
        assert decoder_bound(block(replace(complex_one, available_simple_decoders=3), nop(), nop()), SKL) == 1

    def test_a_branch_ends_the_cycle(self):
        assert decoder_bound(block(nop(), nop(is_branch=True)), SKL) == 1

    def test_a_fusible_instruction_avoids_the_last_decoder_of_older_models(self):
        instructions = block(*[nop(macro_fusible=True)] * 4)
        assert decoder_bound(instructions, SKL) == 1
        assert decoder_bound(instructions, HSW) == pytest.approx(4 / 3)

    def test_second_halves_of_fused_pairs_are_free(self):
        pair = nop(fused_with_next=True), nop(fused_with_previous=True, is_branch=True)
        assert decoder_bound(block(*pair), SKL) == 1


class TestUopSupply:
    def test_dsb_whole_cycles_within_32_bytes_fractions_beyond(self):
        uops = [nop(3, mite_uops=n) for n in (1, 1, 1, 2, 2)]
        second_half = nop(3, fused_with_previous=True)
        assert dsb_bound(block(*uops, second_half, loop=True), HSW) == 2
        assert dsb_bound(block(*uops, second_half, loop=True, alignment=20), HSW) == 7 / 6

    def test_dsb_worked_example(self):
        uops = [nop(3, mite_uops=n) for n in (1, 1, 1, 2, 1)]
        assert dsb_bound(block(*uops, nop(3, fused_with_previous=True), loop=True), HSW) == 1

    def test_lsd_batches_never_share_a_cycle(self):
        assert lsd_bound(block(*[nop()] * 7, loop=True), HSW) == 1.75  # four rounds at once
        assert lsd_bound(block(*[nop()] * 29, loop=True), HSW) == 8  # one round at once

    def test_issue_counts_fused_uops(self):
        templates = nop(retire_slots=2), nop(retire_slots=1), nop(fused_with_previous=True)
        assert issue_bound(block(*templates), SKL) == 0.75
        assert issue_bound(block(*templates), ICL) == 0.6


class TestPorts:
    def test_a_union_of_port_sets_can_be_the_limit(self):
        templates = [nop(uops=tuple(uops_on(ports))) for ports in ("0", "1", "01")]
        assert port_bound(block(*templates), SKL) == 1.5

    def test_counts_multiply(self):
        assert port_bound(block(nop(uops=tuple(uops_on("0156", "0156", *["06"] * 4)))), SKL) == 2

    def test_moves_count_as_often_as_they_were_not_eliminated(self):
        move = nop(uops=tuple(uops_on("0", "0")), eliminable_move=True)
        assert port_bound(block(move), SKL) == 0
        assert port_bound(block(move), SKL, elimination=[0.25]) == 0.5

    def test_no_uops_no_bound(self):
        assert port_bound(block(nop()), SKL) == 0


def register(name, width=64, operand="REG0"):
    return RegisterOperand(name, name, width, operand)


def compute(inputs, outputs, latency=1, **changes):
    """Every output depends on every input with the same latency, through one uop."""
    ins, outs = [register(name) for name in inputs], [register(name) for name in outputs]
    latencies = {("reg", i, "reg", o): latency for i in range(len(ins)) for o in range(len(outs))}
    uop = UopTemplate(
        UopKind.COMPUTE,
        inputs=tuple(map(value, inputs)),
        outputs=tuple((value(name), latency) for name in outputs),
    )
    made = nop(uops=(uop,), register_inputs=tuple(ins), register_outputs=tuple(outs), latencies=latencies)
    return replace(made, **changes)


def value(name):
    return ValueKind.REGISTER, name


def internal(name):
    return ValueKind.INTERNAL, name


def memory(base, displacement=0, *, read=False, written=False):
    return MemoryAccess("MEM0", base, None, 1, displacement, read, written)


def load(base, target, displacement=0, latency=5, name="MOV (R64, M64)"):
    return nop(
        name=name,
        uops=(
            UopTemplate(UopKind.LOAD, inputs=(value(base),), outputs=((value(target), 5),), memory_operand=0),
        ),
        uop_count=1,
        address_inputs=(register(base, operand="MEM0"),),
        memory_operands=(memory(base, displacement, read=True),),
        register_outputs=(register(target),),
        latencies={("addr", 0, "reg", 0): latency, ("mem", 0, "reg", 0): 2},
    )


def stored(base, data):
    return (
        UopTemplate(UopKind.STORE_ADDRESS, inputs=(value(base),), memory_operand=0),
        UopTemplate(UopKind.STORE_DATA, inputs=(data,), memory_operand=0),
    )


def store(base, source, displacement=0):
    return nop(
        name="MOV (M64, R64)",
        uops=stored(base, value(source)),
        address_inputs=(register(base, operand="MEM0"),),
        register_inputs=(register(source),),
        memory_operands=(memory(base, displacement, written=True),),
        latencies={("reg", 0, "mem", 0): 4, ("addr", 0, "mem", 0): 10},
    )


class TestDependencies:
    def test_a_chain_within_the_iteration_adds_up(self):
        chain = compute(["RAX"], ["RBX"], 3), compute(["RBX"], ["RAX"], 1)
        assert dependency_bound(block(*chain), SKL) == 4

    def test_a_value_that_needs_two_iterations_counts_half(self):
        # RAX -> RBX in one iteration, RBX -> RAX in the next.
        swapped = compute(["RBX"], ["RAX"], 2), compute(["RAX"], ["RBX"], 1)
        assert dependency_bound(block(*swapped), SKL) == 3
        both = compute(["RAX"], ["RCX"], 1), compute(["RBX"], ["RAX"], 4), compute(["RCX"], ["RBX"], 1)
        assert dependency_bound(block(*both), SKL) == 3

    def test_overwritten_registers_carry_nothing(self):
        assert dependency_bound(block(compute([], ["RAX"]), compute(["RAX"], ["RBX"])), SKL) == 0

    def test_latency_zero_is_no_dependency(self):
        assert dependency_bound(block(compute(["RAX"], ["RAX"], 0)), SKL) == 0

    def test_flags_are_carried_in_their_groups(self):
        carry = ValueKind.FLAGS, "C"
        results = (carry, 1), ((ValueKind.FLAGS, "SPAZO"), 1)
        adc = nop(
            uops=(UopTemplate(UopKind.COMPUTE, inputs=(carry,), outputs=results),),
            flag_inputs=("C",), flag_outputs=("C", "SPAZO"),
            latencies={("flag", 0, "flag", 0): 1, ("flag", 0, "flag", 1): 1},
        )  # fmt: skip
        assert dependency_bound(block(adc), SKL) == 1
        assert dependency_bound(block(adc, nop(flag_outputs=("C",))), SKL) == 0

    def test_eliminated_moves_cost_nothing_but_pass_the_value_on(self):
        move = compute(["RBX"], ["RAX"], 1, name="MOV (R64, R64)", eliminable_move=True)
        assert dependency_bound(block(compute(["RAX"], ["RBX"], 3), move), SKL) == 3

    def test_pointer_chasing_is_a_cycle_faster_where_the_model_has_it(self):
        chase = block(load("RAX", "RAX"))
        assert dependency_bound(chase, SKL) == 4
        assert dependency_bound(chase, ICL) == 5

    @pytest.mark.parametrize(("displacement", "cycles"), [(2047, 4), (2048, 5), (-1, 5)])
    def test_pointer_chasing_wants_a_small_displacement(self, displacement, cycles):
        assert dependency_bound(block(load("RAX", "RAX", displacement)), SKL) == cycles

    @pytest.mark.parametrize(("width", "cycles"), [(64, 4), (32, 5)])
    def test_pointer_chasing_looks_through_64_bit_moves_only(self, width, cycles):
        move = nop(
            name="MOV (R64, R64)",
            eliminable_move=True,
            register_inputs=(register("RBX"),),
            register_outputs=(register("RAX", width),),
        )
        assert dependency_bound(block(load("RAX", "RBX"), move), SKL) == cycles

    def test_pointer_chasing_wants_a_loaded_pointer(self):
        advance = compute(["RAX"], ["RAX"], 1, name="ADD (R64, R64)")
        assert dependency_bound(block(load("RAX", "RAX"), advance), SKL) == 6

    def test_a_value_stored_and_loaded_again_is_carried_by_memory(self):
        increment = nop(
            name="ADD (M64, I8)",
            uops=(
                UopTemplate(
                    UopKind.LOAD, inputs=(value("RSI"),), outputs=((internal("0"), 5),), memory_operand=0
                ),
                UopTemplate(UopKind.COMPUTE, inputs=(internal("0"),), outputs=((internal("1"), 1),)),
                *stored("RSI", internal("1")),
            ),
            address_inputs=(register("RSI", operand="MEM0"),),
            memory_operands=(memory("RSI", read=True, written=True),),
            latencies={("mem", 0, "mem", 0): 6, ("addr", 0, "mem", 0): 10},
        )
        assert dependency_bound(block(increment), SKL) == 6
        other = replace(increment, memory_operands=(memory("RSI", 8, read=True), memory("RSI", written=True)))
        assert dependency_bound(block(other), SKL) == 0

    def test_from_a_register_to_memory_and_back_the_store_itself_is_free(self):
        assert dependency_bound(block(load("RSP", "RAX"), store("RSP", "RAX")), SKL) == 2
        assert dependency_bound(block(load("RSP", "RAX", 8), store("RSP", "RAX")), SKL) == 0

    def test_addresses_follow_moves_and_steps_by_constants(self):
        def step(amount, name="ADD (R64, I8)"):
            instruction = made_up(immediate=amount)
            return replace(compute(["RSI"], ["RSI"], 1, name=name), instruction=instruction)

        def carried(*between):
            return dependency_bound(block(load("RSI", "RAX"), store("RSI", "RAX"), *between), SKL)

        assert carried(step(8)) == 1  # only the pointer itself
        assert carried(step(8), step(8, "SUB (R64, I8)")) == 2  # back again: the memory chain and the pointer
        assert carried(compute([], ["RSI"], name="LEA (R64, B)")) == 0  # somewhere unknown

    def test_using_rsp_after_the_stack_engine_moved_it_takes_a_cycle_more(self):
        push = nop(name="PUSH (R64)", rsp_change=-8)
        use = compute(["RSP"], ["RSP"], 1, name="ADD (R64, I8)")
        assert dependency_bound(block(use), SKL) == 1
        assert dependency_bound(block(push, use), SKL) == 2

    def test_the_chain_lists_its_instructions(self):
        chain = compute(["RAX"], ["RBX"], 3), compute(["RCX"], ["RCX"], 1), compute(["RBX"], ["RAX"], 1)
        (found,) = critical_chains(block(*chain), SKL).chains
        assert sorted(step.instruction for step in found) == [0, 2]


def simulated(sources, elimination=None):
    return Simulation(
        cycles_per_iteration=1.0,
        simulated_cycles=500,
        visited_cycles=500,
        first_round=5,
        last_round=10,
        usage=(),
        merge_usage=(),
        sync_usage=(),
        first_sources=sources,
        elimination=elimination or (1.0,) * len(sources),
        busiest_port=0.0,
    )


class TestRegistry:
    @pytest.mark.parametrize(
        ("sources", "names"),
        [
            (("MITE", "MITE"), {"Predecoder", "Decoder"}),
            (("DSB", "MITE"), {"Decoder", "DSB"}),
            (("DSB", ""), {"DSB"}),
            (("LSD", ""), {"LSD"}),
        ],
    )
    def test_only_the_front_end_that_delivered_counts(self, sources, names):
        bounds = compute_bounds(block(nop(), nop(), loop=True), HSW, simulated(sources))
        assert bounds.keys() == names | {"Issue"}

    def test_without_a_simulation_all_that_the_code_could_use(self):
        loop, unrolled = block(nop(), loop=True), block(nop())
        assert compute_bounds(loop, HSW, None).keys() == {"Predecoder", "Decoder", "DSB", "LSD", "Issue"}
        assert compute_bounds(loop, SKL, None).keys() == {"Predecoder", "Decoder", "DSB", "Issue"}
        assert compute_bounds(unrolled, HSW, None).keys() == {"Predecoder", "Decoder", "Issue"}

    def test_measured_elimination_reaches_the_ports(self):
        move = compute(["RAX"], ["RBX"], uops=tuple(uops_on("0")), eliminable_move=True)
        assert compute_bounds(block(move), SKL, simulated(("MITE",), (0.5,)))["Ports"] == 0.5

    def test_nothing_bounds_nothing(self):
        assert compute_bounds(block(), SKL, None) == {}
        with pytest.raises(ValueError, match="without instructions"):
            predict_analytically(block(), SKL)

    def test_the_prediction_alone_is_the_largest_bound_of_the_assumed_front_end(self):
        nops = [nop()] * 7
        assert predict_analytically(block(*nops), SKL) == 1.75
        assert predict_analytically(block(*nops, loop=True), HSW) == 1.75  # LSD
        assert predict_analytically(block(*nops, loop=True), SKL) == 2  # DSB, whole cycles
        assert predict_analytically(block(*nops[:-1], nop(jcc_erratum=True), loop=True), SKL) == 2
        assert predict_analytically(block(compute(["RAX"], ["RAX"], 9)), SKL) == 9

    def test_the_prediction_alone_takes_all_registers_to_point_to_one_line(self):
        two_stores = block_of("488906488907", "SPR", loop=False)  # mov [rsi], rax; mov [rdi], rax
        core = registry.get("SPR")
        assert store_bound(two_stores, core) == 2
        assert predict_analytically(two_stores, core) == 1


@pytest.mark.parametrize(
    ("alignment", "cycles"),
    [(0, 2), (1, 2), (2, 7 / 6), (31, 7 / 6), (32, 2), (33, 2), (34, 7 / 6), (64, 2), (65, 2), (66, 7 / 6)],
)
def test_a_loop_in_one_piece_of_32_bytes_takes_whole_cycles(alignment, cycles):
    """Seven uops, the last of which begins 30 bytes behind the first."""
    loop = block(*[nop(5) for _ in range(7)], loop=True, alignment=alignment)
    assert dsb_bound(loop, HSW) == pytest.approx(cycles)
