"""What uops.info leaves out of its figures for AMD's Zen, by documented rules.

There only the pipes of the floating-point unit are measured. Load, store and integer uops are added from the
operands, the throughput and AMD's "Software Optimization Guide" for the families 17h and 19h (chapters on the
integer, load-store and floating-point units), so that the records have the shape of all others. What was
added makes a record *constructed*.

Units are written as the ports of the tables, whose digits say what a uop does (docs/pipeline.md, U1):

    0 1 5 6   ALU0 .. ALU3; multiplications on ALU1, divisions on ALU2, branches on ALU0 and ALU3
    2 3 F     address generation for loads; F is the third unit of Zen 3
    7 8       address generation for stores
    4 9       store data
    A B C D   floating-point pipes FP0 .. FP3
    E         FP4 and FP5 of Zen 3, of which stores and moves to integer registers use one per cycle
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cyclelens.analyzer.model.facts import OperandFacts

_FP_PIPES = dict(zip("012345", "ABCDEE", strict=True))
_ALUS = "0156"
_ALUS_BY_COUNT = {1: "1", 2: "06", 3: "015"}
_FP_BY_COUNT = {1: "C", 2: "BC", 3: "ABD"}
_MULTIPLICATIONS = ("MUL", "IMUL", "MULX")
_DIVISIONS = ("DIV", "IDIV")
_WITHOUT_ALU = ("MOV", "MOVZX", "MOVSX", "MOVSXD", "MOVBE", "PUSH", "POP", "LDDQU")
"""Only with a memory operand: the load or store is all there is."""
_ZERO_IDIOMS = ("XOR", "SUB", "PXOR", "XORP", "PSUB", "PCMPGT", "ANDNP", "PANDN")
_ELIMINATED = ("MOV", "MOVAPS", "MOVAPD", "MOVUPS", "MOVUPD", "MOVDQA", "MOVDQU")
"""Between registers: carried out by the renamer."""
_BRANCHES = frozenset({"COND_BR", "UNCOND_BR", "CALL", "RET"})
_FUSIBLE = frozenset({"CMP", "TEST"})
_FUSIBLE_LATER = _FUSIBLE | {"ADD", "SUB", "AND", "OR", "XOR", "INC", "DEC"}
_FASTPATH = 2
"""Macro-ops of one instruction beyond which the microcode sequencer delivers."""


@dataclass(frozen=True, slots=True)
class _Core:
    """What differs between the generations."""

    store_addresses: str
    store_data: str
    third_load: bool = False
    narrow: bool = False
    """256-bit operations are two macro-ops."""
    fusible: frozenset[str] = _FUSIBLE


_ZEN_3 = _Core("78", "49", third_load=True, fusible=_FUSIBLE_LATER)
_CORES = {"ZEN+": _Core("23", "4", narrow=True), "ZEN2": _Core("7", "4"), "ZEN3": _ZEN_3, "ZEN4": _ZEN_3}


def is_zen(microarchitecture: str) -> bool:
    """Whether the figures of this microarchitecture have to be completed."""
    return microarchitecture in _CORES


def completed(
    attributes: Mapping[str, str],
    *,
    microarchitecture: str,
    name: str,
    category: str,
    operands: Sequence[OperandFacts],
    zero_latencies: bool,
    fusible: str,
) -> dict[str, str]:
    """The attributes of a measurement with all uops in ``ports``.

    ``zero_latencies``: nothing depends on the inputs if all registers are the same; ``fusible``: the branches
    that fuse with the instruction where that was measured. Raises ValueError for a figure that is no number.
    """
    core = _CORES[microarchitecture]
    mnemonic = name.split(" ")[0].split("_")[0]
    macro_ops = int(attributes.get("uops", "1"))
    cycles = float(attributes.get("TP_ports") or attributes.get("TP_loop") or "1")
    loads = [o for o in operands if o.kind == "mem" and o.read]
    stores = [o for o in operands if o.kind == "mem" and o.written]
    vector = any(
        register.startswith(("XMM", "YMM", "ZMM", "MM")) for o in operands for register in o.registers
    )

    stem = mnemonic.removeprefix("V")
    divides = vector and stem.startswith(("DIV", "SQRT"))
    # A load into a vector register that uses no pipe.
    only_loads = vector and loads and not divides and (macro_ops == 1 or stem.startswith("MOV"))
    uses = _floating_point(attributes.get("ports", ""))
    if not uses and not only_loads:
        count = macro_ops - (len(loads) > 1)
        if vector:
            uses = [_vector_pipes(mnemonic, macro_ops, cycles)] * count
        elif category in _BRANCHES:
            uses = ["06"]
        elif category not in ("NOP", "WIDENOP") and not (mnemonic in _WITHOUT_ALU and (loads or stores)):
            uses = [_alus(mnemonic, macro_ops, cycles, bool(loads or stores))] * count
    for operand in loads:
        third = core.third_load and not vector
        uses += ["23F" if third else "23"] * (2 if core.narrow and operand.width > 128 else 1)
    for operand in stores:
        parts = 2 if core.narrow and operand.width > 128 else 1
        data = core.store_data[0] if vector else core.store_data
        uses += [data, core.store_addresses] * parts

    result = dict(attributes)
    result["uops"] = str(len(uses))
    result["ports"] = "+".join(f"{uses.count(ports)}*{ports}" for ports in dict.fromkeys(uses))
    if not uses:
        del result["ports"]
    result["uops_retire_slots"] = str(max(1, macro_ops))
    result["uops_MITE"] = str(min(max(1, macro_ops), _FASTPATH))
    result["uops_MS"] = str(max(0, macro_ops - _FASTPATH))
    for key in ("uops_same_reg", "ports_same_reg", "uops_indexed", "ports_indexed"):
        result.pop(key, None)
    if stem in _ELIMINATED and not loads and not stores:
        # Shaped as for other processors: what it costs where it is not eliminated stands under same_reg.
        result |= {"uops_same_reg": "1", "ports_same_reg": result.pop("ports"), "uops": "0"}
    if zero_latencies and stem.startswith(_ZERO_IDIOMS):
        result["uops_same_reg"] = "0"
    if divides:
        measured = max(cycles, float(attributes.get("TP_loop", "0")))
        result["div_cycles"] = str(max(1, round(measured)))
    if fusible and mnemonic in core.fusible:
        result["macro_fusible"] = fusible
    return result


def _floating_point(text: str) -> list[str]:
    """Pipes of every uop of ``1*FP01+2*FP2``."""
    uses = []
    for part in filter(None, text.split("+")):
        count, _, unit = part.partition("*")
        if not unit.startswith("FP"):
            raise ValueError(f"ports={text!r}")
        uses += ["".join(sorted({_FP_PIPES[pipe] for pipe in unit[2:]}))] * int(count)
    return uses


def _vector_pipes(mnemonic: str, macro_ops: int, cycles: float) -> str:
    """Pipes that an operation uses which was not measured: mostly the 256-bit ones of Zen+."""
    stem = mnemonic.removeprefix("V")
    if stem.startswith(("FMADD", "FMSUB", "FNM", "MUL")):
        return "AB"
    if stem.startswith(("ADDP", "ADDS", "SUBP", "SUBS", "MAXP", "MINP", "CVT")):
        return "CD"
    if stem.startswith(("DIV", "SQRT")):
        return "D"
    return _FP_BY_COUNT.get(round(macro_ops / cycles) if cycles else 4, "ABCD")


def _alus(mnemonic: str, macro_ops: int, cycles: float, memory: bool) -> str:
    if mnemonic in _MULTIPLICATIONS:
        return "1"
    if mnemonic in _DIVISIONS:
        return "5"
    # With a memory operand the throughput is that of the load or store.
    return _ALUS if memory or not cycles else _ALUS_BY_COUNT.get(round(macro_ops / cycles), _ALUS)
