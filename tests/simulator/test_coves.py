"""Golden Cove and Redwood Cove: every rule of docs/pipeline.md, chapter 9, with a small block. Figures that
have no comment were measured on a Redwood Cove server core, to within a hundredth."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Model, Pointers
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.simulator import simulate
from msgspec.structs import replace
from testkit.blocks import block_of
from testkit.simulated import cycles, rows_of, simulated

SAME = ModelOptions(assume=Pointers.SAME)
COVES = ("ADL", "SPR", "MTL", "GNR")
GNR = registry.get("GNR")
DEC_JNZ = "49ffcf75"
"""dec r15; jnz, without its distance."""
NOP = "90"
NOP_3, NOP_4, NOP_10 = "0f1f00", "0f1f4000", "662e0f1f840000000000"


def unrolled(code: str, name: str = "GNR") -> float:
    return cycles(code.replace(" ", ""), name, loop=False, options=SAME)


def looped(code: str, name: str = "GNR") -> float:
    """The code with a counter and the branch back."""
    body = code.replace(" ", "") + DEC_JNZ
    return cycles(body + f"{-(len(body) // 2 + 1) & 0xFF:02x}", name, loop=True, options=SAME)


@pytest.mark.parametrize("name", COVES)
def test_six_decoders_and_six_issue_slots(name: str) -> None:
    assert unrolled(12 * NOP, name) == 2.00
    assert looped(11 * NOP, name) == 2.00


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (16 * NOP_10, 5.0),  # 32 bytes
        (5 * NOP_4 + 4 * NOP_3, 2.0),  # eight instructions: nine end in 32 bytes
        (8 * NOP_4, 8 / 6),  # six decoders
    ],
)
def test_a_cycle_predecodes_32_bytes_and_eight_instructions(code: str, expected: float) -> None:
    """Known of the figures are the widths alone, by which the measured blocks fit best (docs/accuracy.md)."""
    assert unrolled(code) == pytest.approx(expected, abs=0.01)


def test_the_dsb_has_lines_of_eight_uops_and_delivers_eight() -> None:
    """Sixteen uops in 64 bytes are two lines, not three: 13 uops take no longer than six issue slots need."""
    block = block_of(12 * NOP_4 + "49ffcf75cb", "GNR", loop=True)
    narrow = replace(GNR, dsb_width=6, dsb_slots_per_line=6)
    assert simulate(block, GNR).cycles_per_iteration == pytest.approx(13 / 6, abs=0.01)
    assert simulate(block, narrow).cycles_per_iteration == pytest.approx(2.5, abs=0.02)


@pytest.mark.parametrize("name", ["ADL", "MTL"])
def test_n8_the_lsd_has_no_border_between_batches(name: str) -> None:
    """Eight uops; with Ice Lake's border they would take 2 cycles, the next batch beginning in a new one."""
    assert "LSD" in simulated(7 * NOP + DEC_JNZ + "f4", name, loop=True).first_sources
    assert looped(7 * NOP, name) == pytest.approx(8 / 6, abs=0.01)


def test_a_prefix_that_changes_the_length_costs_three_cycles_in_the_decoders_alone() -> None:
    """add cx, 0x1234: 3.16 in straight-line code, 1.00 from the DSB, which caches it (no Q3)."""
    assert unrolled("6681c13412") == pytest.approx(3.16, rel=0.05)
    assert looped(4 * "6681c13412") == pytest.approx(4.0, rel=0.02)


def test_d8_two_branches_that_are_not_taken_and_one_that_is() -> None:
    """cmp, jne twice; the branch that goes back takes port 6."""
    code = "4839d87500 4839d17500"
    assert unrolled(code) == 1.00
    usage = simulated(code.replace(" ", "") + "49ffcf75f1", "GNR", loop=True).usage
    assert usage[-2].ports == {"6": 1.0}


