"""Reuse of an earlier version's results: a later version of a text reads as if it were new."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from subprocess import Popen
from typing import Any

import pytest
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.assemblers.assembler_client import AssemblerClient, Request
from cyclelens.analyzer.frontend.programs import build
from cyclelens.analyzer.frontend.programs.fragments import SectionPart
from cyclelens.analyzer.frontend.programs.program import Program
from cyclelens.analyzer.frontend.regions.statement_code import EncodingCache
from cyclelens.analyzer.frontend.source import chunks
from cyclelens.analyzer.frontend.source.chunks import SourceText, SourceVersions
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.model.source import AssembledFile

LINES = """
    add $1, %rax
    mov COUNT(%rdi), %rbx
    vaddps %ymm0, %ymm1, %ymm2
    twice %rax
    many %rcx
    jnz 1b
    jmp .Lend
    nop; lea table(%rip), %rsi
1:
.Lend:
foo: bar:
    .set COUNT, 8
    .set COUNT, COUNT + 8
COUNT = 3
    .if COUNT > 8
    .ifdef COUNT
    .ifdef foo
    .set distance, bar - foo
    .set other, distance
    .ifdef distance
    .else
    .endif
    .macro twice register
    add \\register, \\register
    .endm
    .macro many register
.L\\@:
    dec \\register
    jnz .L\\@
    .endm
    .purgem twice
    .rept COUNT
    .irp name, rax, rbx
    push %\\name
    .endr
    .section .rodata
    .text
    .pushsection .data
    .popsection
    .p2align 4
    .byte 1, 2, COUNT
    .intel_syntax noprefix
    .att_syntax
    .altmacro
    .noaltmacro
    /* a comment
    of two lines */
    # llvm-mca-begin inner
    # llvm-mca-end inner
    # cyclelens-begin
    # cyclelens-end
    ; .globl foo
    %macro
    mov rax, rbx

""".strip("\n").split("\n")


@pytest.fixture
def short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "_LINES", 4)


def afresh(text: str) -> AssembledFile:
    return assemble(text, SourceOptions(regions=Regions.BOTH, allow_external_programs=False))


def edited(lines: list[str], choose: random.Random) -> list[str]:
    start = choose.randrange(len(lines) + 1)
    removed = choose.choice([0, 0, 1, 1, 2, 6])
    added = choose.choices(LINES, k=choose.choice([0, 1, 1, 1, 2, 9]))
    return lines[:start] + added + lines[start + removed :]


SEEDS = int(os.environ.get("CYCLELENS_SEEDS", "15"))
"""Texts that are edited thirty times each; every night there are more of them."""


@pytest.mark.usefixtures("short_stretches")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_edited_texts_are_read_like_new_ones(seed: int) -> None:
    memory = EncodingCache(Caches())
    choose = random.Random(seed)
    lines = ["# cyclelens-begin all", *choose.choices(LINES, k=choose.choice([5, 40, 120]))]
    for _ in range(30):
        text = "\n".join(lines)
        read = assemble(
            text, SourceOptions(regions=Regions.BOTH, allow_external_programs=False), memory=memory
        )
        assert read == afresh(text)
        assert "internal-error" not in {problem.code for problem in read.problems}
        lines = edited(lines, choose)


def numbered(count: int) -> list[str]:
    return [f"    add ${number}, %rax\n" for number in range(count)]


def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many statements were read since the last call."""
    read = []
    plain = build.parse

    def parse(*given: Any) -> Any:
        read.append(given)
        return plain(*given)

    monkeypatch.setattr(build, "parse", parse)

    def count() -> int:
        done = len(read)
        read.clear()
        return done

    return count


def test_an_edit_reads_its_surroundings_only(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["# cyclelens-begin\n", *numbered(4_000)]
    count, memory = counted(monkeypatch), EncodingCache(Caches())
    assemble("".join(lines), memory=memory)
    assert count() == 4_000
    for line in (1, 1_500, 4_000):
        lines[line : line + 1] = ["    nop\n", "    sub %rax, %rbx\n"]
        assemble("".join(lines), memory=memory)
        assert 2 <= count() < 200


def test_a_definition_that_others_use_is_read_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "# cyclelens-begin\n",
        "COUNT = 1\n",
        *numbered(1_000),
        "    .rept COUNT\n",
        "    nop\n",
        "    .endr\n",
    ]
    memory = EncodingCache(Caches())
    first = assemble("".join(lines), memory=memory).regions[0]
    lines[1] = "COUNT = 3\n"
    count = counted(monkeypatch)
    second = assemble("".join(lines), memory=memory).regions[0]
    assert len(second.lines) == len(first.lines) + 2
    assert count() < 200


def test_stretches_outside_of_an_edit_stay() -> None:
    versions = SourceVersions()
    lines = numbered(1_000)
    before = SourceText("".join(lines), versions).chunks
    after = SourceText("".join([*lines[:500], "    nop\n", *lines[500:]]), versions).chunks
    assert sum(chunk in before for chunk in after) >= len(before) - 2


def test_rewrites_that_are_tried_out_cut_little_anew() -> None:
    versions = SourceVersions()
    lines = numbered(1_000)
    other = SourceText("\n".join(f"    sub ${number}, %rbx" for number in range(1_000)), versions)
    before = SourceText("".join(lines), versions).chunks
    for number in random.Random(1).sample(range(1_000), 100):
        after = SourceText("".join([*lines[:number], "    nop\n", *lines[number + 1 :]]), versions).chunks
        assert sum(chunk in before for chunk in after) >= len(before) - 2
        before = after
    assert SourceText(other.text, versions).chunks == other.chunks


