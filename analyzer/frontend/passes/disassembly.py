"""Reads the output of disassemblers: its machine code becomes regions with the lines of the text.

Instructions without bytes are encoded, in the form whose length fits their addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from cyclelens.analyzer.frontend.control_flow.loops import MAXIMUM_BLOCKS
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError
from cyclelens.analyzer.frontend.objects.elf_writer import (
    RELATIVE_32,
    ForeignRelocation,
    ForeignSection,
    ForeignSymbol,
    elf_object,
)
from cyclelens.analyzer.frontend.objects.machine_code import regions_of
from cyclelens.analyzer.frontend.objects.machine_flow import near
from cyclelens.analyzer.frontend.passes.assembly_run import AssemblyRun
from cyclelens.analyzer.frontend.passes.builtin import BuiltinPass
from cyclelens.analyzer.frontend.source import dumps, other_languages
from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.frontend.source.dialect import ATT, INTEL, Dialect, detect
from cyclelens.analyzer.frontend.source.dump_columns import is_of_its_code
from cyclelens.analyzer.frontend.source.dumps import Dump, DumpRow, DumpSection
from cyclelens.analyzer.frontend.source.markers import MAXIMUM_REGIONS, Span
from cyclelens.analyzer.frontend.source.problems import make_problem
from cyclelens.analyzer.frontend.source.scanner import scan
from cyclelens.analyzer.frontend.statements.directives import nop_fill
from cyclelens.analyzer.frontend.statements.jumps import JUMPS
from cyclelens.analyzer.frontend.statements.prefixes import PREFIXES
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.choices import Regions, Syntax
from cyclelens.analyzer.model.source import (
    LINE_BYTES,
    UNKNOWN_LINE,
    AssembledFile,
    Branching,
    JumpPlace,
    Problem,
    Region,
    Severity,
)
from msgspec.structs import replace

_USUAL_ALIGNMENT = 16
"""Bytes to which compilers usually align functions."""
_FIRST_PAGE = 0x1000
"""Code below this address belongs to an object file, not to a program."""
_FILLED = b"\x90"
"""Replaces bytes that the dump does not show, for example before functions."""
_UNKNOWN = b"\x98"
"""Stands for each byte of an instruction without an encoding: no padding, so that it stays in its region."""
_JUMP = (
    r"((?:\w+[ \t]+)*?)(\w+)(,p[nt])?[ \t]+"
    r"(?:(?:short[ \t]+|near ptr[ \t]+)?(?:0x|(?:loc|locret|sub|LAB)_)?|\S+[ \t]+\()([0-9a-fA-F]+)(?:h\))?$"
)
"""A direct jump: to an address, to IDA's or Ghidra's label for one, or as Visual Studio prints it."""
_NOP = r"(?:(?:data16|cs|ds)[ \t]+)*nop[wlq]?\b|align\b"
"""Padding; IDA prints a directive instead of instructions."""
_RETURN = r"(?i)^retn\b"
"""IDA's and OllyDbg's name of ``ret``."""
_LONG_NOP = bytes.fromhex("662e0f1f840000000000")
_LONGEST = 15
_WISHES = ("", "{disp32} ", "{disp8} ", "{vex3} ", "{evex} ", "{load} ", "{store} ")
"""Pseudo-prefixes that request other forms of an instruction."""
_CHUNK = MAXIMUM_BLOCKS
"""Statements that are encoded together: they cannot be more basic blocks than a text may have."""
_KINDS = {"R_X86_64_64": 1, "R_X86_64_PC32": 2, "R_X86_64_PLT32": 4, "R_X86_64_GOTPCREL": 9}
_KINDS |= {"R_X86_64_32": 10, "R_X86_64_32S": 11, "R_X86_64_GOTPCRELX": 41, "R_X86_64_REX_GOTPCRELX": 42}
_NOT_X86 = (
    "Most instructions of this disassembly are not those of x86-64: it is of code for another processor, or "
    "32-bit or 16-bit code. Only x86-64 is simulated."
)
_OPEN = bytes(4)
_LONG_JUMP = 5


def read(run: AssemblyRun, dump: Dump, spans: Sequence[Span]) -> AssembledFile:
    """Regions of a dump: its marked code, the loops of its functions, or the functions. Problems are at the
    lines of the dump."""
    rows = [row for part in dump.parts for row in part.rows]
    dialect = _dialect(run, rows)
    other = None if other_languages.says_64_bits(run.text) else _other_processor(rows)
    if other is not None:
        return AssembledFile((), (other,), dialect.name)
    problems = _encode(run, dump, dialect)
    if len(problems) > max(1, len(rows) // 2):
        return AssembledFile((), (_other(rows[0], _NOT_X86),), dialect.name)
    doubtful = {problem.line for problem in problems}
    regions: list[Region] = []
    branchings: list[Branching] = []
    functions: list[tuple[str, int, int]] = []
    parts = [_DumpCode(part, spans, dump.is_object) for part in dump.parts]
    whole = _wants_whole(run, parts)
    for code in parts:
        try:
            found = code.regions(run, spans, whole=whole)
        except ObjectFileError as error:
            row = code.part.rows[0]
            message = f"{str(error).capitalize()}."
            problems.append(Problem(row.line, row.column, row.end_column, "not-supported", message))
            continue
        known = {region.name for region in regions} | {each.name for each in branchings}
        own = [code.region(region, spans, doubtful) for region in found.regions if region.name not in known]
        regions += own
        branchings += [code.branching(each, own) for each in found.branchings if each.name not in known]
        problems += [code.problem(problem, own) for problem in found.problems]
        problems += code.gaps
        functions += code.functions
    wanted = run.options.function
    if wanted is not None:
        run.functions = [Span(name, 0, 0, first, last, 0, 0) for name, first, last in functions]
        if not any(name == wanted for name, _, _ in functions):
            problems.append(run.no_function(wanted))
    regions, branchings, message = _first(regions, branchings)
    if message:
        row = rows[0]
        place = row.line, row.column, row.end_column
        problems.append(make_problem("too-many-regions", message, *place, Severity.WARNING))
    problems.sort(key=lambda problem: (problem.line, problem.column))
    return AssembledFile(
        tuple(regions),
        tuple(problems),
        dialect.name,
        tuple(branchings),
        functions=tuple(functions) if wanted is not None else (),
    )


def _other_processor(rows: Sequence[DumpRow]) -> Problem | None:
    """The problem that a dump is not of x86-64's code; None if it is."""
    if (other := other_languages.in_dump([row.text for row in rows])) is not None:
        return _other(rows[other[0]], other[1])
    shown = [row for row in rows if row.code and row.text]
    fitting = sum(map(is_of_its_code, shown))
    return _other(rows[0], _NOT_X86) if len(shown) > 1 and 2 * fitting < len(shown) else None


