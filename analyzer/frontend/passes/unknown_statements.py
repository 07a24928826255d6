"""Recognises a text most of whose statements are not x86-64 instructions, so that one message says it."""

from __future__ import annotations

import re
from collections.abc import Collection

from cyclelens.analyzer.frontend.passes.assembly_run import AssemblyRun
from cyclelens.analyzer.frontend.programs.program import Program, Statement, StatementKind
from cyclelens.analyzer.frontend.statements.prefixes import PREFIXES
from cyclelens.analyzer.frontend.statements.refusals import is_known
from cyclelens.analyzer.model.source import Severity

_MNEMONIC = r"(?:\{[^}]*\}\s*)*([A-Za-z][\w.]*)"
_FEWEST = 2
"""Minimum number of unknown names: a single one is a slip of the pen, or a macro."""
_DERIVED = frozenset({"include-not-read", "not-preprocessed", "preprocessor-error", "other-language"})
"""Problems that explain unknown names: macros are missing."""


def remark_unknown_statements(run: AssemblyRun, program: Program, refused: Collection[int]) -> bool:
    """Report that a text is not x86-64's, and return whether it is so. ``refused``: the statements that could
    not be encoded."""
    if any(problem.code in _DERIVED for problem in run.problems):
        return False
    statements = {
        index: statement
        for index, statement in enumerate(program.statements)
        if statement.kind is StatementKind.INSTRUCTION and not statement.refusal
    }
    unknown = [index for index, statement in statements.items() if not _is_known(statement)]
    names = {statements[index].text.split(None, 1)[0] for index in unknown}
    if len(names) < _FEWEST or 2 * len({*unknown, *refused}) <= len(statements):
        return False
    name = statements[unknown[0]].text.split(None, 1)[0][:30]
    message = (
        f"Most statements of this text are not x86-64 instructions, such as '{name}': it is for another "
        "processor, in another language, or made of macros that it does not define."
    )
    run.problems.clear()
    run.report("other-language", message, *program.span(unknown[0]), Severity.WARNING)
    return True


def _is_known(statement: Statement) -> bool:
    """Whether a statement begins with an instruction, or with no word at all, as a slip of the pen may."""
    match = re.match(_MNEMONIC, statement.text)
    return match is None or match[1].lower() in PREFIXES or is_known(match[1].lower())
