"""Symbol names: every character is allowed, and different names stay different."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.statements.names import shown, symbol_of
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions, Syntax
from cyclelens.analyzer.model.source import AssembledFile
from testkit.differential import differences, marked

RANGES = (
    (0x21, 0x7E),
    (0xA1, 0x24F),
    (0x300, 0x36F),
    (0x3A9, 0x3A9),
    (0x660, 0x669),
    (0x2190, 0x21FF),
    (0x4E00, 0x4E40),
    (0xFF10, 0xFF19),
    (0x13000, 0x1307F),
    (0x1F600, 0x1F64F),
)
"""Letters, marks, digits, arrows, hieroglyphs, pictures."""
PIECES = (
    "a",
    "b",
    "_",
    " ",
    ".",
    "$",
    "@",
    "1b",
    "<5>",
    "§",
    "\u212a",
    "%",
    "section ",
    "\U00013000",
    "_20_",
)
AWKWARD = (
    *(".", "$", "<5>", "@b", "@@", "a+b", "a,b", "(x)", "[x]", "{k1}", "#c", "/*x*/", ";", "offset x", "$5"),
    *(
        "it's",
        "=",
        "a=b",
        "1",
        "1b",
        "1f",
        "1x",
        "0x10",
        "-",
        "~",
        "a\u00a0b",
        "\u0661",
        "§.text",
        "section .text",
    ),
    *("byte ptr", "short a", "a:", "rip+x", "\u212a1", "my r16 loop", ".L a", "a b c d", "e\u0301 "),
)
BARE = ("é", "aé", "e\u0301", "\u0662", "\U0001f600", "\u212a2", ".§", "a\u0301.b$", "§.data")


def _random_name(chance: random.Random) -> str:
    letters = []
    for _ in range(chance.randrange(1, 8)):
        if chance.randrange(3):
            letters.append(chance.choice(PIECES))
        else:
            letters.append(chr(chance.randint(*chance.choice(RANGES))))
    return "".join(letters).replace('"', "").replace("\\", "") or "n"


def _awkward_names() -> list[str]:
    chance = random.Random(20_261_128)
    return sorted({*AWKWARD, *(_random_name(chance) for _ in range(1_000))} - set(BARE))


@pytest.mark.parametrize("syntax", [Syntax.ATT, Syntax.INTEL])
def test_no_two_names_are_one(syntax: Syntax) -> None:
    names = [*(f'"{name}"' for name in _awkward_names()), *BARE]
    value_of = {name: 0x1000 + 0x111 * number for number, name in enumerate(names)}
    lines = [
        f"{name} = {value}" if value % 2 else f".set {name}, {value}" for name, value in value_of.items()
    ]
    uses = [f"mov {name}(%rsi), %eax" if syntax is Syntax.ATT else f"mov eax, {name}[rsi]" for name in names]
    text = "\n".join([*lines, *marked(uses)])
    result = assemble(text, SourceOptions(syntax=syntax, allow_external_programs=False))
    assert [problem.message for problem in result.problems] == []
    found = [int.from_bytes(line.code[2:6], "little") for line in result.regions[0].lines[1:]]
    assert dict(zip(names, found, strict=True)) == value_of


def test_a_symbol_is_known_by_its_name_as_written() -> None:
    for name in [*_awkward_names(), *BARE]:
        symbol = symbol_of(f'"{name}"')
        assert shown(symbol) == name
        assert symbol_of(symbol) == symbol
        assert symbol in (name, f'"{name}"')


@pytest.mark.parametrize("syntax", [Syntax.ATT, Syntax.INTEL])
def test_names_are_those_of_gnu_as(syntax: Syntax, tmp_path: Path) -> None:
    if shutil.which("as") is None:
        pytest.skip("GNU as is not installed")
    lines = [] if syntax is Syntax.ATT else [".intel_syntax noprefix"]
    for number, name in enumerate([*(f'"{name}"' for name in AWKWARD), *BARE]):
        if syntax is Syntax.INTEL and name == '"$"':
            # GNU as takes it for the place in some operands and for the symbol in others.
            continue
        if syntax is Syntax.ATT:
            uses = [f"mov {name}+4(%rsi), %eax", f"lea {name}(%rip), %rcx", f"mov ${name}, %edx"]
        else:
            uses = [f"mov eax, {name}[rsi+4]", f"lea rcx, {name}[rip]", f"mov edx, offset {name}"]
        lines += [f"{name}: nop", f"jmp {name}", f"v{number} = {name} + {number}", f"jne v{number}", *uses]
    assert differences("\n".join(marked(lines)), "gas", tmp_path, syntax=syntax, programs=True) == []


@pytest.mark.parametrize("name", [*AWKWARD, *_awkward_names()[::50]])
def test_a_loop_may_have_any_name(name: str) -> None:
    text = f'"{name}": dec %ecx\n jz "out there"\n nop\n jmp "{name}"\n"out there": ret\n'
    found = assemble(text, SourceOptions(regions=Regions.LOOPS))
    assert [region.incomplete for region in found.regions] == [False]
    assert found.problems == ()


def test_a_name_in_quotes_is_no_number_of_a_label(region: Callable[..., AssembledFile]) -> None:
    found = region('1: nop\n"1": nop\n"1b": nop\njmp 1b\njmp "1"\njmp "1b"')
    assert b"".join(line.code for each in found.regions for line in each.lines).hex() == "909090ebfbebfaebf9"


@pytest.mark.parametrize("blank", ["\u00a0", "\u2028", "\u3000", "\u0085"])
def test_what_looks_like_a_blank_is_refused(blank: str, region: Callable[..., AssembledFile]) -> None:
    for text in (
        f"mov{blank}%eax, %ebx",
        f"a{blank}: nop",
        f"nop{blank}",
        f"x = 5{blank}\nmov $x, %eax",
    ):
        problem = region(text).problems[0]
        assert (problem.line, "only looks like a space" in problem.message) == (1, True)
    assert region(f'"a{blank}b": jmp "a{blank}b" # {blank}').problems == ()


@pytest.mark.parametrize(
    ("name", "why"),
    [("%rax", "is one in quotes, too"), ("a@plt", "for a relocation"), ("a b@GOTPCREL", "for a relocation")],
)
def test_what_quotes_do_not_make_a_name_of_is_refused(
    name: str, why: str, region: Callable[..., AssembledFile]
) -> None:
    for statement in (f'jmp "{name}"', f'mov "{name}"(%rsi), %eax', f'mov $"{name}", %eax'):
        assert why in region(statement).problems[0].message
