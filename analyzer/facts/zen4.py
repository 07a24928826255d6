"""Corrects uops.info's figures for Zen 4 by measurements (EPYC, family 19h model 11h, by time stamps)
(data/SOURCES.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cyclelens.analyzer.model.facts import OperandFacts

NAME = "ZEN4"
_LANE_MOVES = re.compile(
    r"VEXTRACT([FI]128|[FI](32X4|64X2)(_Z)?) \(XMM, (K, )?YMM, I8\)|VSHUF[FI](32X4|64X2)(_Z)? \(YMM, .*"
)
_HALVES = re.compile(r"VEXTRACT[FI](64X4|32X8)(_Z)? \(YMM, (K, )?ZMM, I8\)")
_TWO_PIPES = "1*BC"
_TRANSFERS = re.compile(r"V?(CVTSI2S[SD]|CVTUSI2S[SD]|PINSR[BWDQ])(_\w+)? \(XMM.*, R\d+.*")
_TRANSFERRED = "1*06+1*D+1*CD"
"""A transfer from a general register, and the operation behind it."""
_THROUGHPUTS = (
    (r"SH[LR]D \(R\d+, R\d+, (I8|CL)\)", "1.50"),
    (_LANE_MOVES.pattern, "0.50"),
    (_HALVES.pattern, "1.00"),
    (r"VP?EXPAND(PS|PD|D|Q) \([XY]MM, [XY]MM\)", "1.00"),
    (r"K(OR)?TEST[BWDQ] .*", "1.20"),
    (r"LFENCE", "17.50"),
    (r"PAUSE", "90.00"),
    (r"(ADC|SBB)_LOCK \(M.*", "7.70"),
    (r"CMPXCHG16B(_LOCK)? \(M128\)", "15.00"),
    (r"CMPXCHG8B(_LOCK)? \(M64\)", "9.00"),
    (r"ENTER(_W)? \(.*", "20.00"),
    (r"KMOVQ \(K, R64\)", "1.80"),
    # Gathers and scatters by the number of elements, with a new mask for each.
    (r"VP?(GATHER|SCATTER)[DQ](Q|PD) .*XMM.*|VP?GATHERQ(D|PS) \(XMM, VSIB_XMM, XMM\)", "4.00"),
    (r"VP?GATHERQ(D|PS) \(XMM, K, VSIB_XMM\)|VP?SCATTERQ(D|PS) \(VSIB_XMM.*", "4.00"),
    (r"VP?GATHER(D(D|PS) \(XMM|Q(D|PS) \(XMM, (K, )?VSIB_YMM|[DQ](Q|PD) \(YMM).*", "5.00"),
    (r"VP?SCATTER(D(D|PS) \(VSIB_XMM|Q(D|PS) \(VSIB_YMM).*", "6.00"),
    (r"VP?SCATTER[DQ](Q|PD) \(VSIB_[XY]MM, K, YMM\)", "7.30"),
    (r"VP?GATHERD(D|PS) \(YMM, VSIB.*", "8.00"),
    (r"VP?GATHER(D(D|PS) \(YMM, K|D(Q|PD) \(ZMM).*", "9.00"),
    (r"VP?GATHERQ(D|PS|Q|PD) \([YZ]MM, K, VSIB_ZMM\)", "9.40"),
    (r"VP?SCATTERD(Q|PD) \(VSIB_YMM, K, ZMM\)", "9.00"),
    (r"VP?SCATTERQ\w+ \(VSIB_ZMM.*", "12.00"),
    (r"VP?SCATTERD(D|PS) \(VSIB_YMM.*", "13.00"),
    (r"VP?GATHERD(D|PS) \(ZMM.*", "17.00"),
    (r"VP?SCATTERD(D|PS) \(VSIB_ZMM.*", "23.20"),
)
"""Cycles per instance; the last matching pattern counts."""
_ANY = ""
_SHORTER = (("12", "8"), ("13", "9"), ("14", "10"))
_LATENCIES = (
    (_LANE_MOVES.pattern, _ANY, _ANY, "3"),
    (_HALVES.pattern, _ANY, _ANY, "4"),
    # Published figures that are upper bounds.
    (r"(VPERM([BWDQ]|PS|PD)(_Z)?|VPERM[IT]2\w+|VALIGN[DQ](_Z)?) \(ZMM, .*", _ANY, "6", "5"),
    (r"VPCONFLICT[DQ] \([YZ]MM, .MM\)", _ANY, _ANY, "6"),
    (r"VPCONFLICT[DQ](_Z)? \([YZ]MM, K, .MM\)", "3", _ANY, "6"),
    (r"VPCONFLICT[DQ](_Z)? \([YZ]MM, K, .MM\)", "2", _ANY, "2"),
    (r"VSCALEFP[SD] \(ZMM, ZMM, ZMM\)", _ANY, "4", "3"),
    (r"VDBPSADBW \(ZMM, ZMM, ZMM, I8\)", "2", "4", "3"),
    (r"VPTERNLOG[DQ](_Z)? .*", _ANY, "2", "1"),
    (r"VP?(EXPAND|COMPRESS)\w+ \(ZMM, ZMM\)", "2", _ANY, "5"),
    (r"VP?(EXPAND|COMPRESS)\w+ \(ZMM, K, ZMM\)", "3", _ANY, "5"),
    # From the compared register: a chain through memory takes 15, 10 and 9 cycles.
    *((r"CMPXCHG16B(_LOCK)? \(M128\)", source, was, now) for source in "23" for was, now in _SHORTER),
    *((r"CMPXCHG8B(_LOCK)? \(M64\)", "2", str(was), str(was - 1)) for was in (4, 5, 7, 9)),
    (r"CMPXCHG(_LOCK)? \(M8, R8[lh]\)", "2", "2", "1"),
    # From the old target, which the elements are merged with.
    (r"VP?GATHERD(Q|PD) \(ZMM.*", "1", "6", "11"),
    (r"VP?GATHERQ\w+ \([YZ]MM, K, VSIB_ZMM\)", "1", _ANY, "12"),
)
"""Name, number of the source, published and measured cycles."""
_MASK_LATENCIES = (
    (r"KMOVQ \(K, R64\)", "cycles", 9),
    (r"KMOVQ \(R64, K\)", "cycles", 8),
    (r"KMOV[BWD] \(K, M\d+\)", "cycles_addr", 10),
    (r"KMOVQ \(K, M64\)", "cycles_addr", 11),
    (r"K(OR)?TEST[BWDQ] \(K, K\)", "cycles", 3),
)
"""Latencies that the source lacks, with the upper bounds that it has for other widths of KMOVD."""


_GATHER = re.compile(r"VP?GATHER([DQ])(D|PS|Q|PD) \(([XYZ])MM, (K, )?VSIB_([XYZ])MM.*")
_ELEMENTS = {"D": "W", "PS": "W", "Q": "L", "PD": "L"}
_GATHERED = {
    "DWXX": (15, 13, 16),
    "DWYY": (19, 17, 20),
    "DWZZ": (25, 25, 33),
    "DLXX": (13, 11, 12),
    "DLYX": (15, 13, 15),
    "DLZY": (19, 19, 25),
    "QWXX": (14, 12, 13),
    "QWXY": (15, 13, 16),
    "QWYZ": (19, 19, 22),
    "QLXX": (13, 11, 12),
    "QLYY": (15, 13, 16),
    "QLZZ": (20, 20, 23),
}
"""Index of 32 or 64 bits, elements of 32 (W) or 64 (L), and widths of target and index -> cycles to the
result from a mask in a vector, from one in a mask register, and from the index, measured by chains of each.

