"""An install that needs a compiler and finds none says what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_without_a_compiler_the_build_names_the_wheel_and_the_package(tmp_path: Path) -> None:
    """The translation to C is left out: the compiler is asked for the harness's sources as well."""
    for name in ("setup.py", "pyproject.toml", "analyzer", "server", "data", "README.md", "LICENSE"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        else:
            shutil.copy(source, tmp_path / name)
    (tmp_path / "analyzer" / "simulator" / "core.pyx").write_text('"""Takes no time to translate."""\n')
    done = subprocess.run(
        [sys.executable, "setup.py", "build_ext"],
        cwd=tmp_path,
        env={**os.environ, "CC": str(tmp_path / "no-compiler")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "install a C compiler (Debian: apt install gcc\npython3-dev) or the wheel" in done.stderr
