"""Completes the records of Zen 5, whose measurement names classes of units: ``ports`` for floating-point
pipes, ``ports_int`` for integer and memory uops.

Both become one list, and the time for which a unit is busy is separated from mere latency.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cyclelens.analyzer.model.facts import OperandFacts

NAME = "ZEN5"
_ESTIMATE = "_est"
_LONG = 10.0
_WITHOUT_UNITS = 4.0
_BEYOND_PIPES = 1.9
_NEAR_BOUND = 0.75
_MICROCODE = 3
"""Instructions of at least this many macro-ops are microcode."""
_ALUS = 6
_WITHOUT_PIPELINE = ("CLD", "RDPID (R64)")
"""Instructions that run one after the other, whatever unit they use."""
_GATHER = re.compile(r"VP?GATHER\w+ \(.*")
_BY_ELEMENT = re.compile(r"VP?(GATHER|SCATTER)\w+ \(.*")
_EXPLAINED = 0.95
"""Share of the measured cycles at which pipes explain what gathers and scatters take: figures have two
digits."""
_BEFORE_INDEX = {"vector": 1, "register": 2}
"""Cycles by which a gather waits longer for its index than for its mask, at least: as measured on Zen 4,
because no chain through a mask was measured on this core."""


def completed(
    attributes: Mapping[str, str],
    *,
    name: str,
    locked: bool,
    operands: Sequence[OperandFacts],
) -> dict[str, str]:
    """Returns the attributes of a measurement with all uops in ``ports``.

    ``div_cycles`` is the time for which a divider is busy, and ``TP_unrolled`` is present only if an
    instruction keeps a unit or the core busy that long. Raises ValueError if a figure is not a number.
    """
    result = dict(attributes)
    pipes = _uses(attributes.get("ports", ""))
    integer = [(unit, count) for unit, count in _uses(attributes.get("ports_int", "")) if unit != "DIV"]
    result.pop("ports_int", None)
    for key in [key for key in result if key.endswith(("_same_reg", "_indexed"))]:
        del result[key]
    uses = [*integer, *pipes]
    if _GATHER.fullmatch(name):
        uses.reverse()  # What waits for the mask and the old target begins the microcode: no store does.
    if name in _WITHOUT_PIPELINE:
        uses, integer = [], []
    result["ports"] = "+".join(f"{count}*{unit}" for unit, count in uses)
    if not uses:
        del result["ports"]
    cycles = float(attributes.get("TP_loop", "0"))
    divides = int(attributes.get("div_cycles", "0"))
    vector = any(r.startswith(("XMM", "YMM", "ZMM", "MM", "K")) for o in operands for r in o.registers)
    result.pop("TP_unrolled", None)
    if divides:
        result["div_cycles"] = str(max(1, round(cycles)))
        if vector:
            # Single precision takes half a cycle more than a whole number.
            result["throughput"] = f"{cycles:.2f}"
    elif (
        _is_locked(name, locked, operands)
        or name in _WITHOUT_PIPELINE
        or _occupies(cycles, vector, uses, pipes)
        or (_BY_ELEMENT.fullmatch(name) and _bound(pipes) < _EXPLAINED * cycles)
        or (not vector and _is_slow_microcode(float(attributes.get("uops", "0")), cycles, uses))
    ):
        # With an occupancy beyond the divider's, the rules of the tables take the latter for a limit (D2).
        result["div_cycles"], result["TP_unrolled"] = "0", str(round(cycles))
    return result


def best_latency(attributes: Mapping[str, str]) -> dict[str, str]:
    """A latency with the best estimate of each part instead of an upper bound across register classes."""
    result = {key: value for key, value in attributes.items() if not key.endswith(_ESTIMATE)}
    for key, value in attributes.items():
        if key.endswith(_ESTIMATE):
            result[key.removesuffix(_ESTIMATE)] = value
    return result


def added_latencies(name: str, latencies: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The latency of a gather from its mask, which was not measured: inferred from that of the index."""
    if not _GATHER.fullmatch(name):
        return []
    mask, memory, kind = ("2", "3", "register") if ", K, " in name else ("3", "2", "vector")
    return [
        {
            "start_op": mask,
            "target_op": each["target_op"],
            "cycles": str(int(each["cycles_addr"]) - _BEFORE_INDEX[kind]),
        }
        for each in latencies
        if each["start_op"] == memory and "cycles_addr" in each
    ]


def _is_locked(name: str, locked: bool, operands: Sequence[OperandFacts]) -> bool:
    return locked or (name.startswith("XCHG") and any(operand.kind == "mem" for operand in operands))


def _occupies(
    cycles: float, vector: bool, uses: Sequence[tuple[str, int]], pipes: Sequence[tuple[str, int]]
) -> bool:
    """True if the instruction itself delays the next one."""
    if vector:
        # A vector instruction that is slower than its pipes occupies the first of them (M21).
        return bool(pipes) and cycles >= _BEYOND_PIPES and _bound(pipes) < _NEAR_BOUND * cycles
    return cycles >= _LONG or (not uses and cycles >= _WITHOUT_UNITS)


def _is_slow_microcode(ops: float, cycles: float, uses: Sequence[tuple[str, int]]) -> bool:
    """True if it is slower than its operations would be: string instructions, bit operations in memory."""
    operations = sum(count for unit, count in uses if unit.startswith("ALU"))
    return ops >= _MICROCODE and cycles >= _BEYOND_PIPES and operations / _ALUS < _NEAR_BOUND * cycles


def _bound(pipes: Sequence[tuple[str, int]]) -> float:
    """Fewest cycles that the pipes need."""
    stores = sum(count for unit, count in pipes if unit == "FP45") / 2
    others = [(set(unit[2:]), count) for unit, count in pipes if unit != "FP45"]
    sets = [{"0123"[i] for i in range(4) if chosen >> i & 1} for chosen in range(1, 16)]
    return max([stores] + [sum(c for allowed, c in others if allowed <= s) / len(s) for s in sets])


def _uses(text: str) -> list[tuple[str, int]]:
    uses = []
    for part in filter(None, text.split("+")):
        count, _, unit = part.partition("*")
        uses.append((unit, int(count)))
    return uses
