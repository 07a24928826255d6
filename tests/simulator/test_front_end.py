"""From bytes to the IDQ: predecoder, decoders, microcode sequencer, DSB, LSD, stack engine.

Rule labels as in docs/pipeline.md. An event's number is its cycle; the clock starts at 0.
"""

from __future__ import annotations

import pytest
from testkit.simulated import column, cycles, in_mode, rows_of, simulated

NOP, ADD, ADD_32, MOV = "90", "4801d8", "01d8", "4889d8"
"""One byte; three bytes, two of them opcode and ModRM; two bytes; a move that cannot fuse."""
DEC_JNZ = "49ffcf75"
LONG_NOP = "0f1f840000000000"
COMPLEX = "480f4fca"
"""cmovg, four bytes, which needs the complex decoder."""
MOVABS = "48b8f0debc9a78563412"
"""mov rax with a 64-bit immediate, ten bytes."""

# --- predecoder (3.3) ----------------------------------------------------------------------------------


def test_five_instructions_a_cycle() -> None:
    """Six instructions in one 16-byte block are predecoded as five and one."""
    assert column(ADD * 4 + ADD_32 * 2, "SKL", "predecoded") == [0, 0, 0, 0, 0, 1]


def test_an_instruction_counts_where_it_ends() -> None:
    """The one that reaches over the 16-byte boundary comes with the next block."""
    assert column(ADD * 3 + LONG_NOP + ADD * 2, "SKL", "predecoded") == [0, 0, 0, 1, 1, 1]


def test_opcode_in_the_full_block_costs_a_cycle() -> None:
    """If the block already gave five and the sixth has its opcode there, it takes one cycle more; if
    only its prefix is there it does not."""
    assert column(ADD * 5 + ADD, "SKL", "predecoded")[5] == 1
    assert column(ADD * 5 + ADD_32, "SKL", "predecoded")[5] == 2


@pytest.mark.parametrize("prefixed", [0, 1, 2, 3])
def test_length_changing_prefixes(prefixed: int) -> None:
    """Each LCP in a block delays it by three cycles."""
    code = "66053412" * prefixed + "0f1f4000" * (4 - prefixed)
    assert column(code, "SKL", "predecoded") == [3 * prefixed] * 4


def test_a_slow_block_hides_a_prefix() -> None:
    """Cycles that the block before took beyond the first are taken off the next block's penalty."""
    first, second = NOP * 16, "66053412" + "0f1f4000" * 3
    # Sixteen instructions take four cycles; the penalty shrinks from three to none.
    assert column(first + second, "SKL", "predecoded")[-4:] == [4] * 4


@pytest.mark.parametrize(("name", "size"), [("SNB", 20), ("HSW", 20), ("SKL", 25), ("ICL", 25)])
def test_the_queue_limits_the_predecoder(name: str, size: int) -> None:
    """It works only if five places are free: a decoder that takes one instruction a cycle fills the queue."""
    rows = [row for row in rows_of(COMPLEX, name, rounds=60) if row.idq_uop == 0]
    held = []
    for cycle in range(60):
        entered = sum(row.predecoded is not None and row.predecoded <= cycle for row in rows)
        left = sum(row.removed_from_iq is not None and row.removed_from_iq <= cycle for row in rows)
        held.append(entered - left)
    assert size - 5 < max(held) <= size


# --- decoders (3.4) ------------------------------------------------------------------------------------


def test_predecode_delay() -> None:
    """C2: decoded three cycles after predecoding, and issued a cycle later."""
    (row,) = rows_of(NOP, "SKL")
    assert (row.predecoded, row.removed_from_iq, row.added_to_idq, row.issued) == (0, 3, 3, 4)


def test_four_decoders() -> None:
    """C7: at most four instructions a cycle."""
    assert column("6690" * 5, "SKL", "added_to_idq") == [3, 3, 3, 3, 4]


def test_the_complex_decoder_is_the_first() -> None:
    """C3: an instruction that needs it begins a new cycle."""
    assert column(NOP + "fc", "SKL", "added_to_idq")[:2] == [3, 4]


