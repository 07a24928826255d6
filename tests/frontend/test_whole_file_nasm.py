"""Files that need NASM itself: its macros, its sections, its mistakes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from corpora import by_loop, essence, object_loops, places_of
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.assemblers import external
from cyclelens.analyzer.frontend.files import nasm_macros
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Assembler, Regions
from cyclelens.analyzer.model.source import Origin
from testkit.whole_files import LAYOUT, lines, needs_nasm, problems

NASM = """\
%include "macros.inc"
SECTION_RODATA 32
table: dd 1.0, 2.0, 3.0, 4.0
SECTION .text
INIT_YMM
cglobal scale
    xor ecx, ecx
; cyclelens-begin scale
align 32
.loop:
    LOADMUL 2
%rep 2
    add rdi, 16
    add rsi, 16
%endrep
%if WIDE
    mova [rdi - 32], m0
%else
    movlps [rdi - 32], xmm0
%endif
    dec rdx
    jg .loop
; cyclelens-end
    ret
"""


MACROS = """\
%define WIDE 1
%macro SECTION_RODATA 0-1 16
    SECTION .rodata align=%1
%endmacro
%macro INIT_YMM 0
    %xdefine m0 ymm0
    %xdefine m1 ymm1
    %define mova vmovaps
%endmacro
%macro cglobal 1
    global %1
    align 16
    %1:
%endmacro
%macro LOADMUL 1
%assign i 0
%rep %1
    vmulps m %+ i, m %+ i, [rel table]
%assign i i+1
%endrep
%endmacro
"""


@needs_nasm
@pytest.mark.parametrize("regions", [Regions.MARKERS, Regions.LOOPS])
def test_macros_of_nasm_stand_at_the_line_of_their_use(tmp_path: Path, regions: Regions) -> None:
    (tmp_path / "macros.inc").write_text(MACROS)
    (tmp_path / "k.asm").write_text(NASM)
    result = assemble(
        NASM, SourceOptions(origin=Origin(str(tmp_path / "k.asm"), (str(tmp_path),)), regions=regions)
    )
    assert (result.problems, result.dialect) == ((), "intel")
    (region,) = result.regions
    assert region.name == ("scale" if regions == "markers" else ".loop")
    assert region.ends_in_jump_to_start
    assert {line.backend for line in region.lines} == {"nasm"}
    # What depends on no address is as NASM makes it.
    expected = [(13, "4883c710"), (14, "4883c610")] * 2
    expected += [(17, "c5fc2947e0"), (21, "48ffca"), (22, "7fd6")]
    assert lines(result)[2:] == expected
    assert [(line, code[:8]) for line, code in lines(result)[:2]] == [(11, "c5fc5905"), (11, "c5f4590d")]
    object_file = tmp_path / "k.o"
    subprocess.run(["nasm", "-f", "elf64", "-o", object_file, "k.asm"], cwd=tmp_path, check=True)
    assert bytes.fromhex("".join(code for _, code in expected)) in object_file.read_bytes()


@needs_nasm
def test_missing_files_are_taken_as_empty_and_pointed_out_where_they_are_needed(tmp_path: Path) -> None:
    text = """%include "config.asm"
%include "x86inc.asm"
%ifdef NEVER
%include "never.asm"
%endif
SECTION .text
; cyclelens-begin
%if ARCH_X86_64
    private_prefix %+ _nop
%endif
; cyclelens-end
"""
    (tmp_path / "x86inc.asm").write_text("%define x264_nop nop\n")
    result = assemble(
        text,
        SourceOptions(
            origin=Origin(str(tmp_path / "k.asm"), (str(tmp_path),), defines=("private_prefix=x264",))
        ),
    )
    assert problems(result) == [(1, "include-not-read", "warning")]
    assert lines(result) == [(9, "90")]


BELOW = """%include "ext/x86inc.asm"
SECTION .text
cglobal foo
.loop:
    vaddps m0, m0, m1
    dec rcx
    jnz .loop
