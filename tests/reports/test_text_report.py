"""The report for a terminal."""

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.result import Finding
from cyclelens.analyzer.model.simulation import Trace
from cyclelens.analyzer.model.source import Problem, Severity
from cyclelens.analyzer.reports.registry import render
from testkit.factories import analysis, prediction, region_analysis, template, usage


def text(*regions, problems=()):
    return render(analysis(*regions, problems=problems), "kernel.s")


def table_row(report, instruction):
    return next(line for line in report.splitlines() if line.endswith(instruction)).split()


def test_the_headline_says_how_many_cycles_on_what_and_why():
    block = prediction(
        [template()],
        cycles=3.424,
        mode=Mode.UNROLL,
        bottlenecks=("Predecoder",),
        bounds={"Predecoder": 3.4375},
    )
    report = text(region_analysis(block, first_line=2, name="lcp"))
    assert "kernel.s:3: lcp" in report
    assert "3.42 cycles/iter on SKL (Skylake), unrolled" in report
    assert "Bottleneck: Predecoder" in report
    assert "Predecoder 3.44" in report


def test_every_instruction_has_a_line_with_source_uops_and_ports():
    usages = [usage({"0": 0.5, "6": 0.5}, {"MITE": 1.0, "MS": 3.0}, issued=4.0)]
    report = text(region_analysis(prediction([template("xchg rax, rbx")], usages=usages)))
    assert table_row(report, "xchg rax, rbx") == [
        "4",
        "MITE+MS",
        "4.00",
        "1.00",
        "0.50",
        "0.50",
        "0.25",
        "xchg",
        "rax,",
        "rbx",
    ]


def test_the_last_line_of_the_table_is_the_total():
    usages = [usage({"0": 0.5}), usage({"0": 0.25}, issued=2.0)]
    report = text(region_analysis(prediction([template(), template()], usages=usages)))
    assert table_row(report, "total") == ["3.00", "0.75", "0.75", "total"]


def test_extra_uops_have_lines_of_their_own():
    block = prediction([template()], merge={0: usage({"1": 1.0}, {})}, sync={0: usage({"5": 1.0}, {})})
    report = text(region_analysis(block))
    assert table_row(report, "(register merge)")
    assert table_row(report, "(stack sync)")


def test_the_divider_has_a_column_only_if_it_is_used():
    assert " div " not in text(region_analysis(prediction([template()])))
    assert " div " in text(region_analysis(prediction([template()], usages=[usage(divider=4.0)])))


def test_hazards_are_explained_at_their_line():
    hazard = Finding("lcp-stall", Severity.WARNING, 0, "It stalls.", "LCP stall", "SKL")
    report = text(region_analysis(prediction([template()]), findings=[hazard]))
    assert "line 4: It stalls. [lcp-stall]" in report
    assert "LCP stall" in next(line for line in report.splitlines() if "add rax, rbx" in line)


def test_several_microarchitectures_are_compared_first():
    region = region_analysis(
        prediction([template()], cycles=4.0), prediction([template()], cycles=2.0, microarchitecture="ICL")
    )
    lines = text(region).splitlines()
    assert lines[2].split()[:3] == ["SKL", "4.00", "cycles/iter"]
    assert lines[3].split()[:4] == ["ICL", "2.00", "cycles/iter", "1.00x"]
    assert lines.index("   4.00 cycles/iter on SKL (Skylake), loop") > 3


def test_a_region_without_a_prediction_says_why():
    assert "No prediction: It is empty." in text(region_analysis(note="It is empty."))


def test_problems_are_one_based_and_clickable():
    problem = Problem(line=4, column=2, end_column=9, code="syntax-error", message="no such thing")
    assert "kernel.s:5:3: error: no such thing [syntax-error]" in text(problems=[problem])


def test_a_file_without_regions_says_so():
    assert "no region is marked" in text()


def test_an_unknown_instruction_makes_the_headline_a_lower_bound():
    report = text(region_analysis(prediction([template(facts=None)])))
    assert "   at least 1.00 cycles/iter on SKL" in report
    assert "Bottleneck: not known (no figures for add)" in report
    assert "1 instruction has no figures" in report


def test_the_timeline_is_added_if_there_is_a_trace():
    assert "Timeline:" not in text(region_analysis(prediction([template()])))
    assert "Timeline:" in text(region_analysis(prediction([template()], trace=Trace((), 500))))


def test_the_table_has_latency_and_throughput_of_each_instruction_by_itself():
    body = ".l:\n imul %rax, %rbx\n vdivps %ymm1, %ymm2, %ymm3\n dec %r15\n jnz .l\n"
    kernel = f"# cyclelens-begin\n{body}# cyclelens-end\n"
    lines = render(Analyzer().analyze(kernel, AnalysisOptions()), "kernel.s").splitlines()
    header = next(line.split() for line in lines if line.startswith("   line"))
    assert header[-3:] == ["lat.", "alone", "instruction"]

    def by_itself(instruction):
        return next(line for line in lines if f"   {instruction}" in line).split(instruction)[0].split()[-2:]

    assert by_itself("imul %rax, %rbx") == ["3", "1.00"]
    assert by_itself("vdivps %ymm1, %ymm2, %ymm3") == ["11", "5.00"]
    assert by_itself("dec %r15") == ["1", "0.25"]


MACRO = """.macro STEP from, to
    add \\from, \\to
    imul \\to, \\from
.endm
.l: STEP %rax, %rbx
    STEP %rcx, %rdx
    .rept 2
    nop
    .endr
    dec %rdi
    jnz .l
"""


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_the_use_of_a_macro_is_above_its_instructions(name):
    report = render(Analyzer().analyze(MACRO, AnalysisOptions()), "kernel.s", name)
    places = [report.index(f"STEP {use}") for use in ("%rax, %rbx", "%rcx, %rdx")]
    assert report.count("STEP %") == 2
    assert places[0] < report.index("add %rax, %rbx") < places[1] < report.index("add %rcx, %rdx")
    lines = [line.split() for line in report.splitlines() if "add %rcx" in line or "STEP %rcx" in line]
    if name == "text":
        assert [line[0] for line in lines[:2]] == ["6", "DSB"], "the number of the line stands once"


def test_instructions_written_in_the_text_have_no_line_above_them():
    report = render(Analyzer().analyze(MACRO, AnalysisOptions()), "kernel.s")
    assert [line.split()[-1] for line in report.splitlines() if line.endswith(" nop")] == ["nop"] * 2


def test_a_report_of_many_regions_begins_with_an_overview() -> None:
    body = "    imul %rax, %rax\n    dec %rcx\n"
    shown = [
        f"# cyclelens-begin r{number}\n.L{number}:\n{body}    jnz .L{number}\n# cyclelens-end\n"
        for number in range(4)
    ]

    def report(count: int) -> list[str]:
        found = Analyzer().analyze("".join(shown[:count]), AnalysisOptions())
        return render(found, "k.s", "text").split("\n")

    first, second, *_ = report(4)
    assert first.split() == ["line", "cycles/iter", "bottleneck", "region"]
    assert second.split() == ["1", "3.00", "latency-bound", "r0"]
    assert report(3)[0] == "== k.s:1: r0 =="


def test_the_overview_of_machine_code_has_addresses(tmp_path, capsys) -> None:
    path = tmp_path / "k.hex"
    path.write_text("48 ff c9 75 fb " * 4)
    assert main(["analyze", str(path), "--hex", "--arch", "SKL"]) == 0
    heads = [line.split()[0] for line in capsys.readouterr().out.split("\n")[:5]]
    assert heads == ["place", "0x0", "0x5", "0xa", "0xf"]