@pytest.mark.parametrize(("name", "expected"), [("SNB", 4), ("HSW", 4), ("SKL", 3), ("ICL", 3)])
def test_fusible_instruction_on_the_last_decoder(name: str, expected: int) -> None:
    """C4: before Skylake the last decoder takes nothing that could fuse with a successor."""
    code = NOP * 3 + ADD + "0f1f4000" * 2
    assert column(code, name, "added_to_idq")[:4] == [3, 3, 3, expected]


def test_fusible_instruction_waits_for_its_successor() -> None:
    """C4: what could fuse waits until the next instruction has arrived, here late for its LCP."""
    block = LONG_NOP + "0f1f440000"
    late = "66053412"
    assert column(block + ADD + late, "SKL", "added_to_idq")[:3] == [3, 3, 7]
    assert column(block + MOV + late, "SKL", "added_to_idq")[:3] == [3, 3, 3]


def test_the_second_half_of_a_pair_is_free() -> None:
    """C1: a fused branch leaves the instruction queue with its first half and takes no decoder."""
    rows = rows_of("48ffc975fb" + "6690" * 3, "SKL", loop=False)
    fused = next(row for row in rows if row.kind == "fused")
    assert fused.added_to_idq is None
    assert rows[0].added_to_idq == 3


@pytest.mark.parametrize("branch", ["eb00", "48ffc97500"], ids=["jump", "pair"])
def test_a_branch_ends_the_cycle(branch: str) -> None:
    """C8: nothing is decoded beside and behind a branch or a fused pair."""
    rows = [row for row in rows_of(NOP + branch + NOP, "SKL") if row.kind != "fused"]
    assert [row.added_to_idq for row in rows] == [3, 3, 4]


@pytest.mark.parametrize(("name", "expected"), [("HSW", [3, 4]), ("SKL", [3, 3])])
def test_pop_r12_ends_the_cycle(name: str, expected: list[int]) -> None:
    """C7, V8: before Skylake no simple decoder works beside POP R12."""
    assert column("415c" + NOP, name, "added_to_idq") == expected


def test_available_simple_decoders() -> None:
    """C7: beside a three-uop shift by CL Haswell has no decoder left, Skylake has two."""
    code = "48d3e0" + NOP * 4
    assert column(code, "HSW", "added_to_idq")[3:] == [4, 4, 4, 4]
    assert column(code, "SKL", "added_to_idq")[3:] == [3, 3, 4, 4]


# --- microcode (3.5) -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SNB", "HSW", "SKL", "ICL"])
def test_decoders_to_microcode_and_back(name: str) -> None:
    """MS1, C6: one empty cycle before the microcode and one after it."""
    rows = rows_of("fc" + NOP, name)
    decoded = [row.added_to_idq for row in rows if row.source == "MITE"]
    microcode = [row.added_to_idq for row in rows if row.source == "MS"]
    assert decoded[0] == 3
    assert set(microcode) == {5}
    assert decoded[1] == 7


@pytest.mark.parametrize(("name", "empty"), [("HSW", 4), ("SKL", 2), ("ICL", 2)])
def test_dsb_to_microcode_and_back(name: str, empty: int) -> None:
    """MS1, X4: from the DSB the switch costs two or four empty cycles, and the way back none."""
    rows = rows_of("48f726fc" + DEC_JNZ + "f7", name, loop=True)
    first = next(row.added_to_idq for row in rows if row.instruction == 1 and row.source == "DSB")
    microcode = [row.added_to_idq for row in rows if row.source == "MS"]
    behind = next(row.added_to_idq for row in rows if row.instruction == 2)
    assert first is not None
    assert set(microcode) == {first + empty + 1}
    assert behind == first + empty + 2


def test_microcode_width() -> None:
    """MS3: four uops a cycle."""
    added = column("48f7f1", "SKL", "added_to_idq")
    per_cycle = [added.count(cycle) for cycle in sorted(set(added))]
    assert per_cycle == [4, *[4] * 8]


# --- DSB (3.6) -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("uops", "source"), [(18, "DSB"), (19, "MITE")], ids=["three full lines", "one too many"]
)
def test_lines_of_a_block(uops: int, source: str) -> None:
    """K2, Q1: 32 bytes fill at most three lines of six uops."""
    code = NOP * (uops - 1) + DEC_JNZ + "e9"
    assert simulated(code, "SKL").first_sources[0] == source


