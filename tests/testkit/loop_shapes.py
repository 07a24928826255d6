"""Represents loops by their instructions, so that loops in texts and in objects can be compared."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.machine_code import outermost, regions_of
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.model.source import Region

FUNCTION = ".globl f\n.type f, @function\nf:\n"


def loops(regions: Iterable[Region]) -> list[str]:
    """The mnemonics of every loop; where it has several blocks, with bars between them."""
    found: dict[str, list[str]] = {}
    for region in regions:
        stem, dot, number = region.name.rpartition(".")
        name = stem if dot and number.isdecimal() else region.name
        found.setdefault(name, []).append(" ".join(one.mnemonic for one in decode(region.code)))
        # A loop of a single block ends in the jump to its start, and nothing else is called a loop.
        assert region.ends_in_jump_to_start or name != region.name or len(found[name]) > 1
    return [" | ".join(blocks) for blocks in found.values()]


def in_object(text: str, folder: Path) -> ObjectFile:
    (folder / "p.s").write_text(text)
    subprocess.run(["as", "-o", "p.o", "p.s"], cwd=folder, check=True)
    return ObjectFile((folder / "p.o").read_bytes())


def loops_of_object(file: ObjectFile) -> list[str]:
    return loops(regions_of(file, outermost([*file.functions, *file.unnamed()]), Regions.LOOPS).regions)
