"""Changes the code at one place at a time and counts the changes that the tests notice.

    python benchmarks/mutation.py uops [--number 60] [--seed 1]      (pip install -e .[mutation])
    python benchmarks/mutation.py core --number 30                   (the simulator)

A *mutant* is the project with one such change: a comparison turned, a number raised, a condition negated.
It is *killed* if a test fails or does not end, and *survives* otherwise. A survivor shows a line whose
result no test looks at, a line that nothing needs, or a change without effect. The mutants are drawn at
random, so that each place has the same chance; Cosmic Ray makes those of Python, and those of Cython are
compiled all at once. Only cases of tests that reach the changed line run, as one run of the group's tests saw
them, some of every file. The work is done in a copy of the checkout below a temporary folder.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path

import msgspec
from msgspec import Struct
from mutation_cases import CHOSEN, MET, SECONDS
from mutation_core import NUMBER, together
from mutation_operators import Mutant, cython_mutants, python_mutants

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 12.0
"""Seconds that a case may take beyond ten times its usual time."""
STARTING = 60.0
"""The same for all that comes before the first."""
TESTS = 20.0
"""Seconds of tests (as they take in the run that sees what they reach) that a mutant is given
of the group's own folder, and of the others."""


class Group(Struct, frozen=True):
    """Part of the code, and the tests that hold it."""

    files: tuple[str, ...]
    """Patterns of paths."""
    tests: tuple[str, ...]


_TABLES = ("tests/tables", "tests/simulator", "tests/parity")
GROUPS = {
    "uops": Group(("analyzer/uops/**/*.py",), ("tests/uops", *_TABLES, "tests/bounds", "tests/insight")),
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
    "core": Group(("analyzer/simulator/**/*.pxi",), ("tests/simulator", "tests/parity", "tests/tables")),
}


class Outcome(Struct, frozen=True):
    mutant: Mutant
    verdict: str
    """``killed``, ``timeout``, ``survived`` or ``not reached``; for the core also ``not compiled``."""


class Reached(Struct):
    """What Coverage saw: the cases that ran each line, and the seconds of each case."""

    cases: dict[str, dict[int, set[str]]]
    """By path and line."""
    seconds: dict[str, float]

    def of(self, mutant: Mutant, folder: str) -> Iterator[list[str]]:
        """The cases that run the line, first those of the folder, then the others. Of each file the fastest;
        the files get equal times. Those of a file are together, for its fixtures."""
        lines = self.cases.get(mutant.path, {})
        # A line that runs when its module is imported concerns all that uses the module.
        cases = lines[mutant.line] if mutant.line in lines else set().union(*lines.values())
        for own in (True, False):
            spent: defaultdict[str, float] = defaultdict(float)
            order: list[tuple[float, str]] = []
            for case in sorted(cases, key=lambda case: (self.seconds[case], case)):
                file = case.partition("::")[0]
                if file.startswith(folder) is own:
                    spent[file] += self.seconds[case]
                    order.append((spent[file], case))
            order.sort()
            taken = accumulate(self.seconds[case] for _, case in order)
            chosen = [case for (_, case), total in zip(order, taken, strict=True) if total <= TESTS] or [
                case for _, case in order[:1]
            ]
            if chosen:
                yield sorted(
                    chosen, key=lambda case: (spent[case.partition("::")[0]], case.partition("::")[0])
                )


