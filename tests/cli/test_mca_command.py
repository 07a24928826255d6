"""`cyclelens mca`: llvm-mca's input, options and shape."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.cli import main as cli

TEXT = """\
# LLVM-MCA-BEGIN dot
vmovups (%rsi), %ymm1
vfmadd231ps (%rdi), %ymm1, %ymm0
addq $32, %rsi
# LLVM-MCA-END
# LLVM-MCA-BEGIN store
addss %xmm0, %xmm1
movaps %xmm1, (%rsi)
# LLVM-MCA-END
"""


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.s"
    path.write_text(TEXT)
    return path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> str:
    assert cli.main(["mca", *map(str, arguments)]) == code
    return capsys.readouterr().out


def shape(text: str) -> list[str]:
    """The lines without figures, names of resources and pictures: what a reader of the format looks for."""
    kept = []
    for line in text.splitlines():
        if re.match(r"(Iterations|Instructions|Total|Dispatch|uOps|IPC|Block)\b", line):
            kept.append(line.partition(":")[0])
        elif re.match(r"(Instruction Info|Resource|Timeline|\[\d\]: |\[\d+\] Code Region|Index)", line):
            kept.append("Index" if line.startswith("Index") else line)
    return kept


def test_the_views_have_the_headings_of_llvm_mca(marked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("llvm-mca") is None:
        pytest.skip("llvm-mca is not installed")
    arguments = ["-mcpu=skylake", "-timeline", "-timeline-max-iterations=2", str(marked)]
    theirs = subprocess.run(["llvm-mca", *arguments], check=True, capture_output=True, text=True).stdout
    without = [line for line in shape(theirs) if not re.match(r"\[\d\]: (Exec|Average)", line)]
    assert shape(printed(capsys, *arguments)) == without


def test_the_json_has_the_keys_of_llvm_mca(marked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def keys(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: keys(each) for name, each in value.items()}
        return [keys(value[0])] if isinstance(value, list) and value else None

    found = json.loads(printed(capsys, "-json", "-mcpu=skylake", marked))
    if shutil.which("llvm-mca") is not None:
        command = ["llvm-mca", "-json", "-mcpu=skylake", str(marked)]
        theirs = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        assert keys(found) == keys(theirs)
    resources = found["TargetInfo"]["Resources"]
    pressure = found["CodeRegions"][1]["ResourcePressureView"]["ResourcePressureInfo"]
    store = {resources[each["ResourceIndex"]] for each in pressure if each["InstructionIndex"] == 1}
    assert "4" in store  # the port of Skylake that takes a store's data (uops.info)


def test_the_summary_has_the_figures_of_the_analysis(
    marked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = printed(capsys, "--mcpu", "skylake", "-iterations=50", marked)
    first = out[: out.index("[1] Code Region - store")]
    figures = dict(re.findall(r"^([\w ]+): +([\d.]+)$", first, re.MULTILINE))
    # The chain of vfmadd231ps: 4 cycles on Skylake (uops.info).
    assert figures["Iterations"] == "50"
    assert figures["Instructions"] == "150"
    assert figures["Total Cycles"] == "200"
    assert figures["IPC"] == "0.75"
    assert figures["Dispatch Width"] == "4"
    # Two loads, two load ports.
    assert figures["Block RThroughput"] == "1.0"
    (row,) = (line for line in first.splitlines() if line.endswith("vmovups (%rsi), %ymm1") and "*" in line)
    assert row.split()[0] == "1" and row.split()[2] == "0.50"


def test_every_instruction_of_the_timeline_ends_with_its_retirement(
    marked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = printed(capsys, "-mcpu=znver4", "-timeline", "-timeline-max-iterations=3", marked)
    rows = re.findall(r"^\[(\d),(\d)\] +(.*?)   \S", out, re.MULTILINE)
    assert len(rows) == 3 * 3 + 3 * 2
    for _, _, picture in rows:
        assert re.fullmatch(r"[. ]*D=*e*E?-*R[. ]*", picture), picture


def test_a_text_without_markers_is_one_region(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "plain.s"
    path.write_text("\taddq %rax, %rbx\n\timulq %rbx, %rax\n")
    out = printed(capsys, "-mcpu=skylake", path)
    assert "Code Region" not in out
    assert "Instructions:      200" in out
    # add, imul: 1 + 3 cycles.
    assert "Total Cycles:      400" in out
    path.write_text("\taddq %rax, %rbx\n\tfrobnicate %rbx\n")
    assert cli.main(["mca", str(path)]) == 1
    assert f"{path}:2:" in capsys.readouterr().err


def test_the_intel_syntax_of_compilers_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "intel.s"
    path.write_text(".intel_syntax\nadd rax, rbx\nadd rax, qword ptr [rdi + 8]\n")
    assert "Instructions:      200" in printed(capsys, "--mtriple", "x86_64-unknown-linux-gnu", path)


def test_of_a_function_the_loop_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As cargo-show-asm sends it: labels and instructions, without directives."""
    path = tmp_path / "function.s"
    path.write_text(
        ".intel_syntax\nexample::sum:\ntest rsi, rsi\nje .LBB0_3\n.LBB0_2:\n"
        "imul rax, qword ptr [rdi]\nadd rdi, 8\ndec rsi\njne .LBB0_2\n.LBB0_3:\nret\n"
    )
    out = printed(capsys, "--mcpu", "skylake", path)
    assert "[0] Code Region - .LBB0_2" in out
    assert "Instructions:      400" in out
    assert "Total Cycles:      300" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-timelin"], "unknown option '--timelin'; did you mean '--timeline'?"),
        (["-mcpu=skylak"], "unknown processor 'skylak'; did you mean 'skylake'"),
        (["-march=aarch64"], "'aarch64' is not x86-64"),
        (["-mtriple=arm64-apple-macosx"], "is not x86-64"),
    ],
)
def test_what_it_does_not_know_is_named(
    arguments: list[str], message: str, marked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["mca", *arguments, str(marked)]) == 2
    assert message in capsys.readouterr().err


def test_views_are_switched_off_and_written_to_files(
    marked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "views.txt"
    off = ["-instruction-info=false", "--resource-pressure=0", "-mcpu=skylake", "-o", str(target)]
    assert printed(capsys, *off, marked) == ""
    assert "Instruction Info" not in target.read_text()
    assert "Total Cycles:      400" in target.read_text()


def test_the_example_of_what_cargo_show_asm_passes_is_what_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    text = page.split("$ cat horner.txt\n", 1)[1].split("$ cyclelens", 1)[0]
    command, shown = page.split("$ cyclelens mca --iterations", 1)[1].split(" < horner.txt\n", 1)
    (tmp_path / "horner.txt").write_text(text)
    found = printed(capsys, *f"--iterations{command}".split(), tmp_path / "horner.txt")
    assert found.strip() == shown.split("```", 1)[0].strip()
