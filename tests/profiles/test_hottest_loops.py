"""`cyclelens annotate`: the hottest loops of a recorded profile."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.cli import main as cli
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.profiles.cache import Profiles
from cyclelens.analyzer.profiles.profile import CodeLocation, Profile
from testkit.walked_programs import CHAINED, Run

KERNEL = "prog 17 3.0: 250000 cpu-clock:u: ffffffff81692bb2 alloc+0x172 ([kernel.kallsyms])\n"


def profile_of(tmp_path: Path, *lines: str) -> Profile:
    path = tmp_path / "script.txt"
    path.write_text("\n".join(lines) + "\n")
    return Profiles(Caches()).of(str(path))


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (
            "  k 10158   385.529: 250000 cpu-clock:u:   562db01731e2 dot+0x22 (/tmp/k)",
            CodeLocation("dot", 0x22, 0x562DB01731E2, "/tmp/k"),
        ),
        ("k 17 [001] 3.5: 1 cycles:  4011e2 dot (/tmp/k)", CodeLocation("dot", 0, 0x4011E2, "/tmp/k")),
        ("Web Content 17 3.5: cycles: 4011e2 dot (/tmp/k)", CodeLocation("dot", 0, 0x4011E2, "/tmp/k")),
        ("k 17 3.5: 1 cycles: 4011e2 [unknown] (/tmp/k)", CodeLocation("", 0, 0x4011E2, "/tmp/k")),
        ("k 17 3.5: 1 cycles: 4011e2 [unknown] ([unknown])", CodeLocation("", 0, 0x4011E2, "")),
        (
            "k 17 3.5: 1 cycles: 4011e2 f(int, g<a>)+0x10 (/tmp/a b/k (deleted))",
            CodeLocation("f(int, g<a>)", 0x10, 0x4011E2, "/tmp/a b/k"),
        ),
        ("cycles: 4011e2 dot+0x4", CodeLocation("dot", 4, 0x4011E2, "")),
        # A call chain: its addresses are offsets in the file.
        (
            "k 17 3.5: 1 cycles: \n\t   11e2 dot+0x2 (/tmp/k)\n\t  1000 main (/tmp/k)\n",
            CodeLocation("dot", 2, None, "/tmp/k"),
        ),
    ],
)
def test_a_sample_has_its_symbol_and_its_file(line: str, place: CodeLocation, tmp_path: Path) -> None:
    assert profile_of(tmp_path, line).samples == {place: 1}


def test_samples_weigh_as_much_as_their_periods(tmp_path: Path) -> None:
    found = profile_of(
        tmp_path,
        "k 17 3.5: 1000 cycles: 4011e2 f+0x2 (/tmp/k)",
        "k 17 3.6: 3000 cycles: 4011e4 f+0x4 (/tmp/k)",
    )
    assert {place.offset: hits for place, hits in found.samples.items()} == {2: 0.5, 4: 1.5}


def test_of_several_events_the_one_that_counts_time_is_taken(tmp_path: Path) -> None:
    found = profile_of(
        tmp_path,
        "k 17 3.5: 1 cache-misses: 4011e2 f+0x2 (/tmp/k)",
        "k 17 3.6: 1 cycles:u: 4011e4 f+0x4 (/tmp/k)",
    )
    assert found.event == "cycles:u"
    assert [place.offset for place in found.samples] == [4]


def test_samples_of_instructions_count_instructions(tmp_path: Path) -> None:
    assert profile_of(tmp_path, "k 17 3.5: 1 instructions:u: 4011e2 f (/tmp/k)").by_instructions


def script_of(run: Run, *, addresses: bool = True) -> str:
    """A sample at every instruction that ran, with addresses as ``perf script`` prints them; without them as
    in a call chain."""
    lines = []
    for address in run.addresses:
        place = f"{run.symbol(address)} ({run.path})"
        if addresses:
            lines.append(f"prog 4711 1.000: 250000 cpu-clock:u: {address:x} {place}")
        else:
            lines.append(f"prog 4711 1.000: 250000 cpu-clock:u: \n\t    0 {place}\n")
    return "\n".join(lines) + "\n"


def annotated(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> dict[str, Any]:
    assert cli.main(["annotate", *map(str, arguments), "--arch", "SKL", "--format", "json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert sum(each["share"] for each in (*found["loops"], *found["rest"])) == pytest.approx(1, abs=0.01)
    return found


@pytest.mark.parametrize("addresses", [True, False])
def test_each_loop_has_its_share_of_all_samples(
    addresses: bool, anywhere: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "script.txt"
    path.write_text(anywhere.mapping() + script_of(anywhere, addresses=addresses) + KERNEL)
    found = annotated(capsys, path)
    ran = Counter(anywhere.symbol(address).partition("+")[0] for address in anywhere.addresses)
    loops = {each["name"]: each for each in found["loops"]}
    assert found["samples"] == len(anywhere.addresses) + 1
    # All but a few instructions of each function are its loop.
    assert loops["walk.loop-1"]["samples"] == pytest.approx(ran["walk"], rel=0.1)
    assert loops["chain.loop-1"]["samples"] == pytest.approx(ran["chain"], rel=0.1)
    assert [each["samples"] for each in found["loops"]] == sorted(
        (each["samples"] for each in found["loops"]), reverse=True
    )
    chain = loops["chain.loop-1"]
    assert chain["share"] == pytest.approx(chain["samples"] / found["samples"], abs=1e-4)
    assert chain["file"] == str(anywhere.path)
    assert chain["source"]["file"].endswith("prog.c")
    # lea and add, a chain of two cycles (uops.info: latency 1 each on Skylake).
    assert chain["predictions"][0]["cycles_per_iteration"] == pytest.approx(2, abs=0.1)
    assert "Dependencies" in chain["predictions"][0]["bottlenecks"]
    # The paths of walk, one of 1.3 and one of 7.0 cycles, are weighted by the samples.
    assert 1.7 < loops["walk.loop-1"]["predictions"][0]["cycles_per_iteration"] < 3.0
    assert "in the kernel" in [each["reason"] for each in found["rest"]]


def test_the_table_shows_share_cycles_and_limit(
    fixed: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "script.txt"
    path.write_text(script_of(fixed))
    assert cli.main(["annotate", str(path), "--arch", "SKL"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{len(fixed.addresses):,} samples of cpu-clock:u\n")
    (row,) = (line for line in out.splitlines() if "chain.loop-1 at 0x" in line)
    assert (
        row.strip()[0].isdigit()
        and "latency-bound" in row
        and "prog.c:" in row
        and row.endswith(str(fixed.path))
    )
    assert cli.main(["annotate", str(path), "--arch", "SKL", "--most", "1"]) == 0
    fewer = capsys.readouterr().out.splitlines()
    assert sum(" in /" in line for line in fewer) == 1
    assert any(line.endswith("%  in other loops") for line in fewer)


def test_a_program_that_moved_is_read_where_the_user_says(
    fixed: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "script.txt"
    path.write_text(script_of(fixed).replace(str(fixed.path), "/elsewhere/prog"))
    without = annotated(capsys, path, code=1)
    assert without["rest"] == [
        {"share": 1.0, "reason": "in /elsewhere/prog, which cannot be read: No such file or directory"}
    ]
    assert annotated(capsys, path, "--program", fixed.path)["loops"]


def test_a_loop_inside_another_has_its_own_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    (tmp_path / "nest.s").write_text(
        ".globl nest\n.type nest, @function\nnest:\n0: mov %rdi, %rdx\n mov $9, %ecx\n1: imul %rax, %rax\n"
        " dec %ecx\n jnz 1b\n2: dec %rsi\n jnz 0b\n ret\n.size nest, .-nest\n"
    )
    program = tmp_path / "nest.so"
    subprocess.run(["gcc", "-shared", "-nostdlib", "-o", program, tmp_path / "nest.s"], check=True)
    path = tmp_path / "script.txt"
    # The inner loop begins 8 bytes (mov, mov) into the function, and imul has 4.
    path.write_text(
        f"k 1 1.0: 1 cycles: 0 nest+0x8 ({program})\n" * 30
        + f"k 1 1.0: 1 cycles: 0 nest+0xc ({program})\n" * 10
        + f"k 1 1.0: 1 cycles: 0 nest+0x0 ({program})\n" * 5
    )
    found = annotated(capsys, path)
    first = found["loops"][0]
    assert (first["name"], first["samples"]) == ("nest.loop-1", 40)
    assert first["predictions"][0]["cycles_per_iteration"] == 3
    assert sum(each["samples"] for each in found["loops"]) == 45


def test_branches_weigh_paths_and_samples_tell_shares(
    fixed: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "script.txt"
    samples = script_of(fixed)
    path.write_text(fixed.script(symbols=True) + samples)
    found = annotated(capsys, path)
    loops = {each["name"]: each for each in found["loops"]}
    executed = 5 * CHAINED  # lea, add, add, cmp, jne; gcc may order them otherwise
    assert loops["chain.loop-1"]["samples"] == pytest.approx(executed, rel=0.1)
    (tmp_path / "weights.txt").write_text(fixed.script(symbols=True))
    weighed = ["analyze", str(fixed.path), "--function", "walk", "--arch", "SKL", "--format", "json"]
    assert cli.main([*weighed, "--profile", str(tmp_path / "weights.txt")]) == 0
    (branching,) = json.loads(capsys.readouterr().out)["branchings"]
    average = loops["walk.loop-1"]["predictions"][0]["cycles_per_iteration"]
    assert average == pytest.approx(branching["average"]["SKL"], abs=1e-3)


TWO_PATHS = """\
    .globl plain, forked
    .type plain, @function
