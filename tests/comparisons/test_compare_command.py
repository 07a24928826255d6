"""``cyclelens compare``: tables for people and programs, and the message where there is no figure."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.comparisons import history
from cyclelens.analyzer.microarchitectures import registry

KERNEL = """# cyclelens-begin chain
.loop:
    imul %rax, %rax
    dec %r15
    jnz .loop
# cyclelens-end
# cyclelens-begin free
    add %rbx, %rbx
# cyclelens-end
"""
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    def run_(*arguments: str, text: str = KERNEL) -> tuple[int, str]:
        (tmp_path / "kernel.s").write_text(text)
        code = main(["compare", str(tmp_path / "kernel.s"), *arguments])
        output = capsys.readouterr()
        assert "Traceback" not in output.err
        return code, output.out + output.err

    return run_


def test_without_a_choice_every_microarchitecture_is_shown(run: Run) -> None:
    code, out = run("--region", "chain")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "== chain on every microarchitecture =="
    assert any("3.00  latency-bound" in line and "█" in line for line in lines)
    assert any(line.startswith("ZEN") and "(approximate)" in line for line in lines)


def test_this_machine_comes_first_and_cores_that_agree_share_a_line(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "native", lambda: registry.get("KBL"))
    _, out = run("--region", "chain")
    names = [line.split("  ")[0] for line in out.splitlines()[2:]]
    assert names[:3] == ["KBL (this machine)", "SNB to BDW (4)", "SKL to CFL (3)"]
    monkeypatch.setattr(registry, "native", lambda: None)
    _, out = run("--region", "chain")
    names = [line.split("  ")[0] for line in out.splitlines()[2:]]
    assert "SKL to CFL (4)" in names and not any("this machine" in name for name in names)


def test_the_cores_that_a_user_names_keep_their_rows_and_their_order(run: Run) -> None:
    _, out = run("--region", "chain", "--arch", "SKX,SKL")
    assert [line.split()[0] for line in out.splitlines()[2:4]] == ["SKX", "SKL"]


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ("SKL", "SKL"),
        ("SKL,HSW", "SKL and HSW"),
        ("SKL,HSW,ZEN3", "SKL, HSW and ZEN3"),
        ("SNB,IVB,HSW,BDW,SKL", "5 microarchitectures"),
    ],
)
def test_the_title_names_the_microarchitectures_that_were_chosen(run: Run, names: str, shown: str) -> None:
    _, out = run("--region", "chain", "--arch", names)
    assert out.splitlines()[0] == f"== chain on {shown} =="


def test_a_figure_without_all_instructions_says_so(run: Run) -> None:
    text = KERNEL.replace("imul %rax, %rax", "imul %rax, %rax; clac")
    _, out = run("--region", "chain", "--arch", "SKL", text=text)
    assert "at least 3.00  lower bound: no figures for clac" in out
    _, out = run("--region", "chain", "--with", "free", "--arch", "SKL", text=text)
    assert "faster" not in out.splitlines()[2] and "not known" in out.splitlines()[2]


def test_without_the_instructions_that_count_a_reason_replaces_the_figure(run: Run) -> None:
    text = KERNEL.replace("imul %rax, %rax", "fxch")
    _, out = run("--region", "chain", "--arch", "SNB", text=text)
    assert "SNB has no figures for fxch (x87 is not modelled)" in out


def test_alignments_have_a_picture_for_each_microarchitecture(run: Run) -> None:
    code, out = run("--alignments", "--region", "free", "--arch", "SKL,HSW")
    assert code == 0
    assert f"SKL  {'▁' * 64}" in out and f"HSW  {'▁' * 64}" in out
    assert "offsets 0 to 63: 1.00 cycles/iter (best)" in out


def test_the_picture_of_alignments_marks_where_the_region_may_lie(capsys: pytest.CaptureFixture[str]) -> None:
    example = Path(__file__).parents[2] / "examples" / "byte_scan.s"
    assert main(["compare", str(example), "--region", "find-sse2", "--alignments", "--arch", "SKL"]) == 0
    picture, marks = capsys.readouterr().out.split("\n")[1:3]
    places = [column - len("SKL  ") for column, letter in enumerate(marks) if letter == "^"]
    assert places == [0, 16, 32, 48]
    assert [picture[len("SKL  ") + place] for place in places] == ["▁", "▅", "▁", "▅"]


def test_another_region(run: Run) -> None:
    code, out = run("--with", "free", "--arch", "SKL", "--format", "json")
    assert code == 0
    (table,) = json.loads(out)
    assert table["title"] == "chain against free"
    assert table["rows"][0][:4] == ["SKL", 3.0, 1.0, "+200 % time"]
    code, out = run("--with", "gone")
    assert code == 1 and "no region 'gone'" in out


TWO = """# cyclelens-begin one {one}
.L1:
    vaddps (%rsi), %ymm0, %ymm0
    add $32, %rsi
    dec %rcx
    jnz .L1
