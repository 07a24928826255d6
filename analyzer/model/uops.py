"""Uop templates: everything about a block that does not change from round to round.

Nesting (docs/pipeline.md 0): IDQ uop -> fused uops -> uops, in program order.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, IntFlag
from functools import cached_property

from cyclelens.analyzer.common.data_classes import dataclass, field
from cyclelens.analyzer.model.facts import InstructionFacts
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.units import NO_UNITS, UnitSet, UnitUse, UopKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object


class Trait(IntFlag):
    """What schedulers that pick by age ask about a uop."""

    NONE = 0

    VECTOR = 1
    """A load into, or a store from, the vector unit."""
    WIDE = 2
    """64 bytes."""
    FP_ADD = 4
    """Its result reaches the next FP addition a cycle earlier than anything else."""
    TAKES_FP_ADD = 8
    """It takes such a result early."""
    MASK = 16
    """An operation on mask registers."""
    OWN_RESULT = 32
    """Store data that the same instruction has computed."""
    READ_MODIFY_WRITE = 64
    """The load of such an instruction."""
    ALONE = 128
    """Of those that keep the core for themselves only one runs at a time."""
    DIVIDES = 256
    """By a divider that is no unit of its own: the integer one, or the one of vectors."""


class ValueKind(IntEnum):
    """Where a uop's operand lives."""

    REGISTER = 0
    """Rename key: a canonical register."""
    FLAGS = 1
    """Rename key: flag group ``C`` or ``SPAZO``."""
    INTERNAL = 2
    """Visible inside the instruction only; the key is a small number."""


Value = tuple[ValueKind, str]
"""Kind and key: (REGISTER, "RAX"), (FLAGS, "SPAZO"), (INTERNAL, "0")."""


@dataclass(frozen=True, slots=True)
class UopTemplate:
    """One unfused uop."""

    kind: UopKind
    units: UnitSet = NO_UNITS
    """It may take any of them; none: it never enters the scheduler."""
    inputs: tuple[Value, ...] = ()
    outputs: tuple[tuple[Value, int], ...] = ()
    """Each result with its latency in cycles."""
    memory_operand: int = -1
    """Loads and stores: index into the instruction's ``memory_operands``; -1: no known address."""
    divider_cycles: int = 0
    """Cycles for which its unit, or what is behind it, is busy, rounded up."""
    late: tuple[int, ...] = ()
    """For every input the cycles by which it may come later than the uop begins; empty: none may. Only cores
    that count macro-ops have it."""
    traits: Trait = Trait.NONE
    busy_eighths: int = 0
    """``divider_cycles`` in eighths, not rounded. Only cores that count macro-ops have it."""


@dataclass(frozen=True, slots=True)
class MacroOps:
    """What an instruction costs where macro-ops are counted; the macro-ops themselves are the template's
    ``fused_uops``."""

    entries: int = 1
    """In the op cache."""
    fields: int = 0
    """Immediates and displacements in the op cache."""
    decode_slots: int = 1
    vector_ops: int = 0
    """Macro-ops that the vector unit takes in."""
    begins_decode_group: bool = False
    ends_group: bool = False
    """Nothing behind it is dispatched in the same cycle."""
    serializing: bool = False
    moves: bool = False
    """The move of a pair: the renamer carries it out with the instruction behind it."""


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """Address of a memory operand as the renamer sees it. For MEM1-type accesses scale and
    displacement are None (docs/pipeline.md 2.2, 4.1)."""

    name: str
    base: str | None
    index: str | None
    scale: int | None
    displacement: int | None
    read: bool
    written: bool
    implicit_stack: bool = False
    """The stack engine's own use of RSP (rule O7)."""


@dataclass(frozen=True, slots=True)
class RegisterOperand:
    """A register input or output by its own name (``AH``, ``EAX``) and its canonical register."""

    name: str
    canonical: str
    width: int
    """Bits for general-purpose registers, 0 for others."""
    operand: str
    """Operand name in the tables (``REG0``), the key of latency pairs."""
    index: int = 0
    """Operand number in the tables."""
    implicit_stack: bool = False
    """Address inputs only: the stack engine's own use of RSP (rule O7)."""