@pytest.mark.parametrize(
    ("instruction", "slots"),
    [
        (MOVABS, 2),
        ("48b80100000000000000", 1),
        ("c70678563412", 2),
        ("c70601000000", 1),
        ("480578563412", 1),
        ("6878563412", 2),
        ("6801000000", 1),
    ],
    ids=[
        "64 bits",
        "64 bits, small value",
        "32 bits to memory",
        "32 bits to memory, small value",
        "32 bits to a register",
        "32 bits to the stack",
        "32 bits to the stack, small value",
    ],
)
def test_large_immediates_take_two_slots(instruction: str, slots: int) -> None:
    """K1: a value beyond 32 bits, or beyond 16 bits beside an address, takes a slot more; 18 are there."""
    code = NOP * 16 + instruction + DEC_JNZ + "00"
    source = simulated(code, "SKL").first_sources[0]
    assert source == ("DSB" if 16 + slots + 1 <= 18 else "MITE")


@pytest.mark.parametrize("head", ["48b8", "c707"], ids=["of 32 bits", "of 16 bits beside an address"])
@pytest.mark.parametrize(
    ("beyond", "slots"), [(-1, 1), (0, 2)], ids=["the last value", "the first one beyond"]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_the_last_value_without_a_slot_more(head: str, beyond: int, slots: int, sign: int) -> None:
    """K1, on both sides of each limit. mov rax, imm64; mov dword ptr [rdi], imm32."""
    size, bits = (8, 31) if head == "48b8" else (4, 15)
    value = (1 << bits) + beyond
    code = head + (value if sign > 0 else ~value).to_bytes(size, "little", signed=True).hex()
    source = simulated(NOP * 16 + code + DEC_JNZ + "00", "SKL").first_sources[0]
    assert source == ("DSB" if 16 + slots + 1 <= 18 else "MITE")


def test_every_uop_of_the_idq_has_one_source() -> None:
    """Of the uops that an iteration delivers: four no-operations, an addition, and a pair of dec and jnz."""
    usage = simulated(NOP * 4 + "4801d8" + DEC_JNZ + "f6", "SKL").usage
    assert [sum(each.sources.values()) for each in usage] == [1.0] * 6 + [0.0]


def test_an_extra_slot_ends_the_delivery() -> None:
    """X3: behind a 64-bit immediate nothing more comes in the cycle, although the DSB is six wide."""
    code = MOVABS * 2 + DEC_JNZ + "e7"
    assert column(code, "SKL", "added_to_idq")[:3] == [0, 1, 2]


def delivered(code: str, *, alignment: int = 0, rounds: int = 1) -> list[list[int]]:
    """For every round on Skylake the cycles in which its IDQ uops leave the DSB."""
    rows = rows_of(code, "SKL", rounds=rounds, alignment=alignment)
    assert {row.source for row in rows if row.kind == "uop"} == {"DSB"}
    return [
        [row.added_to_idq for row in rows if row.round == number and row.added_to_idq is not None]
        for number in range(rounds)
    ]


def test_an_extra_slot_needs_two_places() -> None:
    """X2: behind five uops there is no room for a 64-bit immediate in the cycle."""
    assert delivered(NOP * 5 + MOVABS + DEC_JNZ + "ea") == [[*[0] * 5, 1, 2]]


def test_a_small_loop_delivers_one_round_a_cycle() -> None:
    """X5: a loop within one 32-byte block does not begin its next round in the cycle that ends one."""
    assert delivered(ADD + DEC_JNZ + "f8", rounds=3) == [[0, 0], [1, 1], [2, 2]]


def test_a_round_may_follow_an_extra_slot() -> None:
    """X5: unless the cycle before was cut short by a large immediate."""
    assert delivered(MOVABS + DEC_JNZ + "f1", rounds=3) == [[0, 1], [1, 2], [2, 3]]


@pytest.mark.parametrize(
    ("first", "alignment", "total"),
    [(LONG_NOP, 24, 5), (LONG_NOP * 2, 16, 6), (LONG_NOP * 3, 8, 5), (LONG_NOP * 4, 0, 6), (NOP * 5, 27, 6)],
    ids=["one", "two", "three", "four", "five"],
)
def test_crossing_into_another_block(first: str, alignment: int, total: int) -> None:
    """X5: how many uops a cycle delivers from two blocks depends on how many come from the first."""
    (cycles_of_round,) = delivered(first + NOP * 12 + DEC_JNZ + "d0", alignment=alignment)
    assert cycles_of_round.count(0) == total


@pytest.mark.parametrize(("behind", "following"), [(1, 4), (2, 2)], ids=["one left", "two left"])
def test_wrapping_around_with_a_line_begun_before(behind: int, following: int) -> None:
    """X5: a cycle that ends a round with one uop has room for four of the next, with two for two."""
    code = NOP * 5 + NOP * behind + DEC_JNZ + "f0"
    first, second = delivered(code, alignment=27, rounds=2)
    assert first == [*[0] * 6, *[1] * behind]
    assert second.count(1) == following


def test_wrapping_around_from_the_end_of_a_line() -> None:
    """X5: or for four as well, if the two stand at the end of a full line."""
    first, second = delivered(NOP * 13 + DEC_JNZ + "ee", alignment=24, rounds=2)
    assert first == [*[0] * 6, *[1] * 6, *[2] * 2]
    assert second.count(2) == 4


def test_erratum_counts_for_the_last_instruction_of_a_block() -> None:
    """Q2, Q5: a marked jump keeps its block out of the DSB, and what follows with it."""
    inside = "0f1f4000" * 4 + DEC_JNZ + "eb"
    assert simulated(inside, "SKL", alignment=0).first_sources[0] == "DSB"
    assert simulated(inside, "SKL", alignment=12).first_sources[0] == "MITE"
    assert simulated(inside, "HSW", alignment=12).first_sources[0] == "LSD"


def test_both_halves_of_a_line() -> None:
    """Q4, Q5: on Haswell the first half of a line may be cached alone, on Skylake it may not."""
    code = LONG_NOP * 4 + NOP * 24 + DEC_JNZ + "c3"
    sources = {name: simulated(code, name).first_sources for name in ("HSW", "SKL")}
    assert set(sources["HSW"][:4]) == {"DSB"}
    assert set(sources["HSW"][4:-1]) == {"MITE"}
    assert set(sources["SKL"][:-1]) == {"MITE"}


@pytest.mark.parametrize(("name", "width"), [("SNB", 4), ("HSW", 4), ("SKL", 6), ("ICL", 6)])
def test_dsb_width(name: str, width: int) -> None:
    """Table 1.2: uops per cycle from the DSB (a PUSH keeps the LSD out)."""
    added = column("50" + NOP * 12 + DEC_JNZ + "ef", name, "added_to_idq")
    idq_uops = added[1:]
    assert idq_uops.count(0) == width


def test_first_round_is_fetched_before_the_clock_starts() -> None:
    """4.4: the DSB delivers in cycle 0, the LSD issues in cycle 0."""
    loop = ADD + DEC_JNZ + "f8"
    dsb, lsd = rows_of(loop, "SKL")[0], rows_of(loop, "HSW")[0]
    assert (dsb.source, dsb.added_to_idq, dsb.issued) == ("DSB", 0, 1)
    assert (lsd.source, lsd.added_to_idq, lsd.issued) == ("LSD", None, 0)


@pytest.mark.parametrize("name", ["SNB", "HSW", "SKL", "ICL"])
@pytest.mark.parametrize("prefixed", ["111", "110", "101", "011", "100"])
def test_a_crowd_of_prefixes_that_change_lengths_keeps_a_block_out_of_the_dsb(
    name: str, prefixed: str
) -> None:
    """Q3: one fusible instruction before the middle of 32 bytes, and two behind it, are decoded in twelve
    cycles."""
    crowd = "".join("6681f93412" if each == "1" else "0f1f440000" for each in prefixed)  # cmp cx, 0x1234
    found = in_mode(name, "0f1f440000" * 2 + "90" + crowd + "0f1f440000" + "90", "loop")
    assert found == pytest.approx(12, abs=0.1) if prefixed == "111" else found <= 3


# --- LSD (3.7) -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "limit"), [("SNB", 28), ("IVB", 56), ("HSW", 56)])
def test_loops_that_fit_the_queue(name: str, limit: int) -> None:
    """N1: a loop of as many uops as the IDQ holds comes from the LSD, a longer one from the DSB."""

    def source(uops: int) -> str:
        return simulated("6690" * (uops - 1) + DEC_JNZ + "00", name).first_sources[0]

    assert source(1) == source(limit) == "LSD"
    assert source(limit + 1) == "DSB"


@pytest.mark.parametrize(
    "instruction", ["50", "fc", "88dc"], ids=["stack operation", "microcode", "high byte"]
)
def test_what_keeps_a_loop_out_of_the_lsd(instruction: str) -> None:
    """N1: stack operations, microcode and results in AH to DH."""
    plain, odd = ADD + DEC_JNZ + "f8", instruction + DEC_JNZ + "f8"
    assert simulated(plain, "HSW").first_sources[0] == "LSD"
    assert simulated(odd, "HSW").first_sources[0] == "DSB"


@pytest.mark.parametrize("name", ["SKL", "SKX", "KBL", "CFL"])
def test_lsd_switched_off(name: str) -> None:
    """Table 1.3: on Skylake the LSD is off."""
    result = simulated(ADD + DEC_JNZ + "f8", name)
    assert (result.first_sources[0], result.lsd_unroll) == ("DSB", 0)


@pytest.mark.parametrize(
    ("name", "uops", "unroll"), [("SNB", 2, 1), ("HSW", 2, 8), ("HSW", 9, 3), ("CLX", 6, 2), ("ICL", 13, 2)]
)
def test_unrolling(name: str, uops: int, unroll: int) -> None:
    """N2: the loop's size decides how many rounds enter the IDQ at once."""
    assert simulated(NOP * (uops - 1) + DEC_JNZ + "00", name).lsd_unroll == unroll


def test_batches_do_not_share_issue_cycles() -> None:
    """N3: seven uops without unrolling take two cycles, the second of them not full."""
    issued = column(NOP * 6 + DEC_JNZ + "f5", "SNB", "issued", rounds=3)
    assert [cycle for cycle in issued if cycle is not None] == [
        *[0] * 4,
        *[1] * 3,
        *[2] * 4,
        *[3] * 3,
        *[4] * 4,
        *[5] * 3,
    ]


@pytest.mark.parametrize("uops", range(2, 17))
def test_rounds_without_unrolling_take_whole_cycles(uops: int) -> None:
    """N3: Sandy Bridge issues a loop of n uops in n/4 cycles, rounded up."""
    assert cycles(NOP * (uops - 1) + DEC_JNZ + "00", "SNB") == -(-uops // 4)


# --- stack engine (3.8) --------------------------------------------------------------------------------


def syncs(code: str, **options: int) -> list[tuple[int, int]]:
    """(round, instruction) of every stack-engine uop."""
    rows = rows_of(code, "SKL", loop=False, **options)
    return [(row.round, row.instruction) for row in rows if row.kind == "sync"]


def test_explicit_use_of_rsp() -> None:
    """E1: a load from the stack behind a PUSH needs a sync uop, the POP behind it none."""
    assert syncs("50" + "488b5c2408" + "59") == [(0, 1)]


def test_nothing_pending_nothing_to_synchronise() -> None:
    """E1, E2: pushes and pops that balance leave no offset."""
    assert syncs("50" + "59" + "488b5c2408") == []


def test_implicit_use_of_rsp() -> None:
    """E1: a push uses RSP only through the stack engine."""
    assert syncs("50" * 8) == []


def test_sync_clears_the_offset() -> None:
    """E1: one sync is enough for several uses."""
    assert syncs("50" + "488b5c2408" * 3) == [(0, 1)]


def test_write_of_rsp_clears_the_offset() -> None:
    """E4: MOV RSP, RBP replaces the value, whatever was pending."""
    assert syncs("50" + "4889ec" + "488b5c2408") == []


def test_large_offset() -> None:
    """E3: popping eight bytes at a time, every 25th POP is preceded by a sync uop."""
    assert syncs("58", rounds=80) == [(24, 0), (49, 0), (74, 0)]


def test_pushes_never_reach_the_limit() -> None:
    """E3: only positive offsets count."""
    assert syncs("50", rounds=80) == []


def test_sync_uop() -> None:
    """E5: the sync uop takes an issue slot and a plain arithmetic port, and counts for no source."""
    result = simulated("50" + "488b5c2408", "SKL")
    sync = result.sync_usage[1]
    assert sync is not None
    assert (sync.issued, sync.executed, sync.sources) == (1.0, 1.0, {})
    assert set(sync.ports) <= set("0156")
    assert result.sync_usage[0] is None
