"""Reports what looks wrong: statements of a region that cannot be encoded, conditions that exclude all code
of a text, and 256-bit code that leaves upper halves of vector registers in use (at a return, a call, or a
region of legacy SSE)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import Enum

from cyclelens.analyzer.common.suggestions import did_you_mean
from cyclelens.analyzer.frontend.control_flow.loops import CodeRange
from cyclelens.analyzer.frontend.passes.assembly_run import AssemblyRun
from cyclelens.analyzer.frontend.programs.part import parse
from cyclelens.analyzer.frontend.programs.program import Program, Statement, StatementKind
from cyclelens.analyzer.frontend.regions.region_code import RegionCode
from cyclelens.analyzer.frontend.source.dialect import AssemblerStyle
from cyclelens.analyzer.frontend.source.lexer import QUOTED_NAME, cut_operands, letters
from cyclelens.analyzer.frontend.source.problems import make_problem
from cyclelens.analyzer.frontend.source.scanner import RawStatement, block_edge
from cyclelens.analyzer.frontend.statements import directives
from cyclelens.analyzer.frontend.statements.jumps import Jump
from cyclelens.analyzer.frontend.statements.names import shown, symbol_of
from cyclelens.analyzer.isa.upper_halves import upper_halves
from cyclelens.analyzer.model.source import Region, Severity, SourceLine
from cyclelens.analyzer.model.upper_halves import UpperHalves

_LEAVING = frozenset(["jmp", "jmpq", "call", "callq", "xbegin"])
"""Jumps that often go to another file."""
_NUMBER = re.compile(r"(?:^|,)\s*(-?(?:0x[\da-f]{1,3}|\d{1,4}))\s*(?=,|$)", re.IGNORECASE)
"""An operand that is a number without ``$``."""
_ACCESSES_NOTHING = ("lea", "nop", "prefetch", "invlpg")
_PAGE = 4096
"""Systems keep the first page of memory free, so that null pointers are found."""
_ONLY_SYMBOL = re.compile(rf"{QUOTED_NAME}|{letters('_.?', digits=False)}{letters('_.$?', digits=True)}*")


def remark(run: AssemblyRun, program: Program, code: RegionCode, found: CodeRange, section: str) -> None:
    """Report the problems of a region, each at its statement."""
    for index in (index for part in found.own for index in part.places):
        statement = program.statements[index]
        if statement.section == section and statement.kind is StatementKind.DIRECTIVE:
            _remark_directive(run, program, index)
    for index in sorted(code.divided):
        message = "This divides by zero: GNU as warns and divides by one instead."
        run.report("division-by-zero", message, *program.span(index), Severity.WARNING)
    for index, content in code.contents.items():
        if index in code.refused:
            run.report(code.refused[index].code, code.refused[index].message, *program.span(index))
        elif index in code.shortened:
            message = f"This number is too long for its operand; it is truncated to {code.shortened[index]}."
            run.report("number-shortened", message, *program.span(index), Severity.WARNING)
        elif index in code.undefined:
            name = shown(code.undefined[index])
            message = f"'{name}' is not defined in this file; it is treated as an address."
            run.report("undefined-symbol", message, *program.span(index), Severity.WARNING)
        elif not isinstance(content, Jump) and (number := _number_as_address(program.statements[index])):
            message = f"This accesses memory at address {number}; did you mean ${number}?"
            run.report("number-as-address", message, *program.span(index), Severity.WARNING)
        elif isinstance(content, Jump) and content.mnemonic not in _LEAVING:
            target = content.target.text.strip()
            symbol = symbol_of(target)
            if _ONLY_SYMBOL.fullmatch(target) and not code.is_defined(symbol, index):
                name = shown(symbol)
                hint = did_you_mean(name, map(shown, program.label_names()))
                message = (
                    f"The label '{name}' is not defined in this file; it is treated as far away{hint or '.'}"
                )
                run.report("undefined-label", message, *program.span(index), Severity.WARNING)


def _number_as_address(statement: Statement) -> str:
    """The operand of an AT&T statement that is an address in the first page of memory, as it is written;
    empty if there is none."""
    if statement.kind is not StatementKind.INSTRUCTION or not statement.dialect.is_att:
        return ""
    mnemonic, *operands = statement.text.split(None, 1)
    if not operands or mnemonic.lower().startswith(_ACCESSES_NOTHING):
        return ""
    numbers = (match[1] for match in _NUMBER.finditer(operands[0]))
    return next((each for each in numbers if abs(int(each, 16 if "x" in each.lower() else 10)) < _PAGE), "")


def _remark_directive(run: AssemblyRun, program: Program, index: int) -> None:
    statement = program.statements[index]
    if not statement.refusal and not directives.is_known(statement.name):
        message = f".{statement.name} is not a known directive; it is assumed to make no code."
        run.report("unknown-directive", message, *program.span(index), Severity.WARNING)


# Conditions that exclude all code

_EDGES = {
    is_masm: re.compile(
        rf"^[ \t]*(?P<sign>{sign})(?P<word>if\w*|else\w*|elif\w*|endif)\b[ \t]*(?P<rest>.*)",
        re.MULTILINE | re.IGNORECASE,
    )
    for is_masm, sign in ((False, r"#[ \t]*|\.|%"), (True, ""))
}
_COMMENT = re.compile(r"/\*.*?(?:\*/|$)|//.*|\\$")
_NAME = re.compile(r"(?<![\w.$\"'])([A-Za-z_$][\w$]*)[ \t]*(\([^()]*\))?(?:[ \t]*(==|>=|<=|>|<)[ \t]*(\d+))?")
_DEFINED = re.compile(r"\bdefined[ \t]*(?:\([ \t]*(\w+)[ \t]*\)|[ \t](\w+))")


def remark_left_out(run: AssemblyRun, raw: Iterable[RawStatement]) -> None:
    """Report the condition that excludes all code, if there is one. ``raw``: statements without regard to
    conditions."""
    inside = 0
    edge = _EDGES[run.style is AssemblerStyle.MASM]
    for statement in raw:
        word, _ = block_edge(statement.text, inside=bool(inside))
        if word:
            inside = max(inside - 1, 0) if word.startswith("end") else inside + 1
        elif edge.match(statement.text) or statement.text.lstrip().startswith("%"):
            continue
        elif not inside and parse(statement.text, run.dialect.is_att).kind is StatementKind.INSTRUCTION:
            condition = _around(edge, run.text, statement.start + _blanks(statement.text))
            if condition is not None:
                _report_condition(run, *condition)
            return


def _blanks(text: str) -> int:
    return len(text) - len(text.lstrip())


def _around(edge: re.Pattern[str], text: str, offset: int) -> tuple[re.Match[str], bool] | None:
    """The outermost condition around an offset, and whether the offset is in its first branch."""
    opened: list[tuple[re.Match[str], bool]] = []
    for match in edge.finditer(text, 0, offset):
        word = match["word"].lower()
        if word.startswith("if"):
            opened.append((match, True))
        elif opened and word == "endif":
            opened.pop()
        elif opened:
            opened[-1] = opened[-1][0], False
    return opened[0] if opened else None


def _report_condition(run: AssemblyRun, condition: re.Match[str], is_first: bool) -> None:
    rest = _COMMENT.sub("", condition["rest"]).strip()
    said = f"{condition['sign'].strip()}{condition['word']} {rest}".strip()
    line, _ = run.lines.locate(condition.start())
    way = "define what it tests"
    if (
        condition["sign"] not in ("", ".")
        and is_first
        and (options := _options(condition["word"].lower(), rest))
    ):
        way = f"{options} (setting: defines) includes it"
    message = f"All code is excluded by '{said[:80]}' at line {line + 1}; {way}."
    start = condition.start() + _blanks(condition[0])
    run.report("left-out", message, start, condition.start() + len(condition[0].rstrip()), Severity.WARNING)


def _options(word: str, condition: str) -> str:
    """Options that define the names of a condition so that it holds; empty if unclear."""
    if "!" in condition or "n" in word.removeprefix("if")[:1]:
        return ""
    found = []
    condition = _DEFINED.sub(lambda match: match[1] or match[2], condition)
    for name, arguments, relation, number in _NAME.findall(condition):
        if relation in ("<", "<="):
            return ""
        value = str(int(number) + (relation == ">")) if relation else ""
        if arguments and not relation and word == "if":
            count = arguments.count(",") + 1
            names = ",".join("abcdefgh"[:count])
            found.append(f"-D '{name}({names})=1'")
        else:
            found.append(f"-D {name}={value}" if value else f"-D {name}")
    return " ".join(dict.fromkeys(found)) if len(found) <= 3 else ""


# Upper halves in use: the text is followed line by line; after an unconditional jump nothing is known.

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
    target = operands[-1 if statement.dialect.name == "att" else 0]
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
