"""A prediction loads only what it needs: most of a cold start is imports."""

import subprocess
import sys

import pytest

SCRIPT = """\
import sys
from cyclelens.analyzer.cli.main import main
code = main(["predict", "--arch", "SKL", "--mode", "loop"])
print("\\n".join(sys.modules), file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    """The modules loaded after the prediction of one block."""
    run = subprocess.run([sys.executable, "-c", SCRIPT], input="4801c0\n", capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[1] == "4801c0,1.00,"
    return set(run.stderr.split())


@pytest.mark.parametrize("layer", ["bounds", "insight", "hints", "reports", "evaluation.predictions"])
def test_layers_that_explain_are_not_loaded(loaded: set[str], layer: str) -> None:
    assert f"cyclelens.analyzer.{layer}" not in loaded


@pytest.mark.parametrize(
    "library",
    ["cyclelens.server", "keystone", "pygls", "lsprotocol", "lxml", "tqdm", "multiprocessing"],
)
def test_libraries_of_other_commands_are_not_loaded(loaded: set[str], library: str) -> None:
    assert library not in loaded


def test_the_assembler_is_not_loaded(loaded: set[str]) -> None:
    assert "cyclelens.analyzer.frontend.assemble" not in loaded


@pytest.mark.parametrize(
    "module",
    [
        "microarchitectures.icelake",
        "microarchitectures.zen5",
        "uops.macro_ops",
    ],
)
def test_what_only_other_cores_and_runs_need_is_not_loaded(loaded: set[str], module: str) -> None:
    assert f"cyclelens.analyzer.{module}" not in loaded
    assert "cyclelens.analyzer.microarchitectures.skylake" in loaded
