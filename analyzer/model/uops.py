"""Uop templates: the parts of a block that are the same in every round.

Nesting (docs/pipeline.md 0): IDQ uop -> fused uops -> uops, in program order.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, IntFlag
from functools import cached_property
from typing import Protocol

from cyclelens.analyzer.model.facts import InstructionFacts
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.units import NO_UNITS, UnitSet, UnitUse, UopKind
from msgspec import Struct, field

STORE_ORDER = "order of stores"
"""What SFENCE, locked accesses and the stores beside them keep busy (D9): stores reach the cache in order."""


class Trait(IntFlag):
    """Properties of a uop for schedulers that pick by age."""

    NONE = 0

    VECTOR = 1
    """A load into, or a store from, the vector unit."""
    WIDE = 2
    """An access of 64 bytes."""
    FP_ADD = 4
    """The result reaches the next FP addition a cycle earlier than other consumers."""
    TAKES_FP_ADD = 8
    """Accepts such an early result."""
    MASK = 16
    """An operation on mask registers."""
    OWN_RESULT = 32
    """Store data that the same instruction computed."""
    READ_MODIFY_WRITE = 64
    """The load of a read-modify-write instruction."""
    ALONE = 128
    """Of the uops that keep the core to themselves, only one runs at a time."""
    DIVIDES = 256
    """Uses a divider that is not a unit of its own: the integer or the vector divider."""
    IN_FP = 512
    """Works in the floating-point domain of the vector unit, where its inputs are expected (M33)."""
    IN_INTEGERS = 1024
    """As ``IN_FP``, in the integer domain."""
    MAKES_FP = 2048
    """Its result is in the floating-point domain."""
    MAKES_INTEGERS = 4096
    SHARES_ADDRESS = 8192
    """The load of an instruction that stores to the address that it has computed (M43)."""
    THREE_SOURCES = 16384
    """A vector operation with three sources (M44)."""
    TO_FLAGS = 32768
    """A transfer from vector registers to the flags alone (M34)."""


class ValueKind(IntEnum):
    """Where a uop's operand lives."""

    REGISTER = 0
    """Rename key: a canonical register."""
    FLAGS = 1
    """Rename key: flag group ``C`` or ``SPAZO``."""
    INTERNAL = 2
    """Visible only inside the instruction; the key is a small number."""


Value = tuple[ValueKind, str]
"""Kind and key: (REGISTER, "RAX"), (FLAGS, "SPAZO"), (INTERNAL, "0")."""


class UopTemplate(Struct, frozen=True):
    """One unfused uop."""

    kind: UopKind
    units: UnitSet = NO_UNITS
    """Allowed units; none if it never enters the scheduler."""
    inputs: tuple[Value, ...] = ()
    outputs: tuple[tuple[Value, int], ...] = ()
    """(result, latency in cycles) of each result."""
    memory_operand: int = -1
    """Loads and stores: index into the instruction's ``memory_operands``; -1 if the address is unknown."""
    divider_cycles: int = 0
    """Cycles for which its unit, or the divider behind it, is busy, rounded up."""
    late: tuple[int, ...] = ()
    """Cycles by which each input may arrive after the uop begins, or must arrive before it (negative); empty:
    all are needed at its beginning. Only for cores that count macro-ops."""
    traits: Trait = Trait.NONE
    busy_eighths: int = 0
    """``divider_cycles`` in eighths, not rounded. Only for cores that count macro-ops."""


class MacroOps(Struct, frozen=True):
    """Cost of an instruction in macro-ops; the macro-ops themselves are the template's ``fused_uops``."""

    entries: int = 1
    """Entries in the op cache."""
    fields: int = 0
    """Immediates and displacements in the op cache."""
    wide_fields: int = 0
    """Those of them that are encoded in more than 8 bits, or scaled as EVEX's displacements are."""
    evex: bool = False
    """Encoded by EVEX, as few instructions of a full line of the op cache may be (M37)."""
    decode_slots: int = 1
    vector_ops: int = 0
    """Macro-ops that the vector unit accepts."""
    begins_decode_group: bool = False
    ends_group: bool = False
    """Nothing after it is dispatched in the same cycle."""
    lost_slots: int = 0
    """Slots behind it in which nothing is dispatched: microcode keeps them (M39)."""
    serializing: bool = False
    moves: bool = False
    """The move of a pair: the renamer carries it out with the next instruction."""
    split_by_index: bool = False
    """The index in its address makes it two macro-ops instead of one (M31)."""


class MemoryAccess(Struct, frozen=True):
    """Address of a memory operand as the renamer sees it.

    Scale and displacement are None for MEM1-type accesses (docs/pipeline.md 2.2, 4.1).
    """

    name: str
    base: str | None
    index: str | None
    scale: int | None
    displacement: int | None
    read: bool
    written: bool
    implicit_stack: bool = False
    """The stack engine's own use of RSP (rule O7)."""


class RegisterOperand(Struct, frozen=True):
    """A register input or output: its own name (``AH``, ``EAX``) and its canonical register."""

    name: str
    canonical: str
    width: int
    """Bits of a general-purpose register, 0 for others."""
    operand: str
    """Operand name in the tables (``REG0``), the key of latency pairs."""
    index: int = 0
    """Operand number in the tables."""
    implicit_stack: bool = False
    """Address inputs only: the stack engine's own use of RSP (rule O7)."""


