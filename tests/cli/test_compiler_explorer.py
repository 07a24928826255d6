"""The input that Compiler Explorer hands to its tools: assembly without directives, unused labels and
comments."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.cli import main as cli

ROOT = Path(__file__).parents[2]
SOURCE = """\
#include <stddef.h>
float dot(const float *a, const float *b, size_t n) {
    float s = 0;
    for (size_t i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}
unsigned hash(const unsigned char *text, size_t n) {
    unsigned h = 5381;
    while (n--)
        h = h * 33 ^ *text++;
    return h;
}
"""
ALWAYS = ["analyze", "--no-external-programs", "--arch", "SKL"]


def shown(assembly: str) -> str:
    """The text of Compiler Explorer's output pane with its usual filters."""
    labels = set(re.findall(r"[ \t,(*](\.?[A-Za-z_][\w.$]*)", assembly))
    kept = []
    for line in assembly.splitlines():
        text = line.split("#")[0].rstrip()
        label = re.fullmatch(r"(\S+):", text)
        if not text.strip() or re.match(r"\s*\.\w+(\s|$)", text):
            continue
        if label is None or not label[1].startswith(".L") or label[1] in labels:
            kept.append(text)
    return "\n".join(kept) + "\n"


@pytest.fixture(params=["gcc", "clang"])
def compiler(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


@pytest.mark.parametrize("syntax", ["intel", "att"])
def test_loops_of_what_the_output_pane_shows_have_figures(
    compiler: str, syntax: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "example.c").write_text(SOURCE)
    words = [compiler, "-O2", f"-masm={syntax}", "-S", "-o", "-", "example.c"]
    if compiler == "clang":
        words += ["-fno-unroll-loops"]
    made = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    text = shown(made.stdout)
    assert ".text" not in text
    assert "cyclelens" not in text
    file = tmp_path / "cyclelens.asm"
    file.write_text(text)
    assert cli.main([*ALWAYS, "--syntax", syntax, str(file)]) == 0
    assert len(re.findall(r"cycles/iter.* on SKL", capsys.readouterr().out)) == 2
    assert cli.main([*ALWAYS, "--syntax", syntax, "--arch", "ZEN5,SKL", "--format", "json", str(file)]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    figures = {
        prediction["microarchitecture"]: prediction["cycles_per_iteration"]
        for prediction in report["regions"][0]["predictions"]
    }
    assert figures["SKL"] == pytest.approx(4, abs=0.05)
    assert len(report["regions"]) == 2


def test_the_definition_names_options_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    tool = (ROOT / "dev/stores/compiler-explorer/cyclelens-tool.ts").read_text(encoding="utf-8")
    cli.main(["analyze", "--help-all"])
    known = capsys.readouterr().out
    (always,) = re.findall(r"const always = \[(.*)\]", tool)
    assert re.findall(r"'([\w-]+)'", always) == [*ALWAYS, "--syntax"]
    for option in re.findall(r"'(--[\w-]+)'", always):
        assert option in known
