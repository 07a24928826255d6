"""Reports the condition that excludes all code of a text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cyclelens.analyzer.frontend.passes.assembly_run import AssemblyRun
from cyclelens.analyzer.frontend.programs.part import parse
from cyclelens.analyzer.frontend.programs.program import StatementKind
from cyclelens.analyzer.frontend.source.dialect import AssemblerStyle
from cyclelens.analyzer.frontend.source.scanner import RawStatement, block_edge
from cyclelens.analyzer.model.source import Severity

_EDGES = {
    is_masm: rf"(?im)^[ \t]*(?P<sign>{sign})(?P<word>if\w*|else\w*|elif\w*|endif)\b[ \t]*(?P<rest>.*)"
    for is_masm, sign in ((False, r"#[ \t]*|\.|%"), (True, ""))
}
"""Conditions, of the C preprocessor, GNU as and NASM, and of MASM."""
_COMMENT = r"/\*.*?(?:\*/|$)|//.*|\\$"
_NAME = r"(?<![\w.$\"'])([A-Za-z_$][\w$]*)[ \t]*(\([^()]*\))?(?:[ \t]*(==|>=|<=|>|<)[ \t]*(\d+))?"
_DEFINED = r"\bdefined[ \t]*(?:\([ \t]*(\w+)[ \t]*\)|[ \t](\w+))"


def remark_excluded_code(run: AssemblyRun, raw: Iterable[RawStatement]) -> None:
    """Report the condition that excludes all code, if there is one. ``raw``: statements without regard to
    conditions."""
    inside = 0
    edge = _EDGES[run.style is AssemblerStyle.MASM]
    for statement in raw:
        word, _ = block_edge(statement.text, inside=bool(inside))
        if word:
            inside = max(inside - 1, 0) if word.startswith("end") else inside + 1
        elif re.match(edge, statement.text) or statement.text.lstrip().startswith("%"):
            continue
        elif not inside and parse(statement.text, run.dialect.is_att).kind is StatementKind.INSTRUCTION:
            condition = _around(edge, run.text, statement.start + _blanks(statement.text))
            if condition is not None:
                _report_condition(run, *condition)
            return


def _blanks(text: str) -> int:
    return len(text) - len(text.lstrip())


def _around(edge: str, text: str, offset: int) -> tuple[re.Match[str], bool] | None:
    """The outermost condition around an offset, and whether the offset is in its first branch."""
    opened: list[tuple[re.Match[str], bool]] = []
    for match in re.finditer(edge, text[:offset]):
        word = match["word"].lower()
        if word.startswith("if"):
            opened.append((match, True))
        elif opened and word == "endif":
            opened.pop()
        elif opened:
            opened[-1] = opened[-1][0], False
    return opened[0] if opened else None


def _report_condition(run: AssemblyRun, condition: re.Match[str], is_first: bool) -> None:
    rest = re.sub(_COMMENT, "", condition["rest"]).strip()
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
    condition = re.sub(_DEFINED, lambda match: match[1] or match[2], condition)
    for name, arguments, relation, number in re.findall(_NAME, condition):
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
