"""An analysis never runs the code that it reads, and starts no program but Keystone's process."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemblers.assembler_client import COMMAND

WATCHED = """
import json, sys
started = []
def watch(event, arguments):
    if event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system"):
        started.append(list(map(str, arguments[1] or ())) if event == "subprocess.Popen" else event)
    if event in ("os.fork", "os.forkpty") or (event == "ctypes.dlopen" and arguments[0]):
        started.append(event)
sys.addaudithook(watch)
from cyclelens.analyzer.cli.main import main
try:
    main()
finally:
    print(json.dumps(started), file=sys.stderr)
"""
PROGRAM = """
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) void ran(void) { close(creat("ran", 0600)); }
int sum(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
int main(void) { return sum(0, 0); }
"""
TEXT = """\
# cyclelens-begin stops
hlt
int3
ud2
mov $60, %eax
syscall
# cyclelens-end
"""


def started(file: Path) -> list[list[str]]:
    """Programs that an analysis of the file starts."""
    run = subprocess.run(
        [sys.executable, "-c", WATCHED, "analyze", file.name],
        cwd=file.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert run.stdout.startswith("== ")
    found: list[list[str]] = json.loads(run.stderr.splitlines()[-1])
    return found


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
@pytest.mark.parametrize("options", [("-O1",), ("-O1", "-shared", "-fPIC")], ids=["program", "library"])
def test_a_program_is_read_and_not_run(options: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM)
    subprocess.run(["gcc", *options, "-o", "p", "p.c"], cwd=tmp_path, check=True)
    assert started(tmp_path / "p") == []
    assert not (tmp_path / "ran").exists()


def test_a_text_is_assembled_and_not_run(tmp_path: Path) -> None:
    (tmp_path / "k.s").write_text(TEXT)
    assert started(tmp_path / "k.s") == [[sys.executable, *COMMAND]]
