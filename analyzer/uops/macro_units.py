"""Units of the uops on a core that counts macro-ops, and for how long (M9, M16 of docs/zen5.md)."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from cyclelens.analyzer.model.units import UnitSet, UopKind
from cyclelens.analyzer.model.uops import Trait, UopTemplate, Value, ValueKind
from cyclelens.analyzer.uops.macro_instruction import DOUBLE_SHIFTS, SHIFTS, MacroInstruction
from cyclelens.analyzer.uops.operands import Prepared
from msgspec import Struct, field
from msgspec.structs import replace

_PLAIN = frozenset(
    (
        *("add", "sub", "and", "or", "xor", "cmp", "test", "inc", "dec", "neg", "not", "movzx", "movsx"),
        *("movsxd", "lea", "andn", "popcnt", "lzcnt", "bswap", "adc", "sbb", "xadd", "xchg", "cmpxchg"),
        *("sahf", "lahf", "stc", "cmc", "movbe"),
    )
)
"""Operations for any ALU, whatever the record of one form says (M9)."""
_SHIFT_UNITS = SHIFTS | frozenset(
    (
        *("shlx", "shrx", "sarx", "rorx", "bt", "tzcnt", "bsf", "bsr", "blsi", "blsr", "blsmsk", "bextr"),
        *("bzhi", "cdq", "cqo", "cwde", "cdqe", "cbw", "pdep", "pext", "crc32"),
    )
)
"""Operations for the shifting ALUs (M9)."""
_MULTIPLICATIONS = frozenset(("imul", "mul", "mulx"))
_ONE_PER_CYCLE = frozenset(("bts", "btr", "btc", *DOUBLE_SHIFTS))
"""On registers, only one of these begins per cycle, although their units could accept more (M9)."""
_RENAMED_BITS = 32
"""Fewest bits of registers that the renamer copies."""
_WORD = 16
"""Bits of a register that keeps its upper bits."""
_SEGMENTS = frozenset(("CS", "DS", "ES", "FS", "GS", "SS"))
_LOADS_ALONE = ("mov", "movzx", "movbe")
_EIGHTHS = 8
_LONG_CONSTANT = 32
"""Bits from which a stored constant is encoded in 32 bits."""
WIDE_BYTES = 64
"""Bytes of the widest accesses."""


class Draft(Struct):
    """A uop under construction; ``inputs`` has the cycles by which each may come
    later than the uop begins."""

    kind: UopKind
    units: UnitSet
    inputs: list[tuple[Value, int]] = field(default_factory=list)
    outputs: list[tuple[Value, int]] = field(default_factory=list)
    memory: int = -1
    busy: float = 0
    """Cycles for which its unit is busy; 0 means one."""
    traits: Trait = Trait.NONE

    def template(self) -> UopTemplate:
        """The finished uop."""
        return UopTemplate(
            self.kind,
            self.units,
            tuple(value for value, _ in self.inputs),
            tuple(self.outputs),
            self.memory,
            ceil(self.busy),
            tuple(late for _, late in self.inputs) if any(late for _, late in self.inputs) else (),
            self.traits,
            round(_EIGHTHS * self.busy),
        )


def computing_units(subject: MacroInstruction) -> tuple[list[UnitSet], list[UnitSet]]:
    """Units of the integer and the vector uops that compute: from the record, corrected by mnemonic where
    records are known to be wrong."""
    integer: list[UnitSet] = []
    vector: list[UnitSet] = []
    for use in subject.prepared.uses:
        if use.kind is UopKind.COMPUTE:
            is_integer = use.units.mask & ~(subject.alus.mask | subject.from_integer.mask) == 0
            (integer if is_integer else vector).extend([use.units] * use.uops)
    proper = None
    if subject.mnemonic in _PLAIN or subject.mnemonic.startswith(("set", "cmov")):
        proper = subject.alus
    elif subject.mnemonic in _SHIFT_UNITS:
        proper = subject.shifters
    elif subject.prepared.is_branch:
        proper = subject.branch_units
    elif subject.mnemonic in _MULTIPLICATIONS:
        proper = subject.multipliers
    if proper is not None:
        integer = [proper if _misnamed(subject, units, proper) else units for units in integer]
    return _repaired(subject, integer, vector)


def _misnamed(subject: MacroInstruction, units: UnitSet, proper: UnitSet) -> bool:
    """True if the record's units should be those of the mnemonic. No record has the unit of branches."""
    if units.mask & ~subject.alus.mask:
        return False
    if subject.prepared.is_branch and units.mask == proper.mask & subject.alus.mask:
        return True
    return subject.rules.units_by_mnemonic or units.mask.bit_count() == proper.mask.bit_count()


