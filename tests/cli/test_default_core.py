"""The core that is analysed if the user names none, and how the output says so."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path

import cyclelens
import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.microarchitectures import processors
from cyclelens.analyzer.microarchitectures.processors import Processor
from cyclelens.analyzer.microarchitectures.registry import DEFAULT_ARCH

KERNEL = "".join(
    f"# cyclelens-begin {name}\n    imul %rax, %rax\n# cyclelens-end\n" for name in ("one", "two")
)
MARKED = KERNEL.replace("one", "one arch=HSW").replace("two", "two arch=HSW")
MACHINES = {
    "SPR": Processor("GenuineIntel", 6, 207, 2, "Xeon Platinum 8592+"),
    "ZEN3": Processor("AuthenticAMD", 0x19, 0x1, 1, "EPYC 7763"),
    "unknown": Processor("GenuineIntel", 6, 102, 3, "Core i3-8121U"),
    "arm64": None,
}
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command on a given machine, outside of CI and with a clean environment."""

    def run_(machine: str, *arguments: str, text: str = KERNEL) -> tuple[int, str, str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(processors, "this_processor", lambda: MACHINES[machine])
        (tmp_path / "kernel.s").write_text(text)
        command, *rest = arguments
        code = main([command, "kernel.s", *rest])
        output = capsys.readouterr()
        return code, output.out, output.err

    monkeypatch.delenv(DEFAULT_ARCH)
    monkeypatch.delenv("CI", raising=False)
    return run_


@pytest.mark.parametrize(("machine", "title"), [("SPR", "Sapphire Rapids"), ("ZEN3", "Zen 3")])
def test_it_is_this_machine_s_core_and_the_output_says_so_once(run: Run, machine: str, title: str) -> None:
    code, out, err = run(machine, "analyze")
    assert (code, err) == (0, "")
    assert f"3.00 cycles/iter on {machine} (this machine, {title}), unrolled" in out
    assert f"3.00 cycles/iter on {machine} ({title}), unrolled" in out
    assert out.count("this machine") == 1


@pytest.mark.parametrize("machine", ["unknown", "arm64"])
def test_skylake_replaces_a_core_that_is_not_simulated_and_the_output_says_so(run: Run, machine: str) -> None:
    _, out, err = run(machine, "analyze")
    assert "on SKL (this machine's processor is not simulated, Skylake)" in out
    assert out.count("not simulated") == 1
    assert err.startswith("note: this machine's processor is ")
    _, out, _ = run(machine, "analyze", "--format", "json")
    assert json.loads(out)["by_default"] == "this machine's processor is not simulated"


@pytest.mark.parametrize("form", ["markdown", "html", "sarif"])
def test_other_formats_say_it_too(run: Run, form: str) -> None:
    assert run("ZEN3", "analyze", "--format", form)[1].count("ZEN3 (this machine") == 1


@pytest.mark.parametrize(
    "arguments", [("whatif", "--remove", "2"), ("rewrite",), ("sweep", "--load-latency", "4..5")]
)
def test_commands_without_such_a_report_say_it_in_a_note(run: Run, arguments: tuple[str, ...]) -> None:
    text = KERNEL.replace("    imul %rax, %rax\n", "    imul %rax, %rax\n    nop\n", 1)
    _, _, err = run("SPR", *arguments, "--region", "one", text=text)
    assert err == "note: the core is SPR (this machine, Sapphire Rapids); --arch names another\n"


def test_a_table_of_every_core_needs_no_such_note(run: Run) -> None:
    _, out, err = run("SPR", "compare", "--region", "one")
    assert err == "" and "SNB" in out and "ZEN5" in out
    _, _, err = run("SPR", "compare", "--alignments", "--region", "one")
    assert err.startswith("note: the core is SPR (this machine")


def test_a_marker_an_option_a_project_and_the_environment_decide_otherwise(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "on HSW (Haswell)" in run("SPR", "analyze", text=MARKED)[1]
    assert "this machine" not in run("SPR", "analyze", text=MARKED)[1]
    assert "on ICL (Ice Lake)" in run("SPR", "analyze", "--arch", "ICL")[1]
    monkeypatch.setenv(DEFAULT_ARCH, "ZEN4")
    assert "on ZEN4 (Zen 4)" in run("SPR", "analyze")[1]
    (tmp_path / "cyclelens.toml").write_text('microarchitectures = ["SNB"]')
    assert "on SNB (Sandy Bridge)" in run("SPR", "analyze")[1]


def test_the_environment_names_no_such_core(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DEFAULT_ARCH, "Z80")
    code, _, err = run("SPR", "analyze")
    assert code == 1
    assert "CYCLELENS_ARCH of the environment: unknown microarchitecture 'Z80'; known are" in err


def test_outside_of_ci_a_budget_is_for_this_machine_and_the_output_says_so(run: Run) -> None:
    code, out, _ = run("ZEN3", "check", "--max-cycles", "one=3")
    assert code == 0
    assert "one: 3.00 cycles/iter on ZEN3 (this machine) (limit 3.00)" in out
    assert out.count("this machine") == 1


def test_in_ci_check_demands_a_core_and_says_how_to_name_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    code, out, err = run("ZEN3", "check")
    assert (code, out) == (1, "")
    for way in ("--arch ZEN3", "arch=ZEN3", 'microarchitectures = ["ZEN3"]', "CYCLELENS_ARCH=ZEN3"):
        assert way in err
    assert run("ZEN3", "check", "--arch", "ZEN3")[0] == 0
    assert run("ZEN3", "check", text=MARKED)[0] == 0
    monkeypatch.setenv(DEFAULT_ARCH, "SKL")
    assert run("ZEN3", "check")[0] == 0


def test_the_library_takes_the_same_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DEFAULT_ARCH)
    monkeypatch.setattr(processors, "this_processor", lambda: MACHINES["ZEN3"])
    assert cyclelens.predict("480fafc0").arch == "ZEN3"
    (region,) = cyclelens.analyze(MARKED.replace(" arch=HSW", ""), region="one").regions
    assert [each.arch for each in region.predictions] == ["ZEN3"]
    monkeypatch.setattr(processors, "this_processor", lambda: None)
    with pytest.warns(UserWarning, match="not simulated .*: the figures are those of SKL"):
        assert cyclelens.predict("480fafc0").arch == "SKL"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cyclelens.predict("480fafc0", arch="HSW").arch == "HSW"
