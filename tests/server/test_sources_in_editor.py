"""C, C++ and Rust files in an editor: figures at their lines, from the project's compiler."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.compiling.background import CannotCompileError, Objects, RequestCancelled
from cyclelens.analyzer.compiling.projects import Databases, NoCommandError, command_for
from testkit.compiled_loops import RUST
from testkit.narrowing import some
from testkit.server.editor import TIMEOUT, Editor
from testkit.walked_programs import GNU, SOURCE, follow, follow_kernel, steps

DOT = """\
#include <immintrin.h>
#include "step.h"
float dot(const float *a, const float *b, long n) {
    __m128 s = _mm_setzero_ps();
    for (long i = 0; i < n; i += STEP) {
        __m128 x = _mm_loadu_ps(a + i);
        s = _mm_add_ps(s, _mm_mul_ps(x, _mm_loadu_ps(b + i)));
    }
    return _mm_cvtss_f32(s);
}
"""
LOOP, SUM = 4, 6
"""Lines of the loop and of what it waits for."""


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a C file and its compile command."""
    (tmp_path / "src").mkdir(exist_ok=True)
    (tmp_path / "src" / "dot.c").write_text(DOT)
    (tmp_path / "src" / "step.h").write_text("#define STEP 4\n")
    (tmp_path / "build").mkdir()
    entry = {"directory": str(tmp_path), "file": "src/dot.c", "command": "gcc -O2 -c src/dot.c -o x/dot.o"}
    (tmp_path / "build" / "compile_commands.json").write_text(json.dumps([entry]))
    return tmp_path


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir(exist_ok=True)
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "chain"\nversion = "0.1.0"\nedition = "2021"\n')
    (tmp_path / "src" / "lib.rs").write_text(RUST)
    return tmp_path


async def labels_with(editor: Editor, line: int, words: str) -> str:
    """The label of a line, as soon as it has these words."""
    async with asyncio.timeout(TIMEOUT):
        while words not in (found := (await editor.labels()).get(line, "")):
            await asyncio.sleep(0.05)
    return found


async def start(editor: Editor, file: Path, **settings: Any) -> None:
    """Open a file in its folder, which need not be a workspace of more. Advice would take the place of labels
    as soon as it comes."""
    chosen = {"allowExternalPrograms": True, "advice": False, **settings}
    editor.client.set_configuration(chosen, section="cyclelens")
    editor.uri = file.as_uri()
    await editor.start(folder=file.parent.parent)
    editor.send_open(file.read_text())


@needs("gcc")
@pytest.mark.asyncio
async def test_figures_stand_at_the_lines_and_follow_what_is_typed(editor: Editor, project: Path) -> None:
    await start(editor, project / "src" / "dot.c")
    await labels_with(editor, LOOP, "1.00 cycles/float · SKL · latency-bound")
    assert await labels_with(editor, SUM, "chain +4")
    text = editor.text.split("\n")[SUM]
    editor.replace_line(SUM, text.replace("_mm_add_ps(s, ", "_mm_add_ps(_mm_add_ps(s, s), "))
    await labels_with(editor, LOOP, "1.00 -> 2.00 cycles/float, +100 % time")
    assert (project / "src" / "dot.c").read_text() == DOT


@needs("gcc")
@needs("objdump")
@pytest.mark.asyncio
async def test_a_profile_weighs_the_ways_of_a_loop(editor: Editor, project: Path) -> None:
    run = follow(project, steps(project), "-static", "-no-pie")
    (project / "perf.txt").write_text(run.script(symbols=True))
    source = project / "src" / "dot.c"
    source.write_text(SOURCE)
    commands = project / "build" / "compile_commands.json"
    commands.write_text(commands.read_text().replace("gcc -O2", "gcc -O2 -fno-if-conversion"))
    await start(editor, source, profile="perf.txt")
    line = next(number for number, text in enumerate(SOURCE.split("\n")) if "for (" in text)
    label = await labels_with(editor, line, "of the profile")
    assert re.fullmatch(r"\d\.\d\d cycles/iter · \d\d% of the profile · SKL", label)