def with_computed_stores(
    uops: tuple[UopTemplate, ...], prepared: Prepared, eighths: int
) -> tuple[UopTemplate, ...]:
    """The uops with the time for which store data are busy with a constant of 32 bits, or with what
    an ALU has made of a loaded word or of the order of bytes (M46). A constant that an ALU passes on is known
    when it is dispatched (M41)."""
    mnemonic, constant = prepared.instruction.mnemonic, False
    computed = mnemonic == "movbe" or any(uop.traits & Trait.SHARES_ADDRESS for uop in uops)
    if mnemonic in ("mov", "push") and prepared.instruction.immediate is not None:
        computed = constant = any(
            each.kind == "mem" and each.written and each.width >= _LONG_CONSTANT
            for each in prepared.facts.operands
        )
    if not computed or mnemonic in SHIFTS or prepared.has_simd_operand:
        return uops
    return tuple(
        [
            replace(
                uop,
                inputs=() if constant else uop.inputs,
                divider_cycles=-(-eighths // _EIGHTHS),
                busy_eighths=eighths,
            )
            if uop.kind is UopKind.STORE_DATA
            else uop
            for uop in uops
        ]
    )


def _repaired(
    subject: MacroInstruction, integer: list[UnitSet], vector: list[UnitSet]
) -> tuple[list[UnitSet], list[UnitSet]]:
    """Adapts moves, stores and loads whose records describe them differently from the model."""
    decoded, mnemonic = subject.instruction, subject.mnemonic
    wide = subject.units.named(subject.rules.wide_constant_units)
    if mnemonic in ("mov", "movabs") and decoded.immediate is not None and not subject.memory:
        integer = [wide if decoded.immediate_bits == 64 else subject.alus]
    if mnemonic == "mov" and subject.width >= _RENAMED_BITS and _SEGMENTS.intersection(subject.registers[1:]):
        integer = [subject.only(subject.loads)]
    if mnemonic == "lea" and decoded.operands[1].base == "RIP":
        integer = [wide if subject.rules.units_by_mnemonic else subject.alus]
    if subject.memory and not subject.vector and subject.rules.units_by_mnemonic:
        narrow = bool(subject.registers) and subject.width < 32
        if mnemonic in _LOADS_ALONE and subject.reads and not narrow:
            integer = []
        if mnemonic in ("movsx", "movsxd") and subject.reads:
            integer = [subject.alus]
        if mnemonic in ("mov", "push") and subject.writes:
            integer = []
    if mnemonic == "pop":
        integer = [subject.alus] if subject.width == _WORD else []
    if subject.vector and subject.writes and not vector:
        vector = [subject.store_pipes]
    if mnemonic in SHIFTS and len(integer) == 1:
        integer = [subject.shifters]
    if mnemonic == "xadd" and not subject.memory and subject.width < _RENAMED_BITS:
        integer = [subject.alus] * 2
    if mnemonic in DOUBLE_SHIFTS:
        integer = [subject.alus] * (subject.prepared.figures.retire_slots or 1)
    if subject.vector and subject.memory and subject.reads and not subject.writes:
        integer = [units for units in integer if units.mask & ~subject.alus.mask]
    return integer, vector


def occupy(subject: MacroInstruction, uops: list[Draft]) -> None:
    """Marks units that are busy for more than a cycle."""
    figures = subject.prepared.figures
    divides: float = figures.divider_cycles or 0
    if divides and figures.throughput:
        divides = figures.throughput
    divider = next((uop for uop in uops if uop.units is subject.divider), None) or next(
        (uop for uop in uops if uop.units.mask & subject.divider.mask), None
    )
    last = next((uop for uop in reversed(uops) if uop.outputs), None)
    for uop in uops:
        if divides and uop is divider:
            uop.busy = divides
            if subject.rules.divider_apart:
                uop.traits |= Trait.DIVIDES
            else:
                uop.units = subject.divider
        elif divides and uop is last and uop.units.mask & ~subject.alus.mask == 0:
            uop.busy = divides
            uop.traits |= Trait.DIVIDES
    if subject.mnemonic in _ONE_PER_CYCLE and not subject.memory and subject.rules.units_by_mnemonic:
        uops[0].busy, uops[0].traits = 1, uops[0].traits | Trait.ALONE
    if subject.prepared.flag_outputs and not subject.prepared.register_outputs:
        for uop in uops:
            if uop.kind is UopKind.COMPUTE and uop.units.mask & subject.transfers.mask:
                uop.traits |= Trait.TO_FLAGS
    outside = subject.alus.mask | subject.transfers.mask | subject.from_integer.mask
    pipe = next((uop for uop in uops if not uop.units.mask & outside), None)
    if pipe is None:
        return
    if subject.vector and figures.tp and not divides:
        pipe.units, pipe.busy = subject.divider, figures.tp
    if _cycles_on_a_pipe(subject) > 1:
        passed = _transferred(subject, uops)
        for uop in uops:
            if not uop.units.mask & outside and uop not in passed:
                uop.busy = max(uop.busy, _cycles_on_a_pipe(subject))
    if subject.mnemonic[0] == "k" or any(o.name[0] == "K" for o in subject.prepared.register_outputs):
        pipe.traits |= Trait.MASK


def _transferred(subject: MacroInstruction, uops: Sequence[Draft]) -> list[Draft]:
    """Uops that pass on a value of an integer unit, which has at most 64 bits."""
    values = {value for uop in uops if not uop.units.mask & ~subject.alus.mask for value, _ in uop.outputs}
    return [
        uop
        for uop in uops
        if uop.inputs
        and all(value in values for value, _ in uop.inputs)
        and all(value[0] is ValueKind.INTERNAL for value, _ in uop.outputs)
    ]


def _cycles_on_a_pipe(subject: MacroInstruction) -> int:
    """Cycles per pipe: 1 except for vectors wider than the pipes."""
    return WIDE_BYTES * 8 // subject.rules.vector_bits if subject.prepared.has_zmm_operand else 1


def is_long_lea(subject: MacroInstruction) -> bool:
    """True if its encoding has base, index and displacement, even a displacement that is 0."""
    address = subject.instruction.operands[1]
    return (
        subject.rules.long_lea_by_encoding
        and bool(address.base)
        and bool(address.index)
        and address.displacement_bits > 0
        and subject.width >= 32
    )


def long_lea(subject: MacroInstruction) -> list[Draft]:
    """Two dependent operations, first on the base, then on the index; of a word, which keeps the rest of its
    register, first the sum (M10)."""
    address = subject.instruction.operands[1]
    inputs = {r.name: (ValueKind.REGISTER, r.canonical) for r in subject.prepared.register_inputs}
    half = subject.fresh()
    base = [(inputs[address.base], 0)] if address.base in inputs else []
    index = [(inputs[address.index], 0)] if address.index in inputs else []
    outputs = list(subject.plain_outputs())
    if subject.width == _WORD:
        base, index = [*base, *index], [(value, 0) for value, _ in outputs]
    return [
        Draft(UopKind.COMPUTE, subject.alus, base, [(half, 1)]),
        Draft(UopKind.COMPUTE, subject.alus, [(half, 0), *index], outputs),
    ]
