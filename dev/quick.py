"""Names the tests that ``./dev/test --quick`` runs: those of what changed, and the fast invariants.

What changed is what differs from the commit where the branch left ``origin/main``, and from the last commit
where there is no such branch. A test file belongs to a changed file if it is that file, if it is named after
it (``test_ports.py`` for ``ports.py``), or if it imports it. Parts of the core are not imported: theirs are
also the files named after their folder (``test_back_end.py`` for ``back_end/results.pxi``).
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
INVARIANTS = "tests/architecture/test_invariants.py"
LONG = ("editors", "evaluation", "measuring", "packaging", "parity", "robustness", "server", "serving")
"""Folders of tests that start programs or compute for long: their files run if they themselves changed."""


def git(*arguments: str) -> str | None:
    """What git says; None if it refuses."""
    run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return run.stdout.strip() if run.returncode == 0 else None


def changed() -> set[str]:
    """Paths of the files that differ, and of new ones."""
    base = git("merge-base", "HEAD", "origin/main") or "HEAD"
    differing = git("diff", "--name-only", base) or ""
    new = git("ls-files", "--others", "--exclude-standard") or ""
    return {*differing.splitlines(), *new.splitlines()}


def module(path: str) -> str:
    """The name under which a file is imported: tests import their support by its name alone."""
    name = path.removesuffix(".py").removesuffix("/__init__")
    return Path(name).name if path.startswith("tests/") else "cyclelens." + name.replace("/", ".")


def names(text: str, imported: str) -> bool:
    """Whether a module's text imports a module, as a whole or by ``from its.package import it``."""
    package, _, last = imported.rpartition(".")
    whole = rf"^\s*(from|import) {re.escape(imported)}( |$)"
    part = rf"^\s*from {re.escape(package)} import (\([^)]*|.*)\b{re.escape(last)}\b"
    return bool(re.search(whole, text, re.MULTILINE)) or bool(package and re.search(part, text, re.MULTILINE))


def tests_of(paths: Iterable[str]) -> Iterator[str]:
    """The test files that belong to changed files, from the top of the repository."""
    paths = {path for path in paths if path.endswith((".py", ".pyx", ".pxi"))}
    stems = {f"test_{Path(path).stem}.py" for path in paths}
    stems |= {f"test_{Path(path).parent.name}.py" for path in paths if path.endswith(".pxi")}
    imported = [module(path) for path in paths if path.endswith(".py")]
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        path = file.relative_to(ROOT).as_posix()
        text = file.read_text("utf-8")
        belongs = file.name in stems or any(names(text, each) for each in imported)
        if path in paths or (belongs and file.relative_to(ROOT).parts[1] not in LONG):
            yield path


if __name__ == "__main__":
    print(*sorted({INVARIANTS, *tests_of(changed())}), sep="\n")