@needs("gcc")
@pytest.mark.asyncio
async def test_a_profile_weighs_an_assembly_file_too(editor: Editor, project: Path) -> None:
    kernel = project / "src" / "kernel.s"
    kernel.write_text(GNU)
    (project / "perf.txt").write_text(follow_kernel(project, steps(project), kernel).script(symbols=True))
    await start(editor, kernel, profile="perf.txt")
    line = GNU.split("\n").index("    # cyclelens-begin walking")
    label = await labels_with(editor, line, "of the profile")
    assert re.search(r"\d\.\d\d cycles/iter .*· \d\d% of the profile · SKL", label)
    editor.replace_line(line - 1, "    leaq (%rdi,%rsi,8), %rdx; nop")
    await editor.analysed()
    shown = [each for each in editor.client.published[editor.uri].diagnostics if each.code == "no-profile"]
    assert any("other code than 'walking'" in each.message for each in shown)


@needs("gcc")
@pytest.mark.asyncio
async def test_a_profile_of_other_files_is_reported_once(editor: Editor, project: Path) -> None:
    kernel = project / "src" / "kernel.s"
    kernel.write_text(GNU)
    (project / "perf.txt").write_text(follow_kernel(project, steps(project), kernel).script(symbols=True))
    await start(editor, project / "src" / "dot.c", profile="perf.txt")
    await labels_with(editor, LOOP, "1.00 cycles/float · SKL · latency-bound")
    assert "This message is shown once" in await editor.message("dot.c: The profile is of other code")
    text = editor.text.split("\n")[SUM]
    editor.replace_line(SUM, text.replace("_mm_add_ps(s, ", "_mm_add_ps(_mm_add_ps(s, s), "))
    await labels_with(editor, LOOP, "1.00 -> 2.00 cycles/float, +100 % time")
    assert await editor.codes() == []
    assert len([each for each in editor.client.messages if "shown once" in each.message]) == 1


@needs("gcc")
@pytest.mark.asyncio
async def test_a_missing_profile_is_reported_at_the_first_line(editor: Editor, project: Path) -> None:
    await start(editor, project / "src" / "dot.c", profile="absent.txt")
    await labels_with(editor, LOOP, "1.00 cycles/float · SKL · latency-bound")
    await editor.analysed()
    (shown,) = (each for each in editor.client.published[editor.uri].diagnostics if each.code == "no-profile")
    assert "cannot be read" in shown.message


@needs("gcc")
@pytest.mark.asyncio
async def test_a_hover_says_what_became_of_the_line(editor: Editor, project: Path) -> None:
    await start(editor, project / "src" / "dot.c")
    await labels_with(editor, LOOP, "cycles/float")
    await editor.complete()
    card = await editor.hover(SUM, 15)
    assert "mulps" in card
    assert "addps" in card
    assert "chain +4" in card
    titles = [lens.command.title for lens in await editor.lenses() if lens.command]
    assert "Timeline" in titles
    name = some(some((await editor.lenses())[1].command).arguments)[1]
    assert isinstance(name, str)
    table = await editor.run("cyclelens.compare", name)
    cycles = table["columns"].index("cycles/iter")
    assert {row[0]: row[cycles] for row in table["rows"]}["HSW"] == 3.0


UNROLLED = """\
long sum(const long *a, long n) {
    long s = 1;
    #pragma GCC unroll 4
    for (long i = 0; i < n; i++)
        s = (s + a[i]) ^ 5;
    return s;
}
"""