"""


@needs_nasm
def test_an_include_is_found_from_a_folder_between_the_text_and_the_workspace(tmp_path: Path) -> None:
    """dav1d's build passes -I src for src/x86/cdef_avx2.asm, which includes ext/x86/x86inc.asm."""
    text = tmp_path / "src" / "x86" / "k.asm"
    for folder in (text.parent, tmp_path / "src" / "ext"):
        folder.mkdir(parents=True)
    macros = "%define m0 ymm0\n%define m1 ymm1\n%macro cglobal 1\n%1:\n%endmacro\n"
    (tmp_path / "src" / "ext" / "x86inc.asm").write_text(macros)
    result = assemble(BELOW, SourceOptions(origin=Origin(str(text), (str(tmp_path),))))
    assert problems(result) == []
    assert not result.regions[0].incomplete
    # The workspace may be the root of the file system.
    assert assemble(BELOW, SourceOptions(origin=Origin("/k.asm", ("/",)))).problems
    # Folders above the workspace are not searched.
    result = assemble(BELOW, SourceOptions(origin=Origin(str(text), (str(text.parent),))))
    assert problems(result) == [(1, "include-not-read", "warning")]


@needs_nasm
def test_what_a_missing_file_defines_is_told_once(tmp_path: Path) -> None:
    result = assemble(BELOW, SourceOptions(origin=Origin(str(tmp_path / "k.asm"), (str(tmp_path),))))
    (problem,) = result.problems
    assert problem.code == "include-not-read"
    assert problem.message.endswith("2 lines are not understood, the first is line 3.")


@needs_nasm
def test_a_mistake_costs_the_figure_of_its_region_only() -> None:
    text = "%define X rax\n; cyclelens-begin a\ninc X\nfrob X, 1, 2\n; cyclelens-end\n"
    text += "; cyclelens-begin b\ndec X\n; cyclelens-end\n  mov [nowhere], 1, 2\n"
    result = assemble(text)
    assert problems(result) == [(4, "assembler-error", "error"), (9, "assembler-error", "warning")]
    assert [(region.name, region.incomplete) for region in result.regions] == [("a", True), ("b", False)]
    assert lines(result)[-1] == (7, "48ffc8")


WAYS_TO_WRITE = {
    "a macro within a macro": "%macro one 1\nadd %1, 4\n%endmacro\n%macro two 0\none rax\none rbx\n"
    "%endmacro\nBEGIN\nnop\ntwo\none rcx\nEND",
    "a macro that is defined by a macro": "%macro make 1\n%macro %1 0\ninc rdx\n%endmacro\n%endmacro\n"
    "make bump\nBEGIN\nbump\nnop\nEND",
    "repetitions": "BEGIN\n%assign i 0\n%rep 2\nadd rax, i\n%assign i i+1\n%endrep\n"
    "%rep 2\nnop\n%endrep\nret\nEND",
    "conditions": "%define ON 1\nBEGIN\n%if ON\nnop\n%else\nclc\n%endif\n%ifdef OFF\nclc\n%endif\nret\nEND",
    "lines that go on": "BEGIN\nadd rax, \\\n5\nvaddps ymm0, \\\nymm1, \\\nymm2\nret\nEND",
    "an included file": 'BEGIN\nnop\n%include "some.inc"\nsome\nret\nEND',
    "local labels": "%macro m 0\n%%l: dec rax\njnz %%l\n%endmacro\nBEGIN\nm\nnop\nm\nEND",
    "names for registers": "%define a0 rdi\nBEGIN\nadd a0, 4 ; next\nmov [a0 + 8], a0\nEND",
    "alignment by single NOPs": "%macro x 0\n%endmacro\nBEGIN\nnop\nalign 16\nret\nalign 8, int3\nclc\nEND",
    "alignment by long NOPs": "%use smartalign\nALIGNMODE p6\nBEGIN\nnop\nalign 16\nret\nalign 32\nclc\nEND",
    "alignment by NOPs that change": "%use smartalign\nBEGIN\nnop\nalign 16\nret\nALIGNMODE p6\n"
    "align 16\nEND",
    "a condition on an address": "BEGIN\ntop: nop\nnop\n%if $ - top > 1\nret\n%else\nclc\n%endif\nEND",
    "a number made of addresses": "%macro x 0\n%endmacro\nBEGIN\na: nop\nb: ret\n%assign n b - a\n"
    "add eax, n\nEND",
    "numbers of lines": "BEGIN\nadd eax, __LINE__\n%line 100+1 other.asm\nadd eax, 9\nEND",
    "data between code": "BEGIN\njmp over\ndd 1, 2\ntimes 3 db 7\nover: ret\nEND",
}
"""Of BEGIN and END markers become."""