@pytest.mark.parametrize("name", COVES)
@pytest.mark.parametrize(
    "addition",
    ["4883c001", "4883e801", "48ffc0", "48ffc8", "488d4008", "48c7c001000000"],
    ids=["add", "sub", "inc", "dec", "lea", "mov"],
)
def test_v9_the_renamer_adds_constants(addition: str, name: str) -> None:
    """Six in a chain take one cycle from the DSB: six issue slots and no port."""
    assert looped(11 * addition, name) == pytest.approx(2.0, abs=0.02)


@pytest.mark.parametrize(
    "addition",
    ["83c001", "4881c000040000", "488d440008", "480500040000"],
    ids=["32 bits", "1024", "lea with an index", "1024 to rax"],
)
def test_v9_other_additions_are_executed(addition: str) -> None:
    assert looped(4 * addition) >= 4.0


def test_v9_a_sum_that_no_longer_fits_is_executed() -> None:
    """add rax, 256, four in a chain: the sums 256, 512 and 768 can be owed, 1024 cannot."""
    executed = simulated(4 * "480500010000" + "49ffcf75e3", "GNR", loop=True).usage
    assert sum(line.executed for line in executed[:4]) == pytest.approx(1.0)


def test_v9_a_shift_by_a_register_that_is_owed_a_constant_takes_two_cycles_more() -> None:
    """add rcx, 1; shlx rax, rax, rcx; and without the addition."""
    assert unrolled("4883c101 c4e2f1f7c0") == 3.0
    assert unrolled("c4e2f1f7c0") == 1.0


def test_a4_a_move_shares_the_slot_of_the_operation_behind_it() -> None:
    """mov rdx, rsi; sub rdx, rax with four NOPs and the loop's branch: seven slots would take 1.17 cycles."""
    code = "4889f2 4829c2" + 4 * NOP
    assert looped(code, "GNR") == 1.00
    assert looped(code, "SPR") == pytest.approx(7 / 6, abs=0.01)


@pytest.mark.parametrize("code", ["4889f2 480fafd0", "4889f2 4839c2"], ids=["imul", "cmp"])
def test_a4_not_before_every_operation(code: str) -> None:
    assert looped(code + 4 * NOP) == pytest.approx(7 / 6, abs=0.01)


def test_u5b_the_result_of_a_shift_by_cl_does_not_wait_for_flags() -> None:
    """mov edx, 1; shl rdx, cl; test edx, 0x100003"""
    code = "ba0100000048d3e2f7c203001000"
    assert unrolled(code) == pytest.approx(1.0, abs=0.02)
    assert cycles(code, "RKL", loop=False) == 2.0


@pytest.mark.parametrize("name", COVES)
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("c5f958c1", 2.0),  # vaddpd xmm0, xmm0, xmm1
        ("c5f958c1 c5fd58c1", 4.0),  # and of 256 bits
        ("0f28d0 0f58d1 0f28c2", 2.0),  # movaps xmm2, xmm0; addps xmm2, xmm1; movaps xmm0, xmm2
        ("f20f58c1 f20f12c0", 4.0),  # addsd, movddup
        ("0f5806", 2.0),  # addps xmm0, [rsi]
        ("c5f858c1 c5e858d0", 2.0),  # vaddps xmm0, xmm0, xmm1; vaddps xmm2, xmm2, xmm0
    ],
)
def test_u12_an_addition_takes_the_result_of_another_one_early(code: str, expected: float, name: str) -> None:
    """Measured on an Emerald Rapids."""
    assert unrolled(code, name) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(("name", "multiplication"), [("SPR", 4), ("GNR", 3)])
def test_u12_from_a_multiplication_it_takes_three_cycles(name: str, multiplication: int) -> None:
    assert unrolled("f20f59c1 f20f58c1", name) == multiplication + 3
    assert unrolled("f20f59c1 f20f58c1 f20f58c1", name) == multiplication + 3 + 2


def test_u12_not_on_other_cores() -> None:
    assert unrolled("c5f958c1", "ICL") == 4.0


def test_e6_no_sync_uop_before_an_addition_to_rsp_by_the_renamer() -> None:
    """add rsp, 16; xor eax, eax; pop rbx: 0.505"""
    assert unrolled("4883c410 31c0 5b") == pytest.approx(0.5, abs=0.02)