def _other(row: DumpRow, message: str) -> Problem:
    return make_problem("other-language", message, row.line, row.column, row.end_column, Severity.WARNING)


def _first(regions: list[Region], branchings: list[Branching]) -> tuple[list[Region], list[Branching], str]:
    """The first regions of all sections, and a message if there are more."""
    names = list(dict.fromkeys(region.block_of or region.name for region in regions))
    first = set(names[:MAXIMUM_REGIONS])
    kept = [region for region in regions if (region.block_of or region.name) in first][:MAXIMUM_BLOCKS]
    if len(kept) == len(regions):
        return regions, branchings, ""
    known = {region.name for region in kept}
    message = f"Only the first {MAXIMUM_REGIONS:,} regions and {MAXIMUM_BLOCKS:,} basic blocks are analysed."
    return kept, [each for each in branchings if known.issuperset(filter(None, each.blocks))], message


def _wants_whole(run: AssemblyRun, parts: Sequence[_DumpCode]) -> bool:
    """Whether functions are regions, because no part has a loop."""
    if run.options.function is not None:
        return True
    if run.options.regions != Regions.AUTO or any(code.is_marked for code in parts):
        return False
    return not any(regions_of(code.file, code.file.functions, Regions.LOOPS).regions for code in parts)


class _DumpCode:
    """A section of the dump as an object file, with the text lines of its instructions."""

    def __init__(self, part: DumpSection, spans: Sequence[Span], is_object: bool) -> None:
        self.part = part
        is_linked = not (is_object or _is_of_object(part))
        first = part.rows[0].address
        base = first if is_linked or not part.functions else first // LINE_BYTES * LINE_BYTES
        self.file = ObjectFile(_object(part, spans, base, is_linked=is_linked))
        self._rows = {row.address - (0 if is_linked else base): row for row in part.rows}
        """Rows by address in the file."""
        self.is_marked = any(_inside(part, span) for span in spans)
        ends = {end: row.line for row in part.rows for end in (row.address + len(row.code),)}
        self.functions = [
            (name, line, max(ends.get(end, line), line)) for name, line, _, end in dumps.functions_of(part)
        ]
        """Name, first and last line."""
        self.gaps: list[Problem] = []
        """Problems for regions with code that the dump does not show."""

    def regions(self, run: AssemblyRun, spans: Sequence[Span], *, whole: bool) -> AssembledFile:
        """The wanted regions, as found in the file. Raises ObjectFileError."""
        options, functions = run.options, list(self.file.functions)
        if options.function is not None:
            functions = [function for function in functions if function.name == options.function]
        elif options.regions in (Regions.AUTO, Regions.MARKERS) and (
            spans or options.regions == Regions.MARKERS
        ):
            functions = [function for function in functions if self.file.marks(function)]
        return regions_of(self.file, functions, options.regions, whole=whole)

    def region(self, region: Region, spans: Sequence[Span], doubtful: set[int]) -> Region:
        """A region with the lines of the dump."""
        lines = []
        is_whole = True
        row = self.part.rows[0]
        for line in region.lines:
            known = self._rows.get(line.address or 0)
            if known is None and is_whole:
                is_whole = False
                message = "The dump does not show all bytes after this line."
                self.gaps.append(Problem(row.line, row.column, row.end_column, "syntax-error", message))
            row = known or row
            here = replace(line, line=row.line, column=row.column, end_column=row.end_column, text=row.text)
            lines.append(replace(here, address=None, file=""))
        numbers = [line.line for line in lines] or [0]
        first, last, options = min(numbers), max(numbers), region.options
        for span in spans:
            if span.name in (region.name, region.block_of):
                first, last, options = span.first_line, span.last_line, span.options
        return replace(
            region,
            first_line=first,
            last_line=last,
            options=options,
            lines=tuple(lines),
            incomplete=not is_whole or any(number in doubtful for number in numbers),
        )

    def branching(self, branching: Branching, regions: Sequence[Region]) -> Branching:
        """Control flow between regions, with the lines of the dump."""
        own = [region for region in regions if region.name in branching.blocks] or list(regions)
        jumps = []
        for jump in branching.jumps:
            row = self._rows.get(jump.address) if jump.address is not None else None
            jumps.append(jump if row is None else JumpPlace(row.line, row.text))
        return replace(
            branching,
            first_line=min(region.first_line for region in own),
            last_line=max(region.last_line for region in own),
            options=own[0].options,
            jumps=tuple(jumps),
        )

    def problem(self, problem: Problem, regions: Sequence[Region]) -> Problem:
        """A problem at the first line of its region, or of the dump if it is about no region."""
        lines = [each.first_line for each in regions if problem.region in (each.name, each.block_of)]
        line = min(lines) if problem.region and lines else self.part.rows[0].line
        return replace(problem, line=line) if problem.line == UNKNOWN_LINE else problem