@needs_nasm
@pytest.mark.parametrize("text", WAYS_TO_WRITE.values(), ids=WAYS_TO_WRITE.keys())
def test_macros_are_followed_first_and_nothing_else_comes_of_it(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "some.inc").write_text("%macro some 0\nadd rax, 1\nadd rbx, 2\n%endmacro\n sub rax, 3\n")
    text = "%define NASM\n" + text.replace("BEGIN", "; cyclelens-begin").replace("END", "; cyclelens-end")
    origin = Origin(str(tmp_path / "k.asm"), (str(tmp_path),))
    first = assemble(text, SourceOptions(origin=origin))
    monkeypatch.setattr(nasm_macros, "mark", lambda *_, **__: None)
    at_once = assemble(text, SourceOptions(origin=origin))
    assert lines(first) == lines(at_once)
    assert first.problems == at_once.problems
    (tmp_path / "k.asm").write_text(text)
    subprocess.run(["nasm", "-f", "elf64", "-o", "k.o", "k.asm"], cwd=tmp_path, check=True)
    whole = ObjectFile((tmp_path / "k.o").read_bytes()).section(".text")[0]
    assert b"".join(region.code for region in first.regions) == whole


SECTIONS = """\
%macro put_into 1+
%ifidni %1, tables
    section .rodata
%elifidni %1, marks
    section .note.GNU-stack noalloc noexec nowrite progbits
%else
    section %1
%endif
%endmacro
put_into tables
table: dq table, 0x0101010101010101
put_into .text
again:
    vpaddq xmm0, xmm0, [rel table]
    call somewhere
    dec rsi
    jnz again
    ret
put_into .text.cold exec
%assign size $ - $$
other:
    add rax, size
    dec rcx
    jnz other
    ret
put_into marks
extern somewhere
"""
"""The last line of the preprocessor asks for an address, so that NASM lists macros and all their lines."""


@needs_nasm
def test_a_section_that_a_macro_chooses_is_the_one_of_the_object(tmp_path: Path) -> None:
    result = assemble(SECTIONS, SourceOptions(regions=Regions.LOOPS))
    assert [(region.name, region.first_line + 1) for region in result.regions] == [
        ("again", 13),
        ("other", 21),
    ]
    (tmp_path / "k.asm").write_text(SECTIONS)
    subprocess.run(["nasm", "-f", "elf64", "-o", "k.o", "k.asm"], cwd=tmp_path, check=True)
    loops = by_loop(object_loops((tmp_path / "k.o").read_bytes(), is_all_code=True))
    assert [essence(loop) for loop in by_loop(result.regions)] == [essence(loop) for loop in loops]
    assert [places_of(loop) for loop in by_loop(result.regions)] == [places_of(loop) for loop in loops]


@needs_nasm
def test_a_jump_over_padding_is_padding_in_the_object_too(tmp_path: Path) -> None:
    text = "%use smartalign\nALIGNMODE p6, 16\nsection .text align=64\nglobal f:function\nf: xor eax, eax\n"
    text += "start: dec rdi\njz out\ntest rsi, rdi\njnz extra\ninc rax\njmp start\nalign 64\n"
    text += "extra: add rax, 2\njmp start\nout: ret\n"
    (tmp_path / "k.asm").write_text(text)
    subprocess.run(["nasm", "-f", "elf64", "-o", "k.o", "k.asm"], cwd=tmp_path, check=True)
    loops = by_loop(object_loops((tmp_path / "k.o").read_bytes(), is_all_code=True))
    assert len(loops) == 1
    assert loops[0][-1].lines[0].text.startswith("add")
    assert [
        essence(loop) for loop in by_loop(assemble(text, SourceOptions(regions=Regions.LOOPS)).regions)
    ] == [essence(loops[0])]


