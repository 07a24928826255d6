"""A rewrite: edits of the text and their gain."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.insight.work import Pace, change
from cyclelens.analyzer.model.result import Work
from msgspec import Struct
from msgspec.structs import replace


class Replacement(Struct, frozen=True):
    """A range of the text and its replacement; lines and columns are zero-based, the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Proposal(Struct, frozen=True):
    """A rewrite that may or may not help."""

    effect: str
    """What it does: ``Use eax``."""
    line: int
    """Zero-based line of the instruction concerned."""
    edits: tuple[Replacement, ...]
    code: str = ""
    """Code of the finding that it resolves; empty if there is none."""
    choice: str = ""
    """Group name: only the best proposal of each group is offered per region."""
    times: int = 1
    """Original iterations per iteration of the new loop."""
    brief: str = ""
    """The shortest title, such as ``four accumulators``."""
    count: str = ""
    """The number in ``brief``: ``four``; empty if it has none."""
    counted: str = ""
    """What ``brief`` says apart from the number: ``accumulators``."""
    whole: bool = False
    """True if it changes the whole region, not one line."""
    kinds: tuple[str, ...] = ("statement",)
    """Its kinds: one of a single statement or of the whole loop, several if rewrites are combined."""
    predicted: tuple[int, ...] = ()
    """Zero-based lines of the branches that it removes, which are mispredicted no more."""
    cleared: frozenset[str] = frozenset()
    """Vector registers whose upper halves it clears, by canonical names."""
    caution: str = ""
    """Its side effects and conditions: ``the flags may differ``; empty if there are none."""
    reason: str = ""
    """Why it may help, with its punctuation in front: ``: the renamer adds the constant``."""

    @property
    def title(self) -> str:
        """``Use eax (the flags may differ): the renamer adds the constant``."""
        return f"{self.effect}{f' ({self.caution})' if self.caution else ''}{self.reason}"

    @property
    def short(self) -> str:
        """The shortest title, as part of a sentence: ``four accumulators``, ``use eax``."""
        return self.brief or f"{self.effect[:1].lower()}{self.effect[1:]}"


class Fix(Struct, frozen=True):
    """A rewrite that helps; figures are cycles per iteration of the original text."""

    proposal: Proposal
    region: str
    microarchitecture: str
    before: float
    after: float
    where: str = ""
    """Where in memory it helps if the displayed figure does not change: `` at 2 of 4 positions``."""
    work: Work | None = None
    """The work of an iteration of the original text; None if unknown."""

    @property
    def gain(self) -> str:
        """``0.500 -> 0.125 cycles/float, 4.0x``."""
        return change(Pace(self.before, self.work), Pace(self.after, self.work))

    def moved(self, lines: int) -> Fix:
        """The same rewrite for a text shifted down by ``lines``."""
        proposal = self.proposal
        edits = tuple(
            replace(edit, line=edit.line + lines, end_line=edit.end_line + lines) for edit in proposal.edits
        )
        return replace(self, proposal=replace(proposal, line=proposal.line + lines, edits=edits))


def apply(text: str, edits: Sequence[Replacement]) -> str:
    """Apply edits, which must neither overlap nor touch, to a text. If all of its lines end in CR and LF, or
    in CR, those of the result do, too."""
    if "\r" in text and "\n" not in text:
        return apply(text.replace("\r", "\n"), edits).replace("\n", "\r")
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda edit: (edit.line, edit.column), reverse=True):
        head = lines[edit.line][: edit.column]
        tail = lines[edit.end_line][edit.end_column :] if edit.end_line < len(lines) else ""
        lines[edit.line : edit.end_line + 1] = (head + edit.text + tail).split("\n")
    changed = "\n".join(lines)
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        changed = re.sub(r"(?<!\r)\n", "\r\n", changed)
    return changed


def no_rewrite(number: int, found: int) -> str:
    """The message that a list of so many rewrites has none with this number."""
    return f"there is no rewrite {number}: {f'the last one is {found}' if found else 'none was found'}"
