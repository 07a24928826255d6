"""The distribution as people get it: built from a clean copy, installed alone, used in another folder.

An editable install finds every file of the tree, listed or not; only the wheel shows what is missing in it.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from testkit.distributions import FOLDERS, TIMEOUT

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(distributions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that holds the wheel and what it asks for, and nothing else."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment)
    programs = environment / "bin"
    (wheel,) = distributions.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python")]
    command = [*pip, "install", "--quiet", "--disable-pip-version-check", "--no-compile", str(wheel)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert run.returncode == 0, run.stderr[-3000:]
    return programs


def run_elsewhere(
    programs: Path, folder: Path, *arguments: str, text: str = ""
) -> subprocess.CompletedProcess[str]:
    """Runs the installed `cyclelens` in another folder; nothing in its environment leads back here."""
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "CYCLELENS"))
    }
    return subprocess.run(
        [programs / "cyclelens", *arguments],
        input=text,
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        timeout=TIMEOUT,
    )


def shipped_files() -> set[str]:
    """What a wheel must hold: every module and every data file of the packages."""
    kept = {".py", ".sqlite", ".txt", ".md", ".typed"}
    return {
        f"{inside}/{file.relative_to(ROOT / folder).as_posix()}".replace(
            "cyclelens/analyzer/api/", "cyclelens/"
        )
        for folder, inside in FOLDERS.items()
        for file in (ROOT / folder).rglob("*")
        if file.suffix in kept or file.name == "py.typed"
    }


def test_the_wheel_holds_every_module_and_the_tables(distributions: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert "cyclelens/data/instructions.sqlite" in names
    assert shipped_files() - names == set()


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="it has no stable interface")
def test_one_wheel_serves_every_supported_python(distributions: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    assert wheel.stem.split("-")[2:4] == ["cp311", "abi3"]
    with zipfile.ZipFile(wheel) as archive:
        extensions = [name for name in archive.namelist() if name.endswith((".so", ".pyd"))]
    # Windows names every extension .pyd.
    assert [name for name in extensions if not name.endswith((".abi3.so", ".pyd"))] == []


def test_the_wheel_holds_nothing_that_only_a_build_needs(distributions: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert [name for name in archive.namelist() if name.endswith((".pyx", ".pxi"))] == []


def test_the_wheel_holds_only_the_packages_and_the_documents(distributions: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == {"cyclelens"}
    pages = {name.partition(".data/")[2] for name in names if ".data/" in name}
    files = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "diagnostics").glob("*.md")]
    assert pages == {f"data/share/doc/cyclelens/{file.relative_to(ROOT / 'docs')}" for file in files}


def test_the_source_distribution_holds_licence_and_readme(distributions: Path) -> None:
    (source,) = distributions.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml"} <= names


def test_an_example_is_analysed_in_another_folder(installed: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples/dot_product.s", tmp_path)
    run = run_elsewhere(installed, tmp_path, "analyze", "--arch", "SKL", "dot_product.s")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "cycles/iter on SKL" in run.stdout


def test_a_block_is_predicted(installed: Path, tmp_path: Path) -> None:
    """An LCP stall a round: 3.42 cycles unrolled on Skylake (uiCA paper, introduction: measured 3.44)."""
    run = run_elsewhere(
        installed, tmp_path, "predict", "--arch", "SKL", "--mode", "unroll", text="6605341249ffcf\n"
    )
    assert run.stdout == "hex,cycles_per_iteration,problem\n6605341249ffcf,3.42,\n", run.stderr


def test_the_library_is_there(installed: Path, tmp_path: Path) -> None:
    script = "import cyclelens; print(cyclelens.__version__, cyclelens.predict('90').cycles_per_iteration)"
    run = subprocess.run([installed / "python", "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert run.stdout.split()[1:] == ["0.25"], run.stderr


@pytest.mark.parametrize("command", ["lsp", "evaluate", "data"])
def test_every_command_is_installed(installed: Path, tmp_path: Path, command: str) -> None:
    run = run_elsewhere(installed, tmp_path, command, "--help")
    assert run.returncode == 0, run.stderr
    assert f"usage: cyclelens {command}" in run.stdout


def test_the_version_is_the_distribution_s(installed: Path, distributions: Path, tmp_path: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    version = wheel.name.split("-")[1]
    assert run_elsewhere(installed, tmp_path, "--version").stdout == f"cyclelens {version}\n"


def test_an_environment_that_was_moved_works(installed: Path, tmp_path: Path) -> None:
    """As Compiler Explorer installs tools of type pip: made in one folder, moved to another one, with the old
    path replaced in the programs."""
    made, moved = installed.parent, tmp_path / "cyclelens-moved"
    shutil.copytree(made, moved, symlinks=True)
    for program in (moved / "bin").iterdir():
        if program.is_file() and not program.is_symlink():
            program.write_bytes(program.read_bytes().replace(bytes(made), bytes(moved)))
    assert f"#!{moved}" in (moved / "bin" / "cyclelens").read_text().splitlines()[0]
    assert run_elsewhere(moved / "bin", tmp_path, "--version").stdout.startswith("cyclelens ")
    shutil.copy(ROOT / "examples/dot_product.s", tmp_path)
    run = run_elsewhere(moved / "bin", tmp_path, "analyze", "--arch", "SKL", "dot_product.s")
    assert run.returncode == 0, run.stdout + run.stderr