@needs_nasm
@pytest.mark.parametrize("inner", ["", "inner: dec rsi\njnz inner\n"], ids=["one loop", "a loop within"])
def test_where_nasm_fills_a_gap_with_a_jump_the_padding_is_not_executed(inner: str, tmp_path: Path) -> None:
    text = "%use smartalign\nsection .text align=64\nglobal f:function\nf: xor eax, eax\n"
    text += f"start: inc rax\nalign 32\n{inner}add rax, 2\ndec rdi\njnz start\nret\n"
    (tmp_path / "k.asm").write_text(text)
    subprocess.run(["nasm", "-f", "elf64", "-o", "k.o", "k.asm"], cwd=tmp_path, check=True)
    in_object = by_loop(object_loops((tmp_path / "k.o").read_bytes()))
    in_text = by_loop(assemble(text, SourceOptions(regions=Regions.LOOPS)).regions)
    assert any(line.text.startswith("jmp") for loop in in_object for region in loop for line in region.lines)
    assert [essence(loop) for loop in in_text] == [essence(loop) for loop in in_object]
    assert [places_of(loop) for loop in in_text] == [places_of(loop) for loop in in_object]


@needs_nasm
def test_labels_of_macros_and_of_alignments_are_not_the_same() -> None:
    # NASM numbers both, in another order once macros are followed by themselves.
    text = "%use smartalign\n; cyclelens-begin\n%rep 9\n%push x\njmp %$end\nnop\n%$end: ret\n%pop\n"
    text += "align 32\n%endrep\n; cyclelens-end"
    result = assemble(text, SourceOptions(assembler=Assembler.NASM))
    assert {problem.code for problem in result.problems} <= LAYOUT
    assert [code for _, code in lines(result)].count("c3") == 9


@needs_nasm
def test_repetitions_within_repetitions_stand_at_their_own_lines() -> None:
    text = "; cyclelens-begin\n%rep 2\ninc rax\n%rep 2\nnop\n%endrep\n%endrep\n; cyclelens-end"
    assert [line for line, _ in lines(assemble(text, SourceOptions(assembler=Assembler.NASM)))] == [
        3,
        5,
        5,
        3,
        5,
        5,
    ]


@needs_nasm
@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("%macro m 1\ninc %1\n%endmacro\n; cyclelens-begin\nm rax\nm 5\n; cyclelens-end", [6]),
        ("%define x\n; cyclelens-begin\nnop\nfrob rax\nm 5, 6, 7\ninc qux\n; cyclelens-end", [4, 5, 6]),
        ("; cyclelens-begin\nnop\n%frob 3\nret\n%assign x 1 +\nnop\n; cyclelens-end", [3, 5]),
        ("; cyclelens-begin\nnop\n%error on purpose\nret\n; cyclelens-end", [3]),
    ],
)
def test_mistakes_stand_at_their_lines(text: str, wrong: list[int]) -> None:
    result = assemble(text, SourceOptions(assembler=Assembler.NASM))
    assert [line for line, code, _ in problems(result) if code == "assembler-error"] == wrong
    assert lines(result)
    assert not {line for line, _ in lines(result)} & set(wrong)


@needs_nasm
def test_macros_that_make_too_much_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nasm_macros, "MAXIMUM_RESULT", 2048)
    text = "%rep {}\nnop\n%endrep\n; cyclelens-begin\nret\n; cyclelens-end\n"
    assert problems(assemble(text.format(2), SourceOptions(assembler=Assembler.NASM))) == []
    much = assemble(text.format(1000), SourceOptions(assembler=Assembler.NASM))
    assert problems(much) in ([(line, "assembler-unavailable", "warning")] for line in (1, 2, 3))
    assert "macros expand this line" in much.problems[0].message


def test_without_nasm_the_plain_part_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "%define X 1\nsection .text\n; cyclelens-begin\nadd rax, [rdi] ; sum\n; cyclelens-end\n"
    monkeypatch.setattr(external, "run", lambda *_, **__: pytest.fail("a program was run"))
    forbidden = assemble(text, SourceOptions(allow_external_programs=False))
    monkeypatch.setattr(external, "find_program", lambda _: None)
    for result in (forbidden, assemble(text)):
        assert problems(result) == [(1, "assembler-unavailable", "warning")]
        assert lines(result) == [(4, "480307")]


