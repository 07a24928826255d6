"""What the assembly front end makes of a text: regions of encoded statements, and problems."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from cyclelens.analyzer.common.data_classes import dataclass, field, replace
from cyclelens.analyzer.common.named_tuple import NamedTuple
from cyclelens.analyzer.model.instruction import Instruction

UNKNOWN_LINE = -1
"""Stands for a line where there is none: in object files without line information."""

LINE_BYTES = 64
"""Addresses that differ by a multiple of this look alike to every front end."""


class Severity(StrEnum):
    """How loudly a problem or finding is shown."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with the text itself; parsing and assembling return these and never raise."""

    line: int
    """``UNKNOWN_LINE``: the file as a whole."""
    column: int
    end_column: int
    code: str
    """Stable, kebab-case, e.g. ``syntax-error``, ``region-not-closed``."""
    message: str
    severity: Severity = Severity.ERROR
    traceback: str = ""
    """Of an ``internal-error``: where in Cyclelens it arose, as Python prints it."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a text comes from, and what may be read to understand it. All paths are absolute."""

    path: str = ""
    """The file; empty for a text that is in none."""
    folders: tuple[str, ...] = ()
    """The workspace: files in these folders may be read, no others."""
    include_paths: tuple[str, ...] = ()
    """Folders that included files are looked for in; the user named them, so they may be read, too."""
    defines: tuple[str, ...] = ()
    """``NAME`` or ``NAME=VALUE`` for the C preprocessor and NASM."""
    pre_includes: tuple[str, ...] = ()
    """Files that these two read before the text; the user named them, so they may be read, too."""


NOWHERE = Origin()
"""A text without a file: nothing may be read for it."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One statement of a region with the bytes it became; a line may hold several statements. Of an object
    file one instruction, with the line of the source that it was made from if that is known."""

    line: int
    column: int
    end_column: int
    text: str
    """The statement without comment and label, as written."""
    code: bytes
    backend: str
    """Which encoder made the bytes: ``keystone``, ``gnu as``, ``cyclelens`` (branches, NOPs, data); or that
    they are from an ``object file``."""
    address: int | None = None
    """In an object file, as other programs show it."""
    file: str = ""
    """The source that ``line`` is a line of; empty for the analysed text itself."""
    use: str = ""
    """What stands at this place of the text if the statement is made of it: the use of a macro, say. Empty if
    the statement itself stands there, as far as that is known."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where code begins in memory, as far as its file tells: some bytes behind a multiple of ``known`` bytes.

    Which multiple that is, the linker decides, who is bound to the alignment of the section and nothing else.
    """

    offset: int = 0
    """Bytes, less than ``known``."""
    known: int = LINE_BYTES
    """A power of two up to ``LINE_BYTES``."""
    gap: str = ""
    """Why less is known than the alignment of the section says; empty if nothing is missing."""

    @classmethod
    def in_section(cls, offset: int, alignment: int) -> Placement:
        """That of code so many bytes behind the start of a section with this alignment in bytes."""
        known = min(alignment & -alignment or 1, LINE_BYTES)
        return cls(offset % known, known)

    @property
    def offsets(self) -> tuple[int, ...]:
        """All possible offsets within a 64-byte line, rising."""
        return tuple(range(self.offset, LINE_BYTES, self.known))

    def pinned(self) -> Placement:
        """The first of the possible places alone: where pieces of code lie apart, the others say nothing."""
        return Placement(self.offset)

    def moved(self, count: int) -> Placement:
        """The place of what lies this many bytes behind."""
        return replace(self, offset=(self.offset + count) % self.known)


