"""Classifies an instruction of a core that counts macro-ops, before its expansion.

docs/zen5.md has the rules and their measurements, under the labels given here.
"""

from __future__ import annotations

import re

from cyclelens.analyzer.model.facts import NOPS, InstructionFacts
from cyclelens.analyzer.model.instruction import Instruction, OperandKind
from cyclelens.analyzer.model.macro_ops import MacroOpRules
from cyclelens.analyzer.model.microarchitecture import Microarchitecture, UpperHalfRule
from cyclelens.analyzer.model.units import Role, UnitSet, UopKind
from cyclelens.analyzer.model.uops import Trait, UopTemplate, Value, ValueKind
from cyclelens.analyzer.uops.operands import Prepared
from cyclelens.analyzer.uops.registers import canonical, is_general_purpose, is_simd, width
from cyclelens.analyzer.uops.vector_domains import domain_traits

_MOVES = re.compile(r"mov|v?mov(aps|apd|ups|upd|dqa|dqu)|vmovdqa(32|64)|vmovdqu(8|16|32|64)")
_ZERO_IDIOMS = frozenset(("xor", "sub", "cmp"))
_VECTOR_ZERO_IDIOMS = (
    r"v?(pxor[dq]?|xorp[sd]|psub(us|s)?[bwdq]|pandn[dq]?|andnp[sd]|pcmpgt[bwdq])|k(xor|andn)[bwdq]"
)
_NOTHING = ("nop", "endbr64", "endbr32", "clc")
SHIFTS = frozenset(("shl", "sal", "shr", "sar", "rol", "ror"))
"""In-place shifts by a constant or CL."""
DOUBLE_SHIFTS = frozenset(("shld", "shrd"))
_STACK_COPIES = frozenset(("fld", "fst", "fstp"))
"""Copies between registers of the x87 stack."""
_EXCHANGE_NOP = bytes.fromhex("6690")
"""XCHG AX, AX; other exchanges of a word with itself are carried out."""
_RENAMED_BITS = 32
"""Fewest bits of registers that the renamer exchanges."""
_NARROW = 8
"""Bits of an immediate or displacement for which every entry of the op cache has room."""
_SIGN_EXTENDED = frozenset(("add", "or", "adc", "sbb", "and", "sub", "xor", "cmp", "imul", "push"))
"""Operations of integers of more than 8 bits that extend an immediate of 8 bits by its sign."""
_THREE_SOURCES = re.compile(
    r"vfn?m(add|sub|addsub|subadd)\d+[ps][sd]|v?p?blendv(b|p[sd])|vperm[it]2(b|w|d|q|p[sd])"
)
_COPIES = frozenset(("mov", "movzx", "movsx", "movsxd"))


