"""Tabulated figures of one instruction form on one core."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

PortUse = tuple[str, int]
"""(set of units in the notation of the tables, number of uops that need one of them): ("0156", 2).
``model.units`` of a core interprets the notation."""
NOPS = frozenset({"NOP", "WIDENOP"})
"""Categories of instructions that do nothing, whatever their operands."""


class OperandFacts(Struct, frozen=True):
    """One operand of a form, explicit, implicit or suppressed, in table order."""

    index: int
    """Operand number in latency pairs."""
    name: str
    """``REG0`` .. ``REG9``, ``MEM0``, ``MEM1``, ``AGEN``, ``IMM0``, ``RELBR``."""
    kind: str
    """``reg mem agen imm flags relbr``."""
    read: bool = False
    written: bool = False
    conditional_write: bool = False
    suppressed: bool = False
    """True if Intel syntax does not show it."""
    implicit: bool = False
    """True if Intel syntax shows it but the opcode fixes it."""
    opmask: bool = False
    width: int = 0
    """Bits; 0 if not given."""
    registers: tuple[str, ...] = ()
    """Allowed registers; exactly one for suppressed and implicit operands."""
    base: str | None = None
    index_register: str | None = None
    """Address registers of an implicit memory operand."""
    flags_read: frozenset[str] = frozenset()
    """Letters out of C S P A Z O; conditional writes count as reads as well (docs/pipeline.md 2.1)."""
    flags_written: frozenset[str] = frozenset()


class Latency(Struct, frozen=True):
    """Cycles from one operand to another; None if the table has no figure."""

    cycles: int | None = None
    address: int | None = None
    address_index: int | None = None
    memory: int | None = None
    same_register: int | None = None
    after_load: int | None = None
    """From a loaded value, as measured of a register in its place: no record has it (O9)."""


class Figures(Struct, frozen=True):
    """Counts of one variant of a record (base, same-register or indexed address); None if not stated."""

    uops: int | None = None
    retire_slots: int | None = None
    mite_uops: int | None = None
    ms_uops: int | None = None
    complex_decoder: bool | None = None
    available_simple_decoders: int | None = None
    ports: tuple[PortUse, ...] | None = None
    """In the source's order, which decides which uop is the base uop."""
    divider_cycles: int | None = None
    tp: int | None = None
    """Cycles of occupancy of throughput-limited instructions (rules D2, D3); not reported."""
    tp_after_wait: int | None = None
    """The same for an instance that had to wait for an earlier one; None: no longer than ``tp``."""
    shared: str = ""
    """What other forms that occupy it keep waiting, too (D9); empty: no other form does."""
    throughput: float | None = None
    """Measured cycles per independent instance. Only records of Zen+ to Zen 4, whose integer units were not
    measured, have it (M21)."""
    published: float | None = None
    """Published cycles per independent instance, if the units do not explain them. No rule uses it: reports
    name it where the figure has fewer (D11)."""


class InstructionFacts(Struct, frozen=True):
    """The record of one instruction form on one core, after rules D1 to D7."""

    name: str
    """Display name, e.g. ``ADD (R64, M64)``; some rules compare it literally."""
    iform: str
    microarchitecture: str
    attributes: Mapping[str, str]
    """Attributes of the record, out of agen bcast eosz high8 immzero mask rep rm sae zeroing."""
    operands: tuple[OperandFacts, ...]
    base: Figures
    same_register: Figures = Figures()
    indexed: Figures = Figures()
    latencies: Mapping[tuple[int, int], Latency] = field(default_factory=dict)
    """(start operand number, target operand number) -> latency."""
    macro_fusible_with: frozenset[str] = frozenset()
    """Display names of the branches that fuse with it."""
    locked: bool = False
    category: str = ""
    """Table category, e.g. ``COND_BR``, ``CALL``, ``PUSH``."""
    extension: str = ""
    constructed: bool = False
    """True if the figures are derived from published tables, not measured: lower confidence."""
