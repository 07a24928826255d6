"""``cyclelens compare --tools``: the input of other tools, and how their output is read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.isa.att_syntax import att_loop
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Syntax
from cyclelens.analyzer.model.instruction import Instruction

EXAMPLES = Path(__file__).parents[2] / "examples"
KERNEL = """# cyclelens-begin chain
.loop:
    imul %rax, %rax
    mov 8(%rip), %rbx
    dec %r15
    jnz .loop
# cyclelens-end
"""
LLVM_MCA = """
case "$*" in
    *--version*) echo "  LLVM version 19.1.7"; exit ;;
    *iterations=100*) cycles=304 ;;
    *iterations=300*) cycles=904 ;;
esac
case "$*" in *znver5*) echo "'znver5' is not a recognized processor for this target" >&2 ;; esac
while read -r line; do
    case "$line" in "imul %rax,%rax") seen=yes ;; esac
done < kernel.s
[ "$seen" ] || echo "kernel.s:2:1: error: no imul" >&2
echo "Iterations:        100"
echo "Total Cycles:      $cycles"
"""
OSACA = """
case "$*" in
    *--version*) echo "osaca 0.7.1"; exit ;;
    *ZEN4*) echo "   2 |      |  1.0 |  0 ||  3.0 |  3.0 |   imulq %rax, %rax"
            echo "   3 |      |      |    ||      |      | X movq 8(%rip), %rbx"; exit ;;
esac
echo "   2 |      | 1.00 |      ||  3.0 |  3.0 |   imulq %rax, %rax"
echo "   3 | 0.50 |      | 0.50 ||  5.0 |      |   movq 8(%rip), %rbx"
echo
case "$*" in
    *ZEN3*) echo "       0.50   1.00   0.50      8      3.0  " ;;
    *) echo "       0.50   1.00   0.50      8.0    3.0  " ;;
esac
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Only two programs that answer as the tools do, and what they need."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in {"llvm-mca": LLVM_MCA, "osaca": OSACA}.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def rows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str, text: str = KERNEL
) -> list[list[str]]:
    (tmp_path / "kernel.s").write_text(text)
    assert main(["compare", str(tmp_path / "kernel.s"), "--tools", *arguments]) == 0
    title, _, *lines = capsys.readouterr().out.splitlines()
    assert title == "== chain by other tools =="
    return [line.split(maxsplit=4) for line in lines]


def test_every_tool_has_a_row(tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own, *others = rows(capsys, tmp_path, "--arch", "ICL")
    assert own[2:4] == ["ICL", "3.00"]
    assert others == [
        # (904 - 304) / 200: the beginning does not count.
        ["llvm-mca", "19.1.7", "ICL", "3.00", "simulated, without a front end"],
        # The chain between iterations, not the critical path.
        ["OSACA", "0.7.1", "ICL", "3.00", "bound by ports and dependencies"],
    ]


def test_a_critical_path_of_whole_cycles_is_read(
    tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rows(capsys, tmp_path, "--arch", "ZEN3")[2][:4] == ["OSACA", "0.7.1", "ZEN3", "3.00"]


def test_a_tool_without_a_figure_says_why(
    tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rows(capsys, tmp_path, "--arch", "ZEN5,ZEN4,SKL")
    notes = {(row[0], row[2]): row[3:] for row in found}
    assert notes["llvm-mca", "ZEN5"] == ["-", "This version has no model of the core."]
    assert notes["OSACA", "ZEN5"] == ["-", "It has no model of ZEN5."]
    assert notes["OSACA", "ZEN4"] == ["-", "It has no data for 'movq 8(%rip), %rbx'."]
    assert notes["llvm-mca", "SKL"][0] == "3.00"


def test_an_error_is_no_figure(tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, mca, _ = rows(capsys, tmp_path, "--arch", "SKL", text=KERNEL.replace("imul", "add"))
    assert mca[3:] == ["-", "kernel.s:2:1: error: no imul"]


def test_tools_that_are_not_installed_or_not_allowed_give_a_reason(
    tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rows(capsys, tmp_path, "--no-external-programs")
    assert [row[3:] for row in found[1:]] == [["-", "External programs are not allowed."]] * 2
    (tools / "osaca").unlink()
    assert rows(capsys, tmp_path)[2] == ["OSACA", "-", "SKL", "-", "It is not installed."]


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.s")))
def test_the_listing_is_the_same_instructions(name: str) -> None:
    for region in assemble((EXAMPLES / name).read_text(encoding="utf-8")).regions:
        instructions = decode(region.code)
        listing = f"# cyclelens-begin\n{att_loop(instructions)}# cyclelens-end\n"
        (again,) = assemble(listing, SourceOptions(syntax=Syntax.ATT)).regions
        assert list(map(_words, decode(again.code))) == list(map(_words, instructions))


def _words(instruction: Instruction) -> str:
    """Lengths, and with them distances of jumps, are the assembler's choice."""
    return instruction.text if instruction.branch_displacement is None else instruction.text.split()[0]


@pytest.mark.skipif(shutil.which("llvm-mca") is None, reason="llvm-mca is not installed")
def test_the_real_llvm_mca_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = {row[0]: row for row in rows(capsys, tmp_path, "--arch", "SKL")}
    assert float(found["llvm-mca"][3]) == pytest.approx(3.0, abs=0.05)
