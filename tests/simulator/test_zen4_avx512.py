"""Zen 4: AVX-512 and mask registers with the cycles of a real core (family 25 model 17), by time stamps
(docs/zen5.md, Zen 4)."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.isa.counted_loop import counted_loop
from cyclelens.analyzer.model.choices import Pointers
from cyclelens.analyzer.model.options import ModelOptions
from testkit.simulated import cycles, in_mode


@pytest.mark.parametrize(
    ("what", "code", "measured"),
    [
        ("bytes permuted by 512 bits in a chain", "62927d488dc7", 5.01),
        ("two tables of 512 bits in a chain through the second one", "62f205407ec0", 5.00),
        ("words shifted across 512 bits", "62937d4803c701", 4.99),
        ("halves shuffled in a chain", "6293fd2823c701", 3.00),
        (
            "halves shuffled",
            "62d30d2843c70162d30d2843cf0162d30d2843d70162d30d2843df0162d30d2843e70162d30d2843ef0162d30d"
            "2843f70162d30d2843ff01",
            4.00,
        ),
        ("a half of 256 bits in a chain", "62f37d2839c001", 3.00),
        ("the lower half", "c4e37d39c000", 1.00),
        ("the lower half, zeroing", "62f37da939c000", 1.00),
        ("the lowest quarter of 512 bits", "62f37d4839c000", 1.00),
        ("the lower halves of 512 bits", "62f3fd483bc10062f3fd483bc20062f3fd483bc30062f3fd483bc400", 2.00),
        ("lower halves", "c4e37d39c100c4e37d39c200c4e37d39c300c4e37d39c400", 1.00),
        ("a half of 512 bits in a chain", "62f3fd483bc001", 4.00),
        (
            "halves of 512 bits",
            "6263fd481bf0016263fd481bf1016263fd481bf2016263fd481bf3016263fd481bf4016263fd481bf5016263fd"
            "481bf6016263fd481bf701",
            8.01,
        ),
        ("three operands, through the last one", "6263052025f09662917d286fc6", 1.00),
        ("all ones by VPTERNLOGD wait for the register", "c4e27d40c162f37d2825c0ff", 4.00),
        ("conflicts of 512 bits", "62f27d48c4c0", 6.00),
        ("conflicts of four words", "62f2fd28c4c0", 6.00),
        ("compressed 512 bits", "62f27d488bc0", 5.02),
        ("expanded 512 bits", "62f2fdc988c0", 5.01),
        (
            "expanded without a mask",
            "62927d2889c662927d2889ce62927d2889d662927d2889de62927d2889e662927d2889ee62927d2889f662927d"
            "2889fe",
            8.00,
        ),
        (
            "M21: loads of 512 bits explain one sum per cycle",
            "62f10d40fe0662f10d40fe4e0162f10d40fe560262f10d40fe5e0362f10d40fe2662f10d40fe6e0162f10d40fe"
            "760262f10d40fe7e03",
            8.00,
        ),
        (
            "M21: merged loads of 512 bits",
            "62f17f496f0662f17f496f4e0162f17f496f560262f17f496f5e0362f17f496f2662f17f496f6e0162f17f496f"
            "760262f17f496f7e03",
            8.00,
        ),
        (
            "M21: stores explain one half per cycle",
            "6263fd483b36016263fd483b7602016263fd483b7604016263fd483b760601",
            4.00,
        ),
        ("M21: stored masks of 64 bits keep the unit of the data", "c4e1f8910ec4e1f8915608", 4.00),
        (
            "sums of 512 bits",
            "62910c4058c762910c4058cf62910c4058d762910c4058df62910c4058e762910c4058ef62910c4058f762910c"
            "4058ff",
            7.99,
        ),
        (
            "M27: a transfer of 64 bits takes a cycle, its copy to 512 bits two",
            "62f2fd487cc062d13d48fec962d13d48fed1",
            1.78,
        ),
        ("64 bits to a mask and back", "c4e1fb92c8c4e1fb93c1", 10.00),
        ("32 bits to a mask and back", "c5fb92c8c5fb93c1", 9.00),
        ("masks of 64 bits from integers", "c4e1fb92c0c4e1fb92c8c4e1fb92d0c4e1fb92d8", 7.20),
        ("a mask to the flags and back", "c5f898c90f92c0c5f892c8", 10.99),
        ("64 bits of a mask to the flags and back", "c4e1f898c90f92c0c4e1fb92c8", 12.01),
        ("masks tested", "c4e1f998c7c4e1f998cfc4e1f998d7c4e1f998df", 4.83),
        ("a stored word loaded into a mask", "8906c5f8900ec5f893c1", 13.99),
        ("a stored mask of 64 bits loaded again", "c4e1f8910ec4e1f8900e", 13.00),
        ("M7: KANDN of a mask with itself waits for nothing", "c4e1f54acac4e1f542c9", 1.00),
        (
            "M7: KXOR of a mask with itself takes no pipe",
            "c5fc47c0c5f447c9c5ec47d2c5e447dbc5dc47e4c5d447ed",
            1.17,
        ),
        ("M7: nor does KANDN", "c4e1fc42c0c4e1f442c9c4e1ec42d2c4e1e442dbc4e1dc42e4c4e1d442ed", 1.17),
        (
            "four elements gathered (vpgatherdd xmm/xmm) with a mask in a vector",
            "c44109eff6c5f176c9c4a2719004b6",
            5.00,
        ),
        (
            "four elements gathered (vpgatherdd xmm/xmm) with a mask register",
            "62510d08eff6c5f446c962b27d099004b6",
            4.99,
        ),
        (
            "four elements gathered (vpgatherdd xmm/xmm) with a mask register, into a cleared target",
            "62510d08eff6c5f446c962f17d08efc062b27d099004b6",
            5.00,
        ),
        ("four elements scattered (vpscatterdd xmm/xmm)", "62510d08eff6c5f446c962b27d09a004b6", 6.00),
        (
            "eight elements gathered (vpgatherdd ymm/ymm) with a mask in a vector",
            "c4410deff6c5f576c9c4a2759004b6",
            7.99,
        ),
        (
            "eight elements gathered (vpgatherdd ymm/ymm) with a mask register",
            "62510d28eff6c5f446c962b27d299004b6",
            9.01,
        ),
        (
            "eight elements gathered (vpgatherdd ymm/ymm) with a mask register, into a cleared target",
            "62510d28eff6c5f446c962f17d28efc062b27d299004b6",
            9.00,
        ),
        ("eight elements scattered (vpscatterdd ymm/ymm)", "62510d28eff6c5f446c962b27d29a004b6", 13.00),
        (
            "sixteen elements gathered (vpgatherdd zmm/zmm) with a mask register",
            "62510d48eff6c5f446c962b27d499004b6",
            17.15,
        ),
        (
            "sixteen elements gathered (vpgatherdd zmm/zmm) with a mask register, into a cleared target",
            "62510d48eff6c5f446c962f17d48efc062b27d499004b6",
            16.99,
        ),
        ("sixteen elements scattered (vpscatterdd zmm/zmm)", "62510d48eff6c5f446c962b27d49a004b6", 23.02),
        (
            "two elements gathered (vgatherdpd xmm/xmm) with a mask in a vector",
            "c44109eff6c5f176c9c4a2f19204f6",
            4.00,
        ),
        (
            "two elements gathered (vgatherdpd xmm/xmm) with a mask register",
            "62510d08eff6c5f446c962b2fd099204f6",
            4.00,
        ),
        (
            "two elements gathered (vgatherdpd xmm/xmm) with a mask register, into a cleared target",
            "62510d08eff6c5f446c962f17d08efc062b2fd099204f6",
            4.00,
        ),
        (
            "four elements gathered (vgatherdpd ymm/xmm) with a mask in a vector",
            "c44109eff6c5f576c9c4a2f59204f6",
            5.00,
        ),
        (
            "four elements gathered (vgatherdpd ymm/xmm) with a mask register",
            "62510d08eff6c5f446c962b2fd299204f6",
            5.00,
        ),
        (
            "four elements gathered (vgatherdpd ymm/xmm) with a mask register, into a cleared target",
            "62510d08eff6c5f446c962f17d28efc062b2fd299204f6",
            5.00,
        ),
        (
            "eight elements gathered (vgatherdpd zmm/ymm) with a mask register, into a cleared target",
            "62510d28eff6c5f446c962f17d48efc062b2fd499204f6",
            9.00,
        ),
        (
            "two elements gathered (vpgatherqq xmm/xmm) with a mask in a vector",
            "c44109eff6c5f176c9c4a2f19104f6",
            4.00,
        ),
        (
            "two elements gathered (vpgatherqq xmm/xmm) with a mask register",
            "62510d08eff6c5f446c962b2fd099104f6",
            4.00,
        ),
        (
            "two elements gathered (vpgatherqq xmm/xmm) with a mask register, into a cleared target",
            "62510d08eff6c5f446c962f17d08efc062b2fd099104f6",
            4.00,
        ),
        ("two elements scattered (vpscatterqq xmm/xmm)", "62510d08eff6c5f446c962b2fd09a104f6", 4.00),
        (
            "four elements gathered (vpgatherqq ymm/ymm) with a mask in a vector",
            "c4410deff6c5f576c9c4a2f59104f6",
            5.00,
        ),
        (
            "four elements gathered (vpgatherqq ymm/ymm) with a mask register",
            "62510d28eff6c5f446c962b2fd299104f6",
            5.00,
        ),
        (
            "four elements gathered (vpgatherqq ymm/ymm) with a mask register, into a cleared target",
            "62510d28eff6c5f446c962f17d28efc062b2fd299104f6",
            5.00,
        ),
        ("four elements scattered (vpscatterqq ymm/ymm)", "62510d28eff6c5f446c962b2fd29a104f6", 7.33),
        (
            "eight elements gathered (vpgatherqq zmm/zmm) with a mask register, into a cleared target",
            "62510d48eff6c5f446c962f17d48efc062b2fd499104f6",
            9.51,
        ),
        ("eight elements scattered (vpscatterqq zmm/zmm)", "62510d48eff6c5f446c962b2fd49a104f6", 12.17),
    ],
)
def test_avx_512_takes_the_measured_time(what: str, code: str, measured: float) -> None:
    """Within 5 % of the core's time, in a loop."""
    assert in_mode("ZEN4", code, "loop") == pytest.approx(measured, rel=0.05), what


@pytest.mark.parametrize(
    ("code", "measured"),
    [
        ("62f17c48118608000000", 3.00),
        ("62f17c4811863c00000062f17c48118e7c000000", 5.00),
        ("62f17c4811860800000062f17c48118e4800000062f17c4811968800000062f17c48119ec8000000", 9.00),
        ("62f17c48110662f17c48114e0162f17c4811560262f17c48115e03", 8.01),
    ],
)
def test_stores_of_512_bits_go_to_each_chunk_that_they_touch(code: str, measured: float) -> None:
    """M28: three chunks per store that is not aligned; two in a row share one. The store buffer is full
    after some 600 cycles."""
    loop = counted_loop(bytes.fromhex(code), 1)
    assert loop is not None
    options = ModelOptions(assume=Pointers.SAME)
    found = cycles(loop.hex(), "ZEN4", loop=True, options=options, min_cycles=3000)
    assert found == pytest.approx(measured, rel=0.05)
