"""The text as far as it has been read, with the distances between its labels, for conditions.

It grows with the text: each statement is taken in once, and its size is found once, however many conditions
ask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from cyclelens.analyzer.frontend.programs.program import ParsedText, Program, Statement
from cyclelens.analyzer.frontend.programs.scope import StatementScope
from cyclelens.analyzer.frontend.statements.expressions import ExpressionValue
from msgspec import Struct, field
from msgspec.structs import replace


class Distances(Protocol):
    """Distances between the labels of a program that grows (``regions.sections.Layouts``)."""

    def distance(self, first: str, second: str, index: int) -> int | None:
        """Bytes from the second label to the first as known at a statement; None if they may change."""

    def take_added(self) -> None:
        """Take in the parts that were added to the program."""


Measure = Callable[[Program], Distances]


class TextSoFar(Struct, eq=False):
    """The statements before the present one, in pieces: those between two questions are one part."""

    measure: Measure
    _program: Program = field(default_factory=Program)
    _distances: Distances | None = None
    _parts: int = 0
    """Parts of the text that were taken in as a whole."""
    _taken: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Statements, labels, assignments and weak symbols taken of the part that is being read."""
    _is_open: bool = False
    """The last statement is the one that asked; what it becomes is not known yet."""

    def forget(self) -> None:
        """Start anew: something that was taken in has changed."""
        self._program, self._distances = Program(), None
        self._parts, self._taken, self._is_open = 0, (0, 0, 0, 0), False

    def evaluate(self, text: str, read: Sequence[ParsedText], part: ParsedText) -> ExpressionValue:
        """Value of an expression at the last statement of ``part``, which follows the parts in ``read``.
        Raises ExpressionError."""
        had_registers = self._program.has_register_names
        self._take_in(read, part)
        if self._program.has_register_names != had_registers and self._distances is not None:
            # Names now mean something else in the statements before, too.
            self.forget()
            self._take_in(read, part)
        program, distances = self._program, self._distances
        if distances is None:
            distances = self._distances = self.measure(program)
        distances.take_added()
        return StatementScope(program, len(program.statements) - 1, distances.distance).evaluate(text)

    def _take_in(self, read: Sequence[ParsedText], part: ParsedText) -> None:
        if self._is_open:
            self._program.statements.pop()
        while self._parts < len(read):
            whole = read[self._parts]
            if self._taken == (0, 0, 0, 0):
                self._program.add(whole, 0)
            else:
                self._add(whole, whole.statements)
            self._parts += 1
            self._taken = (0, 0, 0, 0)
        self._add(part, part.statements[:-1])
        self._program.statements.append(part.statements[-1])
        self._is_open = True

    def _add(self, part: ParsedText, statements: Sequence[Statement]) -> None:
        """Add what was not taken yet of these statements, and all labels and symbols so far."""
        first, labels, assignments, weak = self._taken
        piece = ParsedText(
            list(statements[first:]),
            [(name, replace(label, index=label.index - first)) for name, label in part.labels[labels:]],
            [(name, index - first, assigned) for name, index, assigned in part.assignments[assignments:]],
            weak=part.weak[weak:],
        )
        self._program.add(piece, 0)
        self._taken = len(statements), len(part.labels), len(part.assignments), len(part.weak)
