"""Functions without a loop: their figures in texts and objects, repeated and once, and lists of them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import cyclelens
import pytest
from cyclelens.analyzer.cli import main as cli
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.hints import region as region_hints
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, SourceOptions, Target
from cyclelens.analyzer.model.choices import Mode, Regions
from cyclelens.analyzer.model.result import Prediction

MUL = """\
    .text
    .globl mul3
    .type mul3, @function
mul3:
    mov  (%rsi), %rdx
    mulx (%rdi), %rax, %rcx
    mulx 8(%rdi), %r8, %r9
    add  %r8, %rcx
    adc  $0, %r9
    ret
    .size mul3, .-mul3
    .p2align 4
    .globl clamp
    .type clamp, @function
clamp:
    cmp %rsi, %rdi
    jle 1f
    mov %rsi, %rdi
1:  mov %rdi, %rax
    ret
    .size clamp, .-clamp
"""
SUM = """\
    .globl sum
sum:
    xor  %eax, %eax
2:  add  (%rdi), %rax
    add  $8, %rdi
    dec  %rsi
    jnz  2b
    ret
"""
INTEL = """\
.intel_syntax noprefix
.globl mul3
mul3:
    mov rdx, [rsi]
    mulx rcx, rax, [rdi]
    mulx r9, r8, [rdi+8]
    add rcx, r8
    adc r9, 0
    ret
"""
NASM = """\
section .text
global mul3
mul3:
    mov rdx, [rsi]
    mulx rcx, rax, [rdi]
    mulx r9, r8, [rdi+8]
    add rcx, r8
    adc r9, 0
    ret
"""
NASM_MACRO = NASM.replace("section", "%define src rsi\nsection").replace("[rsi]", "[src]")
MASM = """\
.code
mul3 PROC
    mov rdx, QWORD PTR [rsi]
    mulx rcx, rax, QWORD PTR [rdi]
    mulx r9, r8, QWORD PTR [rdi+8]
    add rcx, r8
    adc r9, 0
    ret
