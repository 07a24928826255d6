"""``cyclelens.toml``: a project's settings apply to every command, and open no file outside its folder."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.project import ProjectError, find, read
from cyclelens.analyzer.engine.settings import ANALYSIS, MARKERS, OF_REGIONS, forced, to_options
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, Target

LOOP = """.Lloop:
 imul %rax, %rax
 dec %rcx
 jnz .Lloop
"""
MARKED = f"# cyclelens-begin dot\n{LOOP}# cyclelens-end\n"
Run = Callable[..., dict[str, Any]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Makes the files of a project and goes to its folder."""

    def make(settings: str, **files: str) -> Path:
        top = tmp_path / "project"
        (top / "src").mkdir(parents=True, exist_ok=True)
        (top / "cyclelens.toml").write_text(settings)
        (top / "src" / "a.s").write_text(MARKED)
        for name, text in files.items():
            (top / name.replace("__", "/").replace("_dot_", ".")).write_text(text)
        monkeypatch.chdir(top)
        return top

    return make


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run_(*arguments: str) -> dict[str, Any]:
        code = main([*arguments, "--format", "json"])
        out, err = capsys.readouterr()
        assert code == 0, err
        return json.loads(out)

    return run_


def processors(document: dict[str, Any]) -> list[str]:
    return [each["microarchitecture"] for each in document["regions"][0]["predictions"]]


def test_a_project_says_for_what_is_analysed(project: Callable[..., Path], run: Run) -> None:
    project('microarchitectures = ["zen4", "SKL"]')
    assert processors(run("analyze", "src/a.s")) == ["ZEN4", "SKL"]


def test_the_command_line_and_markers_win_over_a_project(project: Callable[..., Path], run: Run) -> None:
    project('microarchitectures = ["ZEN4"]', src__m_dot_s=MARKED.replace("dot", "dot arch=ICL"))
    assert processors(run("analyze", "src/a.s", "--arch", "HSW")) == ["HSW"]
    assert processors(run("analyze", "src/m.s")) == ["ICL"]