@needs("clang")
@pytest.mark.asyncio
async def test_loops_compiled_from_one_loop_share_its_line(editor: Editor, project: Path) -> None:
    """An unrolled loop has another one for the rest."""
    commands = project / "build" / "compile_commands.json"
    commands.write_text(commands.read_text().replace("gcc", "clang"))
    source = project / "src" / "dot.c"
    source.write_text(UNROLLED.replace("GCC unroll", "unroll"))
    await start(editor, source)
    label = await labels_with(editor, 3, "(also 0.250)")
    assert label.startswith("0.250 cycles/byte (also 0.250) · SKL")
    assert len(label) <= 43
    titles = [lens.command.title for lens in await editor.lenses() if lens.command]
    assert titles.count("Timeline") == 1
    assert titles[-1].endswith(": 2.00")
    # Bars and chains are those of one loop, not of both.
    assert (await editor.labels())[4].count("chain") == 1


@pytest.mark.parametrize("compiler", [pytest.param(name, marks=needs(name)) for name in ("gcc", "clang")])
@pytest.mark.asyncio
async def test_a_hover_on_an_intrinsic_says_what_it_costs(
    compiler: str, editor: Editor, project: Path
) -> None:
    commands = project / "build" / "compile_commands.json"
    commands.write_text(commands.read_text().replace("gcc", compiler))
    source = project / "src" / "dot.c"
    source.write_text(DOT.replace("_cvtss_f32(s)", "_cvtss_f32(_mm_sqrt_ps(s))"))
    await start(editor, project / "src" / "dot.c")
    await labels_with(editor, LOOP, "cycles/float")
    await editor.complete()
    line = editor.text.split("\n")[SUM]
    multiplied, added = [
        await editor.hover(SUM, line.index(name) + 5) for name in ("_mm_mul_ps", "_mm_add_ps")
    ]
    assert multiplied.startswith("**`_mm_mul_ps`** on SKL")
    assert "mulps" in multiplied.split("per iteration of")[0]
    (row,) = (row for row in added.split("per iteration of")[0].split("\n") if row.startswith("| `add"))
    assert row.endswith("| p01 | 4 | 0.50 |")
    # Outside of the loop, too.
    assert "sqrt" in await editor.hover(SUM + 2, editor.text.split("\n")[SUM + 2].index("_mm_sqrt_ps") + 2)


@needs("gcc")
@pytest.mark.asyncio
async def test_advice_is_about_the_machine_code_and_edits_nothing(editor: Editor, project: Path) -> None:
    source = project / "src" / "dot.c"
    source.write_text(DOT.replace("_mm_cvtss_f32(s)", "_mm_cvtss_f32(_mm_hadd_ps(s, s))"))
    commands = project / "build" / "compile_commands.json"
    commands.write_text(commands.read_text().replace("gcc -O2", "gcc -O2 -msse3"))
    await start(editor, source, advice=True)
    label = await labels_with(editor, LOOP, "rewrite: ")
    assert label.startswith("1.00 · SKL · latency-bound")
    assert len(label) <= 43
    assert await editor.actions(LOOP) == []


@needs("gcc")
@needs("git")
@pytest.mark.asyncio
async def test_the_history_has_what_the_committed_source_took(editor: Editor, project: Path) -> None:
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "dot"]):
        subprocess.run(
            ["git", "-c", "user.name=x", "-c", "user.email=x@localhost", *command], cwd=project, check=True
        )
    source = project / "src" / "dot.c"
    await start(editor, source)
    await labels_with(editor, LOOP, "cycles/float")
    text = editor.text.split("\n")[SUM]
    editor.replace_line(SUM, text.replace("_mm_add_ps(s, ", "_mm_add_ps(_mm_add_ps(s, s), "))
    await labels_with(editor, LOOP, "2.00 cycles/float")
    told = await editor.run("cyclelens.history", "dot.loop-1")
    assert [row[:2] for row in told["rows"]] == [["HEAD", 4.0], ["opened", 4.0], ["now", 8.0]]


