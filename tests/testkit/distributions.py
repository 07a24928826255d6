"""The source distribution and the wheel, as people get them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from testkit.source_trees import copy_sources

FOLDERS = {"analyzer": "cyclelens/analyzer", "server": "cyclelens/server", "data": "cyclelens/data"}
_BUILT_FROM = [
    "pyproject.toml",
    "setup.py",
    "MANIFEST.in",
    "README.md",
    "LICENSE",
    "THIRD-PARTY.md",
    "docs",
    *FOLDERS,
]
CORE = "core.c"
"""What Cython made of the core, for other processors."""
TIMEOUT = 1200
"""Seconds, generous: the core is compiled."""


def make_distributions(output: Path) -> None:
    """Both, the wheel built from the source distribution of a clean copy, and the core in C beside them.

    What is compiled here runs few cycles, so it is not optimised, which takes a tenth of the time."""
    with tempfile.TemporaryDirectory() as name:
        source, unpacked = Path(name, "source"), Path(name, "unpacked")
        source.mkdir()
        copy_sources(_BUILT_FROM, source)
        # The wheel shows that an environment of its own has all that is needed.
        _run(output, "build", "--sdist", "--no-isolation", "--outdir", str(output), str(source))
        (archive,) = output.glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(unpacked, filter="data")
        (folder,) = unpacked.iterdir()
        wheel = ("pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(output), str(folder))
        _run(output, *wheel, CFLAGS="-O0")
        (core,) = folder.glob(f"build/temp*/**/{CORE}")
        shutil.copy(core, output)


def _run(folder: Path, module: str, *arguments: str, **environment: str) -> None:
    """Run a module of Python in a folder, and expect it to succeed."""
    run = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        cwd=folder,
        env=os.environ | environment,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
