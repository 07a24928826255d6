"""Changes the code at one place at a time and counts the changes that the tests notice.

    python benchmarks/mutation.py uops [--number 60] [--seed 1]      (pip install -e .[mutation])
    python benchmarks/mutation.py core --number 30                   (the simulator, compiled for each change)

A *mutant* is the project with one such change: a comparison turned, a number raised, a condition negated.
It is *killed* if a test fails or does not end, and *survives* otherwise. A survivor shows a line whose
result no test looks at, a line that nothing needs, or a change without effect. The mutants are drawn at
random, so that each place has the same chance; Cosmic Ray makes those of Python, and this file those of
Cython. Only cases of tests that reach the changed line run, the fastest first, as Coverage saw them in one
run of the group's tests. The work is done in a copy of the checkout below a temporary folder.
"""

from __future__ import annotations

import argparse
import difflib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from mutation_cases import CHOSEN, SECONDS

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 20.0
"""Seconds that a mutant's tests may take beyond five times their usual time."""
TESTS = 15.0
"""Seconds of tests (as they take under Coverage) that a mutant is given, the fastest first."""
OF_CORE = 60.0
"""The same for the core, of which Coverage cannot tell the tests that reach a line."""


class Group(Struct, frozen=True):
    """Part of the code, and the tests that hold it."""

    files: tuple[str, ...]
    """Patterns of paths."""
    tests: tuple[str, ...]


_TABLES = ("tests/tables", "tests/simulator", "tests/parity")
GROUPS = {
    "uops": Group(("analyzer/uops/**/*.py",), ("tests/uops", *_TABLES, "tests/bounds")),
    "bounds": Group(
        ("analyzer/bounds/**/*.py",),
        ("tests/bounds", "tests/tables", "tests/insight", "tests/uops/test_occupancy.py"),
    ),
    "insight": Group(
        ("analyzer/insight/**/*.py",),
        ("tests/insight", "tests/tables", "tests/hints", "tests/cli/test_functions.py"),
    ),
    "directives": Group(
        ("analyzer/frontend/statements/*.py", "analyzer/frontend/programs/*.py"), ("tests/frontend",)
    ),
    "core": Group(("analyzer/simulator/**/*.pxi",), ("tests/simulator", "tests/parity/test_sample.py")),
}


class Mutant(Struct, frozen=True):
    """The text of a file with one change."""

    path: str
    line: int
    text: str
    change: str
    """The line before and after."""


class Outcome(Struct, frozen=True):
    mutant: Mutant
    verdict: str
    """``killed``, ``timeout``, ``survived`` or ``not reached``; for the core also ``not compiled``."""


class Reached(Struct):
    """What Coverage saw: the cases that ran each line, and the seconds of each case."""

    cases: dict[str, dict[int, set[str]]]
    """By path and line."""
    seconds: dict[str, float]

    def of(self, mutant: Mutant) -> list[str]:
        """The cases that run the line, the fastest first, but those of a file together, for its fixtures."""
        lines = self.cases.get(mutant.path, {})
        # A line that runs when its module is imported concerns all that uses the module. Of the core Coverage
        # sees nothing.
        cases = lines.get(mutant.line) or set().union(*lines.values()) if lines else self.seconds
        taken = 0.0
        files: dict[str, list[str]] = {}
        for case in sorted(cases, key=lambda case: (self.seconds[case], case)):
            taken += self.seconds[case]
            if files and taken > (TESTS if lines else OF_CORE):
                break
            files.setdefault(case.partition("::")[0], []).append(case)
        return [case for cases in files.values() for case in cases]


def changed_line(before: str, after: str) -> tuple[int, str]:
    """The first line that differs (from 1), and both of its forms."""
    old, new = before.splitlines(), after.splitlines()
    for code, i, j, k, m in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if code != "equal":
            was, now = " ".join(map(str.strip, old[i:j])), " ".join(map(str.strip, new[k:m]))
            return i + 1, f"{was}  ->  {now}"
    raise ValueError("the texts are equal")


SAME = {"Is_Eq", "IsNot_NotEq", "Eq_Is", "NotEq_IsNot"}
"""Changes that make no difference between None, enumerators and small numbers."""
LEFT_OUT = {"RemoveDecorator", "VariableReplacer", "VariableInserter"}
"""A cache that is gone changes no result; the others need to be told names."""
DECLARED = re.compile(r"\s*(if TYPE_CHECKING|@|type |class \w+\(.*\bfrozen=)")
"""Lines that only a type checker reads."""


def stated_types(node: Any) -> list[Any]:
    """The types that a declaration, a parameter or a function states: nothing evaluates them."""
    if node.type in ("annassign", "tfpdef"):
        return node.children[1:2] if node.type == "annassign" else node.children[2:3]
    return [node.annotation] if node.type == "funcdef" and node.annotation is not None else []


