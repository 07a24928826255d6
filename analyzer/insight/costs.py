"""What instructions cost by themselves, by mnemonic, straight from the tables."""

from __future__ import annotations

import re
from collections.abc import Mapping

from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.facts import InstructionFacts
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import UnitUse, unit_cycles
from cyclelens.analyzer.model.uops import InstructionTemplate
from msgspec import Struct

_NAME = r"(?P<mnemonic>[A-Z0-9]+)(?P<rest>\S*)(?: \((?P<operands>.*)\))?"
_REPEATED = r"_REP(E|NE|NZ|Z)?\b"
_ALIASES = {"Z": "E", "NZ": "NE", "NBE": "A", "NB": "AE", "NL": "GE", "NLE": "G"}
ATT_NAMES = {
    "MOVZX": ("MOVZBL", "MOVZBQ", "MOVZWL", "MOVZWQ"),
    "MOVSX": ("MOVSBL", "MOVSBQ", "MOVSWL", "MOVSWQ"),
    "MOVSXD": ("MOVSLQ",),
    "CDQ": ("CLTD",),
    "CDQE": ("CLTQ",),
    "CQO": ("CQTO",),
    "CWDE": ("CWTL",),
}
"""AT&T mnemonics that differ from Intel's by more than a suffix."""
_CONDITIONAL = r"(J|SET|CMOV)(N?[ZLPOSB]E?)$"
_TYPICAL = ("R64", "YMM", "XMM", "R32", "ZMM")


class Cost(Struct, frozen=True):
    """The cost of one form of an instruction on one core."""

    operands: tuple[str, ...]
    """In the notation of uops.info: ``R64``, ``M64``; an address by its parts: ``[B+I+D8]``."""
    uops: int | None
    """Executed uops; None if unknown."""
    uses: tuple[UnitUse, ...]
    latency: tuple[int, int] | None
    """Fewest and most cycles from an input to a result."""
    throughput: float
    """Cycles per independent instance if only ports, the divider and the issue width limit it."""
    microcoded: bool

    @property
    def short(self) -> str:
        """One line: ``1 uop p01 · latency 4 · 0.50 cycles``."""
        parts = [self.uops_text]
        if self.latency is not None:
            parts.append(f"latency {self.latency_text}")
        return " · ".join([*parts, f"{self.throughput:.2f} cycles"])

    @property
    def uops_text(self) -> str:
        """``1 uop p01``, ``4 uops 2×p01 p23 p5``."""
        count = "? uops" if self.uops is None else f"{self.uops} uop{'' if self.uops == 1 else 's'}"
        return f"{count} {self.ports_text}".rstrip()

    @property
    def ports_text(self) -> str:
        return " ".join(
            use.units.label if use.uops == 1 else f"{use.uops}×{use.units.label}" for use in self.uses
        )

    @property
    def latency_text(self) -> str:
        if self.latency is None:
            return ""
        low, high = self.latency
        return str(low) if low == high else f"{low} to {high}"


def costs(store: FactsStore, microarchitecture: str) -> Mapping[str, tuple[Cost, ...]]:
    """Lower-case mnemonic -> costs of its forms, the typical form first. Reads all tables, which is slow.

    Raises ``UnknownMicroarchitecture`` or ``TablesUnavailable``.
    """
    model = registry.get(microarchitecture)
    found: dict[str, dict[tuple[str, ...], Cost]] = {}
    for form in store.forms():
        for facts in store.candidates(model.facts_name, form):
            match = re.match(_NAME, facts.name)
            if match is None or "LOCK" in match["rest"] or re.search(_REPEATED, match["rest"]):
                continue
            operands = tuple(match["operands"].split(", ")) if match["operands"] else ()
            if address := facts.attributes.get("agen"):
                operands += (f"[{address.replace('_', '+')}]",)
            cost = _cost(facts, operands, model)
            for name in spellings(match["mnemonic"]):
                found.setdefault(name.lower(), {}).setdefault(operands, cost)
    return {
        name: tuple(sorted(variants.values(), key=lambda cost: _rank(cost.operands)))
        for name, variants in sorted(found.items())
    }


def by_itself(template: InstructionTemplate, microarchitecture: str) -> Cost | None:
    """The cost of a region's instruction by itself; None if unknown, or if it is
    fused with the previous one."""
    if template.facts is None or template.fused_with_previous:
        return None
    return _cost(template.facts, (), registry.get(microarchitecture))


def spellings(mnemonic: str) -> tuple[str, ...]:
    """The names that people write for a mnemonic of the tables, in upper case, itself first."""
    match = re.fullmatch(_CONDITIONAL, mnemonic)
    if match and match[2] in _ALIASES:
        return mnemonic, match[1] + _ALIASES[match[2]]
    return mnemonic, *ATT_NAMES.get(mnemonic, ())


def _rank(operands: tuple[str, ...]) -> tuple[bool, int, int, bool, int, int]:
    """Sort key: registers before memory and immediates, plain before special operands, usual
    widths and counts first."""
    memory = any(re.match(r"M\d|Moffs|MEM|VSIB", kind) for kind in operands)
    special = sum(kind not in _TYPICAL and not re.fullmatch(r"I\d+", kind) for kind in operands)
    width = next((number for number, kind in enumerate(_TYPICAL) if kind in operands), len(_TYPICAL))
    immediate = any(re.match(r"I\d", kind) for kind in operands)
    return memory, special, width, immediate, abs(len(operands) - 2), sum(map(len, operands))


def _cost(facts: InstructionFacts, operands: tuple[str, ...], model: Microarchitecture) -> Cost:
    base = facts.base
    uses = tuple(model.units.use(text, count) for text, count in base.ports or ())
    cycles = [
        value
        for latency in facts.latencies.values()
        for value in (latency.cycles, latency.address, latency.memory)
        if value is not None
    ]
    slots = base.retire_slots if base.retire_slots is not None else base.uops or 0
    width = model.issue_width
    by_units = unit_cycles((use.units.mask, use.uops) for use in uses)
    stated = max(base.divider_cycles or 0, base.tp or 0, base.throughput or 0)
    throughput = max(by_units, slots / width, stated, 1 / width)
    return Cost(
        operands,
        base.uops,
        uses,
        (min(cycles), max(cycles)) if cycles else None,
        float(throughput),
        bool(base.ms_uops),
    )
