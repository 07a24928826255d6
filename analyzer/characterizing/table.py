"""Writes rows as a file in the schema of uops.info's tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from cyclelens.analyzer.characterizing.characterize import VariantRow
from cyclelens.analyzer.characterizing.front_end import FrontEnd
from cyclelens.analyzer.characterizing.idioms import Idiom
from cyclelens.analyzer.characterizing.latency import SAME_REGISTER, MeasuredLatency, Pair
from cyclelens.analyzer.characterizing.links import BASE, CONTENTS, INDEXED, REGISTER
from cyclelens.analyzer.characterizing.ports import UnitNames, linear_program, seen
from cyclelens.analyzer.facts.rules import CHARACTERIZED
from cyclelens.analyzer.model.facts import OperandFacts
from cyclelens.analyzer.model.microarchitecture import Microarchitecture

_ATTRIBUTES = {
    REGISTER: "cycles",
    BASE: "cycles_addr",
    INDEXED: "cycles_addr_index",
    CONTENTS: "cycles_mem",
    SAME_REGISTER: "cycles_same_reg",
}
_WITHOUT_UNITS = (
    "No units and no uops are in this file: cycles show only in part which units of this processor an "
    "instruction uses, and its counters do not tell all units apart. Tables that the "
    "file is merged into keep theirs."
)


def xml(rows: Iterable[VariantRow], model: Microarchitecture) -> Iterator[str]:
    """Lines of the file; a variant without figures gets a comment that says why."""
    yield "<?xml version='1.0' encoding='utf-8'?>"
    yield "<root>"
    if model.macro_ops is not None:
        yield f"  <!-- {_WITHOUT_UNITS} -->"
    for row in rows:
        facts = row.facts
        attributes = {
            "category": facts.category,
            "extension": facts.extension,
            "iform": facts.iform,
            "string": facts.name,
            **facts.attributes,
        }
        if facts.locked:
            attributes["locked"] = "1"
        yield f"  <instruction{_written(attributes)}>"
        for operand in facts.operands:
            yield f"    {_operand(operand)}"
        if row.problem:
            yield f"    <!-- {row.problem.replace('--', '- -')} -->"
        else:
            if row.ports_problem and model.macro_ops is None:
                yield f"    <!-- no units: {row.ports_problem} -->"
            yield f"    <architecture{_written({'name': model.facts_name})}>"
            yield from _measurement(row, model)
            yield "    </architecture>"
        yield "  </instruction>"
    yield "</root>"


def _in_tables(ports: Mapping[UnitNames, int], model: Microarchitecture) -> str:
    """Port usage with the unit names in the core's tables."""
    parts = sorted((len(units), model.units.in_tables(units), count) for units, count in ports.items())
    return "+".join(f"{count}*{units}" for _, units, count in parts)


def _operand(operand: OperandFacts) -> str:
    attributes = {"idx": str(operand.index), "name": operand.name, "type": operand.kind}
    flags = {
        "r": operand.read,
        "w": operand.written,
        "conditionalWrite": operand.conditional_write,
        "suppressed": operand.suppressed,
        "implicit": operand.implicit,
        "opmask": operand.opmask,
    }
    attributes |= {name: "1" for name, value in flags.items() if value}
    if operand.width:
        attributes["width"] = str(operand.width)
    if operand.base:
        attributes["base"] = operand.base
    if operand.index_register:
        attributes["index"] = operand.index_register
    for letter in sorted(operand.flags_read | operand.flags_written):
        access = [
            kind for kind, of in (("r", operand.flags_read), ("w", operand.flags_written)) if letter in of
        ]
        attributes[f"flag_{letter}F"] = "/".join(access)
    return f"<operand{_written(attributes)}>{escape(','.join(operand.registers))}</operand>"


