"""Instructions of a core that counts macro-ops, as AMD's do: what each costs and which uops it becomes.

An instruction is one macro-op or a few; a macro-op holds any number of uops (a load, an operation and a store
are one). The rules and their measurements stand in docs/zen5.md, under the labels given here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from cyclelens.analyzer.model.instruction import OperandKind
from cyclelens.analyzer.model.macro_ops import MacroOpRules
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role, UnitSet, UopKind
from cyclelens.analyzer.model.uops import MacroOps, MemoryAccess, Trait, UopTemplate, Value, ValueKind
from cyclelens.analyzer.uops.operands import Prepared
from cyclelens.analyzer.uops.registers import canonical, is_general_purpose, is_simd, width

_MOVES = re.compile(r"mov|v?mov(aps|apd|ups|upd|dqa|dqu)|vmovdqa(32|64)|vmovdqu(8|16|32|64)")
_ZERO_IDIOMS = frozenset(("xor", "sub", "cmp"))
_VECTOR_ZERO_IDIOMS = re.compile(
    r"v?(pxor[dq]?|xorp[sd]|psub(us|s)?[bwdq]|pandn[dq]?|andnp[sd]|pcmpgt[bwdq])|kxor[bwdq]"
)
_NOTHING = ("nop", "endbr64", "endbr32", "clc")
_PLAIN = frozenset(
    (
        *("add", "sub", "and", "or", "xor", "cmp", "test", "inc", "dec", "neg", "not", "movzx", "movsx"),
        *("movsxd", "lea", "andn", "popcnt", "lzcnt", "bswap", "adc", "sbb", "xadd", "xchg", "cmpxchg"),
        *("sahf", "lahf", "stc", "cmc", "movbe"),
    )
)
"""Any ALU, whatever the record says of one form (M9)."""
_SHIFTS = frozenset(("shl", "sal", "shr", "sar", "rol", "ror"))
_SHIFT_UNITS = _SHIFTS | frozenset(
    (
        *("shlx", "shrx", "sarx", "rorx", "bt", "tzcnt", "bsf", "bsr", "blsi", "blsr", "blsmsk", "bextr"),
        *("bzhi", "cdq", "cqo", "cwde", "cdqe", "cbw", "pdep", "pext", "crc32"),
    )
)
"""The ALUs that shift (M9)."""
_MULTIPLICATIONS = frozenset(("imul", "mul", "mulx"))
_ONE_PER_CYCLE = frozenset(("bts", "btr", "btc", "shld", "shrd"))
"""On registers only one of them begins in a cycle, although their units could take more (M9)."""
_COPIES = frozenset(("mov", "movzx", "movsx", "movsxd"))
_FUSES_AFTER_MOVE = frozenset(
    ["add", "sub", "and", "or", "xor", "inc", "dec", "not", "shl", "sal", "shr", "sar", "adc", "sbb"]
)
_FUSES_WITH_BRANCH = frozenset(["cmp", "test", "add", "sub", "and", "or", "xor", "inc", "dec"])
_FP_ADDS = re.compile(r"v?(add|sub)[ps][sd]")
_FP_COMPARES = re.compile(r"v?(min|max|cmp)[a-z]*[ps][sd]")
_FP_ADD_FAMILY = re.compile(r"v?(add|sub|min|max|cmp)[a-z]*[ps][sd]")
_KEEPS_REST = re.compile(r"(sqrt|rcp|rsqrt|round|cvts[sdi]2)s[sd]|mov[lh]p[sd]")
"""Operations of SSE that write a part of their target. With VEX the rest comes from the first source."""
_CONVERSION = 3
"""Cycles of a conversion from an integer behind the transfer."""
_ENDS_GROUP = ("vzeroupper", "vzeroall", "ldmxcsr", "vldmxcsr")
_SERIALIZES = ("lfence", "cpuid", "mfence", "rdtsc")
_LOADS_ALONE = ("mov", "movzx", "movbe")
_LONG_THROUGHPUT = 10
_WIDE_BYTES = 64
_VECTOR_OPS_COUNTED = 4


@dataclass(slots=True)
class _Uop:
    """A uop in the making; ``inputs`` with the cycles by which each may come later than the uop begins."""

    kind: UopKind
    units: UnitSet
    inputs: list[tuple[Value, int]] = field(default_factory=list)
    outputs: list[tuple[Value, int]] = field(default_factory=list)
    memory: int = -1
    busy: int = 0
    traits: Trait = Trait.NONE

    def template(self) -> UopTemplate:
        return UopTemplate(
            self.kind,
            self.units,
            tuple(value for value, _ in self.inputs),
            tuple(self.outputs),
            self.memory,
            self.busy,
            tuple(late for _, late in self.inputs) if any(late for _, late in self.inputs) else (),
            self.traits,
        )


ONE_OP = MacroOps()


@dataclass(frozen=True, slots=True)
class Expansion:
    """What an instruction becomes."""

    uops: tuple[UopTemplate, ...] = ()
    sizes: tuple[int, ...] = ()
    """Uops of each macro-op."""
    ops: MacroOps = ONE_OP
    eliminable: bool = False
    """A move that the renamer carries out."""
    executes: bool = True
    """False: results without a producer (zero idioms, NOPs)."""


def fuses_after_move(move: Prepared, operation: Prepared, next_is_branch: bool) -> bool:
    """``mov a, b`` and an ALU operation on ``a`` are one macro-op (M6)."""
    first, second = move.instruction, operation.instruction
    if first.mnemonic != "mov" or second.mnemonic not in _FUSES_AFTER_MOVE or not second.operands:
        return False
    if next_is_branch and second.mnemonic in _FUSES_WITH_BRANCH:
        return False
    target = second.operands[0].register
    registers = [operand.register for operand in first.operands]
    if len(registers) != 2 or not registers[1] or first.immediate is not None or move.memory_operands:
        return False
    if target is None or target != registers[0] or operation.memory_operands or target == registers[1]:
        return False
    if width(target) < 32 or width(registers[1]) != width(target) or {"RSP", "ESP"} & set(registers):
        return False
    return len(second.operands) < 2 or second.operands[1].register != target


def fuses_with_branch(first: Prepared, second: Prepared, rules: MacroOpRules) -> bool:
    """An ALU operation and the conditional branch behind it are one macro-op, wherever they lie (M5)."""
    if first.instruction.mnemonic not in _FUSES_WITH_BRANCH or second.facts.category != "COND_BR":
        return False
    if first.memory_operands and not rules.fuses_memory_with_branch:
        return False
    # Not with an immediate and an address relative to the instruction's own.
    relative = any(operand.base == "RIP" for operand in first.instruction.operands)
    return first.instruction.immediate is None or not relative


def is_nop(prepared: Prepared) -> bool:
    """It does nothing, whatever its operands."""
    return prepared.facts.category in ("NOP", "WIDENOP") or prepared.instruction.code in (
        b"\x66\x90",
        b"\x90",
    )


def expand_to_macro_ops(
    prepared: Prepared,
    microarchitecture: Microarchitecture,
    *,
    branch: bool = False,
    moves: bool = False,
    walks_stack: bool = False,
    merges_upper: bool = False,
) -> Expansion:
    """The macro-ops of an instruction. ``branch``: it has absorbed the one behind it; ``moves``: it is the
    move of a pair, which costs nothing; ``walks_stack``: the code pushes or pops somewhere."""
    rules = microarchitecture.macro_ops
    assert rules is not None
    if moves:
        return Expansion(ops=MacroOps(entries=0, decode_slots=1, moves=True))
    merges = merges_upper and rules.upper_halves_merge
    return _Expander(prepared, microarchitecture, rules, branch, walks_stack, merges).expansion()


class _Expander:
    """Works out one instruction."""

    def __init__(
        self,
        prepared: Prepared,
        microarchitecture: Microarchitecture,
        rules: MacroOpRules,
        branch: bool,
        walks_stack: bool,
        merges: bool,
    ) -> None:
        self.prepared = prepared
        self.instruction = prepared.instruction
        self.mnemonic = prepared.instruction.mnemonic
        self.rules = rules
        self.branch = branch
        self.walks_stack = walks_stack
        self.merges = merges
        units = microarchitecture.units
        self.alus = units.having(Role.ALU)
        self.branch_alus = units.having(Role.BRANCH)
        self.shifters = units.having(Role.SHIFT)
        self.multipliers = units.having(Role.MULTIPLY)
        self.store_pipes = units.having(Role.TRANSFER)
        self.store_units = units.having(Role.STORE_DATA)
        self.from_integer = units.having(Role.FROM_INTEGER)
        self.stores = units.having(Role.STORE_ADDRESS)
        self.loads = units.having(Role.LOAD)
        self.pipes = units.having(Role.VECTOR)
        self.divider = units.having(Role.FP_DIVIDE)
        self.registers = [o.register for o in self.instruction.operands if o.register]
        self.width = width(self.registers[0]) if self.registers else 0
        self.memory = prepared.memory_operands
        self.reads = [k for k, access in enumerate(self.memory) if access.read]
        self.writes = [k for k, access in enumerate(self.memory) if access.written]
        self.prefetches = self.mnemonic.startswith("prefetch")
        if self.prefetches:
            self.reads, self.writes = ([0] if self.memory else []), []
        names = set(self.registers)
        names |= {r.name for r in (*prepared.register_inputs, *prepared.register_outputs)}
        if self.instruction.mask:
            names.add(self.instruction.mask)
        self.vector = any(is_simd(n) or n[:1] == "K" or n.startswith("ST") for n in names if n)
        self._internal = 0

    # -- the parts -----------------------------------------------------------------------------------------

    def expansion(self) -> Expansion:
        if self._does_nothing():
            return Expansion(
                ops=self._ops(1, 0), sizes=(1,), uops=(UopTemplate(UopKind.EMPTY),), executes=False
            )
        if self._is_zero_idiom():
            if self.vector and self.mnemonic[0] != "v" and (self.merges or self.rules.sse_idioms_execute):
                return self._on_a_pipe()
            results = tuple((value, 0) for _, _, value in self._outputs())
            return Expansion(
                ops=self._ops(1, 1 if self.vector else 0),
                sizes=(1,),
                uops=(UopTemplate(UopKind.EMPTY, outputs=results),),
                executes=False,
            )
        if self._is_move():
            if self.merges:
                return self._on_a_pipe()
            return Expansion(
                ops=self._ops(1, 1 if self.vector else 0),
                sizes=(1,),
                uops=(UopTemplate(UopKind.COMPUTE, self.alus, outputs=self._plain_outputs()),),
                eliminable=True,
            )
        count = max(1, self.prepared.figures.retire_slots or 1)
        uops, count = self._uops(count)
        if self._adjusts_stack():
            count = 2
            uops = [_Uop(UopKind.COMPUTE, self.alus), *uops]
            if self.walks_stack:
                for uop in uops:
                    uop.outputs = [(v, c + (v == (ValueKind.REGISTER, "RSP"))) for v, c in uop.outputs]
        if self.branch:
            count = 1
            for uop in uops:
                if uop.kind is UopKind.COMPUTE and uop.units.mask & ~self.alus.mask == 0:
                    uop.units = self.branch_alus
        templates = [uop.template() for uop in uops]
        vector_ops = 0
        if self.vector and (self._uses_pipes(uops) or self._writes_vector()):
            vector_ops = min(count, _VECTOR_OPS_COUNTED)
        templates += [UopTemplate(UopKind.EMPTY)] * (count - len(templates))
        sizes = (1,) * (count - 1) + (len(templates) - count + 1,)
        return Expansion(uops=tuple(templates), sizes=sizes, ops=self._ops(count, vector_ops))

    def _on_a_pipe(self) -> Expansion:
        """What the renamer would carry out if no upper half had to be kept (M7)."""
        kept = self._plain_outputs() if self.merges else ()
        inputs = tuple(dict.fromkeys((*self._plain_inputs(), *(value for value, _ in kept)))) if kept else ()
        results = tuple((value, 2 if kept else 1) for value, _ in self._plain_outputs())
        return Expansion(
            ops=self._ops(1, 1),
            sizes=(1,),
            uops=(UopTemplate(UopKind.COMPUTE, self.pipes, inputs, results),),
        )

    def _ops(self, count: int, vector_ops: int) -> MacroOps:
        return MacroOps(
            entries=1,
            fields=self._fields(),
            decode_slots=2 if self.branch else 1,
            vector_ops=vector_ops,
            begins_decode_group=count > 2,
            ends_group=self.mnemonic in _ENDS_GROUP,
            serializing=self.mnemonic in _SERIALIZES,
        )

    def _fields(self) -> int:
        """Immediates and displacements, of which an op-cache line holds few (M2)."""
        instruction = self.instruction
        address = next(
            (o for o in instruction.operands if o.kind in (OperandKind.MEMORY, OperandKind.AGEN)), None
        )
        count = 1 if instruction.immediate_bits > 0 else 0
        if address is None:
            return 2 if instruction.immediate_bits == 64 else count
        if self.mnemonic.startswith("nop"):
            return 0
        return count + (address.displacement_bits > 0 or address.base == "RIP")

    def _does_nothing(self) -> bool:
        return (
            self.mnemonic in _NOTHING
            or is_nop(self.prepared)
            or (self.mnemonic == "xchg" and len(set(self.registers)) == 1 and self.width == 16)
        )

    def _is_zero_idiom(self) -> bool:
        if self.memory or len(self.registers) < 2 or self.instruction.mask:
            return False
        if self.mnemonic in _ZERO_IDIOMS:
            return len(set(self.registers)) == 1 and self.width >= 32
        # Of three operands the two sources count.
        same = self.registers[-1] == self.registers[-2]
        return same and self.vector and bool(_VECTOR_ZERO_IDIOMS.fullmatch(self.mnemonic))

    def _is_move(self) -> bool:
        """Carried out by the renamer (M7)."""
        instruction = self.instruction
        if self.mnemonic == "lea":
            address = instruction.operands[1]
            plain = bool(address.base) and not address.index and not address.displacement
            return plain and address.base != "RIP" and self.width >= 32
        if not _MOVES.fullmatch(self.mnemonic) or self.memory or instruction.mask:
            return False
        if len(self.registers) != 2 or instruction.immediate is not None:
            return False
        if all(is_simd(register) for register in self.registers):
            return True
        # A copy of RSP is an ALU operation.
        return self.width >= 32 and self.registers[1] not in ("RSP", "ESP")

    def _adjusts_stack(self) -> bool:
        operands = self.instruction.operands
        return (
            self.rules.stack_adjustment_is_two_ops
            and self.mnemonic in ("add", "sub")
            and not self.memory
            and operands[0].register == "RSP"
            and len(operands) > 1
            and not operands[1].register
        )

    def _uses_pipes(self, uops: Sequence[_Uop]) -> bool:
        integer = self.alus.mask
        return any(
            uop.kind in (UopKind.COMPUTE, UopKind.STORE_DATA) and uop.units.mask & ~integer for uop in uops
        )

    def _writes_vector(self) -> bool:
        return any(is_simd(output.name) for output in self.prepared.register_outputs)

    def _fresh(self) -> Value:
        self._internal += 1
        return ValueKind.INTERNAL, str(self._internal - 1)

    def _plain_inputs(self) -> tuple[Value, ...]:
        names = [r.canonical for r in self.prepared.register_inputs]
        if self._copies():
            # The records have no latency from RSP and AH, which their copies did not wait for.
            names.append(canonical(self.registers[1]))
        return tuple((ValueKind.REGISTER, name) for name in dict.fromkeys(names))

    def _copies(self) -> bool:
        return self.mnemonic in _COPIES and len(self.registers) == 2 and not self.memory

    def _plain_outputs(self) -> tuple[tuple[Value, int], ...]:
        return tuple(((ValueKind.REGISTER, r.canonical), 1) for r in self.prepared.register_outputs)

    # -- units ---------------------------------------------------------------------------------------------

    def _computes(self) -> tuple[list[UnitSet], list[UnitSet]]:
        """Integer and vector uops that compute, by their units: those of the record, set right by mnemonic
        where its rows are known to be wrong."""
        integer: list[UnitSet] = []
        vector: list[UnitSet] = []
        for kind, units, count in self.prepared.uses:
            if kind is UopKind.COMPUTE:
                is_integer = units.mask & ~(self.alus.mask | self.from_integer.mask) == 0
                (integer if is_integer else vector).extend([units] * count)
        proper = None
        if self.mnemonic in _PLAIN or self.mnemonic.startswith(("set", "cmov")):
            proper = self.alus
        elif self.mnemonic in _SHIFT_UNITS:
            proper = self.shifters
        elif self.prepared.is_branch:
            proper = self.branch_alus
        elif self.mnemonic in _MULTIPLICATIONS:
            proper = self.multipliers
        if proper is not None:
            integer = [proper if self._misnamed(units, proper) else units for units in integer]
        if self.mnemonic in _MULTIPLICATIONS and not self.rules.units_by_mnemonic:
            # A second operation has the upper half of the product.
            integer = [units if place == 0 else self.alus for place, units in enumerate(integer)]
        return self._repaired(integer, vector)

    def _misnamed(self, units: UnitSet, proper: UnitSet) -> bool:
        """Whether the units of a record are in truth those that its mnemonic tells."""
        if units.mask & ~self.alus.mask:
            return False
        return self.rules.units_by_mnemonic or units.mask.bit_count() == proper.mask.bit_count()

    def _repaired(self, integer: list[UnitSet], vector: list[UnitSet]) -> tuple[list[UnitSet], list[UnitSet]]:
        """What the records say of moves, stores and loads in other words than the model."""
        instruction, mnemonic = self.instruction, self.mnemonic
        wide = self.shifters if self.rules.units_by_mnemonic else self.alus
        if mnemonic in ("mov", "movabs") and instruction.immediate is not None and not self.memory:
            integer = [wide if instruction.immediate_bits == 64 else self.alus]
        if mnemonic == "lea" and instruction.operands[1].base == "RIP":
            integer = [wide]
        if self.memory and not self.vector:
            narrow = bool(self.registers) and self.width < 32
            if mnemonic in _LOADS_ALONE and self.reads and not narrow:
                integer = []
            if mnemonic in ("movsx", "movsxd") and self.reads:
                integer = [self.alus]
            if mnemonic in ("mov", "push") and self.writes:
                integer = []
        if mnemonic == "pop" or (mnemonic == "xchg" and not self.memory):
            integer = []
        if self.vector and self.writes and not vector:
            vector = [self.store_pipes]
        if mnemonic in _SHIFTS and len(integer) == 1:
            integer = [self.shifters]
        if mnemonic in ("shld", "shrd"):
            integer = [self.alus] * max(1, self.prepared.figures.retire_slots or 1)
        if self.vector and self.memory and self.reads and not self.writes:
            integer = [units for units in integer if units.mask & ~self.alus.mask]
        return integer, vector

    # -- uops ----------------------------------------------------------------------------------------------

    def _uops(self, count: int) -> tuple[list[_Uop], int]:
        """All uops in program order, and how many macro-ops they are."""
        if self.mnemonic in ("mov", "movabs") and self.instruction.immediate is not None and not self.memory:
            count = 1
        if self.mnemonic == "lea" and count == 2 and self.instruction.operands[1].index:
            return self._long_lea(), count
        integer, vector = self._computes()
        computes = [*integer, *vector]
        store_pipe = None
        if self.vector and self.writes and self.store_pipes in vector:
            store_pipe = self.store_pipes
            computes.remove(self.store_pipes)
        uops: list[_Uop] = []
        loaded: dict[int, Value] = {}
        outputs = self._outputs()
        if self.mnemonic == "leave" and not computes:
            # The stack pointer comes from RBP, not from memory.
            pointer, frame = (ValueKind.REGISTER, "RSP"), (ValueKind.REGISTER, "RBP")
            outputs = [output for output in outputs if output[2] != pointer]
            uops.append(_Uop(UopKind.COMPUTE, self.alus, [(frame, 0)], [(pointer, 1)]))
        for k in self.reads:
            uops.append(self._load(k, bool(computes or self.writes or not outputs), loaded, outputs))
        stored: Value | None = None
        if computes:
            made, stored = self._compute(computes, vector, loaded, outputs)
            uops += made
        for k in self.writes:
            uops += self._store(k, bool(computes), stored, loaded, store_pipe)
        return self._rest(uops, outputs), count

    def _outputs(self) -> list[tuple[str, int, Value]]:
        """Results with the kind and position that latency pairs name them by."""
        prepared = self.prepared
        found = [
            ("reg", i, (ValueKind.REGISTER, o.canonical)) for i, o in enumerate(prepared.register_outputs)
        ]
        return found + [
            ("flag", i, (ValueKind.FLAGS, group)) for i, group in enumerate(prepared.flag_outputs)
        ]

    def _address(self, access: MemoryAccess) -> list[tuple[Value, int]]:
        names = [name for name in (access.base, access.index) if name and name not in ("RIP", "EIP")]
        return [((ValueKind.REGISTER, canonical(name)), 0) for name in names]

    def _slow_address(self, access: MemoryAccess) -> int:
        """A scaled index or three components take a load one cycle more (M17)."""
        operand = next((o for o in self.instruction.operands if o.kind is OperandKind.MEMORY), None)
        if operand is None or not operand.index:
            return 0
        three = operand.displacement_bits > 0 and bool(operand.base)
        return 1 if operand.scale != 1 or three else 0

    def _load(
        self, k: int, internal: bool, loaded: dict[int, Value], outputs: list[tuple[str, int, Value]]
    ) -> _Uop:
        access = self.memory[k]
        rules = self.rules
        latency = (rules.vector_load_latency if self.vector else rules.load_latency) + self._slow_address(
            access
        )
        uop = _Uop(UopKind.LOAD, self.loads, self._address(access), memory=k)
        if self.prefetches:
            # It reads no value: no store keeps it waiting.
            uop.memory = -1
        if internal:
            loaded[k] = self._fresh()
            uop.outputs = [(loaded[k], latency)]
        else:
            uop.outputs = [(value, latency) for kind, _, value in outputs if kind == "reg"]
        if self.vector:
            uop.traits |= Trait.VECTOR
            if self._bytes(access) >= _WIDE_BYTES:
                uop.traits |= Trait.WIDE
        elif k in self.writes:
            uop.traits |= Trait.READ_MODIFY_WRITE
        return uop

    def _bytes(self, access: MemoryAccess) -> int:
        return next((o.width // 8 for o in self.prepared.facts.operands if o.name == access.name), 8)

    def _compute(
        self,
        computes: list[UnitSet],
        vector: list[UnitSet],
        loaded: dict[int, Value],
        outputs: list[tuple[str, int, Value]],
    ) -> tuple[list[_Uop], Value | None]:
        """The uops that compute: the last one has the inputs and results, the others only take units, but for
        a transfer from the integer registers and for inputs that a two-op instruction needs earlier."""
        inputs, latencies = self._latencies(loaded, outputs)
        fast = self.rules.fast_fp_adds and not self.merges
        if fast and _FP_ADD_FAMILY.fullmatch(self.mnemonic):
            latencies = [min(2, cycles) if cycles <= 3 else cycles for cycles in latencies]
        results = [(value, cycles) for (_, _, value), cycles in zip(outputs, latencies, strict=True)]
        self._merge_narrow(inputs, outputs)
        self._merge_first_source(inputs, latencies)
        traits = Trait.NONE
        if fast and _FP_ADDS.fullmatch(self.mnemonic):
            traits = Trait.FP_ADD | Trait.TAKES_FP_ADD
        elif _FP_COMPARES.fullmatch(self.mnemonic):
            traits = Trait.TAKES_FP_ADD
        uops: list[_Uop] = []
        most = max((late for _, late in inputs), default=0)
        if len(computes) >= 2 and most > 0 and computes[0] is not self.store_pipes:
            # What may come late enters the second uop.
            value = self._fresh()
            early = [(v, 0) for v, late in inputs if late == 0]
            uops.append(_Uop(UopKind.COMPUTE, computes[0], early, [(value, most)]))
            inputs = [(v, late - most) for v, late in inputs if late > 0] + [(value, 0)]
            results = [(v, cycles - most) for v, cycles in results]
            computes = computes[1:]
        stored: Value | None = None
        for place, units in enumerate(computes):
            uop = _Uop(UopKind.COMPUTE, units)
            if place == len(computes) - 1:
                uop.inputs, uop.outputs, uop.traits = inputs, list(results), traits
                if self.writes:
                    stored = self._fresh()
                    uop.outputs.append((stored, max(1, min((c for _, c in results), default=1))))
            elif units is not self.from_integer:
                uop.inputs = [(v, late) for v, late in inputs if v[0] is not ValueKind.INTERNAL]
            else:
                integer = [
                    (v, late)
                    for v, late in inputs
                    if (v[0] is ValueKind.REGISTER and is_general_purpose(v[1])) or v[0] is ValueKind.FLAGS
                ]
                uop.inputs = integer
            if units is self.from_integer:
                uops += self._transfer(inputs)
            uops.append(uop)
        self._occupy(uops)
        return uops, stored

    def _transfer(self, inputs: list[tuple[Value, int]]) -> list[_Uop]:
        """What a transfer from an integer register takes of the ALUs: two slots, of which one waits (M11)."""
        general = [(v, 0) for v, _ in inputs if v[0] is ValueKind.REGISTER and is_general_purpose(v[1])]
        return [_Uop(UopKind.COMPUTE, self.alus, general), _Uop(UopKind.COMPUTE, self.alus)]

    def _latencies(
        self, loaded: dict[int, Value], outputs: list[tuple[str, int, Value]]
    ) -> tuple[list[tuple[Value, int]], list[int]]:
        """Inputs with the cycles by which each may come late, and the latency of every result."""
        prepared, table = self.prepared, self.prepared.latencies
        starts: list[tuple[str, int, Value]] = [
            ("reg", i, (ValueKind.REGISTER, r.canonical)) for i, r in enumerate(prepared.register_inputs)
        ]
        flags = [("flag", i, (ValueKind.FLAGS, group)) for i, group in enumerate(prepared.flag_inputs)]
        if self.mnemonic in _SHIFTS:
            flags = []  # M13
        starts += flags
        if self.mnemonic == "sbb" and len(set(self.registers)) == 1:
            starts = flags
        starts += [("mem", k, value) for k, value in loaded.items()]
        load = self.rules.vector_load_latency if self.vector else self.rules.load_latency

        def between(start: str, position: int, target: str, number: int) -> int:
            if start != "mem":
                return self._crossing(
                    table.get((start, position, target, number), 1), start, position, target, number
                )
            from_address = [
                cycles
                for j in range(len(prepared.address_inputs))
                if (cycles := table.get(("addr", j, target, number))) is not None
            ]
            if from_address:
                return max(1, max(from_address) - load)
            return max(1, table.get(("mem", position, target, number), 1))

        addresses = {(ValueKind.REGISTER, r.canonical) for r in prepared.address_inputs}
        latencies = []
        for target, number, _ in outputs:
            every = [between(kind, position, target, number) for kind, position, _ in starts]
            cycles = max(every, default=1)
            if loaded:
                # The register's latency is measured; the one behind the load is an upper bound.
                measured = [
                    between(kind, position, target, number)
                    for kind, position, value in starts
                    if kind == "reg" and value not in addresses
                ]
                cycles = max(measured, default=cycles)
            latencies.append(cycles)
        inputs = []
        for kind, position, value in starts:
            late = 0
            if kind != "mem" and not _FP_ADD_FAMILY.fullmatch(self.mnemonic):
                late = min(
                    (
                        latencies[n] - between(kind, position, target, number)
                        for n, (target, number, _) in enumerate(outputs)
                    ),
                    default=0,
                )
            inputs.append((value, max(0, late)))
        return inputs, latencies

    def _crossing(self, cycles: int, start: str, position: int, target: str, number: int) -> int:
        """Between integer and vector registers the tables may know upper bounds (M25)."""
        if start != "reg" or target != "reg":
            return cycles
        source = self.prepared.register_inputs[position].canonical
        result = self.prepared.register_outputs[number].canonical
        if is_simd(source) and is_general_purpose(result):
            return max(1, cycles - self.rules.to_integer_excess)
        if source[0] == "K" and is_general_purpose(result):
            return max(1, cycles - self.rules.mask_to_integer_excess)
        if is_general_purpose(source) and (is_simd(result) or result[0] == "K"):
            return max(1, cycles - self.rules.to_vector_excess)
        return cycles

    def _merge_narrow(self, inputs: list[tuple[Value, int]], outputs: list[tuple[str, int, Value]]) -> None:
        """Results of 8 and 16 bits depend on the old register (M7), those of CMOV, BSF and BSR always do, and
        so do scalars of SSE without VEX. The operation that comes last has it."""
        known = {value for value, _ in inputs}
        if self._copies():
            inputs += [(value, 0) for value in self._plain_inputs() if value not in known]
        keeps = (
            self.mnemonic.startswith("cmov")
            or self.mnemonic in ("bsf", "bsr")
            or bool(_KEEPS_REST.fullmatch(self.mnemonic))
            or (self.mnemonic in ("movss", "movsd") and not self.memory)
        )
        last = max((late for _, late in inputs), default=0)
        for output in self.prepared.register_outputs:
            value: Value = (ValueKind.REGISTER, output.canonical)
            if (keeps or output.width in (8, 16)) and value not in known:
                inputs.append((value, last if keeps else 0))
                known.add(value)

    def _merge_first_source(self, inputs: list[tuple[Value, int]], latencies: list[int]) -> None:
        """Scalars of AVX have the rest of their target from their first source. A conversion from an integer
        needs it behind the transfer."""
        if self.mnemonic[0] != "v" or not _KEEPS_REST.fullmatch(self.mnemonic[1:]) or len(self.registers) < 2:
            return
        value: Value = (ValueKind.REGISTER, canonical(self.registers[1]))
        if all(known != value for known, _ in inputs):
            transferred = self.mnemonic.startswith("vcvtsi2")
            inputs.append((value, max(0, max(latencies) - _CONVERSION) if transferred else 0))

    def _occupy(self, uops: list[_Uop]) -> None:
        """Units that are busy for more than a cycle."""
        figures = self.prepared.figures
        divides = figures.divider_cycles or 0
        divider = next((uop for uop in uops if uop.units is self.divider), None) or next(
            (uop for uop in uops if uop.units.mask & self.divider.mask), None
        )
        for uop in uops:
            if divides and uop is divider:
                uop.units, uop.busy = self.divider, divides
            elif divides and uop is uops[-1] and uop.units.mask & ~self.alus.mask == 0:
                uop.busy = divides
                uop.traits |= Trait.DIVIDES
        if self.mnemonic in _ONE_PER_CYCLE and not self.memory and self.rules.units_by_mnemonic:
            uops[0].busy, uops[0].traits = 1, uops[0].traits | Trait.ALONE
        outside = self.alus.mask | self.store_pipes.mask | self.from_integer.mask
        pipe = next((uop for uop in uops if not uop.units.mask & outside), None)
        if pipe is None:
            return
        if self.vector and figures.tp and not divides:
            pipe.units, pipe.busy = self.divider, figures.tp
        if self._cycles_on_a_pipe() > 1:
            for uop in uops:
                if not uop.units.mask & outside:
                    uop.busy = max(uop.busy, self._cycles_on_a_pipe())
        if self.mnemonic[0] == "k" or any(o.name[0] == "K" for o in self.prepared.register_outputs):
            pipe.traits |= Trait.MASK

    def _cycles_on_a_pipe(self) -> int:
        """1, but for vectors that are wider than the pipes."""
        return max(1, _WIDE_BYTES * 8 // self.rules.vector_bits) if self.prepared.has_zmm_operand else 1

    def _store(
        self,
        k: int,
        computes: bool,
        stored: Value | None,
        loaded: dict[int, Value],
        store_pipe: UnitSet | None,
    ) -> list[_Uop]:
        access = self.memory[k]
        traits = Trait.VECTOR if self.vector else Trait.NONE
        address = _Uop(UopKind.STORE_ADDRESS, self.stores, self._address(access), memory=k, traits=traits)
        value = stored or (next(iter(loaded.values())) if loaded else self._stored_register(access))
        data = _Uop(
            UopKind.STORE_DATA,
            store_pipe or (self.store_units if self.store_units.mask else self.alus),
            memory=k,
            traits=traits,
        )
        data.inputs = [] if value is None else [(value, 0)]
        if store_pipe is not None:
            size = self._bytes(access)
            # 512 bits keep it for two cycles, whatever the width of the pipes (M16).
            data.busy = 2 if size >= _WIDE_BYTES else 0
            places = len(self.rules.wide_forwarding)
            data.outputs = [(self._fresh(), self.rules.wide_forwarding[min(size // 32, places - 1)])]
        if computes:
            data.traits |= Trait.OWN_RESULT
        return [address, data]

    def _stored_register(self, access: MemoryAccess) -> Value | None:
        registers = [o.register for o in self.instruction.operands if o.register]
        if registers and self.prepared.facts.category != "CALL":
            # The record may say that nothing waits for it (latency 0); the renamer must know it all the same.
            return ValueKind.REGISTER, canonical(registers[-1])
        inputs = [r.canonical for r in self.prepared.register_inputs if r.canonical != "RSP"]
        others = [name for name in inputs if name not in (access.base, access.index)] or inputs
        return (ValueKind.REGISTER, others[0]) if others else None

    def _long_lea(self) -> list[_Uop]:
        """Base and index through two operations in turn (M10)."""
        address = self.instruction.operands[1]
        inputs = {r.name: (ValueKind.REGISTER, r.canonical) for r in self.prepared.register_inputs}
        half = self._fresh()
        base = [(inputs[address.base], 0)] if address.base in inputs else []
        index = [(inputs[address.index], 0)] if address.index in inputs else []
        return [
            _Uop(UopKind.COMPUTE, self.alus, base, [(half, 1)]),
            _Uop(UopKind.COMPUTE, self.alus, [(half, 0), *index], list(self._plain_outputs())),
        ]

    def _rest(self, uops: list[_Uop], outputs: list[tuple[str, int, Value]]) -> list[_Uop]:
        """Results that no uop makes, and instructions that keep the core for themselves for a while."""
        figures = self.prepared.figures
        facts = self.prepared.facts
        if self.mnemonic in _ENDS_GROUP:
            uops = [uop for uop in uops if uop.kind is UopKind.LOAD]
            busy = 6 if self.mnemonic == "vzeroall" else 1
            uops.append(_Uop(UopKind.COMPUTE, self.alus, busy=busy, traits=Trait.ALONE))
        long = figures.tp if figures.tp and not self.vector else 0
        if facts.category == "STRINGOP" and not self.instruction.repeat:
            long = self.rules.string_cycles
        if not uops and long:
            uops.append(_Uop(UopKind.COMPUTE, self.alus, busy=long, traits=Trait.ALONE))
        if not uops and outputs:
            uops.append(
                _Uop(
                    UopKind.COMPUTE,
                    self.alus,
                    [(v, 0) for v in self._plain_inputs()],
                    [(value, 1) for _, _, value in outputs],
                )
            )
        made = {value for uop in uops for value, _ in uop.outputs}
        missing = [value for _, _, value in outputs if value not in made and value[1] != "RSP"]
        if missing and uops:
            uops[-1].outputs += [(value, 1) for value in missing]
        if long and (facts.locked or self.memory or long >= _LONG_THROUGHPUT):
            for uop in uops:
                if uop.kind in (UopKind.STORE_ADDRESS, UopKind.COMPUTE):
                    uop.busy, uop.traits = long, uop.traits | Trait.ALONE
                    break
            else:
                uops.append(_Uop(UopKind.COMPUTE, self.alus, busy=long, traits=Trait.ALONE))
        return uops
