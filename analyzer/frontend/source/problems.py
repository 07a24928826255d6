"""Every code that the assembly front end reports, in one place, and the constructor for them."""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.model.source import Problem, Severity

CODES: Mapping[str, str] = {
    "assembler-error": "the user's assembler refuses this line of a file that is left to it",
    "assembler-mismatch": "the assembler's bytes do not say what the text says; they were thrown away",
    "assembler-timeout": "the assembler hung or died on this statement and was restarted",
    "assembler-unavailable": "the assembler cannot be started here",
    "binary-file": "the text holds NUL bytes: not an assembly file",
    "branch-out-of-range": "the jump only has a short form, and its target is too far away",
    "comment-not-closed": "a block comment runs to the end of the file",
    "division-by-zero": "an expression divides by zero; GNU as divides by one",
    "duplicate-label": "a label inside a region is defined twice",
    "duplicate-region": "two regions have the same name; the later one was given another",
    "empty-region": "nothing between the markers of a region becomes bytes",
    "file-too-large": "more characters or lines than the front end reads",
    "include-not-read": "an included file is not there, or may not be read",
    "inner-branch": "a region has many ways through it, or loops; its basic blocks are analysed one by one",
    "internal-error": "a defect of the front end itself; please report it",
    "invalid-marker": "a marker that is not understood, or not wholly",
    "left-out": "conditions leave out all code of the text",
    "no-profile": "the recorded profile is of other code, or cannot be read",
    "no-such-function": "a function was asked for by name, and the text has none of that name",
    "not-in-profile": "the recorded profile names nothing of this file or text",
    "not-preprocessed": "the C preprocessor could not be run over the file",
    "not-supported": "a construct that cannot be followed (a condition on an address, .include ...)",
    "number-shortened": "a number has more digits than its operand has room for; GNU as cuts it",
    "other-language": "the text is for another processor, or in a language that is not read",
    "preprocessor-error": "the C preprocessor complains about this line",
    "region-end-without-begin": "a closing marker without an opening one",
    "region-not-closed": "an opening marker without a closing one; read up to the next one or the end",
    "region-too-large": "more statements than one region may have",
    "scattered-loop": "the code of a loop does not stand in one piece",
    "sse-avx-mix": "256-bit code, and no vzeroupper in front of legacy SSE, a call or a return",
    "statement-too-long": "a statement of more characters than the front end reads",
    "syntax-error": "the statement is not understood",
    "too-many-regions": "more regions than are analysed; those from here on are left out",
    "undefined-label": "the target of a jump is not defined",
    "undefined-symbol": "an address names a symbol that the file neither defines nor declares",
    "unknown-directive": "a directive that is not known; taken as having no effect on the bytes",
    "unknown-size": "how many bytes this takes depends on a statement that is not understood",
    "unsupported-instruction": "the instruction is unknown to the assembler or beyond it (EVEX ...)",
}


def make_problem(
    code: str,
    message: str,
    line: int,
    column: int,
    end_column: int,
    severity: Severity = Severity.ERROR,
) -> Problem:
    """A problem with one of the codes above."""
    assert code in CODES, code
    return Problem(line, column, max(end_column, column), code, message, severity)