def run(command: list[str], root: Path, seconds: float, **more: str) -> int | None:
    """The exit code; None after so many seconds. What the command has started ends with it. It stays in the
    session, because ``nice`` holds among the processes of one."""
    packages = os.pathsep.join(map(str, (root / "build" / "ns", root / "benchmarks")))
    process = subprocess.Popen(
        command, cwd=root, env={**os.environ, "PYTHONPATH": packages, **more}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0,
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


def by_case(files: dict[str, set[str]], contexts: Iterable[str]) -> set[str]:
    """The cases of contexts, which are cases, or files for what their fixtures reach."""
    known = set().union(*files.values())
    return set().union(*(files.get(context, {context} & known) for context in contexts if context))


def reached(root: Path, group: Group, paths: Iterable[Path], mutants: Sequence[Mutant]) -> Reached:
    """Runs the group's tests once. Cases that fail without a mutant would kill any and are left out."""
    import coverage

    settings, data, seconds, met = (
        root / "build" / name for name in ("coverage.ini", "coverage", "seconds", "met")
    )
    settings.write_text("\n    ".join(["[run]\ninclude =", *map(str, paths)]))
    python = group is not GROUPS["core"]
    under = ["-m", "coverage", "run", f"--rcfile={settings}", f"--data-file={data}"] if python else []
    command = [sys.executable, *under, *PYTEST[1:], "-p", "mutation_cases", *group.tests]
    code = run(command, root, 3600.0, **{SECONDS: str(seconds), MET: str(met)})
    if code not in (0, 1):
        raise SystemExit("the tests cannot be run")
    if code:
        print("some tests fail without a mutant", file=sys.stderr)
    known = Reached({}, msgspec.json.decode(seconds.read_bytes(), type=dict[str, float]))
    files: dict[str, set[str]] = {}
    for case in known.seconds:
        files.setdefault(case.partition("::")[0], set()).add(case)
    if not python:
        for mutant in mutants:
            known.cases.setdefault(mutant.path, {}).setdefault(mutant.line, set())
        for context, numbers in msgspec.json.decode(met.read_bytes(), type=dict[str, list[int]]).items():
            for number in numbers:
                known.cases[mutants[number].path][mutants[number].line] |= by_case(files, [context])
        return known
    found = coverage.CoverageData(str(data))
    found.read()
    for measured in found.measured_files():
        path = os.path.relpath(os.path.realpath(measured), os.path.realpath(root))
        lines = found.contexts_by_lineno(measured).items()
        known.cases[path] = {line: cases for line, each in lines if (cases := by_case(files, each))}
    return known


def tried(root: Path, group: Group, mutant: Mutant, known: Reached, **more: str) -> str:
    """Runs the cases that reach the line, those of the group's own folder first; the verdict."""
    result = "not reached"
    for cases in known.of(mutant, group.tests[0]):
        patience = {case: PATIENCE + 10 * known.seconds[case] for case in cases}
        # What makes every case slower would else take an hour.
        seconds = PATIENCE + 10 * sum(known.seconds[case] for case in cases)
        result = verdict(run_cases(root, patience, seconds, **more))
        if result != "survived":
            break
    return result


def run_cases(root: Path, patience: dict[str, float], seconds: float, **environment: str) -> int | None:
    """The exit code of pytest, as ``run`` has it, for cases with the seconds that each may take, and those
    that all of them may."""
    chosen = root / "build" / "cases"
    chosen.write_bytes(msgspec.json.encode(patience))
    files = dict.fromkeys(case.partition("::")[0] for case in patience)
    # What the run under Coverage has compiled is used; of a mutant nothing is kept.
    more = {CHOSEN: str(chosen), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return run([*PYTEST, "-x", "-p", "mutation_cases", *files], root, STARTING + seconds, **more)


def verdict(code: int | None) -> str:
    """What pytest's exit code says: 1 is a failed test; 2 and 4 are a test file or a ``conftest.py`` that
    cannot be imported; a negative one is a crash, such as that of the core over a wrong block."""
    if code == -signal.SIGALRM:
        return "timeout"
    if code is not None and code not in (0, 1, 2, 4) and code >= 0:
        raise SystemExit(f"pytest ends with {code}")
    return "timeout" if code is None else "survived" if code == 0 else "killed"


def compiled(root: Path) -> bool:
    """Compiles the core; False if the compilers refuse it."""
    if run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], root, 600.0) != 0:
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
        if name == "core":
            mutants = list(cython_mutants(paths, number, choice, root))
            present = together(root, dict(enumerate(mutants)), lambda: compiled(root))
            known = reached(root, group, paths, mutants)
            for place, mutant in enumerate(mutants):
                switched = {NUMBER: str(place)}
                yield Outcome(
                    mutant,
                    tried(root, group, mutant, known, **switched) if place in present else "not compiled",
                )
            return
        known = reached(root, group, paths, ())
        for mutant in python_mutants(paths, number, choice, root):
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
