"""All problem codes of the assembly front end, and the function that creates problems."""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.model.source import Problem, Severity

CODES: Mapping[str, str] = {
    "assembler-error": "the user's assembler rejects this line",
    "assembler-mismatch": "the assembler's bytes differ from the text and were discarded",
    "assembler-unavailable": "the assembler cannot be started here",
    "binary-file": "the text contains NUL characters, so it is not an assembly file",
    "branch-out-of-range": "the jump only has a short form, and its target is too far away",
    "comment-not-closed": "a block comment runs to the end of the file",
    "division-by-zero": "an expression divides by zero; GNU as divides by one",
    "duplicate-label": "a label inside a region is defined twice",
    "duplicate-region": "two regions have the same name; the later one was given another",
    "empty-region": "the region contains no code",
    "file-too-large": "more characters or lines than the front end reads",
    "flags-overwritten": "an instruction overwrites the flags of a comparison before a jump reads them",
    "include-not-read": "an included file does not exist or may not be read",
    "inner-branch": "a region has many paths, or loops; its basic blocks are analysed one by one",
    "internal-error": "a defect of the front end itself; please report it",
    "invalid-marker": "a marker that is not understood, or only partly",
    "left-out": "conditions exclude all code of the text",
    "machine-file-not-used": "the file with a machine's memory levels is for another core",
    "missing-suffix": "no suffix and no register tells the size of an access",
    "no-profile": "the recorded profile is of other code, or cannot be read",
    "no-such-function": "the text has no function with the requested name",
    "not-in-profile": "the recorded profile names nothing in this file or text",
    "not-preprocessed": "the C preprocessor could not be run over the file",
    "not-supported": "an unsupported construct (a condition on an address, .include ...)",
    "number-as-address": "a number without $ is an address that no program can access",
    "number-shortened": "a number is too long for its operand; GNU as truncates it",
    "other-language": "the text is for another processor, or in a language that is not read",
    "preprocessor-error": "the C preprocessor complains about this line",
    "region-end-without-begin": "a closing marker without an opening one",
    "region-not-closed": "an opening marker without a closing one; read up to the next one or the end",
    "region-too-large": "more statements than one region may have",
    "register-not-restored": "a function changes a register of its caller and returns",
    "register-not-written": "a function reads a register that nothing has written",
    "scattered-loop": "the code of a loop is not contiguous",
    "sse-avx-mix": "256-bit code without vzeroupper before legacy SSE, a call or a return",
    "stack-not-restored": "the stack pointer at a return is not that of the function's start",
    "statement-too-long": "a statement is longer than the front end reads",
    "syntax-error": "the statement is not understood",
    "too-many-regions": "too many regions; those from here on are left out",
    "undefined-label": "the target of a jump is not defined",
    "undefined-symbol": "an address names a symbol that the file neither defines nor declares",
    "unknown-directive": "an unknown directive; assumed to have no effect on the bytes",
    "unknown-size": "the size of this depends on a statement that is not understood",
    "unsupported-instruction": "the instruction is unknown to the assembler or beyond it (EVEX ...)",
}

LIKELY_MISTAKES = frozenset(
    ("flags-overwritten", "register-not-restored", "register-not-written", "stack-not-restored")
)
"""Codes of what is right in rare functions; a setting of the editors leaves them out."""


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
