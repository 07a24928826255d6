"""A core that lacks an instruction gets no figure; other cores keep theirs."""

from __future__ import annotations

import json

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.hints.registry import hints
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.reports.card import region_card
from cyclelens.analyzer.reports.registry import render

DOT = """# cyclelens-begin dot
.L1:
    vmovups (%rsi), %ymm1
    vfmadd231ps (%rdi), %ymm1, %ymm0
    vfmadd231ps 32(%rdi), %ymm1, %ymm2
    add $32, %rsi
    dec %rdx
    jnz .L1
# cyclelens-end
"""


def analysed(*names: str, text: str = DOT):
    return Analyzer().analyze(text, AnalysisOptions(target=Target(microarchitectures=names)))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "dot.s"
    path.write_text(DOT)
    return str(path)


def test_the_core_is_named_and_the_others_have_figures() -> None:
    (region,) = analysed("SNB", "HSW", "IVB").regions
    assert [prediction.microarchitecture for prediction in region.predictions] == ["HSW"]
    assert [missing.reason for missing in region.missing] == ["SNB has no FMA", "IVB has no FMA"]
    assert region.missing[0].instructions == (1, 2)


def test_without_any_core_the_note_says_why() -> None:
    (region,) = analysed("SNB").regions
    assert region.predictions == ()
    assert region.note == "SNB has no FMA."


def test_several_extensions_are_named() -> None:
    text = DOT.replace("add $32, %rsi", "vaddps %zmm0, %zmm1, %zmm2")
    (region,) = analysed("SNB", text=text).regions
    assert region.note == "SNB has no FMA and no AVX-512."


@pytest.mark.parametrize("format_", ["text", "json", "markdown", "html", "sarif"])
@pytest.mark.parametrize("names", [("SNB",), ("SNB", "HSW")])
def test_every_report_says_so(format_: str, names: tuple[str, ...]) -> None:
    assert "SNB has no FMA" in render(analysed(*names), "dot.s", format_)


def test_json_has_no_prediction_of_it() -> None:
    (region,) = json.loads(render(analysed("SNB", "HSW"), "dot.s", "json"))["regions"]
    assert [prediction["microarchitecture"] for prediction in region["predictions"]] == ["HSW"]
    assert region["missing"] == [
        {
            "microarchitecture": "SNB",
            "extensions": ["FMA"],
            "message": "SNB has no FMA",
            "instructions": [1, 2],
            "lines": [4, 5],
        }
    ]


def test_the_editor_says_so_at_the_marker_and_at_the_instruction() -> None:
    shown = {(hint.line, hint.label): hint for hint in hints(analysed("SNB"))}
    assert {(0, "SNB has no FMA"), (3, "not on SNB")} == shown.keys()
    assert "and 1 more" in shown[3, "not on SNB"].tooltip


def test_beside_a_figure_it_is_in_the_tooltip_and_the_card() -> None:
    analysis = analysed("HSW", "SNB")
    shown = [hint for hint in hints(analysis) if hint.line == 0]
    assert "SNB has no FMA" in shown[0].tooltip
    assert "SNB has no FMA" in region_card(analysis.regions[0])


def test_a_comparison_has_no_bar_for_it(file, capsys) -> None:
    assert main(["compare", file]) == 0
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()[2:]}
    assert rows["SNB"].split()[-4:] == ["SNB", "has", "no", "FMA"]
    assert rows["HSW"].endswith("█")


@pytest.mark.parametrize(
    "command",
    [
        ["analyze", "--arch", "SNB"],
        ["analyze", "--arch", "HSW,SNB"],
        ["check", "--arch", "HSW,SNB"],
        ["whatif", "--arch", "HSW,SNB"],
        ["whatif", "--arch", "SNB"],
        ["compare", "--arch", "SNB"],
        ["compare", "--arch", "SNB", "--alignments"],
    ],
)
def test_commands_say_so_and_end_with_1(command, file, capsys) -> None:
    assert main([command[0], file, *command[1:]]) == 1
    assert "SNB has no FMA" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["SNB", "SKL", "ADL", "GNR", "ZEN2", "ZEN5"])
def test_what_the_tables_lack_has_a_figure_or_a_reason(name: str) -> None:
    """An end of a branch is a NOP, FMA4 is an extension that no core has, and x87 is not modelled."""
    blocks = {
        "end": "endbr64",
        "fma4": "vfmaddpd %xmm3, %xmm2, %xmm1, %xmm0",
        "x87": "fldl (%rsi)\n    faddp",
    }
    text = "".join(f"# cyclelens-begin {key}\n    {code}\n# cyclelens-end\n" for key, code in blocks.items())
    end, fma4, x87 = analysed(name, text=text).regions
    assert end.predictions
    assert end.findings == ()
    assert fma4.predictions == ()
    assert fma4.note == f"{name} has no FMA4."
    assert x87.predictions == ()
    assert x87.note == f"{name} has no figures for fld and faddp (x87 is not modelled)."
    assert [finding.code for finding in x87.findings] == ["unknown-instruction"] * 2
    assert all(finding.message.startswith("The x87 unit is not modelled") for finding in x87.findings)
