"""Combines decoded operands and table operands: what an instruction reads, writes and accesses.

Rules V1 to V8 (which figures apply) and O1 to O8 (operands and latencies) of docs/pipeline.md, from the uiCA
model; V10 and V11 beyond it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

from cyclelens.analyzer.model.facts import Figures, InstructionFacts
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.microarchitecture import Maker, Microarchitecture
from cyclelens.analyzer.model.units import Role, UnitUse, UopKind
from cyclelens.analyzer.model.uops import MemoryAccess, RegisterOperand
from cyclelens.analyzer.uops.binding import BoundOperand
from cyclelens.analyzer.uops.latency_table import LatencyTable
from cyclelens.analyzer.uops.occupancy import occupied
from cyclelens.analyzer.uops.registers import canonical, is_general_purpose, is_simd, width
from cyclelens.analyzer.uops.returns import of_flags_from_stack, of_predicted_return
from msgspec import Struct
from msgspec.structs import replace

Latencies = Mapping[tuple[str, int, str, int], int]

FLAG_GROUPS = ("C", "SPAZO")

_SERIALIZING_FORMS = frozenset(
    {"LFENCE", "CPUID", "IRET", "IRETD", "RSM", "INVD", "WBINVD", "WRMSR"}
    | {"MOV_CR_CR_GPR64", "MOV_DR_DR_GPR64"}
)
_SERIALIZING_STEMS = ("INVEPT", "INVLPG", "INVVPID", "LGDT", "LIDT", "LLDT", "LTR")
MOVZX_ALIASES = frozenset({"SPL", "BPL", "SIL", "DIL", "R12B", "R13B", "R14B", "R15B"})
_PUSHES = ("PUSH", "CALL", "ENTER")
_POPS = ("POP", "RET", "IRET")
_ADDITIONS = frozenset({"add", "sub", "inc", "dec", "lea", "mov", "movabs"})
_EQUALITIES = r"v?pcmpeq[bwdq]"
_SHIFTS = frozenset({"shl", "sal", "shr", "sar", "rol", "ror", "rcl", "rcr", "shlx", "shrx", "sarx"})


class Prepared(Struct, frozen=True):
    """An instruction with the figures that apply to it, before macro-fusion and expansion into uops."""

    instruction: Instruction
    facts: InstructionFacts
    figures: Figures
    uses: tuple[UnitUse, ...]
    uop_count: int
    complex_decoder: bool
    available_simple_decoders: int
    eliminable_move: bool
    register_inputs: tuple[RegisterOperand, ...]
    register_outputs: tuple[RegisterOperand, ...]
    address_inputs: tuple[RegisterOperand, ...]
    flag_inputs: tuple[str, ...]
    flag_outputs: tuple[str, ...]
    memory_operands: tuple[MemoryAccess, ...]
    latencies: Latencies
    rsp_change: int
    is_branch: bool
    serializing: bool
    load_serializing: bool
    store_serializing: bool
    has_simd_operand: bool
    has_zmm_operand: bool
    load_latency: int
    """Latency of a load whose result no other uop of the instruction uses."""
    operand_latency: int
    """Latency of a load whose result another uop of the instruction uses."""
    added: int | None = None
    """The constant difference of its result from its input, if the renamer can add
    it (V9); otherwise None."""
    offset_registers: tuple[str, ...] = ()
    """Canonical registers that cost it two cycles while the renamer owes them a constant (V9)."""


MAXIMUM_UOPS = 1_000
"""Most uops of one simulated instruction. Few have more (WBINVD, RDRAND on some cores), and the pipeline does
not determine their time."""


class TooManyUopsError(ValueError):
    """An instruction of more than ``MAXIMUM_UOPS`` uops; the message is for the user."""


def prepare(
    instruction: Instruction,
    facts: InstructionFacts,
    operands: Sequence[BoundOperand],
    microarchitecture: Microarchitecture,
    *,
    hardware: bool = False,
) -> Prepared:
    """Selects the figures of an instruction on a core; ``operands`` are its bound operands.

    ``hardware``: the hardware model's rules apply: idioms with a known result are recognised whatever their
    target register (V10, V11), and measured throughputs keep instances apart (D4).
    Raises TooManyUopsError.
    """
    rsp_change = _rsp_change(instruction, facts)
    registers = [
        o for o in operands if o.register is not None and not _is_stack_engine_register(o, rsp_change)
    ]
    memory = [o for o in operands if o.memory is not None]
    simd_or_gpr = [
        canonical(o.register)
        for o in registers
        if o.register and (is_general_purpose(o.register) or is_simd(o.register))
    ]
    same_register = len(simd_or_gpr) >= 2 and len(set(simd_or_gpr)) == 1
    same_register_twice = hardware and _reads_one_register_twice(instruction)
    if same_register_twice and not same_register:
        same_register = _waits_for_no_source(facts)
    indexed = [o for o in memory if o.memory and o.memory.index]

    figures = facts.base
    table = LatencyTable(facts, same_register=False)
    if same_register:
        figures = _override(figures, facts.same_register)
        if any(pair.same_register is not None for pair in facts.latencies.values()):
            table = LatencyTable(facts, same_register=True)
    if indexed:
        figures = _override(figures, facts.indexed)
    if hardware:
        figures = of_predicted_return(figures, facts.iform, microarchitecture)
        figures = of_flags_from_stack(figures, facts.iform, microarchitecture)
    figures = occupied(
        figures, instruction.mnemonic, microarchitecture, hardware=hardware, locked=facts.locked
    )

    issued = (figures.mite_uops or 0) + (figures.ms_uops or 0)
    count = max(figures.uops or 0, figures.retire_slots or 0, issued)
    if count > MAXIMUM_UOPS:
        raise TooManyUopsError(
            f"'{instruction.text}' is {count:,} uops on {microarchitecture.name};"
            f" instructions of more than {MAXIMUM_UOPS:,} are not simulated."
        )

    inputs = _register_inputs(registers, table, instruction)
    outputs = _register_outputs(registers)
    eliminable, excluded = _eliminable(facts, figures, inputs, outputs, microarchitecture)
    uop_count = figures.uops or 0
    ports = figures.ports or ()
    if eliminable or excluded:
        # Behaviour of the move when it is not eliminated (V5).
        if facts.same_register.uops is not None:
            uop_count = facts.same_register.uops
        if facts.same_register.ports is not None:
            ports = facts.same_register.ports
        if any(pair.same_register is not None for pair in facts.latencies.values()):
            table = LatencyTable(facts, same_register=True)

    accessed = [o for o in memory if o.facts.kind == "mem"]
    accesses = [access_of(o, rsp_change, len(memory)) for o in accessed]
    address_inputs = [
        register
        for o, access in zip(accessed, accesses, strict=True)
        for register in address_registers(o, access.implicit_stack)
    ]
    agen_inputs = [r for o in memory if o.facts.kind == "agen" for r in address_registers(o, False)]
    flags = ([o.facts for o in operands if o.facts.kind == "flags"] or (None,))[0]
    flag_inputs = _flag_groups(flags.flags_read) if flags else ()
    flag_outputs = _flag_groups(flags.flags_written) if flags else ()
    memory_numbers = {o.facts.name: o.facts.index for o in memory}
    targets = (
        [("reg", position, out.index) for position, out in enumerate(outputs)]
        + [("flag", position, flags.index) for position, _ in enumerate(flag_outputs) if flags]
        + [
            ("mem", position, memory_numbers[access.name])
            for position, access in enumerate(accesses)
            if access.written
        ]
    )
    added = added_at_rename(instruction, microarchitecture)
    if added is not None:
        uop_count, ports = 1, ()
    if same_register_twice and re.fullmatch(_EQUALITIES, instruction.mnemonic):
        inputs = [operand for operand in inputs if not is_simd(operand.name)]
    if not eliminable and added is None:
        waits_for_data = microarchitecture.stores_wait_for_data and (
            hardware or microarchitecture.tracks_values
        )
        numbers = [number for _, _, number in targets]
        # Some renamers pass exchanged registers on in no time (M7, U13).
        exchanges = hardware or microarchitecture.macro_ops is not None
        exchanged = exchanges and instruction.mnemonic == "xchg" and not memory
        inputs = [
            operand
            for operand in inputs
            if any(map(partial(table.plain, operand.index), numbers))
            or exchanged
            or (waits_for_data and not outputs and not flags)
        ]
    simd = any(is_simd(o.register) for o in operands if o.register)
    loaded = (microarchitecture.load_latency, microarchitecture.vector_load_latency)
    operand_latency = loaded[simd]
    masks = microarchitecture.macro_ops is not None and any(
        o.register[:1] == "K" for o in registers if o.register
    )
    loading = loaded[simd or masks]
    fills = hardware and simd and microarchitecture.maker is Maker.INTEL
    starts = [(operand.index, role) for operand, role in address_inputs]
    if hardware and not starts:
        # An address without registers: what is loaded takes as long as through a base (O10).
        loads = [o.facts.index for o, each in zip(accessed, accesses, strict=True) if each.read]
        starts = [(index, "base") for index in loads if not rsp_change][-1:]
    latencies: dict[tuple[str, int, str, int], int] = {}
    for kind, target, number in targets:
        for position, operand in enumerate(inputs):
            cycles = table.plain(operand.index, number)
            latencies["reg", position, kind, target] = cycles if added is None else 1
        for position, (operand, role) in enumerate(agen_inputs, start=len(inputs)):
            cycles = table.address(operand.index, number, role)
            latencies["reg", position, kind, target] = cycles if added is None else 1
        for position, (start, role) in enumerate(starts):
            after_load = table.after_load(start, number, from_others=fills)
            latencies["addr", position, kind, target] = (
                table.address(start, number, role) if after_load is None else after_load + loading
            )
        for position, _ in enumerate(flag_inputs):
            if flags:
                latencies["flag", position, kind, target] = table.plain(flags.index, number)
        for position, access in enumerate(accesses):
            latencies["mem", position, kind, target] = table.memory(memory_numbers[access.name], number)

    ms_uops = figures.ms_uops or 0
    mite_uops = figures.mite_uops or 1
    several = mite_uops > 1 and microarchitecture.several_uops_need_complex_decoder
    complex_decoder = bool(figures.complex_decoder) or ms_uops > 0 or several
    simple_decoders = figures.available_simple_decoders
    available = microarchitecture.decoders if simple_decoders is None else simple_decoders
    if facts.name in ("POP (R16)", "POP (R64)") and pops_rsp_or_r12(instruction):
        # V8.
        complex_decoder = complex_decoder or microarchitecture.pop_rsp_needs_complex_decoder
        if microarchitecture.pop_rsp_ends_decode_group:
            available = 0
    stem = facts.iform
    vector = any(map(is_simd, [output.name for output in outputs]))
    named = [o.register for o in operands if o.register]
    return Prepared(
        instruction=instruction,
        facts=facts,
        figures=figures,
        uses=(UnitUse(UopKind.COMPUTE, microarchitecture.units.having(Role.ALU), 1),)
        if added is not None
        else tuple([microarchitecture.units.use(text, count) for text, count in ports]),
        uop_count=uop_count,
        complex_decoder=complex_decoder,
        available_simple_decoders=available,
        eliminable_move=eliminable,
        register_inputs=(*inputs, *[register for register, _ in agen_inputs]),
        register_outputs=tuple(outputs),
        address_inputs=tuple([register for register, _ in address_inputs]),
        flag_inputs=flag_inputs,
        flag_outputs=flag_outputs,
        memory_operands=tuple(accesses),
        latencies=latencies,
        rsp_change=rsp_change,
        is_branch=True in [o.facts.written for o in operands if o.register and "IP" in o.register],
        serializing=stem in _SERIALIZING_FORMS or stem.startswith(_SERIALIZING_STEMS),
        load_serializing=stem in ("MFENCE", "LFENCE"),
        store_serializing=stem == "MFENCE" or (stem == "SFENCE" and not figures.shared),
        has_simd_operand=simd,
        has_zmm_operand=True in ["ZMM" in name for name in named],
        load_latency=loaded[vector],
        operand_latency=operand_latency,
        added=added,
        offset_registers=offset_registers(instruction) if microarchitecture.add_offset_limit else (),
    )


def pops_rsp_or_r12(instruction: Instruction) -> bool:
    """True for POP with an encoding of RSP or R12."""
    return instruction.mnemonic == "pop" and instruction.code[-1] == 0x5C


def added_at_rename(instruction: Instruction, microarchitecture: Microarchitecture) -> int | None:
    """The constant that the renamer can add or load for this instruction; None for others (V9)."""
    limit = microarchitecture.add_offset_limit
    if not limit:
        return None
    constant = added_constant(instruction)
    return constant if constant is not None and -limit <= constant < limit else None


def added_constant(instruction: Instruction) -> int | None:
    """The constant that a 64-bit addition adds to its input, or a 64-bit move loads; None for others."""
    if instruction.mnemonic not in _ADDITIONS:
        return None
    target, *sources = instruction.operands
    if target.register is None or width(target.register) != 64 or len(sources) > 1:
        return None
    if instruction.mnemonic == "lea":
        address = sources[0]
        if address.index or not address.base or width(address.base) != 64 or address.base == "RIP":
            return None
        return address.displacement
    return _constant(instruction)


def _constant(instruction: Instruction) -> int | None:
    if instruction.mnemonic in ("inc", "dec"):
        return 1 if instruction.mnemonic == "inc" else -1
    if instruction.mnemonic == "sub" and instruction.immediate is not None:
        return -instruction.immediate
    return instruction.immediate


def offset_registers(instruction: Instruction) -> tuple[str, ...]:
    """Registers that a shift or rotation needs without an owed constant: the count, and in
    three-operand forms the source (V9)."""
    if instruction.mnemonic not in _SHIFTS:
        return ()
    sources = [operand.register for operand in instruction.operands[1:] if operand.register]
    return tuple(canonical(register) for register in sources)


def _reads_one_register_twice(instruction: Instruction) -> bool:
    """True if it combines a whole vector register with itself into a vector register."""
    operands = instruction.operands
    names = [operand.register for operand in operands if operand.register]
    return (
        len(names) == len(operands) > 1
        and names[-1] == names[-2]
        and all(map(is_simd, names))
        and not instruction.mask
    )


def _waits_for_no_source(facts: InstructionFacts) -> bool:
    """True if the tables have no latency from the sources when all registers are the same (V10)."""
    stated = [pair.same_register for pair in facts.latencies.values() if pair.same_register is not None]
    return bool(stated) and not any(stated)


def _override(figures: Figures, variant: Figures) -> Figures:
    """Replaces every figure that the variant states (V2, V3)."""
    stated = {
        name: value for name in Figures.__struct_fields__ if (value := getattr(variant, name)) is not None
    }
    return replace(figures, **stated) if stated else figures


def _rsp_change(instruction: Instruction, facts: InstructionFacts) -> int:
    """Bytes by which the stack engine moves RSP; for these instructions the tables list RSP itself."""
    if not facts.iform.startswith(_PUSHES + _POPS) or not any(
        o.suppressed and o.kind == "reg" and o.registers == ("RSP",) for o in facts.operands
    ):
        return 0
    size = {1: 2, 2: 4, 3: 8}[instruction.effective_operand_size]
    return -size if facts.iform.startswith(_PUSHES) else size


def _is_stack_engine_register(operand: BoundOperand, rsp_change: int) -> bool:
    return rsp_change != 0 and operand.facts.suppressed and operand.register == "RSP"


def _counts(operand: BoundOperand) -> bool:
    """False for instruction pointers, which are not renamed."""
    return operand.register not in ("RIP", "EIP")


def as_register(operand: BoundOperand) -> RegisterOperand:
    """A bound register operand as the renamer sees it."""
    return _register(operand.register or "", operand.facts.name, operand.facts.index, False)


def _register(name: str, operand: str, index: int, implicit_stack: bool) -> RegisterOperand:
    return RegisterOperand(name, canonical(name), width(name), operand, index, implicit_stack)


def _register_inputs(
    registers: list[BoundOperand], table: LatencyTable, instruction: Instruction
) -> list[RegisterOperand]:
    inputs = []
    for operand in registers:
        if not _counts(operand):
            continue
        if operand.register == "K0" and not operand.facts.written and "k0" not in instruction.text:
            continue
        if operand.facts.read or table.starts_at(operand.facts.index):
            inputs.append(as_register(operand))
    return inputs


def _register_outputs(registers: list[BoundOperand]) -> list[RegisterOperand]:
    return [as_register(o) for o in registers if _counts(o) and o.facts.written]


def _flag_groups(flags: frozenset[str]) -> tuple[str, ...]:
    return tuple([group for group in FLAG_GROUPS if not flags.isdisjoint(group)])


def _eliminable(
    facts: InstructionFacts,
    figures: Figures,
    inputs: list[RegisterOperand],
    outputs: list[RegisterOperand],
    microarchitecture: Microarchitecture,
) -> tuple[bool, bool]:
    """(eliminable move, excluded MOVZX), by V4."""
    if "MOV" not in facts.name or figures.uops or len(inputs) != 1 or len(outputs) != 1:
        return False, False
    excluded = (
        not microarchitecture.movzx_high8_alias_eliminated
        and facts.name in ("MOVZX (R64, R8l)", "MOVZX (R32, R8l)")
        and inputs[0].name in MOVZX_ALIASES
    )
    return not excluded, excluded


def access_of(operand: BoundOperand, rsp_change: int, addresses: int) -> MemoryAccess:
    """The access of a memory operand; a second one has only its base (2.2 of the uiCA model)."""
    address = operand.memory
    assert address is not None
    second = operand.facts.name == "MEM1"
    return MemoryAccess(
        name=operand.facts.name,
        base=address.base,
        index=None if second else address.index,
        scale=None if second else address.scale,
        displacement=None if second else address.displacement,
        read=operand.facts.read or (operand.facts.written and operand.facts.conditional_write),
        written=operand.facts.written,
        implicit_stack=address.base == "RSP" and rsp_change != 0 and (second or addresses == 1),
    )


def address_registers(operand: BoundOperand, implicit_stack: bool) -> list[tuple[RegisterOperand, str]]:
    """Base and index registers with their roles; a second access has no index."""
    address = operand.memory
    assert address is not None
    index = None if operand.facts.name == "MEM1" else address.index
    facts = operand.facts
    return [
        (_register(name, facts.name, facts.index, implicit_stack and role == "base"), role)
        for role, name in (("base", address.base), ("index", index))
        if name
    ]