@needs("gcc")
@pytest.mark.asyncio
async def test_what_does_not_compile_keeps_the_last_figures(editor: Editor, project: Path) -> None:
    await start(editor, project / "src" / "dot.c")
    await labels_with(editor, LOOP, "cycles/float")
    editor.type(SUM, 8, "nonsense ")
    assert "1.00 cycles/float" in await labels_with(editor, LOOP, "(stale)")
    await editor.analysed()
    (shown,) = editor.client.published[editor.uri].diagnostics
    assert shown.code == "not-compiled"
    assert "nonsense" in shown.message
    editor.type(SUM, 8, "", delete=len("nonsense "))
    async with asyncio.timeout(TIMEOUT):
        while "(stale)" in (await editor.labels()).get(LOOP, "(stale)"):
            await asyncio.sleep(0.05)


@needs("gcc")
@pytest.mark.asyncio
async def test_no_compiler_runs_without_leave(editor: Editor, project: Path) -> None:
    (project / "gcc").write_text(f"#!/bin/sh\ntouch {project}/ran\nexec gcc $@\n")
    (project / "gcc").chmod(0o755)
    # A compiler quotes what it reads; a command may name any file.
    (project.parent / "options").write_text("-DOF_ANOTHER_FILE\n")
    database = project / "build" / "compile_commands.json"
    command = f'"{project}/gcc @{project.parent}/options '
    database.write_text(database.read_text().replace('"gcc ', command))
    await start(editor, project / "src" / "dot.c", allowExternalPrograms=False)
    # With a compiler, this answer comes after its end.
    (problem,) = (await editor.analysed()).diagnostics
    assert problem.message == "No figures: compilers are only run in trusted folders"
    assert not (project / "ran").exists()
    assert await editor.labels() == {}
    assert "OF_ANOTHER_FILE" not in str([editor.client.published, editor.client.messages])
    # The same file, with leave.
    editor.client.set_configuration({"allowExternalPrograms": True, "advice": False}, section="cyclelens")
    editor.changed_settings()
    await labels_with(editor, LOOP, "1.00 cycles/float")
    assert (project / "ran").exists()


@needs("gcc")
@pytest.mark.asyncio
async def test_a_file_without_a_compile_command_has_no_figures_and_no_complaint(
    editor: Editor, project: Path
) -> None:
    other = project / "src" / "other.c"
    other.write_text(DOT)
    await start(editor, other)
    await editor.analysed()
    assert await editor.labels() == {}
    assert editor.client.published[editor.uri].diagnostics == ()
    ask = editor.client.protocol.send_request_async
    answer = await ask("cyclelens/regions", {"textDocument": {"uri": editor.uri}})
    assert "compile_commands.json" in answer.note
    await editor.analysed()
    await asyncio.sleep(0.3)  # the details come behind the figures
    assert editor.client.messages == []


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("database", "reason"),
    [
        ('[{"directory": ".", "file": "../src/dot.c", "arguments": 5}]', "its entry in .* cannot be used"),
        ('[{"directory": ".", "file": "../src/dot.c", "arguments": ["gcc\\u0000"]}]', "cannot be used"),
        ("[{", "compile_commands.json cannot be read"),
    ],
)
async def test_a_damaged_database_is_named_at_the_source(
    editor: Editor, project: Path, database: str, reason: str
) -> None:
    (project / "build" / "compile_commands.json").write_text(database)
    await start(editor, project / "src" / "dot.c")
    await editor.analysed()
    (problem,) = editor.client.published[editor.uri].diagnostics
    assert (problem.code, problem.range.start.line) == ("not-compiled", 0)
    assert re.search(reason, problem.message)
    assert editor.client.messages == []


@needs("cargo")
@pytest.mark.asyncio
async def test_a_crate_is_compiled_as_it_is_saved(editor: Editor, crate: Path) -> None:
    file = crate / "src" / "lib.rs"
    await start(editor, file)
    # rustc may make one loop of it or, with one unrolled, two.
    await labels_with(editor, 3, "0.500 cycles/byte")
    text = editor.text.split("\n")[4]
    editor.replace_line(4, text.replace("total * value", "total * value * value"))
    assert "0.500" in await labels_with(editor, 3, "(stale)")
    file.write_text(editor.text)
    editor.save()
    await labels_with(editor, 3, "0.875")


