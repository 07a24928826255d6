"""Texts with random edits, and the properties that the front end must keep on any of them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from cyclelens.analyzer.frontend.source.markers import MAXIMUM_REGIONS
from cyclelens.analyzer.frontend.source.problems import CODES
from cyclelens.analyzer.model.source import AssembledFile

CHARACTERS = "abcxyzRE0189$%(),*:;#@![]{}\"'\\/+-<>=|&^~ \t.é\u2028\x0c\x85😀"
WORDS = (
    *("/*", "*/", "\\@", "\\()", "%rax", "xmm1", "$-1", "0x", "0b2", "1f", "1b", "(,%rax,8)", "[rip+x]"),
    *("{%k1}{z}", "{1to16}", "rep ", "lock ", "notrack ", "ptr ", "dword ", "99999999999999999999", "1/0"),
    *(".macro m a", ".endm", ".rept 3", ".endr", ".irp r,a,b", ".if 1", ".else", ".endif", ".set x,x+1"),
    *(".p2align 4", ".fill 9,9,9", ".org 99", '.include "x"', ".intel_syntax noprefix", ".att_syntax"),
    *(
        ".section .x",
        ".popsection",
        ".byte 'a",
        "%macro m 1",
        "%endmacro",
        "%rep 3",
        "%endrep",
        "times 3 nop",
    ),
    *("#define A B", '#include "x"', "#if", "#endif", "# cyclelens-begin x arch=?", "# cyclelens-end"),
    *("# LLVM-MCA-BEGIN", "# LLVM-MCA-END", "# OSACA-BEGIN", "movl $111, %ebx", ".byte 100,103,144"),
)
NUMBERED = (
    ".octa 1",
    ".byte 1, 2",
    ".set n, 5",
    ".if 1",
    ".endif",
    ".p2align 4",
    ".skip 3",
    "x = 7",
    ".float 1",
)
"""Statements that are little but numbers."""
DIGITS = (20, 999, 1_001, 4_300, 4_301, 10_000)
"""How many a number gets. Python itself converts at most 4,300 decimal ones."""
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789$%(), +-[]")
"""Characters that keep a statement a statement: what is wrong with it is wrong on its line."""


def mutate(line: str, source: random.Random) -> str:
    """A line with one to three edits of a character, or a word put in."""
    characters = list(line)
    for _ in range(source.randint(1, 3)):
        position = source.randrange(len(characters) + 1)
        choice = source.random()
        if choice < 0.5 or position == len(characters):
            characters.insert(position, source.choice(CHARACTERS))
        elif choice < 0.6:
            characters.insert(position, source.choice(WORDS))
        elif choice < 0.8:
            characters[position] = source.choice(CHARACTERS)
        elif choice < 0.9:
            del characters[position:]
        else:
            del characters[position]
    return "".join(characters)


def lengthened(line: str, source: random.Random) -> str:
    """A line whose first number has very many digits."""
    digits = source.choice("7f") * source.choice(DIGITS)
    return re.sub(r"\d+", "0x" * (digits[0] == "f") + digits, line, count=1)


def mutate_file(lines: Sequence[str], others: Sequence[str], source: random.Random) -> str:
    """A whole file with some lines changed, moved, doubled, taken out or taken from another one."""
    changed = list(lines)
    for _ in range(source.choice((1, 2, 5, 20))):
        if not changed:
            break
        at = source.randrange(len(changed))
        choice = source.random()
        if choice < 0.45:
            changed[at] = mutate(changed[at], source)
        elif choice < 0.6:
            changed.insert(at, source.choice(WORDS))
        elif choice < 0.7:
            start = source.randrange(len(others))
            changed[at:at] = others[start : start + source.choice((1, 10, 50))]
        elif choice < 0.8:
            del changed[at : at + source.choice((1, 1, 10, 100))]
        elif choice < 0.9:
            changed[at:at] = changed[at : at + source.choice((1, 5, 30))]
        elif choice < 0.97:
            other = source.randrange(len(changed))
            changed[at], changed[other] = changed[other], changed[at]
        else:
            changed = changed[:at]
    return source.choice(("\n", "\n", "\n", "\r\n")).join(changed)


def violations(text: str, result: AssembledFile) -> Iterator[str]:
    """The broken properties of an answer, in words."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for problem in result.problems:
        if problem.code not in CODES or problem.code == "internal-error":
            yield f"{problem.code}: {problem.message}"
        if not 0 <= problem.line < len(lines):
            yield f"line {problem.line} of {len(lines)}: {problem.message}"
        elif not 0 <= problem.column <= problem.end_column <= len(lines[problem.line]):
            place = f"columns {problem.column}-{problem.end_column} of {lines[problem.line]!r}"
            yield f"{place}: {problem.message}"
    if len({region.name for region in result.regions}) != len(result.regions):
        yield "two regions have one name"
    if len(result.regions) > 20 * MAXIMUM_REGIONS:
        yield f"{len(result.regions)} regions"
    for region in result.regions:
        if not 0 <= region.first_line <= region.last_line < len(lines):
            yield f"region {region.name}: lines {region.first_line} to {region.last_line}"
        for line in region.lines:
            if not 0 <= line.line < len(lines) or line.column > len(lines[line.line]):
                yield f"statement at {line.line}:{line.column}"
            if not line.code:
                yield f"a statement without bytes: {line.text!r}"
