"""The figures that the tables hold for one instruction variant on one microarchitecture."""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.common.data_classes import dataclass, field

PortUse = tuple[str, int]
"""A set of units as the source of the tables names it, and how many uops need one of them: ("0156", 2). Which
units these are, each core says for itself (``model.units``)."""
NOPS = frozenset({"NOP", "WIDENOP"})
"""Categories of what does nothing, whatever its operands."""


@dataclass(frozen=True, slots=True)
class OperandFacts:
    """One operand of a variant, explicit, implicit or suppressed, in table order."""

    index: int
    """Operand number that the latency pairs refer to."""
    name: str
    """``REG0`` .. ``REG9``, ``MEM0``, ``MEM1``, ``AGEN``, ``IMM0``, ``RELBR``."""
    kind: str
    """``reg mem agen imm flags relbr``."""
    read: bool = False
    written: bool = False
    conditional_write: bool = False
    suppressed: bool = False
    """Not visible in Intel syntax."""
    implicit: bool = False
    """Visible, but fixed by the opcode."""
    opmask: bool = False
    width: int = 0
    """Bits, 0 if not given."""
    registers: tuple[str, ...] = ()
    """The allowed registers; exactly one for suppressed and implicit ones."""
    base: str | None = None
    index_register: str | None = None
    """Address registers of an implicit memory operand."""
    flags_read: frozenset[str] = frozenset()
    """Letters out of C S P A Z O; conditional writes count as reads too (docs/pipeline.md 2.1)."""
    flags_written: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Latency:
    """Cycles from one operand to another; None where the table has no figure."""

    cycles: int | None = None
    address: int | None = None
    address_index: int | None = None
    memory: int | None = None
    same_register: int | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts of one variant of a record (base, same-register or indexed address); None = not stated."""

    uops: int | None = None
    retire_slots: int | None = None
    mite_uops: int | None = None
    ms_uops: int | None = None
    complex_decoder: bool | None = None
    available_simple_decoders: int | None = None
    ports: tuple[PortUse, ...] | None = None
    """In the order of the source's text, which decides which uop is the base uop."""
    divider_cycles: int | None = None
    tp: int | None = None
    """Occupancy in cycles of throughput-limited instructions (rules D2, D3); not a report value."""
    throughput: float | None = None
    """Measured cycles from one instance to the next that does not depend on it. Only records of Zen+ to Zen 4
    have it, whose integer units were not measured (M21)."""


@dataclass(frozen=True, slots=True)
class InstructionFacts:
    """The record of one instruction variant on one microarchitecture, rules D1 to D7 applied."""

    name: str
    """Display name, e.g. ``ADD (R64, M64)``; some rules compare it literally."""
    iform: str
    microarchitecture: str
    attributes: Mapping[str, str]
    """Those of agen bcast eosz high8 immzero mask rep rm sae zeroing that the record has."""
    operands: tuple[OperandFacts, ...]
    base: Figures
    same_register: Figures = Figures()
    indexed: Figures = Figures()
    latencies: Mapping[tuple[int, int], Latency] = field(default_factory=dict)
    """By (start operand number, target operand number)."""
    macro_fusible_with: frozenset[str] = frozenset()
    """Display names of the branches that fuse with it."""
    locked: bool = False
    category: str = ""
    """Table category, e.g. ``COND_BR``, ``CALL``, ``PUSH``."""
    extension: str = ""
    constructed: bool = False
    """True if the figures were put together from published tables, not measured: lower confidence."""
