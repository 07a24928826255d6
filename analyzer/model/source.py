"""Results of the assembly front end: regions of encoded statements, and problems."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from enum import StrEnum

from cyclelens.analyzer.model.instruction import Instruction
from msgspec import Struct, field
from msgspec.structs import replace

UNKNOWN_LINE = -1
"""Line number where none is known: object files without line information."""

LINE_BYTES = 64
"""Addresses that differ by a multiple of this are equivalent for every front end."""


class Severity(StrEnum):
    """How prominently a problem or finding is shown."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"


class Problem(Struct, frozen=True):
    """An error in the text itself. Parsing and assembling return these and never raise."""

    line: int
    """``UNKNOWN_LINE`` for the whole file."""
    column: int
    end_column: int
    code: str
    """Stable kebab-case name, such as ``syntax-error`` or ``region-not-closed``."""
    message: str
    severity: Severity = Severity.ERROR
    traceback: str = ""
    """For an ``internal-error``: Python's traceback."""
    region: str = ""
    """Name of the region of machine code that it is about; empty for other problems."""
    replacement: str = ""
    """The text that was meant in this place; empty if it is not certain."""


class Origin(Struct, frozen=True):
    """Where a text comes from, and which files may be read for it. All paths are absolute."""

    path: str = ""
    """The text's file; empty if it has none."""
    folders: tuple[str, ...] = ()
    """Workspace folders: files in them may be read, no others."""
    include_paths: tuple[str, ...] = ()
    """Folders to search for included files; the user named them, so they may be read."""
    defines: tuple[str, ...] = ()
    """``NAME`` or ``NAME=VALUE`` for the C preprocessor and NASM."""
    pre_includes: tuple[str, ...] = ()
    """Files that both read before the text; the user named them, so they may be read."""


NOWHERE = Origin()
"""For a text without a file: nothing may be read for it."""


class SourceLine(Struct, frozen=True):
    """One statement of a region with its machine code; a line may hold several statements.

    In an object file it is one instruction, with its source line if that is known.
    """

    line: int
    column: int
    end_column: int
    text: str
    """The statement as written, without comment and label."""
    code: bytes
    backend: str
    """The encoder: ``keystone``, ``gnu as``, ``cyclelens`` (branches, NOPs, data), or ``object file``."""
    address: int | None = None
    """Address in an object file, as other tools show it."""
    file: str = ""
    """The source file that ``line`` refers to; empty for the analysed text."""
    use: str = ""
    """The text at this place if the statement was generated from it, such as the use of
    a macro; otherwise empty."""


class Placement(Struct, frozen=True):
    """Where code begins in memory, as far as its file tells: ``offset`` bytes after some multiple of
    ``known`` bytes.

    The linker chooses the multiple and respects only the alignment of the section.
    """

    offset: int = 0
    """Bytes, less than ``known``."""
    known: int = LINE_BYTES
    """A power of two up to ``LINE_BYTES``."""
    gap: str = ""
    """Why less is known than the section's alignment suggests; empty if nothing is missing."""

    @classmethod
    def in_section(cls, offset: int, alignment: int) -> Placement:
        """Placement of code ``offset`` bytes after the start of a section with this alignment in bytes."""
        known = min(alignment & -alignment or 1, LINE_BYTES)
        return cls(offset % known, known)

    @property
    def offsets(self) -> tuple[int, ...]:
        """All possible offsets within a 64-byte line, ascending."""
        return tuple(range(self.offset, LINE_BYTES, self.known))

    def pinned(self) -> Placement:
        """Only the first possible position: for separate pieces of code the others mean nothing."""
        return Placement(self.offset)

    def moved(self, count: int) -> Placement:
        """Placement of what follows ``count`` bytes later."""
        return replace(self, offset=(self.offset + count) % self.known)


