"""Zen 5: small blocks with the cycles of a real core (docs/zen5.md)."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import MeasuredIn, Pointers
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.simulator import simulate
from msgspec.structs import replace
from testkit.blocks import block_of
from testkit.simulated import cycles, simulated

SAME = ModelOptions(assume=Pointers.SAME)
ONE_PAGE = ModelOptions(assume=Pointers.SAME, harness=MeasuredIn.ONE_PAGE)
FOUR_ADDS = "4801c34801c74901c04901c1"
"""Of RAX to RBX, RDI, R8 and R9."""
STORE_LOAD = "488906488b87"
"""mov [rsi], rax; mov rax, [rdi + a displacement of 32 bits]"""


def straight(code: str, options: ModelOptions = SAME) -> float:
    return cycles(code, "ZEN5", loop=False, options=options)


def loop(code: str, options: ModelOptions = SAME) -> float:
    return cycles(code, "ZEN5", loop=True, options=options)


@pytest.mark.parametrize(
    ("rule", "code", "measured"),
    [
        ("M1: four instructions a cycle, eight NOPs", 8 * "90", 2.0),
        ("M1: 16 bytes a cycle, eight NOPs of eight bytes", 8 * "0f1f840000000000", 3.95),
        ("M1: an instruction of 11 bytes is alone", 4 * "48c7863412000000000000", 3.99),
        ("M14: a dependent comparison wastes slots", 4 * "488d42184839c1", 2.52),
        ("M19: a load of more than a store in flight wrote", "c600014c8b20", 14.0),
    ],
)
def test_straight_line_code(rule: str, code: str, measured: float) -> None:
    assert straight(code) == pytest.approx(measured, rel=0.05), rule


@pytest.mark.parametrize(
    ("rule", "code", "measured"),
    [
        ("M18: renamed memory takes no time", "4889064883c001488b06ffc975f3", 1.0),
        ("M20: additions of vectors into each other", "c5f458c9ffc975f8", 2.0),
        ("M20: an addition into a multiplication", "c5f458c9c5f459c9ffc975f4", 6.0),
        ("M10: three components, from the base", "488d441808ffc975f7", 2.0),
        ("M10: three components, from the index", "488d440308ffc975f7", 1.0),
        ("M3: eight macro-ops in a cycle", 7 * "0f1f4000" + "ffc975e0", 1.0),
        ("M3: thirteen entries in a small loop", 12 * "0f1f4000" + "ffc975cc", 3.0),
        ("M2: at least a cycle", "ffc975fc", 1.0),
        ("M26: not if the base has moved", "4889064881c600080000488b1effc975f1", 1.0),
        ("M26: not with 1,152 bytes between", "488906488b9e80040000ffc975f2", 1.0),
        (
            "M14: eight chains waste less",
            12 * "4983c0014983c1014883c2014883c3014883c6014883c7014883c0014983c201" + "ffc90f8578feffff",
            18.5,
        ),
        ("M9: two bit operations", "480fbae805480fbaeb05ffc975f2", 2.0),
        ("M9: two double shifts", "480fa4f005480fa4f305ffc975f2", 2.0),
        ("M7: copies of the stack pointer wait for it", 8 * "4889e4" + "ffc975e4", 8.0),
        ("M7: the stack pointer through a frame", 8 * "554889e5c9" + "ffc975d4", 16.0),
        ("M13: a borrow does not wait for the register", "4839fe4819c0480fafc0ffc975f2", 1.0),
        ("M7: a chain through AH", 8 * "0fb6c4" + "ffc975e4", 8.0),
        ("M7: masks that are zero wait for nothing", 11 * "c5f447c9" + "ffc975d0", 1.85),
        ("M2: two taken branches in a cycle", 32 * "eb3e" + "ffc975fc", 16.99),
        ("M2: five macro-ops and a jump", 32 * (4 * "90" + "eb3a") + "ffc975fc", 20.45),
        ("M2: thirteen entries until a jump", 16 * (12 * "90" + "eb32") + "ffc975fc", 48.5),
    ],
)
def test_loops(rule: str, code: str, measured: float) -> None:
    assert loop(code) == pytest.approx(measured, rel=0.03), rule


@pytest.mark.parametrize(
    ("rule", "code", "measured"),
    [
        (
            "M16: three accesses in a cycle with a vector load",
            "c5f96f8d10ffffffc5fa7e8520ffffff488b8528ffffffc5f97f4db049837f2800c5f9d645c0ffc975d8",
            2.0,
        ),
        (
            "M11: a transfer to a vector takes two slots of the ALUs",
            "8b7c24f841b84008f4ffc4c1796ef083ef02c4e27d58f6d1ef83c70148c1e7054801c7ffc975d9",
            2.17,
        ),
        ("M8: RSP was written and nothing pushed", "c5f8774881c4000800005b415a415c415d498d62f8ffc975e7", 6.0),
        ("M8: something was popped", "4883c4105bffc975f7", 2.0),
        ("a prefetch waits for no store", "c5f97f060f180e4889feffc975f1", 1.0),
        ("M16: a store into two pages", "488dbe001000004881e700f0ffff488947fcffc975ec", 23.0),
        ("M7: a zero idiom keeps an upper half", "c5fc56c7660fefc0ffc975f4", 4.0),
        ("M7: so do a move and an addition", "c5fc56c70f28c10f58c20f28c8ffc975ef", 7.0),
        ("M7: MOVSS keeps the rest of its target", "f30f10c1ffc975f8", 2.0),
        ("M7: so does what loads a half", "0f1606ffc975f9", 2.0),
        ("M7: and the root of a scalar", "f30f51c1ffc975f8", 14.0),
        ("a CMOV of two macro-ops waits with the second", "480f46c3ffc975f8", 1.0),
        ("microcode is slower than its operations: MOVSQ", "48a5ffc975fa", 3.0),
        ("so are bits of memory by register", "480fa31effc975f8", 3.0),
        ("M16: one store of 512 bits per cycle", 4 * "62f17c481106" + "ffc975e4", 4.0),
        ("M19: 256 bits from store to load", "c5fc1106c5fc1006ffc975f4", 9.0),
        ("M19: 512 bits", "62f17c48110662f17c481006ffc975f0", 11.0),
        ("M7: nothing is above", "0f28c10f58c20f28c8ffc975f3", 2.0),
    ],
)
def test_loops_of_real_code(rule: str, code: str, measured: float) -> None:
    assert loop(code) == pytest.approx(measured, rel=0.07), rule


FULL = 12 * "b844332211" + "0f1f4000"
"""A window of three lines: 13 entries and 12 fields."""
TWELVE = 4 * "660f1f440000" + 8 * "0f1f440000"


@pytest.mark.parametrize(
    ("window", "windows", "measured"),
    [(FULL, 352, 2.05), (FULL, 448, 4.0), (TWELVE, 448, 1.5), (TWELVE, 512, 4.0)],
)
def test_a_loop_that_the_op_cache_does_not_hold_is_decoded(
    window: str, windows: int, measured: float
) -> None:
    """M2: 64 sets of 16 lines."""
    size = windows * 64 + 8
    code = windows * window + "ffc90f85" + (-size & 0xFFFFFFFF).to_bytes(4, "little").hex()
    assert loop(code) / windows == pytest.approx(measured, rel=0.05)


@pytest.mark.parametrize(("comparisons", "measured"), [(1, 0.411), (2, 0.603), (3, 0.789)])
def test_a_multiplication_wastes_half_a_slot(comparisons: int, measured: float) -> None:
    """M14: imul r, rsi, 5 into four registers in turn, each with comparisons of others."""
    products = ("486bc605", "486bd605", "486bde05", "486bee05")
    body = 6 * "".join(product + comparisons * "4839fe" for product in products)
    size = len(bytes.fromhex(body)) + 8
    code = body + "ffc90f85" + (-size).to_bytes(4, "little", signed=True).hex()
    assert loop(code) / 24 == pytest.approx(measured, rel=0.06)


@pytest.mark.parametrize(
    ("distance", "measured"),
    [
        (1024, 15.97),
        (-2048, 15.21),
        (3072, 15.41),
        (4096, 14.56),
        (8192, 14.68),
        (16384, 14.63),
        (1 << 20, 12.37),
    ],
)
def test_a_load_is_taken_for_one_of_what_a_store_stores(distance: int, measured: float) -> None:
    """M26: mov [rsi], rax; mov rbx, [rsi + distance]"""
    pair = "488906488b9e" + distance.to_bytes(4, "little", signed=True).hex()
    assert loop(8 * pair + "ffc975ae") / 8 == pytest.approx(measured, rel=0.15)


@pytest.mark.parametrize(
    ("rule", "code", "own_pages", "one_page"),
    [
        ("a line read through two pages in turn", "488b06488b9e00100000", 0.62, 1.0),
        ("five pops walk through memory", "5b5d415c415d415e", 1.25, 2.0),
        ("a store is forwarded to another page", STORE_LOAD + "00100000", 0.62, 7.0),
        ("another line is another line", STORE_LOAD + "40100000", 0.62, 0.62),
    ],
)
def test_the_rules_of_the_harness_are_a_switch(
    rule: str, code: str, own_pages: float, one_page: float
) -> None:
    """M22: with one physical page behind all others, in straight-line code."""
    assert straight(code) == pytest.approx(own_pages, rel=0.02), rule
    assert straight(code, ONE_PAGE) == pytest.approx(one_page, rel=0.02), rule


@pytest.mark.parametrize("register", [0, 1, 3, 5, 6, 8, 9, 10, 11, 13, 14, 15])
def test_addresses_through_a_fused_move_are_followed_from_every_register(register: int) -> None:
    """M6, M19: mov rdi, R; add rdi, 8; mov [rdi], rdx; mov rdx, [R + 8]: the load reads what was stored."""
    high, low = register >> 3, register & 7
    moved = bytes([0x48 | 4 * high, 0x89, 0xC7 | low << 3])
    loaded = bytes([0x48 | high, 0x8B, 0x50 | low, 8])
    assert straight(moved.hex() + "4883c708" + "488917" + loaded.hex()) == 7


@pytest.mark.parametrize("register", [0, 1, 3, 7, 8, 9, 10, 11, 14, 15])
def test_addresses_through_a_fused_move_are_followed_into_every_register(register: int) -> None:
    """The same from RSI: mov R, rsi; add R, 8; mov [R], rdx; mov rdx, [rsi + 8]"""
    high, low = register >> 3, register & 7
    moved = bytes([0x48 | high, 0x89, 0xF0 | low]) + bytes([0x48 | high, 0x83, 0xC0 | low, 8])
    stored = bytes([0x48 | high, 0x89, 0x10 | low])
    assert straight(moved.hex() + stored.hex() + "488b5608") == 7


def test_a_line_is_remembered_for_four_pages() -> None:
    """M22: a `pop` walks into a line for the first time if it was read through four other pages since. Each
    page costs the two slots of a load more (of four), the fifth also those of the walk."""

    def figure(others: int) -> float:
        loads = "".join("488b9e" + (4096 * page).to_bytes(4, "little").hex() for page in range(1, others + 1))
        return straight("4889f458" + loads, ONE_PAGE)  # mov rsp, rsi; pop rax; mov rbx, [rsi + 4096 n]

    steps = [figure(others + 1) - figure(others) for others in range(1, 6)]
    assert [step > 1 for step in steps] == [False, False, True, False, False]


@pytest.mark.parametrize(
    ("rule", "code", "expected"),
    [
        (
            "512-bit additions take a pipe for two cycles",
            "62f14d48fec762f14d48fecf",
            {"ZEN4": 1, "ZEN5": 0.75},
        ),
        ("a load that cannot be forwarded to", "c600014c8b20", {"ZEN3": 25, "ZEN4": 18, "ZEN5": 14}),
        ("renamed memory takes no time", "48890424488b04244883c001", {"ZEN3": 1, "ZEN4": 1}),
        ("shifts on two ALUs", 2 * "48c1e00348c1e30348c1e10348c1e203", {"ZEN3": 4, "ZEN4": 4}),
        ("a move and an operation on it are two", 2 * "4889c14801d94889c24801da", {"ZEN4": 2}),
    ],
)
def test_zen_3_and_4_have_their_own_widths(rule: str, code: str, expected: dict[str, float]) -> None:
    """As published (docs/zen5.md names the sources)."""
    for name, figure in expected.items():
        assert cycles(code, name, loop=False, options=SAME) == pytest.approx(figure, rel=0.05), (rule, name)


@pytest.mark.parametrize(
    ("rule", "code", "measured"),
    [
        ("M23: a NOP shares a macro-op", 12 * "904889d8", 2.03),
        ("M23: long ones too", 6 * "660f1f8400000000004839d8", 1.52),
        ("M24: stores to one half of a line leave together", 4 * "48890648895e18", 3.98),
        ("M24: stores to two halves do not", 4 * "4889461048895e20", 7.95),
        ("M24: nor does one into both halves", 4 * "4889461c", 7.96),
        ("M24: a store into two pages", "488dbe001000004881e700f0ffff488947fc90", 34.0),
        ("M7: zero idioms without VEX take a pipe", 8 * "660fefc0" + "4889d8", 2.01),
        ("M7: others take none", 8 * "c5f9efc0" + "4889d8", 1.5),
        ("M8: the stack pointer is adjusted by two macro-ops", "4883c408" + 5 * "4889d8", 1.19),
        ("M8: two cycles where the code pops", "585b595a4883ec20", 2.0),
        ("two multiplications of 64 bits a cycle apart", "c4e2fbf6d9c462b3f6c1", 1.99),
        ("M2: a taken branch in a cycle", "eb3e", 1.0),
        ("M5: a comparison with memory and its branch are two", "483b1e7500" + 4 * "4d89c8", 1.007),
        ("M5: without memory they are one", "4839cb7500" + 4 * "4d89c8", 0.84),
        ("M7: MOVSS keeps the rest of its target", "f30f10ca", 1.0),
        ("M7: conversions keep the rest of their first source", "c4e1f32ac8", 3.0),
        ("M7: with and without VEX", "c5f35aca", 3.0),
        ("M25: to a mask register and back", "c5f892c8c5f893c1", 9.0),
        ("a string instruction", "48ad", 3.0),
        ("M19: 128 bits from store to load", "c5f81106c5f81006", 9.01),
        ("M19: 256 bits", "c5fc1106c5fc1006", 10.05),
        ("M19: 512 bits", "62f17c48110662f17c481006", 12.10),
        ("M25: to a vector register and back", "c5f96ec8c5f97ec8", 6.0),
        ("M25: a load and on to an integer register", "c5fa6f0ec4e1f97ece", 9.0),
        ("M25: inserted and extracted", "c4e3f916c801c4e1f96ec8", 7.0),
        ("M27: a transfer and two cmov on two ALUs", "c4e1f96ed0490f44de490f44fe", 1.50),
        ("M27: and four additions on FP2 and FP3", "c4e1f96ed0c5f958d9c5f958e1c5f958e9c5f958f1", 2.59),
        ("M27: there and back", "c4e1f96ec0c4e1f97ec0", 6.0),
        ("the upper half of a product and two cmov", "c4e2fbf6ce490f44de490f44fe", 2.02),
        ("four additions and one in memory", FOUR_ADDS + "480106", 1.27),
        pytest.param(
            *("and a conditional move from there", FOUR_ADDS + "4c0f4426", 1.49),
            marks=pytest.mark.xfail(strict=True, reason="the model has 1.25 (docs/zen5.md, Zen 4, M30)"),
        ),
        ("and a prefetch, which takes no ALU", FOUR_ADDS + "0f180e", 1.01),
        ("and a load with its sign", FOUR_ADDS + "4c0fbe26", 1.26),
        ("and a load into a part of a register", FOUR_ADDS + "448a26", 1.26),
        ("and a store of swapped bytes", FOUR_ADDS + "480f38f106", 1.26),
        ("exchanged registers take no ALU each", "4887d8", 0.33),
        ("loads and comparisons with memory keep three address units busy", 6 * "48833e05", 1.96),
    ],
)
def test_measured_on_zen_4(rule: str, code: str, measured: float) -> None:
    """Copies in a loop, by time stamps."""
    assert cycles(64 * code, "ZEN4", loop=True, options=SAME) / 64 == pytest.approx(measured, rel=0.05), rule


def test_nothing_remains_of_another_core_whose_tables_are_used_again() -> None:
    """Loads of one word collide on Redwood Cove, and no load does here. A new core takes the tables of the
    oldest one when sixteen are kept."""
    code = 3 * "488b06" + 4 * "48ffc1"
    caches = Caches()
    redwood_cove = block_of(code, "GNR", loop=False)
    for number in range(18):
        core = replace(registry.get("GNR"), name=f"GNR {number}")
        run = simulate(redwood_cove, core, options=SAME, caches=caches)
        assert sum(run.colliding_loads) > 0
    zen = simulate(block_of(code, "ZEN5", loop=False), registry.get("ZEN5"), options=SAME, caches=caches)
    assert sum(zen.colliding_loads) == 0


@pytest.mark.parametrize("core", ["ZEN3", "ZEN4", "ZEN5"])
@pytest.mark.parametrize(("store", "jump", "meet"), [("48890b", "e5", True), ("48894b08", "e4", False)])
def test_addresses_are_followed_through_memory(core: str, store: str, jump: str, meet: bool) -> None:
    """``add rax, 64; mov [rsp], rax; mov rbx, [rsp]; imul rcx, rcx; mov [rbx], rcx; mov rcx, [rax]``: the
    last load takes over what the store before it has stored, unless that is eight bytes further."""
    code = f"4883c04048890424488b1c24480fafc9{store}488b0849ffcf75{jump}"
    figure = simulated(code, core).cycles_per_iteration
    assert figure == 3.0 if meet else figure < 3.0
