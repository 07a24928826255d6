"""Converts the attributes of a uops.info element to figures of the model (uiCA model, rules D1 to D7).

Elements are passed as ``Mapping``, so nothing here depends on the XML library. Raises ``ValueError`` if a
figure is not a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from cyclelens.analyzer.model.facts import Figures, Latency, OperandFacts, PortUse

MATCHING_ATTRIBUTES = (
    "agen",
    "bcast",
    "eosz",
    "high8",
    "immzero",
    "mask",
    "rep",
    "rm",
    "sae",
    "zeroing",
)
"""Attributes that distinguish the variants of one form, in stored order."""

BASE, SAME_REGISTER, INDEXED = "", "_same_reg", "_indexed"
"""Suffixes of the three variants of a figure (D1)."""

STATED = {
    "uops": "uops",
    "retire_slots": "uops_retire_slots",
    "mite_uops": "uops_MITE",
    "ms_uops": "uops_MS",
    "complex_decoder": "complex_decoder",
    "available_simple_decoders": "available_simple_decoders",
    "ports": "ports",
    "divider_cycles": "div_cycles",
    "throughput": "throughput",
}
"""Fields of ``Figures`` -> attributes that state them. TP counts only beside a divider (D3)."""

_THROUGHPUT_LIMITED = frozenset({"CPUID", "MFENCE", "PAUSE", "RDTSC"})
_TAKEN_BRANCHES_ON_TWO_PORTS = frozenset(
    {"ICL", "TGL", "RKL", "ADL-P", "Golden Cove", "Redwood Cove", "ZEN+", "ZEN2", "ZEN3", "ZEN4"}
)
"""Cores on which either of the two branch units executes a conditional branch, taken or not. If a core has
only one unit for taken branches, its own file says so (D8)."""
_FLAG_LETTERS = "CSPAZO"
CHARACTERIZED = "measured by cyclelens characterize"
"""Provenance of this program's own measurements, which are complete in what they state."""
UNITS_INFERRED = "measured, units inferred"
"""Provenance of records that are complete, but whose units were not measured (data/SOURCES.md)."""
IBENCH, ASMBENCH = "measured by ibench", "measured by asmbench"
"""Provenances of latencies and throughputs that a user imported."""
COMPLETE = frozenset({CHARACTERIZED, UNITS_INFERRED, IBENCH, ASMBENCH})
"""Provenances of records that the importer corrects and completes in nothing."""
_PORT_USE = re.compile(r"(\d+)\*p?([^\s+*]+)")
_BRANCH_PORTS: tuple[PortUse, ...] = (("06", 1),)
_TAKEN_BRANCH_PORTS: tuple[PortUse, ...] = (("6", 1),)

# The published file gives these variants a form name that no current decoder yields; their siblings (the
# other operand sizes of the same encoding) have the right name.
_FORM_OF_VARIANT = {
    "MOVSXD (R64, M32)": "MOVSXD_GPRv_MEMz",
    "MOVSX (R32, M16)": "MOVSX_GPRv_MEMw",
    "MOVSX (R64, M16)": "MOVSX_GPRv_MEMw",
    "MOVZX (R32, M16)": "MOVZX_GPRv_MEMw",
    "MOVZX (R64, M16)": "MOVZX_GPRv_MEMw",
}


def form_name(name: str, iform: str) -> str:
    """The form under which a variant is stored."""
    return _FORM_OF_VARIANT.get(name, iform)


def ports(text: str) -> tuple[PortUse, ...]:
    """Parses ``2*p0156+1*p23``; the order is kept because it matters for micro-fusion. Names of units that
    are not port numbers (``FP0123``, ``LD``) are kept. Raises ValueError."""
    uses = []
    for part in text.split("+"):
        match = _PORT_USE.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"ports={text!r}")
        uses.append((match[2], int(match[1])))
    return tuple(uses)


def _integer(attributes: Mapping[str, str], key: str) -> int | None:
    """Integer part of a figure; None if absent. Raises ValueError."""
    text = attributes.get(key)
    if text is None:
        return None
    try:
        return int(text) if text.isdecimal() else int(float(text))
    except (ValueError, OverflowError):
        raise ValueError(f"{key}={text!r}") from None


def _divider_and_tp(
    attributes: Mapping[str, str], suffix: str, throughput_limited: bool
) -> tuple[int | None, int | None]:
    """Divider occupancy and TP in cycles (D2 to D4)."""
    divider = _integer(attributes, "div_cycles" + suffix)
    unrolled = _integer(attributes, "TP_unrolled" + suffix)
    tp = None
    if divider is not None and unrolled is not None:
        if unrolled <= divider:
            divider = unrolled
        else:
            tp = unrolled
    if throughput_limited:
        measured = [t for t in (_integer(attributes, "TP_loop" + suffix), unrolled) if t is not None]
        tp = min(measured, default=tp)
    return divider, tp