def test_e2_pops_read_one_word_after_the_other() -> None:
    """pop rax; pop rbx; pop rcx: 1.00, so that the stack pointer has moved between them (4.6, Z6)"""
    assert unrolled("58 5b 59") == 1.00


@pytest.mark.parametrize("name", COVES)
@pytest.mark.parametrize(
    "loads", ["8b86ecffffff 8b9eacffffff 8b8e6cffffff", "8b86ec030000 8b9eac030000 8b8e6c030000"]
)
def test_z6_three_words_of_equal_offset_below_address_zero(name: str, loads: str) -> None:
    """xor esi, esi; mov from [rsi-20], [rsi-84], [rsi-148], or 1,024 bytes above: the offset in the line does
    not depend on the sign."""
    assert unrolled(f"31f6 {loads}", name) == 1.50


def test_o6d_a_plain_store_waits_for_its_data() -> None:
    """mov [rsi], rax; mov rax, [rsi]: 5.00 in straight-line code"""
    assert unrolled("488906 488b06") == 5.00


@pytest.mark.parametrize(("displacement", "expected"), [("08", 3.0), ("10", 1.0)])
def test_4_6_addresses_are_compared_by_their_sums(displacement: str, expected: float) -> None:
    """lea rdi, [rsi+8]; mov [rdi], rax; mov rax, [rsi+8] or [rsi+16]; imul rax, rax"""
    assert looped(f"488d7e08 488907 488b46{displacement} 480fafc0") == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("0fb6c3 0fafd8", 3.00),  # movzx eax, bl; imul ebx, eax: 2.998
        ("400fb6c6 0faff0", 4.00),  # movzx eax, sil; imul esi, eax: 3.997
        ("410fb6c4 440fafe0", 4.00),  # movzx eax, r12b; imul r12d, eax: 3.997
        ("0fb6db 0fafdb", 4.00),  # movzx ebx, bl; imul ebx, ebx: 3.996
        ("0fb6c7 0fafd8", 6.00),  # movzx eax, bh; imul ebx, eax: 5.99
        ("0fb7c3 0fafd8", 4.00),  # movzx eax, bx; imul ebx, eax: 3.996
    ],
)
def test_v4_zero_extension_of_a_byte_is_eliminated(code: str, expected: float) -> None:
    assert looped(code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("660f7ec0 660f6ec0", 4.0),  # movd eax, xmm0; movd xmm0, eax: 3.997
        ("660f7ec0 660f3a22c000", 5.0),  # movd eax, xmm0; pinsrd xmm0, eax, 0: 4.999
        ("660f7ec0 f30f2ac0", 8.0),  # movd eax, xmm0; cvtsi2ss xmm0, eax: 7.993
    ],
)
def test_the_way_to_a_vector_takes_a_cycle(code: str, expected: float) -> None:
    assert looped(code) == expected


def test_ones_wait_for_nothing() -> None:
    """vpcmpeqd ymm2, ymm2, ymm2; vpmulld ymm2, ymm2, ymm3: 1.50; with a gather that the mask is for: 4.11"""
    assert looped(2 * "c5ed76d2 c4e26d40d3") == pytest.approx(3.0, abs=0.1)
    assert looped("c5ed76d2 c4e26d92048e") < 5.0