CONFIGURED = """\
%include "config.asm"
%include "x86inc.asm"
SECTION .text
; cyclelens-begin
%if ARCH_X86_64
    add rax, WIDTH
%else
    add eax, 1
%endif
%if CONFIG_FAST = 0
    cmc
%endif
    mov ecx, SIZE
; cyclelens-end
"""


@needs_nasm
@pytest.mark.parametrize("addresses", [False, True])
@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ("", ["4883c010", "f5"]),
        ("ARCH_X86_64 equ 1\n", ["4883c010", "f5"]),
        ("ARCH_X86_64: equ 1 ; as the build says\nCONFIG_FAST equ 1\n", ["4883c010"]),
        ("ARCH_X86_64 equ 0\n", ["83c001", "f5"]),
        ("%define ARCH_X86_64 0\n", ["83c001", "f5"]),
        ("%define CONFIG_FAST 1\n", ["4883c010"]),
    ],
)
def test_the_configuration_of_a_project_wins(
    configuration: str, expected: list[str], addresses: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = "" if "CONFIG_FAST" in configuration else "CONFIG_FAST equ 0\n"
    (tmp_path / "config.asm").write_text(f"{configuration}{fast}SIZE equ 7\n")
    (tmp_path / "x86inc.asm").write_text("%if ARCH_X86_64\n%define WIDTH 16\n%endif\n")
    text = CONFIGURED
    if addresses:
        text += "%if $ - $$ < 0\n%error\n%endif\n"
    else:
        runs = []
        plain = external.run

        def run(job: external.ProgramRun) -> external.ProgramResult:
            runs.append(job.command)
            return plain(job)

        monkeypatch.setattr(external, "run", run)
    result = assemble(text, SourceOptions(origin=Origin(str(tmp_path / "k.asm"), (str(tmp_path),))))
    assert result.problems == ()
    assert [code for _, code in lines(result)] == [*expected, "b907000000"]
    if not addresses:
        # Macros first, then what they made: not both at once, which takes long.
        assert ["-E" in command for command in runs] == [True, False]


@needs_nasm
def test_a_file_is_read_before_the_text_if_the_user_says_so(tmp_path: Path) -> None:
    folder, configuration = tmp_path / "workspace", tmp_path / "config.asm"
    folder.mkdir()
    configuration.write_text("%define SIZE 7\nEMPTY equ 0\n")
    text = "; cyclelens-begin\n%if EMPTY = 0\n mov ecx, SIZE\n%endif\n; cyclelens-end\n"
    origin = Origin(str(folder / "k.asm"), (str(folder),), pre_includes=(str(configuration),))
    result = assemble(text, SourceOptions(origin=origin))
    assert (result.problems, lines(result)) == ((), [(3, "b907000000")])
    configuration.unlink()
    missing = assemble(text, SourceOptions(origin=origin))
    assert {problem.code for problem in missing.problems} == {"include-not-read", "assembler-unavailable"}
    assert "config.asm', to be included before the text, does not exist" in missing.problems[0].message


OWN_WORDS = """\
%macro STEP 2
    lea %1, [%1 + %2]
%endmacro
; cyclelens-begin a
.x: STEP rax, 8
    mova m0, [rdi]
    paddw m0, m0, [rsi+gprsize*2]
    jmp .x
; cyclelens-end
; cyclelens-begin b
    add rax, rbx
; cyclelens-end
"""


def test_a_file_of_nasm_that_nasm_may_not_see_has_one_message() -> None:
    result = assemble(OWN_WORDS, SourceOptions(allow_external_programs=False))
    assert problems(result) == [(1, "assembler-unavailable", "warning")]
    assert "not trusted" in result.problems[0].message
    assert [(region.name, region.incomplete) for region in result.regions] == [("a", True), ("b", False)]
    assert lines(result)[-1] == (11, "4801d8")


@needs_nasm
def test_the_message_of_nasm_is_the_only_one_if_it_gives_up() -> None:
    text = OWN_WORDS.replace("mova", "%if 1\n    mova")
    result = assemble(text)
    assert problems(result) == [(14, "assembler-unavailable", "warning")]
    assert "NASM gave up: " in result.problems[0].message
    assert "endif" in result.problems[0].message
    assert [(region.name, region.incomplete) for region in result.regions] == [("a", True), ("b", False)]
