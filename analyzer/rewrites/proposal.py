"""What a rewrite is: edits of the text, and what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch of the text and what takes its place; the end is not part of the stretch."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A rewrite that may or may not help."""

    title: str
    """What it does, and what else it changes."""
    line: int
    """Line of the instruction that it is about."""
    edits: tuple[Edit, ...]
    code: str = ""
    """Code of the finding that it settles; empty if there is no finding for it."""
    choice: str = ""
    """Of the proposals for a region that have the same choice only the best is offered."""
    times: int = 1
    """Iterations of the loop as it is that one of the new loop does."""
    brief: str = ""
    """What it does in as few words as possible: ``four accumulators``."""
    whole: bool = False
    """It is about the whole region, not about one line."""
    rewrite: str = ""
    """Of rewrites of whole loops, the kind."""
    cleared: frozenset[str] = frozenset()
    """Vector registers whose upper halves it clears, by canonical names."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A rewrite that helps; figures in cycles per iteration of the text as it is."""

    proposal: Proposal
    region: str
    microarchitecture: str
    before: float
    after: float
    where: str = ""
    """Where in memory it helps, if the figure that is shown stays: `` at 2 of 4 positions``."""

    def moved(self, lines: int) -> Fix:
        """The same for a text in which everything is this many lines further down."""
        proposal = self.proposal
        edits = tuple(
            replace(edit, line=edit.line + lines, end_line=edit.end_line + lines) for edit in proposal.edits
        )
        return replace(self, proposal=replace(proposal, line=proposal.line + lines, edits=edits))


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text after edits that neither overlap nor touch."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda edit: (edit.line, edit.column), reverse=True):
        head = lines[edit.line][: edit.column]
        tail = lines[edit.end_line][edit.end_column :] if edit.end_line < len(lines) else ""
        lines[edit.line : edit.end_line + 1] = (head + edit.text + tail).split("\n")
    return "\n".join(lines)
