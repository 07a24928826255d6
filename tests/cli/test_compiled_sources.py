"""``cyclelens cc``: compilers' commands, and figures at the lines of C, C++ and Rust sources."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.cli import main as cli
from cyclelens.analyzer.compiling.commands import CommandError, steps
from testkit.foreground import obey_interrupts

C = """\
#include <immintrin.h>
float dot(const float *a, const float *b, long n) {
    __m128 s = _mm_setzero_ps();
    for (long i = 0; i < n; i += 4) {
        __m128 x = _mm_loadu_ps(a + i);
        s = _mm_add_ps(s, _mm_mul_ps(x, _mm_loadu_ps(b + i)));
    }
    return _mm_cvtss_f32(s);
}
void scale(float *a, float k, long n) {
    for (long i = 0; i < n; i++)
        a[i] *= k;
}
"""
CPP = """\
namespace mine {
struct Sum { float total; void add(const float *a, long n); };
void Sum::add(const float *a, long n) {
    float s = total;
    for (long i = 0; i < n; i++)
        s += a[i];
    total = s;
}
}
"""
RUST = """\
#![crate_type = "lib"]
#[no_mangle]
pub fn weighted(values: &[f32]) -> f32 {
    let mut total = 0.0;
    for value in values {
        total += value * value;
    }
    total
}
"""


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with sources."""
    for name, text in (("dot.c", C), ("sum.cpp", CPP), ("weighted.rs", RUST)):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def loops(capfd: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert cli.main(["cc", "--format", "json", *arguments]) == 0
    found: list[dict[str, Any]] = json.loads(capfd.readouterr().out)["loops"]
    return found


@pytest.mark.parametrize("compiler", [pytest.param(name, marks=needs(name)) for name in ("gcc", "clang")])
def test_intrinsics_are_shown_at_the_lines_that_use_them(
    here: Path, capfd: pytest.CaptureFixture[str], compiler: str
) -> None:
    (loop,) = loops(capfd, "--function", "dot", "--", compiler, "-O1", "-c", "dot.c")
    assert (loop["file"].rpartition("/")[2], loop["line"]) == ("dot.c", 4)
    assert loop["cycles_per_iteration"] == 4.0  # the addition's latency on Skylake
    # Compilers differ in whether line 5 has an instruction of its own.
    by_line = {line["line"]: line for line in loop["lines"]}
    assert set(by_line) <= {4, 5, 6}
    assert {line["file"].rpartition("/")[2] for line in loop["lines"]} == {"dot.c"}
    assert by_line[6]["chain_cycles"] == 4
    # clang sees that only the first of four sums is used.
    assert any(text.startswith(("addps", "addss")) for text in by_line[6]["instructions"])


@needs("gcc")
def test_nothing_is_left_behind_and_the_report_stands_alone(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path.name for path in here.iterdir())
    loops(capfd, "--", "gcc", "-O2", "-MD", "-MF", "dot.d", "-c", "dot.c", "-o", "made.o")
    assert sorted(path.name for path in here.iterdir()) == before


@needs("gcc")
def test_text_has_the_figure_and_the_source(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cc", "--instructions", "--", "gcc", "-O2", "-c", "dot.c"]) == 0
    output = capfd.readouterr().out
    assert "== dot.c:4: dot.loop-1 ==" in output
    assert "4.00 cycles/iter on SKL" in output
    assert "s = _mm_add_ps(s, _mm_mul_ps(x, _mm_loadu_ps(b + i)));" in output
    assert output.index("dot.c:4:") < output.index("dot.c:11:")


@needs("gcc")
def test_lines_choose_loops(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = ("--", "gcc", "-O2", "-c", "dot.c")
    assert {loop["name"] for loop in loops(capfd, "--line", "12", *command)} == {"scale.loop-1"}
    assert {loop["name"] for loop in loops(capfd, "--line", "dot.c:4-6", *command)} == {"dot.loop-1"}
    assert cli.main(["cc", "--line", "other.c:4-6", *command]) == 1
    assert "no loop has an instruction compiled from there" in capfd.readouterr().err


@needs("gcc")
def test_the_core_is_chosen_and_several_files_are_one_report(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = loops(capfd, "--arch", "ZEN5,SKL", "--", "gcc", "-O2", "dot.c", "sum.cpp", "-lm", "-o", "program")
    assert {(loop["name"].partition(".")[0], loop["microarchitecture"]) for loop in found} == {
        (name, core) for name in ("dot", "scale", "_ZN4mine3Sum3addEPKfl") for core in ("ZEN5", "SKL")
    }


@needs("g++")
def test_a_method_is_found_by_its_plain_name(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (loop,) = loops(capfd, "--function", "add", "--", "g++", "-O2", "-c", "sum.cpp")
    assert (loop["line"], loop["cycles_per_iteration"]) == (5, 4.0)


@needs("rustc")
def test_rust_has_figures_at_its_lines(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = loops(capfd, "--function", "weighted", "--", "rustc", "-O", "weighted.rs")
    assert found
    for loop in found:
        assert (loop["file"].rpartition("/")[2], loop["line"]) == ("weighted.rs", 5)
        assert {line["line"] for line in loop["lines"]} == {5, 6}


@needs("cargo")
def test_a_crate_is_compiled_by_cargo(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "src").mkdir()
    (here / "src" / "lib.rs").write_text(RUST.partition("\n")[2])
    (here / "Cargo.toml").write_text('[package]\nname = "crate1"\nversion = "0.1.0"\nedition = "2021"\n')
    for _ in range(2):  # again, when cargo has nothing to do
        found = loops(capfd, "--", "cargo", "rustc", "--release", "--offline", "--quiet")
        assert {loop["line"] for loop in found} == {4}


@needs("gcc")
def test_what_goes_wrong_is_one_line(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def complaint(*command: str) -> str:
        assert cli.main(["cc", "--", *command]) == 1
        return capfd.readouterr().err.splitlines()[-1]

    (here / "bad.c").write_text("int f(void) { return x; }\n")
    (here / "straight.c").write_text("int f(void) { return 1; }\n")
    assert complaint("gcc", "-c", "bad.c") == "cyclelens: gcc ended with 1"
    assert "no loop was found" in complaint("gcc", "-c", "straight.c")
    assert "names no source" in complaint("gcc", "--version")
    assert "not a known compiler" in complaint("make", "all")
    assert "cannot be run" in complaint("no-such-gcc", "-c", "dot.c")
    assert cli.main(["cc", "gcc", "-c", "dot.c"]) == 2


@needs("gcc")
@pytest.mark.skipif(os.name != "posix", reason="ends the program by a signal")
def test_a_changed_source_is_compiled_again(here: Path) -> None:
    cyclelens = Path(sys.executable).with_name("cyclelens")
    command = [str(cyclelens), "cc", "--watch", "--function", "scale", "--", "gcc", "-O2", "-c", "dot.c"]
    with (
        (here / "report").open("w") as report,
        subprocess.Popen(command, stdout=report, preexec_fn=obey_interrupts) as process,
    ):
        try:
            _wait(here / "report", "a[i] *= k;")
            (here / "dot.c").write_text(C.replace("a[i] *= k", "a[i] += k"))
            _wait(here / "report", "a[i] += k;")
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait() == 130


def _wait(file: Path, text: str) -> None:
    end = time.monotonic() + 60
    while text not in file.read_text():
        assert time.monotonic() < end, file.read_text()
        time.sleep(0.05)


def made(*words: str) -> list[tuple[str, ...]]:
    return [step.words for step in steps(words, "/t")]


def test_commands_keep_what_matters_for_the_code() -> None:
    assert made(
        "gcc", "-O3", "-I", "x.c", "-DN=4", "-c", "a.c", "-o", "a.o", "-MMD", "-MF", "a.d", "-flto"
    ) == [("gcc", "-O3", "-I", "x.c", "-DN=4", "-g", "-c", "a.c", "-o", "/t/1.o")]
    assert made("ccache", "x86_64-linux-gnu-g++-12", "-g1", "a.cc", "b.cc", "lib.a", "-Wl,-z,now") == [
        ("ccache", "x86_64-linux-gnu-g++-12", "-g1", "-c", "a.cc", "-o", "/t/1.o"),
        ("ccache", "x86_64-linux-gnu-g++-12", "-g1", "-c", "b.cc", "-o", "/t/2.o"),
    ]
    assert made("/usr/bin/rustc", "-O", "a.rs", "--emit", "asm", "-o", "x") == [
        ("/usr/bin/rustc", "-O", "a.rs", "--emit=obj=/t/1.o", "-Ccodegen-units=1", "-Cdebuginfo=2")
    ]
    assert made("cargo", "rustc", "--release", "--", "-Cdebuginfo=1") == [
        ("cargo", "rustc", "--release", "--", "-Cdebuginfo=1", "--emit=obj=/t/1.o", "-Ccodegen-units=1")
    ]
    with pytest.raises(CommandError, match="cargo rustc"):
        made("cargo", "build")
    with pytest.raises(CommandError, match="no compiler command"):
        made("ccache")


MARKED = """\
#include "cyclelens.h"
float dot(const float *a, const float *b, long n) {
    float s = 0, t = 1;
    CYCLELENS_BEGIN("dot");
    for (long i = 0; i < n; i++)
        s += a[i] * b[i];
    CYCLELENS_END();
    for (long i = 0; i < n; i++)
        t *= a[i];
    return s + t;
}
unsigned mixed(unsigned x) {
    CYCLELENS_BEGIN("mix");
    x = x * 31 ^ x >> 7;
    CYCLELENS_END();
    return x;
}
"""
MARKED_RUST = """\
#![crate_type = "lib"]
include!("cyclelens.rs");
#[no_mangle]
pub fn squares(values: &[f32]) -> f32 {
    let mut total = 0.0;
    cyclelens_begin!("squares");
    for value in values {
        total += value * value;
    }
    cyclelens_end!();
    for value in values {
        total *= value;
    }
    total
}
"""


def include_folder(capfd: pytest.CaptureFixture[str]) -> Path:
    assert cli.main(["cc", "--include-folder"]) == 0
    return Path(capfd.readouterr().out.strip())


@pytest.mark.parametrize("compiler", [pytest.param(name, marks=needs(name)) for name in ("gcc", "clang")])
def test_what_is_marked_is_shown_by_its_name_and_costs_nothing(
    here: Path, capfd: pytest.CaptureFixture[str], compiler: str
) -> None:
    folder = include_folder(capfd)
    (here / "marked.c").write_text(MARKED)
    command = [compiler, "-O2", "-fno-unroll-loops", f"-I{folder}", "-c", "marked.c"]
    found = loops(capfd, "--", *command)
    assert [loop["name"] for loop in found][:1] == ["dot"]
    assert {loop["name"] for loop in found} <= {"dot", "mix"}, "a compiler may empty the second one"
    assert found[0]["cycles_per_iteration"] == 4.0

    # Without marks the loop is the same; gcc makes the same bytes of all.
    off = ["-DCYCLELENS_H", "-DCYCLELENS_BEGIN(name)=", "-DCYCLELENS_END()="]
    plain = [loop for loop in loops(capfd, "--", *command, *off) if loop["line"] == found[0]["line"]]
    mnemonics = [
        [text.split()[0] for line in loop["lines"] for text in line["instructions"]]
        for loop in (found[0], plain[0])
    ]
    assert mnemonics[0] == mnemonics[1]

    def code(*words: str) -> bytes:
        subprocess.run([*command, *words, "-o", "marked.o"], check=True)
        subprocess.run(["objcopy", "-O", "binary", "-j", ".text", "marked.o", "marked.bin"], check=True)
        return (here / "marked.bin").read_bytes()

    assert compiler != "gcc" or code() == code(*off)


@needs("rustc")
def test_rust_is_marked_too(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    shutil.copy(include_folder(capfd) / "cyclelens.rs", here)
    (here / "marked.rs").write_text(MARKED_RUST)
    found = loops(capfd, "--", "rustc", "-O", "marked.rs")
    assert {loop["name"].split("-")[0] for loop in found} == {"squares"}
    assert {line["line"] for loop in found for line in loop["lines"]} <= {7, 8}


@needs("gcc")
def test_chains_that_tie_on_a_line_are_not_added_up(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Two products of three cycles each run side by side."""
    (here / "tie.c").write_text(
        "void tie(unsigned long *p, long n) {\n    unsigned long b = p[1], c = p[2];\n"
        "    for (long i = 0; i < n; i++) { b *= 5 + n; c *= 7 + n; }\n    p[1] = b; p[2] = c;\n}\n"
    )
    (loop,) = loops(capfd, "--", "gcc", "-O2", "-fno-tree-vectorize", "-c", "tie.c")
    assert loop["cycles_per_iteration"] == 3.0
    assert max(line["chain_cycles"] for line in loop["lines"]) == 3