class TestW6:
    """Memory renaming."""

    def test_a_word_that_is_stored_and_loaded_again_costs_nothing_in_a_loop(self) -> None:
        """push rax; pop rax"""
        assert looped("5058") == 1.00
        assert unrolled("5058") == 5.00

    def test_a_constant_is_added_to_it_by_the_renamer(self) -> None:
        """mov r14, [r13]; lea r15, [r14-1]; test r15, r15; mov [r13], r15: 1.00 and 6.67"""
        assert cycles("4d8b75004d8d7eff4d85ff4d897d00" + "48ffca75ec", "GNR", loop=True) == 1.00
        assert unrolled("4d8b75004d8d7eff4d85ff4d897d00") == 7.00

    def test_a_part_of_a_register_that_is_owed_a_constant_is_not_taken_over(self) -> None:
        """mov eax, [rsp+104]; sub rax, 1; mov [rsp+104], eax: 7.40, as in straight-line code; the sum of 32
        bits is no register with a constant. An addition of 32 bits is executed, and its result taken over."""
        assert looped("8b442468 4883e801 89442468") == 7.00
        assert looped("488b442468 4883e801 4889442468") == 1.00
        assert looped("8b442468 83e801 89442468") == 1.00

    @pytest.mark.parametrize(
        ("code", "expected"),
        [
            ("830601", 1.00),  # add dword [rsi], 1: 0.996, straight-line 7.43
            ("48830601 48830601", 2.00),  # twice: 2.00, so that each addition takes its cycle
            ("488326 01", 1.00),  # and qword [rsi], 1: 1.001
            ("488906 488b06 480fafc0", 3.00),  # mov [rsi], rax; mov rax, [rsi]; imul rax, rax: 3.00
            ("488b06 90 4801d8 488906", 1.00),  # mov rax, [rsi]; nop; add rax, rbx; mov [rsi], rax: 1.00
            ("48031e 48891e", 1.00),  # add rbx, [rsi]; mov [rsi], rbx: 1.00
            ("f3480fb81e 48891e", 3.00),  # popcnt rbx, [rsi]; mov [rsi], rbx: 3.00
            ("0fb606 ffc0 8806", 1.00),  # movzx eax, byte [rsi]; inc eax; mov [rsi], al: 1.00
            ("890424 8b0424 8d0418", 1.00),  # mov [rsp], eax; mov eax, [rsp]; lea eax, [rax+rbx]: 1.00
        ],
    )
    def test_it_makes_no_difference_what_computes_the_word(self, code: str, expected: float) -> None:
        assert looped(code) == pytest.approx(expected, abs=0.05)

    @pytest.mark.parametrize(
        ("code", "expected"),
        [
            ("488b06 4801d8 488906", 7.00),  # mov rax, [rsi]; add rax, rbx; mov [rsi], rax: 7.37, fused (A4)
            ("480106", 7.00),  # add [rsi], rax: 7.35
            ("48831601", 8.00),  # adc qword [rsi], 1: 8.00
            ("c4e2c0f21e 48891e", 7.00),  # andn rbx, rdi, [rsi]; mov [rsi], rbx: 7.29
            ("481306 488906", 7.00),  # adc rax, [rsi]; mov [rsi], rax: 7.59
            ("0fb706 ffc0 668906", 7.00),  # movzx eax, word [rsi]; inc eax; mov [rsi], ax: 7.35
            ("486306 ffc0 8906", 7.00),  # movsxd rax, dword [rsi]; inc eax; mov [rsi], eax: 7.45
            ("f048830601", 18.00),  # lock add qword [rsi], 1: 18.00
        ],
    )
    def test_what_has_other_inputs_extends_its_sign_or_is_a_word_is_not_renamed(
        self, code: str, expected: float
    ) -> None:
        assert looped(code) == expected

    def test_a_load_within_the_stored_bytes_is_renamed_only_at_their_start(self) -> None:
        """mov [rsi], rax; movzx eax, byte [rsi] or [rsi+1]; lea rax, [rax+rbx]: 1.00 and 7.33"""
        assert looped("488906 0fb606 488d0418") == 1.00
        hardware = ModelOptions(model=Model.HARDWARE, assume=Pointers.SAME)
        for place, expected in (("06", 1.00), ("4601", 7.00)):
            code = f"4889060fb6{place}488d0418"
            body = code + DEC_JNZ
            ending = f"{-(len(body) // 2 + 1) & 0xFF:02x}"
            assert cycles(body + ending, "GNR", loop=True, options=hardware) == expected

    @pytest.mark.parametrize(
        ("operation", "expected"),
        [
            ("", 5.00),  # 5.00
            ("488d0418", 7.00),  # lea rax, [rax+rbx]: 7.34
            ("480fafc0", 8.00),  # imul rax, rax: 8.00
            ("480fafc0 480fafc0", 11.00),  # 11.00
        ],
    )
    def test_forwarding_takes_longer_of_what_has_just_been_computed(
        self, operation: str, expected: float
    ) -> None:
        """xor ebp, ebp; mov rax, [rsi+rbp]; ...; mov [rsi+rbp], rax: with an index nothing is renamed"""
        assert looped(f"31ed 488b042e {operation} 4889042e") == expected

    def test_vectors_are_not_renamed(self) -> None:
        """movups [rsi], xmm0; movups xmm0, [rsi]: 7.36"""
        assert looped("0f1106 0f1006") == 7.00


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("488906 48894608", 1.00),  # one line
        ("488906 48894640", 2.00),  # two lines
        ("488906 48894640 48894648 48894650", 3.00),  # A B B B
        ("488906 48894640 48894608 48894610 48894648", 4.00),  # A B A A B
        ("62f17c481106", 1.00),  # 64 bytes
        ("c5fc1106 c5fc114620", 1.00),  # both halves of a line
    ],
)
def test_z5_stores_leave_for_one_line_a_cycle(code: str, expected: float) -> None:
    assert unrolled(code) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("488b06 488b5e08 488b4e10", 1.00),  # three words
        ("488b06 488b5e40 488b8e80000000", 1.50),  # one word of three lines
        ("488b06 488b5e08 488b4e10 488b5618 4c8b4620 4c8b4e28", 2.00),
        ("62f17c481006 62f17c48104e01", 1.00),  # two of 64 bytes
    ],
)
def test_z6_three_loads_of_one_word_collide(code: str, expected: float) -> None:
    assert unrolled(code) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("8b06 8b5e04 8b0e", 1.00),  # both halves of eight bytes: 0.999
        ("0fb606 0fb65e01 0fb64e04", 1.00),  # bytes 0, 1 and 4: 1.000
        ("0fb606 0fb65e01 0fb64e02", 1.50),  # bytes 0, 1 and 2: 1.51
        ("8b06 8b1e 8b4e04 8b5604", 1.33),  # A A B B: 1.332
        ("488b06 488b5e04 488b0e", 1.50),  # eight bytes at 0, 4 and 0: 1.511
        ("488b06 488b5e04 488b4e08", 1.00),  # at 0, 4 and 8: 1.000
        ("0f1006 0f100e 488b4608", 1.50),  # 16 bytes, and their upper half: 1.509
        ("c5fc1006 488b4608 8b5e0c", 1.50),  # 32 bytes, and two of their words: 1.510
        ("c5fc1006 488b4608 8b5e10", 1.00),  # the two have none in common: 1.000
        ("c5fc1006 c5fc104e40 c5fc105610", 1.50),  # in two lines: 1.509
    ],
)
def test_z6_a_word_has_four_bytes(code: str, expected: float) -> None:
    assert looped(6 * code) == pytest.approx(6 * expected, abs=0.1)


