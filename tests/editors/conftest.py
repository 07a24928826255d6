"""Shared by the tests in the real VS Code: the packed extension, the editor, a browser, and pictures."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from testkit import real_editors, workbench
from testkit.workbench import ROOT, Windows

EXTENSION = ROOT / "editors" / "vscode"
TIMEOUT = 600


@pytest.fixture(scope="session")
def vsix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packed extension, made once: the processes of a test run share the folder that it is made in."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "vsix"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (made := list(folder.glob("*.vsix"))):
            _pack(folder)
            made = list(folder.glob("*.vsix"))
    return made[0]


def _pack(folder: Path) -> None:
    if not (EXTENSION / "node_modules" / ".package-lock.json").exists():
        command = ["npm", "ci", "--no-audit", "--no-fund", "--silent"]
        run = subprocess.run(command, cwd=EXTENSION, capture_output=True, text=True, timeout=TIMEOUT)
        if run.returncode:
            pytest.skip(f"the packages of the extension cannot be installed here: {run.stderr[-200:]}")
    # The server in it is compiled, which takes a tenth of the time where nothing is optimised.
    own = {**os.environ, "CFLAGS": "-O0"}
    command = [str(ROOT / "dev" / "vsix"), str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, env=own)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]


@pytest.fixture(scope="session")
def cache() -> Path:
    return real_editors.installed("vscode")


@pytest.fixture(scope="module")
def chromium(cache: Path) -> Iterator[Any]:
    with workbench.browser(cache) as program:
        yield program


@pytest.fixture(scope="module")
def windows(cache: Path, vsix: Path, chromium: Any) -> Windows:
    return Windows(cache, vsix, chromium)


@pytest.fixture(autouse=True)
def picture(request: pytest.FixtureRequest) -> Iterator[None]:
    """Takes a picture of the window at the end of each test, also of failed ones."""
    yield
    for window in {"code", "fresh"} & set(request.fixturenames):
        request.getfixturevalue(window).screenshot(request.node.name)
