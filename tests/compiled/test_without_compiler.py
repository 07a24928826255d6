"""Where there is no C compiler the package installs all the same, as plain Python."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from source_trees import copy_sources, reuse_translation

BUILT_FROM = (
    "pyproject.toml",
    "setup.py",
    "MANIFEST.in",
    "README.md",
    "LICENSE",
    "analyzer",
    "server",
    "data",
)
SCRIPT = """\
from cyclelens.analyzer.engine.prediction import Predictor
from cyclelens.analyzer.simulator.form import compiled
print(compiled(), Predictor().predict(bytes.fromhex("6605341249ffcf"), "SKL").cycles_per_iteration)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel that was built while every call of the C compiler failed."""
    source, output = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    copy_sources(BUILT_FROM, source)
    reuse_translation(source)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    run = subprocess.run(
        [*command, "--wheel-dir", output, source],
        capture_output=True,
        text=True,
        env={**os.environ, "CC": "false", "CXX": "false"},
        timeout=600,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    (built,) = output.glob("*.whl")
    return built


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not choose its compiler by CC")
def test_the_package_installs_and_predicts_without_a_compiler(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    assert [file for file in tmp_path.rglob("*") if file.suffix in (".so", ".pyd")] == []
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert run.stdout == "False 3.42\n", run.stderr
