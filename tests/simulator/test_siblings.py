"""An instruction that differs from an earlier one in registers, addresses and constants only gets its rows
from that one's; they must be the rows that its own template gives."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.options import PUBLISHED
from cyclelens.analyzer.simulator import key_of
from cyclelens.analyzer.simulator.core import laid_out
from cyclelens.analyzer.uops.block import build_block
from cyclelens.analyzer.uops.rebinding import Sibling
from msgspec.structs import replace

TAIL = bytes([0x24, 0x7F, 0xFF, 0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0x01])
OPCODES = {
    "add r64, r/m64": "4801",
    "mov r64, r/m64": "488b",
    "mov r/m64, r64": "4889",
    "movzx r32, r/m8": "0fb6",
    "lea r64, m": "488d",
    "add r/m64, imm8": "4883",
    "sub r/m32, imm32": "81",
    "mov r/m32, imm32": "c7",
    "push or inc": "ff",
    "imul r64, r/m64": "480faf",
    "movups x, x/m128": "0f10",
    "movsd m64, x": "f20f11",
    "vaddps y, y, y/m256": "c5fc58",
    "vfmadd231pd x, x, x/m128": "c4e2f1b8",
    "xchg r64, r/m64": "4887",
    "cmpxchg r/m64, r64": "480fb1",
    "add r8, r/m8": "02",
    "add r/m8, imm8": "80",
    "mul, div": "48f7",
    "shl r/m64, cl": "48d3",
    "pop m64": "8f",
    "call rel32": "e8",
    "vmaskmovps m, y, y": "c4e2752e",
    "maskmovdqu x, x": "660ff7",
}


@pytest.mark.parametrize("opcode", OPCODES.values(), ids=OPCODES.keys())
@pytest.mark.parametrize("name", ["SKL", "HSW", "ICL", "ZEN2", "ZEN4", "ZEN5"])
def test_a_sibling_has_the_rows_of_its_own_template(name: str, opcode: str) -> None:
    siblings = 0
    core, store = registry.get(name), open_store()
    for modrm in range(256):
        code = bytes.fromhex(opcode) + bytes([modrm]) + TAIL
        instruction = decode(code, store.caches)[0]
        if not instruction.mnemonic:
            continue
        block = build_block((instruction,), core, store, loop=False)
        (entry,) = block.entries
        if not isinstance(entry, Sibling) or entry.instruction is entry.original.instruction:
            continue
        siblings += 1
        assert laid_out(entry) == laid_out(entry.template()), instruction.text
        alone = replace(block, entries=(entry.template(),))
        keys = [key_of(each, core, PUBLISHED, store.caches) for each in (block, alone)]
        assert keys[0] == keys[1], instruction.text
    assert siblings > 15


@pytest.mark.parametrize("opcode", OPCODES.values(), ids=OPCODES.keys())
@pytest.mark.parametrize("name", ["SKL", "ZEN3", "ZEN5"])
def test_a_sibling_has_the_template_that_it_would_get_alone(name: str, opcode: str) -> None:
    siblings = 0
    core, store = registry.get(name), open_store()
    alone = open_store()
    for modrm in range(0, 256, 5):
        code = bytes.fromhex(opcode) + bytes([modrm]) + TAIL
        instruction = decode(code, store.caches)[0]
        if not instruction.mnemonic:
            continue
        (entry,) = build_block((instruction,), core, store, loop=False).entries
        alone.caches = Caches()
        (expected,) = build_block((instruction,), core, alone, loop=False).entries
        siblings += isinstance(entry, Sibling) and entry.instruction is not entry.original.instruction
        assert entry.template() == expected.template(), instruction.text
    assert siblings > 1


@pytest.mark.parametrize("name", ["SKL", "HSW", "ICL"])
def test_a_pop_of_rsp_or_r12_is_no_sibling_of_other_pops(name: str) -> None:
    """Published: they take another way through the decoders, whatever was read before them."""
    core, store, alone = registry.get(name), open_store(), open_store()
    for code in ("58", "5c", "5b", "415c", "4158", "5c"):
        instruction = decode(bytes.fromhex(code), store.caches)[0]
        (entry,) = build_block((instruction,), core, store, loop=False).entries
        alone.caches = Caches()
        (expected,) = build_block((instruction,), core, alone, loop=False).entries
        assert entry.template() == expected.template(), instruction.text
