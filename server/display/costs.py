"""What single instructions cost, for completion and for hovers outside regions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from cyclelens.analyzer.facts.store import TablesUnavailable, open_store
from cyclelens.analyzer.insight import vocabulary
from cyclelens.analyzer.insight.costs import Cost, costs
from cyclelens.analyzer.isa.meanings import meaning

Costs = Mapping[str, tuple[Cost, ...]]
"""Mnemonic in lower case -> its variants, the typical one first."""

MAX_VARIANTS = 16
"""Largest number of an instruction's variants in a list."""


class InstructionCosts:
    """The cost tables of the microarchitectures in use; each is read once, on first use."""

    def __init__(self) -> None:
        self._tables: dict[str, asyncio.Task[Costs]] = {}

    async def of(self, microarchitecture: str) -> Costs:
        """The costs of a core's instructions; empty if the tables cannot be read."""
        if microarchitecture not in self._tables:
            reading = asyncio.to_thread(_read, microarchitecture)
            self._tables[microarchitecture] = asyncio.create_task(reading)
        # Shielded: cancelling one request must not cancel the others that wait for the table.
        return await asyncio.shield(self._tables[microarchitecture])


def _read(microarchitecture: str) -> Costs:
    """Read the table; runs in a thread, with its own connection."""
    try:
        store = open_store()
    except TablesUnavailable:
        return {}
    try:
        return costs(store, microarchitecture)
    finally:
        store.close()


def variants(table: Costs, mnemonic: str) -> Sequence[Cost]:
    """The variants of an instruction as written, with or without AT&T's size suffix; empty if unknown."""
    name = mnemonic.lower()
    return table.get(name) or (table.get(name[:-1], ()) if name[-1:] in ("b", "w", "l", "q") else ())


def documentation(microarchitecture: str, mnemonic: str, found: Sequence[Cost]) -> str:
    """What the instruction does, and a table of its variants, in Markdown."""
    rows = [
        f"| {', '.join(cost.operands) or '(none)'} | {'?' if cost.uops is None else cost.uops} "
        f"| {cost.ports_text} | {cost.latency_text} "
        f"| {cost.throughput:.2f}{' MS' if cost.microcoded else ''} |"
        for cost in found[:MAX_VARIANTS]
    ]
    more = len(found) - MAX_VARIANTS
    return "\n".join(
        [
            meaning(mnemonic),
            "",
            f"On {microarchitecture}, each instruction alone; cycles: between independent instances:",
            "",
            f"| operands | uops | {vocabulary.of(microarchitecture).unit}s | latency | cycles |",
            "|---|---:|---|---:|---:|",
            *rows,
            *(["", f"and {more} more variants"] if more > 0 else []),
        ]
    )
