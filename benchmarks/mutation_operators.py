"""Part of mutation.py: draws the mutants of files in Python, which Cosmic Ray makes, and in Cython."""

from __future__ import annotations

import difflib
import random
import re
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

from msgspec import Struct


class Mutant(Struct, frozen=True):
    """The text of a file with one change."""

    path: str
    line: int
    text: str
    change: str
    """The line before and after."""


def changed_line(before: str, after: str) -> tuple[int, str]:
    """The first line that differs (from 1), and both of its forms."""
    old, new = before.splitlines(), after.splitlines()
    for code, i, j, k, m in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if code != "equal":
            was, now = " ".join(map(str.strip, old[i:j])), " ".join(map(str.strip, new[k:m]))
            return i + 1, f"{was}  ->  {now}"
    raise ValueError("the texts are equal")


SAME = {"Is_Eq", "IsNot_NotEq", "Eq_Is", "NotEq_IsNot"}
"""Changes that make no difference between None, enumerators and small numbers."""
LEFT_OUT = {"RemoveDecorator", "VariableReplacer", "VariableInserter"}
"""A cache that is gone changes no result; the others need to be told names."""
OF_LENGTHS = {"Gt_NotEq", "NotEq_Gt", "Eq_LtE"}
"""Changes that make no difference between a length and 0, because no length is negative."""
DECLARED = re.compile(r"\s*(if TYPE_CHECKING|@|type |class \w+\(.*\bfrozen=)")
"""Lines that only a type checker reads."""


def stated_types(node: Any) -> list[Any]:
    """The types that a declaration, a parameter or a function states: nothing evaluates them."""
    if node.type in ("annassign", "tfpdef"):
        return node.children[1:2] if node.type == "annassign" else node.children[2:3]
    return [node.annotation] if node.type == "funcdef" and node.annotation is not None else []


def checked_lengths(node: Any) -> list[Any]:
    """The value of ``strict=True``. Without it, ``zip`` gives the same wherever it does not raise, and what
    raises is a mistake of ours and no result."""
    if node.type == "argument" and node.get_code().strip().replace(" ", "") == "strict=True":
        return node.children[2:]
    return []


def compares_length(tree: Any, place: tuple[int, int]) -> bool:
    """True for the operator of a comparison of ``len(...)`` with 0."""
    operator = tree.get_leaf_for_position(place)
    before, after = operator.get_previous_sibling(), operator.get_next_leaf()
    return before is not None and before.get_code().strip().startswith("len(") and after.value == "0"


def of_python(text: str) -> Iterator[tuple[tuple[int, int], str, int]]:
    """The places of a text (line, column), each with an operator that changes it and which of its changes."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    tree = get_ast(text)
    notes = {
        (row, column)
        for node in ast_nodes(tree)
        for note in (*stated_types(node), *checked_lengths(node))
        for leaf in ast_nodes(note)
        for row, column in [leaf.start_pos]
    }
    for name in operator_names():
        short = name.removeprefix("core/")
        if short in LEFT_OUT or short.rpartition("Operator_")[2] in SAME:
            continue
        operator, occurrence = get_operator(name)(), 0
        for node in ast_nodes(tree):
            for start, _ in operator.mutation_positions(node):
                same = short.rpartition("Operator_")[2] in OF_LENGTHS and compares_length(tree, start)
                if tuple(start) not in notes and not same:
                    yield tuple(start), name, occurrence
                occurrence += 1


def compiles(text: str) -> bool:
    """False for a change that Python refuses, such as one of the ``*`` among parameters: no test kills it."""
    with warnings.catch_warnings(action="ignore"):
        try:
            compile(text, "mutant", "exec")
        except SyntaxError:
            return False
    return True


def python_mutants(paths: Iterable[Path], number: int, choice: random.Random, root: Path) -> Iterator[Mutant]:
    """``number`` mutants: places drawn at random, and one of the changes for each."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    texts = {path: path.read_text("utf-8") for path in paths}
    places: dict[tuple[Path, tuple[int, int]], list[tuple[str, int]]] = {}
    for path, text in texts.items():
        for start, operator, occurrence in of_python(text):
            places.setdefault((path, start), []).append((operator, occurrence))
    order = sorted(places)
    choice.shuffle(order)
    for path, start in order:
        operator, occurrence = choice.choice(places[path, start])
        after = mutate_code(texts[path], get_operator(operator)(), occurrence)
        if after is None or after == texts[path] or not compiles(after):
            continue
        line, change = changed_line(texts[path], after)
        if DECLARED.match(texts[path].splitlines()[line - 1]):
            continue
        yield Mutant(str(path.relative_to(root)), line, after, change)
        number -= 1
        if not number:
            return


TURNED = {
    "==": "!=", "!=": "==", "<=": "<", ">=": ">", "+": "-", "-": "+", "+=": "-=", "-=": "+=",
    "and": "or", "or": "and", "True": "False", "False": "True",
}  # fmt: skip
"""What the operators for Cython put in the place of a token. ``<`` and ``>`` may begin and end a cast."""


GROWING = re.compile(r"> len\(")
ROOM = re.compile(r".*(\b(ints|longs|longer_\w+)|\.(start|grow|generate))\(")
"""Before a number that says how much room a buffer gets: more of it changes nothing."""
DECLARING = {"def", "cdef", "ctypedef", "from", "cimport", "import", "include", "DEF"}


def cython_places(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Line, first column, end and new text of each change of a text in Cython."""
    before = ""
    declared = False
    for token in tokenize.generate_tokens(StringIO(text).readline):
        row, column = token.start
        if before in ("\n", ""):
            declared = token.string in DECLARING
        new = TURNED.get(token.string) if token.type in (tokenize.OP, tokenize.NAME) else None
        if token.string in ("<", ">") and f" {token.string} " in token.line[column - 1 : column + 2]:
            # Where a buffer has to grow, it may grow too soon.
            new = None if GROWING.match(token.line, column) else token.string + "="
        room = ROOM.match(token.line, 0, column)
        if token.type == tokenize.NUMBER and token.string.isdigit() and not declared and not room:
            new = str(int(token.string) + 1)
        if token.string in ("if", "while", "elif") and "else" not in token.line:
            yield row, token.end[1], token.line.rstrip().rfind(":"), ""
        elif new is not None and not declared and before not in ("(", "=", ",", "return", "["):
            yield row, column, token.end[1], new
        if token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
            before = "\n" if token.type == tokenize.NEWLINE else token.string


def cython_mutants(paths: Iterable[Path], number: int, choice: random.Random, root: Path) -> Iterator[Mutant]:
    """``number`` mutants of the core's stages."""
    texts = {path: path.read_text("utf-8") for path in paths}
    places = [(path, place) for path, text in texts.items() for place in cython_places(text)]
    choice.shuffle(places)
    for path, (row, start, end, new) in places:
        lines = texts[path].splitlines(keepends=True)
        line = lines[row - 1]
        condition = line[start:end].strip()
        if not new and (end < start or not condition):
            continue
        lines[row - 1] = line[:start] + (new or f" not ({condition})") + line[end:]
        change = f"{line.strip()}  ->  {lines[row - 1].strip()}"
        yield Mutant(str(path.relative_to(root)), row, "".join(lines), change)
        number -= 1
        if not number:
            return