@dataclass(frozen=True, slots=True)
class InstructionTemplate:
    """One instruction of a block on one microarchitecture with its uops (docs/pipeline.md 2.4 to 2.11)."""

    instruction: Instruction
    facts: InstructionFacts | None
    """None: unknown instruction; it costs one empty fused uop and is shown as unknown."""
    name: str
    uops: tuple[UopTemplate, ...]
    fused_uops: tuple[int, ...]
    """Number of uops in each fused uop."""
    idq_uops: tuple[int, ...]
    """Number of fused uops in each IDQ uop."""
    uop_count: int
    """The record's uops figure; 0 for zero idioms, NOPs and unknown instructions."""
    retire_slots: int
    mite_uops: int
    ms_uops: int
    complex_decoder: bool
    available_simple_decoders: int
    uses: tuple[UnitUse, ...]
    """Units that its uops need, with macro-fusion applied, for the bound on units."""
    divider_cycles: int = 0
    tp: int | None = None
    fused_with_next: bool = False
    fused_with_previous: bool = False
    macro_fusible: bool = False
    """Could fuse with some branch, whatever follows."""
    is_branch: bool = False
    length_changing_prefix: bool = False
    jcc_erratum: bool = False
    eliminable_move: bool = False
    added: int | None = None
    """The constant that the renamer can add to its input, or load (V9); None: it is no such instruction."""
    offset_registers: tuple[str, ...] = ()
    """Canonical registers that cost it two cycles while the renamer owes them a constant (V9)."""
    joins_next: bool = False
    """A move that takes no issue slot, because the instruction behind it computes with its result (A4)."""
    serializing: bool = False
    load_serializing: bool = False
    store_serializing: bool = False
    rsp_change: int = 0
    """Bytes by which the stack engine moves RSP."""
    returns: bool = False
    """A call of something elsewhere, which comes back, or the return to something elsewhere, which calls
    again: RSP is where it was behind it."""
    reads_stack_offset: bool = True
    """RSP, where it is read directly, has to be brought up to date (E2); False to ask what that costs."""
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
    """The core puts all upper halves of vector registers aside here, or fetches them back (UH2)."""
    follows_switch: bool = False
    """It waits until such an instruction before it has retired."""
    merges_upper_half: bool = False
    """Its result is merged with the old register, because upper halves are in use (UH3)."""
    macro_ops: MacroOps | None = None
    """Only of cores that count macro-ops."""
    left_out: str = ""
    """Why it has no figures here although the tables have a record of it."""

    @property
    def rsp_step(self) -> int:
        """Bytes by which RSP differs behind the instruction."""
        return 0 if self.returns else self.rsp_change

    def template(self) -> InstructionTemplate:
        """Itself: a template is the simplest entry of a block."""
        return self

    def like(self) -> InstructionTemplate:
        """Itself."""
        return self

    @property
    def is_jump(self) -> bool:
        """A branch that is always taken, wherever it leads."""
        return self.is_branch and self.instruction.mnemonic == "jmp"


class Entry(Protocol):
    """An instruction of a block: a template, or something that makes one when asked."""

    @property
    def instruction(self) -> Instruction:
        """The decoded instruction."""

    @property
    def facts(self) -> InstructionFacts | None:
        """Its record; None: unknown."""

    def template(self) -> InstructionTemplate:
        """Always the same template."""

    def like(self) -> InstructionTemplate:
        """The template that siblings share: the same but for registers, addresses and constants."""


@dataclass(frozen=True)
class Block:
    """A basic block ready to simulate: its instructions, layout and mode."""

    entries: tuple[Entry, ...]
    microarchitecture: str
    loop: bool
    """True: TP_L, every round starts at the alignment offset again; False: TP_U, laid end to end."""
    alignment: int = 0
    """Address of the first byte relative to a 64-byte line."""
    tracks_values: bool = False
    """Addresses are compared with what is known of sums and of the stack pointer, whatever the core does."""

    @cached_property
    def instructions(self) -> tuple[InstructionTemplate, ...]:
        """The templates of the entries, made when they are first asked for."""
        return tuple([entry.template() for entry in self.entries])
