"""Output of disassemblers in columns is read: the same code, at the lines of the text, whoever prints it."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.source import dump_columns
from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.model.source import Severity

ROWS = (
    ("31c0", "xor eax, eax"),
    ("0f1f440000", "nop dword ptr [rax+rax]"),
    ("f20f1004c7", "movsd xmm0, qword ptr [rdi+rax*8]"),
    ("f20f5984c600010000", "mulsd xmm0, qword ptr [rsi+rax*8+0x100]"),
    ("480301", "add rax, qword ptr [rcx]"),
    ("f20f58c8", "addsd xmm1, xmm0"),
    ("483901", "cmp qword ptr [rcx], rax"),
    ("75e6", "jne"),
    ("c3", "ret"),
)
FIRST, LAST = 2, 7
"""Rows of the loop."""
START = 0x401110


def _pairs(code: str, sign: str = " ") -> str:
    return sign.join(code[at : at + 2] for at in range(0, len(code), 2))


def _dump(row: str, target: str = "{:#x}", more: str = "", shown: int = 64) -> tuple[str, list[int]]:
    """The rows in a format, and their lines. Code of more than ``shown`` digits goes on in lines ``more``."""
    lines: list[str] = []
    places = []
    address = START
    loop = START + sum(len(code) // 2 for code, _ in ROWS[:FIRST])
    for code, text in ROWS:
        text = f"jne {target.format(loop)}" if text == "jne" else text
        places.append(len(lines))
        pieces = [code[at : at + shown] for at in range(0, len(code), shown)]
        values = {"at": address, "number": len(lines) + 1, "text": text, "upper": text.upper()}
        rows = [row, *[more] * (len(pieces) - 1)]
        lines += [
            each.format(
                code=piece,
                pairs=_pairs(piece),
                capitals=_pairs(piece.upper()),
                colons=_pairs(piece, ":"),
                **values,
            )
            for each, piece in zip(rows, pieces, strict=True)
        ]
        address += len(code) // 2
    return "\n".join(lines) + "\n", places


def _cstool() -> tuple[str, list[int]]:
    """Addresses from 0, and a tab behind the mnemonic."""
    rows = []
    at = 0
    for code, text in ROWS:
        mnemonic, _, operands = (f"{text} 7" if text == "jne" else text).partition(" ")
        rows.append(f"{at:2x}  {_pairs(code):<24}  {mnemonic}" + (f"\t{operands}" if operands else ""))
        at += len(code) // 2
    return "\n".join(rows) + "\n", list(range(len(ROWS)))


FORMATS = {
    "radare2": _dump("│      ┌──> 0x{at:08x}      {code:<14} {text}"),
    "radare2 without lines": _dump("            0x{at:08x}      {code:<18} {text}"),
    "IDA": _dump(".text:{at:016X}                 {text}", "short loc_{:X}"),
    "IDA with opcodes": _dump(".text:{at:016X} {capitals:<28} {text}", "short loc_{:X}"),
    "Ghidra": _dump("        {at:08x} {pairs:<15} {upper}", "LAB_{:08x}", " " * 17 + "{pairs}", 10),
    "Binary Ninja": _dump("{at:08x}  {code:<18} {text}"),
    "WinDbg": _dump("   12 00007ff6`{at:08x} {code:<18} {text}", "prog!dot+0x7 (00007ff6`{:08x})  Branch"),
    "x64dbg": _dump("{at:016X} | {colons:<28} | {text:<40} |", "prog.{:X}"),
    "Visual Studio": _dump("{at:016X}  {text}  ", "dot+7h (0{:X}h)"),
    "dumpbin": _dump("  {at:016X}: {capitals:<18} {text}", "{:016X}", " " * 20 + "{capitals}", 12),
    "VTune": _dump("{at:#x}\t{text}"),
    "XED": _dump("XDIS {at:x}: BINARY    BASE       {code:<24} {text}"),
    "NDISASM": _dump("{at:08X}  {code:<16}  {text}", "{:#x}", "         -{code}", 16),
    "otool": _dump("{at:016x}\t{text}"),
    "listing of GNU as": _dump(
        "{number:4d} {at:04x} {code:<8} \t\t{text}", ".L3", "{number:4d}      {code}", 8
    ),
    "listing of NASM": _dump(
        "{number:6d} {at:08X} {code:<18}     {text}", ".loop", "{number:6d} {at:08X} {code}", 18
    ),
    "no addresses": _dump("\t{pairs:<21}\t{text}", "<dot+0x7>", "\t{pairs}", 14),
    "Compiler Explorer": _dump(" {pairs:<21}\t{text}", "{:x} <dot+0x7>"),
    "V8": _dump("0x{at:012x}    {number:x}  {code:<20} {text}", "{:#x}  <+0x11>"),
    "radare2 in ASCII": _dump("|      `=< 0x{at:08x}      {code:<14} {text}"),
    "radare2 with the head of an arrow": _dump("|      .-> 0x{at:08x}      {code:<14} {text}"),
    "radare2 without code": _dump("|   :   0x{at:08x}      {text}"),
    "cstool": _cstool(),
    "SBCL": _dump("{at:X}:       {code:<16} {upper}", "#x{:X}"),
    "go tool objdump": _dump("  dot.go:3\t\t{at:#x}\t\t{code:<16}\t{upper}", "{:#x}"),
    "perf annotate --stdio2 --asm-raw": _dump(" 21.35        {pairs:<22}  {text}", "{:x} <dot+0x7>"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_loop_in_columns_has_the_code_that_the_columns_show(name: str) -> None:
    text, places = FORMATS[name]
    assembled = assemble(text)
    (region,) = assembled.regions
    assert [problem for problem in assembled.problems if problem.severity is not Severity.INFORMATION] == []
    assert [line.code.hex() for line in region.lines] == [code for code, _ in ROWS[FIRST : LAST + 1]]
    assert [line.line for line in region.lines] == places[FIRST : LAST + 1]


def test_names_of_functions_are_taken_from_the_lines_before_them() -> None:
    text, _ = FORMATS["Compiler Explorer"]
    assembled = assemble(f"dot(double const*, long):\n{text}sum:\n{text}")
    assert [region.name for region in assembled.regions] == ["dot(double const*, long).loop-1", "sum.loop-1"]


@pytest.mark.parametrize(
    "text",
    [
        "values:\n db 12 dup(0)\n db 34\tdup(1)\n db 56  dup(2)\n",
        "1: .long 0x1234\n   dec %rcx\n   jnz 1b\n",
        "    add  0x10(%rax), %ecx\n    dec  %edx\n    fadd %st(1)\n",
        "1000  dead  beef\n2000  90  nop\n3000  90  nop\n",
        "dead: add %rax, %rbx\nbeef: add %rbx, %rcx\n jnz dead\n",
        "bits 64\nc0 equ 100\nc2 equ 16\nnop\n",
        "bits 64\naa equ 100\nec equ 16\nc3 equ 1\nnop\n",
    ],
)
def test_what_only_resembles_columns_is_no_dump(text: str) -> None:
    assert dump_columns.read(SourceText(text)) is None


MASM = """Microsoft (R) Macro Assembler (x64) Version 14.29.30133.0   11/28/26 10:00:00
dot.asm\t\t\t\t\t     Page 1 - 1

 00000000\t\t\t.data
 00000000 00000001\t\tcounter dd 1
 00000000\t\t\t.code
 00000000\t\t\tdot PROC
 00000000  48/ 8D 05\t\t    lea rax, counter
