"""Profiles on the command line: shares, weighted sums and weights against the programs' real paths."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cyclelens.analyzer.cli import main as cli
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions
from testkit.walked_programs import CHAINED, ODD, WALKED, Run

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/schema/report-2.schema.json").read_text())
WALK, CHAIN = "walk.loop-1", "chain.loop-1"


def report(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> str:
    assert cli.main([*map(str, arguments)]) == code
    return capsys.readouterr().out


def analysed(
    capsys: pytest.CaptureFixture[str], run: Run, profile: str, tmp_path: Path, function: str, code: int = 0
) -> dict[str, Any]:
    (tmp_path / "profile.txt").write_text(profile)
    options = ("--arch", "SKL", "--function", function, "--profile", tmp_path / "profile.txt")
    found = json.loads(report(capsys, "analyze", run.path, *options, "--format", "json", code=code))
    jsonschema.validate(found, SCHEMA)
    return found


def check_walk(found: dict[str, Any]) -> None:
    (branching,) = found["branchings"]
    # Each iteration goes one of two ways; which of them jumps is the compiler's choice.
    shares = sorted(way["share"] for way in branching["ways"])
    assert shares == [pytest.approx(ODD, abs=0.01), pytest.approx(1 - ODD, abs=0.01)]
    assert branching["weight"]["iterations"] == pytest.approx(WALKED, abs=4)
    total = sum(way["share"] * way["cycles_per_iteration"]["SKL"] for way in branching["ways"])
    assert branching["average"]["SKL"] == pytest.approx(total, abs=0.01)
    (region,) = found["regions"]
    assert region["weight"] == branching["weight"]


@pytest.mark.parametrize("symbols", [True, False])
def test_branches_of_a_program_tell_how_often_each_way_is_gone(
    symbols: bool, fixed: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_walk(analysed(capsys, fixed, fixed.script(symbols=symbols), tmp_path, "walk"))


def test_a_plain_loop_has_its_iterations(
    fixed: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = analysed(capsys, fixed, fixed.script(symbols=True), tmp_path, "chain")
    (region,) = found["regions"]
    assert region["weight"]["iterations"] == pytest.approx(CHAINED, abs=4)
    assert region["weight"]["share"] == 1


def test_addresses_that_the_loader_chose_need_the_mapping(
    anywhere: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = anywhere.script(symbols=False)
    check_walk(analysed(capsys, anywhere, anywhere.mapping() + script, tmp_path, "walk"))
    without = analysed(capsys, anywhere, script, tmp_path, "walk", code=1)
    assert [problem["code"] for problem in without["problems"]] == ["not-in-profile"]
    assert without["branchings"][0]["average"] == {}


def test_the_same_source_compiled_anew_has_the_weights_by_symbols(
    fixed: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "profile.txt").write_text(fixed.script(symbols=True))
    command = ("gcc", "-O2", "-fno-if-conversion", "-c", fixed.path.with_suffix(".c"))
    shown = report(capsys, "cc", "--profile", tmp_path / "profile.txt", "--", *command)
    table = shown.split("\n\n")[0].splitlines()
    assert table[0].startswith("Share of each loop in the cycles of all these loops")
    assert table[2].split()[-1] == WALK, "the loop that matters most comes first"
    assert "on average by the profile" in shown
    assert "on average over all paths" in shown


def test_samples_tell_the_ways_from_where_they_fell(
    fixed: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As many samples for every block as the cycles that it takes in all, on its last instruction."""
    analyzer, program = Analyzer(), fixed.path.read_bytes()
    (branching,) = analysed(capsys, fixed, fixed.script(symbols=True), tmp_path, "walk")["branchings"]
    lines = []
    for block in branching["blocks"]:
        (region,) = analyzer.analyze_object(
            program, AnalysisOptions(source=SourceOptions(region=block["name"])), "walk"
        ).regions
        last = region.region.lines[-1].address
        assert last is not None
        lines.append((last, round(1000 * block["executions"] * block["cycles_per_iteration"]["SKL"])))
    text = annotated(sorted(lines), fixed)
    again = analysed(capsys, fixed, text, tmp_path, "walk")
    shares = sorted(way["share"] for way in again["branchings"][0]["ways"])
    assert shares == [pytest.approx(ODD, abs=0.02), pytest.approx(1 - ODD, abs=0.02)]
    assert again["regions"][0]["weight"]["samples"] == sum(hits for _, hits in lines)


