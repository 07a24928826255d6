"""Lines with a few random edits: the front end always answers, and always about the right line."""

from __future__ import annotations

import random
from pathlib import Path

from cyclelens.analyzer.assembly.frontend import assemble
from cyclelens.analyzer.assembly.problems import CODES

EXAMPLES = Path(__file__).parents[2] / "examples"
EXTRA = [
    ".p2align 4,,10",
    ".byte 1, 'a', 0x10",
    "a: 1: jmp 1b",
    ".set n, 5 * (3 + 1)",
    "jne .Lx # comment",
    ".rept 3",
    ".endr",
    ".macro x",
    "/* c */ nop; nop",
    '.ascii "a\\n"',
    "mov eax, [rax + rbx*4][rcx]",
    "nopw %cs:0x0(%rax,%rax,1)",
]
CHARACTERS = "abcxyzRE0189$%(),*:;#@![]{}\"'\\/+-<>=|&^~ \t.é"


def mutate(line: str, random_source: random.Random) -> str:
    characters = list(line)
    for _ in range(random_source.randint(1, 3)):
        position = random_source.randrange(len(characters) + 1)
        choice = random_source.random()
        if choice < 0.6 or position == len(characters):
            characters.insert(position, random_source.choice(CHARACTERS))
        elif choice < 0.8:
            characters[position] = random_source.choice(CHARACTERS)
        elif choice < 0.9:
            del characters[position:]
        else:
            del characters[position]
    return "".join(characters)


def test_mutated_lines_never_break_anything() -> None:
    random_source = random.Random(20240611)
    lines = [line for path in sorted(EXAMPLES.glob("*.s")) for line in path.read_text().splitlines() if line]
    for _ in range(30):
        chosen = [mutate(random_source.choice(lines + EXTRA), random_source) for _ in range(10)]
        text = "\n".join(["# cyclelens-begin last", *chosen, "# cyclelens-end"])
        result = assemble(text, syntax=random_source.choice(["auto", "att", "intel"]))
        for problem in result.problems:
            assert problem.code in CODES and problem.code != "internal-error", (text, problem)
            assert 0 <= problem.line < len(chosen) + 2
            width = len(text.split("\n")[problem.line])
            assert 0 <= problem.column <= problem.end_column <= width, (text, problem)
        for region in result.regions:
            for line in region.lines:
                assert line.text[:5] in text.split("\n")[line.line][line.column :], (text, line)


def test_a_broken_line_leaves_the_other_region_alone() -> None:
    random_source = random.Random(7)
    good = "\n# cyclelens-begin good\nadd %rax, %rbx\n# cyclelens-end\n"
    for _ in range(100):
        # Neither an open comment nor another marker, which rightly reach further.
        broken = mutate("vmovups (%rsi), %ymm1", random_source).replace("/*", "/").replace("\n", "")
        text = f"# cyclelens-begin bad\n{broken}\n# cyclelens-end{good}"
        regions = {region.name: region for region in assemble(text, syntax="att").regions}
        assert regions["good"].code.hex() == "4801c3"
        assert not regions["good"].incomplete
