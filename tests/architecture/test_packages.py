"""The source tree, the packages in pyproject.toml and the tables of ARCHITECTURE.md agree."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MAPPED = {"analyzer": "cyclelens.analyzer", "server": "cyclelens.server", "data": "cyclelens.data"}


def folders_with_modules() -> set[str]:
    return {
        module.parent.relative_to(ROOT).as_posix() for top in MAPPED for module in (ROOT / top).rglob("*.py")
    }


def package_name(folder: str) -> str:
    if folder == "analyzer/api":
        return "cyclelens"
    top, *rest = folder.split("/")
    return ".".join([MAPPED[top], *rest])


def architecture_table(first_header: str) -> dict[str, list[str]]:
    """Rows of the table whose first column has this header: first cell without back quotes -> other cells."""
    rows = {}
    inside = False
    for line in (ROOT / "ARCHITECTURE.md").read_text().splitlines():
        if line.startswith(f"| {first_header} |"):
            inside = True
        elif inside and not line.startswith("|"):
            break
        elif inside and not line.startswith("|---"):
            first, *others = (cell.strip() for cell in line.strip("|").split("|"))
            rows[first.strip("`")] = others
    return rows


def test_every_folder_with_modules_is_a_package() -> None:
    assert [folder for folder in folders_with_modules() if not (ROOT / folder / "__init__.py").exists()] == []


def test_every_package_is_listed_for_the_wheel() -> None:
    listed = PROJECT["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted(map(package_name, folders_with_modules()))


def test_other_files_of_packages_are_listed_for_the_wheel() -> None:
    """What is no module ships only if package-data names it. The core's source need not ship."""
    patterns = PROJECT["tool"]["setuptools"]["package-data"]
    others = [
        file
        for folder in folders_with_modules()
        for file in (ROOT / folder).iterdir()
        if file.is_file() and file.suffix not in {".py", ".pyc", ".pyx", ".pxi", ".so", ".pyd"}
    ]

    def listed(file: Path) -> bool:
        package = package_name(file.parent.relative_to(ROOT).as_posix())
        return any(file.match(pattern) for pattern in patterns.get(package, []))

    assert [file.name for file in others if not listed(file)] == []


def test_architecture_page_names_the_folders() -> None:
    documented = {name.rstrip("/") for name in architecture_table("folder")}
    of_the_core = {file.parent.relative_to(ROOT).as_posix() for file in (ROOT / "analyzer").rglob("*.pxi")}
    assert documented == folders_with_modules() | of_the_core


def test_the_command_that_lists_files_has_all_of_them() -> None:
    """Each line has a path and the first sentence of the docstring."""
    run = subprocess.run([sys.executable, ROOT / "dev/files.py"], capture_output=True, text=True, check=True)
    listed = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in run.stdout.splitlines())
    files = [
        file
        for top in ("analyzer", "server")
        for file in (ROOT / top).rglob("*.p*")
        if file.suffix in (".py", ".pxi")
    ]
    assert listed.keys() == {file.relative_to(ROOT).as_posix() for file in files}
    for file in files:
        sentence = listed[file.relative_to(ROOT).as_posix()]
        text = file.read_text().removeprefix("r").removeprefix('"""')
        if file.suffix == ".pxi":
            text = text.split("\n\n")[0].replace("# ", "")
        assert sentence and " ".join(text.split()).startswith(sentence)


def test_nothing_at_the_root_makes_a_second_copy_of_the_packages() -> None:
    """A conftest.py at the root, or tests as a package, would let `import analyzer` succeed."""
    assert not (ROOT / "conftest.py").exists()
    # Tests import their support by name; VS Code's window is open as long as its package is tested.
    packages = {ROOT / "tests" / name for name in ("testkit", "testkit/server", "editors")}
    assert {file.parent for file in (ROOT / "tests").rglob("__init__.py")} == packages


def test_names_of_test_files_are_unique() -> None:
    names = [file.name for file in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


def test_every_module_says_what_it_is() -> None:
    def opens_with_docstring(file: Path) -> bool:
        return bool(re.match(r'r?"""\S', file.read_text()))

    modules = [file for top in MAPPED for file in (ROOT / top).rglob("*.py")]
    assert [file.name for file in modules if not opens_with_docstring(file)] == []


INSTALLERS = re.compile(r'"(?:pip|npm|apt-get|apt_install|uv|pipx|cargo install)"')
INSTALLING = {
    "tests/editors/conftest.py",
    "tests/packaging/test_wheel.py",
    "tests/testkit/distributions.py",
}
"""What is built or installed is what they test: wheels, and the editors' extension."""


def test_unit_tests_install_nothing() -> None:
    files = (file for file in (ROOT / "tests").rglob("*.py") if file != Path(__file__).resolve())
    found = {
        file.relative_to(ROOT).as_posix() for file in files if INSTALLERS.search(file.read_text("utf-8"))
    }
    assert found == INSTALLING