def of_python(text: str) -> Iterator[tuple[tuple[int, int], str, int]]:
    """The places of a text (line, column), each with an operator that changes it and which of its changes."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    tree = get_ast(text)
    notes = {
        (row, column)
        for node in ast_nodes(tree)
        for note in stated_types(node)
        for leaf in ast_nodes(note)
        for row, column in [leaf.start_pos]
    }
    for name in operator_names():
        short = name.removeprefix("core/")
        if short in LEFT_OUT or short.rpartition("Operator_")[2] in SAME:
            continue
        operator, occurrence = get_operator(name)(), 0
        for node in ast_nodes(tree):
            for start, _ in operator.mutation_positions(node):
                if tuple(start) not in notes:
                    yield tuple(start), name, occurrence
                occurrence += 1


def compiles(text: str) -> bool:
    """False for a change that Python refuses, such as one of the ``*`` among parameters: no test kills it."""
    with warnings.catch_warnings(action="ignore"):
        try:
            compile(text, "mutant", "exec")
        except SyntaxError:
            return False
    return True


def python_mutants(paths: Iterable[Path], number: int, choice: random.Random, root: Path) -> Iterator[Mutant]:
    """``number`` mutants: places drawn at random, and one of the changes for each."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    texts = {path: path.read_text("utf-8") for path in paths}
    places: dict[tuple[Path, tuple[int, int]], list[tuple[str, int]]] = {}
    for path, text in texts.items():
        for start, operator, occurrence in of_python(text):
            places.setdefault((path, start), []).append((operator, occurrence))
    order = sorted(places)
    choice.shuffle(order)
    for path, start in order:
        operator, occurrence = choice.choice(places[path, start])
        after = mutate_code(texts[path], get_operator(operator)(), occurrence)
        if after is None or after == texts[path] or not compiles(after):
            continue
        line, change = changed_line(texts[path], after)
        if DECLARED.match(texts[path].splitlines()[line - 1]):
            continue
        yield Mutant(str(path.relative_to(root)), line, after, change)
        number -= 1
        if not number:
            return


TURNED = {
    "==": "!=", "!=": "==", "<=": "<", ">=": ">", "+": "-", "-": "+", "+=": "-=", "-=": "+=",
    "and": "or", "or": "and", "True": "False", "False": "True",
}  # fmt: skip
"""What the operators for Cython put in the place of a token. ``<`` and ``>`` may begin and end a cast."""