def _measurement(row: VariantRow, model: Microarchitecture) -> Iterator[str]:
    attributes = {"provenance": CHARACTERIZED}
    if row.cycles is not None:
        attributes["TP_loop"] = f"{row.cycles:.2f}"
    if row.most_cycles is not None and row.cycles is not None:
        attributes |= {"TP_loop_many_digits": f"{row.most_cycles:.2f}", "div_cycles": f"{row.cycles:.0f}"}
    if row.ports:
        attributes["TP_ports"] = f"{linear_program(row.ports):.2f}"
    eliminated = row.idiom is Idiom.ELIMINATED
    counted = model.macro_ops is None  # otherwise _WITHOUT_UNITS
    if row.uops is not None and counted:
        # Elimination depends on the renamer's room, which is not a property of the instruction.
        attributes["uops"] = "0" if eliminated else f"{row.uops:.0f}"
    attributes |= _of_front_end(row.front_end)
    if row.ports and not eliminated and counted:
        attributes["ports"] = _in_tables(row.ports, model)
    attributes |= _with_one_register(row, model)
    yield f"      <measurement{_written(attributes)}>"
    by_operands: dict[tuple[int, int], dict[str, str]] = {}
    for (source, target, part), found in sorted(_special(row.latencies).items()):
        if found.cycles is not None:
            name = _ATTRIBUTES[part]
            pair = by_operands.setdefault((source, target), {})
            least, most = sorted((found.cycles, found.cycles if found.most is None else found.most))
            if part == REGISTER and least < most:
                pair |= {"min_cycles": str(least), "max_cycles": str(most)}
            else:
                pair[name] = str(least)
            if found.upper_bound:
                pair[f"{name}_is_upper_bound"] = "1"
    for (source, target), pair in by_operands.items():
        yield f"        <latency{_written({'start_op': str(source), 'target_op': str(target)} | pair)}/>"
    for (source, target, part), found in sorted(row.latencies.items()):
        if found.bypass is not None and part == REGISTER:
            yield f"        <!-- from {source} to {target}: {found.bypass} -->"
    yield "      </measurement>"


def _of_front_end(found: FrontEnd) -> dict[str, str]:
    attributes = {}
    if found.slots is not None:
        attributes["uops_retire_slots"] = str(found.slots)
    if found.indexed_slots not in (None, found.slots):
        attributes["uops_retire_slots_indexed"] = str(found.indexed_slots)
    decoded = found.decoded if found.microcode else found.slots
    if found.complex_decoder is not None:
        attributes |= {} if decoded is None else {"uops_MITE": str(decoded)}
        attributes["complex_decoder"] = str(int(found.complex_decoder))
    if found.microcode:
        attributes |= {"uops_MITE": str(found.decoded), "uops_MS": str(found.microcode)}
    if found.simple_decoders is not None:
        attributes["available_simple_decoders"] = str(found.simple_decoders)
    if found.fuses_with is not None:
        jumps = (f"{name} ({width})" for name in sorted(found.fuses_with) for width in ("Rel32", "Rel8"))
        attributes["macro_fusible"] = ";".join(jumps)
    return attributes


def _special(latencies: Mapping[Pair, MeasuredLatency]) -> dict[Pair, MeasuredLatency]:
    """Drop same-register latencies if they equal the others.

    Otherwise every pair of registers keeps one, because readers of the tables then ignore all others."""
    same = {pair: found for pair, found in latencies.items() if pair[2] == SAME_REGISTER}
    others = {pair: found for pair, found in latencies.items() if pair[2] != SAME_REGISTER}
    plain = {(source, target): found for (source, target, part), found in others.items() if part == REGISTER}
    if all(found.cycles in (None, plain.get(pair[:2], found).cycles) for pair, found in same.items()):
        return others
    every = {(source, target, SAME_REGISTER): found for (source, target), found in plain.items()}
    return others | every | same


def _with_one_register(row: VariantRow, model: Microarchitecture) -> dict[str, str]:
    """Attributes for one register in all operands.

    An executed instruction repeats its units, because without them the table would state none."""
    same = row.same_register
    if row.idiom is Idiom.ZERO:
        return {"uops_same_reg": "0"}
    if (
        same is None
        or same.uops is None
        or row.uops is None
        or (row.idiom is not Idiom.ELIMINATED and round(same.uops) == round(row.uops))
    ):
        return {}
    count = round(same.uops)
    units = seen(same)
    if count == 1 and units and model.macro_ops is None:
        return {"uops_same_reg": "1", "ports_same_reg": _in_tables({units: 1}, model)}
    return {} if count else {"uops_same_reg": "0"}


def _written(attributes: Mapping[str, str]) -> str:
    return "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
