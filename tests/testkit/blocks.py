"""Blocks from hexadecimal code with the tables that ship."""

from __future__ import annotations

import atexit
from functools import cache

from cyclelens.analyzer.facts.store import FactsStore, open_store
from cyclelens.analyzer.isa.counted_loop import counted_loop
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.variants import variant
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.model.uops import Block, InstructionTemplate
from cyclelens.analyzer.uops.block import build_block

from testkit.narrowing import some


@cache
def store() -> FactsStore:
    """The tables, opened once for all tests."""
    opened = open_store()
    atexit.register(opened.close)
    return opened


def block_of(
    code: str,
    name: str,
    *,
    loop: bool | None = None,
    alignment: int = 0,
    options: ModelOptions = DEFAULT,
) -> Block:
    """The block of these bytes. ``loop``: whether it is a loop; by default, if it ends in a branch."""
    instructions = decode(bytes.fromhex(code), store().caches)
    model = variant(registry.get(name), options)
    if loop is None:
        loop = build_block(instructions[-1:], model, store(), loop=False).instructions[0].is_branch
    return build_block(instructions, model, store(), loop=loop, alignment=alignment, options=options)


def templates_of(code: str, name: str, *, alignment: int = 0) -> tuple[InstructionTemplate, ...]:
    """The expanded instructions of these bytes."""
    return block_of(code, name, alignment=alignment).instructions


def template_of(code: str, name: str) -> InstructionTemplate:
    """The only instruction of these bytes."""
    (template,) = templates_of(code, name)
    return template


def in_a_loop(code: str) -> str:
    """Code with a counter and a jump back behind it, both in hexadecimal."""
    return some(counted_loop(bytes.fromhex(code))).hex()