def cython_places(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Line, first column, end and new text of each change of a text in Cython."""
    before = ""
    declared = False
    for token in tokenize.generate_tokens(StringIO(text).readline):
        row, column = token.start
        if before in ("\n", ""):
            declared = token.string in ("cdef", "ctypedef", "from", "cimport", "import", "include", "DEF")
        new = TURNED.get(token.string) if token.type in (tokenize.OP, tokenize.NAME) else None
        if token.string in ("<", ">") and f" {token.string} " in token.line[column - 1 : column + 2]:
            new = token.string + "="
        if token.type == tokenize.NUMBER and token.string.isdigit() and not declared:
            new = str(int(token.string) + 1)
        if token.string in ("if", "while", "elif") and "else" not in token.line:
            yield row, token.end[1], token.line.rstrip().rfind(":"), ""
        elif new is not None and not declared and before not in ("(", "=", ",", "return", "["):
            yield row, column, token.end[1], new
        if token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
            before = "\n" if token.type == tokenize.NEWLINE else token.string


def cython_mutants(paths: Iterable[Path], number: int, choice: random.Random, root: Path) -> Iterator[Mutant]:
    """``number`` mutants of the core's stages."""
    texts = {path: path.read_text("utf-8") for path in paths}
    places = [(path, place) for path, text in texts.items() for place in cython_places(text)]
    choice.shuffle(places)
    for path, (row, start, end, new) in places:
        lines = texts[path].splitlines(keepends=True)
        line = lines[row - 1]
        condition = line[start:end].strip()
        if not new and (end < start or not condition):
            continue
        lines[row - 1] = line[:start] + (new or f" not ({condition})") + line[end:]
        change = f"{line.strip()}  ->  {lines[row - 1].strip()}"
        yield Mutant(str(path.relative_to(root)), row, "".join(lines), change)
        number -= 1
        if not number:
            return


def run(command: list[str], root: Path, seconds: float, **more: str) -> int | None:
    """The exit code; None after so many seconds. What the command has started ends with it."""
    packages = os.pathsep.join(map(str, (root / "build" / "ns", root / "benchmarks")))
    process = subprocess.Popen(
        command, cwd=root, env={**os.environ, "PYTHONPATH": packages, **more}, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of the checkout, with the compiled core, whose packages come before those of the environment."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "cyclelens"
        leave = shutil.ignore_patterns(".git", ".venv", "build", "node_modules", "__pycache__", "screenshots")
        shutil.copytree(ROOT, root, ignore=leave, symlinks=True)
        names = root / "build" / "ns" / "cyclelens"
        names.mkdir(parents=True)
        for package in ("analyzer", "server", "data"):
            (names / package).symlink_to(root / package)
        for module in (root / "analyzer" / "api").glob("*.py"):
            (names / module.name).symlink_to(module)
        yield root


PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]


def reached(root: Path, group: Group, paths: Iterable[Path]) -> Reached:
    """Runs the group's tests once. An error ends the program: survivors would mean nothing."""
    import coverage

    settings, data, seconds = (root / "build" / name for name in ("coverage.ini", "coverage", "seconds"))
    settings.write_text("\n    ".join(["[run]\ninclude =", *map(str, paths)]))
    command = [
        sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", f"--data-file={data}",
        *PYTEST[1:], "-p", "mutation_cases", *group.tests,
    ]  # fmt: skip
    if run(command, root, 3600.0, **{SECONDS: str(seconds)}) != 0:
        raise SystemExit("the tests fail without a mutant")
    known = Reached({}, msgspec.json.decode(seconds.read_bytes(), type=dict[str, float]))
    found = coverage.CoverageData(str(data))
    found.read()
    files: dict[str, set[str]] = {}
    for case in known.seconds:
        files.setdefault(case.partition("::")[0], set()).add(case)
    for measured in found.measured_files():
        path = os.path.relpath(os.path.realpath(measured), os.path.realpath(root))
        known.cases[path] = {
            line: set().union(*(files.get(context, {context}) for context in contexts if context))
            for line, contexts in found.contexts_by_lineno(measured).items()
        }
    return known


def tried(root: Path, group: Group, mutant: Mutant, known: Reached) -> str:
    """Runs the cases that reach the line, those of the group's own folder first; the verdict."""
    if mutant.path.endswith(".pxi") and not compiled(root):
        return "not compiled"
    cases = known.of(mutant)
    result = "not reached"
    for own in (True, False):
        part = [case for case in cases if case.startswith(group.tests[0]) is own]
        if part and result in ("not reached", "survived"):
            result = verdict(run_cases(root, part, PATIENCE + 5 * sum(known.seconds[case] for case in part)))
    return result


def run_cases(root: Path, cases: Sequence[str], seconds: float) -> int | None:
    """The exit code of pytest, as ``run`` has it."""
    chosen = root / "build" / "cases"
    chosen.write_bytes(msgspec.json.encode(cases))
    files = dict.fromkeys(case.partition("::")[0] for case in cases)
    # What the run under Coverage has compiled is used; of a mutant nothing is kept.
    more = {CHOSEN: str(chosen), "PYTHONDONTWRITEBYTECODE": "1"}
    return run([*PYTEST, "-x", "-p", "mutation_cases", *files], root, seconds, **more)


def verdict(code: int | None) -> str:
    """What pytest's exit code says: 1 is a failed test; 2 and 4 are a test file or a ``conftest.py`` that
    cannot be imported; a negative one is a crash, such as that of the core over a wrong block."""
    if code is not None and code not in (0, 1, 2, 4) and code >= 0:
        raise SystemExit(f"pytest ends with {code}")
    return "timeout" if code is None else "survived" if code == 0 else "killed"


def compiled(root: Path) -> bool:
    """Compiles the core; False if the compilers refuse the mutant."""
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    if run(build, root, 600.0, CFLAGS="-O0") != 0:
        return False
    target = next((root / "cyclelens").rglob("core*.so"), None)
    if target is not None:  # where setuptools leaves it depends on how the folders are mapped
        shutil.move(target, root / "analyzer" / "simulator" / target.name)
    return True


def outcomes(name: str, number: int, seed: int) -> Iterator[Outcome]:
    """Makes the mutants of a group and tries them one after the other."""
    group, choice = GROUPS[name], random.Random(seed)
    with copied() as root:
        paths = sorted(path for pattern in group.files for path in root.glob(pattern))
        known = reached(root, group, paths)
        mutants = cython_mutants if name == "core" else python_mutants
        for mutant in mutants(paths, number, choice, root):
            path = root / mutant.path
            before, times = path.read_text("utf-8"), path.stat()
            path.write_text(mutant.text, "utf-8")
            try:
                result = tried(root, group, mutant, known)
            finally:
                path.write_text(before, "utf-8")
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # what is compiled stays valid
            yield Outcome(mutant, result)


def main() -> int:
    """Tries the mutants and prints the survivors."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("group", choices=GROUPS)
    parser.add_argument("--number", type=int, default=60, help="of mutants")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    begin, verdicts = time.monotonic(), []
    for outcome in outcomes(options.group, options.number, options.seed):
        verdicts.append(outcome.verdict)
        if outcome.verdict not in ("killed", "timeout", "not compiled"):
            place = f"{outcome.mutant.path}:{outcome.mutant.line}"
            print(f"{place}: {outcome.verdict}: {outcome.mutant.change}", flush=True)
    tried = [verdict for verdict in verdicts if verdict != "not compiled"]
    killed = sum(verdict in ("killed", "timeout") for verdict in tried)
    print(
        f"{options.group}: {killed} of {len(tried)} mutants killed ({killed / max(len(tried), 1):.0%}), "
        f"{verdicts.count('timeout')} of them by time, {verdicts.count('not reached')} not reached, "
        f"{len(verdicts) - len(tried)} not compiled, seed {options.seed}, {time.monotonic() - begin:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
