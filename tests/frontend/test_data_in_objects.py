"""Data between the instructions of an object file is found and not decoded."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from corpora import by_loop, essence, object_loops, places_of
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.machine_code import regions_of
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.model.source import Region

pytestmark = pytest.mark.skipif(shutil.which("as") is None, reason="GNU as is not on PATH")

LOOKS_LIKE_A_LOOP = ".byte 0x48, 0xff, 0xc9, 0x75, 0xfb, 0x90, 0x90, 0x90"
"""``dec %rcx; jne`` back to it."""


def function(body: str) -> str:
    return f".text\n.p2align 4\n.globl f\n.type f, @function\nf:\n{body}\n.size f, .-f\n"


def loops(text: str, folder: Path) -> tuple[list[list[Region]], list[list[Region]]]:
    """In the text, and in the object that GNU as makes of it."""
    (folder / "p.s").write_text(text)
    subprocess.run(["as", "-o", "p.o", "p.s"], cwd=folder, check=True)
    in_object = object_loops((folder / "p.o").read_bytes())
    return by_loop(assemble(text, SourceOptions(regions=Regions.LOOPS)).regions), by_loop(in_object)


LOOP = "1: paddd %xmm0, %xmm1\n dec %ecx\n jnz 1b"
TEXTS = {
    "read behind the return": f"movdqa table(%rip), %xmm0\n{LOOP}\nret\n.p2align 4\n"
    f"table: {LOOKS_LIKE_A_LOOP}\n{LOOKS_LIKE_A_LOOP}",
    "its address is loaded": f"lea table(%rip), %rax\n{LOOP.replace('%xmm0', '(%rax)')}\nret\n.p2align 4\n"
    f"table: {LOOKS_LIKE_A_LOOP}\n{LOOKS_LIKE_A_LOOP}",
    # Of the last byte the instruction behind it would be a part.
    "between the instructions": "movzbl table(%rip), %ecx\njmp 2f\n"
    f"table: {LOOKS_LIKE_A_LOOP}\n.byte 0x48\n2:\n{LOOP}\nret",
    "two tables": f"movdqa table(%rip), %xmm0\njmp 2f\ntable: {LOOKS_LIKE_A_LOOP}\n{LOOKS_LIKE_A_LOOP}\n"
    f"2: movdqu other(%rip), %xmm1\n{LOOP}\nret\nother: {LOOKS_LIKE_A_LOOP}\n{LOOKS_LIKE_A_LOOP}",
    "declared, in a function with a switch": "test %edi, %edi\njz 3f\njmp *%rax\n"
    f".type table, @object\ntable: {LOOKS_LIKE_A_LOOP}\n.size table, .-table\n3:\n{LOOP}\nret",
}


SWITCH = """{before}
1: movzbl (%rdi), %eax
 inc %rdi
 {load}
2: {between}
3: add $1, %ecx
 jmp 5f
