"""What an operand can be, and what its names need."""

from __future__ import annotations

from typing import Protocol

from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.frontend.statements.expressions import Value


class OperandError(ValueError):
    """An operand that is not understood; the message is meant for the user."""


class UnsupportedError(ValueError):
    """A statement that is understood but beyond the assembler."""


class Scope(Protocol):
    """What symbols mean at one place of the text."""

    dot: int
    """Bytes of the statement in front of what ``.`` means."""

    def evaluate(self, text: str) -> Value:
        """What an expression is as far as GNU as knows when it reads this place. Raises ExpressionError."""

    def final(self, text: str) -> Value:
        """What it is once all of the text is read. Raises ExpressionError."""

    looks_ahead: bool
    """A symbol matters that is set further down, which only NASM knows by now."""

    @property
    def is_whole(self) -> bool:
        """Is all of the text read, and everything in its place?"""

    @property
    def names_registers(self) -> bool:
        """May a name stand for a register?"""

    def is_set(self, name: str) -> bool:
        """Is a symbol given a value before this place?"""

    def register(self, name: str) -> str | None:
        """The register that a name was given to (``a = %rax``), in lower case without ``%``."""

    def stand_in(self, text: str, value: Value, base: int, *, immediate: bool = False) -> int:
        """The number that takes the place of an expression without a constant value: ``base`` and something
        small, always the same for the same symbol, far apart for different ones. ``base`` is 0 for what is
        relative to the instruction pointer."""


ABSOLUTE_BASE = 0x1000_0000
"""Added to stand-ins for absolute addresses, so that they need 32 bits, as the real ones do."""


@dataclass(frozen=True, slots=True)
class Register:
    """A register by its lower-case name without ``%``."""

    name: str
    decorations: tuple[str, ...] = ()
    """What stands in braces behind it, without braces and ``%``: ``k1``, ``z``."""


@dataclass(frozen=True, slots=True)
class Immediate:
    """A number, or the stand-in for an address."""

    value: int
    is_address: bool = False


@dataclass(frozen=True, slots=True)
class MemoryOperand:
    """A memory operand. ``size`` is the Intel dialect's size word, lower case; None if not written."""

    segment: str | None = None
    base: str | None = None
    index: str | None = None
    scale: int = 1
    displacement: int = 0
    size: str | None = None
    decorations: tuple[str, ...] = ()
    """As for registers; ``1to16``, or ``bcst`` where the Intel dialect says it with the size."""

    @property
    def is_absolute(self) -> bool:
        """Neither base nor index."""
        return self.base is None and self.index is None


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a direct jump: an expression, not looked at yet."""

    text: str
    near: bool = False
    """``near`` was written: no short form."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """``{rn-sae}`` or ``{sae}`` as an operand of its own."""

    text: str


Operand = Register | Immediate | MemoryOperand | Target | Rounding
