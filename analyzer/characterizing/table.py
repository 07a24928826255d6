"""Rows as a file in the schema of uops.info's tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import quoteattr

from cyclelens.analyzer.characterizing.characterize import Row
from cyclelens.analyzer.characterizing.comparison import text
from cyclelens.analyzer.characterizing.latency import SAME_REGISTER
from cyclelens.analyzer.characterizing.links import BASE, CONTENTS, INDEXED, REGISTER

_ATTRIBUTES = {
    REGISTER: "cycles",
    BASE: "cycles_addr",
    INDEXED: "cycles_addr_index",
    CONTENTS: "cycles_mem",
    SAME_REGISTER: "cycles_same_reg",
}
PROVENANCE = "measured by cyclelens characterize"


def xml(rows: Iterable[Row], machine: str) -> Iterator[str]:
    """Lines of the file; a variant of which nothing is known has a comment that says why."""
    yield "<?xml version='1.0' encoding='utf-8'?>"
    yield "<root>"
    for row in rows:
        yield f"  <instruction iform={quoteattr(row.facts.iform)} string={quoteattr(row.facts.name)}>"
        yield f"    <architecture name={quoteattr(machine)}>"
        if row.problem:
            yield f"      <!-- {row.problem.replace('--', '- -')} -->"
        else:
            yield from _measurement(row)
        yield "    </architecture>"
        yield "  </instruction>"
    yield "</root>"


def _measurement(row: Row) -> Iterator[str]:
    fields = {"provenance": PROVENANCE}
    if row.cycles is not None:
        fields["TP_unrolled"] = f"{row.cycles:.2f}"
    if row.uops is not None:
        fields["uops"] = f"{row.uops:.0f}"
    if row.ports:
        fields["ports"] = text(row.ports)
    yield f"      <measurement {' '.join(f'{name}={quoteattr(value)}' for name, value in fields.items())}>"
    by_operands: dict[tuple[int, int], list[str]] = {}
    for (source, target, part), found in sorted(row.latencies.items()):
        if found.cycles is not None:
            name = _ATTRIBUTES[part]
            bound = f' {name}_is_upper_bound="1"' if found.upper_bound else ""
            by_operands.setdefault((source, target), []).append(f'{name}="{found.cycles}"{bound}')
    for (source, target), attributes in by_operands.items():
        yield f'        <latency start_op="{source}" target_op="{target}" {" ".join(attributes)}/>'
    yield "      </measurement>"
