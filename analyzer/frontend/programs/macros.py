r"""GNU as's macros and text loops: definitions, arguments, expansion.

Rules are those of the GNU as manual (.macro, .irp, .irpc, .altmacro). Arguments end at commas, and at blanks
outside of brackets. `\name` is replaced by the argument, `\@` by the number of the expansion, and `\()` by
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from cyclelens.analyzer.frontend.source.lexer import QUOTED, SYMBOL
from cyclelens.analyzer.frontend.source.scanner import RawStatement
from msgspec import Struct

MAXIMUM_TEXT = 4_000
"""Maximum characters of a statement after replacement."""

_NAME = re.compile(SYMBOL)
_REFERENCE = rf"\\(?:(\(\))|(@)|({SYMBOL}))"
_OPERAND = r'\w.$*%\-(\[{}"'
"""Characters in symbols, and those that begin operands (GNU as: app.c, tc-i386.c)."""
_MEANINGLESS = rf"(?<![{_OPERAND}]) | (?![{_OPERAND}\\])"
"""Blanks that are not between two of them; GNU as removes them from a statement before parsing it."""
_PARAMETER = re.compile(rf"[\s,]*({SYMBOL})(?::(req|vararg)\b)?(=)?", re.IGNORECASE)
_KEYWORD = rf"(?s)({SYMBOL})=(?!=)(.*)"


_ALTERNATE = rf"""(?P<literal><(?:[^!<>]++|!.)*+>)|(?P<value>%[^,<"]+)|{QUOTED}|[^<%"]+|[<%"]"""
_LOCAL = r"(?i)\s*local\s+([\w.$]+(?:\s*,\s*[\w.$]+)*)\s*"
_BARE_NAME = rf"&({SYMBOL})&?|(?<![\w.$])({SYMBOL})"


class MacroError(ValueError):
    """A macro definition or use cannot be parsed; the message is for the user."""


class Parameter(Struct, frozen=True):
    """A macro parameter. ``default`` replaces a missing argument."""

    name: str
    default: str
    required: bool
    takes_rest: bool


class Macro(Struct, frozen=True):
    """A macro definition. The body is unparsed text."""

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[RawStatement, ...]


def define(arguments: str, body: Sequence[RawStatement]) -> Macro:
    """The macro defined by a ``.macro`` directive. Raises MacroError."""
    match = _NAME.match(arguments.strip())
    if match is None:
        raise MacroError("A macro needs a name.")
    rest = _normalise(arguments.strip()[match.end() :])
    parameters: list[Parameter] = []
    position = 0
    while rest[position:].strip():
        found = _PARAMETER.match(rest, position)
        if found is None:
            raise MacroError(f"'{rest[position:].strip()[:30]}' is not a macro parameter.")
        qualifier = (found[2] or "").lower()
        position = found.end()
        default = ""
        if found[3]:
            _, end = _spans(rest[position:])[0] if rest[position:] else (0, 0)
            default = _unquote(_restore(rest[position : position + end]))
            position += end
        parameters.append(Parameter(found[1], default, qualifier == "req", qualifier == "vararg"))
    return Macro(match[0], tuple(parameters), tuple(body))


def split(text: str) -> list[str]:
    """Arguments of a macro use, split at commas, and at blanks outside of brackets and strings."""
    normal = _normalise(text)
    return [_restore(normal[start:end]) for start, end in _spans(normal)]


def _normalise(text: str) -> str:
    """Text without insignificant blanks."""
    return re.sub(_MEANINGLESS, "", re.sub(r"\s+", " ", _outside_strings(text.strip())))


def _spans(text: str) -> list[tuple[int, int]]:
    """Ranges of the arguments."""
    spans: list[tuple[int, int]] = []
    start = position = depth = 0
    while position < len(text):
        character = text[position]
        if character == '"':
            position = _string_end(text, position)
        elif character == "," or (character in " \t" and depth == 0):
            spans.append((start, position))
            position = start = position + 1
        else:
            depth += (character in "([") - (character in ")]")
            position += 1
    if text:
        spans.append((start, len(text)))
    return spans


_QUOTE = "\x02"
"""Replaces a quote within a string until the arguments are split."""
_BLANK = "\x01"
"""Replaces a blank within a string while blanks around operators are removed."""


def _outside_strings(text: str) -> str:
    return re.sub(f"{QUOTED}?", lambda match: re.sub(r"[ \t]", _BLANK, match[0]), text)


def _restore(text: str) -> str:
    return text.replace(_BLANK, " ")


def _string_end(text: str, position: int) -> int:
    end = position + 1
    while end < len(text) and text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    return min(end + 1, len(text))


def _unquote(text: str) -> str:
    found = re.fullmatch('"(.*)"', text, re.DOTALL)
    return found[1] if found else text


def alternate_arguments(text: str, evaluate: Callable[[str], int]) -> str:
    """Arguments under `.altmacro`, as they would be written without it. `%EXPRESSION` becomes its value;
    `<text>` becomes a string, in which `!` escapes the next character. ``evaluate`` raises ExpressionError.
    """
    result: list[str] = []
    for match in re.finditer(_ALTERNATE, text):
        if match["literal"]:
            content = re.sub(r"!(.)", r"\1", match["literal"][1:-1])
            result.append('"{}"'.format(content.replace('"', _QUOTE)))
        elif match["value"] and (not result or result[-1].endswith((" ", "\t", ","))):
            result.append(str(evaluate(match["value"][1:])))
        else:
            result.append(match[0])
    return "".join(result)


def local_names(statement: str) -> list[str] | None:
    """Labels that a `LOCAL` statement makes local to the macro; None for any other statement."""
    match = re.fullmatch(_LOCAL, statement)
    return None if match is None else [name.strip() for name in match[1].split(",")]


def bind(macro: Macro, text: str) -> dict[str, str]:
    """Values of all parameters for one use of the macro. Raises MacroError."""
    values: dict[str, str] = {}
    names = {parameter.name: parameter for parameter in macro.parameters}
    normal = _normalise(text)
    place = 0
    for start, end in _spans(normal):
        argument = _restore(normal[start:end])
        if (match := re.fullmatch(_KEYWORD, argument)) and match[1] in names:
            values[match[1]] = _unquote(match[2])
            continue
        if place >= len(macro.parameters):
            raise MacroError(f"The macro '{macro.name}' takes at most {place} arguments.")
        parameter = macro.parameters[place]
        if parameter.takes_rest:
            values[parameter.name] = _restore(normal[start:])
            break
        if argument:
            values[parameter.name] = _unquote(argument)
        place += 1
    for parameter in macro.parameters:
        if not values.get(parameter.name):
            if parameter.required:
                raise MacroError(f"The macro '{macro.name}' needs a value for '{parameter.name}'.")
            values.setdefault(parameter.name, parameter.default)
    return values


def replace_names(text: str, values: Mapping[str, str], number: int) -> str:
    r"""A body statement with each ``\name`` replaced. ``number``: number of the expansion. Raises MacroError
    if the result is too long."""
    if "\\" not in text:
        return text

    def value(match: re.Match[str]) -> str:
        if match[1]:
            return ""
        if match[2]:
            return str(number)
        return values.get(match[3], match[0])

    replaced = re.sub(_REFERENCE, value, text)
    if len(replaced) > MAXIMUM_TEXT:
        raise MacroError("A statement becomes too long when macro parameters are replaced.")
    return replaced


def replace_bare_names(text: str, values: Mapping[str, str]) -> str:
    """Like ``replace_names`` under `.altmacro`: names need no backslash, and `&` joins."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return values.get(name, match[0])

    return re.sub(_BARE_NAME, value, text)


def expand(
    body: Sequence[RawStatement],
    values: Mapping[str, str],
    number: int,
    place: RawStatement,
    alternate: bool = False,
) -> list[RawStatement]:
    """The statements of one expansion, located at ``place``, the macro's use. Raises MacroError."""
    result = []
    known = {name: value.replace(_QUOTE, '"') for name, value in values.items()}
    for raw in body:
        if alternate and (names := local_names(raw.text)):
            known |= {name: f".LL{number}.{name}" for name in names}
            continue
        text = replace_names(raw.text, known, number)
        if alternate:
            text = replace_bare_names(text, known)
        result.append(RawStatement(place.start, text, place.place))
    return result