mul3 ENDP
END
"""
UNDECLARED = "mul3:\n" + MUL.partition("mul3:\n")[2].partition("    .size")[0]
VARIANTS = {"att": MUL, "intel": INTEL, "nasm": NASM, "masm": MASM, "undeclared": UNDECLARED}


def _analysed(text: str, mode: Mode = Mode.AUTO, arch: str = "SKL", **detail: bool) -> list[Prediction]:
    options = AnalysisOptions(target=Target((arch,), mode=mode), detail=Detail(**detail))
    analysis = Analyzer().analyze(text, options)
    return [region.predictions[0] for region in analysis.regions]


@pytest.mark.parametrize("text", VARIANTS.values(), ids=VARIANTS)
def test_a_file_without_loops_shows_its_functions(text: str) -> None:
    region = assemble(text).regions[0]
    assert (region.name, region.is_function) == ("mul3", True)
    assert region.instructions[-1].mnemonic == "ret"
    prediction = _analysed(text)[0]
    assert prediction.mode is Mode.UNROLL
    assert prediction.once is not None
    assert prediction.once == _analysed(MUL)[0].once


def test_functions_of_files_that_nasm_reads() -> None:
    if shutil.which("nasm") is None:
        pytest.skip("NASM is not installed")
    region = assemble(NASM_MACRO).regions[0]
    assert (region.name, region.is_function, region.first_line) == ("mul3", True, 3)
    assert _analysed(NASM_MACRO)[0].once == _analysed(NASM)[0].once


def test_text_and_object_have_the_same_figures(tmp_path: Path) -> None:
    """Repeated and once, of straight-line code and of a function with two ways."""
    if shutil.which("as") is None:
        pytest.skip("GNU as is not installed")
    (tmp_path / "f.s").write_text(MUL)
    subprocess.run(["as", "--64", "-o", "f.o", "f.s"], cwd=tmp_path, check=True)
    for arch in ("SKL", "ADL", "ZEN3"):
        of_object = Analyzer().analyze_object(
            (tmp_path / "f.o").read_bytes(), AnalysisOptions(target=Target(microarchitectures=(arch,)))
        )
        ours = _analysed(MUL, arch=arch)
        theirs = [region.predictions[0] for region in of_object.regions]
        assert [each.region.name for each in of_object.regions] == ["mul3", "clamp"]
        assert [each.cycles_per_iteration for each in ours] == [each.cycles_per_iteration for each in theirs]
        assert [each.once for each in ours] == [each.once for each in theirs]


CHAIN = "f:\n" + " imul %rax, %rax\n" * 20 + " ret\n"


@pytest.mark.parametrize(("arch", "latency"), [("SNB", 3), ("SKL", 3), ("ICL", 3), ("ADL", 3), ("ZEN3", 3)])
def test_a_pass_is_its_critical_path_and_the_length_of_the_pipeline(arch: str, latency: int) -> None:
    """A chain of 20 multiplications takes 60 cycles; a shorter one as many less."""
    long, short = (
        _analysed(text, Mode.ONCE, arch)[0].once
        for text in (CHAIN, CHAIN.replace(" imul %rax, %rax\n", "", 10))
    )
    assert long is not None
    assert short is not None
    assert (long.path_cycles, short.path_cycles) == (20 * latency, 10 * latency)
    assert long.cycles - short.cycles == 10 * latency
    assert long.path_cycles < long.cycles < long.path_cycles + 20


def test_independent_work_is_bound_by_ports() -> None:
    text = "f:\n" + " imul %rsi, %rax, %rcx\n".replace("%rsi, ", "$3, ") * 40 + " ret\n"
    (prediction,) = _analysed(text, Mode.ONCE)
    assert prediction.bottlenecks == ("Ports",)
    assert prediction.once is not None
    assert 40 <= prediction.once.cycles < 60


def test_nothing_else_is_in_flight_with_a_pass() -> None:
    """A second pass would take the divider before the dependent division of the first one."""
    text = "f:\n divsd %xmm1, %xmm0\n divsd %xmm2, %xmm0\n ret\n"
    (prediction,) = _analysed(text, Mode.ONCE)
    assert prediction.once is not None
    assert prediction.once.path_cycles <= prediction.once.cycles < prediction.once.path_cycles + 15


@pytest.mark.parametrize("arch", registry.names())
def test_every_core_takes_one_pass(arch: str) -> None:
    text = "f:\n mov (%rsi), %rax\n add %rax, 8(%rdi)\n imul %rax, %rcx\n jz 1f\n inc %rcx\n1: ret\n"
    (prediction,) = _analysed(text, Mode.ONCE, arch)
    assert prediction.once is not None
    assert prediction.mode is Mode.ONCE
    assert prediction.cycles_per_iteration == prediction.once.cycles
    assert max(prediction.bounds.values()) <= prediction.cycles_per_iteration


def test_the_mode_is_a_setting_of_markers_too() -> None:
    text = "# cyclelens-begin x mode=once\nimul %rax, %rbx\nimul %rbx, %rcx\n# cyclelens-end\n"
    (prediction,) = _analysed(text)
    assert prediction.mode is Mode.ONCE
    assert prediction.once is not None
    assert prediction.once.path_cycles == 6
    assert [instruction for instruction, _, _ in prediction.once.path] == [0, 1]


def test_one_pass_of_a_loop_is_one_iteration() -> None:
    text = "f:\n mov $9, %ecx\n1: imul %rax, %rax\n dec %ecx\n jnz 1b\n ret\n"
    (prediction,) = _analysed(text, Mode.ONCE)
    assert [template.instruction.mnemonic for template in prediction.instructions] == ["imul", "dec", "jnz"]
    assert prediction.once is not None
    assert prediction.once.path_cycles == 3


def test_a_trace_of_one_pass_has_its_instructions_alone() -> None:
    (prediction,) = _analysed(CHAIN, Mode.ONCE, trace=True)
    trace = prediction.simulation.trace
    assert trace is not None
    assert {row.instruction for row in trace.rows} == set(range(21))
    assert {row.round for row in trace.rows} == {0}
    assert trace.cycles == prediction.cycles_per_iteration


def test_files_with_loops_show_these_alone() -> None:
    text = MUL + SUM
    assert [region.name for region in assemble(text).regions] == ["loop-25"]
    for regions in (Regions.MARKERS, Regions.LOOPS):
        assert assemble(MUL, SourceOptions(regions=regions)).regions == ()


def test_a_function_is_chosen_by_its_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = MUL + SUM
    for name, regions in (
        ("mul3", ["mul3"]),
        ("sum", ["loop-25"]),
        ("clamp", ["clamp.1", "clamp.2", "clamp.3"]),
    ):
        found = assemble(text, SourceOptions(function=name))
        assert [region.name for region in found.regions] == regions
        assert not [problem for problem in found.problems if problem.code != "inner-branch"]
    path = tmp_path / "f.s"
    path.write_text(text)
    assert cli.main(["analyze", str(path), "--arch", "SKL", "--function", "mul"]) == 1
    assert "there is no function 'mul'; did you mean 'mul3'?" in capsys.readouterr().out


def test_functions_are_listed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "f.s"
    path.write_text(MUL)
    assert cli.main(["analyze", str(path), "--list-functions"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["lines", "4", "to", "10", "mul3"],
        ["lines", "15", "to", "20", "clamp"],
    ]
    path.write_text("# nothing\n")
    assert cli.main(["analyze", str(path), "--list-functions"]) == 1


def test_the_report_of_a_function(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "f.s"
    path.write_text(MUL)
    assert cli.main(["analyze", str(path), "--arch", "SKL"]) == 0
    said = capsys.readouterr().out
    once = _analysed(MUL)[0].once
    assert once is not None
    assert f"cycles/call ({once.cycles} for one pass) on SKL" in said
    assert f"Critical path of one pass: {once.path_cycles} cycles" in said
    assert cli.main(["analyze", str(path), "--arch", "SKL", "--mode", "once"]) == 0
    said = capsys.readouterr().out
    assert f"{once.cycles}.00 cycles on SKL (Skylake), one pass" in said
    assert "[one-pass]" in said
    assert cli.main(["analyze", str(path), "--arch", "SKL", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["regions"][0]["predictions"][0]["once"]["cycles"] == once.cycles
    for form in ("markdown", "html", "sarif", "svg", "dot"):
        assert cli.main(["analyze", str(path), "--arch", "SKL", "--format", form, "--mode", "once"]) == 0
    capsys.readouterr()
    assert cli.main(["whatif", str(path), "--arch", "SKL", "--mode", "once"]) == 1


def test_the_hint_of_a_function() -> None:
    analysis = Analyzer().analyze(MUL, AnalysisOptions(target=Target(microarchitectures=("SKL",))))
    (hint,) = region_hints.hints(analysis.regions[0])
    once = analysis.regions[0].predictions[0].once
    assert once is not None
    assert f"cycles/call ({once.cycles} once) · SKL" in hint.label
    assert "cycles per call" in hint.tooltip


def test_the_library_has_functions_and_passes() -> None:
    report = cyclelens.analyze(MUL, arch="SKL", function="mul3")
    (region,) = report.regions
    once = region.predictions[0].once
    assert once is not None
    assert region.predictions[0].mode == "unroll"
    passed = cyclelens.analyze(MUL, arch="SKL", function="mul3", mode="once").regions[0]
    assert passed.cycles_per_iteration == once.cycles
    assert once.path == (0, 1, 3, 4)
