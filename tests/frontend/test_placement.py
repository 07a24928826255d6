"""The offset of a region in its section, compared with GNU as and NASM."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.source import Placement, Region

REGION = "# cyclelens-begin\n1: dec %eax\n jnz 1b\n# cyclelens-end\n"

needs_as = pytest.mark.skipif(shutil.which("as") is None, reason="GNU as is not on PATH")


def place(text: str, **options: Any) -> Placement:
    (region,) = assemble(text, SourceOptions(**options)).regions
    return region.placement


def in_object(text: str, folder: Path, program: tuple[str, ...] = ("as",), suffix: str = "s") -> Placement:
    """Of the first label ``here`` in the object that a program makes."""
    source, made = folder / f"x.{suffix}", folder / "x.o"
    source.write_text(text)
    subprocess.run([*program, "-o", made, source], check=True)
    file = ObjectFile(made.read_bytes())
    function = file.find("here")
    return Placement.in_section(function.address - function.origin, function.alignment)


@pytest.mark.parametrize(
    ("before", "known", "offset"),
    [
        ("", 1, 0),
        ("nop\n", 1, 0),
        (".p2align 4\nnop\n", 16, 1),
        ("nop\n.balign 32\nmov %eax, %ebx\n", 32, 2),
        (".p2align 8\nnop\nnop\n", 64, 2),
        # Wherever in the section the strictest directive stands.
        ("nop\n.p2align 3\nnop\n.data\n.p2align 6\n.text\n", 8, 1),
        # It aligns the section though it fills nothing.
        (".p2align 4\n.zero 5\n.p2align 5,,10\n", 32, 5),
        (".p2align 4\n.zero 25\n.p2align 5,,10\n", 32, 0),
        # The region's own alignment lies in front of it.
        ("nop\n.p2align 4\nnop\n# cyclelens-begin\n.p2align 2\n", 16, 4),
        # A jump that needs its long form.
        (".p2align 4\njmp 9f\n.zero 200\n9: nop\n", 16, 14),
        # Another section of the file.
        ('.p2align 6\nnop\n.section .text.cold, "ax"\n.p2align 3\nnop\n', 8, 1),
    ],
)
def test_the_place_is_counted_from_the_last_known_address(before: str, known: int, offset: int) -> None:
    region = REGION.partition("\n")[2] if "cyclelens-begin" in before else REGION
    assert place(before + region) == Placement(offset, known)


def test_code_behind_the_region_may_align_the_section_too() -> None:
    assert place(f"nop\n{REGION}.p2align 5\nnop\n") == Placement(1, 32)


@pytest.mark.parametrize("text", ["bits 64\nnop\n", "section .text\nnop\n"])
def test_nasm_aligns_code_by_itself(text: str) -> None:
    region = "; cyclelens-begin\n.a: dec eax\njnz .a\n; cyclelens-end\n"
    assert place(f"{text}default rel\n{region}", allow_external_programs=False).known == 16


@pytest.mark.parametrize(
    ("between", "known", "offset", "is_told"),
    [
        ("", 1, 0, True),
        (".p2align 3\nnop\n", 8, 1, True),
        (".p2align 4\nnop\n", 16, 1, False),
        (".p2align 3\nnop\n.p2align 4,,3\n", 1, 0, True),
    ],
)
def test_behind_what_cannot_be_encoded_less_is_known(
    between: str, known: int, offset: int, is_told: bool
) -> None:
    found = place(f".p2align 4\nfrobnicate %eax\n{between}{REGION}")
    assert (found.known, found.offset) == (known, offset)
    assert bool(found.gap) == is_told


def test_blocks_of_a_region_lie_behind_each_other() -> None:
    text = ".p2align 4\nnop\n# cyclelens-begin\ntest %eax, %eax\njz 1f\ninc %eax\n1: ret\n# cyclelens-end\n"
    regions: tuple[Region, ...] = assemble(text).regions
    assert [region.placement for region in regions] == [Placement(at, 16) for at in (1, 5, 7)]


@needs_as
def test_random_code_has_gnu_as_offsets(tmp_path: Path) -> None:
    source = random.Random(20250214)
    statements = ("nop", "mov %rax, 8(%rsp)", "jmp 9f", "jne 8b", ".zero 70", "call f", "lea x(%rip), %rax")
    alignments = (".p2align 4", ".p2align 4,,10", ".p2align 3", ".balign 8", ".p2align 5,,7")
    for _ in range(40):
        before = ["8: nop", *source.choices((*statements, *alignments), k=source.randrange(40))]
        behind = [
            *source.choices(statements, k=source.randrange(6)),
            "9: ret",
            source.choice((*alignments, "")),
        ]
        lines = [*before, "# cyclelens-begin", "here: dec %eax", "jnz here", "# cyclelens-end", *behind, ""]
        text = "\n".join(lines)
        assert place(text) == in_object(text, tmp_path), text


@pytest.mark.skipif(shutil.which("nasm") is None, reason="NASM is not on PATH")
@pytest.mark.parametrize("assembler", ["auto", "nasm"])
@pytest.mark.parametrize("directive", ["", "align 32\n", "align 8\n"])
def test_nasm_files_lie_where_nasm_puts_them(tmp_path: Path, directive: str, assembler: str) -> None:
    text = (
        f"bits 64\nsection .text\nnop\n{directive}mov eax, [rsp+8]\nglobal here\n"
        "; cyclelens-begin\nhere: dec eax\njnz here\n; cyclelens-end\nret\n"
    )
    assert place(text, assembler=assembler) == in_object(text, tmp_path, ("nasm", "-felf64"), "asm")
