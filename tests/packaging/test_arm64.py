"""On arm64 there is no Keystone: iced-x86 encodes, and the figures are the same.

The processor is emulated (dev/arm64): Python and all packages are those of arm64. The core is compiled here
for that processor.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from testkit.distributions import CORE

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "dot_product.s"
BLOCKS = "6605341249ffcf\n480fafc3\n4801c04801d8\nf30f58c1\nc5f458c2\n"
MAIN = "import sys; from cyclelens.analyzer.cli.main import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture(scope="module")
def sources(distributions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages as their names say, with the core compiled for arm64."""
    compiler = shutil.which("aarch64-linux-gnu-gcc")
    if compiler is None:
        pytest.skip("there is no compiler for arm64 (gcc-aarch64-linux-gnu)")
    run = subprocess.run(
        [ROOT / "dev/arm64", "-c", "import platform; print(platform.machine())"],
        capture_output=True,
        text=True,
    )
    if run.returncode == 125:
        pytest.skip(run.stderr.strip())
    assert run.stdout == "aarch64\n", run.stderr
    folder = tmp_path_factory.mktemp("sources")
    for name in ("analyzer", "data"):
        compiled = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd", "cyclelens-harness")
        shutil.copytree(ROOT / name, folder / "cyclelens" / name, ignore=compiled)
    # Without optimisations: what runs here runs few cycles.
    flags = ["-shared", "-fPIC", "-O0", "-DPy_LIMITED_API=0x030B0000", f"-I{sysconfig.get_path('include')}"]
    core = folder / "cyclelens" / "analyzer" / "simulator" / "core.abi3.so"
    subprocess.run([compiler, *flags, distributions / CORE, "-o", core], check=True)
    return folder


def emulated(
    sources: Path, *arguments: str | Path, programs: Path | None = None, text: str = ""
) -> subprocess.CompletedProcess[str]:
    """Runs Python there. With ``programs`` that folder alone is searched for assemblers."""
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    if programs:
        environment["CYCLELENS_PATH_OF_TEST"] = str(programs)
    set_path = (
        "import os; os.environ['PATH'] = os.environ.get('CYCLELENS_PATH_OF_TEST', os.environ['PATH']); "
    )
    return subprocess.run(
        [ROOT / "dev/arm64", "-P", "-c", set_path + MAIN, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        input=text,
    )


def here(*arguments: str | Path, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", MAIN, *arguments]
    return subprocess.run(command, capture_output=True, text=True, input=text)


def test_machine_code_has_the_same_figures(sources: Path) -> None:
    arguments = ("predict", "--arch", "SKL", "--mode", "unroll")
    found = emulated(sources, *arguments, text=BLOCKS)
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("\n") == 6
    assert found.stdout == here(*arguments, text=BLOCKS).stdout


AVX512 = """
1:  vaddps (%rdi){1to16}, %zmm0, %zmm1{%k1}{z}
    vpternlogd $3, 64(%rsi), %zmm1, %zmm0
    dec %rcx
    jnz 1b
"""


def test_text_is_encoded_without_any_program(sources: Path, tmp_path: Path) -> None:
    found = emulated(sources, "analyze", EXAMPLE, programs=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "4.00 cycles/iter on SKL" in found.stdout
    path = tmp_path / "k.s"
    path.write_text(AVX512)
    arguments = ("analyze", path, "--arch", "SKX", "--no-external-programs")
    found = emulated(sources, *arguments, programs=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "cycles/iter on SKX" in found.stdout
    assert found.stdout == here(*arguments).stdout