# cyclelens-end
# cyclelens-begin two {two}
.L2:
    vaddps (%rsi), %ymm0, %ymm0
    vaddps 32(%rsi), %ymm1, %ymm1
    add $64, %rsi
    dec %rcx
    jnz .L2
# cyclelens-end
"""


def test_regions_are_compared_by_the_work_that_they_do(run: Run) -> None:
    """Both take four cycles, and one of them does twice as much."""
    arguments = ("--region", "two", "--with", "one", "--arch", "SKL")
    code, out = run(*arguments, text=TWO.format(one="", two=""))
    assert code == 0
    assert "SKL  4.00  4.00  2.0x per float           0.250          0.500" in out
    assert "two: 16 floats per iteration (step of rsi)." in out
    assert "one: 8 floats per iteration (step of rsi)." in out
    _, out = run(*arguments, "--format", "json", text=TWO.format(one="per=8", two="per=16"))
    (table,) = json.loads(out)
    assert table["columns"][3:6] == ["two: difference", "two per element", "one per element"]
    assert table["rows"][0][:6] == ["SKL", 4.0, 4.0, "2.0x per element", 0.25, 0.5]
    _, out = run(*arguments, text=TWO.format(one="per=8", two=""))
    assert "SKL  4.00  4.00  same" in out
    assert "state it in the markers" in out


def test_processors_are_compared_per_float_too(run: Run) -> None:
    _, out = run("--region", "two", "--arch", "SNB,SKL", text=TWO.format(one="", two=""))
    assert "CPU  cycles/float  cycles/iter  bottleneck" in out
    assert "SKL         0.250         4.00  latency-bound" in out
    assert "16 floats per iteration (step of rsi)." in out


def test_the_committed_file(run: Run, tmp_path: Path) -> None:
    code, out = run("--git")
    assert code == 1 and "no version HEAD of kernel.s" in out
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "first"]):
        subprocess.run([*git, *arguments], cwd=tmp_path, check=True, capture_output=True)
    code, out = run(
        "--git", "--arch", "SKL", "--format", "markdown", text=KERNEL.replace("imul %rax, ", "add %rax, ")
    )
    assert code == 0
    assert "| SKL | 3.00 | 1.00 | 3.0x |" in out
    new = KERNEL.replace("begin free", "begin new")
    code, out = run("--git", "HEAD", "--region", "new", text=new)
    assert code == 1 and "no region 'new' in HEAD's version" in out


def test_a_committed_file_of_any_size_is_not_unpacked(run: Run, tmp_path: Path) -> None:
    """Of zeros git keeps a thousandth."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    (tmp_path / "kernel.s").write_bytes(bytes(history.MAXIMUM_BYTES + (1 << 20)))
    for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "first"]):
        subprocess.run([*git, *arguments], cwd=tmp_path, check=True, capture_output=True)
    code, out = run("--git", text=KERNEL)
    assert code == 1
    assert "kernel.s has 65 MB in the version HEAD; the limit is 64 MB." in out


@pytest.mark.parametrize("revision", ["--upload-pack=x", "HEAD:other", "nowhere"])
def test_a_strange_revision_is_refused(run: Run, revision: str) -> None:
    code, out = run(f"--git={revision}")
    assert code == 1 and "no version" in out


def test_nothing_to_compare(run: Run) -> None:
    code, out = run("--region", "gone")
    assert code == 1 and "there is no region 'gone'" in out


def test_between_loops_that_call_the_difference_is_in_cycles(run: Run) -> None:
    text = KERNEL.replace("imul %rax, %rax", "imul %rax, %rax; call work").replace(
        "    add %rbx, %rbx\n", ".free: call work; dec %r15; jnz .free\n"
    )
    _, out = run("--region", "chain", "--with", "free", "--arch", "SKL", text=text)
    assert "at least 3.00  at least 1.00  +2.00 cycles" in out
    assert "the difference in cycles holds if both regions call the same ones as often" in out