@needs("gcc")
def test_objects_are_kept_until_something_that_was_read_changes(project: Path) -> None:
    file = str(project / "src" / "dot.c")
    (project / "count").write_text("")
    (project / "gcc").write_text(
        f'#!/bin/sh\necho >>{project}/count\nnice >{project}/niceness\nexec gcc "$@"\n'
    )
    (project / "gcc").chmod(0o755)
    database = project / "build" / "compile_commands.json"
    database.write_text(database.read_text().replace('"gcc ', f'"{project}/gcc '))
    command = command_for(file, [str(project)], Databases(Caches()))
    objects = Objects(Caches())

    def runs(text: str) -> int:
        assert objects.object_of(command, text, lambda: False).startswith(b"\x7fELF")
        return len((project / "count").read_text())

    assert [runs(DOT), runs(DOT)] == [1, 1]
    assert [runs(DOT + "\n"), runs(DOT)] == [2, 2]
    (project / "src" / "step.h").touch()
    assert [runs(DOT), runs(DOT)] == [2, 2], "the time of a change changes nothing"
    (project / "src" / "step.h").write_text("#define STEP 8\n")
    assert [runs(DOT), runs(DOT)] == [3, 3]
    assert (project / "niceness").read_text() == "19\n", "it gives way to everything else"


@pytest.mark.skipif(os.name != "posix", reason="it is about processes of Unix")
def test_a_cancelled_compiler_ends_with_everything_that_it_started(project: Path) -> None:
    (project / "gcc").write_text(f"#!/bin/sh\nsleep 1234 &\necho $! >{project}/pid\nwait\n")
    (project / "gcc").chmod(0o755)
    database = project / "build" / "compile_commands.json"
    database.write_text(database.read_text().replace('"gcc ', f'"{project}/gcc '))
    command = command_for(str(project / "src" / "dot.c"), [str(project)], Databases(Caches()))
    started = project / "pid"
    with pytest.raises(RequestCancelled):
        Objects(Caches()).object_of(
            command, DOT, lambda: started.exists() and started.read_text().endswith("\n")
        )
    sleeper = Path("/proc") / started.read_text().strip() / "cmdline"
    limit = time.monotonic() + 10
    while sleeper.exists() and b"1234" in sleeper.read_bytes():
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_who_says_how_a_file_is_compiled(project: Path, crate: Path) -> None:
    folders = [str(project)]
    assert command_for(str(project / "src" / "dot.c"), folders, Databases(Caches())).word == "src/dot.c"
    library = command_for(str(crate / "src" / "lib.rs"), folders, Databases(Caches()))
    assert library.words[-1] == "--lib"
    (crate / "src" / "bin").mkdir()
    tool = command_for(str(crate / "src" / "bin" / "tool.rs"), folders, Databases(Caches()))
    assert tool.words[-2:] == ("--bin", "tool")
    with pytest.raises(NoCommandError, match="does not list"):
        command_for(str(project / "src" / "none.c"), folders, Databases(Caches()))
    # Nothing outside of the workspace says anything.
    with pytest.raises(NoCommandError, match=r"no compile_commands\.json"):
        command_for(str(project / "src" / "dot.c"), [str(project / "src")], Databases(Caches()))
    (project / "build" / "compile_commands.json").write_text("[{")
    with pytest.raises(NoCommandError, match="cannot be read"):
        command_for(str(project / "src" / "dot.c"), folders, Databases(Caches()))


def test_a_compiler_that_is_none_is_named(project: Path) -> None:
    database = project / "build" / "compile_commands.json"
    database.write_text(database.read_text().replace("gcc ", "no-such-thing "))
    command = command_for(str(project / "src" / "dot.c"), [str(project)], Databases(Caches()))
    with pytest.raises(CannotCompileError, match="'no-such-thing' is not a known compiler"):
        Objects(Caches()).object_of(command, DOT, lambda: False)
