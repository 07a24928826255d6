"""ELF files on the command line: functions, loops, source lines, and every kind of damage."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cyclelens.analyzer.cli import main as cli
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError
from cyclelens.analyzer.frontend.objects.machine_code import regions_of
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions, Target
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.reports.registry import FORMATS

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/schema/report-2.schema.json").read_text())
EXAMPLES = sorted((ROOT / "examples").glob("*.s"))

SOURCE = """\
.globl dot, table
.type dot, @function
dot:
    .cfi_startproc
    xor %eax, %eax
.Ldot:
    movss (%rdi,%rax,4), %xmm1
    mulss (%rsi,%rax,4), %xmm1
    addss %xmm1, %xmm0
    inc %rax
    cmp %rax, %rdx
    jne .Ldot
    ret
    .cfi_endproc
.size dot, .-dot
.section .text.other, "ax"
.globl branchy
branchy:
    .cfi_startproc
.Lagain:
    cmpl $0, (%rdi)
    je .Lskip
    add mask(%rip), %eax
    add ext(%rip), %eax
.Lskip:
    add $4, %rdi
    dec %rsi
    jnz .Lagain
    jmp dot
    .cfi_endproc
.globl straight
straight:
    lea 1(%rdi,%rdi,2), %eax
    ret
    nop
"""

pytestmark = pytest.mark.skipif(shutil.which("as") is None, reason="GNU as is not installed")


def run(*command: str | Path) -> None:
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source as an object, without line information, as a library, and stripped."""
    folder = tmp_path_factory.mktemp("objects")
    (folder / "k.s").write_text(SOURCE)
    run("as", "-g", "-o", folder / "k.o", folder / "k.s")
    run("as", "-o", folder / "plain.o", folder / "k.s")
    elsewhere = ("--defsym=mask=dot", "--defsym=ext=branchy")
    run("ld", "-shared", "-Bsymbolic", *elsewhere, "-o", folder / "k.so", folder / "k.o")
    run("strip", "-o", folder / "exports.so", folder / "k.so")
    run("ld", "-e", "dot", *elsewhere, "-o", folder / "program", folder / "k.o")
    run("strip", folder / "program")
    run("strip", "-o", folder / "stripped.o", folder / "plain.o")
    return folder


