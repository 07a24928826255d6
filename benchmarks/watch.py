"""Counts the instructions of ten fixed jobs and compares them with ``watch.csv``, or with another commit.

``python benchmarks/watch.py`` fails if a job takes 3 % more or fewer instructions than its row says. The row
then needs the new count and the reason: ``--accept JOB --because "..."`` writes both (``--accept all``: for
all jobs). Counts depend on the build of Python, the C library and the compiler, which the file's first row
names; elsewhere nothing is compared. ``--base REVISION`` compares with that commit instead, set up in a
folder of its own: it works everywhere, and a job that differs passes if its row differs, too. Callgrind
counts, in the command's own process (not in the assembler's), after a first run that fills the caches of
bytecode.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "benchmarks" / "watch.csv"
TOLERANCE = 0.03
"""Share by which a count may differ. Two runs of one build differ by less than a thousandth."""
ENVIRONMENT = "environment"
"""First row of the file: what its counts were made with."""


class Job(Struct, frozen=True):
    """A command, and how many blocks of ``tests/parity`` it reads from standard input (of which core)."""

    name: str
    arguments: tuple[str, ...]
    blocks: tuple[str, int] | None = None


_EDIT = """
from pathlib import Path
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions
text = Path("examples/dot_product.s").read_text()
analyzer, options = Analyzer(), AnalysisOptions(SourceOptions(allow_external_programs=False))
for edit in range(20):
    assert analyzer.analyze(text.replace("$32", f"${32 + edit}"), options).regions
"""
JOBS = (
    Job("start", ("--version",)),
    Job("predict one block", ("predict", "--arch", "SKL", "--mode", "loop"), ("SKL", 1)),
    Job("predict, Skylake, loops", ("predict", "--arch", "SKL", "--mode", "loop"), ("SKL", 120)),
    Job("predict, Ice Lake, unrolled", ("predict", "--arch", "ICL", "--mode", "unroll"), ("ICL", 120)),
    Job("predict, Granite Rapids, loops", ("predict", "--arch", "GNR", "--mode", "loop"), ("SKL", 120)),
    Job("predict, Zen 5, loops", ("predict", "--arch", "ZEN5", "--mode", "loop"), ("SKL", 120)),
    Job("analyze", ("analyze", "examples/dot_product.s", "--arch", "SKL")),
    Job("analyze, four cores", ("analyze", "examples/polynomial_intel.s", "--arch", "SKL,ICL,GNR,ZEN4")),
    Job("sweep of the uop queue", ("sweep", "examples/jcc_erratum.s", "--arch", "SKL", "--resource", "idq")),
    Job("twenty edits", ("-c", _EDIT)),
)


class Row(Struct):
    """A row of the file: millions of instructions, and why they last changed."""

    job: str
    instructions: float
    reason: str


def environment() -> str:
    """What the counts depend on besides the project."""
    libc = " ".join(platform.libc_ver())
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{python}, {platform.python_compiler()}, {libc}"


def read(text: str) -> tuple[str, dict[str, Row]]:
    """The environment and the rows of the file, by job."""
    rows = [
        Row(job, float(count or 0), reason) for job, count, reason in list(csv.reader(text.splitlines()))[1:]
    ]
    return rows[0].reason, {row.job: row for row in rows[1:]}


def write(rows: Mapping[str, Row]) -> None:
    """Writes the file, for this environment."""
    with FILE.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("job", "million_instructions", "reason"))
        writer.writerow((ENVIRONMENT, "", environment()))
        writer.writerows((row.job, f"{row.instructions:.1f}", row.reason) for row in rows.values())


def count(root: Path, job: Job) -> float:
    """Millions of instructions that the job takes in the checkout at ``root``."""
    python, given = root / ".venv" / "bin" / "python", b""
    if job.blocks is not None:
        core, number = job.blocks
        with (ROOT / "tests" / "parity" / "published-blocks.csv").open() as stream:
            codes = dict.fromkeys(
                row["hex"] for row in csv.DictReader(stream) if row["microarchitecture"] == core
            )
        given = "\n".join(list(codes)[:number]).encode()
    command = [
        python,
        *(() if job.arguments[0] == "-c" else (python.with_name("cyclelens"),)),
        *job.arguments,
    ]
    surroundings = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONHASHSEED": "0"}
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "counts"
        for before in ([], ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}"]):
            done = subprocess.run(
                [*before, *command], input=given, capture_output=True, cwd=ROOT, env=surroundings, check=False
            )
            if done.returncode not in (0, 1):  # 1: a block has no figure
                raise SystemExit(f"{job.name}: {done.stderr.decode(errors='replace')[-400:]}")
        total = re.search(r"^totals: (\d+)", counts.read_text(), re.MULTILINE)
    assert total is not None
    return int(total[1]) / 1e6


def differing(before: Mapping[str, float], now: Mapping[str, float]) -> dict[str, float]:
    """Jobs whose counts differ by more than ``TOLERANCE``, or are new: the change as a share."""
    changes = {name: value / before[name] - 1 if name in before else 1.0 for name, value in now.items()}
    return {name: change for name, change in changes.items() if abs(change) > TOLERANCE}


@contextmanager
def checkout(revision: str) -> Iterator[Path]:
    """A folder with that commit, set up to run."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "cyclelens"
        subprocess.run(["git", "worktree", "add", "--detach", root, revision], cwd=ROOT, check=True)
        try:
            subprocess.run([root / "dev" / "analyze", "--version"], check=True, stdout=sys.stderr)
            yield root
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", root], cwd=ROOT, check=True)