def figures(
    attributes: Mapping[str, str],
    suffix: str,
    *,
    name: str,
    category: str,
    locked: bool,
    microarchitecture: str,
) -> Figures:
    """One of the three variants of a measurement. The base variant is complete; the others have None where
    the measurement states nothing."""
    uops = _integer(attributes, "uops" + suffix)
    retire_slots = _integer(attributes, "uops_retire_slots" + suffix)
    mite_uops = _integer(attributes, "uops_MITE" + suffix)
    ms_uops = _integer(attributes, "uops_MS" + suffix)
    complex_decoder = attributes.get("complex_decoder" + suffix)
    simple_decoders = _integer(attributes, "available_simple_decoders" + suffix)
    port_text = attributes.get("ports" + suffix)
    port_uses = ports(port_text) if port_text else None
    if (
        category == "COND_BR"
        and port_uses == _BRANCH_PORTS
        and microarchitecture not in _TAKEN_BRANCHES_ON_TWO_PORTS
    ):
        port_uses = _TAKEN_BRANCH_PORTS  # D6: the simulated branch is taken
    if port_uses is None and uops == 0:
        port_uses = ()  # D7
    divider, tp = _divider_and_tp(attributes, suffix, locked or name in _THROUGHPUT_LIMITED)
    if suffix == BASE:
        uops = uops or 0
        retire_slots = retire_slots or 1
        mite_uops = mite_uops or 1
        ms_uops = ms_uops or 0
        complex_decoder = complex_decoder or "0"
        simple_decoders = 4 if simple_decoders is None else simple_decoders
        port_uses = port_uses or ()
    return Figures(
        uops=uops,
        retire_slots=None if retire_slots is None else max(1, retire_slots),
        mite_uops=None if mite_uops is None else max(1, mite_uops),
        ms_uops=ms_uops,
        complex_decoder=None if complex_decoder is None else complex_decoder == "1",
        available_simple_decoders=simple_decoders,
        ports=port_uses,
        divider_cycles=divider,
        tp=tp,
        throughput=_throughput(attributes, suffix),
    )


def _throughput(attributes: Mapping[str, str], suffix: str) -> float | None:
    """The throughput from ``zen.completed``; None if absent."""
    text = attributes.get("throughput" + suffix)
    return None if text is None else float(text)


def latencies(nodes: Iterable[Mapping[str, str]]) -> dict[tuple[int, int], Latency]:
    """(start operand, target operand) -> latency; upper bounds are ignored (D5)."""
    result: dict[tuple[int, int], Latency] = {}
    for node in nodes:
        start, target = _integer(node, "start_op"), _integer(node, "target_op")
        if start is None or target is None:
            raise ValueError("a latency without operands")
        cycles = _integer(node, "min_cycles")
        result[start, target] = Latency(
            cycles=_integer(node, "cycles") if cycles is None else cycles,
            address=_integer(node, "cycles_addr"),
            address_index=_integer(node, "cycles_addr_index"),
            memory=_integer(node, "cycles_mem"),
            same_register=_integer(node, "cycles_same_reg"),
        )
    return result


def operand(attributes: Mapping[str, str], text: str | None) -> OperandFacts:
    """Reads one operand; its text lists the allowed registers. A conditional flag
    write counts as a read too."""
    index = _integer(attributes, "idx")
    if index is None:
        raise ValueError("an operand without number")
    kind = attributes.get("type", "")
    access = {letter: attributes.get(f"flag_{letter}F", "") for letter in _FLAG_LETTERS}
    return OperandFacts(
        index=index,
        name=attributes.get("name", ""),
        kind=kind,
        read=attributes.get("r") == "1",
        written=attributes.get("w") == "1",
        conditional_write=attributes.get("conditionalWrite") == "1",
        suppressed=attributes.get("suppressed") == "1",
        implicit=attributes.get("implicit") == "1",
        opmask=attributes.get("opmask") == "1",
        width=_integer(attributes, "width") or 0,
        registers=tuple(name.strip() for name in (text or "").split(",") if name.strip())
        if kind == "reg"
        else (),
        base=attributes.get("base"),
        index_register=attributes.get("index"),
        flags_read=frozenset(f for f, a in access.items() if "r" in a or "cw" in a),
        flags_written=frozenset(f for f, a in access.items() if "w" in a),
    )