class MacroInstruction:
    """One instruction, the units of its core, and what it reads and writes."""

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
        self.issue_width = microarchitecture.issue_width
        self.branch = branch
        self.walks_stack = walks_stack
        self.merges = merges
        self.merges_all = merges and microarchitecture.upper_halves is UpperHalfRule.MERGED
        """True if every result is merged, not only those of moves and zero idioms (M42)."""
        units = self.units = microarchitecture.units
        self.alus = units.having(Role.ALU)
        branches = units.having(Role.BRANCH)
        has_result = (branch or self.mnemonic.startswith("loop")) and bool(prepared.register_outputs)
        self.branch_units = units.of(branches.mask & self.alus.mask) if has_result else branches
        """Units of the branch, or of the operation that has absorbed one (M48)."""
        self.shifters = units.having(Role.SHIFT)
        self.multipliers = units.having(Role.MULTIPLY)
        self.transfers = units.having(Role.TRANSFER)
        own = units.having(Role.VECTOR_STORE)
        self.store_pipes = own if own.mask else self.transfers
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
        self.split_by_index = False
        self._internal = 0

    def does_nothing(self) -> bool:
        """True if its results need no uop: a NOP or an equivalent."""
        return (
            self.mnemonic in _NOTHING
            or is_nop(self.prepared.facts, self.instruction)
            or (self.mnemonic == "xchg" and self.instruction.code == _EXCHANGE_NOP)
            or self.mnemonic == "fxch"
            or (self.mnemonic in _STACK_COPIES and self.registers == ["ST0"] and self.mnemonic != "fld")
        )

    def is_zero_idiom(self) -> bool:
        """True if its result is known without its inputs (M7)."""
        if self.memory or len(self.registers) < 2 or self.instruction.mask:
            return False
        if self.mnemonic in _ZERO_IDIOMS:
            return len(set(self.registers)) == 1 and self.width >= 32
        # Of three operands, only the two sources matter.
        same = self.registers[-1] == self.registers[-2]
        return same and self.vector and bool(re.fullmatch(_VECTOR_ZERO_IDIOMS, self.mnemonic))

    def is_move(self) -> bool:
        """True if the renamer carries it out (M7)."""
        instruction = self.instruction
        if self.mnemonic == "lea":
            address = instruction.operands[1]
            plain = bool(address.base) and not address.index and not address.displacement
            return plain and address.base != "RIP" and self.width >= 32
        if self.mnemonic in _STACK_COPIES and not self.memory:
            return True
        if not _MOVES.fullmatch(self.mnemonic) or self.memory or instruction.mask:
            return False
        if len(self.registers) != 2 or instruction.immediate is not None:
            return False
        if all(is_simd(register) for register in self.registers):
            return True
        # Copies of RSP and of segment registers are ALU operations.
        source = self.registers[1]
        return self.width in (32, 64) and is_general_purpose(source) and source not in ("RSP", "ESP")

    def copied(self) -> tuple[UopTemplate, ...]:
        """The copies by which the renamer exchanges two registers, or passes on the old target of XADD (M7).
        Empty for other instructions, and where that takes a cycle."""
        if self.mnemonic not in ("xchg", "xadd") or self.memory or self.width < _RENAMED_BITS:
            return ()
        if "RSP" in self.registers or (self.mnemonic == "xadd" and len(set(self.registers)) == 1):
            return ()
        first, second = ((ValueKind.REGISTER, canonical(each)) for each in self.registers)
        results = self.prepared.register_outputs
        if any(
            cycles
            for (_, _, kind, number), cycles in self.prepared.latencies.items()
            if kind == "reg" and results[number].canonical == second[1]
        ):
            return ()
        pairs = ((second, first), (first, second)) if self.mnemonic == "xchg" else ((first, second),)
        return tuple(
            UopTemplate(UopKind.EMPTY, inputs=(source,), outputs=((target, 0),)) for source, target in pairs
        )

    def shares_address(self, k: int) -> bool:
        """True if a load and a store of its memory operand share an address (M43)."""
        return self.rules.memory_change_has_one_address and k in self.reads and k in self.writes

    def operation_traits(self) -> Trait:
        """The domain of a vector operation (M33), and whether it has three sources (M44)."""
        traits = domain_traits(self.mnemonic) if self.rules.domain_cycles else Trait.NONE
        if self.rules.third_source_eighths and _THREE_SOURCES.fullmatch(self.mnemonic):
            traits |= Trait.THREE_SOURCES
        return traits

    def adjusts_stack(self) -> bool:
        """True if it adds a constant to RSP and that takes two macro-ops (M8)."""
        operands = self.instruction.operands
        return (
            self.rules.stack_adjustment_is_two_ops
            and self.mnemonic in ("add", "sub")
            and not self.memory
            and operands[0].register == "RSP"
            and len(operands) > 1
            and not operands[1].register
        )

    def writes_vector(self) -> bool:
        """True if some result is a vector register."""
        return any(is_simd(output.name) for output in self.prepared.register_outputs)

    def copies(self) -> bool:
        """True if it copies one register to another."""
        return self.mnemonic in _COPIES and len(self.registers) == 2 and not self.memory

    def plain_inputs(self) -> tuple[Value, ...]:
        """Registers that it reads."""
        names = [r.canonical for r in self.prepared.register_inputs]
        if self.copies():
            # The records have no latency from RSP and AH, because measured copies did not wait for these.
            names.append(canonical(self.registers[1]))
        return tuple((ValueKind.REGISTER, name) for name in dict.fromkeys(names))

    def plain_outputs(self) -> tuple[tuple[Value, int], ...]:
        """Registers that it writes, after one cycle."""
        return tuple(((ValueKind.REGISTER, r.canonical), 1) for r in self.prepared.register_outputs)

    def outputs(self) -> list[tuple[str, int, Value]]:
        """Results that it computes as (kind, position, value), with kind and position as in latency pairs."""
        prepared = self.prepared
        copied = {value for uop in self.copied() for value, _ in uop.outputs}
        found = [
            ("reg", i, (ValueKind.REGISTER, o.canonical)) for i, o in enumerate(prepared.register_outputs)
        ]
        found = [each for each in found if each[2] not in copied]
        return found + [
            ("flag", i, (ValueKind.FLAGS, group)) for i, group in enumerate(prepared.flag_outputs)
        ]

    def fields(self) -> tuple[int, int]:
        """Number of immediates and displacements, and of those that take more than 8 bits; an op cache line
        holds few (M2, M37). A displacement of EVEX is scaled, so that its 8 bits stand for more. So do
        those of an immediate of an integer operation that are not extended by their sign."""
        instruction = self.instruction
        address = next(
            (o for o in instruction.operands if o.kind in (OperandKind.MEMORY, OperandKind.AGEN)), None
        )
        count, wide = int(instruction.immediate_bits > 0), int(self._has_wide_immediate())
        if address is None:
            return (2, 2) if instruction.immediate_bits == 64 else (count, wide)
        if self.mnemonic.startswith("nop"):
            return 0, 0
        more = int(address.displacement_bits > 0 or address.base == "RIP")
        return count + more, wide + (
            more if instruction.encoding.evex or address.displacement_bits > _NARROW else 0
        )

    def _has_wide_immediate(self) -> bool:
        if self.instruction.immediate_bits != _NARROW or self.vector:
            return self.instruction.immediate_bits > _NARROW
        bytes_of_memory = any(o.kind == "mem" and o.width == _NARROW for o in self.prepared.facts.operands)
        return self.width == _NARROW or bytes_of_memory or self.mnemonic not in _SIGN_EXTENDED

    def only(self, units: UnitSet) -> UnitSet:
        """One of these units: the dividing one if it is among them, otherwise the first."""
        mask = units.mask & self.divider.mask or units.mask & -units.mask
        return self.units.of(mask)

    def fresh(self) -> Value:
        """A new value that only this instruction sees."""
        self._internal += 1
        return ValueKind.INTERNAL, str(self._internal - 1)


def is_locked_change(prepared: Prepared) -> bool:
    """True if it is a locked operation that writes memory and flags alone, and no bit operation."""
    return (
        prepared.facts.locked
        and not (prepared.register_outputs or prepared.flag_inputs)
        and not prepared.instruction.mnemonic.startswith("bt")
    )


def is_nop(facts: InstructionFacts, instruction: Instruction) -> bool:
    """True if the instruction does nothing, whatever its operands."""
    return facts.category in NOPS or instruction.code in (b"\x66\x90", b"\x90")