def annotated(lines: list[tuple[int, int]], run: Run) -> str:
    """As ``perf annotate --stdio -n`` writes it."""
    first = next(first for first, _, name in run.functions if name == "walk")
    total = sum(hits for _, hits in lines)
    return "\n".join(
        [
            f" Samples |\tSource code & Disassembly of prog for cycles:upp ({total} samples, percent)",
            "-" * 80,
            "         : 3    Disassembly of section .text:",
            f"         : 5    {first:016x} <walk>:",
            "         : 6    walk():",
            *(f" {hits:7} :   {address:x}:   nop" for address, hits in lines),
        ]
    )


@pytest.mark.parametrize(
    "fields",
    [
        ["brstacksym", "--no-demangle"],
        ["+brstacksym"],
        ["brstack", "--show-mmap-events"],
    ],
)
def test_what_perf_itself_prints_of_recorded_branches_is_read(
    fields: list[str], anywhere: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_walk(analysed(capsys, anywhere, anywhere.printed(*fields), tmp_path, "walk"))


def test_shares_given_by_hand_win(fixed: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "profile.txt").write_text(fixed.script(symbols=True))
    shown = report(
        capsys,
        "analyze",
        fixed.path,
        "--function",
        "walk",
        "--profile",
        tmp_path / "profile.txt",
        "--taken",
        "0.5",
    )
    assert "on average with taken=0.5" in shown


def test_a_profile_of_something_else_says_so(
    fixed: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = analysed(
        capsys, fixed, "x 1 1: other+0x8/other+0x0/P/-/-/1 other+0x8/other+0x0/P/-/-/1\n", tmp_path, "walk", 1
    )
    assert "other code" in found["problems"][0]["message"]


@pytest.mark.parametrize("text", ["", "nothing of the kind\n", "a 1 1: 401000 f+0x0 (/bin/f)\n"])
def test_what_is_no_profile_is_refused(
    text: str, fixed: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "profile.txt").write_text(text)
    arguments = ["analyze", str(fixed.path), "--function", "walk", "--profile", str(tmp_path / "profile.txt")]
    assert cli.main(arguments) == 1
    assert "perf script -F brstacksym" in capsys.readouterr().err
    assert cli.main([*arguments[:-1], str(tmp_path / "absent")]) == 1
    assert "cannot be read" in capsys.readouterr().err


def test_samples_that_perf_took_itself_are_read(
    fixed: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the clock, which needs no counter; a program that is over at once may have none."""
    data, program = tmp_path / "perf.data", tmp_path / "long"
    source = (
        fixed.path.with_suffix(".c")
        .read_text()
        .replace("return (", "for (int r = 0; r < 300000; r++) chain(a, 100);\n    return (")
    )
    (tmp_path / "long.c").write_text(source)
    subprocess.run(["gcc", "-O2", "-g", "-o", program, tmp_path / "long.c"], check=True)
    try:
        subprocess.run(
            ["perf", "record", "-q", "-e", "cpu-clock:u", "-o", data, program],
            check=True,
            capture_output=True,
        )
        told = subprocess.run(
            ["perf", "annotate", "-i", data, "--stdio"], check=True, capture_output=True, text=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"perf records nothing here: {error}")
    (tmp_path / "profile.txt").write_text(told.stdout)
    shown = report(capsys, "analyze", program, "--profile", tmp_path / "profile.txt")
    first = shown.splitlines()[2].split()
    assert first[-1] == CHAIN
    assert float(first[0].rstrip("%")) > 80
