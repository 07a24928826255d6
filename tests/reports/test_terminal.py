"""The report on a terminal: fits its width, colours only on request, and says each thing once."""

from __future__ import annotations

import os
import pty
import re
import struct
import subprocess
import sys
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

import pytest
from cyclelens.analyzer.common.escaping import painted
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight.rates import Rates, rates
from cyclelens.analyzer.insight.wording import places
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions, Target
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.model.source import SourceLine
from cyclelens.analyzer.reports import text
from cyclelens.analyzer.reports.lines import LineStyle, paragraph
from cyclelens.analyzer.reports.registry import render
from msgspec.structs import replace
from testkit.factories import analysis, prediction, region_analysis, template, usage

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "dot_product.s"


@pytest.fixture(scope="module")
def dot4() -> Analysis:
    options = AnalysisOptions(
        source=SourceOptions(region="dot4"), target=Target(microarchitectures=("SKL",), alignment=0)
    )
    return Analyzer().analyze(EXAMPLE.read_text(), options)


def shown(analysis: Analysis, width: int | None) -> list[str]:
    return [line.text for line in text.lines(analysis, "a.s", width)]


@pytest.mark.parametrize("width", [80, 100, 115, 130, 200])
def test_nothing_is_wider_than_the_terminal_and_no_operand_is_cut(dot4: Analysis, width: int) -> None:
    lines = shown(dot4, width)
    assert max(map(len, lines)) <= width
    assert any("vfmadd231ps 96(%rdi,%rax), %ymm7, %ymm3" in line for line in lines)
    assert any("unlaminated" in line for line in lines)


def test_a_pipe_gets_the_whole_table(dot4: Analysis) -> None:
    lines = shown(dot4, None)
    assert lines == render(dot4, "a.s").splitlines()
    header = next(line for line in lines if line.endswith("instruction"))
    names = [
        "line",
        "source",
        "issued",
        "exec.",
        *(f"p{n}" for n in range(8)),
        "lost",
        "lat.",
        "alone",
        "instruction",
    ]
    assert header.split() == names


def test_ports_without_uops_go_first(dot4: Analysis) -> None:
    header = next(line for line in shown(dot4, 130) if line.endswith("instruction"))
    assert "p6" in header and "p4" not in header and "p7" not in header


def test_a_narrow_terminal_has_the_figures_below_the_instruction(dot4: Analysis) -> None:
    lines = shown(dot4, 80)
    at = lines.index("     48   vfmadd231ps (%rdi,%rax), %ymm4, %ymm0   unlaminated 1→2")
    assert lines[at + 1].split() == ["DSB", "2.00", "2.00", "0.63", "0.37", "1.00"]


def test_a_hazard_of_several_lines_is_reported_once(dot4: Analysis) -> None:
    report = " ".join(render(dot4, "a.s").split())
    assert report.count("Unlamination:") == 1
    assert "lines 48 to 51: Unlamination" in report
    assert render(dot4, "a.s", "markdown").count("Unlamination:") == 1


def statement(line: int, address: int | None = None) -> SourceLine:
    return SourceLine(line - 1, 0, 3, "nop", b"\x90", "cyclelens", address)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([4], "line 4"),
        ([4, 4], "line 4"),
        ([4, 5], "lines 4 and 5"),
        ([4, 5, 6], "lines 4 to 6"),
        ([9, 4, 5, 6, 12, 13], "lines 4 to 6, 9, 12 and 13"),
    ],
)
def test_places(lines: list[int], said: str) -> None:
    assert places(map(statement, lines)) == said


def test_places_in_an_object_file_are_addresses() -> None:
    assert places([statement(4, 0x10), statement(4, 0x14)]) == "0x10 (4), 0x14 (4)"


def test_the_columns_are_explained_once() -> None:
    region = region_analysis(prediction([template()]), prediction([template()], microarchitecture="HSW"))
    report = " ".join(render(analysis(region, region), "a.s").split())
    for word in ("source:", "issued:", "exec.:", "lost:"):
        assert report.count(word) == 1
    assert "source:" not in render(analysis(region_analysis(note="It is empty.")), "a.s")


def test_instructions_and_uops_per_cycle() -> None:
    block = prediction(
        [template(), template()],
        cycles=2.0,
        usages=[usage(issued=2.0), usage(issued=1.0)],
        merge={1: usage(issued=1.0)},
    )
    assert rates(block) == Rates(1.0, 2.0)
    report = render(analysis(region_analysis(block)), "a.s")
    assert "Per cycle:  1.00 instructions, 2.00 uops issued" in report
    assert rates(prediction([template()], cycles=0.0)) == Rates(0.0, 0.0)


def test_no_single_bottleneck_reads_like_an_answer() -> None:
    block = prediction([template()], bottlenecks=("unknown",), bounds={"Issue": 0.9})
    for report in (render(analysis(region_analysis(block)), "a.s", kind) for kind in ("text", "markdown")):
        assert "unknown" not in report
        assert "none by itself" in report


def test_a_paragraph_goes_on_below_itself() -> None:
    lines = list(paragraph("   Note: ", "word " * 20, 50, LineStyle.ASIDE))
    assert all(len(line.text) <= 50 and line.style is LineStyle.ASIDE for line in lines)
    assert lines[1].text.startswith(" " * 9 + "word")


def on_a_terminal(width: int, **environment: str) -> str:
    """What the command writes to a terminal of this width."""
    master, slave = pty.openpty()
    ioctl(slave, TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    own = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    command = [
        sys.executable,
        "-m",
        "cyclelens.analyzer.cli.main",
        "analyze",
        str(EXAMPLE),
        "--region",
        "dot",
    ]
    process = subprocess.Popen(command, stdout=slave, env=own | {"TERM": "xterm"} | environment)
    os.close(slave)
    pieces = []
    while True:
        try:
            piece = os.read(master, 1 << 16)
        except OSError:  # how Linux says that the other side was closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(master)
    assert process.wait(60) == 0
    return b"".join(pieces).decode()


def test_a_terminal_gets_colours_and_its_own_width() -> None:
    report = on_a_terminal(90)
    chain = next(line for line in report.splitlines() if "vfmadd231ps" in line)
    assert chain.startswith("\x1b[31m") and chain.rstrip().endswith("\x1b[0m")
    plain = re.sub(r"\x1b\[[\d;]*m", "", report)
    assert "\x1b" not in plain
    assert max(len(line) for line in plain.splitlines()) <= 90


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_can_be_refused(environment: dict[str, str]) -> None:
    assert "\x1b" not in on_a_terminal(120, **environment)


def test_what_a_text_says_in_colours_stays_words() -> None:
    assert painted("a\x1b[31mb", "1") == "\x1b[1ma\\u001b[31mb\x1b[0m"
    assert painted("", "1") == ""


def test_only_the_account_says_how_the_figure_was_found() -> None:
    block = prediction([template()], cycles=1.09)
    block = replace(block, simulation=replace(block.simulation, cycles_per_iteration=1.1, period=(65, 60)))
    brief = analysis(region_analysis(block))
    assert "Window:" not in render(brief, "a.s")
    full = " ".join(render(replace(brief, account=True), "a.s").split())
    assert (
        "Window: 1.10 in the published model's window; the pipeline repeats itself every 65 cycles = 60"
        in full
    )