\t   00000000 R
 00000007  48/ 81 C1\t\t    add rcx, 256
\t   00000100
 0000000E\t\t\tagain:
 0000000E  C5 FC/ 10 01\t\t    vmovups ymm0, ymmword ptr [rcx]
 00000012  48/ 81 C1 00000120\t    add rcx, 288
 00000019  49/ FF C8\t\t    dec r8
 0000001C  75 F0\t\t    jnz again
 0000001E  E8 00000000 E\t    call done
 00000023  C3\t\t\t    ret
 00000024\t\t\tdot ENDP
"""
"""As ml64 /Fl prints it: a mark after prefixes, and numbers of several bytes as numbers."""


def test_a_listing_of_masm_is_read() -> None:
    (region,) = assemble(MASM).regions
    assert region.name == "dot.loop-1"
    assert region.code.hex() == "c5fc10014881c12001000049ffc875f0"


def test_a_dump_whose_rows_are_mostly_not_understood_is_none() -> None:
    """A listing of which two rows of six would be read, and the others lost in silence."""
    rows = [f"{at:08X}  48~ 03 01  add rax, [rcx]\n" for at in range(0, 12, 3)]
    text = "".join(rows) + "0000000C  75 F4  jnz again\n0000000E  C3  ret\n"
    assert dump_columns.read(SourceText(text)) is None


def test_julias_notes_about_inlined_functions_are_comments() -> None:
    notes = "; │┌ @ int.jl:87 within `+`\n", "; └\n"
    text = f".LBB0_1:\n{notes[0]} addq (%rdi), %rax\n{notes[1]} decq %rsi\n jne .LBB0_1\n"
    result = assemble(text)
    assert not result.problems
    assert result.regions[0].code.hex() == "48030748ffce75f8"


NAMED = {
    "gef": " {arrow}   0x{at:06x} <sum+{offset}>          {text}",
    "pwndbg": " {arrow} 0x{at:06x} <sum+{offset}>  {taken}{text}",
    "gdb's window": "{mark}0x{at:x} <sum+{offset}>         {text}   ",
}


@pytest.mark.parametrize("name", NAMED)
def test_rows_that_name_their_places_are_read(name: str) -> None:
    target = "sum+2                       <sum+2>" if name == "pwndbg" else "0x401132 <sum+2>"
    shown = [
        (0, "xor eax, eax"),
        (2, "add rax, qword ptr [rdi]"),
        (5, "add rdi, 8"),
        (9, "dec rsi"),
        (12, f"jne {target}"),
    ]
    text = "".join(
        NAMED[name].format(
            at=0x401130 + offset,
            offset=offset,
            text=row,
            arrow="►" if offset == 2 else " ",
            taken="✔ " if row.startswith("jne") else "  ",
            mark=" B+>" if offset == 2 else "    ",
        )
        + "\n"
        for offset, row in shown
    )
    assembled = assemble(text)
    assert assembled.problems == ()
    (region,) = assembled.regions
    assert (region.name, region.code.hex()) == ("sum.loop-1", "4803074883c70848ffce75f4")


def test_an_instruction_without_an_encoding_stays_in_its_region() -> None:
    """At the end of a function, too, where padding would not count."""
    text = "0x401132\tadd rax,[rdi]\n0x401135\tadd rdi,8\n0x401139\tdec rsi\n0x40113c\tfrob rsi\n"
    assembled = assemble(text)
    assert [region.incomplete for region in assembled.regions] == [True]
    assert [problem.line for problem in assembled.problems] == [3]