def test_the_nearest_file_up_to_the_repositorys_top_counts(
    project: Callable[..., Path], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = project('microarchitectures = ["ZEN4"]')
    (top / ".git").mkdir()
    monkeypatch.chdir(top / "src")
    assert processors(run("analyze", "a.s")) == ["ZEN4"]
    (top / "src" / "cyclelens.toml").write_text('microarchitectures = ["HSW"]')
    assert processors(run("analyze", "a.s")) == ["HSW"]


def test_a_file_above_the_workspace_does_not_count(
    project: Callable[..., Path], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = project('microarchitectures = ["ZEN4"]')
    monkeypatch.chdir(top / "src")
    assert processors(run("analyze", "a.s")) == ["SKL"]


def test_files_that_match_a_pattern_have_settings_of_their_own(
    project: Callable[..., Path], run: Run
) -> None:
    project(
        """
        microarchitectures = ["ZEN4"]
        [[files]]
        match = ["src/*.s", "other"]
        microarchitectures = ["HSW"]
        [[files]]
        match = "src/b*"
        microarchitectures = ["SNB"]
        """,
        src__b_dot_s=MARKED,
        c_dot_s=MARKED,
    )
    assert processors(run("analyze", "src/a.s")) == ["HSW"]
    assert processors(run("analyze", "src/b.s")) == ["SNB"]
    assert processors(run("analyze", "c.s")) == ["ZEN4"]


def test_regions_paths_and_definitions_reach_the_front_end(project: Callable[..., Path], run: Run) -> None:
    project(
        'regions = "loops"\nincludePaths = ["inc"]\ndefines = ["TIMES=3"]',
        src__p_dot_S='#include "body.h"\n' + LOOP.replace("imul %rax, %rax", "BODY"),
    )
    Path("inc").mkdir()
    Path("inc/body.h").write_text("#define BODY .rept TIMES; imul %rax, %rax; .endr\n")
    (region,) = run("analyze", "src/p.S")["regions"]
    assert region["predictions"][0]["cycles_per_iteration"] == 9.0
    (region,) = run("analyze", "src/p.S", "-D", "TIMES=2")["regions"]
    assert region["predictions"][0]["cycles_per_iteration"] == 6.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("regions = x\n", "not TOML: Invalid value (at line 1"),
        (
            "microarchitecture = 'SKL'",
            "no setting 'microarchitecture' here; did you mean 'microarchitectures'?",
        ),
        ("allowExternalPrograms = true", "no setting 'allowExternalPrograms' here"),
        ("microarchitectures = ['SKLX']", "microarchitectures: 'SKLX' is not a known microarchitecture"),
        ("mode = 3", "mode: 3 is not one of auto, loop, unroll"),
        ("includePaths = ['..']", "includePaths: .. is outside the project's folder"),
        ("includePaths = ['/etc']", "includePaths: /etc is outside"),
        ("preIncludes = ['out/passwd']", "preIncludes: out/passwd is outside"),
        ("files = 3", "write [[files]] above each"),
        ("[[files]]\nmode = 'loop'", 'lacks match = "PATTERN"'),
        ("[[files]]\nmatch = 'a'\nmatsch = 'b'", "no setting 'matsch' here; did you mean 'match'?"),
        pytest.param("# " + "a" * (1 << 20), "has more than 1 MB", id="large"),
        ("\x00", "not TOML"),
    ],
)
def test_an_unusable_file_gets_one_line(
    project: Callable[..., Path], capsys: pytest.CaptureFixture[str], settings: str, message: str
) -> None:
    top = project(settings)
    (top / "out").symlink_to("/etc")
    assert main(["analyze", "src/a.s"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "cyclelens.toml" in line
    assert message in line


def test_an_endlessly_nested_file_gets_one_line_too(project: Callable[..., Path]) -> None:
    """In a process of its own: CPython 3.11 cannot compile any more in one whose stack was once exhausted."""
    project("a = " + "[" * 100_000)
    command = [sys.executable, "-m", "cyclelens.analyzer.cli.main", "analyze", "src/a.s"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("nested too deeply\n")


def test_a_link_out_of_the_folder_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("password")
    (tmp_path / "project").mkdir()
    link = tmp_path / "project" / "cyclelens.toml"
    link.symlink_to(secret)
    with pytest.raises(ProjectError, match="leads out of its folder"):
        read(link)


def test_a_folder_below_no_top_is_looked_at_alone(tmp_path: Path) -> None:
    (tmp_path / "cyclelens.toml").touch()
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find(below, ()) is None
    assert find(below, {str(tmp_path)}) == tmp_path / "cyclelens.toml"
    assert find(tmp_path, ()) == tmp_path / "cyclelens.toml"


def test_the_documentation_lists_every_setting_with_its_option_and_its_key_in_markers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = (Path(__file__).parents[2] / "docs" / "project-file.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| `(-\S+)` \| (?:`(\w+)=`)? *\| (.*) \|$", text, re.MULTILINE)
    assert [row[:3] for row in rows] == [
        (each.name, each.option, *(each.markers or ("",))[:1]) for each in ANALYSIS
    ]
    for setting, (*_, kind) in zip(ANALYSIS, rows, strict=True):
        assert re.findall(r"`(\w+)`", kind) == [*setting.choices] or setting.type != "choice"
        assert setting.type != "integer" or kind == f"{setting.minimum} to {setting.maximum}"
    assert main(["analyze", "--help-all"]) == 0
    usage = " ".join(capsys.readouterr().out.split())
    for setting in ANALYSIS:
        assert re.search(rf"{setting.option}[ ,]", usage)
        assert " ".join((setting.help or setting.doc).split())[:30] in usage


OTHERS = {
    "microarchitectures": ("HSW",),
    "syntax": "intel",
    "mode": "loop",
    "alignment": 16,
    "regions": "loops",
    "model": "uica",
    "assembler": "nasm",
}


def test_a_setting_changes_the_part_of_the_options_that_the_list_names() -> None:
    defaults = {setting.name: setting.default for setting in ANALYSIS}
    before = to_options(defaults)
    assert before.detail == Detail(), "no setting says how much to explain"
    settings = [setting for setting in ANALYSIS if setting.type != "texts" and setting.part is not None]
    assert {setting.name for setting in settings} == OTHERS.keys()
    for setting in settings:
        after = to_options({**defaults, setting.name: OTHERS[setting.name]})
        changed = [
            type(new)
            for old, new in (
                (before.source, after.source),
                (before.target, after.target),
                (before.detail, after.detail),
            )
            if old != new
        ]
        assert changed == [setting.part], setting.name


def test_cores_named_by_a_command_win_over_those_of_a_marker() -> None:
    text = "# cyclelens-begin name arch=HSW mode=loop\n add %rax, %rbx\n# cyclelens-end\n"
    found = Analyzer().analyze(text, AnalysisOptions(target=Target().only_on("ICL", "ZEN4")))
    told = [(each.microarchitecture, each.mode) for each in found.regions[0].predictions]
    assert told == [("ICL", "loop"), ("ZEN4", "loop")]


def test_a_marker_takes_what_the_list_says_it_takes() -> None:
    values = {"microarchitectures": "HSW", "mode": "loop", "alignment": "16"}
    settings = {key: setting for key, setting in MARKERS.items() if setting in ANALYSIS}
    assert {setting.name for setting in settings.values()} == values.keys()
    for key, setting in settings.items():
        text = f"# cyclelens-begin name {key}={values[setting.name]}\n add %rax, %rbx\n# cyclelens-end\n"
        found = Analyzer().analyze(text, AnalysisOptions())
        (prediction,) = found.regions[0].predictions
        assert not found.problems
        told = prediction.microarchitecture, prediction.mode, str(prediction.alignment)
        assert values[setting.name] in told
        # What was given by hand wins.
        (other,) = (
            Analyzer()
            .analyze(text, AnalysisOptions(target=Target(forced=forced({setting.name}))))
            .regions[0]
            .predictions
        )
        default = other.microarchitecture, other.mode, other.alignment
        assert default == ("SKL", "unroll", 0)


def test_a_marker_takes_what_editors_offer_for_it() -> None:
    loop = "1: test %rax, %rax\n jz 2f\n mov (%rsi), %rbx\n2: add $8, %rsi\n dec %rcx\n jnz 1b\n"
    for key, setting in MARKERS.items():
        for value in setting.offered():
            text = f"# cyclelens-begin name {key}={value}\n{loop}# cyclelens-end\n"
            found = {problem.code for problem in Analyzer().analyze(text, AnalysisOptions()).problems}
            assert found & {"unknown-option", "bad-option-value"} == set(), text


def test_the_documentation_lists_every_key_of_a_marker() -> None:
    text = (Path(__file__).parents[2] / "docs" / "dialects.md").read_text()
    rows = re.findall(r"^\| (`[\w-]+=`(?:, `[\w-]+=`)*) \| (.*) \|$", text, re.MULTILINE)
    said = [setting for setting in (*ANALYSIS, *OF_REGIONS) if setting.markers]
    assert rows == [(", ".join(f"`{key}=`" for key in each.markers), each.doc) for each in said]


def test_the_example_of_the_documentation_is_one(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "project-file.md").read_text()
    file = tmp_path / "cyclelens.toml"
    file.write_text(text.split("```toml\n")[1].split("```")[0])
    special = read(file).settings_for(str(tmp_path / "src" / "x86" / "a.asm"))
    assert special["preIncludes"] == (str(tmp_path / "build" / "config.asm"),)


def test_every_setting_can_be_given_its_default(tmp_path: Path) -> None:
    lines = [f"{each.name} = {json.dumps(each.default)}" for each in ANALYSIS if each.default is not None]
    file = tmp_path / "cyclelens.toml"
    file.write_text("\n".join(lines))
    assert read(file).settings_for(str(tmp_path / "a.s")) == {
        each.name: each.default for each in ANALYSIS if each.default is not None
    }
