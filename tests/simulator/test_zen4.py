"""Zen 4: small blocks with the cycles of a real core, by time stamps (docs/zen5.md, M28 to M44)."""

from __future__ import annotations

import pytest
from testkit.simulated import in_mode

MOVES = 8 * "4889d94889da4989d84989d9"
"""32 moves that need no unit."""
FMA_CHAIN = "c5fc28c2c4e275a8c3c4e275a8c3c4e275a8c3"
"""A move and three FMAs into its target."""
EIGHT_FMAS = "c4c20da8c7c4c20da8cfc4c20da8d7c4c20da8dfc4c20da8e7c4c20da8efc4c20da8f7c4c20da8ff"
EIGHT_PERMUTATIONS = (
    "62d20d287ec762d20d287ecf62d20d287ed762d20d287edf62d20d287ee762d20d287eef62d20d287ef762d20d287eff"
)
TWELVE_LOADS = "8b068b46088b46108b46188b46208b46288b46308b46388b46408b46488b46508b4658"
WIDE_FIELDS = "488bb7800000004c8b87880000004c8b8f900000004989dc4989dc"
"""Three loads with displacements of 32 bits, and two moves."""
FOUR_CHANGES = "830701834708018347100183471801"
"""One is added to each of four words."""


@pytest.mark.parametrize(
    ("rule", "code", "mode", "measured"),
    [
        ("M23: no NOP shares with a vector operation", 6 * "c5f1fec290" + "90", "loop", 2.17),
        ("M7: a segment register is not renamed", "8cd88cc3", "loop", 2.00),
        ("M7: and leaves the ALUs to others", "8cd86bda036bf205", "loop", 2.00),
        ("M7: nor is one of 16 bits", "668cd8668cc3", "loop", 2.00),
        ("M7: a register exchanged with itself keeps its chain", "87c9486bc903", "loop", 3.00),
        ("M7: exchanged registers keep their chain", "4c87c64d6bc003", "loop", 1.50),
        ("M7: both of them", "4c87c6486bf6034d6bc003", "loop", 3.00),
        ("M7: a longer chain through one", "4d0facda09f2490f38f1f24c87de", "loop", 5.00),
        ("M7: a word from two registers keeps the rest", "66418d1432486bd203", "loop", 4.00),
        ("M10: and waits a cycle more for both", "4c035f1866418d0403", "loop", 2.00),
        ("M7: four words from the stack", "6658665b6659665a4883ec08", "loop", 8.00),
        ("M7: and one from the stack", "665a4883ec02486bd203", "loop", 4.00),
        ("SBB of memory reads its target", "1b17480fafd0f3480fb8c3", "loop", 4.00),
        ("and so does SBB of a constant", "4883da05480fafd0f3480fb8c3", "loop", 4.00),
        ("SBB of a register with itself does not", "4819d2480fafd0f3480fb8c3", "loop", 1.00),
        ("a word exchanged with itself takes two cycles", "6687d24801c2", "loop", 3.00),
        ("XCHG AX, AX is a NOP", "66904801c2", "loop", 1.00),
        ("M28: a byte beside another chunk", "884500884520", "copies", 2.00),
        ("M28: bytes of two chunks in turn", "884500884520884508884528", "loop", 4.00),
        ("M28: bytes in groups by chunk", "884500884508884520884528", "loop", 2.00),
        ("M40: any register renames in straight-line code", "48890e488b0e4883c101", "straight", 1.00),
        ("M40: an operation on the loaded word is not renamed", "48890e48030e", "straight", 8.08),
        ("M40: through the stack pointer neither", "48890c2448230c24", "loop", 7.89),
        (
            "M40: another register of the same value does not rename",
            "48890e4889f7488b0f4883c101",
            "straight",
            7.93,
        ),
        ("M40: a byte that is modified is not renamed", "800601", "loop", 6.02),
        (
            "M46: four constants of 32 bits",
            "c70712000000c7470412000000c7470812000000c7470c12000000",
            "loop",
            2.22,
        ),
        (
            "M41: three constants of 32 bits in a group",
            "".join(f"c746{place:02x}07000000" for place in range(0, 64, 4)) + MOVES,
            "loop",
            10.33,
        ),
        (
            "M41: constants of 64 bits and registers",
            "".join(f"48c746{place:02x}07000000" for place in range(0, 64, 8))
            + "".join(f"48894f{place:02x}" for place in range(0, 64, 8))
            + MOVES,
            "loop",
            9.66,
        ),
        (
            "M46: eight changes of memory",
            "830701834704018347080183470c0183471001834714018347180183471c01",
            "loop",
            4.44,
        ),
        (
            "M43: eight changes, each behind a load",
            "".join(f"4c8b46{place + 64:02x}480147{place:02x}" for place in range(0, 64, 8)),
            "loop",
            6.2,
        ),
        ("M7: both halves of a register are exchanged", "86c4", "loop", 2.0),
        ("M7: halves of two registers", "86d8", "loop", 1.0),
        ("M46: shifts in memory", "d127d16704d16708d1670cd16710d16714d16718d1671c", "loop", 4.0),
        ("M9: shifts of loaded words", "c4e2f1f706c4e2f1f75e08c462f1f74610", "loop", 1.5),
        ("M9: the multiplier's ALU, from memory", "c4e2e3f506c4e2e2f506", "loop", 2.0),
        ("M45: a locked addition alone in a loop", "f0480107", "loop", 6.03),
        ("M45: of a byte", "f0fe07", "loop", 6.03),
        ("M45: in copies", "f0480107", "copies", 7.38),
        ("M45: four in a loop", 4 * "f0480107", "loop", 28.8),
        ("M45: with a carry", "f0481107", "loop", 7.63),
        ("M45: 16 bits exchanged with memory", "668707", "loop", 7.95),
        ("M45: 16 bytes compared", "480fc70f", "loop", 14.77),
        ("M45: 16 bytes compared, locked", "f0480fc70f", "loop", 15.06),
        ("M45: 16 bytes compared, registers set anew", "480fc70fb801000000ba02000000", "loop", 15.15),
        ("M45: 8 bytes compared in halves", "0fc70f", "loop", 10.0),
        ("enter and leave", "c8000000c9", "loop", 20.0),
        ("M44: three FMAs and a store", FMA_CHAIN + "c5fc1107", "loop", 1.93),
        ("M44: three FMAs and a transfer", FMA_CHAIN + "c5f97ec0", "loop", 1.93),
        ("M44: three FMAs alone", FMA_CHAIN, "loop", 1.50),
        ("M44: eight FMAs and a store", EIGHT_FMAS + "c57c112f", "loop", 4.50),
        (
            "M44: eight permutations of two tables and two stores",
            EIGHT_PERMUTATIONS + "c57c112fc57c116f20",
            "loop",
            5.05,
        ),
        ("M44: three products and a store", "c5fc28c2c5f459c0c5f459c0c5f459c0c5fc1107", "loop", 1.51),
        ("M43: a word that is modified", "66ff06", "loop", 6.02),
        ("M43: twelve loads and four additions to memory", TWELVE_LOADS + FOUR_CHANGES, "loop", 5.33),
        (
            "M43: four loads and four additions to memory that move on",
            "488b1e488b5e08488b5e10488b5e18480107480147084801471048014718488d7f20",
            "loop",
            2.77,
        ),
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
            1.51,
        ),
        (
            "M31: an index makes two macro-ops",
            "4c3b2c0e4889e84889eb4889ea4889ef4989e84989e94989ea4989eb4989ec4989ee4889e84889eb4889ea4889ef4989e84989e94989ea4989eb4989ec4989ee4889e84889eb4889ea4889ef",
            "copies",
            4.36,
        ),
        (
            "M31: without an index it is one",
            "4c3b2e4889e84889eb4889ea4889ef4989e84989e94989ea4989eb4989ec4989ee4889e84889eb4889ea4889ef4989e84989e94989ea4989eb4989ec4989ee4889e84889eb4889ea4889ef",
            "copies",
            4.18,
        ),
        (
            "M31: a store with an index",
            "4c892c0e4889e84889eb4889ea4889ef4989e84989e94989ea4989eb4989ec4989ee4889e84889eb4889ea4889ef4989e84989e94989ea4989eb4989ec4989ee4889e84889eb4889ea4889ef",
            "copies",
            4.36,
        ),
        (
            "M39: a string instruction keeps dispatch",
            "48ab4889e84889eb4889ea4889ef4989e84989e94989ea4989eb4989ec4989ee4889e84889eb4889ea4889ef4989e84989e94989ea4989eb4989ec4989ee4889e84889eb4889ea4889ef",
            "copies",
            6.09,
        ),
        (
            "M39: a rotation through the carry",
            "49c1d5034889e84889eb4889ea4889ef4989e84989e94989ea4989eb4989ec4989ee4889e84889eb4889ea4889ef4989e84989e94989ea4989eb4989ec4989ee4889e84889eb4889ea4889ef",
            "copies",
            7.09,
        ),
        ("M33: no cycle between domains", "0f58c10fc6c001", "loop", 4.00),
        ("M33: nor between logical operations", "660fdbc10f54c1", "loop", 2.00),
        ("M25: to a vector register and back with VEX", "c5f96ec0c5f97ec0", "loop", 5.99),
        ("M25: without VEX a cycle more", "660f6ec0660f7ec0", "loop", 7.00),
        ("M25: a mask of bytes", "660f6ec0660fd7c0", "straight", 7.00),
        ("M25: converted and back", "f20f2ac0f20f2cc0", "straight", 12.00),
        ("M25: inserted and extracted", "c4e3f922c801c4e3f916c801", "straight", 7.99),
        ("M35: a failed forwarding of four bytes", "8906488b06", "straight", 19.00),
        ("M35: of two halves of a vector", "f20f11060f1006", "loop", 21.00),
        ("M34: beside shifts", "660f7ec048d1e348d1e1", "loop", 2.00),
        (
            "M32: sums and products in turn",
            "c4c10458c6c4c10459e6c4c10458cec4c10459eec4c10458d6c4c10459f6c4c10458dec4c10459fe",
            "loop",
            2.00,
        ),
        (
            "M32: products and minima in turn",
            "c4c105d5c6c4c1045de6c4c105d5cec4c1045deec4c105d5d6c4c1045df6c4c105d5dec4c1045dfe",
            "loop",
            2.00,
        ),
        (
            "M41: four loads in a group",
            "8b068b068b068b068b068b068b068b068b068b068b068b068b068b068b068b06" + MOVES,
            "loop",
            9.00,
        ),
        (
            "M41: four stores",
            "4c8956404c8956404c8956404c8956404c8956404c8956404c8956404c8956404c8956404c8956404c8956404c8956404c8956404c8956404c8956404c895640"
            + MOVES,
            "loop",
            9.00,
        ),
        (
            "M41: three loads of vectors",
            "c5fc100ec5fc100ec5fc100ec5fc100ec5fc100ec5fc100ec5fc100ec5fc100ec5fc100ec5fc100ec5fc100ec5fc100ec5fc100ec5fc100ec5fc100ec5fc100e"
            + MOVES,
            "loop",
            10.33,
        ),
        (
            "M41: three loads with an operation",
            "3b063b063b063b063b063b063b063b063b063b063b063b063b063b063b063b06" + MOVES,
            "loop",
            10.33,
        ),
        (
            "M41: five accesses of both kinds",
            "8b064c8956408b064c8956408b064c8956408b064c8956408b064c8956408b064c8956408b064c8956408b064c895640"
            + MOVES,
            "loop",
            8.49,
        ),
        (
            "M41: loads with an operation leave room for stores",
            "3b064c8956403b064c8956403b064c8956403b064c8956403b064c8956403b064c895640" + MOVES,
            "loop",
            7.49,
        ),
        (
            "M41: vectors and integers together four loads",
            "c5fc100e8b06c5fc100e8b06c5fc100e8b06c5fc100e8b06c5fc100e8b06c5fc100e8b06c5fc100e8b06c5fc100e8b06"
            + MOVES,
            "loop",
            9.00,
        ),
        (
            "M30: four operations beside loads, not counting the branch",
            "4f8d1c2c4f8d1c2c4f8d1c2c8b064f8d1c2c4f8d1c2c4f8d1c2c8b064f8d1c2c4f8d1c2c4f8d1c2c8b064f8d1c2c4f8d1c2c4f8d1c2c8b06"
            + MOVES,
            "loop",
            8.33,
        ),
        ("M7: what XADD passes on takes no cycle", "4c0fc1c64d0fafc0", "loop", 2.00),
        ("M7: its sum takes one", "4c0fc1c6480faff6", "loop", 4.00),
        ("M7: also for what is computed from it", "4c0fc1c6f24d0f38f1c1", "loop", 2.00),
        ("M7: and the other way", "490fc1f04c0fafc6", "loop", 4.00),
        ("M7: a product's upper word is merged at its end", "66f7eb", "loop", 3.00),
        ("M7: also without a sign", "6689f066f7e3", "loop", 4.00),
        ("M7: as CWD's is", "66996699", "loop", 2.00),
        ("M7: CWD waits for its source as long as before", "66996601d0", "loop", 3.00),
        ("M42: a move waits for the old register", "c5dd58e50f28e1", "loop", 4.00),
        ("M42: any register of a loop with 256 bits", "c5d558e60f101f0f58da", "loop", 4.00),
        ("M42: an operation waits as long as it takes", "c5fc10060f51ca0f51ca0f51ca0f51ca", "loop", 59.98),
        (
            "M42: moves take a pipe",
            "c5fc1006410f28c8410f28d0410f28d8410f28e0410f28e8410f28f0410f28f8410f28c8410f28d0410f28d8410f28e0410f28e8410f28f0410f28f8",
            "loop",
            3.50,
        ),
        (
            "M42: loads take a pipe",
            "c5fc10060f100e66410ffee866410ffef066410ffef866450ffec80f100e66410ffee866410ffef066410ffef866450ffec80f100e66410ffee866410ffef066410ffef866450ffec80f100e66410ffee866410ffef066410ffef866450ffec80f100e66410ffee866410ffef066410ffef866450ffec80f100e66410ffee866410ffef066410ffef866450ffec80f100e66410ffee866410ffef066410ffef866450ffec80f100e66410ffee866410ffef066410ffef866450ffec8",
            "loop",
            10.00,
        ),
        ("M42: not after vzeroupper", "c5d558e6c5f8770f28d90f58da", "loop", 1.00),
        ("M47: a store and a transfer", "c5f81107c5f97ec8", "loop", 1.00),
        ("M47: two of each", "c5fc1107c5fc114720c5f97ec8c5f97ecb", "loop", 2.00),
        ("M47: a store of 512 bits and a transfer", "62f17c481107c5f97ec8", "loop", 2.00),
        ("M47: a part of a vector is stored", "c4e379160701c5f97ec8", "loop", 1.00),
        ("M34: a comparison to the flags takes two ALUs", "c5f82ec1488d4003488d5903488d5108", "loop", 1.49),
        ("M34: and leaves shifts to their units", "c4e27917c148c1e00348c1eb03", "loop", 1.32),
        ("M34: of masks, too", "c5f898ca48c1e00348c1eb03", "loop", 1.34),
        (
            "M34: multiplications pass transfers",
            "660f7ec0660f7ec0660f7ec0660f7ec0446bca03446bca03446bca03",
            "loop",
            4.00,
        ),
        ("M37: the count of a shift is a wide field", "48c1e00348c1e103" + WIDE_FIELDS, "loop", 2.00),
        ("M37: what is extended by its sign is not", "4883f8034883f903" + WIDE_FIELDS, "loop", 1.33),
        ("M37: but of a byte", "040380c103" + WIDE_FIELDS, "loop", 2.00),
        ("M37: nor is that of a vector operation", "c5f970c803c5e972f003" + WIDE_FIELDS, "loop", 1.33),
        ("M37: one beside nine entries", "c4e3fbf0c303" + WIDE_FIELDS + "4989dc4989dc", "loop", 2.00),
        (
            "M37: a byte that is stored",
            "c60703c6470103488db3800000004c8d83880000004c8d8b900000004989dc4989dc",
            "loop",
            2.00,
        ),
        (
            "M37: a cycle for each of two windows",
            "3e3e3e3e3e3e3e3e4889d93e3e3e3e3e3e3e3e4889da3e3e3e3e3e3e3e3e4989d83e3e3e3e3e3e3e3e4989d93e3e3e3e3e3e3e4989da3e3e3e3e3e3e3e4989db",
            "loop",
            2.00,
        ),
        ("a comparison to the flags and back", "660f2eca0f94c0660f6ec8", "loop", 9.00),
        ("a test of all bits", "660f3817ca0f94c0660f6ec8", "loop", 10.00),
        ("halves extracted in a chain", "c4e37d39e401c4e37d39e401c4e37d39e401c4e37d39e401", "loop", 11.99),
        ("halves extracted", "c4e37d39e301c4e37d39e301c4e37d39e301c4e37d39e301", "copies", 2.00),
        ("M40: XADD with memory is not renamed", "480fc106", "loop", 7.89),
        ("M40: nor SHLD", "480fa41e03", "loop", 8.00),
        ("M40: a word that is pushed and popped from memory to memory is", "ff368f07", "loop", 2.00),
        ("M40: and popped and pushed", "8f06ff36", "loop", 2.00),
        ("a bit set in memory, through memory", "480fba2e03", "loop", 8.00),
        ("a bit complemented, by a register", "480fbb06", "loop", 8.00),
        ("a bit of a word", "660fba3e03", "loop", 8.00),
        ("bits of three lines set", "480fab06480fab4640480fab8680000000", "loop", 9.00),
        ("exchanged additions", "480fc1d8480fc1d14d0fc1c84d0fc1da", "copies", 1.34),
        ("double shifts by CL in a chain", "480fa5d8480fa5d8", "loop", 4.00),
        ("a test of 256 bits", "c4e27d17ca0f94c0c5f96ec8", "loop", 11.0),
        ("CMPXCHG with memory", "480fb116", "copies", 9.0),
        ("LFENCE", "0faee8", "loop", 17.98),
        ("LFENCE in a row", "0faee80faee80faee80faee8", "loop", 68.83),
        ("PAUSE", "f390", "loop", 90.01),
        ("locked additions with carry", "f0114608f01106", "loop", 15.56),
    ],
)
def test_small_blocks_take_the_measured_time(rule: str, code: str, mode: str, measured: float) -> None:
    """Within 5 % of the core's time."""
    assert in_mode("ZEN4", code, mode) == pytest.approx(measured, rel=0.05), rule


@pytest.mark.parametrize("store", ["48891f", "c5f9d607", "c4e3f9160700", "c4e37d390701", "c5fc1107"])
def test_three_accesses_are_dispatched_per_cycle_whatever_makes_the_data_of_a_store(store: str) -> None:
    """mov, vmovq, vpextrq, vextracti128 and vmovups to [rdi], each beside three loads."""
    loads = "488b06488b5e40488b8e80000000"
    assert in_mode("ZEN4", 4 * (store + loads), "loop") == pytest.approx(16 / 3, abs=0.02)
