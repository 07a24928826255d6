"""Expands what MASM does before it assembles: constants and texts (``EQU``, ``=``, ``TEXTEQU``, ``CATSTR``),
conditions, macros and macro functions, repetitions, and included files.

Rules are those of the Microsoft Macro Assembler reference. Everything that an expansion makes has the place
of the statement that asked for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from cyclelens.analyzer.frontend.source.masm_bodies import (
    BLOCK,
    LONGEST,
    WORD,
    MasmMacro,
    closing,
    end_of_block,
    local_names,
    parameters,
    with_values,
)
from cyclelens.analyzer.frontend.source.masm_types import MasmTypes
from cyclelens.analyzer.frontend.source.masm_values import NAME, NotConstant, arguments, literal, value
from cyclelens.analyzer.frontend.source.scanner import RawStatement
from msgspec import Struct

MAXIMUM_STATEMENTS = 50_000
"""Statements of all expansions together."""
MAXIMUM_DEPTH = 20
"""Expansions within each other, as in MASM."""

_DEFINITION = rf"(?is)\s*({NAME})\s*(?:(=)|\b(equ|textequ|catstr|substr|sizestr|instr|macro)\b)\s*(.*)"
_CONDITION = r"(?is)\s*(if|ife|ifb|ifnb|ifdef|ifndef|ifidni?|ifdifi?|if1|if2|else|elseif\w*|endif)\b(.*)"
_LOOP = r"(?is)\s*(rept|repeat|while|forc?|irpc?)\b(?!\s*:)(.*)"
_SILENT = r"(?is)\s*(?:purge|echo|%out|comment|\.list\w*|\.nolist|\.xlist|\.cref|page)\b"
_EXIT = r"(?is)\s*exitm\b\s*(.*)"
_INCLUDE = r"(?is)\s*include\s+(.+)"
_EXIT_OUTSIDE = "EXITM stands outside of a macro."
_REGISTER = (
    r"[er]?(?:[abcd]x|[sd]i|[sb]p)|[abcd][lh]|[sd]il|[sb]pl|[c-gs]s|r(?:[89]|1[0-5])[bwd]?"
    r"|[xyz]mm(?:[12]?\d|3[01])|k[0-7]"
)
"""Names that ``IFDEF`` knows besides constants, texts and macros."""
_RADIX = r"(?is)\s*\.radix\s+(?:(10t?|0ah)\s*$|\w)"
_ERROR = r"(?is)\s*\.err(nz|e|n?b|n?def|idni?|difi?|[12]?)\b\s*(.*)"
_USE = rf"(?is)(\s*(?:{NAME}\s*::?\s*)*)({NAME})(.*)"


class MasmTrouble(Struct, frozen=True):
    """Something that cannot be expanded, at a range of the file."""

    start: int
    end: int
    message: str


class _ExitMasmMacro(Exception):
    """``EXITM``, with the value of a macro function."""


class MasmExpansion:
    """One pass over a text. ``included`` gives the statements of a file; None if it may not be read.
    ``defines`` are texts as for ``ml64 /D``: ``NAME`` or ``NAME=text``."""

    def __init__(
        self, included: Callable[[str], Sequence[RawStatement] | None], defines: Iterable[str] = ()
    ) -> None:
        self._included = included
        parts = (each.partition("=") for each in defines)
        self._texts = {name.strip().lower(): text for name, _, text in parts}
        self._numbers: dict[str, int] = {"@wordsize": 8, "@version": 1400, "true": -1, "false": 0}
        self._macros: dict[str, MasmMacro] = {}
        self._unique = 0
        self._read, self._is_too_long = 0, False
        self._depth = 0
        self._has_other_base = False
        self.types = MasmTypes()
        self.troubles: list[MasmTrouble] = []

    def statements(self, raw: Iterable[RawStatement]) -> list[RawStatement]:
        """What is left to assemble, with a refused statement for everything that cannot be expanded."""
        made: list[RawStatement] = []
        self._run(list(raw), made)
        refused = [
            RawStatement(each.start, "", (each.start, each.end), each.message) for each in self.troubles
        ]
        return sorted([*made, *refused], key=lambda statement: statement.start)

    # One list of statements

    def _run(self, found: Sequence[RawStatement], made: list[RawStatement]) -> None:
        states: list[str] = []
        """Of each open condition: "taken", "open" (no branch was taken yet) or "done"."""
        at = 0
        while at < len(found):
            statement = found[at]
            at += 1
            self._read += self._depth > 0
            if self._read >= MAXIMUM_STATEMENTS:
                self._report_length(statement)
                return
            text = statement.text
            if match := re.match(_CONDITION, text):
                self._condition(statement, match[1].lower(), match[2].strip(), states)
                continue
            is_skipped = any(state != "taken" for state in states)
            if BLOCK.match(text):
                end = end_of_block(found, at)
                if not is_skipped:
                    if end == len(found):
                        self._report(statement, "This macro or repetition is never closed by ENDM.")
                    self._block(statement, found[at:end], made)
                at = end + 1
            elif not is_skipped and text.strip():
                self._statement(statement, made)

    def _statement(self, statement: RawStatement, made: list[RawStatement]) -> None:
        text = statement.text
        if text.lstrip().startswith("%"):
            text = text.replace("%", " ", 1)
        if (match := re.match(_DEFINITION, text)) and (match[3] or "").lower() != "macro":
            self._define(statement, match)
        elif match := re.match(_INCLUDE, text):
            self._include(statement, match[1].strip(), made)
        elif match := re.match(_ERROR, text):
            self._refuse(statement, match[1].lower(), arguments(match[2]))
        elif (match := re.match(_EXIT, text)) and self._depth == 0:
            self._report(statement, _EXIT_OUTSIDE)
        elif match:
            raise _ExitMasmMacro(self._expanded(statement, literal(match[1].strip()), made))
        elif match := re.match(_RADIX, text):
            self._has_other_base = match[1] is None
        elif not re.match(_SILENT, text):
            use = re.fullmatch(_USE, text)
            macro = self._macros.get(use[2].lower()) if use and not use[3].lstrip().startswith(":") else None
            if use and macro is None and (word := self._texts.get(use[2].lower())):
                macro = self._macros.get(word.lower())
            if use and macro is not None:
                if use[1].strip():
                    made.append(_placed(statement, use[1]))
                self._call(statement, macro, arguments(use[3]), made)
            else:
                self._make(statement, self._expanded(statement, text, made), made)

    def _make(self, statement: RawStatement, text: str, made: list[RawStatement]) -> None:
        if self._has_other_base and re.search(r"\b\d", text):
            self._report(statement, "Numbers of another base (.RADIX) are not read.")
            return
        try:
            if not self.types.takes(text):
                made.append(_placed(statement, self.types.replaced(text)))
        except NotConstant as error:
            self._report(statement, f"This definition is not read: {error}")

    def _refuse(self, statement: RawStatement, kind: str, listed: list[str]) -> None:
        """``.ERR``, and its forms with a condition (``.ERRNZ``), whose last value is the message."""
        count = 0 if kind in ("", "1", "2") else 2 if kind.startswith(("idn", "dif")) else 1
        condition = {"nz": "if"}.get(kind, f"if{kind}")
        if not count or self._holds(statement, condition, ", ".join(listed[:count])):
            reason = literal("".join(listed[count:])) or f".err{kind}"
            self._report(statement, f"The text refuses to be assembled: {reason}")

    # Conditions

    def _condition(self, statement: RawStatement, word: str, rest: str, states: list[str]) -> None:
        if word == "endif":
            if states:
                states.pop()
        elif word.startswith("else"):
            if states:
                now = states[-1]
                states[-1] = "done" if now != "open" else now
                outer = all(state == "taken" for state in states[:-1])
                if now == "open" and outer and (word == "else" or self._holds(statement, word[4:], rest)):
                    states[-1] = "taken"
        elif any(state != "taken" for state in states):
            states.append("done")
        else:
            states.append("taken" if self._holds(statement, word, rest) else "open")

    def _holds(self, statement: RawStatement, word: str, rest: str) -> bool:
        if word in ("ifdef", "ifndef"):
            name = rest.lower()
            is_known = (
                re.fullmatch(_REGISTER, name) is not None
                or name in self._texts
                or name in self._numbers
                or name in self._macros
            )
            return is_known == (word == "ifdef")
        if word in ("ifb", "ifnb"):
            return (not literal(rest).strip()) == (word == "ifb")
        if word.startswith(("ifidn", "ifdif")):
            sides = [literal(each) for each in arguments(rest)]
            if word.endswith("i"):
                sides = [each.lower() for each in sides]
            return (len(sides) == 2 and sides[0] == sides[1]) == word.startswith("ifidn")
        if word in ("if1", "if2"):
            return True
        try:
            return (self._value(rest) != 0) == (word == "if")
        except NotConstant as error:
            self._report(statement, f"The condition has no value: {error}")
            return False

    # Constants and texts

    def _define(self, statement: RawStatement, match: re.Match[str]) -> None:
        name, how, rest = match[1].lower(), (match[2] or match[3]).lower(), match[4].strip()
        try:
            if how == "=":
                self._numbers[name] = self._value(rest)
            elif how in ("sizestr", "instr"):
                result = self._built_in(statement, f"@{how}", arguments(rest))
                self._numbers[name] = self._value(result)
            elif how == "substr":
                text, start, *length = arguments(rest)
                first = self._value(start) - 1
                found = self._of_text(statement, text)
                self._texts[name] = found[first : first + self._value(length[0])] if length else found[first:]
            elif how in ("textequ", "catstr"):
                self._texts[name] = "".join(self._of_text(statement, each) for each in arguments(rest))
            elif rest.startswith("<"):
                self._texts[name] = literal(rest)
            else:
                try:
                    self._numbers[name] = self._value(rest)
                    self._texts.pop(name, None)
                except NotConstant:
                    self._texts[name] = self._expanded(statement, rest, [])
                    self._numbers.pop(name, None)
        except (NotConstant, ValueError) as error:
            self._report(statement, f"'{match[1]}' has no value: {error}")

    def _value(self, text: str) -> int:
        text = self._replaced(self._functions(RawStatement(0, ""), text, []))
        return value(self.types.replaced(text), self._numbers)

    def _of_text(self, statement: RawStatement, written: str) -> str:
        """The text that ``<text>``, ``%expression`` or the name of a text stands for."""
        if written.startswith("%"):
            inside = self._replaced(written[1:])
            try:
                return str(value(inside, self._numbers))
            except NotConstant:
                return inside.strip()
        if written.startswith("<"):
            return literal(written)
        return self._expanded(statement, written, [])

    def _replaced(self, text: str, seen: frozenset[str] = frozenset()) -> str:
        """The text with the names of texts replaced, also within what they stand for."""

        def of_word(match: re.Match[str]) -> str:
            name = match[0].lower()
            if name not in self._texts or name in seen:
                return match[0]
            return self._replaced(self._texts[name], seen | {name})

        return WORD.sub(of_word, text)[:LONGEST] if self._texts else text

    def _expanded(self, statement: RawStatement, text: str, made: list[RawStatement]) -> str:
        """The text with names of texts and constants replaced, and macro functions called."""
        text = self._replaced(self._functions(statement, text, made))
        text = self._functions(statement, text, made)

        def of_word(match: re.Match[str]) -> str:
            found = self._numbers.get(match[0].lower())
            return match[0] if found is None else str(found)

        return WORD.sub(of_word, text)

    def _functions(self, statement: RawStatement, text: str, made: list[RawStatement]) -> str:
        at = 0
        while match := WORD.search(text, at):
            at, name = match.end(), match[0].lower()
            if text[at : at + 1] != "(" or (name not in self._macros and name not in _BUILT_IN):
                continue
            end = closing(text, at)
            listed = arguments(text[at + 1 : end])
            if name in self._macros:
                result = self._call(statement, self._macros[name], listed, made)
            else:
                result = self._built_in(statement, name, listed)
            result = self._replaced(result)
            text, at = text[: match.start()] + result + text[end + 1 :], match.start() + len(result)
            if len(text) > LONGEST:
                break
        return text

    def _built_in(self, statement: RawStatement, name: str, listed: Sequence[str]) -> str:
        if name == "@catstr":
            # Its arguments are texts as written, even where they are names of texts.
            return "".join(
                self._of_text(statement, each) if each.startswith("%") else literal(each) for each in listed
            )
        parts = [self._of_text(statement, each) for each in listed]
        if name == "@sizestr":
            return str(len(parts[0]) if parts else 0)
        try:
            if name == "@instr":
                first = self._value(parts.pop(0) or "1") - 1 if len(parts) > 2 else 0
                return str(parts[0].find(parts[1], first) + 1)
            first = self._value(parts[1]) - 1
            return parts[0][first : first + self._value(parts[2])] if len(parts) > 2 else parts[0][first:]
        except (NotConstant, IndexError):
            self._report(statement, "@SubStr and @InStr need two values, the text first or second.")
            return ""

    # Macros and repetitions

    def _block(self, statement: RawStatement, body: Sequence[RawStatement], made: list[RawStatement]) -> None:
        if match := re.match(_LOOP, statement.text):
            self._repeat(statement, match[1].lower(), match[2].strip(), (body, made))
        elif match := re.match(_DEFINITION, statement.text):
            self._macros[match[1].lower()] = MasmMacro(parameters(match[4]), tuple(body))

    def _repeat(
        self,
        statement: RawStatement,
        word: str,
        rest: str,
        parts: tuple[Sequence[RawStatement], list[RawStatement]],
    ) -> None:
        body, made = parts
        try:
            if word in ("rept", "repeat"):
                for _ in range(min(max(self._value(rest), 0), MAXIMUM_STATEMENTS)):
                    self._within(statement, body, {}, made)
                    if self._read >= MAXIMUM_STATEMENTS:
                        return
            elif word == "while":
                while self._value(rest) and self._read < MAXIMUM_STATEMENTS:
                    self._read += 1
                    self._within(statement, body, {}, made)
            else:
                name, _, listed = rest.partition(",")
                text = self._replaced(listed).strip()
                words = list(literal(text)) if word in ("forc", "irpc") else arguments(literal(text))
                parameter = re.split(r"[:\s]", name.strip(), maxsplit=1)[0].lower()
                for each in words:
                    self._within(statement, body, {parameter: literal(each)}, made)
        except NotConstant as error:
            self._report(statement, f"The repetition has no count: {error}")
        except _ExitMasmMacro:
            pass
        if self._read >= MAXIMUM_STATEMENTS:
            self._report_length(statement)

    def _call(
        self, statement: RawStatement, macro: MasmMacro, listed: Sequence[str], made: list[RawStatement]
    ) -> str:
        """Expand a macro. Returns the text of its ``EXITM``."""
        values: dict[str, str] = {}
        for number, parameter in enumerate(macro.parameters):
            given = (
                ", ".join(listed[number:]) if parameter.takes_rest else "".join(listed[number : number + 1])
            )
            if not given and parameter.is_required:
                self._report(statement, f"The macro needs a value for '{parameter.name}'.")
                return ""
            written = given or parameter.default or ""
            # Names of texts in arguments are replaced where they are used.
            values[parameter.name] = (
                self._of_text(statement, written) if written.startswith(("%", "<")) else written
            )
        try:
            self._within(statement, macro.body, values, made)
        except _ExitMasmMacro as result:
            return str(result)
        return ""

    def _within(
        self,
        statement: RawStatement,
        body: Sequence[RawStatement],
        values: dict[str, str],
        made: list[RawStatement],
    ) -> None:
        """Run a body with these values of its parameters."""
        if self._depth == MAXIMUM_DEPTH:
            self._report(
                statement, f"Macros are nested more than {MAXIMUM_DEPTH} deep; this one is left out."
            )
            return
        values = dict(values)
        for each in body:
            if names := local_names(each.text):
                for name in names:
                    # MASM's own name is the part from "??" on.
                    values[name.lower()] = f"{name}??{self._unique:04X}"
                    self._unique += 1
        self._depth += 1
        try:
            kept = [each for each in body if not local_names(each.text)]
            self._run([_placed(statement, with_values(each.text, values)) for each in kept], made)
        finally:
            self._depth -= 1

    def _include(self, statement: RawStatement, name: str, made: list[RawStatement]) -> None:
        found = self._included(literal(name).strip("'\"").replace("\\", "/"))
        if found is None or self._depth == MAXIMUM_DEPTH:
            return
        self._depth += 1
        try:
            self._run([_placed(statement, each.text) for each in found], made)
        except _ExitMasmMacro:
            self._report(statement, _EXIT_OUTSIDE)
        self._depth -= 1

    def _report_length(self, statement: RawStatement) -> None:
        if not self._is_too_long:
            self._is_too_long = True
            self._report(statement, "The text that macros produce is too long; the rest is not read.")

    def _report(self, statement: RawStatement, message: str) -> None:
        start, end = _range(statement)
        if all((each.start, each.message) != (start, message) for each in self.troubles):
            self.troubles.append(MasmTrouble(start, end, message))


_BUILT_IN = frozenset(("@catstr", "@instr", "@sizestr", "@substr"))


def _range(statement: RawStatement) -> tuple[int, int]:
    if statement.place is not None:
        return statement.place
    text = statement.text
    return statement.start + len(text) - len(text.lstrip()), statement.start + len(text.rstrip())


def _placed(at: RawStatement, text: str) -> RawStatement:
    """A statement with another text, at the place of a given one."""
    if text == at.text:
        return at
    return RawStatement(at.start, text, _range(at))
