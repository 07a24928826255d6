"""Looks for likely mistakes in the functions of a text."""

from __future__ import annotations

from cyclelens.analyzer.frontend.control_flow.functions import find_functions
from cyclelens.analyzer.frontend.control_flow.program_flow import transfers_of
from cyclelens.analyzer.frontend.mistakes.function_flow import function_flow
from cyclelens.analyzer.frontend.mistakes.registry import CHECKS
from cyclelens.analyzer.frontend.passes.assembly_run import AssemblyRun
from cyclelens.analyzer.frontend.programs.program import Program
from cyclelens.analyzer.frontend.regions.region_code import RegionCode
from cyclelens.analyzer.frontend.regions.sections import Layouts
from cyclelens.analyzer.frontend.regions.statement_code import Encoder
from cyclelens.analyzer.model.source import Severity

_MAXIMUM_STATEMENTS = 3_000
"""Longer texts are not checked: they are rarely written by hand, and every edit would take longer."""


def check_functions(run: AssemblyRun, program: Program, layouts: Layouts, encoder: Encoder) -> None:
    """Report likely mistakes, each at its statement."""
    if len(program.statements) > _MAXIMUM_STATEMENTS:
        return
    functions, transfers = find_functions(program), transfers_of(program)
    layouts.prepare({function.label.section for function in functions})
    for function in functions if not run.stop() else ():
        section = program.statements[function.first].section
        code = RegionCode(layouts, encoder, section, [range(function.first, function.last)])
        code.read()
        flow = function_flow(program, function, code.contents, transfers, run.memory.caches)
        for check in CHECKS if flow is not None else ():
            for mistake in check(flow):
                lines = [run.lines.locate(program.span(index)[0])[0] + 1 for index in mistake.others]
                message = mistake.message.format(*lines)
                run.report(mistake.code, message, *program.span(mistake.index), Severity.INFORMATION)