What is published for Zen 3 agrees with the first, what is published for this core is lower."""


_EXTRACTED = re.compile(r"VEXTRACT[FI](128|32X[48]|64X[24])(_Z)? \([XY]MM, (K, )?[YZ]MM, I8\)")


def of_lowest_lane(
    name: str, figures: Mapping[str, str], latencies: Sequence[Mapping[str, str]]
) -> tuple[str, dict[str, str], list[dict[str, str]]] | None:
    """Name, figures and latencies of an extraction whose immediate is 0; None for other instructions.

    The lowest lane is copied as by a move: one cycle, on any pipe, of 512 bits in two cycles.
    """
    if not _EXTRACTED.fullmatch(name):
        return None
    cycles = "0.50" if "ZMM" in name else "0.25"
    copied = {"ports": "1*FP0123", "TP_ports": "0.25", "TP_loop": cycles}
    nodes = [{**node, "cycles": "1"} for node in latencies]
    return name.replace("I8)", "0)"), {**figures, **copied}, nodes


def corrected(name: str, attributes: Mapping[str, str]) -> dict[str, str]:
    """The attributes of a completed measurement with these corrections."""
    result = dict(attributes)
    for pattern, cycles in _THROUGHPUTS:
        if re.fullmatch(pattern, name):
            result["throughput"] = cycles
    if _LANE_MOVES.fullmatch(name) or _HALVES.fullmatch(name):
        # As of the other operations between the halves of a register.
        result["ports"] = _TWO_PIPES
    elif _TRANSFERS.fullmatch(name):
        result["ports"], result["uops"] = _TRANSFERRED, "3"
    elif name.startswith("XADD (R"):
        # The other macro-op exchanges registers without a unit.
        result["ports"], result["uops"] = "1*0156", "1"
    return result


def corrected_latency(name: str, attributes: Mapping[str, str]) -> dict[str, str]:
    """A latency with these corrections."""
    result = dict(attributes)
    for pattern, source, published, measured in _LATENCIES:
        stated = source in (_ANY, result["start_op"]) and "cycles" in result
        if stated and published in (_ANY, result["cycles"]) and re.fullmatch(pattern, name):
            result["cycles"] = measured
    if (gather := _GATHER.fullmatch(name)) and result["target_op"] == "1":
        index, element, target, opmask, wide = gather.groups()
        by_vector, by_register, by_index = _GATHERED[index + _ELEMENTS[element] + target + wide]
        mask, memory = ("2", "3") if opmask else ("3", "2")
        if result["start_op"] == mask:
            result["cycles"] = str(by_register if opmask else by_vector)
        elif result["start_op"] == memory:
            result["cycles_addr"] = result["cycles_addr_index"] = str(by_index)
    return result


def added_latencies(name: str, operands: Sequence[OperandFacts]) -> list[dict[str, str]]:
    """Latencies that were measured and that the source lacks."""
    for pattern, key, cycles in _MASK_LATENCIES:
        if re.fullmatch(pattern, name):
            return [
                {"start_op": str(source.index), "target_op": str(target.index), key: str(cycles)}
                for target in operands
                if target.written or target.flags_written
                for source in operands
                if source.read and source.kind != "flags"
            ]
    return []
