"""Expands instructions into macro-ops and uops on cores that count macro-ops, such as AMD's.

An instruction is one macro-op or a few; a macro-op holds any number of uops (a load, an operation and a store
are one). docs/zen5.md has the rules and their measurements, under the labels given here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.model.instruction import OperandKind
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import UnitSet, UopKind
from cyclelens.analyzer.model.uops import MacroOps, MemoryAccess, Trait, UopTemplate, Value, ValueKind
from cyclelens.analyzer.uops.held import MICROCODE, hold, lost_slots
from cyclelens.analyzer.uops.macro_instruction import MacroInstruction
from cyclelens.analyzer.uops.macro_latencies import (
    FP_ADD_FAMILY,
    latencies_of,
    merge_first_source,
    merge_narrow,
    stored_latency,
)
from cyclelens.analyzer.uops.macro_units import (
    WIDE_BYTES,
    Draft,
    computing_units,
    is_long_lea,
    long_lea,
    occupy,
)
from cyclelens.analyzer.uops.operands import Prepared
from cyclelens.analyzer.uops.registers import canonical, is_general_purpose, is_simd
from msgspec import Struct

_FP_ADDS = r"v?(add|sub)[ps][sd]"
_FP_COMPARES = re.compile(r"v?(min|max|cmp)[a-z]*[ps][sd]")
_ENDS_GROUP = ("vzeroupper", "vzeroall", "ldmxcsr", "vldmxcsr")
_SERIALIZES = ("lfence", "cpuid", "mfence", "rdtsc")
_LONG_THROUGHPUT = 10
_VECTOR_OPS_COUNTED = 4
_RENAMED_MACRO_OPS = 2
"""Most macro-ops of an instruction that changes memory and whose load is renamed (M40): not of XADD."""
_COPIES_OF_MEMORY = ("push", "pop")


ONE_OP = MacroOps()


class Expansion(Struct, frozen=True):
    """The macro-ops and uops of an instruction."""

    uops: tuple[UopTemplate, ...] = ()
    sizes: tuple[int, ...] = ()
    """Uops of each macro-op."""
    ops: MacroOps = ONE_OP
    eliminable: bool = False
    """True for a move that the renamer carries out."""
    executes: bool = True
    """False for results without a producer (zero idioms, NOPs)."""


def expand_to_macro_ops(
    prepared: Prepared,
    microarchitecture: Microarchitecture,
    *,
    branch: bool,
    moves: bool,
    walks_stack: bool,
    merges_upper: bool,
) -> Expansion:
    """The macro-ops of an instruction.

    ``branch``: it has absorbed the next branch. ``moves``: it is the move of a pair, which costs nothing.
    ``walks_stack``: the code pushes or pops before it. ``merges_upper``: its result is merged with the upper
    half of its target.
    """
    rules = microarchitecture.macro_ops
    assert rules is not None
    if moves:
        return Expansion(ops=MacroOps(entries=0, decode_slots=1, moves=True))
    return _Expander(prepared, microarchitecture, rules, branch, walks_stack, merges_upper).expansion()


class _Expander(MacroInstruction):
    """Expands one instruction."""

    # -- the parts -----------------------------------------------------------------------------------------

    def expansion(self) -> Expansion:
        free = self.mnemonic == "vzeroupper" and not self.rules.zeroing_upper_needs_unit
        if free or self.does_nothing():
            return Expansion(
                ops=self._ops(1, 0), sizes=(1,), uops=(UopTemplate(UopKind.EMPTY),), executes=False
            )
        if self.is_zero_idiom():
            legacy = self.vector and self.mnemonic[0] not in "vk"
            if legacy and (self.merges or self.rules.sse_idioms_execute):
                return self._on_a_pipe()
            if self.branch:
                # The branch that it has absorbed is executed, and waits for nothing.
                written = tuple((value, 1) for _, _, value in self.outputs())
                branch = UopTemplate(UopKind.COMPUTE, self.branch_units, outputs=written)
                return Expansion(ops=self._ops(1, 0), sizes=(1,), uops=(branch,))
            known = UopTemplate(UopKind.EMPTY, outputs=tuple((value, 0) for _, _, value in self.outputs()))
            ops = self._ops(1, 1 if self.vector else 0)
            return Expansion(ops=ops, sizes=(1,), uops=(known,), executes=False)
        copies = self.copied()
        if len(copies) > 1:
            return Expansion(ops=self._ops(2, 0), sizes=(1, 1), uops=copies)
        if self.is_move():
            if self.merges:
                return self._on_a_pipe()
            return Expansion(
                ops=self._ops(1, 1 if self.vector else 0),
                sizes=(1,),
                uops=(UopTemplate(UopKind.COMPUTE, self.alus, outputs=self.plain_outputs()),),
                eliminable=True,
            )
        count = self.prepared.figures.retire_slots or 1
        uops, count = self._uops(count)
        hold(self, uops, count)
        if self.adjusts_stack():
            count = 2
            uops = [Draft(UopKind.COMPUTE, self.alus), *uops]
            if self.walks_stack:
                for uop in uops:
                    uop.outputs = [(v, c + (v == (ValueKind.REGISTER, "RSP"))) for v, c in uop.outputs]
        if self.branch:
            count = 1
            for uop in uops:
                if uop.kind is UopKind.COMPUTE and uop.units.mask & ~self.alus.mask == 0:
                    uop.units = self.branch_units
        templates = [*[uop.template() for uop in uops], *copies]
        vector_ops = 0
        if self.vector and (self._uses_pipes(uops) or self.writes_vector()):
            vector_ops = min(count, _VECTOR_OPS_COUNTED)
        templates += [UopTemplate(UopKind.EMPTY)] * (count - len(templates))
        sizes = (1,) * (count - 1) + (len(templates) - count + 1,)
        return Expansion(uops=tuple(templates), sizes=sizes, ops=self._ops(count, vector_ops))

    def _on_a_pipe(self) -> Expansion:
        """Expansion of an operation that the renamer would carry out if no upper half had to be kept (M7,
        M42)."""
        kept = self.plain_outputs() if self.merges else ()
        inputs = tuple(dict.fromkeys((*self.plain_inputs(), *(value for value, _ in kept)))) if kept else ()
        cycles = 1 if self.merges_all or not kept else 2
        results = tuple((value, cycles) for value, _ in self.plain_outputs())
        return Expansion(
            ops=self._ops(1, 1),
            sizes=(1,),
            uops=(UopTemplate(UopKind.COMPUTE, self.pipes, inputs, results),),
        )

    def _ops(self, count: int, vector_ops: int) -> MacroOps:
        fields, wide_fields = self.fields()
        return MacroOps(
            entries=1,
            fields=fields,
            wide_fields=wide_fields,
            evex=self.instruction.encoding.evex,
            decode_slots=2 if self.branch else 1,
            vector_ops=vector_ops,
            begins_decode_group=count > 2,
            ends_group=self._ends_group(),
            serializing=self.mnemonic in _SERIALIZES,
            split_by_index=self.split_by_index,
            lost_slots=lost_slots(self, count),
        )

    def _ends_group(self) -> bool:
        if self.mnemonic == "vzeroupper":
            return self.rules.zeroing_upper_ends_group
        return self.mnemonic in _ENDS_GROUP

    def _uses_pipes(self, uops: Sequence[Draft]) -> bool:
        integer = self.alus.mask
        return any(
            uop.kind in (UopKind.COMPUTE, UopKind.STORE_DATA) and uop.units.mask & ~integer for uop in uops
        )

    # -- uops ----------------------------------------------------------------------------------------------

    def _uops(self, count: int) -> tuple[list[Draft], int]:
        """All uops in program order, and the number of macro-ops."""
        if self.mnemonic in ("mov", "movabs") and self.instruction.immediate is not None and not self.memory:
            count = 1
        if self.mnemonic == "lea" and is_long_lea(self):
            count = 2
        if self.mnemonic == "lea" and count == 2 and self.instruction.operands[1].index:
            return long_lea(self), count
        integer, vector = computing_units(self)
        computes = [*integer, *vector]
        if self.rules.memory_change_is_two_ops and not self.vector and set(self.reads) & set(self.writes):
            count = max(count, 2)
        if self.rules.indexed_is_two_ops and self.memory and not self.vector and (computes or self.writes):
            indexed = any(o.index for o in self.instruction.operands if o.kind is OperandKind.MEMORY)
            self.split_by_index = indexed and count == 1
            count += self.split_by_index
        leaving = [units for units in vector if units.mask & self.transfers.mask]
        store_pipe = self.store_pipes if leaving and self.vector and self.writes else None
        if store_pipe is not None:
            computes.remove(leaving[0])
        uops: list[Draft] = []
        loaded: dict[int, Value] = {}
        outputs = self.outputs()
        if self.mnemonic == "leave":
            # The stack pointer comes from RBP, not from memory.
            computes = []
            pointer, frame = (ValueKind.REGISTER, "RSP"), (ValueKind.REGISTER, "RBP")
            outputs = [output for output in outputs if output[2] != pointer]
            uops.append(Draft(UopKind.COMPUTE, self.alus, [(frame, 0)], [(pointer, 1)]))
        for k in self.reads:
            internal = bool(computes or self.writes or self.merges_all or not outputs)
            uops.append(self._load(k, internal, loaded, outputs))
        stored: Value | None = None
        if computes:
            made, stored = self._compute(computes, vector, loaded, outputs)
            uops += made
        elif self.merges_all and loaded:
            # A load into a vector register: a pipe merges what it has loaded (M42).
            merged = [(value, 0) for value in (*loaded.values(), *(value for _, _, value in outputs))]
            uops.append(Draft(UopKind.COMPUTE, self.pipes, merged, [(value, 1) for _, _, value in outputs]))
        for k in self.writes:
            uops += self._store(k, bool(computes), stored, loaded, store_pipe)
        return self._rest(uops, outputs), count

    def _address(self, access: MemoryAccess) -> list[tuple[Value, int]]:
        names = [name for name in (access.base, access.index) if name and name not in ("RIP", "EIP")]
        return [((ValueKind.REGISTER, canonical(name)), 0) for name in names]

    def _slow_address(self, access: MemoryAccess) -> int:
        """Extra cycle of a load with a scaled index or three address components (M17)."""
        operand = next((o for o in self.instruction.operands if o.kind is OperandKind.MEMORY), None)
        if operand is None or not operand.index or is_simd(operand.index):
            return 0
        three = operand.displacement_bits > 0 and bool(operand.base)
        return 1 if operand.scale != 1 or three else 0

    def _load(
        self, k: int, internal: bool, loaded: dict[int, Value], outputs: list[tuple[str, int, Value]]
    ) -> Draft:
        access = self.memory[k]
        rules = self.rules
        latency = (rules.vector_load_latency if self.vector else rules.load_latency) + self._slow_address(
            access
        )
        uop = Draft(UopKind.LOAD, self.loads, self._address(access), memory=k)
        if self.prefetches:
            # A prefetch reads no value, so no store delays it.
            uop.memory = -1
        if internal:
            loaded[k] = self.fresh()
            uop.outputs = [(loaded[k], latency)]
        else:
            uop.outputs = [(value, latency) for kind, _, value in outputs if kind == "reg"]
        if self.vector:
            uop.traits |= Trait.VECTOR | (Trait.WIDE if self._bytes(access) >= WIDE_BYTES else Trait.NONE)
        elif self.mnemonic in _COPIES_OF_MEMORY or (
            k in self.writes and (self.prepared.figures.retire_slots or 1) <= _RENAMED_MACRO_OPS
        ):
            uop.traits |= Trait.READ_MODIFY_WRITE
        if self.shares_address(k):
            uop.traits |= Trait.SHARES_ADDRESS
        return uop

    def _bytes(self, access: MemoryAccess) -> int:
        return next((o.width // 8 for o in self.prepared.facts.operands if o.name == access.name), 8)

    def _compute(
        self,
        computes: list[UnitSet],
        vector: list[UnitSet],
        loaded: dict[int, Value],
        outputs: list[tuple[str, int, Value]],
    ) -> tuple[list[Draft], Value | None]:
        """The computing uops.

        The last one has the inputs and results; the others only occupy units, except a transfer from integer
        registers, and inputs that a two-op instruction needs earlier.
        """
        emptied = self._emptied_mask(computes, outputs)
        if emptied is not None:
            computes, outputs = (
                computes[1:],
                [output for output in outputs if output[2] != emptied.outputs[0][0]],
            )
        inputs, latencies = latencies_of(self, loaded, outputs)
        fast = self.rules.fast_fp_adds and not self.merges
        if fast and FP_ADD_FAMILY.fullmatch(self.mnemonic):
            latencies = [min(2, cycles) if cycles <= 3 else cycles for cycles in latencies]
        results = [(value, cycles) for (_, _, value), cycles in zip(outputs, latencies, strict=True)]
        merge_narrow(self, inputs, outputs, latencies)
        merge_first_source(self, inputs, latencies)
        traits = self.operation_traits() if self.vector else Trait.NONE
        if fast and re.fullmatch(_FP_ADDS, self.mnemonic):
            traits |= Trait.FP_ADD | Trait.TAKES_FP_ADD
        elif _FP_COMPARES.fullmatch(self.mnemonic):
            traits |= Trait.TAKES_FP_ADD
        uops: list[Draft] = []
        others = [(v, late) for v, late in inputs if v[0] is not ValueKind.INTERNAL]
        most = max((late for _, late in inputs), default=0)
        # On its way to the vector unit, a value passes through one uop after the other (M27).
        transfers = self.writes_vector() and 0 < len(vector) < len(computes) and not self.from_integer.mask
        if transfers and not loaded:
            most = most or min(latencies) - 1
        if len(computes) >= 2 and most > 0 and not computes[0].mask & self.transfers.mask:
            # Late inputs enter the second uop or, after a transfer, the last one; no result comes with them.
            most = min(most, max(1, min(latencies) - 1))
            value = self.fresh()
            early = [(v, 0) for v, late in inputs if late == 0]
            between = computes[1:-1] if transfers else []
            uops.append(Draft(UopKind.COMPUTE, computes[0], early, [(value, max(1, most - len(between)))]))
            for units in between:
                passed, value = value, self.fresh()
                uops.append(Draft(UopKind.COMPUTE, units, [(passed, 0)], [(value, 1)]))
            inputs = [(v, late - most) for v, late in inputs if late > 0] + [(value, 0)]
            others = [(v, 0) for v, _ in early if v[0] is not ValueKind.INTERNAL]
            results = [(v, cycles - most) for v, cycles in results]
            computes = computes[1 + len(between) :]
        stored: Value | None = None
        split = len(uops)
        for place, units in enumerate(computes):
            uop = Draft(UopKind.COMPUTE, units)
            if place == len(computes) - 1:
                uop.inputs, uop.outputs, uop.traits = inputs, list(results), traits
                if self.writes:
                    stored = self.fresh()
                    uop.outputs.append((stored, stored_latency(self, loaded, [c for _, c in results])))
            elif units is not self.from_integer:
                uop.inputs = others
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
        if not transfers and self.prepared.figures.throughput is not None:
            # The results do not wait for the other uops, which the latencies show sharing units with them
            # (M21).
            uops.insert(split, uops.pop())
        if emptied is not None:
            uops.insert(0, emptied)
        occupy(self, uops)
        return uops, stored

    def _emptied_mask(self, computes: list[UnitSet], outputs: list[tuple[str, int, Value]]) -> Draft | None:
        """The uop with which a gather or scatter clears its mask without waiting for its
        elements; None for others."""
        if "VSIB" not in self.prepared.facts.name or len(computes) < 2 or len(outputs) < 2:
            return None
        read = [r.canonical for r in self.prepared.register_inputs]
        table = self.prepared.latencies
        for kind, number, value in outputs:
            # The other read-and-written operand is the target, whose latencies are those of loads.
            place = read.index(value[1]) if value[1] in read else None
            if kind == "reg" and place is not None and number > 0:
                cycles = table.get(("reg", place, kind, number)) or 1
                return Draft(UopKind.COMPUTE, computes[0], [(value, 0)], [(value, cycles)])
        return None

    def _transfer(self, inputs: list[tuple[Value, int]]) -> list[Draft]:
        """ALU uops of a transfer from an integer register: two slots, one of which waits (M11)."""
        general = [(v, 0) for v, _ in inputs if v[0] is ValueKind.REGISTER and is_general_purpose(v[1])]
        return [Draft(UopKind.COMPUTE, self.alus, general), Draft(UopKind.COMPUTE, self.alus)]

    def _store(
        self,
        k: int,
        computes: bool,
        stored: Value | None,
        loaded: dict[int, Value],
        store_pipe: UnitSet | None,
    ) -> list[Draft]:
        access = self.memory[k]
        traits = Trait.VECTOR if self.vector else Trait.NONE
        address = Draft(UopKind.STORE_ADDRESS, self.stores, self._address(access), memory=k, traits=traits)
        if self.shares_address(k):
            address.units, address.inputs = self.units.of(0), []
        value = stored or (next(iter(loaded.values())) if loaded else self._stored_register(access))
        data = Draft(
            UopKind.STORE_DATA,
            store_pipe or (self.store_units if self.store_units.mask else self.alus),
            memory=k,
            traits=traits,
        )
        data.inputs = [] if value is None else [(value, 0)]
        if store_pipe is not None:
            size = self._bytes(access)
            # 512 bits occupy it for two cycles, whatever the pipes' width (M16).
            data.busy = 2 if size >= WIDE_BYTES else 0
            places = len(self.rules.wide_forwarding)
            late = self.rules.wide_forwarding[min(size // 32, places - 1)]
            late += self.rules.x87_forwarding if self.prepared.facts.extension == "X87" else 0
            data.outputs = [(self.fresh(), late)]
        if computes:
            data.traits |= Trait.OWN_RESULT
        return [address, data]

    def _stored_register(self, access: MemoryAccess) -> Value | None:
        registers = [o.register for o in self.instruction.operands if o.register]
        if registers and self.prepared.facts.category != "CALL":
            # The record may say that nothing waits for it (latency 0), but the renamer must know it.
            return ValueKind.REGISTER, canonical(registers[-1])
        inputs = [r.canonical for r in self.prepared.register_inputs if r.canonical != "RSP"]
        others = [name for name in inputs if name not in (access.base, access.index)] or inputs
        return (ValueKind.REGISTER, others[0]) if others else None

    def _rest(self, uops: list[Draft], outputs: list[tuple[str, int, Value]]) -> list[Draft]:
        """Adds results that no uop makes, and occupies the core for instructions that block it."""
        facts, figures = self.prepared.facts, self.prepared.figures
        if self.mnemonic in _ENDS_GROUP:
            uops = [uop for uop in uops if uop.kind is UopKind.LOAD]
            busy = 6 if self.mnemonic == "vzeroall" else max(1.0, figures.throughput or 0)
            uops.append(Draft(UopKind.COMPUTE, self.alus, busy=busy, traits=Trait.ALONE))
        long: float = 0
        if figures.tp and not self.vector:
            long = figures.throughput or figures.tp
        if facts.category == "STRINGOP" and not self.instruction.repeat:
            long = self.rules.string_cycles
        if not uops and long:
            uops.append(Draft(UopKind.COMPUTE, self.alus, busy=long, traits=Trait.ALONE))
        if not uops and outputs:
            cycles = 1 + len(outputs) - len({value for _, _, value in outputs})  # M7: both halves of one
            uops.append(
                Draft(
                    UopKind.COMPUTE,
                    self.alus,
                    [(v, 0) for v in self.plain_inputs()],
                    [(value, cycles) for _, _, value in outputs],
                )
            )
        made = {value for uop in uops for value, _ in uop.outputs}
        missing = [value for _, _, value in outputs if value not in made and value[1] != "RSP"]
        if missing and uops:
            uops[-1].outputs += [(value, 1) for value in missing]
        microcode = figures.throughput is None and (figures.retire_slots or 1) >= MICROCODE
        if long and (facts.locked or self.memory or microcode or long >= _LONG_THROUGHPUT):
            for uop in uops:
                if uop.kind in (UopKind.STORE_ADDRESS, UopKind.COMPUTE) and uop.units.mask:
                    uop.busy, uop.traits = long, uop.traits | Trait.ALONE
                    break
            else:
                uops.append(Draft(UopKind.COMPUTE, self.alus, busy=long, traits=Trait.ALONE))
        return uops
