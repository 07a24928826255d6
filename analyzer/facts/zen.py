"""Completes uops.info's figures for AMD's Zen by documented rules.

Only the pipes of the floating-point unit are measured there. Load, store and integer uops are added from the
operands, the throughput and AMD's "Software Optimization Guide" for families 17h and 19h (chapters on the
integer, load-store and floating-point units), so that the records have the form of all others. Additions make
a record *constructed*. Wrong figures that were measured again on a Zen 4 have that measurement as their
source (data/SOURCES.md).

Units are written as ports of the tables, whose digits tell what a uop does (docs/pipeline.md, U1):

    0 1 5 6   ALU0 .. ALU3; multiplications on ALU1, divisions on ALU2, branches on ALU0 and ALU3
    2 3 F     address generation for loads; F is the third unit of Zen 3
    7 8       address generation for stores
    4 9       store data
    A B C D   floating-point pipes FP0 .. FP3
    E         FP4 and FP5 of Zen 3, one per cycle for stores and moves to integer registers; Zen 4's FP5
    G         Zen 4's FP4, for the stores
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from cyclelens.analyzer.model.facts import NOPS, OperandFacts
from cyclelens.analyzer.model.units import unit_cycles
from msgspec import Struct

_FP_PIPES = dict(zip("012345", "ABCDEE", strict=True))
_ALUS = "0156"
_ALUS_BY_COUNT = {1: "1", 2: "06"}
"""No operation uses three of the four ALUs: 0.31 to 0.38 cycles are those of the measuring loop."""
_SHIFTERS = "15"
_LOADED = dict.fromkeys(("BEXTR", "BT", "BZHI", "RORX", "SARX", "SHLX", "SHRX"), _SHIFTERS) | dict.fromkeys(
    ("CRC32", "PDEP", "PEXT"), _ALUS_BY_COUNT[1]
)
"""ALUs of operations on a loaded word, as of those on a register."""
_OF_BRANCHES = ("CMOV", "SET", "CMC")
"""Name prefixes of operations that use the branches' ALUs if they use two; other operations use the shifters.
Beside multiplications, which occupy ALU1, only the former take no extra time on Zen 4."""
_FP_BY_COUNT = {1: "C", 2: "BC", 3: "ABD"}
_CARRIES = ("ADC", "SBB", "ADCX", "ADOX")
"""Executed on all four ALUs since Zen 3; the measured throughput is that of their chain through the flags."""
_MULTIPLICATIONS = ("MUL", "IMUL", "MULX")
_DIVISIONS = ("DIV", "IDIV")
_WITHOUT_ALU = ("MOV", "MOVZX", "MOVSX", "MOVSXD", "MOVBE", "PUSH", "POP", "LDDQU")
"""Only the load or store itself, if an operand is in memory."""
_WITHOUT_ALU_LATER = ("MOV", "MOVZX", "MOVNTI", "PUSH", "POP", "LDDQU")
_SHORT_BITS = 16
"""Most bits of a load that keeps the rest of its register, and of a constant that
is stored without an ALU."""
_GENERAL = frozenset({"EAX", "RAX"})
"""First register of an operand in a general-purpose register."""
_FROM_GENERAL = ("06", "D")
"""Uops beside the counted pipes: a branch ALU and FP3, one per cycle."""
_ZERO_IDIOMS = ("XOR", "SUB", "PXOR", "XORP", "PSUB", "PCMPGT", "ANDNP", "PANDN")
_ELIMINATED = ("MOV", "MOVAPS", "MOVAPD", "MOVUPS", "MOVUPD", "MOVDQA", "MOVDQU")
"""Carried out by the renamer between registers of at least 32 bits."""
_BRANCHES = frozenset({"COND_BR", "UNCOND_BR", "CALL", "RET"})
_FUSIBLE = frozenset({"CMP", "TEST"})
_CONDITIONS = ("B", "BE", "L", "LE", "NB", "NBE", "NL", "NLE", "NO", "NP", "NS", "NZ", "O", "P", "S", "Z")
_OF_CARRY = frozenset({"B", "NB", "BE", "NBE"})
"""Conditions on the flag that INC and DEC leave unchanged."""
_FUSIBLE_LATER = _FUSIBLE | {"ADD", "SUB", "AND", "OR", "XOR", "INC", "DEC"}
_SHIFTS_BY_CL = re.compile(r"(SHL|SHR|SAR|ROL|ROR|SHLD|SHRD) \(.*CL\)")
_WAITS = re.compile("K(XOR|ANDN)|V?PCMPGT|PCMPEQQ|PSUBU?S")
"""With one register as both sources they wait for nothing; otherwise they wait for both."""
_TO_FLAGS = re.compile(r"V?(U?COMIS[SD]|PTEST|TESTP[SD]) \(")
_TO_FLAGS_CYCLES = {"ZEN3": (3, 3), "ZEN4": (3, 4)}
"""Latency from vector registers to the flags: of comparisons, and of tests of all bits."""
_WIDE_TO_FLAGS = 2
"""Further cycles of a test of 256 bits, measured on Zen 4."""
_COMPARES_AS_ZEN_4, _COMPARED_EARLIER = ("ZEN3",), 4
"""Cores whose published latencies of CMPXCHG16B from the compared registers are those of Zen 4, within one
cycle, and the cycles by which those are too long on Zen 4."""
_ELIMINATED_FROM = 32
_EXPLAINED = 0.95
"""Share of the measured cycles at which units explain them: figures have two digits."""
_SAME = 0.1
"""Largest relative difference of a throughput and a chain that may be the same."""
_FASTPATH = 2
"""Most macro-ops of an instruction that the microcode sequencer does not deliver."""


class _ZenDifferences(Struct, frozen=True):
    """Differences between the generations."""

    store_addresses: str
    store_data: str
    third_load: bool = False
    narrow: bool = False
    """True if 256-bit operations are two macro-ops."""
    later: bool = False
    """True for Zen 3 and Zen 4."""


_ZEN_3 = _ZenDifferences("78", "49", third_load=True, later=True)
_CORES = {
    "ZEN+": _ZenDifferences("23", "4", narrow=True),
    "ZEN2": _ZenDifferences("7", "4"),
    "ZEN3": _ZEN_3,
    "ZEN4": _ZEN_3,
}


def is_zen(microarchitecture: str) -> bool:
    """True if the figures of this microarchitecture have to be completed."""
    return microarchitecture in _CORES


class VariantDescription(Struct, frozen=True):
    """The core-independent description of an instruction variant."""

    name: str
    category: str
    operands: Sequence[OperandFacts]
    fusible: str = ""
    """The branches that fuse with it, where measured."""


def completed(
    attributes: Mapping[str, str],
    variant: VariantDescription,
    microarchitecture: str,
    *,
    zero_latencies: bool,
    chain: float = 0.0,
) -> dict[str, str]:
    """Returns the attributes of a measurement with all uops in ``ports``, and the measured ``throughput``.

    ``zero_latencies``: nothing depends on the inputs if all registers are the same. ``chain``: from
    ``implicit_chain``. Raises ValueError if a figure is not a number.
    """
    name, category, operands = variant.name, variant.category, variant.operands
    core = _CORES[microarchitecture]
    mnemonic = name.split(" ")[0].split("_")[0]
    macro_ops = int(attributes.get("uops", "1"))
    cycles = float(attributes.get("TP_ports") or attributes.get("TP_loop") or "1")
    # A NOP reads nothing: an address does not make it slower.
    loads = [o for o in operands if o.kind == "mem" and o.read and category not in NOPS]
    stores = [o for o in operands if o.kind == "mem" and o.written]
    named = any(not o.suppressed for o in (*loads, *stores))
    vector = any(
        register.startswith(("XMM", "YMM", "ZMM", "MM")) for o in operands for register in o.registers
    )

    stem = mnemonic.removeprefix("V")
    divides = vector and stem.startswith(("DIV", "SQRT"))
    # A load into a vector register that uses no pipe.
    only_loads = vector and loads and not divides and (macro_ops == 1 or stem.startswith("MOV"))
    uses = _floating_point(attributes.get("ports", ""))
    # The counted pipes exclude the transfer from a general register.
    general = (
        core.later and vector and any(o.read and _GENERAL.intersection(o.registers[:1]) for o in operands)
    )
    if not uses and not only_loads:
        count = macro_ops - (len(loads) > 1)
        if vector:
            uses = list(_FROM_GENERAL) if general else [_vector_pipes(mnemonic, macro_ops, cycles)] * count
        elif category in _BRANCHES:
            uses = ["06"]
        elif mnemonic == "MOV" and any(o.kind == "imm" for o in operands) and not stores:
            uses = [_ALUS]  # the measured throughput is limited by fetched bytes
        elif core.later and named and mnemonic not in _MULTIPLICATIONS:
            units = _alus(mnemonic, macro_ops, cycles, True, later=True)
            uses = [units] * _beside_memory(mnemonic, category, operands, count)
        elif category not in NOPS and not (mnemonic in _WITHOUT_ALU and (loads or stores)):
            units = _alus(mnemonic, macro_ops, cycles, bool(loads or stores), later=core.later)
            uses = [units] * count
            multiplied = max(1, round(cycles))
            if (
                mnemonic in _MULTIPLICATIONS and count > multiplied
            ):  # the others move the upper half of the result
                two = core.later and sum(o.kind == "reg" and o.written for o in operands) > 1
                others = [_ALUS_BY_COUNT[2]] * 2 * multiplied if two else [_ALUS] * (count - multiplied)
                uses[multiplied:] = others
    elif general and macro_ops == len(uses) + 1:
        uses = [*_FROM_GENERAL, *uses]
    if "VSIB" in name and microarchitecture == "ZEN4":
        # Microcode of gathers and scatters uses FP4 and FP5 together. A Zen 3 was measured between that and
        # one per cycle (8.2 and 9.6 cycles for eight elements).
        uses = _with_both_transfer_pipes(uses)
    for operand in loads:
        third = core.third_load and not vector
        uses += ["23F" if third else "23"] * (2 if core.narrow and operand.width > 128 else 1)
    for operand in stores:
        parts = 2 if core.narrow and operand.width > 128 else 1
        data = core.store_data[0] if vector else core.store_data
        # The address of a loaded operand is not generated again.
        again = not (core.later and operand.read and macro_ops <= _FASTPATH)
        uses += [data, core.store_addresses] * parts if again else [data]

    result = dict(attributes)
    # Measurements without ports have the throughput under TP_ports.
    throughput = float(attributes.get("TP_loop" if "ports" in attributes else "TP_ports") or "0")
    # The throughput of branches is that of their places.
    if category not in _BRANCHES and abs(throughput - chain) > _SAME * throughput:
        result["throughput"] = f"{throughput:.2f}"
    else:
        throughput = 0.0
    result["uops"] = str(len(uses))
    result["ports"] = "+".join(f"{uses.count(ports)}*{ports}" for ports in dict.fromkeys(uses))
    if not uses:
        del result["ports"]
    result["uops_retire_slots"] = str(max(1, macro_ops))
    result["uops_MITE"] = str(min(max(1, macro_ops), _FASTPATH))
    result["uops_MS"] = str(max(0, macro_ops - _FASTPATH))
    for key in ("uops_same_reg", "ports_same_reg", "uops_indexed", "ports_indexed"):
        result.pop(key, None)
    if stem in _ELIMINATED and not loads and not stores and _between_registers(operands):
        # In the format of other processors: the cost of a move that is not eliminated is under same_reg.
        result |= {"uops_same_reg": "1", "ports_same_reg": result.pop("ports"), "uops": "0"}
    if zero_latencies and stem.startswith(_ZERO_IDIOMS):
        result["uops_same_reg"] = "0"
    if microarchitecture == "ZEN4" and "TP_unrolled" in attributes:
        # Only whole cycles of the throughput in the summary were kept.
        whole = str(max(round(cycles), int(float(attributes["TP_unrolled"]))))
        result |= {"TP_unrolled": whole, "TP_loop": whole}
    if divides:
        measured = max(cycles, float(attributes.get("TP_loop", "0")))
        result["div_cycles"] = str(max(1, round(measured)))
    elif (
        not core.later
        and not {"div_cycles", "TP_unrolled"} & set(attributes)
        and round(throughput) > 1
        and _needed(uses) < _EXPLAINED * throughput
    ):
        # The instruction itself delays the next one. With an occupancy beyond the divider's, the rules of the
        # tables take the latter for a limit (D2).
        result |= {"div_cycles": "0", "TP_unrolled": str(round(throughput))}
    result.pop("macro_fusible", None)
    fusible = (
        _fusible_later(mnemonic, loads) if core.later else variant.fusible if mnemonic in _FUSIBLE else ""
    )
    if fusible:
        result["macro_fusible"] = fusible
    return result


def _with_both_transfer_pipes(uses: Sequence[str]) -> list[str]:
    """These uops, with one on FP4 and FP5 for every two."""
    others = [pipes for pipes in uses if pipes != _FP_PIPES["4"]]
    return others + [_FP_PIPES["4"]] * -(-(len(uses) - len(others)) // 2)


def _beside_memory(mnemonic: str, category: str, operands: Sequence[OperandFacts], macro_ops: int) -> int:
    """Number of ALU operations beside a load or store, as measured among additions on a Zen 4."""
    if category == "PREFETCH":
        return 0
    if mnemonic not in _WITHOUT_ALU_LATER:
        return 1 if macro_ops == _FASTPATH else macro_ops  # one of two is the load or store
    kept = any(o.kind == "reg" and o.written and o.width <= _SHORT_BITS for o in operands)
    long = any(o.kind == "imm" and o.width > _SHORT_BITS for o in operands)
    return int(mnemonic in ("MOV", "MOVZX") and (kept or long))


def _between_registers(operands: Sequence[OperandFacts]) -> bool:
    registers = [o.width for o in operands if o.kind == "reg"]
    return len(registers) == 2 and min(registers) >= _ELIMINATED_FROM


def _fusible_later(mnemonic: str, loads: Sequence[OperandFacts]) -> str:
    """The branches that fuse with an operation on registers, as measured on Zen 4; empty if it reads memory,
    because then the pair is two macro-ops."""
    if mnemonic not in _FUSIBLE_LATER or loads:
        return ""
    without = _OF_CARRY if mnemonic in ("INC", "DEC") else frozenset()
    jumps = (
        f"J{each} ({width})" for each in _CONDITIONS if each not in without for width in ("Rel32", "Rel8")
    )
    return ";".join(jumps)


def measured_latency(
    attributes: Mapping[str, str], *, microarchitecture: str, name: str, operands: Sequence[OperandFacts]
) -> dict[str, str]:
    """A latency with corrections for Zen 4 that ``cyclelens characterize`` measured; other cores'
    latencies are unchanged."""
    result = dict(attributes)
    compared = _TO_FLAGS.match(name)
    if compared and microarchitecture in _TO_FLAGS_CYCLES:
        # The published figures are upper bounds.
        if "cycles" in result:
            cycles = _TO_FLAGS_CYCLES[microarchitecture]["TEST" in compared[1]]
            result["cycles"] = str(cycles + _WIDE_TO_FLAGS * ("YMM" in name))
        if "cycles_mem" in result:
            result["cycles_mem"] = result["cycles_addr"]
    compares_wide = microarchitecture in _COMPARES_AS_ZEN_4 and name.startswith("CMPXCHG16B")
    if compares_wide and "cycles" in result and result["start_op"] in ("2", "3"):
        result["cycles"] = str(int(result["cycles"]) - _COMPARED_EARLIER)
    if microarchitecture != "ZEN4":
        return result
    by_index = {str(o.index): o for o in operands}
    start, target = by_index[result["start_op"]], by_index[result["target_op"]]
    if target.kind == "flags" and _SHIFTS_BY_CL.fullmatch(name):
        # The published figure holds for a count of zero, which keeps the flags.
        if start.registers == ("CL",):
            result["cycles"] = "1"
        if start.kind == "flags":
            result["cycles"] = "2" if name.startswith(("SHLD", "SHRD")) else "1"
        if start.kind == "mem":
            result["cycles_addr_index"] = result["cycles_addr"]
    elif (
        target.kind == "flags" and start.kind == "mem" and start.written and result.get("cycles_addr") == "1"
    ):
        result["cycles_addr"] = result["cycles_addr_index"] = "5"  # the load's four cycles, and the operation
    elif name.startswith("VCVTSI2S") and start.index == 2:
        result["cycles"] = "3"  # into a register that keeps the rest of another one
    elif result.get("cycles") == "0" and _WAITS.match(name):
        # The published figure holds if both sources are one register, so that nothing is waited for.
        if not target.registers[0].startswith("K"):
            result["cycles"] = "2"
        else:
            result["cycles"] = {128: "3", 256: "4", 512: "5"}.get(start.width, "1")
    return result


def implicit_chain(latencies: Iterable[Mapping[str, str]], operands: Sequence[OperandFacts]) -> float:
    """Cycles of a chain through flags or unnamed registers that every instance reads and writes.

    A throughput of equal length may be that of the chain.
    """
    implied = {
        str(o.index)
        for o in operands
        if (o.kind == "flags" and o.flags_read and o.flags_written)
        or (o.kind == "reg" and len(o.registers) == 1 and o.read and o.written)
    }
    own = (each for each in latencies if each.get("start_op") == each.get("target_op"))
    return max(
        (float(each.get("cycles", "0")) for each in own if each.get("start_op") in implied), default=0.0
    )


def _needed(uses: Sequence[str]) -> float:
    """Cycles that the units need for uops with these ports."""
    return unit_cycles((sum(1 << int(letter, 16) for letter in use), 1.0) for use in uses)


def _floating_point(text: str) -> list[str]:
    """Pipes of each uop of ``1*FP01+2*FP2``. Raises ValueError."""
    uses = []
    for part in filter(None, text.split("+")):
        count, _, unit = part.partition("*")
        if not unit.startswith("FP"):
            raise ValueError(f"ports={text!r}")
        uses += ["".join(sorted({_FP_PIPES[pipe] for pipe in unit[2:]}))] * int(count)
    return uses


def _vector_pipes(mnemonic: str, macro_ops: int, cycles: float) -> str:
    """Pipes of an operation that was not measured: mostly 256-bit ones of Zen+."""
    stem = mnemonic.removeprefix("V")
    if stem.startswith(("FMADD", "FMSUB", "FNM", "MUL")):
        return "AB"
    if stem.startswith(("ADDP", "ADDS", "SUBP", "SUBS", "MAXP", "MINP", "CVT")):
        return "CD"
    if stem.startswith(("DIV", "SQRT")):
        return "D"
    return _FP_BY_COUNT.get(round(macro_ops / cycles) if cycles else 4, "ABCD")


def _alus(mnemonic: str, macro_ops: int, cycles: float, memory: bool, *, later: bool) -> str:
    if mnemonic in _MULTIPLICATIONS:
        return "1"
    if mnemonic in _DIVISIONS:
        return "5"
    if later and mnemonic.startswith(("SET", "CMOV")):
        return _ALUS_BY_COUNT[2]
    if later and memory and macro_ops <= _FASTPATH and mnemonic in _LOADED:
        return _LOADED[mnemonic]
    # With a memory operand the throughput is that of the load or store; microcode has its own.
    if (later and macro_ops > _FASTPATH) or memory or not cycles or (later and mnemonic in _CARRIES):
        return _ALUS
    count = round(macro_ops / cycles)
    if later and count == len(_SHIFTERS) and not mnemonic.startswith(_OF_BRANCHES):
        return _SHIFTERS
    return _ALUS_BY_COUNT.get(count, _ALUS)
