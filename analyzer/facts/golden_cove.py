"""Constructs the records of Golden Cove, Redwood Cove and Lion Cove from uops.info's measurements of Alder
Lake's, Meteor Lake's and Arrow Lake's performance cores (``ADL-P``, ``MTL-P``, ``ARL-P``).

The first two are client processors without 512-bit vectors on port 5, and Meteor Lake's measurement has no
512-bit forms at all. Wrong measurements, and properties of a measuring loop rather than of the instruction,
are corrected; data/SOURCES.md lists every rule with its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cyclelens.analyzer.facts.occupancy import THROUGHPUT
from cyclelens.analyzer.model.facts import OperandFacts
from msgspec import Struct
from msgspec.structs import replace

GOLDEN_COVE = "Golden Cove"
REDWOOD_COVE = "Redwood Cove"
LION_COVE = "Lion Cove"
_GOLDEN_COVE_MEASURED = "ADL-P"
_REDWOOD_COVE_MEASURED = "MTL-P"
_LION_COVE_MEASURED = "ARL-P"
_SERVERS = ("SKX", "CLX")
"""Measured cores with the second 512-bit multiplier, on port 5."""

_SUFFIXES = ("", "_same_reg", "_indexed")
_FIGURES = ("ports", "uops", "uops_retire_slots", "uops_MITE", "uops_MS")
_COUNT = re.compile(r"(\d+)\*")
_ONLY_PORT_0 = re.compile(r"\*p0(?![0-9A-Z])")
_MULTIPLIER = re.compile(
    r"V(MUL|FN?M(ADD|SUB)|F?C?MADDC|F?C?MULC|CVT|ADD|SUB|MAX|MIN|SCALEF|GETEXP).*(PH|SH)"
)
"""Half-precision arithmetic, which no measured server core has."""
_BRANCHES = "1*p06"
_VECTORS = ("XMM", "YMM", "ZMM")
_NOT_GENERAL = (*_VECTORS, "MM", "K", "ST", "BND", "CR", "DR", "TMM", "MXCSR")
_BIT_TEST = re.compile(r"BT[CRS]? \(R64, R64\)")
_ALL_ONES = re.compile(r"VPCMPEQ[BWDQ] \(([XY]MM), \1, \1\)")

_SHORTER = (
    (re.compile(r"V?AES(ENC|DEC)(LAST)? |V?GF2P8"), {"5": "3"}),
    (re.compile(r"V?AESIMC "), {"8": "6"}),
    (re.compile(r"V?RSQRT[PS]S "), {"5": "4"}),
    (re.compile(r"H(ADD|SUB)P[SD] "), {"6": "5"}),
    (re.compile(r"SHA256RNDS2 "), {"6": "4"}),
    (re.compile(r"BEXTR "), {"6": "2", "4": "2"}),
    (re.compile(r"BZHI "), {"3": "1"}),
)
"""Corrections of ADL-P's latencies that are longer than on a Golden Cove core: pattern of names, then
measured on Alder Lake -> measured in chains on Emerald Rapids (``cyclelens measure``). MTL-P has the
latter, except for SHA256RNDS2."""
_HALF_PRECISION_DIVIDER = re.compile(r"V(DIV|SQRT)[PS]H[_ ]")


class _CoveDifferences(Struct, frozen=True):
    """Differences between the cores."""

    general: str
    """Ports of a move between general-purpose registers that is not eliminated;
    ``vector``: of vector registers."""
    vector: str
    simple_decoders: str
    transfer_excess: int
    """Cycles by which the latencies of transfers are too long, in both directions together."""


_COVE = _CoveDifferences("1*p0156B", "1*p015", "5", 2)
_LION = _CoveDifferences("1*ALU", "1*UNKNOWN", "7", 7)


class VariantMeasurement(Struct, frozen=True):
    """Measurement of an instruction variant on one core: figures, and latencies by operand pair."""

    figures: Mapping[str, str]
    latencies: Sequence[Mapping[str, str]]


def derived(
    measured: Mapping[str, VariantMeasurement], *, name: str, category: str, operands: Sequence[OperandFacts]
) -> dict[str, VariantMeasurement]:
    """Core -> constructed record, from all measurements of a variant."""
    golden = measured.get(_GOLDEN_COVE_MEASURED)
    redwood = measured.get(_REDWOOD_COVE_MEASURED)
    result = {}
    lion = measured.get(_LION_COVE_MEASURED)
    if golden is not None:
        golden = _repaired(_shortened(golden, name), None, name, category, operands, _COVE)
        server = next((measured[each] for each in _SERVERS if each in measured), None)
        if any(register.startswith("ZMM") for operand in operands for register in operand.registers):
            golden = replace(golden, figures=_with_port_5(golden.figures, server, name))
        result[GOLDEN_COVE] = golden
    if redwood is not None:
        result[REDWOOD_COVE] = _repaired(redwood, golden, name, category, operands, _COVE)
    elif golden is not None:
        result[REDWOOD_COVE] = golden
    if lion is not None:
        result[LION_COVE] = _repaired(lion, None, name, category, operands, _LION)
    return result


def _shortened(measurement: VariantMeasurement, name: str) -> VariantMeasurement:
    shorter = next((cycles for names, cycles in _SHORTER if names.match(name)), {})
    latencies = [
        {key: shorter.get(value, value) if key == "cycles" else value for key, value in each.items()}
        for each in measurement.latencies
    ]
    return replace(measurement, latencies=latencies)


def _repaired(
    measurement: VariantMeasurement,
    other: VariantMeasurement | None,
    name: str,
    category: str,
    operands: Sequence[OperandFacts],
    core: _CoveDifferences,
) -> VariantMeasurement:
    """Corrects a measurement. ``other``: the same variant on the other core, to
    replace inconsistent figures."""
    figures = dict(measurement.figures)
    if other is not None:
        for suffix in _SUFFIXES:
            if not _consistent(figures, suffix) and _consistent(other.figures, suffix):
                for key in _FIGURES:
                    if key + suffix in other.figures:
                        figures[key + suffix] = other.figures[key + suffix]
        if THROUGHPUT in other.figures:
            figures.setdefault(THROUGHPUT, other.figures[THROUGHPUT])
    figures.setdefault("available_simple_decoders", core.simple_decoders)
    if _HALF_PRECISION_DIVIDER.match(name) and "TP_loop" in figures:
        figures.setdefault("div_cycles", str(int(float(figures["TP_loop"]))))
    if figures.get("uops_same_reg") == "1" and "ports_same_reg" not in figures:
        vector = any(r.startswith(("XMM", "YMM", "ZMM", "MM")) for o in operands for r in o.registers)
        figures["ports_same_reg"] = core.vector if vector else core.general
    if category == "COND_BR" and figures.get("ports") == "1*p6":
        figures["ports"] = _BRANCHES
    latencies = measurement.latencies
    if name.startswith(("SHLX", "SHRX", "SARX")) or _BIT_TEST.fullmatch(name):
        latencies = [
            {key: "1" if key == "cycles" else value for key, value in each.items()} for each in latencies
        ]
    if name.startswith("MOVZX") and "ports" in figures and _all_zero(latencies):
        for key in _FIGURES:
            if key in figures:
                figures[key + _SUFFIXES[1]] = figures[key]
        del figures["ports"]
        figures["uops"] = "0"
        latencies = [{**each, "cycles_same_reg": "1"} for each in latencies]
    if _ALL_ONES.fullmatch(name):
        latencies = [{**each, "cycles_same_reg": "0"} for each in latencies]
    return VariantMeasurement(figures, _transferred(latencies, operands, core.transfer_excess))


def _transferred(
    latencies: Sequence[Mapping[str, str]], operands: Sequence[OperandFacts], excess: int
) -> list[Mapping[str, str]]:
    """Corrects latencies from general-purpose to vector and mask registers: a published latency is that of
    the way there and back, less one cycle, in either direction."""
    general = {str(each.index) for each in operands if _is_general(each)}
    others = {str(each.index) for each in operands if _is_of(each, (*_VECTORS, "K"))}
    found = []
    for each in latencies:
        cycles = each.get("cycles", "")
        there = each.get("start_op") in general and each.get("target_op") in others
        if there and cycles.isdecimal() and int(cycles) > excess:
            each = {**each, "cycles": str(int(cycles) - excess)}
        found.append(each)
    return found


def _is_of(operand: OperandFacts, beginnings: tuple[str, ...]) -> bool:
    return operand.kind == "reg" and any(name.startswith(beginnings) for name in operand.registers)


def _is_general(operand: OperandFacts) -> bool:
    return operand.kind == "reg" and bool(operand.registers) and not _is_of(operand, _NOT_GENERAL)


def _all_zero(latencies: Sequence[Mapping[str, str]]) -> bool:
    return all(each.get("cycles") == "0" for each in latencies)


def _consistent(figures: Mapping[str, str], suffix: str) -> bool:
    """True if the ports account for all uops."""
    ports = figures.get("ports" + suffix)
    if ports is None:
        return True
    return sum(map(int, _COUNT.findall(ports))) == int(figures.get("uops" + suffix, "0"))


def _with_port_5(
    figures: Mapping[str, str], server: VariantMeasurement | None, name: str
) -> Mapping[str, str]:
    """Adds port 5 to 512-bit operations that a server core's second multiplier executes too."""
    result = dict(figures)
    for suffix in _SUFFIXES:
        ports = figures.get("ports" + suffix)
        if ports is None:
            continue
        if server is None:
            has = _MULTIPLIER.match(name) is not None
        else:
            has = "p05" in server.figures.get("ports" + suffix, server.figures.get("ports", ""))
        if has:
            result["ports" + suffix] = _ONLY_PORT_0.sub("*p05", ports)
    return result