def test_z6_what_is_not_known_does_not_collide() -> None:
    """Loads through three pointers, which only --assume same takes for equal."""
    code = "488b06488b1f488b5500"
    assert cycles(code, "GNR", loop=False) == 1.00
    assert unrolled(code) == pytest.approx(1.50, abs=0.01)


def test_z6_places_of_symbols_are_not_known() -> None:
    """Three loads relative to the instruction pointer, as text with three symbols is assembled, and with
    one; of the figures only the second is measured (3 loads of one word)."""
    assert cycles("488b0500000000 488b1d00100000 488b0d00200000".replace(" ", ""), "GNR", loop=False) == 1.00
    assert cycles(3 * "488b0500000000", "GNR", loop=False) == pytest.approx(1.50, abs=0.01)


ADDITIONS = "4801e84801eb4801e94801ea4801ee"
"""add rax, rbp; add rbx, rbp; ..: five chains."""


@pytest.mark.parametrize(
    ("code", "copies", "in_copies", "in_loop"),
    [
        (ADDITIONS, 51, 1.207, 1.375),
        (ADDITIONS + "4801ef", 42, 1.533, 1.648),  # six
        ("4d39f5 480f44c5 480f44dd 480f44cd", 64, 1.698, 2.065),  # cmp r13, r14; cmovz three times
        ("4d39f5 0f94c0 0f94c3 0f94c1", 64, 1.705, 2.065),  # cmp r13, r14; setz three times
    ],
)
def test_p1_the_slot_chooses_the_port(code: str, copies: int, in_copies: float, in_loop: float) -> None:
    """The port to which the fewest uops are bound would make it 1.00 or 1.50 in copies."""
    body = bytes.fromhex(code.replace(" ", ""))
    loop = body * copies + b"\x49\xff\xcf\x0f\x85"
    loop += (-len(loop) - 4).to_bytes(4, "little", signed=True)
    assert cycles(loop.hex(), "GNR", options=SAME) / copies == pytest.approx(in_copies, rel=0.03)
    assert looped(code) == pytest.approx(in_loop, rel=0.03)


