"""Machine code as text assembles to the same bytes."""

from __future__ import annotations

import lzma
import random
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.objects.raw_code import RawCodeError
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.serving.disassembly import written_out
from cyclelens.analyzer.simulator.failures import Cancelled

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "blocks.hex.xz"


def again(text: str) -> bytes:
    """What a text becomes, all of it."""
    body = text.replace("# cyclelens-begin code\n", "").replace("# cyclelens-end\n", "")
    found = assemble(
        f"# cyclelens-begin all\n{body}# cyclelens-end\n", SourceOptions(regions=Regions.MARKERS)
    )
    return b"".join(region.code for region in found.regions)


@pytest.mark.parametrize(
    "code, words",
    [
        ("480fafc0 49ffcf 75f7", "jnz .L0"),
        ("480fafc0 49ffcf 0f85f3ffffff", "jnz.d32 .L0"),
        ("eb02 31c0 90", ".L0:\n    nop"),
        ("31c0 7504 90", ".byte 0x75, 0x04  # jnz"),  # leads out of the code
        ("0f1f4000 33c1", ".byte 0x33, 0xc1  # xor eax, ecx"),  # assemblers choose the other encoding
        ("488b0510000000", "mov rax, qword ptr [rip+0x10]"),
    ],
)
def test_every_statement_assembles_to_its_original_bytes(code: str, words: str) -> None:
    text = written_out(bytes.fromhex(code), allow_external_programs=False)
    assert words in text
    assert again(text) == bytes.fromhex(code)


def test_blocks_of_real_programs_become_the_same_bytes() -> None:
    if not CORPUS.exists():
        pytest.skip("needs ../shared/corpus")
    with lzma.open(CORPUS, "rt") as file:
        blocks = file.read().split()
    for block in random.Random(21).sample(blocks, 100):
        code = bytes.fromhex(block)
        assert again(written_out(code, allow_external_programs=True)) == code, block


@pytest.mark.parametrize("code, words", [("", "no code"), ("90 06", "byte 0x1"), ("480f", "byte 0x0")])
def test_input_that_is_not_code_gets_a_message(code: str, words: str) -> None:
    with pytest.raises(RawCodeError, match=words):
        written_out(bytes.fromhex(code), allow_external_programs=False)


def test_a_cancelled_request_stops() -> None:
    with pytest.raises(Cancelled):
        written_out(b"\x90", allow_external_programs=False, cancel=lambda: True)
