"""Reports 256-bit code that leaves upper halves of vector registers in use: at a return, at a call, or before
a region of legacy SSE. The text is followed line by line; after an unconditional jump nothing is known."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import Enum

from cyclelens.analyzer.frontend.passes.assembly_run import AssemblyRun
from cyclelens.analyzer.frontend.programs.program import Program, Statement, StatementKind
from cyclelens.analyzer.frontend.source.lexer import cut_operands
from cyclelens.analyzer.frontend.source.problems import make_problem
from cyclelens.analyzer.isa.upper_halves import upper_halves
from cyclelens.analyzer.model.source import Region, Severity, SourceLine
from cyclelens.analyzer.model.upper_halves import UpperHalves

_CODE = "sse-avx-mix"
_IN_USE = (
    "upper halves of vector registers in use: 256-bit code, last in line {}, and no vzeroupper after it."
)
_WIDE = re.compile(r"(?i)\b[yz]mm\d")
_TARGET = re.compile(r"(?i)%?[xyz]mm(?:\d|1[0-5])\b")
_VECTOR_STATEMENT = re.compile(r"(?i)(?:\{\w+\}\s*)?v\w+\s")
_CLEARS = re.compile(r"(?i)vzero(?:upper|all)\b")
_RETURN = re.compile(r"(?i)(?:rep[z]?\s+|bnd\s+)?ret[qn]?\b")
_CALL = re.compile(r"(?i)(?:bnd\s+|notrack\s+)?callq?\b")
_JUMP = re.compile(r"(?i)(?:bnd\s+|notrack\s+)?jmpq?\b")
_BETWEEN_FUNCTIONS = frozenset(
    ("globl", "global", "type", "size", "cfi_startproc", "cfi_endproc", "section", "text", "proc", "endp")
)


def remark_wide_code(
    run: AssemblyRun,
    program: Program,
    made: Sequence[tuple[int, Sequence[Region]]],
    refused: Collection[int],
) -> None:
    """Report where 256-bit code leaves upper halves in use, each place at its statement.
    ``made``: first statement and regions of each window. ``refused``: statements that cannot be encoded."""
    if not _WIDE.search(run.text):
        return
    entered = dict(made)
    turns = {
        first + index: turn
        for first, part in zip(program.firsts, program.parts, strict=True)
        for index, turn in part.ask(_turns)
    } | dict.fromkeys(refused, _HalvesEffect.CLEAN)
    for index in program.changed:
        turns.pop(index, None)
        turns.update((index, turn) for _, turn in _turns([program.statements[index]]))
    since = -1
    for index in sorted({*turns, *entered}):
        if since >= 0 and index in entered:
            _remark_regions(run, entered[index], _line(run, program, since))
        turn = turns.get(index)
        if turn is _HalvesEffect.WIDE:
            since = index
        elif turn is not None:
            if since >= 0 and turn in (_HalvesEffect.RETURN, _HalvesEffect.CALL):
                line = _line(run, program, since)
                message = _returning(line) if turn is _HalvesEffect.RETURN else _calling(line)
                run.report(_CODE, message, *program.span(index), Severity.INFORMATION)
            since = -1


class _HalvesEffect(Enum):
    """Effect of a statement on the state of the upper halves."""

    WIDE = 0
    """It writes one."""
    CLEAN = 1
    """They are clean behind it, or nothing is known."""
    RETURN = 2
    CALL = 3


def _turns(statements: Sequence[Statement]) -> list[tuple[int, _HalvesEffect]]:
    """The statements that matter, by index."""
    return [(index, turn) for index, each in enumerate(statements) if (turn := _turn(each)) is not None]


def _turn(statement: Statement) -> _HalvesEffect | None:
    text = statement.text
    if statement.kind is StatementKind.DIRECTIVE:
        return _HalvesEffect.CLEAN if statement.name in _BETWEEN_FUNCTIONS else None
    if statement.kind is not StatementKind.INSTRUCTION:
        return None
    if statement.refusal or _CLEARS.match(text):
        return _HalvesEffect.CLEAN
    if _writes_wide(statement):
        return _HalvesEffect.WIDE
    leaving = ((_RETURN, _HalvesEffect.RETURN), (_CALL, _HalvesEffect.CALL), (_JUMP, _HalvesEffect.CLEAN))
    return next((turn for pattern, turn in leaving if pattern.match(text)), None)


def _writes_wide(statement: Statement) -> bool:
    """Whether the target of an operation of 256 bits or more is a vector register that legacy SSE can
    name."""
    text = statement.text
    if not _VECTOR_STATEMENT.match(text) or not _WIDE.search(text):
        return False
    operands = cut_operands(text.partition(" ")[2] or text.partition("\t")[2])[0]
    target = operands[-1 if statement.dialect.is_att else 0]
    return _TARGET.match(target.strip()) is not None


def _line(run: AssemblyRun, program: Program, index: int) -> int:
    """One-based line of a statement."""
    return run.lines.locate(program.span(index)[0])[0] + 1


def _returning(line: int) -> str:
    return (
        f"The function returns with {_IN_USE.format(line)} Legacy SSE in its callers pays for keeping them. "
        "That is right if it returns a ymm or zmm register, and costs nothing if they use no legacy SSE."
    )


def _calling(line: int) -> str:
    return (
        f"The call is made with {_IN_USE.format(line)} Legacy SSE in the callee pays for them. "
        "That is right if it takes a ymm or zmm register, and costs nothing if it uses no legacy SSE."
    )


def _remark_regions(run: AssemblyRun, regions: Iterable[Region], line: int) -> None:
    """Report legacy SSE in regions without 256-bit code of their own; with it, the hazard reports the mix."""
    for region in regions:
        uses = [upper_halves(instruction.code) for instruction in region.instructions]
        if UpperHalves.KEEPS not in uses or UpperHalves.WRITES in uses:
            continue
        kept = uses.index(UpperHalves.KEEPS)
        if UpperHalves.CLEARS in uses[:kept]:
            continue
        position = sum(instruction.length for instruction in region.instructions[:kept])
        place = next(each for each, end in _ends(region) if end > position)
        switches = any(use in (UpperHalves.USES, UpperHalves.READS) for use in uses)
        often = "in every iteration, because VEX code is about" if switches else "once"
        message = (
            f"Legacy SSE with {_IN_USE.format(line)} From Skylake to Rocket Lake every result is merged with "
            f"the old register; other cores put the upper halves aside, {often}. The figures leave that out; "
            "vzeroupper before the region avoids it, if no upper half is needed any more."
        )
        run.problems.append(
            make_problem(_CODE, message, place.line, place.column, place.end_column, Severity.INFORMATION)
        )


def _ends(region: Region) -> Iterator[tuple[SourceLine, int]]:
    """Statements with the offset of their end in the code."""
    end = 0
    for line in region.lines:
        end += len(line.code)
        yield line, end