class Region(Struct, frozen=True):
    """One marked region. ``first_line`` and ``last_line`` are the lines of its markers."""

    name: str
    first_line: int
    last_line: int
    options: Mapping[str, str] = field(default_factory=dict)
    """``key=value`` pairs of the opening marker, such as ``arch=SKL``."""
    lines: tuple[SourceLine, ...] = ()
    ends_in_jump_to_start: bool = False
    incomplete: bool = False
    """True if a statement could not be encoded: the region must not be simulated as if it were whole."""
    latencies: Mapping[int, int] = field(default_factory=dict)
    """Index in ``lines`` -> latency in cycles requested by the text (``LLVM-MCA-LATENCY``)."""
    placement: Placement = Placement()
    """Placement of the first byte."""
    instructions: tuple[Instruction, ...] = ()
    """The decoded ``code``, set by the region's creator so that later stages need not decode again."""
    section: str = ""
    """The section of the region, if positions in the text are known."""
    offsets: tuple[int, ...] = ()
    """Offset in that section of each of ``lines``."""
    is_function: bool = False
    """True for a whole function or a path through one: an iteration is a call."""
    block_of: str = ""
    """Name of the region that this is a basic block of; empty for a whole region."""

    @property
    def code(self) -> bytes:
        """All bytes of the region, in order."""
        return b"".join(line.code for line in self.lines)


def content_of(region: Region) -> tuple[Hashable, ...]:
    """All of a region except its place: lines count from its first one, and offsets in the section are left
    out."""
    first = region.first_line
    return (
        region.name,
        region.last_line - first,
        tuple(region.options.items()),
        tuple(replace(each, line=each.line - first) for each in region.lines),
        (region.ends_in_jump_to_start, region.incomplete, region.is_function, region.block_of),
        tuple(region.latencies.items()),
        region.placement,
        region.section,
    )


END = -1
"""Stands for a block: the end of the region or, in a loop, the next iteration."""


class JumpPlace(Struct, frozen=True):
    """The place of a jump."""

    line: int
    """``UNKNOWN_LINE`` if not known."""
    text: str
    """As written."""
    address: int | None = None
    """Address in an object file, as other tools show it."""


class Branching(Struct, frozen=True):
    """A marked region or a loop with inner branches.

    All tuples except ``paths`` have one entry per basic block, in code order.
    """

    name: str
    first_line: int
    last_line: int
    options: Mapping[str, str]
    is_loop: bool
    blocks: tuple[str, ...]
    """Name of the region with the block's figures; empty if another block's figures apply."""
    passed: tuple[int | None, ...]
    """Successor of each block if it does not jump; None if it always jumps, or for exits of a loop and exits
    from the middle of a region."""
    taken: tuple[int | None, ...]
    """Successor of each block if it jumps."""
    jumps: tuple[JumpPlace, ...]
    """The last statement of each block."""
    entry: int = 0
    """Index of the block that is executed first."""
    paths: tuple[tuple[int, ...], ...] = ()
    """All paths through it, those without jumps first; empty if there are too many,
    or if it contains loops."""

    @property
    def forks(self) -> tuple[int, ...]:
        """Indices of blocks with two successors."""
        return tuple(
            block
            for block, (passed, taken) in enumerate(zip(self.passed, self.taken, strict=True))
            if passed is not None and taken is not None and passed != taken
        )


class CompiledInstruction(Struct, frozen=True):
    """An instruction of an object file, with its source."""

    code: bytes
    file: str
    line: int
    column: int
    inlined: str
    """The function of the compiler's headers that the line calls and the instruction
    comes from; empty if none."""


class Counts(Struct, frozen=True):
    """Counts of a recorded profile for a region without inner branches."""

    executed: float
    """Executions."""
    jumped: float
    """Times that its last instruction jumped."""
    passed: float
    """Times that its last instruction did not jump."""
    samples: float
    """Samples that hit its instructions."""
    instructions: int | None
    """Number of its instructions if the samples count instructions; None if they count cycles."""
    has_branches: bool = False
    """The profile has branches, which tell the executions; samples then tell only the time."""
    mispredicted: float = 0.0
    """Times that its last instruction jumped and had been predicted not to, or to go elsewhere; 0 if not
    recorded."""


class AssembledFile(Struct, frozen=True):
    """The front end's whole answer for one text."""

    regions: tuple[Region, ...]
    problems: tuple[Problem, ...]
    dialect: str
    """``att`` or ``intel``: the dialect of the file's first statement, in which machine code is shown."""
    branchings: tuple[Branching, ...] = ()
    """Regions with inner branches, given as basic blocks, as far as the targets of their jumps are known."""
    unmarked: bool = False
    """True if the regions are loops found in a text without markers."""
    counts: Mapping[str, Counts] | None = None
    """Region name -> counts; None without a profile."""
    made: tuple[CompiledInstruction, ...] = ()
    """For object files: all instructions whose line is known."""
    functions: tuple[tuple[str, int, int], ...] = ()
    """(name, first line, last line) of all functions of a text, if one of them was requested."""
