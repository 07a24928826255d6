"""Reports statements of a region that cannot be encoded or look wrong."""

from __future__ import annotations

import re

from cyclelens.analyzer.common.suggestions import did_you_mean
from cyclelens.analyzer.frontend.control_flow.loops import CodeRange
from cyclelens.analyzer.frontend.passes.assembly_run import AssemblyRun
from cyclelens.analyzer.frontend.programs.program import Program, StatementKind
from cyclelens.analyzer.frontend.regions.region_code import RegionCode
from cyclelens.analyzer.frontend.regions.statement_code import RefusedStatement
from cyclelens.analyzer.frontend.source.lexer import QUOTED_NAME, letters
from cyclelens.analyzer.frontend.source.markers import Span
from cyclelens.analyzer.frontend.source.problems import make_problem
from cyclelens.analyzer.frontend.statements import directives
from cyclelens.analyzer.frontend.statements.jumps import Jump
from cyclelens.analyzer.frontend.statements.names import shown, symbol_of
from cyclelens.analyzer.model.source import Severity

_LEAVING = frozenset(["jmp", "jmpq", "call", "callq", "xbegin"])
"""Jumps that often go to another file."""
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
            _report_refused(run, found.span, program.span(index), code.refused[index])
        elif index in code.shortened:
            message = f"This number is too long for its operand; it is truncated to {code.shortened[index]}."
            run.report("number-shortened", message, *program.span(index), Severity.WARNING)
        elif index in code.undefined:
            name = shown(code.undefined[index])
            message = f"'{name}' is not defined in this file; it is treated as an address."
            run.report("undefined-symbol", message, *program.span(index), Severity.WARNING)
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


def _remark_directive(run: AssemblyRun, program: Program, index: int) -> None:
    statement = program.statements[index]
    if not statement.refusal and not directives.is_known(statement.name):
        message = f".{statement.name} is not a known directive; it is assumed to make no code."
        run.report("unknown-directive", message, *program.span(index), Severity.WARNING)


def _report_refused(
    run: AssemblyRun, region: Span, place: tuple[int, int], refused: RefusedStatement
) -> None:
    if refused.code == "assembler-unavailable":
        # The statement is not at fault, so this is reported once per region.
        problem = make_problem(
            refused.code, refused.message, region.first_line, region.column, region.end_column
        )
        if problem not in run.problems:
            run.problems.append(problem)
        return
    run.report(refused.code, refused.message, *place)