def test_edits_far_apart_leave_what_is_between_them() -> None:
    versions = SourceVersions()
    lines = numbered(1_000)
    before = SourceText("".join(lines), versions).chunks
    lines[3] = lines[500] = lines[990] = "    nop\n"
    after = SourceText("".join(lines), versions).chunks
    assert "".join(chunk.text for chunk in after) == "".join(lines)
    assert sum(chunk in before for chunk in after) >= len(before) - 3


class Counting(AssemblerClient):
    """Remembers what its child was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Request] = []

    def _exchange(self, child: Popen[bytes], window: Sequence[Request]) -> list[bytes]:
        self.asked += window
        return super()._exchange(child, window)


def test_a_statement_goes_to_an_assembler_once() -> None:
    client, memory = Counting(), EncodingCache(Caches())
    body = [f"    add ${number}, %rax" for number in range(30)]
    try:
        for version in range(5):
            body[7] = f"    sub ${version + 1}, %rbx"
            before = len(client.asked)
            text = "\n".join(["# cyclelens-begin", *body, "# cyclelens-end", ""])
            (region,) = assemble(text, client=client, memory=memory).regions
            assert region.code == assemble(text).regions[0].code
            assert len(client.asked) - before == (1 if version else 30)
    finally:
        client.close()


def test_a_statement_means_what_its_own_text_says_of_its_symbols() -> None:
    text = "size = {}\n# cyclelens-begin\n    add $size, %rax\n# cyclelens-end\n"
    memory = EncodingCache(Caches())
    codes = [assemble(text.format(size), memory=memory).regions[0].code for size in (1, 2, 1)]
    assert codes == [bytes([0x48, 0x83, 0xC0, size]) for size in (1, 2, 1)]


@pytest.mark.usefixtures("short_stretches")
@pytest.mark.parametrize(
    "statement",
    [
        "add $to-from, %eax",
        "mov to-from(%rdi), %eax",
        "add $length, %eax",  # a symbol that is set to a distance
        "add $twice, %eax",
        ".byte to-from",
        ".skip to-from",
        ".if to-from > 3\n    nop\n    .endif",
        "add $(. - from) / 2, %eax",
        "jmp from",
    ],
)
def test_what_depends_on_distances_is_read_anew_when_they_change(statement: str) -> None:
    """The statement is far from the edit, so that its own text stays."""
    far = "    xor %edx, %edx\n" * 12
    text = f"# cyclelens-begin\nfrom:\n{{}}to:\n{far}    .set length, to - from\n    .set twice, 2 * length\n"
    text += f"{far}    {statement}\n{far}# cyclelens-end\n"
    memory = EncodingCache(Caches())
    for between in ("    nop\n" * 3, "    nop\n" * 4, "    nop\n" * 40, "    nop\n" * 3):
        version = text.format(between)
        assert assemble(version, memory=memory) == assemble(version)


@pytest.mark.usefixtures("short_stretches")
@pytest.mark.parametrize(
    "statement", ["add $size, %eax", "mov size(%rdi), %eax", ".skip size", "jmp . + size"]
)
def test_what_is_as_long_as_a_symbol_says_is_measured_anew_when_it_changes(statement: str) -> None:
    """The symbol is set far in front, and the length counts far behind."""
    far = "    xor %edx, %edx\n" * 12
    text = f"size = {{}}\n# cyclelens-begin\n{far}from:\n    {statement}\nto:\n{far}    je from\n"
    text += f"    .byte to - from\n{far}# cyclelens-end\n"
    memory = EncodingCache(Caches())
    for size in (20, 21, 200, 20, 120):
        version = text.format(size)
        assert assemble(version, memory=memory) == assemble(version)


@pytest.mark.usefixtures("short_stretches")
def test_what_has_the_number_of_an_expansion_is_read_anew_when_there_are_more_in_front() -> None:
    far = "    nop\n" * 12
    text = f".macro m\n.byte \\@\n.endm\n# cyclelens-begin\n{{}}{far}    m\n{far}    m\n# cyclelens-end\n"
    memory = EncodingCache(Caches())
    for uses in (0, 1, 3, 1):
        version = text.format("    m\n" * uses)
        assert assemble(version, memory=memory) == assemble(version)


def test_sizes_hold_where_everything_that_decides_them_is_the_same() -> None:
    program = Program()
    assert SectionPart([0], [1], circumstances=("same",)).holds(program, 5, ("same",))
    assert not SectionPart([0], [1], circumstances=("same",)).holds(program, 5, ("other",))
    assert not SectionPart([0], [1], is_fleeting=True).holds(program, 5, ())
    program.changed = {6}
    assert SectionPart([0], [1]).holds(program, 5, ())
    assert not SectionPart([0, 1], [1, 1]).holds(program, 5, ())


@pytest.mark.parametrize("calls", range(2, 30, 3))
def test_a_version_that_is_given_up_spoils_no_later_one(calls: int) -> None:
    """Sizes that were not read when the reader gave up are read for the next version."""
    text = "# cyclelens-begin\n1:\n" + " add $1, %rax\n jz 2f\n" * 100 + "2: jnz 1b\n# cyclelens-end\n"
    left = [True] * calls
    memory = EncodingCache(Caches())
    given_up = assemble(text, memory=memory, cancel=lambda: not (left and left.pop()))
    assert "internal-error" not in [problem.code for problem in given_up.problems]
    assert assemble(text, memory=memory) == assemble(text)
