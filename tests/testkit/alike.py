"""Which blocks of a list the core takes for alike, as the rows of ``tests/tables/NAME/alike.txt``."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.variants import variant
from cyclelens.analyzer.model.choices import Pointers
from cyclelens.analyzer.model.options import DEFAULT, PUBLISHED, ModelOptions
from cyclelens.analyzer.simulator import Key, key_of, placement_of
from cyclelens.analyzer.simulator.core import loop_key
from cyclelens.analyzer.uops.block import build_block

from testkit.blocks import in_a_loop, store

HEAD = """\
# mode and bytes | the first block of the list that is alike, by its number; - if none can be:
# in the usual model, in the published one, and with equal pointers
"""
_OPTIONS = (DEFAULT, PUBLISHED, ModelOptions(assume=Pointers.SAME))


def rows(name: str, blocks: list[tuple[str, str]]) -> Iterator[str]:
    """A row for each block on one core."""
    columns = [list(_column(name, blocks, options)) for options in _OPTIONS]
    for (mode, code), *firsts in zip(blocks, *columns, strict=True):
        yield f"{mode} {code} | {' '.join(firsts)}"


def _column(name: str, blocks: list[tuple[str, str]], options: ModelOptions) -> Iterator[str]:
    core, caches = variant(registry.get(name), options), Caches()
    firsts: dict[Key, int] = {}
    for number, (mode, code) in enumerate(blocks, 1):
        repeated, _, place = mode.partition("@")
        loop = repeated == "loop"
        block = build_block(
            decode(bytes.fromhex(in_a_loop(code) if loop else code), caches),
            core,
            store(),
            loop=loop,
            alignment=int(place or 0),
            options=options,
        )
        key = key_of(block, core, options, caches)
        if loop and key:
            key = loop_key(key, placement_of(block, core, options, caches))
        yield str(firsts.setdefault(key, number)) if key else "-"
