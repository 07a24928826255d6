"""Zen 3: small blocks with the cycles of a real core, by time stamps (docs/zen5.md, M28 to M39)."""

from __future__ import annotations

import pytest
from testkit.simulated import in_mode, simulated

NOP = "0f1f00"
IDIOMS = "".join(f"66{'45' if n > 7 else ''}0fef{0xC0 + 9 * (n % 8):02x}" for n in range(12))
"""PXOR of twelve registers with themselves."""


@pytest.mark.parametrize(
    ("rule", "code", "mode", "measured"),
    [
        (
            "M36: only the stack pointer renames in straight-line code",
            "48890e488b0e4883c101",
            "straight",
            7.82,
        ),
        ("M36: an operation on the loaded word is not renamed", "48890c2448030c24", "loop", 8.18),
        ("M36: the stack pointer", "48898c2488010000488b8c24880100004883c101", "copies", 1.00),
        ("M28: four bytes and more, two chunks", "894500894520", "copies", 2.00),
        ("M28: a byte beside another chunk", "884500894520", "copies", 4.99),
        ("M28: bytes in one chunk", "88450088450c", "copies", 1.00),
        ("M29: a load of an address that was loaded", "488b06488b18", "copies", 0.79),
        ("M29: four of them", "488b06488b18488b0b488b11", "copies", 1.92),
        ("M30: two chained operations are not split", "488d446e084839cb", "copies", 1.00),
        (
            "M30: shifts after each other leave their ALUs unused",
            "48c1e00348c1e30348c1e1034883c6014883c7014983c001",
            "copies",
            2.00,
        ),
        (
            "M30: in turn with additions they do not",
            "48c1e0034883c60148c1e3034883c70148c1e1034983c001",
            "copies",
            1.50,
        ),
        ("M31: an index makes two macro-ops", "4c3b2c0e" + 24 * NOP, "copies", 4.40),
        ("M28: bytes of two chunks in turn", "884500884520884508884528", "copies", 7.00),
        (
            "M32: eight vpinsrd leave FP2 to their transfers",
            "c4e30122c001c4e30122c801c4e30122d001c4e30122d801c4e30122e001c4e30122e801c4e30122f001c4e30122f801",
            "copies",
            8.00,
        ),
        ("M13: a shift of memory by CL, forwarded", "89f148d32f", "straight", 6.79),
        ("M13: and renamed", "89f148d32f", "loop", 1.03),
        ("three constants of 64 bits per cycle", 5 * "48bf8877665544332211", "copies", 1.67),
        ("beside the branch of a loop, too", 3 * "48bf8877665544332211" + 2 * NOP, "loop", 1.33),
        ("a product shares the branches' ALUs with one", "48f7e5" + 24 * NOP, "loop", 4.50),
        ("others fill up the cycle", 3 * "48bf8877665544332211" + 4 * NOP, "copies", 1.17),
        ("M33: within the integer domain", "0fc6c001660ffec1", "loop", 2.00),
        ("M33: from a shuffle to a sum and back", "660f15c10f58c1", "loop", 6.00),
        ("M33: a logical operation of each domain", "660fefc10f54c1", "loop", 4.00),
        ("M34: the result of a transfer occupies an ALU", "660f7ec04883c3014883c1014883c201", "loop", 1.99),
        (
            "M34: comparisons to the flags occupy none",
            "c5fb1004c6c5f92f04c70f97c2f7da418814004883c0014139c2",
            "loop",
            2.15,
        ),
        ("M35: a failed forwarding of a byte", "8806488b06", "straight", 24.98),
        ("M35: of four bytes", "8906488b06", "straight", 17.96),
        ("M7: an idiom is not executed, but the branch behind it is", "4839c07500", "copies", 0.51),
        ("one instruction in a loop: vpclmulqdq xmm0, xmm1, xmm2, 0", "c4e37144c200", "loop", 1.98),
        ("one instruction in a loop: vphaddd ymm0, ymm1, ymm2", "c4e27502c2", "loop", 1.98),
        ("one instruction in a loop: vhaddps ymm0, ymm1, ymm2", "c5f77cc2", "loop", 1.98),
        ("one instruction in a loop: vmpsadbw ymm0, ymm1, ymm2, 0", "c4e37542c200", "loop", 1.98),
        ("one instruction in a loop: vdpps ymm0, ymm1, ymm2, 255", "c4e37540c2ff", "loop", 3.97),
        ("one instruction in a loop: shld rax, rbx, cl", "480fa5d8", "loop", 1.98),
        ("one instruction in a loop: vmaskmovps [rdi], ymm1, ymm0", "c4e2752e07", "loop", 11.90),
        ("M37: five fields of eight bits fit", "f7c778563412f7c778563412" + 4 * NOP, "loop", 1.17),
    ],
)
def test_small_cases(rule: str, code: str, mode: str, measured: float) -> None:
    assert in_mode("ZEN3", code, mode) == pytest.approx(measured, rel=0.05), rule