def report(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, Any]:
    """The JSON report, which fits its schema."""
    assert cli.main(["analyze", *map(str, arguments), "--format", "json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, SCHEMA)
    return document


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The single line for bad input."""
    assert cli.main(["analyze", *map(str, arguments)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


def test_a_loop_has_its_figure_address_and_source_line(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (region,) = report(capsys, built / "k.o", "--function", "dot")["regions"]
    (prediction,) = region["predictions"]
    assert region["name"] == "dot.loop-1"
    assert (region["first_line"], region["last_line"]) == (7, 12)
    assert prediction["mode"] == "loop"
    assert prediction["positions"] == [{"cycles_per_iteration": 4.0, "offsets": list(range(64))}]
    assert prediction["cycles_per_iteration"] == 4.0
    assert [(row["address"], row["line"]) for row in prediction["rows"]] == [
        (0x2, 7),
        (0x7, 8),
        (0xC, 9),
        (0x10, 10),
        (0x13, 11),
        (0x16, 12),
    ]
    assert prediction["rows"][0]["file"].endswith("k.s")
    assert prediction["rows"][-1]["source_text"] == "jnz 0x2"


def test_sections_of_an_object_keep_their_lines_apart(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = report(capsys, built / "k.o", "--function", "branchy")
    (region,) = document["regions"]
    assert region["name"] == "branchy.loop-1"
    rows = region["predictions"][0]["rows"]
    assert [row["line"] for row in rows] == [21, 22, 23, 24, 26, 27, 28]
    # Two symbols of other files are two places in memory.
    assert len({row["text"] for row in rows[2:4]}) == 2
    (branching,) = document["branchings"]
    assert [block["first_line"] for block in branching["blocks"]] == [21, 23, 26]
    assert [(jump["line"], jump["source_text"]) for jump in branching["branches"]] == [(22, "jz 0x11")]


def test_a_library_keeps_its_addresses(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (region,) = report(capsys, built / "k.so", "--function", "dot")["regions"]
    rows = region["predictions"][0]["rows"]
    listing = subprocess.run(["objdump", "-d", built / "k.so"], capture_output=True, text=True).stdout
    (line,) = (line for line in listing.splitlines() if "movss" in line)
    assert rows[0]["address"] == int(line.split(":")[0], 16)
    assert rows[0]["line"] == 7


def test_without_line_information_addresses_stand_alone(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (region,) = report(capsys, built / "plain.o", "--function", "dot")["regions"]
    assert region["first_line"] is None
    assert region["predictions"][0]["rows"][0]["line"] is None
    assert cli.main(["analyze", str(built / "plain.o"), "--function", "dot"]) == 0
    assert "plain.o: dot.loop-1, 0x2 ==" in capsys.readouterr().out


def test_a_function_without_a_loop_comes_as_its_blocks(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (region,) = report(capsys, built / "k.o", "--function", "straight")["regions"]
    assert region["name"] == "straight"
    assert [row["text"] for row in region["predictions"][0]["rows"] if row["kind"] == "instruction"][
        -1
    ] == "ret"


def test_without_a_name_all_functions_with_loops_are_analysed(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {region["name"].split(".")[0] for region in report(capsys, built / "k.o")["regions"]}
    assert names == {"dot", "branchy"}


def test_functions_are_listed(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["analyze", str(built / "k.o"), "--list-functions"]) == 0
    listed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert listed == [["0x0", "25", "dot"], ["0x0", "31", "branchy"], ["0x1f", "6", "straight"]]


@pytest.mark.parametrize("report_format", FORMATS)
@pytest.mark.parametrize("name", ["k.o", "plain.o"])
def test_every_format_works(
    built: Path, capsys: pytest.CaptureFixture[str], name: str, report_format: str
) -> None:
    assert cli.main(["analyze", str(built / name), "--format", report_format]) == 0
    shown = capsys.readouterr().out
    assert "dot.loop-1" in shown
    assert "line 0" not in shown and '"startLine": 0' not in shown


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_gets_the_figures_of_its_text(path: Path, tmp_path: Path) -> None:
    run("as", "-o", tmp_path / "x.o", path)
    analyzer = Analyzer()
    loops = analyzer.analyze(
        path.read_text(), AnalysisOptions(source=SourceOptions(regions=Regions.LOOPS))
    ).regions
    in_object = analyzer.analyze_object((tmp_path / "x.o").read_bytes(), AnalysisOptions()).regions
    for text, code in zip(loops, in_object, strict=True):
        if not any("rip" in line.text for line in text.region.lines):
            assert text.region.code == code.region.code
        assert text.region.placement == code.region.placement
        assert text.predictions[0].positions == code.predictions[0].positions


def test_the_markers_of_iaca_win_over_loops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start, end = (f"movl ${number}, %ebx\n.byte 0x64, 0x67, 0x90\n" for number in (111, 222))
    text = f".globl f\nf:\n1: dec %rdx\njnz 1b\n{start} 2: imul %rax, %rax\n jmp 2b\n {end} ret\n"
    (tmp_path / "m.s").write_text(text)
    run("as", "-o", tmp_path / "m.o", tmp_path / "m.s")
    (region,) = report(capsys, tmp_path / "m.o")["regions"]
    assert region["name"] == "f.iaca-1"
    assert [row["text"].split()[0] for row in region["predictions"][0]["rows"]] == ["imul", "jmp"]
    both = report(capsys, tmp_path / "m.o", "--regions", "both")["regions"]
    assert [region["name"] for region in both] == ["f.iaca-1", "f.loop-1"]


def test_check_whatif_and_sweep_take_objects_too(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = [str(built / "plain.o"), "--function", "dot"]
    assert cli.main(["check", *common, "--max-cycles", "dot.loop-1=4"]) == 0
    assert cli.main(["check", *common, "--max-cycles", "dot.loop-1=3"]) == 3
    assert cli.main(["whatif", *common, "--remove", "0xc"]) == 0
    assert "0xc: addss" in capsys.readouterr().out
    assert cli.main(["whatif", *common, "--remove", "0xd"]) == 1
    assert "no instruction of the region at 0xd" in capsys.readouterr().err
    assert cli.main(["sweep", *common, "--load-latency", "4..8"]) == 0
    assert cli.main(["rewrite", common[0]]) == 1
    assert "is machine code: this command changes texts" in capsys.readouterr().err
    assert cli.main(["compare", common[0], "--git"]) == 1
    assert "--git compares versions of texts" in capsys.readouterr().err


# What is wrong with a file is said in one line.


def test_a_missing_function_is_answered_with_a_suggestion(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "did you mean dot?" in complaint(capsys, built / "k.o", "--function", "dto")
    assert "did you mean branchy?" in complaint(capsys, built / "k.o", "--function", "ranch")
    assert "--list-functions" in complaint(capsys, built / "k.o", "--function", "something_else")


def test_a_stripped_file_says_so_and_takes_an_address(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "only functions that it exports" in complaint(
        capsys, built / "exports.so", "--function", "private"
    )
    assert "stripped" in complaint(capsys, built / "stripped.o", "--function", "dot")
    (region,) = report(capsys, built / "stripped.o", "--function", "0x7")["regions"]
    assert region["name"] == "0x0.loop-1"
    assert "no function is known at 0x999" in complaint(capsys, built / "k.so", "--function", "0x999")


def test_tables_for_unwinding_tell_of_functions_without_names(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["analyze", str(built / "program"), "--list-functions"]) == 0
    address, size, name = capsys.readouterr().out.splitlines()[0].split()
    assert (size, name) == ("25", address)
    (region,) = report(capsys, built / "program", "--function", address)["regions"]
    assert region["predictions"][0]["cycles_per_iteration"] == 4.0
    assert len(report(capsys, built / "program")["regions"]) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data[:40], "ends within its header"),
        (lambda data: data[: len(data) - 100], "is the copy complete"),
        (lambda data: data[:18] + b"\xb7\0" + data[20:], "AArch64"),
        (lambda data: data[:4] + b"\1" + data[5:18] + b"\3\0" + data[20:], "32-bit x86"),
        (lambda data: data[:0x28] + bytes(8) + data[0x30:], "no section headers"),
        (lambda data: b"!<arch>\n" + data, "ar x"),
        (lambda data: b"\xcf\xfa\xed\xfe" + data, "Mach-O"),
        (lambda data: b"MZ" + data, "Windows"),
    ],
)
def test_files_that_are_not_whole_x86_objects_get_a_message(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Any, said: str
) -> None:
    (tmp_path / "bad.o").write_bytes(change((built / "k.o").read_bytes()))
    assert said in complaint(capsys, tmp_path / "bad.o", "--function", "dot")


def test_a_name_with_two_places_needs_an_address(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        text = ".type f, @function\nf: 1: dec %rax\njnz 1b\nret\n.size f, .-f\n"
        (tmp_path / f"{name}.s").write_text(text)
        run("as", "-o", tmp_path / f"{name}.o", tmp_path / f"{name}.s")
    run("ld", "-r", "-o", tmp_path / "both.o", tmp_path / "a.o", tmp_path / "b.o")
    assert "2 functions 'f'; choose by address" in complaint(capsys, tmp_path / "both.o", "--function", "f")


def test_a_file_with_very_many_functions_wants_one_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    functions = "".join(f".globl f{number}\nf{number}: ret\n" for number in range(101))
    (tmp_path / "many.s").write_text(functions)
    run("as", "-o", tmp_path / "many.o", tmp_path / "many.s")
    assert "101 functions: choose one" in complaint(capsys, tmp_path / "many.o")


def test_damaged_files_never_break_anything(built: Path) -> None:
    random_source = random.Random(5)
    analyzer = Analyzer()
    for name in ("k.o", "k.so", "stripped.o"):
        whole = (built / name).read_bytes()
        headers = int.from_bytes(whole[0x28:0x30], "little")
        for _ in range(60):
            data = bytearray(whole)
            for _ in range(random_source.choice([1, 3, 10])):
                # Half of the edits hit the section headers, where they do most harm.
                at = random_source.randrange(random_source.choice([0x10, headers]), len(data))
                value = random_source.choice([0, 1, 0xFF, 2**32, 2**63, 2**64 - 1])
                data[at : at + 8] = value.to_bytes(8, "little")[: len(data) - at]
            try:
                analyzer.analyze_object(bytes(data), AnalysisOptions())
            except ObjectFileError as error:
                assert str(error)


SCAN = next(path for path in EXAMPLES if path.stem == "byte_scan")


def figures(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[tuple[int, list[object]]]:
    """Position and figures of every region."""
    regions = report(capsys, path, *options)["regions"]
    return [(each["predictions"][0]["alignment"], each["predictions"][0]["positions"]) for each in regions]


def test_an_object_may_lie_where_the_alignment_of_its_section_lets_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Skylake: the erratum hits the last pair of the one loop where it does not hit the other. The branch out
    of the loop runs beside the one back (D6)."""
    run("as", "-o", tmp_path / "x.o", SCAN)

    def both(first: float, offsets: list[int], other: float, others: list[int]) -> list[object]:
        return [
            {"cycles_per_iteration": first, "offsets": offsets},
            {"cycles_per_iteration": other, "offsets": others},
        ]

    avx2, sse2 = (16, both(2.5, [16, 48], 3.0, [0, 32])), (0, both(1.5, [0, 32], 3.0, [16, 48]))
    assert figures(tmp_path / "x.o", capsys) == [avx2, sse2]
    assert figures(tmp_path / "x.o", capsys, "--alignment", "32")[0] == (32, both(3.0, [32], 2.5, [])[:1])
    run("ld", "-e", "find", "-Ttext=0x401010", "-o", tmp_path / "x", tmp_path / "x.o")
    assert [offset for offset, _ in figures(tmp_path / "x", capsys)] == [0x20, 0x00]
    assert cli.main(["analyze", str(tmp_path / "x.o"), "--function", "find"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "2.50 cycles/iter (or 3.00 at two of four positions in memory) on SKL" in shown
    assert "2.50 at 16, 48; 3.00 at 0, 32 bytes into a 64-byte line" in shown
    assert "JCC erratum at 2 of 4 positions (0, 32 bytes into a line)" in shown
    # One price, that of the positions that it hits.
    assert "costs up to 0.50 cycles per iteration" in shown and "costs 0.00" not in shown


def test_a_file_that_gnu_as_assembles_has_the_positions_of_its_object(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("as", "-o", tmp_path / "x.o", SCAN)
    assert figures(SCAN, capsys, "--assembler", "gas") == figures(tmp_path / "x.o", capsys)


def test_the_text_behind_an_address_in_an_instruction_is_kept(tmp_path: Path) -> None:
    """An immediate, and a register that is encoded as one."""
    text = (
        "f: vpblendvb %ymm10, a(%rip), %ymm11, %ymm10\n addl $1000, b(%rip)\n imul $3, a(%rip), %rax\n ret\n"
    )
    (tmp_path / "x.s").write_text(
        f".globl f\n.type f, @function\n{text}.size f, .-f\n.comm a,32\n.comm b,8\n"
    )
    run("as", "-o", tmp_path / "x.o", tmp_path / "x.s")
    file = ObjectFile((tmp_path / "x.o").read_bytes())
    (region,) = regions_of(file, file.functions, whole=True).regions
    registers = [operand.register for operand in decode(region.lines[0].code)[0].operands]
    assert registers == ["YMM10", "YMM11", None, "YMM10"]
    assert region.lines[1].code[-4:] == (1000).to_bytes(4, "little")
    assert region.lines[2].code[-1] == 3


def test_two_instructions_that_name_one_variable_meet_in_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their distances to it differ: the second one waits for what the first one stored all the same."""
    (tmp_path / "x.s").write_text(
        "f: incq a(%rip)\n movl $5, b(%rip)\n incq a(%rip)\n dec %rcx\n jne f\n ret\n.comm a,8\n.lcomm b,8\n"
    )
    run("as", "-o", tmp_path / "x.o", tmp_path / "x.s")
    (in_text,) = figures(tmp_path / "x.s", capsys, "--regions", "loops", "--alignment", "0")
    (in_object,) = figures(tmp_path / "x.o", capsys, "--alignment", "0")
    assert in_text == in_object
    assert in_object[1] == [{"cycles_per_iteration": 12.0, "offsets": [0]}]


def test_machine_code_by_itself_has_the_figures_of_its_object(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As bytes, in hexadecimal of several spellings, and as the text that it is made of."""
    code = bytes.fromhex("4801d8 480fafc1 48ffcf 75f4 c3".replace(" ", ""))
    (tmp_path / "code.bin").write_bytes(code)
    (tmp_path / "spaced.hex").write_text(
        "48 01 d8  # add\n480fafc1\n0x48, 0xff, 0xcf\n\\x75\\xf4 ; jnz\nc3\n"
    )
    found = {}
    for name, option in (("code.bin", "--raw"), ("spaced.hex", "--hex")):
        assert cli.main(["analyze", str(tmp_path / name), option, "--format", "json"]) == 0
        (region,) = json.loads(capsys.readouterr().out)["regions"]
        assert region["name"] == "code.loop-1"
        (prediction,) = region["predictions"]
        found[name] = prediction["cycles_per_iteration"]
    text = ".intel_syntax noprefix\nf: add rax, rbx\nimul rax, rcx\ndec rdi\njnz f\nret\n"
    (region,) = Analyzer().analyze(text, AnalysisOptions(target=Target(alignment=0))).regions
    assert set(found.values()) == {region.predictions[0].cycles_per_iteration} == {4.0}


def test_machine_code_without_a_loop_is_one_region(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "code.hex").write_text("4801d8 4801d8")
    assert cli.main(["analyze", str(tmp_path / "code.hex"), "--hex"]) == 0
    assert "2.00 cycles/iter on SKL (Skylake), unrolled" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("4801d8 xy", "line 1: 'xy' is not a row of hexadecimal bytes"),
        ("48\n1d8", "line 2: '1d8' is not a row"),
        ("", "the text has no code"),
        ("90 06", "no valid instruction at byte 0x1"),
    ],
)
def test_what_is_no_machine_code_is_refused(
    content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "code.hex").write_text(content)
    assert cli.main(["analyze", str(tmp_path / "code.hex"), "--hex"]) == 1
    assert message in capsys.readouterr().err
