"""What Windows and macOS have besides plain objects: CodeView, /bigobj, jump tables in code, programs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cyclelens.analyzer.cli import main as cli
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError
from cyclelens.analyzer.frontend.objects.machine_code import named_regions
from cyclelens.analyzer.model.choices import Regions
from testkit.foreign_objects import MACOS, WINDOWS, big, compiled, fat, linked

TEXT = """\
int _fltused;
#ifdef _WIN32
__declspec(dllexport)
#endif
float dot(const float *a, const float *b, int n) {
    float s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}
static int __attribute__((noinline)) inner(int x, int n) {
    int r = 0;
    for (int i = 0; i < n; i++)
        r = r * 7 ^ x;
    return r;
}
static int __attribute__((noinline)) deep(int a) {
    volatile int b[64];
    for (int i = 0; i < 64; i++)
        b[i] = a;
    return b[a & 63];
}
int outer(int a) { return inner(a, a * 3) + deep(a); }
"""
GNU = "x86_64-w64-windows-gnu"


def regions(data: bytes) -> dict[str, list[tuple[str, int | None]]]:
    """Instructions and lines of the loops of every function."""
    found = named_regions(ObjectFile(data), None, Regions.AUTO)
    return {region.name: [(line.text, line.line) for line in region.lines] for region in found.regions}


def lines(data: bytes) -> dict[str, set[int]]:
    return {
        name: {line for _, line in found if line is not None and line >= 0}
        for name, found in regions(data).items()
    }


def test_lines_of_code_view_are_those_of_dwarf(tmp_path: Path) -> None:
    dwarf = compiled(tmp_path, TEXT, WINDOWS, "-gdwarf-4").read_bytes()
    code_view = compiled(tmp_path, TEXT, WINDOWS, "-g", "-gcodeview", "-gcolumn-info").read_bytes()
    assert b"\0\0.debug_info" not in code_view and b".debug$S" in code_view
    expected = lines(dwarf)
    assert expected["dot.loop-1"] == {6, 7}
    assert lines(code_view) == expected


def test_damaged_code_view_leaves_the_code(tmp_path: Path) -> None:
    content = compiled(tmp_path, TEXT, WINDOWS, "-g", "-gcodeview").read_bytes()
    start = content.index(b"\xf2\0\0\0")
    damaged = bytearray(content)
    damaged[start + 8 + 20 : start + 8 + 24] = b"\0\0\0\0"  # the length of a block of lines
    code = {name: [text for text, _ in found] for name, found in regions(content).items()}
    assert {name: [text for text, _ in found] for name, found in regions(bytes(damaged)).items()} == code
    assert not any(lines(bytes(damaged)).values())


def test_a_big_object_is_the_same_object(tmp_path: Path) -> None:
    content = compiled(tmp_path, TEXT, WINDOWS, "-g", "-gcodeview").read_bytes()
    assert regions(big(content)) == regions(content)
    other = bytearray(big(content))
    other[6:8] = b"\x64\xaa"
    with pytest.raises(ObjectFileError, match="another processor"):
        ObjectFile(bytes(other))


TABLE = """\
    .text
    .globl choose
choose:
    leaq __ImageBase(%rip), %rdx
again:
    movslq %ecx, %rax
    movl table@IMGREL(%rdx,%rax,4), %eax
    addq %rdx, %rax
    jmp *%rax
one:
    incl %r8d
    jmp behind
two:
    addl %r9d, %r8d
behind:
    decl %ecx
    jns again
    movl %r8d, %eax
    retq
    .p2align 2
table:
    .rva one
    .rva two
    .rva one
    .rva two
    .globl next
next:
    incl %ecx
    retq
"""


def test_a_jump_table_in_code_is_no_code(tmp_path: Path) -> None:
    compiled(tmp_path, TEXT, WINDOWS)
    (tmp_path / "table.s").write_text(TABLE)
    subprocess.run(
        ["clang", f"--target={WINDOWS}", "-c", "table.s", "-o", "table.o"], check=True, cwd=tmp_path
    )
    file = ObjectFile((tmp_path / "table.o").read_bytes())
    ((start, end),) = file.data
    assert end - start == 16
    found = regions((tmp_path / "table.o").read_bytes())
    shown = [text for name in found for text, _ in found[name]]
    assert any(text.startswith("inc r8d") for text in shown)
    assert not any("byte ptr [rax], al" in text for text in shown), "bytes of the table"


def test_functions_of_windows_programs_are_exported_unwound_or_named(tmp_path: Path) -> None:
    compiled(tmp_path, TEXT, WINDOWS, "-g", "-gcodeview")
    export = ("/dll", "/noentry", "/out:linked", "made.o", "/export:outer")
    content = linked(tmp_path, ("lld-link", "lld-link-14"), *export).read_bytes()
    functions = {function.name: function for function in ObjectFile(content).functions}
    assert functions.keys() >= {"dot", "outer"}
    (deep,) = (name for name in functions if name.startswith("0x"))
    assert functions[deep].address == int(deep, 16), "it has a frame, and so an entry for unwinding"
    found = {name: [text for text, _ in rows] for name, rows in regions(content).items()}
    expected = regions(compiled(tmp_path, TEXT, WINDOWS).read_bytes())
    assert len(found["dot.loop-1"]) == len(expected["dot.loop-1"])


def test_a_program_of_mingw_has_its_symbols_and_lines(tmp_path: Path) -> None:
    compiled(tmp_path, TEXT, GNU, "-gdwarf-4")
    content = linked(tmp_path, ("x86_64-w64-mingw32-ld",), "-shared", "-e", "0", "-o", "linked", "made.o")
    file = ObjectFile(content.read_bytes())
    assert {"dot", "inner", "outer"} <= {function.name for function in file.functions}
    assert lines(content.read_bytes())["dot.loop-1"] == {6, 7}


def test_programs_of_macos_have_the_code_of_their_objects(tmp_path: Path) -> None:
    thing = compiled(tmp_path, TEXT, MACOS, "-g").read_bytes()
    options = ["-arch", "x86_64", "-platform_version", "macos", "11.0", "11.0", "-dylib"]
    content = linked(tmp_path, ("ld64.lld", "ld64.lld-14"), *options, "-o", "linked", "made.o").read_bytes()
    code = {name: [text.split()[0] for text, _ in rows] for name, rows in regions(thing).items()}
    assert {name: [text.split()[0] for text, _ in rows] for name, rows in regions(content).items()} == code
    assert {"dot", "inner", "outer"} <= {function.name for function in ObjectFile(content).functions}
    assert regions(fat(content)) == regions(content)


def test_what_cannot_be_read_has_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    only_arm = bytearray(fat(b"\xcf\xfa\xed\xfe" + bytes(64)))
    only_arm[28:32] = b"\x01\0\0\x0c"
    for content, said in (
        (bytes.fromhex("0000ffff01006486").ljust(100, b"\0"), "an object of /GL"),
        (b"MZ" + bytes(200), "a program for DOS"),
        (b"BC\xc0\xde" + bytes(200), "an object of -flto, which has no machine code yet"),
        (bytes(only_arm), "no code for x86-64"),
    ):
        file = tmp_path / "file.bin"
        file.write_bytes(content)
        assert cli.main(["analyze", str(file)]) == 1
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and said in error