@dataclass(frozen=True, slots=True)
class Region:
    """One marked region. ``first_line`` and ``last_line`` are the lines of its markers."""

    name: str
    first_line: int
    last_line: int
    options: Mapping[str, str] = field(default_factory=dict)
    """``key=value`` pairs of the opening marker, e.g. ``arch=SKL``."""
    lines: tuple[SourceLine, ...] = ()
    ends_in_jump_to_start: bool = False
    incomplete: bool = False
    """True if some statement could not be encoded: the region must not be simulated as if it were whole."""
    latencies: Mapping[int, int] = field(default_factory=dict)
    """Latencies in cycles that the text asks for (``LLVM-MCA-LATENCY``), by index into ``lines``."""
    placement: Placement = Placement()
    """Of its first byte."""
    instructions: tuple[Instruction, ...] = ()
    """What ``code`` is decoded to, by who makes the region; nobody behind decodes it again."""
    section: str = ""
    """Of a text whose places are known: where the region lies."""
    offsets: tuple[int, ...] = ()
    """In that section, of each of ``lines``."""
    is_function: bool = False
    """It is a whole function, or a way through one: an iteration is a call."""

    @property
    def code(self) -> bytes:
        """All bytes of the region, in order."""
        return b"".join(line.code for line in self.lines)


END = -1
"""Stands for a block of a region: the end, or in a loop another time around."""


class JumpPlace(NamedTuple):
    """Where a jump stands."""

    line: int
    """``UNKNOWN_LINE`` where that is not known."""
    text: str
    """As written."""
    address: int | None = None
    """In an object file, as other programs show it."""


@dataclass(frozen=True, slots=True)
class Branching:
    """A marked region or a loop that branches within itself. All tuples but ``ways`` have an entry for each
    of its basic blocks, in the order of the code."""

    name: str
    first_line: int
    last_line: int
    options: Mapping[str, str]
    is_loop: bool
    blocks: tuple[str, ...]
    """The regions that have their figures; empty if that of another block counts for this one too."""
    passed: tuple[int | None, ...]
    """The block that control goes on to if it does not jump, None if it always jumps. Ways out of a loop, and
    out of a region in its middle, are none."""
    taken: tuple[int | None, ...]
    """The block that it jumps to."""
    jumps: tuple[JumpPlace, ...]
    """The last statement of each block."""
    entry: int = 0
    """The block that control comes to first."""
    ways: tuple[tuple[int, ...], ...] = ()
    """All ways through it, those without jumps first; empty if there are many, or loops within it."""

    @property
    def forks(self) -> tuple[int, ...]:
        """The blocks behind which there are two ways to go."""
        return tuple(
            block
            for block, (passed, taken) in enumerate(zip(self.passed, self.taken, strict=True))
            if passed is not None and taken is not None and passed != taken
        )


class CompiledInstruction(NamedTuple):
    """An instruction of an object file, and what of its source it was made from."""

    code: bytes
    file: str
    line: int
    column: int
    inlined: str
    """The function of the compiler's headers that the line calls and it comes from; or nothing."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What a recorded profile says of a region without branches within it."""

    executed: float
    """Times."""
    jumped: float
    """Times that its last instruction jumped."""
    passed: float
    """Times that it did not."""
    samples: float
    """That hit one of its instructions."""
    instructions: int | None
    """Its instructions, if the samples were taken by these; None: by cycles."""


@dataclass(frozen=True, slots=True)
class AssembledFile:
    """The front end's whole answer for one text."""

    regions: tuple[Region, ...]
    problems: tuple[Problem, ...]
    dialect: str
    """``att`` or ``intel``: what the file's first statement was read as; what machine code is shown in."""
    branchings: tuple[Branching, ...] = ()
    """Of the regions that come as their basic blocks, as far as it is known where their jumps go."""
    unmarked: bool = False
    """The regions are loops that nobody asked for: the text has no markers."""
    counts: Mapping[str, Counts] | None = None
    """By region; None without a profile."""
    made: tuple[CompiledInstruction, ...] = ()
    """Of object files all instructions whose line is known."""
    functions: tuple[tuple[str, int, int], ...] = ()
    """Name, first and last line of all functions of a text, if one of them was asked for."""
