"""Whole files through GNU as and NASM: lines, loops, mistakes, and allowed files; and MASM."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.files import whole_file
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Assembler
from testkit.whole_files import lines, needs_gnu_as, problems

GAS = """\
.macro step r, n=1
    add $\\n, \\r
    .if \\n > 1
    nop
    .endif
.endm
.section .rodata
table: .long 1, 2
.text
kernel:
    xor %ecx, %ecx
# cyclelens-begin x
    .p2align 4
1:  step %rax
    step %rbx, 2
.rept 2
    inc %rdx; dec %rdx
    inc %rsi
.endr
    mov table(%rip), %edi
    mov other(%rip), %edi
    vaddps %zmm0, %zmm1, %zmm2
    .pushsection .data
    .quad 1b
    .popsection
    jnz 1b
# cyclelens-end
    ret
"""


@needs_gnu_as
def test_everything_by_gnu_as(gnu_code: Callable[[str], bytes]) -> None:
    result = assemble(GAS, SourceOptions(assembler=Assembler.GAS))
    assert result.problems == ()
    (region,) = result.regions
    assert {line.backend for line in region.lines} == {"gnu as"}
    assert region.ends_in_jump_to_start
    assert [line for line, _ in lines(result)] == [14, 15, 15, *[17, 17, 18] * 2, 20, 21, 22, 26]
    assert [line.text for line in region.lines][:4] == ["add $1,%rax", "add $2,%rbx", "nop", "inc %rdx"]
    # Only the addresses that a linker fills in are others, and no two symbols have the same.
    code = gnu_code(GAS)
    start = code.index(bytes.fromhex("4883c001"))
    differing = [at for at, byte in enumerate(region.code) if byte != code[start + at]]
    addresses = [at for at in range(len(region.code)) if code[start + at : start + at + 1] == b"\0"]
    assert set(differing) <= set(addresses)
    assert region.lines[9].code != region.lines[10].code


@needs_gnu_as
def test_gnu_as_and_the_front_end_agree_but_for_addresses() -> None:
    own, whole = (
        assemble(GAS, SourceOptions(assembler=assembler)).regions[0]
        for assembler in (Assembler.AUTO, Assembler.GAS)
    )
    addresses = {20, 21}
    assert [(line.line, line.code) for line in own.lines if line.line + 1 not in addresses] == [
        (line.line, line.code) for line in whole.lines if line.line + 1 not in addresses
    ]


@needs_gnu_as
def test_data_that_are_too_long_for_the_listing_are_whole() -> None:
    text = f'# cyclelens-begin\nret\n.ascii "{"a" * 9000}"\n.zero 9000\nnop\n# cyclelens-end\n'
    result = assemble(text, SourceOptions(assembler=Assembler.GAS))
    assert [(line, len(code) // 2) for line, code in lines(result)] == [(2, 1), (3, 9000), (4, 9000), (5, 1)]


@needs_gnu_as
def test_a_mistake_in_a_macro_is_put_down_to_its_use() -> None:
    text = ".macro bad r\n inc \\r\n.endm\n# cyclelens-begin a\nbad %rax\nbad $5\n# cyclelens-end\n"
    text += "# cyclelens-begin b\nbad %rbx\n# cyclelens-end\n"
    result = assemble(text, SourceOptions(assembler=Assembler.GAS))
    assert problems(result) == [(6, "assembler-error", "error")]
    assert [region.incomplete for region in result.regions] == [True, False]
    assert lines(result) == [(5, "48ffc0"), (9, "48ffc3")]


@pytest.mark.skipif(os.name != "posix", reason="the stand-ins are shell scripts")
def test_an_assembler_that_hangs_or_dies_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "as"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setattr(whole_file, "gnu_as", lambda: str(program))
    monkeypatch.setattr(whole_file, "TIMEOUT", 0.1)
    for number, script in enumerate(
        ("exec sleep 60", "kill -9 $$", "exit 1", "echo x:1: Error: y >&2; exit 1")
    ):
        program.write_text(f"#!/bin/sh\n{script}\n")
        result = assemble(
            f"# cyclelens-begin a{number}\nret\n# cyclelens-end\n", SourceOptions(assembler=Assembler.GAS)
        )
        assert problems(result) == [(1, "assembler-unavailable", "warning")]
        assert lines(result) == [(2, "c3")]


MASM = """\
option casemap:none
_TEXT SEGMENT
PUBLIC scale
scale PROC
    xor ecx, ecx            ; counter
; cyclelens-begin
next: add rax, QWORD PTR [rdx + rcx*8]
    inc rcx
    cmp rcx, 0FFh
    jne next
; cyclelens-end
    ret
scale ENDP
_TEXT ENDS
END
"""


def test_masm_is_read_as_far_as_it_is_plain() -> None:
    result = assemble(MASM)
    assert lines(result) == [(7, "480304ca"), (8, "48ffc1"), (9, "4881f9ff000000"), (10, "75f0")]
    # Nothing clears RAX.
    sums = (7, "register-not-written", "information")
    assert problems(result) == [(1, "not-supported", "information"), sums]
    inside = assemble(MASM.replace("    inc rcx", "helper PROC\n    inc rcx\nhelper ENDP"))
    assert problems(inside) == [(1, "not-supported", "information"), sums]
