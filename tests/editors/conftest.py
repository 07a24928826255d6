"""Shared by the tests in the real VS Code: the packed extension, the editor, a browser, and pictures."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from testkit import real_editors, workbench
from testkit.made_once import made_once
from testkit.workbench import ROOT, Server, Windows, Workbench

EXTENSION = ROOT / "editors" / "vscode"
TIMEOUT = 600


@pytest.fixture(scope="session")
def vsix(distributions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packed extension."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = made_once(tmp_path_factory, "vsix", lambda folder: _pack(folder, distributions))
    (made,) = folder.glob("*.vsix")
    return made


def _pack(folder: Path, distributions: Path) -> None:
    if not (EXTENSION / "node_modules" / ".package-lock.json").exists():
        command = ["npm", "ci", "--no-audit", "--no-fund", "--silent"]
        run = subprocess.run(command, cwd=EXTENSION, capture_output=True, text=True, timeout=TIMEOUT)
        if run.returncode:
            pytest.skip(f"the packages of the extension cannot be installed here: {run.stderr[-200:]}")
    command = [str(ROOT / "dev" / "vsix"), str(folder), str(distributions)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]


@pytest.fixture(scope="session")
def extensions(cache: Path, vsix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """VS Code's folder of installed extensions, with this one."""

    def install(folder: Path) -> None:
        Server(cache, tmp_path_factory.mktemp("install"), folder).install(vsix)

    return made_once(tmp_path_factory, "extensions", install)


@pytest.fixture(scope="session")
def cache() -> Path:
    return real_editors.installed("vscode")


@pytest.fixture(scope="package")
def chromium(cache: Path) -> Iterator[Any]:
    with workbench.browser(cache) as program:
        yield program


@pytest.fixture(scope="package")
def windows(cache: Path, extensions: Path, chromium: Any) -> Windows:
    return Windows(cache, extensions, chromium)


@pytest.fixture(scope="package")
def window(windows: Windows, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """A window that several files share: opening one takes fifteen seconds of processor time."""
    folder = tmp_path_factory.mktemp("window") / "kernels"
    folder.mkdir()
    with windows.opened(folder) as opened:
        yield opened


@pytest.fixture(autouse=True)
def picture(request: pytest.FixtureRequest) -> Iterator[None]:
    """Takes a picture of the window at the end of each test, also of failed ones."""
    yield
    for window in {"code", "fresh"} & set(request.fixturenames):
        request.getfixturevalue(window).screenshot(request.node.name)