def _dialect(run: AssemblyRun, rows: Sequence[DumpRow]) -> Dialect:
    if run.options.syntax != "auto":
        return run.dialect
    return INTEL if not detect(SourceText("\n".join(row.text for row in rows))).is_att else ATT


# Fields that a linker fills in


def _is_of_object(part: DumpSection) -> bool:
    """Whether its addresses are relative to a section. A call with a zero distance leads to another file."""
    return (
        part.rows[0].address < _FIRST_PAGE
        or bool(part.relocations)
        or any(row.code[:1] == b"\xe8" and row.code[1:] == _OPEN for row in part.rows)
    )


def _inside(part: DumpSection, span: Span) -> list[DumpRow]:
    """The rows between the markers of a region."""
    return [row for row in part.rows if span.first_line <= row.line <= span.last_line]


def _object(part: DumpSection, spans: Sequence[Span], base: int, *, is_linked: bool) -> bytes:
    """An ELF file with the code of a section from its address ``base`` on."""
    functions = list(dumps.functions_of(part))
    code = bytearray(part.rows[0].address - base)
    for row in part.rows:
        code += _FILLED * max(row.address - base - len(code), 0)
        code[row.address - base :] = row.code
    start = 0 if is_linked else base
    symbols = [
        ForeignSymbol(name, 1, begin - start, end - begin, is_function=True, is_global=True)
        for name, _, begin, end in functions
    ]
    for number, span in enumerate(spans):
        if inside := _inside(part, span):
            first, end = inside[0].address - start, inside[-1].address + len(inside[-1].code) - start
            symbols.append(ForeignSymbol(f"cyclelens.begin.{span.name}.{number}", 1, first))
            symbols.append(ForeignSymbol(f"cyclelens.end.{span.name}.{number}", 1, end))
    fields = [] if is_linked else list(_relocations(part))
    named = {
        name: len(symbols) + number for number, name in enumerate(dict.fromkeys(name for *_, name in fields))
    }
    symbols += [ForeignSymbol(name, 0, 0, is_global=True) for name in named]
    relocations = [
        ForeignRelocation(1, address - base, kind, named[name], -len(_OPEN)) for address, kind, name in fields
    ]
    alignment, address = (LINE_BYTES, base) if is_linked else (_alignment(functions), None)
    section = ForeignSection(part.name, bytes(code), len(code), alignment, True, True, address)
    return elf_object([section], symbols, relocations)


def _alignment(functions: Sequence[tuple[str, int, int, int]]) -> int:
    """Alignment of a section, as far as the addresses of its functions tell."""
    alignment = _USUAL_ALIGNMENT
    for _, _, begin, _ in functions:
        while begin % alignment:
            alignment //= 2
    return alignment