plain:
0:  imul %rax, %rax
    dec %rcx
    jnz 0b
    ret
    .size plain, .-plain
    .type forked, @function
forked:
0:  test $1, %rcx
    jz 1f
    imul %rax, %rax
    imul %rax, %rax
1:  dec %rcx
    jnz 0b
    ret
    .size forked, .-forked
"""


def test_a_loop_with_two_paths_has_their_average_and_its_mispredictions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of seven recorded iterations six jump over both multiplications (two taken branches, so two cycles).
    One executes them (two latencies of three cycles). Two are mispredicted, at 16.5 cycles each."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    (tmp_path / "two.s").write_text(TWO_PATHS)
    program = tmp_path / "two.so"
    subprocess.run(["gcc", "-shared", "-nostdlib", "-o", program, tmp_path / "two.s"], check=True)
    # In both loops the jump back ends the code; test has 7 bytes, jz 2, and each imul 4.
    oldest_first = []
    for number in range(8):
        if number % 4:
            outcome = "M" if number % 4 == 1 else "P"
            oldest_first.append(f"forked+0x7/forked+0x11/{outcome}/-/-/3")
        oldest_first.append("forked+0x14/forked+0x0/P/-/-/3")
    stacks = [reversed(oldest_first), [f"plain+0x7/plain+0x0/{how}/-/-/3" for how in "MPPPPPPPPM"]]
    lines = [f"k 1 1.0: 1 branches:u:  {' '.join(stack)}" for stack in stacks]
    lines += [f"k 1 1.0: 1 cycles: 0 forked+0x0 ({program})"] * 30
    lines += [f"k 1 1.0: 1 cycles: 0 plain+0x4 ({program})"] * 10
    path = tmp_path / "script.txt"
    path.write_text("\n".join(lines) + "\n")
    forked, plain = annotated(capsys, path)["loops"]
    assert (forked["share"], plain["share"]) == (0.75, 0.25)
    for loop, cycles in ((forked, (6 * 2 + 6) / 7 + 2 / 7 * 16.5), (plain, 3 + 0.2 * 16.5)):
        (prediction,) = loop["predictions"]
        assert prediction["cycles_per_iteration"] == pytest.approx(cycles, abs=1e-3)
        assert prediction["is_lower_bound"]
    assert cli.main(["annotate", str(path), "--arch", "SKL"]) == 0
    assert "at least 7.29  " in capsys.readouterr().out


def test_branches_alone_tell_no_share_of_the_time(
    fixed: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "script.txt"
    path.write_text(fixed.script(symbols=True))
    assert cli.main(["annotate", str(path)]) == 1
    assert "no samples that tell the time" in capsys.readouterr().err


def test_a_recording_goes_through_perf(
    fixed: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed.printed("ip")  # writes the recording, or skips the test where perf is missing
    found = annotated(capsys, fixed.path.with_name("perf.data"))
    assert found["event"].startswith("branches")
    assert {"walk.loop-1", "chain.loop-1"} <= {each["name"] for each in found["loops"]}
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli.main(["annotate", str(fixed.path.with_name("perf.data"))]) == 1
    assert "perf script > profile.txt" in capsys.readouterr().err


def test_a_damaged_recording_has_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("perf") is None:
        pytest.skip("perf is not installed")
    path = tmp_path / "perf.data"
    path.write_bytes(b"PERFILE2" + bytes(200))
    assert cli.main(["annotate", str(path)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and str(path) in error