def main() -> int:
    """Runs the jobs, prints a table, and returns 1 if one differs without a reason."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", metavar="REVISION", help="compare with this commit")
    parser.add_argument(
        "--accept", metavar="JOB", action="append", default=[], help="write the job's new count"
    )
    parser.add_argument("--because", metavar="REASON", default="", help="why it changed")
    options = parser.parse_args()
    names = {job.name for job in JOBS}
    options.accept = names if options.accept == ["all"] else {*options.accept}
    if bool(options.accept) != bool(options.because) or not options.accept <= names:
        parser.error("--accept needs the name of a job, and --because the reason")
    made_with, rows = read(FILE.read_text()) if FILE.exists() else (environment(), {})
    before, excused = {name: row.instructions for name, row in rows.items()}, options.accept
    if options.base:
        with checkout(options.base) as root:
            before = {job.name: count(root, job) for job in JOBS}
        shown = ["git", "show", f"{options.base}:benchmarks/watch.csv"]
        said = subprocess.run(shown, cwd=ROOT, capture_output=True, text=True)
        excused |= {
            name for name, row in rows.items() if said.returncode or read(said.stdout)[1].get(name) != row
        }
    elif made_with != environment():
        print(
            f"{FILE.name} was made with {made_with}; here is {environment()}. Compare with --base REVISION."
        )
        return 2
    now = {job.name: count(ROOT, job) for job in JOBS}
    return report(before, now, excused, rows, options.because)


def report(
    before: Mapping[str, float],
    now: Mapping[str, float],
    excused: set[str],
    rows: dict[str, Row],
    reason: str,
) -> int:
    """Prints the table and, with a reason, writes the excused jobs' new counts."""
    changed = differing(before, now)
    print(f"{'job':32} {'before':>9} {'now':>9}   millions of instructions")
    for name, value in now.items():
        verdict = "" if name not in changed else "excused" if name in excused else "NOT EXPLAINED"
        share = value / before[name] - 1 if before.get(name) else 0.0
        print(f"{name:32} {before.get(name, 0):9.1f} {value:9.1f} {share:+8.1%} {verdict}")
    if reason:
        write({name: Row(name, now[name], reason) if name in excused else rows[name] for name in now})
    return 1 if changed.keys() - excused else 0


if __name__ == "__main__":
    sys.exit(main())
