"""The stages are compiled where there is a C compiler; as plain Python the same files answer the same."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = """\
import sys
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.simulator.back_end import scheduler
print(scheduler.__file__.endswith(".py"), file=sys.stderr)
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def uncompiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH with a copy of the packages that holds no compiled file."""
    folder = tmp_path_factory.mktemp("uncompiled")
    for name in ("analyzer", "data"):
        compiled = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
        shutil.copytree(ROOT / name, folder / "cyclelens" / name, ignore=compiled)
    for file in (ROOT / "analyzer" / "api").glob("*.py"):
        shutil.copy(file, folder / "cyclelens")
    return folder


@pytest.mark.parametrize("example", ["dot_product.s", "jcc_erratum_intel.s", "lcp_stall.s"])
def test_plain_python_gives_the_same_report_and_trace(uncompiled: Path, example: str) -> None:
    def report(**environment: str) -> tuple[str, list[str]]:
        command = [sys.executable, "-c", SCRIPT, "analyze", str(ROOT / "examples" / example)]
        options = ["--arch", "SKL,HSW", "--trace", "--format", "json"]
        run = subprocess.run(
            [*command, *options], capture_output=True, text=True, env={**os.environ, **environment}
        )
        assert run.returncode == 0, run.stderr
        return run.stdout, run.stderr.splitlines()

    plain, (is_plain, note) = report(PYTHONPATH=str(uncompiled))
    installed, (is_plain_too, *notes) = report()
    assert (is_plain, is_plain_too) == ("True", "False")
    assert "running uncompiled" in note and not notes
    assert plain == installed


def test_an_environment_variable_takes_the_stages_as_plain_python() -> None:
    """For debuggers; the form is said as for an installation without a compiler."""
    script = "from cyclelens.analyzer.simulator import clock; print(clock.__file__)"
    plain = {**os.environ, "CYCLELENS_PLAIN": "1"}
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=plain)
    assert run.stdout.strip().endswith("clock.py"), run.stderr
    version = [sys.executable, "-m", "cyclelens.analyzer.cli.main", "--version"]
    assert "uncompiled" in subprocess.run(version, capture_output=True, text=True, env=plain).stdout
