"""Profiles of programs in the assembly texts that were built into them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cyclelens.analyzer.cli import main as cli
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions
from cyclelens.analyzer.model.choices import Assembler
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.model.source import Origin
from testkit.walked_programs import CHAINED, GNU, NASM, ODD, WALKED, Run, follow_kernel


class Kernel:
    """An assembly file, and the program that it was built into, in one folder."""

    def __init__(self, folder: Path, follower: Path, text: str, name: str) -> None:
        self.folder, self.path, self.text = folder, folder / name, text
        self.path.write_text(text)
        self.run: Run = follow_kernel(folder, follower, self.path)

    def analysis(self, profile: str, text: str | None = None, assembler: str = "auto") -> Analysis:
        (self.folder / "profile.txt").write_text(profile)
        origin = Origin(str(self.path), (str(self.folder),))
        read = SourceOptions(
            profile=str(self.folder / "profile.txt"), origin=origin, assembler=Assembler(assembler)
        )
        return Analyzer().analyze(self.text if text is None else text, AnalysisOptions(read))


@pytest.fixture(scope="module")
def gnu(tmp_path_factory: pytest.TempPathFactory, follower: Path) -> Kernel:
    return Kernel(tmp_path_factory.mktemp("gnu"), follower, GNU, "kernel.s")


@pytest.fixture(scope="module")
def nasm(tmp_path_factory: pytest.TempPathFactory, follower: Path) -> Kernel:
    if shutil.which("nasm") is None:
        pytest.skip("nasm is not installed")
    return Kernel(tmp_path_factory.mktemp("nasm"), follower, NASM, "kernel.asm")


@pytest.fixture(params=["gnu", "nasm"])
def kernel(request: pytest.FixtureRequest) -> Kernel:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Kernel)
    return found


def check(analysis: Analysis) -> None:
    """Both loops went around as often as they did, and the branching one took each of its paths."""
    assert not [problem for problem in analysis.problems if problem.code == "no-profile"]
    walking, chaining = analysis.regions
    (branching,) = analysis.branchings
    shares = sorted(path.share for path in branching.paths if path.share is not None)
    assert shares == [pytest.approx(ODD, abs=0.01), pytest.approx(1 - ODD, abs=0.01)]
    assert walking.weight is not None and chaining.weight is not None
    assert walking.weight.iterations == pytest.approx(WALKED, abs=4)
    assert chaining.weight.iterations == pytest.approx(CHAINED, abs=4)
    assert walking.weight.share + chaining.weight.share == pytest.approx(1)
    assert branching.averages["SKL"] == pytest.approx(
        sum((path.share or 0.0) * path.cycles["SKL"] for path in branching.paths)
    )


@pytest.mark.parametrize("assembler", ["auto", "whole"])
def test_symbols_lead_to_the_statements(kernel: Kernel, assembler: str) -> None:
    whole = "nasm" if kernel.path.suffix == ".asm" else "gas"
    check(
        kernel.analysis(kernel.run.script(symbols=True), assembler="auto" if assembler == "auto" else whole)
    )


def test_addresses_lead_there_by_the_program_that_ran(kernel: Kernel) -> None:
    check(kernel.analysis(kernel.run.mapping() + kernel.run.script(symbols=False)))


def test_what_perf_itself_prints_leads_there(kernel: Kernel) -> None:
    check(kernel.analysis(kernel.run.printed("brstacksym", "--no-demangle")))
    check(kernel.analysis(kernel.run.printed("brstack", "--show-mmap-events")))


def test_a_program_elsewhere_is_not_read(kernel: Kernel, tmp_path: Path) -> None:
    """A profile in a workspace may name any file of the machine."""
    profile = kernel.run.mapping() + kernel.run.script(symbols=False)
    (kernel.folder / "profile.txt").write_text(profile)
    options = AnalysisOptions(
        source=SourceOptions(
            profile=str(kernel.folder / "profile.txt"),
            origin=Origin(str(tmp_path / "kernel.s"), (str(tmp_path),)),
        )
    )
    analysis = Analyzer().analyze(kernel.text, options)
    (problem,) = (problem for problem in analysis.problems if problem.code == "not-in-profile")
    assert "must be in the workspace" in problem.message
    assert all(region.weight is None for region in analysis.regions)


def test_objects_take_addresses_too(gnu: Kernel, capsys: pytest.CaptureFixture[str]) -> None:
    (gnu.folder / "profile.txt").write_text(gnu.run.mapping() + gnu.run.script(symbols=False))
    arguments = ["--profile", str(gnu.folder / "profile.txt"), "--function", "walk", "--format", "json"]
    assert cli.main(["analyze", str(gnu.folder / "kernel.o"), *arguments]) == 0
    (region,) = json.loads(capsys.readouterr().out)["regions"]
    assert region["weight"]["iterations"] == pytest.approx(WALKED, abs=4)


def test_a_text_that_changed_since_the_run_is_recognized(gnu: Kernel) -> None:
    """Its loop is some bytes further down: what jumped in the profile is no jump now."""
    text = gnu.text.replace("    movl $1, %eax\n", "    movl $1, %eax\n    xorl %r8d, %r8d\n    nop\n")
    analysis = gnu.analysis(gnu.run.script(symbols=True), text)
    (problem,) = (problem for problem in analysis.problems if problem.code == "no-profile")
    assert "other code than 'walking'" in problem.message
    assert problem.line == text.split("\n").index("    # cyclelens-begin walking")
    weights = {region.region.name: region.weight for region in analysis.regions}
    assert weights["walking"] is None or not weights["walking"].iterations
    assert not analysis.branchings[0].averages
    chaining = weights["chaining"]
    assert chaining is not None and chaining.iterations == pytest.approx(CHAINED, abs=4)


def test_a_statement_that_is_not_understood_leaves_the_rest_of_its_section_unmatched(gnu: Kernel) -> None:
    text = gnu.text.replace("    jmp far_away\n", "    nosuch %rax\n    jmp far_away\n")
    analysis = gnu.analysis(gnu.run.script(symbols=True), text)
    messages = [problem.message for problem in analysis.problems if problem.code == "no-profile"]
    assert messages
    assert all(region.weight is None for region in analysis.regions)


def test_other_names_of_a_function_lead_there(gnu: Kernel) -> None:
    """perf names the symbol that it likes best of those at one address."""
    text = gnu.text.replace("    .section .note", "    .set other_name, walk\n    .section .note")
    profile = gnu.run.script(symbols=True).replace("walk+", "other_name+")
    check(gnu.analysis(profile, text))


def test_a_profile_of_another_program_says_what_is_needed(
    gnu: Kernel, capsys: pytest.CaptureFixture[str]
) -> None:
    (gnu.folder / "profile.txt").write_text("f+0x8/f+0x0/P/-/-/1 f+0x8/f+0x0/P/-/-/1\n")
    assert cli.main(["analyze", str(gnu.path), "--profile", str(gnu.folder / "profile.txt")]) == 1
    assert "names no symbol that this text defines" in " ".join(capsys.readouterr().out.split())


def test_samples_count_the_statements_that_they_hit(gnu: Kernel) -> None:
    first = next(first for first, _, name in gnu.run.functions if name == "chain")
    lines = [
        " Samples |\tSource code & Disassembly of prog for cycles:upp (70 samples, percent)",
        f"         : 5    {first:016x} <chain>:",
        f"      30 :   {first + 2:x}:   imul",
        f"      40 :   {first + 6:x}:   add",
    ]
    analysis = gnu.analysis("\n".join(lines))
    weights = {region.region.name: region.weight for region in analysis.regions}
    chaining = weights["chaining"]
    assert chaining is not None and chaining.samples == 70 and chaining.share == 1