4: add $2, %ecx
5: cmp %rsi, %rdi
 jne 1b
 ret
 {behind}"""
DISTANCES = "6: .long 3f-6b, 4f-6b"
LOAD = "lea 6{}(%rip), %rdx\n movslq (%rdx,%rax,4), %rax\n add %rdx, %rax\n jmp *%rax"
COPIED = "lea 6{}(%rip), %r8\n mov %r8, %rdx\n movslq (%rdx,%rax,4), %rax\n add %rdx, %rax\n jmp *%rax"
SWITCHES = {
    "in front of the loop": SWITCH.format(
        before=f"jmp 1f\n{DISTANCES}", load=LOAD.format("b"), between="", behind=""
    ),
    # The table's last bytes and the code behind it are one instruction to a decoder that runs through it.
    "one byte more": SWITCH.format(
        before=f"jmp 1f\n{DISTANCES}\n.byte 0x48, 0xb8", load=LOAD.format("b"), between="", behind=""
    ),
    "in front of its first case": SWITCH.format(
        before="", load=LOAD.format("f"), between=f"\n{DISTANCES}", behind=""
    ),
    "behind the return": SWITCH.format(
        before="", load=LOAD.format("f"), between="", behind=DISTANCES.replace("3f", "3b").replace("4f", "4b")
    ),
    "through another register": SWITCH.format(
        before=f"jmp 1f\n{DISTANCES}", load=COPIED.format("b"), between="", behind=""
    ),
    "of addresses": SWITCH.format(
        before="jmp 1f\n6: .quad 3f, 4f",
        load="lea 6b(%rip), %rdx\n jmp *(%rdx,%rax,8)",
        between="",
        behind="",
    ),
}


@pytest.mark.parametrize("text", SWITCHES.values(), ids=SWITCHES)
def test_a_table_among_the_instructions_does_not_put_decoding_out_of_step(text: str, tmp_path: Path) -> None:
    in_text, in_object = loops(function(text), tmp_path)
    assert len(in_text) == 1
    assert [essence(each) for each in in_object] == [essence(each) for each in in_text]
    assert [places_of(each) for each in in_object] == [places_of(each) for each in in_text]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_is_only_read_is_no_code(text: str, tmp_path: Path) -> None:
    in_text, in_object = loops(function(text), tmp_path)
    assert len(in_text) == 1
    assert [essence(each) for each in in_object] == [essence(each) for each in in_text]
    assert [places_of(each) for each in in_object] == [places_of(each) for each in in_text]


def test_code_whose_address_is_taken_stays_code(tmp_path: Path) -> None:
    text = function(f"lea behind(%rip), %rax\npush %rax\nret\nbehind:\n{LOOP}\nret")
    in_text, in_object = loops(text, tmp_path)
    assert len(in_text) == len(in_object) == 1


def test_code_that_reads_its_own_instructions_stays_code(tmp_path: Path) -> None:
    in_text, in_object = loops(function(f"mov 1f+1(%rip), %eax\n{LOOP}\nret"), tmp_path)
    assert len(in_text) == len(in_object) == 1


def test_a_function_whose_address_is_taken_is_no_table_of_distances(tmp_path: Path) -> None:
    """The first bytes of f say 60 as a number, and the address 60 behind it is within the loop."""
    text = function("cmp $0, %al\nadd %al, (%rax)\nret")
    text += ".globl g\n.type g, @function\ng: .skip 52, 0x90\n1: add $1, %ebx\n2: jz 3f\nnop\n"
    text += "3: dec %ecx\njnz 1b\nret\n.size g, .-g\n"
    text += ".globl h\n.type h, @function\nh: lea f(%rip), %rdi\njmp *%rax\n.size h, .-h\n"
    in_text, in_object = loops(text, tmp_path)
    assert [places_of(each)[0] for each in in_text] == [places_of(each)[0] for each in in_object]
    assert ((60 - 3) % 16, 16) in [places_of(each)[0] for each in in_text]


def test_a_function_without_loops_is_analysed_without_its_tables(tmp_path: Path) -> None:
    text = function(f"movdqu table(%rip), %xmm0\npaddd %xmm0, %xmm1\nret\ntable: {LOOKS_LIKE_A_LOOP}")
    (tmp_path / "p.s").write_text(text)
    subprocess.run(["as", "-o", "p.o", "p.s"], cwd=tmp_path, check=True)
    file = ObjectFile((tmp_path / "p.o").read_bytes())
    found = regions_of(file, [file.find("f")], Regions.LOOPS, whole=True)
    assert [[line.text.split()[0] for line in region.lines] for region in found.regions] == [
        ["movdqu", "paddd", "ret"]
    ]


@pytest.mark.parametrize("padding", ["0x66, 0x90", "0x66, 0x66, 0x90", "0x66, 0x66, 0x66, 0x90, 0x90"])
def test_a_block_behind_padding_belongs_to_its_loop(padding: str, tmp_path: Path) -> None:
    # NASM's smartalign fills with as many prefixes before a NOP.
    text = function(
        f"1: dec %ecx\njz 2f\ntest %eax, %eax\njz 3f\ninc %edx\njmp 1b\n.byte {padding}\n"
        "3: inc %esi\njmp 1b\n2: ret"
    )
    in_text, in_object = loops(text, tmp_path)
    assert [essence(each) for each in in_object] == [essence(each) for each in in_text]
    assert len(in_object[0]) == len(in_text[0]) > 1