class InstructionTemplate(Struct, frozen=True):
    """One instruction of a block on one core, with its uops (docs/pipeline.md 2.4 to 2.11)."""

    instruction: Instruction
    facts: InstructionFacts | None
    """None for an unknown instruction, which costs one empty fused uop and is shown as unknown."""
    name: str
    uops: tuple[UopTemplate, ...]
    fused_uops: tuple[int, ...]
    """Number of uops in each fused uop."""
    idq_uops: tuple[int, ...]
    """Number of fused uops in each IDQ uop."""
    uop_count: int
    """The record's uop count; 0 for zero idioms, NOPs and unknown instructions."""
    retire_slots: int
    mite_uops: int
    ms_uops: int
    complex_decoder: bool
    available_simple_decoders: int
    uses: tuple[UnitUse, ...]
    """Units that its uops need after macro-fusion, for the bound on units."""
    divider_cycles: int = 0
    tp: int | None = None
    """Cycles for which it keeps busy what ``occupies`` names."""
    tp_after_wait: int | None = None
    """The same if it had to wait for that; None: no longer than ``tp``."""
    shared: str = ""
    """What it and other forms keep busy; empty: no other form does."""
    fused_with_next: bool = False
    fused_with_previous: bool = False
    macro_fusible: bool = False
    """True if it could fuse with some branch, whatever follows."""
    is_branch: bool = False
    length_changing_prefix: bool = False
    jcc_erratum: bool = False
    eliminable_move: bool = False
    added: int | None = None
    """The constant that the renamer can add to its input, or load (V9); None for other instructions."""
    offset_registers: tuple[str, ...] = ()
    """Canonical registers that cost it two cycles while the renamer still owes them a constant (V9)."""
    joins_next: bool = False
    """True for a move without an issue slot, because the next instruction computes with its result (A4)."""
    serializing: bool = False
    load_serializing: bool = False
    store_serializing: bool = False
    rsp_change: int = 0
    """Bytes by which the stack engine moves RSP."""
    returns: bool = False
    """True for a call or return across the block's end: the other side undoes the change of RSP."""
    reads_stack_offset: bool = True
    """Directly read RSP has to be synchronised (E2); False to price that."""
    register_inputs: tuple[RegisterOperand, ...] = ()
    register_outputs: tuple[RegisterOperand, ...] = ()
    address_inputs: tuple[RegisterOperand, ...] = ()
    flag_inputs: tuple[str, ...] = ()
    flag_outputs: tuple[str, ...] = ()
    memory_operands: tuple[MemoryAccess, ...] = ()
    merge_uops: tuple[str, ...] = ()
    """64-bit registers merged before this instruction issues (docs/pipeline.md 2.8)."""
    latencies: Mapping[tuple[str, int, str, int], int] = field(default_factory=dict)
    """Pair latencies in cycles (rule O5, default 1 included): (start kind, start position, target kind,
    target position). Start kinds ``reg addr flag mem`` are positions in ``register_inputs``,
    ``address_inputs``, ``flag_inputs``, ``memory_operands``; target kinds ``reg flag mem`` in
    ``register_outputs``, ``flag_outputs``, ``memory_operands``."""

    switches_upper_halves: bool = False
    """The core saves all upper halves of vector registers here, or restores them (UH2)."""
    follows_switch: bool = False
    """It waits for the retirement of such an instruction before it."""
    merges_upper_half: bool = False
    """Its result is merged with the old register because upper halves are in use (UH3)."""
    macro_ops: MacroOps | None = None
    """Only for cores that count macro-ops."""
    left_out: str = ""
    """Why it has no figures although the tables have a record of it."""

    @property
    def occupies(self) -> str:
        """What it keeps busy for ``tp`` cycles: instructions with the same name here wait for each other."""
        return self.shared or self.name

    @property
    def rsp_step(self) -> int:
        """Bytes by which RSP differs after the instruction."""
        return 0 if self.returns else self.rsp_change

    @property
    def holds_unit(self) -> bool:
        """True if a unit is busy because the instruction is slower than its units explain (M21), and not
        because it divides."""
        divides = self.facts is not None and self.facts.base.divider_cycles
        return self.divider_cycles > 0 and not divides

    def template(self) -> InstructionTemplate:
        """Returns itself: a template is the simplest entry of a block."""
        return self

    def like(self) -> InstructionTemplate:
        """Returns itself."""
        return self

    @property
    def is_jump(self) -> bool:
        """True for a branch that is always taken, wherever it leads."""
        return self.is_branch and self.instruction.mnemonic == "jmp"


class Entry(Protocol):
    """An instruction of a block: a template, or an object that makes one on demand."""

    @property
    def instruction(self) -> Instruction:
        """The decoded instruction."""

    @property
    def facts(self) -> InstructionFacts | None:
        """Its record; None if unknown."""

    def template(self) -> InstructionTemplate:
        """The template, always the same object."""

    def like(self) -> InstructionTemplate:
        """The template shared by instructions that differ only in registers, addresses and constants."""


class Block(Struct, frozen=True, dict=True):
    """A basic block ready to simulate: its instructions, layout and mode."""

    entries: tuple[Entry, ...]
    microarchitecture: str
    loop: bool
    """True (TP_L): every round starts at the alignment offset again. False (TP_U): copies end to end."""
    alignment: int = 0
    """Address of the first byte relative to a 64-byte line."""
    tracks_values: bool = False
    """Compare addresses using known sums and the stack pointer, whatever the core does."""

    @cached_property
    def instructions(self) -> tuple[InstructionTemplate, ...]:
        """The templates of the entries, made on first use."""
        return tuple([entry.template() for entry in self.entries])
