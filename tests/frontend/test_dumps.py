"""Disassembler output: its figures are those of the object, at the lines of the text."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.source import dumps
from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions, Target
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.model.source import Severity

SOURCE = """\
float dot(const float *a, const float *b, long n) {
    float s = 0;
    for (long i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}
long sum(const long *a, long n) {
    long s = 0;
    for (long i = 0; i < n; i++) s += a[i];
    return s;
}
double far(double *a, const double *b) {
    for (int i = 0; i < 1000; i++) a[i] = a[i] / b[i] + 3.5;
    return a[3];
}
extern int other(long);
int calls(long n) {
    int s = 0;
    while (n-- > 0) s += other(n);
    return s;
}
int main(void) { return 0; }
"""
OBJDUMP = {
    "att": (),
    "intel": ("-M", "intel"),
    "att without bytes": ("--no-show-raw-insn",),
    "intel without bytes": ("--no-show-raw-insn", "-M", "intel"),
    "relocations": ("-r",),
    "relocations without bytes": ("-r", "--no-show-raw-insn"),
    "source": ("-S",),
    "lines": ("-l",),
    "wide": ("-w",),
    "jumps": ("--visualize-jumps",),
    "functions at every address": ("--prefix-addresses",),
    "suffixes": ("-M", "att,suffix"),
    "no addresses": ("--no-addresses",),
    "no addresses, intel": ("--no-addresses", "-M", "intel"),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An object and a program."""
    if shutil.which("gcc") is None or shutil.which("objdump") is None:
        pytest.skip("GCC or objdump is not installed")
    folder = tmp_path_factory.mktemp("dumps")
    (folder / "k.c").write_text(SOURCE)
    subprocess.run(["gcc", "-O2", "-g", "-c", "k.c", "-o", "k.o"], cwd=folder, check=True)
    (folder / "o.c").write_text("int other(long n) { return (int)n; }\n")
    subprocess.run(["gcc", "-O2", "k.o", "o.c", "-o", "k"], cwd=folder, check=True)
    return folder


def _figures(analysis: Analysis) -> Mapping[str, tuple[object, ...]]:
    found = {}
    for region in analysis.regions:
        (prediction,) = region.predictions
        codes = [instruction.mnemonic for instruction in region.region.instructions]
        found[region.region.name] = (prediction.cycles_per_iteration, prediction.positions, codes)
    return found


def _errors(analysis: Analysis) -> list[str]:
    return [problem.message for problem in analysis.problems if problem.severity is not Severity.INFORMATION]


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout


@pytest.mark.parametrize("arguments", OBJDUMP.values(), ids=OBJDUMP)
def test_a_dump_of_an_object_has_the_figures_of_the_object(built: Path, arguments: tuple[str, ...]) -> None:
    options = AnalysisOptions(target=Target(microarchitectures=("SKL",)))
    expected = _figures(Analyzer().analyze_object((built / "k.o").read_bytes(), options))
    assert len(expected) == 4
    analysis = Analyzer().analyze(_run(built, "objdump", "-d", *arguments, "k.o"), options)
    assert _figures(analysis) == expected
    assert _errors(analysis) == []


@pytest.mark.parametrize("arguments", [(), ("--no-show-raw-insn",), ("-M", "intel")])
def test_a_dump_of_a_program_has_the_figures_of_the_program(built: Path, arguments: tuple[str, ...]) -> None:
    options = AnalysisOptions(target=Target(microarchitectures=("SKL",)))
    analysis = Analyzer().analyze(_run(built, "objdump", "-d", *arguments, "k"), options)
    found = _figures(analysis)
    for name in ("dot", "sum", "far", "calls"):
        expected = _figures(Analyzer().analyze_object((built / "k").read_bytes(), options, name))
        assert {key: value for key, value in found.items() if key.startswith(f"{name}.")} == expected


GDB = {
    "disassemble": ("disassemble dot",),
    "bytes": ("disassemble /r dot",),
    "bytes and source": ("disassemble /rs dot",),
    "source": ("disassemble /s dot",),
    "source in its order": ("disassemble /m dot",),
    "intel": ("set disassembly-flavor intel", "disassemble dot"),
    "x/i": ("x/13i dot",),
    "x/i, intel": ("set disassembly-flavor intel", "x/13i dot"),
    "both": ("x/3i dot", "disassemble dot"),
}


@pytest.mark.parametrize("commands", GDB.values(), ids=GDB)
def test_what_gdb_prints_is_read(built: Path, commands: tuple[str, ...]) -> None:
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")
    options = AnalysisOptions(target=Target(microarchitectures=("SKL",)))
    expected = _figures(Analyzer().analyze_object((built / "k").read_bytes(), options, "dot"))
    arguments = [part for command in commands for part in ("-ex", command)]
    analysis = Analyzer().analyze(_run(built, "gdb", "-nx", "-batch", *arguments, "k"), options)
    assert _figures(analysis) == expected
    assert _errors(analysis) == []


PERF = """\
 Percent |\tSource code & Disassembly of k for cpu-clock (737 samples, percent: local period)
-------------------------------------------------------------------------------------------------
         :
         : 3    Disassembly of section .text:
         :
         : 5    00000000000011d0 <dot>:
         : 6    dot():
         : 5    float dot(const float*a,const float*b,long n){float s=0;for(long i=0;i<n;i++)s+=a[i]*b[i];}
    0.00 :   11d0:   test   %rdx,%rdx
    0.00 :   11d3:   jle    1200 <dot+0x30>
    0.00 :   11d5:   xor    %eax,%eax
    0.00 :   11d7:   pxor   %xmm1,%xmm1
    0.00 :   11db:   nopl   0x0(%rax,%rax,1)
    5.29 :   11e0:   movss  (%rdi,%rax,4),%xmm0
    2.85 :   11e5:   mulss  (%rsi,%rax,4),%xmm0
   19.00 :   11ea:   add    $0x1,%rax
    3.12 :   11ee:   addss  %xmm0,%xmm1
   69.74 :   11f2:   cmp    %rax,%rdx
    0.00 :   11f5:   jne    11e0 <dot+0x10>
    0.00 :   11f7:   movaps %xmm1,%xmm0
    0.00 :   11fa:   ret
"""
LOOP = bytes.fromhex("f30f100487 f30f590486 4883c001 f30f58c8 4839c2 75e9")
RAW = {
    "movss  (": "f3 0f 10 04 87          movss  (",
    "mulss": "f3 0f 59 04 86          mulss",
    "add    $": "48 83 c0 01             add    $",
    "addss": "f3 0f 58 c8             addss",
    "cmp": "48 39 c2                cmp",
    "jne": "75 e9                   jne",
}


def _with_bytes() -> str:
    text = PERF
    for before, after in RAW.items():
        text = text.replace(before, after)
    return text


@pytest.mark.parametrize(
    "text",
    [
        PERF,
        _with_bytes(),
        re.sub(r"^( +\d+\.\d\d)", r"\1     0.00", PERF, flags=re.MULTILINE),
        re.sub(r"^( +)(\d+)\.\d\d", r"\1   \2", PERF, flags=re.MULTILINE),
        re.sub(r"(%\w+)", "\x1b[34m\\1\x1b[0m", PERF),
    ],
    ids=["percent", "bytes", "two events", "numbers of samples", "colours"],
)
def test_what_perf_annotate_prints_is_read(text: str) -> None:
    (region,) = assemble(text).regions
    assert (region.name, region.code, region.first_line, region.last_line) == ("dot.loop-1", LOOP, 13, 18)
    assert region.placement.offsets == (0x11E0 % 64,)
    assert [line.text for line in region.lines][-1] == "jne    11e0"
    assert text.splitlines()[13][region.lines[0].column :].startswith("movss")


FACS = """\
; Listing generated by Microsoft (R) Optimizing Compiler Version 19.38.33134.0

PUBLIC\tdot
_TEXT\tSEGMENT
dot\tPROC

; 3    : {

  00000\t0f 57 c0\t xorps\t xmm0, xmm0
  00003\t4d 85 c0\t test\t r8, r8
  00006\t7e 2b\t\t jle\t SHORT $LN3@dot
  00008\t66 0f 1f 84 00
\t00 00 00 00\t npad\t 9
$LL4@dot:

; 5    :   s += x[i] * y[i];

  00011\tf3 0f 10 09\t movss\t xmm1, DWORD PTR [rcx]
  00015\t48 8d 49 04\t lea\t rcx, QWORD PTR [rcx+4]
  00019\tf3 0f 59 0a\t mulss\t xmm1, DWORD PTR [rdx]
  0001d\t48 8d 52 04\t lea\t rdx, QWORD PTR [rdx+4]
  00021\tf3 0f 58 c1\t addss\t xmm0, xmm1
  00025\t49 83 e8 01\t sub\t r8, 1
  00029\t75 e6\t\t jne\t SHORT $LL4@dot
$LN3@dot:
  0002b\tc3\t\t ret\t 0
dot\tENDP
_TEXT\tENDS
END
"""


def test_listings_of_msvc_with_machine_code_are_read() -> None:
    (region,) = assemble(FACS).regions
    code = "f30f1009 488d4904 f30f590a 488d5204 f30f58c1 4983e801 75e6"
    assert (region.name, region.code) == ("dot.loop-1", bytes.fromhex(code))
    assert (region.first_line, region.last_line) == (17, 23)
    assert region.placement.offset == 1
    assert region.lines[0].text == "movss\t xmm1, DWORD PTR [rcx]"


def test_a_piece_of_a_dump_is_read() -> None:
    lines = PERF.splitlines()[13:19]
    for text in ("\n".join(lines), "\n".join(line.split(":", 1)[1] for line in lines)):
        (region,) = assemble(text).regions
        assert (region.name, region.code) == ("code.loop-1", LOOP)


def test_markers_within_a_dump_are_obeyed() -> None:
    lines = PERF.splitlines()
    lines.insert(13, "# cyclelens-begin kernel arch=HSW per=1")
    lines.insert(20, "# cyclelens-end")
    (region,) = assemble("\n".join(lines)).regions
    assert (region.name, region.code, region.first_line, region.last_line) == ("kernel", LOOP, 13, 20)
    assert dict(region.options) == {"arch": "HSW", "per": "1"}
    assert region.ends_in_jump_to_start
    assert assemble(PERF, SourceOptions(regions=Regions.MARKERS)).regions == ()


def test_functions_of_a_dump() -> None:
    text = "0000000000000000 <f>:\n   0:\t48 01 d8\tadd    %rbx,%rax\n   3:\tc3\tret\n"
    (region,) = assemble(text).regions
    assert (region.name, region.is_function, region.code.hex()) == ("f", True, "4801d8c3")
    assert assemble(text, SourceOptions(function="f")).functions == (("f", 0, 2),)
    (problem,) = assemble(text, SourceOptions(function="g")).problems
    assert problem.message == "there is no function 'g'; known are f"


def test_a_problem_of_a_loop_is_at_the_loop_whatever_other_functions_are_called() -> None:
    """``foo`` begins as ``foobar`` does, whose loop has an inner loop."""
    text = "\n".join(
        [
            "0000000000000000 <foo>:",
            "   0:\tc3                   \tret",
            "0000000000000001 <foobar>:",
            "   1:\t48 89 f1             \tmov    %rsi,%rcx",
            "   4:\t48 ff c9             \tdec    %rcx",
            "   7:\t75 fb                \tjne    4 <foobar+0x3>",
            "   9:\t48 ff ce             \tdec    %rsi",
            "   c:\t75 f3                \tjne    1 <foobar>",
            "   e:\tc3                   \tret",
        ]
    )
    (problem,) = assemble(text, SourceOptions()).problems
    assert (problem.line, problem.code) == (3, "inner-branch")


def test_an_instruction_without_bytes_and_of_another_length_is_named() -> None:
    text = PERF.replace("11ee:", "11f0:")
    assembled = assemble(text)
    found = [each for each in assembled.problems if each.code == "unsupported-instruction"]
    assert [each.line for each in found] == [15, 16]
    assert "6 bytes" in found[0].message
    assert [region.incomplete for region in assembled.regions] == [True]


def test_a_dump_with_lines_left_out_has_no_figure() -> None:
    lines = _with_bytes().splitlines()
    assert "mulss" in lines.pop(14)
    assembled = assemble("\n".join(lines))
    (problem,) = assembled.problems
    assert (problem.line, problem.message) == (13, "The dump does not show all bytes after this line.")
    assert [region.incomplete for region in assembled.regions] == [True]


def test_addresses_far_apart_make_no_large_code() -> None:
    assembled = assemble(_with_bytes().replace("11fa:", "7ffffffffffff0:"))
    assert [region.code for region in assembled.regions] == [LOOP]


def test_damaged_dumps_never_fail() -> None:
    chance = random.Random(7)
    for text in (PERF, _with_bytes(), FACS) * 20:
        lines = text.splitlines()
        for _ in range(chance.randint(1, 5)):
            at = chance.randrange(len(lines))
            line, place = lines[at], chance.randrange(len(lines[at]) + 1)
            lines[at] = chance.choice(
                ["", line[:place] + chance.choice("0f:<\t") + line[place + 1 :], PERF[:90]]
            )
            chance.shuffle(lines) if chance.random() < 0.1 else lines.insert(at, chance.choice(lines))
        assembled = assemble("\n".join(lines))
        assert "internal-error" not in [problem.code for problem in assembled.problems]
        assert all(0 <= line.line < len(lines) for region in assembled.regions for line in region.lines)


NO_DUMPS = [
    "10: add %rax, %rbx\n dec %rcx\n jnz 10b\n20: sub %rax, %rbx\n",
    "1:  mov (%rsi), %rax\n2:  dec %rcx\n jnz 1b\n",
    "abc: .byte 0x10, 0x20\nf: ret\n",
    ".byte 48, 01, 10\n",
    "cafe: add $1, %rax\nbeef: jne cafe\n",
    "a:\tadd %al, %bl\nb:\tjne a\n",
]


@pytest.mark.parametrize("text", NO_DUMPS)
def test_texts_of_assembly_are_no_dumps(text: str) -> None:
    assert dumps.read(SourceText(text)) is None


def test_no_text_of_the_project_is_taken_for_a_dump() -> None:
    root = Path(__file__).parents[2]
    found = [path for folder in ("examples", "tests") for path in (root / folder).rglob("*")]
    for path in found:
        if path.suffix in (".s", ".S", ".asm", ".inc"):
            assert dumps.read(SourceText(path.read_text("utf-8", "replace"))) is None, path
