"""What external programs see of the machine, and how much they may write."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.assemblers import confinement, external
from cyclelens.analyzer.frontend.files import includes
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Assembler
from cyclelens.analyzer.model.source import Origin

SHELL = "/bin/sh"
pytestmark = pytest.mark.skipif(not os.access(SHELL, os.X_OK), reason="the stand-ins are shell scripts")
needs_landlock = pytest.mark.skipif(not confinement.version(), reason="the kernel has no Landlock")


def shell(script: str, **options: Any) -> external.ProgramResult:
    return external.run(external.ProgramRun([SHELL, "-c", script], timeout=5, **options))


def test_programs_learn_nothing_of_the_environment_but_where_things_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOKEN", "topsecret")
    monkeypatch.setenv("NASMENV", "-DELSEWHERE")
    monkeypatch.setenv("GCC_EXEC_PREFIX", "topsecret")
    lines = shell("env").output.decode().splitlines()
    known = {*external._VARIABLES, "HOME", "TMPDIR", "TEMP", "TMP", "LC_ALL"}
    assert {line.partition("=")[0] for line in lines} - {"PWD", "OLDPWD", "SHLVL", "_"} <= known
    assert not [line for line in lines if "topsecret" in line]


@pytest.mark.skipif(shutil.which("nasm") is None, reason="NASM is not on PATH")
def test_no_message_holds_a_variable_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "topsecret")
    text = "; cyclelens-begin\nnop\n%defstr zz %!TOKEN\n%error zz\n; cyclelens-end\n"
    result = assemble(text, SourceOptions(assembler=Assembler.NASM))
    assert result.problems
    assert "topsecret" not in repr(result)


@needs_landlock
def test_programs_open_nothing_but_what_they_are_given(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    (inside / "own").write_text("own")
    outside.write_text("secret")
    (inside / "link").symlink_to(outside)
    script = (
        f"cat {inside}/own {inside}/link {outside} /etc/passwd; echo x > {inside}/own; echo x > own; cat own"
    )
    done = shell(script, readable=(str(inside),))
    assert done.output == b"ownx\n"
    assert done.errors.count("ermission denied") == 4
    assert (inside / "own").read_text() == "own"
    # The restriction is one of the program, not of this process.
    assert outside.read_text() == "secret"


@needs_landlock
@pytest.mark.parametrize("name", ["as", "nasm", "cc"])
def test_the_usual_programs_work_confined(name: str) -> None:
    program = external.find_program(name)
    if program is None:
        pytest.skip(f"{name} is not on PATH")
    assert external.run(external.ProgramRun([program, "--version"], timeout=5)).status == 0
    if name == "cc":
        done = external.run(
            external.ProgramRun([program, "-E", "-"], timeout=5, text="#include <stddef.h>\n")
        )
        assert (done.status, done.errors) == (0, "")
    assert program not in external._not_confined


@needs_landlock
def test_a_program_that_needs_more_of_the_machine_runs_without(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "bin").mkdir()
    interpreter = tmp_path / "parts" / "interpreter"
    shutil.copy(SHELL, interpreter)
    program = tmp_path / "bin" / "as"
    program.write_text(f"#!{interpreter}\necho works\n")
    program.chmod(0o755)
    assert external.run(external.ProgramRun([str(program)], timeout=5)).output == b"works\n"
    assert str(program) in external._not_confined


def test_output_without_end_is_cut_off_and_nothing_goes_on_running(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "OUTPUT_LIMIT", 1 << 20)
    with pytest.raises(external.TooMuchError, match="more than 1 MB") as caught:
        shell("yes & yes")
    assert caught.value.written == {"": b"y\n" * (1 << 19)}
    with pytest.raises(external.TooMuchError, match="more than 1 MB") as caught:
        shell("yes > made", wanted=("made",), file_limit=1 << 20)
    assert caught.value.written == {"made": b"y\n" * (1 << 19)}


def test_output_that_is_read_before_anybody_looks_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    started = external._thread

    def read_at_once(work: Callable[[], None]) -> threading.Thread:
        thread = started(work)
        thread.join()
        return thread

    monkeypatch.setattr(external, "OUTPUT_LIMIT", 1 << 20)
    monkeypatch.setattr(external, "_thread", read_at_once)
    with pytest.raises(external.TooMuchError, match="more than 1 MB"):
        shell("yes")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found in /proc")
def test_everything_that_a_program_started_ends_with_it(tmp_path: Path) -> None:
    with pytest.raises(external.HungError):
        external.run(
            external.ProgramRun([SHELL, "-c", f"{SHELL} -c 'sleep 61.0625; true'; true"], timeout=0.25)
        )
    deadline = time.monotonic() + 10
    while b"sleep\x0061.0625\0" in running():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_killed_program_runs_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    deaths = 0
    wait = external._output

    def kill(process: subprocess.Popen[bytes], *rest: Any) -> bytes:
        nonlocal deaths
        if deaths:
            process.kill()
            deaths -= 1
        return wait(process, *rest)

    monkeypatch.setattr(external, "_output", kill)
    deaths = 1
    assert shell("sleep 0.2; echo done").output == b"done\n"
    deaths = 2
    with pytest.raises(external.KilledError):
        shell("sleep 0.2; echo done")
    assert deaths == 0


def test_programs_belong_to_the_process_group_of_their_starter(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = []
    start = subprocess.Popen

    def watched(*given: Any, **named: Any) -> subprocess.Popen[bytes]:
        process = start(*given, **named)
        groups.append(os.getpgid(process.pid))
        return process

    monkeypatch.setattr(subprocess, "Popen", watched)
    shell("sleep 0.01")
    # A worker is ended with its group.
    assert groups == [os.getpgrp()]


def running() -> list[bytes]:
    """The command lines of all processes."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(place.read_bytes())
    return found


def test_a_link_that_is_changed_after_it_was_looked_at_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (tmp_path / "secret").write_text(".set topsecret, 0x5ec2e7\n")
    (folder / "own.inc").write_text("nop\n")
    origin = Origin(str(folder / "k.s"), (str(folder),))
    looked = includes.may_read

    def then_swap(path: str, origin: Origin) -> bool:
        answer = looked(path, origin)
        (folder / "own.inc").unlink(missing_ok=True)
        (folder / "own.inc").symlink_to(tmp_path / "secret")
        return answer

    monkeypatch.setattr(includes, "may_read", then_swap)
    result = assemble(
        '# cyclelens-begin\nret\n.include "own.inc"\n# cyclelens-end\n', SourceOptions(origin=origin)
    )
    assert "5ec2e7" not in repr(result)
    assert "include-not-read" in {problem.code for problem in result.problems}
