"""Part of mutation.py: compiles all mutants of the core into one module, which a variable switches.

Each changed statement stands there beside the original, and the environment has the number of the mutant that
runs. So the core is compiled once for a sample, and the module tells which mutants a test reaches.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path

from mutation_operators import Mutant

NUMBER = "CYCLELENS_MUTANT"
"""The number of the mutant that runs; none without it."""
CORE = "analyzer/simulator/core.pyx"
SWITCH = f'''
from os import environ as _environment
cdef int _mutant = int(_environment.get("{NUMBER}", "-1"))
cdef unsigned char[1000] _met

cdef inline bint _at(int number) noexcept nogil:
    _met[number] = 1
    return _mutant == number

def mutants_met():
    """The numbers of the mutants that were reached since the last call."""
    met = [number for number in range(1000) if _met[number]]
    for number in met:
        _met[number] = 0
    return met

'''
CONDITION = re.compile(r"(\s*(?:if|elif|while)\s)(.*)(:\s*(?:#[^\n]*)?\n)", re.DOTALL)
COUNTED = re.compile(r"(\s*for [\w, ]+ in range\()(.*)(\):\s*(?:#[^\n]*)?\n)", re.DOTALL)
COMPOUND = re.compile(r"\s*(for|with|else|try|except|finally|def|cdef|cpdef|class|@|\))")
FUNCTION = re.compile(r"(def|cpdef|cdef [^=]*\(|\))")


def logical_lines(text: str) -> Iterator[tuple[int, int]]:
    """The first and the last row (from 1) of each statement or header."""
    first = 0
    for token in tokenize.generate_tokens(StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            yield first, token.start[0]
            first = 0
        elif not first and token.string.strip() and token.type not in (tokenize.NL, tokenize.COMMENT):
            first = token.start[0]


def in_function(lines: Sequence[str], row: int) -> bool:
    """True if the line is a statement of a function, not of an enumeration, a class or the module."""
    indent = len(lines[row - 1]) - len(lines[row - 1].lstrip())
    for line in reversed(lines[: row - 1]):
        its = len(line) - len(line.lstrip())
        if line.strip() and its < indent:
            if FUNCTION.match(line.strip()):
                return True
            indent = its
    return False


def arguments(text: str) -> list[str]:
    """The arguments of a call, from the text between its parentheses."""
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def chosen(before: str, forms: Mapping[int, str]) -> str:
    """An expression with other forms by number."""
    others = "".join(f"({form}) if _at({number}) else " for number, form in forms.items() if form != before)
    return f"({others}({before}))" if others else before


def switch(before: str, forms: Mapping[int, str]) -> str | None:
    """A logical line with its other forms by number; None if they cannot stand beside each other."""
    if head := CONDITION.fullmatch(before):
        # Truth values, because operands of several types would be Python's objects.
        conditions = {number: f"not not ({CONDITION.fullmatch(form)[2]})" for number, form in forms.items()}  # type: ignore[index]
        return head[1] + chosen(f"not not ({head[2]})", conditions) + head[3]
    if head := COUNTED.fullmatch(before):
        parts = arguments(head[2])
        changed = {number: arguments(COUNTED.fullmatch(form)[2]) for number, form in forms.items()}  # type: ignore[index]
        return head[1] + ",".join(
            chosen(part, {number: form[place] for number, form in changed.items()})
            for place, part in enumerate(parts)
        ) + head[3]  # fmt: skip
    if COMPOUND.match(before):
        return None
    indent = before[: len(before) - len(before.lstrip())]
    words = [
        f"{indent}{'el' * bool(place)}if _at({number}):\n    {form}"
        for place, (number, form) in enumerate(forms.items())
    ]
    return "".join([*words, f"{indent}else:\n    {before}"])


def switched(text: str, mutants: Mapping[int, Mutant]) -> tuple[str, set[int]]:
    """A file with the mutants by number, and those that it could take."""
    lines = text.splitlines(keepends=True)
    result = list(lines)
    taken: set[int] = set()
    for first, last in logical_lines(text):
        forms = {
            number: "".join(mutant.text.splitlines(keepends=True)[first - 1 : last])
            for number, mutant in mutants.items()
            if first <= mutant.line <= last
        }
        if forms and in_function(lines, first):
            both = switch("".join(lines[first - 1 : last]), forms)
            if both is not None:
                result[first - 1 : last] = [both, *[""] * (last - first)]
                taken |= forms.keys()
    return "".join(result), taken


def together(root: Path, mutants: Mapping[int, Mutant], build: Callable[[], bool]) -> set[int]:
    """Builds the core with the mutants; the numbers of those that it has."""
    texts = {
        path: (root / path).read_text("utf-8") for path in {CORE, *(each.path for each in mutants.values())}
    }
    taken: set[int] = set()
    try:
        for path, text in texts.items():
            here = {number: mutant for number, mutant in mutants.items() if mutant.path == path}
            new, numbers = switched(text, here) if here else (text, set())
            if path == CORE:
                new = text.replace("include ", SWITCH + "include ", 1)
            taken |= numbers
            (root / path).write_text(new, "utf-8")
        if build():
            return taken
    finally:
        for path, text in texts.items():
            (root / path).write_text(text, "utf-8")
    if len(mutants) < 2:
        return set()
    order = sorted(mutants)  # one of them does not compile: which?
    halves = order[::2], order[1::2]
    good = set().union(*(together(root, {each: mutants[each] for each in half}, build) for half in halves))
    return together(root, {number: mutants[number] for number in good}, build)