def _relocations(part: DumpSection) -> Iterator[tuple[int, int, str]]:
    """Address, kind and symbol of the relocations in the dump, and of one to a unique symbol for each other
    field that looks unfilled."""
    named = {each.address for each in part.relocations}
    for each in part.relocations:
        if each.kind in _KINDS:
            yield each.address, _KINDS[each.kind], each.symbol
    for row in part.rows:
        at = _open_field(row.code)
        if at and not any(row.address <= place < row.address + len(row.code) for place in named):
            yield row.address + at, RELATIVE_32, f"open.{row.address:x}"


def _open_field(code: bytes) -> int:
    """Offset of a distance in an instruction that a linker fills in; 0 if there is none."""
    if len(code) < _LONG_JUMP or _OPEN not in code:
        return 0
    instruction = decode(code)[0]
    if instruction.branch_displacement == 0 and code.endswith(_OPEN):
        return len(code) - len(_OPEN)
    if near(instruction, 0) == 0:
        return max(code.rfind(_OPEN, 0, len(code) - instruction.immediate_bits // 8), 0)
    return 0


# Bytes that are missing in the dump


def _encode(run: AssemblyRun, dump: Dump, dialect: Dialect) -> list[Problem]:
    """Encode the rows without bytes. Returns a problem for each that has no encoding of the right length."""
    sizes: dict[int, int] = {}
    """Bytes of each row, by its identity."""
    for part in dump.parts:
        for row, behind in pairwise(part.rows):
            size = behind.address - row.address
            # Padding before a function may be missing in the dump.
            sizes[id(row)] = size if behind.address not in part.functions or re.match(_NOP, row.text) else 0
    missing = [row for part in dump.parts for row in part.rows if not row.code]
    left = []
    for row in missing:
        size = sizes.get(id(row), 0)
        row.code = _jump(row, size) or (_nop(size) if re.match(_NOP, row.text) else b"")
        if not row.code:
            left.append(row)
    for wish in _WISHES:
        if not left or run.stop():
            break
        codes = list(_assembled(run, [f"{wish}{re.sub(_RETURN, 'ret', row.text)}" for row in left], dialect))
        for row, code in zip(left, codes, strict=True):
            size = sizes.get(id(row), 0)
            if code and size in (0, len(code)):
                row.code = code
        left = [row for row in left if not row.code]
    problems = []
    for row in left:
        size = sizes.get(id(row), 0)
        row.code = _UNKNOWN * (size or 1)
        what = f"has the {size} bytes between its address and the next" if size else "is known"
        message = f"No encoding of this instruction {what}."
        problems.append(Problem(row.line, row.column, row.end_column, "unsupported-instruction", message))
    return problems


def _nop(size: int) -> bytes:
    """A NOP of this size, as assemblers use for padding; empty if there is none."""
    if size <= len(_LONG_NOP):
        return nop_fill(size) if size else b""
    return b"\x66" * (size - len(_LONG_NOP)) + _LONG_NOP if size <= _LONGEST else b""


def _jump(row: DumpRow, size: int) -> bytes | None:
    """A direct jump to an address. None for anything else, or if no form has this size."""
    match = re.match(_JUMP, row.text)
    if match is None or match[2].lower() not in JUMPS:
        return None
    words = match[1].split()
    if not all(word.lower() in PREFIXES for word in words):
        return None
    prefix = bytes(PREFIXES[word.lower()] for word in words)
    if match[3]:
        prefix += b"\x3e" if match[3] == ",pt" else b"\x2e"
    forms = JUMPS[match[2].lower()]
    for opcode, width in ((forms.short, 1), (forms.near, 4)):
        if opcode is None:
            continue
        length = len(prefix) + len(opcode) + width
        distance = int(match[4], 16) - row.address - length
        fits = -(1 << 8 * width - 1) <= distance < 1 << 8 * width - 1
        if fits and size in (0, length):
            return prefix + opcode + distance.to_bytes(width, "little", signed=True)
    return None


def _assembled(run: AssemblyRun, statements: Sequence[str], dialect: Dialect) -> Iterator[bytes]:
    """Bytes of each statement; empty if it cannot be encoded."""
    options = replace(run.options, syntax=Syntax(dialect.name), regions=Regions.MARKERS, function=None)
    for first in range(0, len(statements), _CHUNK):
        chunk = [statement.replace(";", " ") for statement in statements[first : first + _CHUNK]]
        source = SourceText("\n".join(chunk))
        inner = AssemblyRun(source, dialect, options, run.client, run.stop, run.memory)
        span = Span("dump", 0, len(source.text), 0, len(chunk) - 1, 0, 0)
        regions = BuiltinPass(inner).regions(scan(source, False, run.stop), [span])
        codes = {line.line: line.code for region in regions for line in region.lines}
        yield from (codes.get(number, b"") for number in range(len(chunk)))
