"""The basic blocks of a program, where they begin and end."""

import shutil
import subprocess

import pytest
from cyclelens.analyzer.frontend.objects.basic_blocks import basic_blocks
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.isa.decoder import decode

pytestmark = pytest.mark.skipif(shutil.which("as") is None, reason="GNU as is not installed")

SOURCE = """\
.globl sum
.type sum, @function
sum:
    .cfi_startproc
    xor %eax, %eax
    test %rsi, %rsi
    jz .Ldone
.Lagain:
    add (%rdi), %eax
    add $4, %rdi
    dec %rsi
    jnz .Lagain
.Ldone:
    ret
    .cfi_endproc
.size sum, .-sum
    .p2align 5
.type pick, @function
pick:
    .cfi_startproc
    push %rbx
    mov %edi, %ebx
    call sum
    add %ebx, %eax
    lea .Ltable(%rip), %rdx
    movslq (%rdx,%rbx,4), %rcx
    add %rdx, %rcx
    jmp *%rcx
.Lone:
    inc %eax
.Ltwo:
    add %eax, %eax
    pop %rbx
    jmp sum
    .cfi_endproc
.size pick, .-pick
.section .rodata
.Ltable: .long .Lone - .Ltable, .Ltwo - .Ltable
"""
BLOCKS = [
    ["xor eax, eax", "test rsi, rsi"],
    ["add eax, dword ptr [rdi]", "add rdi, 4", "dec rsi"],
    ["push rbx", "mov ebx, edi"],
    ["add eax, ebx", "lea", "movsxd rcx, dword ptr [rdx+rbx*4]", "add rcx, rdx"],
    ["inc eax"],
    ["add eax, eax", "pop rbx"],
]
"""Between an entry and the next control transfer, which BHive's blocks do not hold; a block of a return
alone is empty, and padding belongs to none."""


@pytest.fixture(scope="module", params=["symbols", "unwind information"])
def file(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("blocks")
    (folder / "k.s").write_text(SOURCE)
    library = folder / "k.so"
    subprocess.run(["as", "-o", folder / "k.o", folder / "k.s"], check=True)
    subprocess.run(["ld", "-shared", "-Bsymbolic", "-o", library, folder / "k.o"], check=True)
    if request.param != "symbols":
        # Only the exported name is left: .eh_frame says where the other function is.
        subprocess.run(["strip", library], check=True)
    return ObjectFile(library.read_bytes())


def texts(code):
    """The instructions; those that contain a distance by their mnemonic."""
    return [each.mnemonic if each.mnemonic == "lea" else each.text for each in decode(code)]


def test_a_block_is_straight_code_that_is_entered_at_its_beginning(file):
    assert [texts(block.code) for block in basic_blocks(file)] == BLOCKS


def test_a_block_is_at_its_address(file):
    for block in basic_blocks(file):
        assert file.read(block.address, len(block.code)) == block.code
