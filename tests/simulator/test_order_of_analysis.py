"""What is said of a block does not depend on what was analysed before it, though instructions that differ
only in registers, addresses and constants share their expansion."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.facts.store import FactsStore, open_store
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.simulator.core import laid_out
from cyclelens.analyzer.uops.block import build_block
from cyclelens.analyzer.uops.operands import TooManyUopsError
from testkit.core_tables import listed

WIDE = bytes.fromhex("62f17d48fec1")
"""vpaddd zmm0, zmm0, zmm1: every instruction beside it is in another context."""
BLOCKS = 150
OF_A_POOL = 25
"""Blocks that are drawn from the same few forms, so that siblings meet."""


def sibling(code: bytes, source: random.Random) -> bytes:
    """An instruction of the same mnemonic with other bits: registers, addresses or constants."""
    (wanted,) = decode(code)
    for _ in range(20):
        other = bytearray(code)
        for _ in range(source.randint(1, 2)):
            other[source.randrange(min(1, len(code) - 1), len(code))] ^= 1 << source.randrange(8)
        found = decode(bytes(other))
        if [each.mnemonic for each in found] == [wanted.mnemonic]:
            return bytes(other)
    return code


def blocks(name: str) -> Iterator[bytes]:
    source = random.Random(name)
    forms = [bytes.fromhex(code) for code, _ in listed("forms")]
    for number in range(BLOCKS):
        if number % OF_A_POOL == 0:
            drawn = source.choices(forms, k=12)
            siblings = [sibling(code, source) for code in drawn for _ in range(2)]
            pool = [*drawn, *siblings, WIDE, WIDE, WIDE, WIDE]
        yield b"".join(source.choices(pool, k=source.randint(2, 6)))


def said(code: bytes, name: str, store: FactsStore) -> object:
    """The expansion of a block and what the core gets of it; or why there is none."""
    try:
        block = build_block(decode(code, store.caches), registry.get(name), store, loop=False)
    except TooManyUopsError as error:
        return str(error)
    return block.instructions, [laid_out(each) for each in block.entries]


@pytest.mark.parametrize("name", ["SNB", "HSW", "SKL", "ICL", "ADL", "GNR", "ZEN2", "ZEN4", "ZEN5"])
def test_a_block_behind_many_others_is_what_it_is_alone(name: str) -> None:
    shared, alone = open_store(), open_store()
    for code in blocks(name):
        alone.caches = Caches()
        assert said(code, name, shared) == said(code, name, alone), [each.text for each in decode(code)]