def test_x6_three_taken_branches_a_cycle() -> None:
    """jmp over nothing, once and three times with a NOP, and the branch back: 1.00 and 1.34."""
    assert looped("eb00") == 1.00
    assert looped("eb00 eb00 eb00 90") == pytest.approx(1.34, rel=0.01)


def test_p2_memory_ports_take_turns() -> None:
    """Two loads and a store, in a loop."""
    usage = simulated("488b064c8b46084c894610" + "49ffcf75f0", "GNR", loop=True).usage
    third = pytest.approx(1 / 3, abs=0.02)
    assert usage[0].ports == {"2": third, "3": third, "11": third}
    assert all(share == pytest.approx(0.5, abs=0.02) for share in usage[2].ports.values())


def test_p3_no_issue_without_places_for_a_whole_group() -> None:
    """A chain of multiplications fills the scheduler of arithmetic to the last places less than a group."""
    names = {each.name for each in GNR.units.all if each.scheduler == "arithmetic"}
    rows = [row for row in rows_of("480fafc0" + "49ffcf75f7", "GNR", rounds=150) if row.port in names]
    waits = [(row.issued, row.dispatched) for row in rows if row.issued is not None]
    most = max(
        sum(1 for issued, dispatched in waits if issued <= cycle < (dispatched or cycle + 1))
        for cycle in range(max(issued for issued, _ in waits))
    )
    sizes = dict(zip((each.name for each in GNR.schedulers), GNR.scheduler_sizes, strict=True))
    assert sizes["arithmetic"] - GNR.issue_width <= most <= sizes["arithmetic"]


def test_servers_multiply_512_bits_on_two_ports() -> None:
    """Eight vfmadd231ps zmm: 4.00 on ports 0 and 5."""
    code = "".join(f"62d20548b8{target:02x}" for target in range(0xC6, 0x100, 8))
    assert cycles(code, "GNR", loop=False) == pytest.approx(4.0, abs=0.05)
    assert cycles(code, "ICL", loop=False) == pytest.approx(8.0, abs=0.05)


def test_the_latency_of_a_multiplication_tells_the_cores_apart() -> None:
    """vmulps ymm0, ymm0, ymm1: four cycles on Golden Cove, three on Redwood Cove."""
    assert unrolled("c5fc59c1", "SPR") == 4.00
    assert unrolled("c5fc59c1", "GNR") == 3.00


@pytest.mark.parametrize("name", COVES)
@pytest.mark.parametrize("nops", [48, 49, 51])
def test_s2_the_decoders_stop_where_the_dsb_goes_on(name: str, nops: int) -> None:
    """The first 64 bytes are cached, those behind them have too many uops: each round takes both ways. Known
    of the figure is only that six uops are issued per cycle."""
    uops = 2 + 44 + nops + 1
    body = 2 * "48b80000000000000000" + 44 * NOP + nops * NOP + "49ffcf0f85"
    distance = -(len(body) // 2 + 4)
    figure = cycles(body + distance.to_bytes(4, "little", signed=True).hex(), name, loop=True, options=SAME)
    assert uops / 6 - 0.05 <= figure < uops / 3
