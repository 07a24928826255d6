"""Commands of cl and clang-cl: what is kept, and what they make."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cyclelens.analyzer.cli import main as cli
from cyclelens.analyzer.compiling.commands import CommandError, steps
from cyclelens.analyzer.compiling.projects import _split


def kept(*words: str) -> list[tuple[str, ...]]:
    return [step.words for step in steps(words, "/out")]


def test_options_that_change_the_code_stay_and_those_that_write_files_go() -> None:
    given = (
        "cl.exe /nologo /O2 /arch:AVX2 /openmp /EHsc /MD /DN=a.c /D X=1 /Iinc /I inc2 /FIpre.h /GL /Zi /FS"
    )
    written = (
        "/Fdx.pdb /Fox.obj /Fa /showIncludes /sourceDependencies d.json /c a.cpp b.lib /link /OUT:a.exe c.obj"
    )
    assert kept(*given.split(), *written.split()) == [
        (
            *(
                "cl.exe",
                "/O2",
                "/arch:AVX2",
                "/openmp",
                "/EHsc",
                "/MD",
                "/DN=a.c",
                "/D",
                "X=1",
                "/Iinc",
                "/I",
            ),
            *("inc2", "/FIpre.h", "/Z7", "/c", "a.cpp", "/Fo/out/1.obj"),
        )
    ]


def test_every_source_is_a_step_in_its_language() -> None:
    found = kept(
        "clang-cl", "-O2", "/Tcone.x", "/Tp", "two.x", "/home/me/three.c", "--target=x86_64-pc-windows-msvc"
    )
    assert [words[-2:] for words in found] == [
        ("/Tcone.x", "/Fo/out/1.obj"),
        ("/Tptwo.x", "/Fo/out/2.obj"),
        ("/home/me/three.c", "/Fo/out/3.obj"),
    ]
    assert all("--target=x86_64-pc-windows-msvc" in words for words in found)


def test_a_path_of_windows_names_the_compiler() -> None:
    assert kept("C:\\VS\\bin\\CL.EXE", "/O1", "a.c")[0][1] == "/O1"


@pytest.mark.parametrize(
    ("words", "said"), [(("cl", "/c"), "no source file"), (("cl", "@all.rsp"), "@all.rsp")]
)
def test_what_cannot_be_used_is_said(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        kept(*words)


def test_commands_of_windows_keep_their_backslashes() -> None:
    command = '"C:\\Program Files\\LLVM\\clang-cl.exe" /DN=\\"x\\" /IC:\\inc -c C:\\src\\a.c'
    assert _split(command) == [
        "C:\\Program Files\\LLVM\\clang-cl.exe",
        '/DN="x"',
        "/IC:\\inc",
        "-c",
        "C:\\src\\a.c",
    ]


def test_clang_cl_shows_the_loops_at_their_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clang = shutil.which("clang")
    if clang is None:
        pytest.skip("clang is not installed")
    (tmp_path / "clang-cl").symlink_to(clang)
    source = tmp_path / "sum.c"
    source.write_text(
        "int sum(const int *a, int n) {\n  int s = 0;\n  for (int i = 0; i < n; i++)\n    s = s * 7 ^ a[i];\n"
        "  return s;\n}\n"
    )
    command = [str(tmp_path / "clang-cl"), "--target=x86_64-pc-windows-msvc", "/O2", "/c", str(source)]
    assert cli.main(["cc", "--arch", "SKL", "--", *command]) == 0
    shown = capsys.readouterr().out
    assert "sum.c:3: sum.loop-1" in shown and "        4 " in shown
