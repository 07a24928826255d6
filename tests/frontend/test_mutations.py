"""Random edits: the front end always answers, and always for the right line.

``benchmarks/fuzzing.py`` makes very many more of them.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions, Syntax
from hypothesis import given, settings
from hypothesis import strategies as st
from testkit.mutations import DIGITS, NUMBERED, PLAIN, WORDS, lengthened, mutate, mutate_file, violations

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.s"))
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


def test_mutated_lines_never_break_anything() -> None:
    source = random.Random(20240611)
    lines = [line for path in EXAMPLES for line in path.read_text().splitlines() if line]
    for _ in range(30):
        chosen = [mutate(source.choice(lines + EXTRA), source) for _ in range(10)]
        text = "\n".join(["# cyclelens-begin last", *chosen, "# cyclelens-end"])
        assert list(violations(text, assemble(text, SourceOptions(syntax=source.choice(list(Syntax)))))) == []


def test_numbers_of_any_length_are_answered() -> None:
    source = random.Random(20261130)
    for _ in range(2):
        lines = [lengthened(line, source) for line in NUMBERED for _ in DIGITS]
        text = "\n".join(["# cyclelens-begin last", *lines, "# cyclelens-end"])
        assert list(violations(text, assemble(text, SourceOptions(allow_external_programs=False)))) == []


def test_mutated_files_never_break_anything() -> None:
    source = random.Random(20240612)
    files = [path.read_text().splitlines() for path in EXAMPLES]
    for number in range(40):
        text = mutate_file(source.choice(files), source.choice(files), source)
        result = assemble(text, SourceOptions(regions=Regions.BOTH, allow_external_programs=number % 10 == 0))
        assert list(violations(text, result)) == [], text


def test_a_mutated_statement_is_reported_on_its_line_and_harms_no_other() -> None:
    source = random.Random(20240613)
    tried = 0
    while tried < 60:
        broken = mutate("vmovups 32(%rsi,%rax,4), %ymm1", source)
        if not PLAIN.issuperset(broken):
            continue
        tried += 1
        result = assemble(f"# cyclelens-begin\nadd %rax, %rbx\n{broken}\nadd %rax, %rbx\n# cyclelens-end")
        assert {problem.line for problem in result.problems} <= {2}, broken
        kept = [line.line for region in result.regions for line in region.lines]
        assert [line for line in kept if line != 2] == [1, 3], broken


@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=20)), max_size=8))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_no_text_at_all_breaks_anything(lines: list[str]) -> None:
    text = "\n".join(["# cyclelens-begin", *lines, "# cyclelens-end"])
    assert list(violations(text, assemble(text, SourceOptions(allow_external_programs=False)))) == []


WORST = {
    "a statement over two lines of Windows": "  frob 256(%rd[i) /* one\r\ntwo */ nop\r\nnop",
    "a block of NASM's that is never closed": "%macro m 1\nadd rbx, rax",
    "repetitions in repetitions": ".rept 9999\n.rept 9999\nnop\n.endr\n.endr",
    "a macro that uses itself": ".macro m\nm\nm\n.endm\nm",
    "a macro that doubles its argument": '.macro m a\nm "\\a \\a"\n.endm\nm xxxxxxxx',
    "a value that grows": ".set x,1<<60\n.rept 99\n.set x,x*x*x\n.endr\nmov $x, %rax",
    "labels that move each other": "\n".join(f"{n}: jmp {n + 1}f\n.p2align 4" for n in range(300)) + "\n300:",
    "deep brackets": f"mov {'(' * 5000}1{')' * 5000}, %eax",
    "a long line of prefixes": "lock " * 3000 + "nop",
    "an open quote on every line": 'mov $"a, %eax\n' * 300,
    "only line ends": "\r\n\r\r\n" * 300,
    "comments that open and close": "/*/ */ /* // */ # */ /*\n" * 300 + "*/ nop",
    "very many numeric labels": "1: jmp 1b\n" * 3000,
    "conditions without an end": ".if 1\n.else\n" * 300,
}


@pytest.mark.parametrize("body", WORST.values(), ids=WORST.keys())
def test_the_worst_texts_are_answered(body: str) -> None:
    text = f"# cyclelens-begin\n{body}\n# cyclelens-end"
    assert list(violations(text, assemble(text, SourceOptions(regions=Regions.BOTH)))) == []


def test_a_broken_line_leaves_the_other_region_alone() -> None:
    source = random.Random(7)
    good = "\n# cyclelens-begin good\nadd %rax, %rbx\n# cyclelens-end\n"
    for _ in range(100):
        # Neither an open comment nor another marker, which rightly reach further.
        broken = mutate("vmovups (%rsi), %ymm1", source)
        if any(sign in broken for sign in ("/*", "cyclelens", "LLVM", "OSACA", "#", "%m", "%r", ".")):
            continue
        text = f"# cyclelens-begin bad\n{broken}\n# cyclelens-end{good}"
        regions = {region.name: region for region in assemble(text, SourceOptions(syntax=Syntax.ATT)).regions}
        assert regions["good"].code.hex() == "4801c3", broken
        assert not regions["good"].incomplete