@pytest.mark.parametrize(
    ("code", "measured"),
    [
        ("480106", 4.364),  # add [rsi], rax
        ("481106", 4.366),  # adc [rsi], rax
        ("48010418", 4.401),  # add [rax+rbx], rax: an index does not make it three
    ],
)
def test_a_change_of_memory_is_two_macro_ops(code: str, measured: float) -> None:
    """M31, among 24 NOPs; one macro-op would take 4.18 cycles."""
    assert in_mode("ZEN3", code + 24 * NOP, "copies") == pytest.approx(measured, rel=0.02)


@pytest.mark.parametrize(
    ("text", "code", "measured"),
    [
        ("stosq", "48ab", 6.101),
        ("lodsq", "48ad", 6.101),
        ("movsq", "48a5", 6.102),
        ("cld", "fc", 6.098),
        ("pushfq", "9c", 7.096),
        ("rcl rax, 3", "48c1d003", 7.091),
        ("cmpxchg rbx, rcx", "480fb1cb", 6.101),
        ("pclmulqdq xmm0, xmm1, 0", "660f3a44c100", 5.109),
        ("mul rbp, no microcode", "48f7e5", 4.34),
        ("rdtsc, which waits for something else", "0f31", 36.4),
    ],
)
def test_microcode_among_nops(text: str, code: str, measured: float) -> None:
    """M39: 24 NOPs alone take 4.0 cycles, each of the others a cycle less than in a row."""
    assert in_mode("ZEN3", code + 24 * NOP, "copies") == pytest.approx(measured, rel=0.035), text


@pytest.mark.parametrize(
    ("text", "code", "mode", "measured"),
    [
        ("vmovss keeps the rest of its first source", "c4c17a10c6", "copies", 1.0),
        ("the quotient of a division", "31d2f7f1", "straight", 8.994),
        ("leave does not take RSP from memory", "4889e5c9" + 24 * NOP, "copies", 4.525),
        (
            "insertions leave FP2 to transfers",
            "c4e30122c001c4e30122c801c4e30122d001c4e30122d801",  # vpinsrd xmm0 to xmm3, xmm15, eax, 1
            "copies",
            4.0,
        ),
    ],
)
def test_single_instructions(text: str, code: str, mode: str, measured: float) -> None:
    assert in_mode("ZEN3", code, mode) == pytest.approx(measured, rel=0.05), text


@pytest.mark.parametrize(
    ("rule", "code", "measured"),
    [
        ("M23: NOPs share no macro-op", 12 * NOP, 2.006),
        ("M4: VZEROUPPER needs no unit and ends no group", "c5f877" + 24 * NOP, 4.185),
        ("M5: an operation on memory and its branch are two", "483b067000" + 11 * NOP, 2.212),
        ("M7: idioms of SSE code take a pipe", IDIOMS, 3.006),
        ("M8: an adjustment of RSP is two", "4883c408" + 24 * NOP, 4.402),
        ("M31: a displacement of 0 makes LEA two operations", "4a8d443500" + 24 * NOP, 4.398),
    ],
)
def test_macro_ops_of_an_instruction(rule: str, code: str, measured: float) -> None:
    """In copies; one macro-op among 24 NOPs takes 4.18 cycles, two 4.35."""
    assert in_mode("ZEN3", code, "copies") == pytest.approx(measured, rel=0.02), rule


@pytest.mark.parametrize(
    ("code", "merging"),
    [
        ("894500894520", [0, 0]),  # four bytes each
        ("884500894520", [17 / 18, 0]),  # a byte beside another chunk: all but the first of 18 rounds
        ("884500884520884508884528", [1, 0, 0, 0]),
    ],
)
def test_how_many_stores_of_a_round_wait_to_be_merged(code: str, merging: list[float]) -> None:
    """M28, as if those that have not left by the end behaved like the others."""
    assert list(simulated(code, "ZEN3").merging_stores) == pytest.approx(merging)
