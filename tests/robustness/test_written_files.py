"""Output files: a FIFO or a device gives one message, and no command waits for a reader."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cyclelens.analyzer.common.regular_files import check_written

KERNEL = "# cyclelens-begin\nadd %rax, %rbx\n# cyclelens-end\n"
COMMANDS = {
    "rewrite": ("rewrite", "k.s", "--apply", "1", "--output"),
    "measure": ("measure", "--blocks", "--mode", "loop", "--output"),
    "characterize": ("characterize", "--output"),
    "check": ("check", "k.s", "--max-cycles", "k=9", "--sarif"),
    "heatmap": ("evaluate", "--against", "k.csv", "--heatmap"),
    "resume": ("evaluate", "--against", "k.csv", "--resume"),
    "sweep": ("sweep", "k.s", "--load-latency", "4..9", "--plot"),
    "corpus": ("predict", "--input", "k.csv", "--output"),
    "bug-report": ("bug-report", "--output"),
    "import": ("data", "import", "k.xml", "--output"),
    "log": ("analyze", "k.s", "--log"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_is_written_is_a_regular_one(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for file in ("k.s", "k.csv", "k.xml"):
        (tmp_path / file).write_text(KERNEL)
    for target in ("fifo", "/dev/zero"):
        done = subprocess.run(
            [sys.executable, "-m", "cyclelens.analyzer.cli.main", *COMMANDS[name], target],
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            cwd=tmp_path,
        )
        assert done.returncode == 2
        assert f"{target}" in done.stderr.splitlines()[0]
        assert "it is not a regular file" in done.stderr.splitlines()[0]


def test_what_the_shell_has_opened_and_the_null_device_are_written(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    for name in (f"/dev/fd/{writing}", os.devnull, "/dev/stdout", str(tmp_path / "new"), str(tmp_path)):
        check_written(name)
    os.close(reading)
    os.close(writing)
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    for name in ("fifo", "link"):
        with pytest.raises(OSError, match="not a regular file"):
            check_written(tmp_path / name)
