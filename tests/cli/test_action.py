"""The GitHub Action, run like a runner does: its own steps, in a folder, with environment variables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
KERNEL = """\
# cyclelens-begin slow
    imul %rax, %rax
# cyclelens-end
# cyclelens-begin quick
    add $0x1234, %ax
    dec %r15
# cyclelens-end
"""


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "kernel.s").write_text(KERNEL)
    return tmp_path


def run(folder: Path, **inputs: str) -> tuple[int, str, str]:
    """Exit code, what was printed, and the summary, of the step that checks."""
    (step,) = [step for step in ACTION["runs"]["steps"] if step.get("id") == "check"]
    values = {name: given.get("default", "") for name, given in ACTION["inputs"].items()} | inputs
    environment = {
        name: values[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, value in step["env"].items()
    }
    summary, output = folder / "summary.md", folder / "output"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=os.environ
        | environment
        | {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output)}
        | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr, summary.read_text() if summary.exists() else ""


def test_a_budget_is_kept_or_not(runner: Path) -> None:
    code, text, summary = run(runner, files="src/*.s", **{"max-cycles": "slow=3\nquick@SKL=4"})
    assert (code, "2 figures, 0 too slow." in summary) == (0, True), text
    code, text, summary = run(runner, files="**/*.s", **{"max-cycles": "slow=2.5"})
    assert code == 3
    assert "SLOW src/kernel.s: slow: 3.00 cycles/iter" in text
    assert "| ❌ slow | `slow` (src/kernel.s:1) | SKL | 3.00 | latency-bound | limit 2.50 |" in summary
    document = json.loads((runner / "cyclelens.sarif").read_text())
    results = {result["ruleId"]: result for result in document["runs"][0]["results"]}
    assert results["too-slow"]["level"] == "error"
    assert results["too-slow"]["locations"][0]["physicalLocation"]["region"]["startLine"] == 1
    assert results["lcp-stall"]["level"] == "warning"
    assert "sarif=cyclelens.sarif" in (runner / "output").read_text()


def test_a_baseline_and_several_cpus(runner: Path) -> None:
    program = Path(sys.executable).with_name("cyclelens")
    report = subprocess.run(
        [program, "analyze", "src/kernel.s", "--arch", "SKL,HSW", "--format", "json"],
        cwd=runner,
        capture_output=True,
        text=True,
    )
    (runner / "base.json").write_text(report.stdout)
    slower = KERNEL.replace("imul %rax, %rax", "imul %rax, %rax\n    imul %rax, %rax")
    (runner / "src" / "kernel.s").write_text(slower)
    inputs = {"files": "src/kernel.s", "arch": "SKL,HSW", "baseline": "base.json"}
    code, text, summary = run(runner, **inputs)
    assert code == 3, text
    assert summary.count("❌ slow") == 2
    assert run(runner, **inputs, tolerance="100%")[0] == 0


def test_nothing_in_an_input_is_a_command(runner: Path) -> None:
    code, text, _ = run(runner, files="src/*.s", arch="$(touch ran)", **{"max-cycles": "slow=3;touch ran"})
    assert code != 0
    assert "is not a known microarchitecture" in text or "unknown" in text or "is not of the form" in text
    assert not (runner / "ran").exists()
    code, text, _ = run(runner, files="none/*.s")
    assert code == 1
    assert "no file matches" in text
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"], "values come as variables"
