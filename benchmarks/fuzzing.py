"""Fuzzes the front end with random edits of real assembly, and the simulator with values out of range.

    python benchmarks/fuzzing.py lines [--count 100000] [--seed N]
    python benchmarks/fuzzing.py files [--count 5000] [--seed N] [--programs SHARE] [PACKAGE...]
    python benchmarks/fuzzing.py programs [--count 100000] [--seed N] [--jobs N]
    python benchmarks/fuzzing.py core [--count 100000] [--seed N]
    python benchmarks/fuzzing.py guided [OPTIONS OF LIBFUZZER]      (pip install -e .[fuzz])

`lines` edits single statements, ten per text, between valid ones, and gives one of them a number of up to
10,000 digits; `files` edits whole files of examples/ and
of the packages of corpora.py; `programs` generates programs, compares their bytes with those of GNU as and
NASM, and reduces those that differ; `core` gives the simulator cores and blocks with values out of range
(with `dev/test --checked`, its build sees every index out of range); `guided` lets Atheris search for texts
that reach new code, by the same edits and its own (`-max_total_time=600` ends it). Findings are printed and
kept in build/fuzzing. Times are of this process alone, without NASM's.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(Path(__file__).parent)]

GUIDED = sys.argv[1:2] == ["guided"]
if GUIDED:
    try:
        import atheris
    except ImportError:
        sys.exit("atheris is not installed: pip install -e .[fuzz]")
# Atheris sees the coverage only of modules that are imported here.
with atheris.instrument_imports(include=["cyclelens.analyzer.frontend"]) if GUIDED else nullcontext():
    from cyclelens.analyzer.frontend.assemble import assemble
    from cyclelens.analyzer.model.analysis_options import SourceOptions
    from cyclelens.analyzer.model.choices import Regions, Syntax
    from cyclelens.analyzer.model.source import NOWHERE, AssembledFile
    from testkit.differential import COMMANDS, Comparison, compare, reduced
    from testkit.face_mutations import mutated_case
    from testkit.mutations import NUMBERED, PLAIN, lengthened, mutate, mutate_file, violations
    from testkit.programs import LANGUAGES, Program, random_program

EXAMPLES = sorted((ROOT / "examples").glob("*.s"))
FOUND = ROOT / "build" / "fuzzing"
SLOW = 1.0
"""Limit per text in seconds."""
TRACED = 5
"""Slowdown factor of code that Atheris instruments."""
LONGEST = 1_000
"""Most lines of a file; longer ones are slow even without edits."""
CHUNK = 100
"""Programs that a process tries before it reports."""
GOOD = {Syntax.ATT: "add %rax, %rbx", Syntax.INTEL: "add rbx, rax"}


class Log:
    """Counts the tried texts and keeps the failures."""

    def __init__(self) -> None:
        self.tried = 0
        self.slowest = 0.0
        self.failures: Counter[str] = Counter()
        self.codes: Counter[str] = Counter()

    def check(self, text: str, result: AssembledFile, taken: float, more: Sequence[str] = ()) -> None:
        self.tried += 1
        self.slowest = max(self.slowest, taken)
        self.codes.update({problem.code for problem in result.problems})
        found = [*violations(text, result), *more]
        if taken > SLOW * (TRACED if GUIDED else 1):
            found.append(f"slow: {taken:.2f} s")
        if found:
            FOUND.mkdir(parents=True, exist_ok=True)
            path = FOUND / f"{sum(self.failures.values()):04}.s"
            path.write_text(text, encoding="utf-8", errors="surrogatepass")
            print(f"{path.name}: {'; '.join(found[:3])}", flush=True)
            self.failures[found[0].split(":")[0][:60]] += 1

    def summary(self, what: str) -> None:
        print(f"{self.tried:,} {what}, {sum(self.failures.values())} failures, slowest {self.slowest:.2f} s")
        print(", ".join(f"{code} {count}" for code, count in self.codes.most_common()))


def lines(count: int, source: random.Random) -> Log:
    log = Log()
    originals = {syntax: list(_statements(syntax)) for syntax in GOOD}
    for _ in range(count // 10):
        syntax = source.choice(tuple(GOOD))
        edited = [mutate(source.choice(originals[syntax]), source) for _ in range(9)]
        edited.append(lengthened(source.choice((*NUMBERED, *originals[syntax])), source))
        body = [line for one in edited for line in (one, GOOD[syntax])]
        text = "\n".join(["# cyclelens-begin last", *body, "# cyclelens-end"])
        started = time.process_time()
        result = assemble(text, SourceOptions(syntax=syntax))
        taken = time.process_time() - started
        more = []
        if all(PLAIN.issuperset(line) for line in edited):
            # The valid lines are the even ones, and the last line is the marker.
            more = [
                f"misplaced: {problem.line}: {problem.message}"
                for problem in result.problems
                if problem.line and problem.line % 2 == 0
            ]
            kept = sum(line.text == GOOD[syntax] for region in result.regions for line in region.lines)
            if kept < 10:
                more.append(f"lost: {10 - kept} good lines")
        log.check(text, result, taken, more)
    log.tried *= 10
    return log


def _statements(syntax: str) -> Iterator[str]:
    for path in EXAMPLES:
        if ("intel" in path.name) == (syntax == "intel"):
            yield from (line for line in path.read_text().splitlines() if line.strip())


def files(count: int, packages: Sequence[str], programs: float, source: random.Random) -> Log:
    import corpora

    log = Log()
    texts = [(path.name, path.read_text().splitlines(), NOWHERE) for path in EXAMPLES]
    for package in packages:
        for one in corpora.PACKAGES[package]():
            found = one.text.splitlines()
            if len(found) <= LONGEST:
                texts.append((one.name, found, one.origin))
    print(f"{len(texts)} files", flush=True)
    for _ in range(count):
        _, original, origin = source.choice(texts)
        text = mutate_file(original, source.choice(texts)[1] or [""], source)
        started = time.process_time()
        external = source.random() < programs
        options = SourceOptions(
            regions=source.choice((Regions.BOTH, Regions.LOOPS)),
            allow_external_programs=external,
            origin=origin if external else NOWHERE,
        )
        result = assemble(text, options)
        log.check(text, result, time.process_time() - started)
    return log


class Tried(Struct, frozen=True):
    """Results of some programs."""

    kinds: Counter[str]
    found: list[tuple[int, str, str]]
    """Number, reduced text and difference of each differing program."""


def programs(count: int, seed: int, jobs: int) -> None:
    """Compare generated programs and count differences.

    ``refused`` counts texts that only the assembler accepts, ``taken`` those that only this front end
    accepts."""
    for command in COMMANDS.values():
        if shutil.which(command[0]) is None:
            sys.exit(f"{command[0]} is not installed")
    kinds: Counter[str] = Counter()
    FOUND.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with ProcessPoolExecutor(jobs) as pool:
        chunks = [range(at, min(at + CHUNK, count)) for at in range(0, count, CHUNK)]
        futures = [pool.submit(_try, seed, chunk) for chunk in chunks]
        for done, future in enumerate(as_completed(futures), 1):
            tried = future.result()
            kinds.update(tried.kinds)
            for number, text, message in tried.found:
                path = FOUND / f"program-{seed}-{number}.s"
                path.write_text(text)
                print(f"{path.name}: {message}", flush=True)
            if done % 100 == 0:
                print(f"{kinds['programs']:,} programs, {time.monotonic() - started:.0f} s", flush=True)
    others = ", ".join(f"{kind} {kinds[kind]:,}" for kind in ("refused", "taken"))
    print(
        f"{kinds['programs']:,} programs with seed {seed} in {time.monotonic() - started:.0f} s: "
        f"{kinds['regions']:,} regions of {kinds['statements']:,} statements compared, "
        f"{kinds['bytes']:,} programs with other bytes; {others}"
    )
    print(", ".join(f"{kind}: {kinds[kind]:,}" for kind in LANGUAGES))


def _try(seed: int, numbers: Sequence[int]) -> Tried:
    """Generate and compare the programs with these numbers; reduce those that differ."""
    tried = Tried(Counter(), [])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in numbers:
            made = random_program(random.Random(f"{seed}-{number}"))
            # External assemblers are called for statements not encoded here, at the cost of a run each.
            external = made.needs_programs or number % 16 == 0
            result = _compared(made, made.text, folder, external)
            language = made.syntax if made.language == "gas" else made.language
            tried.kinds.update(["programs", language, *{each.kind for each in result.differences}])
            tried.kinds.update({"regions": result.regions, "statements": result.statements})
            if any(each.kind == "bytes" for each in result.differences):
                differs = partial(_differs, made, folder=folder, external=external)
                lines = reduced(made.text.split("\n"), differs)
                text = "\n".join([*lines, ""])
                found = _compared(made, text, folder, external).differences
                message = next((each.message for each in found if each.kind == "bytes"), "not always")
                tried.found.append((number, text, f"{language}: {message}"))
    return tried


def _compared(made: Program, text: str, folder: Path, external: bool) -> Comparison:
    return compare(text, made.language, folder, syntax=Syntax(made.syntax), programs=external)


def _differs(made: Program, text: str, folder: Path, external: bool) -> bool:
    try:
        found = _compared(made, text, folder, external).differences
    except KeyError:
        return False  # the omitted lines include the end of a region
    return any(each.kind == "bytes" for each in found)


def guided(arguments: Sequence[str]) -> None:
    """Run Atheris, which ends the process; libFuzzer and this program keep the failures."""
    log = Log()
    originals = [path.read_text().splitlines() for path in EXAMPLES]
    seeds = FOUND / "reached"
    seeds.mkdir(parents=True, exist_ok=True)
    for number, original in enumerate(originals):
        (seeds / f"example-{number}").write_text("\n".join(original))

    def one(data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        # The options depend only on the text, so that runs are reproducible.
        choice = random.Random(zlib.crc32(data))
        options = SourceOptions(
            regions=choice.choice((Regions.MARKERS, Regions.LOOPS, Regions.BOTH)),
            syntax=choice.choice(tuple(Syntax)),
            allow_external_programs=False,
        )
        started = time.process_time()
        result = assemble(text, options)
        log.check(text, result, time.process_time() - started)
        if log.failures:
            raise AssertionError(f"{log.failures}, with {options}")

    def edit(data: bytes, longest: int, seed: int) -> bytes:
        source = random.Random(seed)
        if source.random() < 0.5:
            return bytes(atheris.Mutate(data, longest))
        lines = data.decode("utf-8", "replace").splitlines()
        text = mutate_file(lines, source.choice(originals), source)
        return text.encode("utf-8", "replace")[:longest]

    # Long texts find no more than short ones, and take longer.
    command = [sys.argv[0], "-max_len=2000", f"-artifact_prefix={FOUND}/", *arguments, str(seeds)]
    atheris.Setup(command, one, custom_mutator=edit)
    atheris.Fuzz()


def core(count: int, seed: int) -> None:
    """Give the compiled core values out of range. A case that crashes stands in build/fuzzing/core."""
    FOUND.mkdir(parents=True, exist_ok=True)
    outcomes: Counter[str] = Counter()
    slowest = 0.0
    for number in range(count):
        case = mutated_case(random.Random(f"{seed} {number}"))
        (FOUND / "core").write_text(f"seed {seed}, case {number}: {'; '.join(case.changes)}\n")
        begun = time.process_time()
        outcomes[case.outcome().partition(":")[0]] += 1
        slowest = max(slowest, time.process_time() - begun)
    print(f"{count} cases, slowest {slowest:.2f} s: {dict(outcomes)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("lines", "files", "programs", "core", "guided"))
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--programs", type=float, default=0.03, metavar="SHARE", help="of the files may run other programs"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes for `programs`")
    options, rest = parser.parse_known_args()
    source = random.Random(options.seed)
    if options.what == "guided":
        guided(rest)
    elif options.what == "lines":
        lines(options.count or 100_000, source).summary("lines")
    elif options.what == "programs":
        programs(options.count or 100_000, options.seed, options.jobs)
    elif options.what == "core":
        core(options.count or 100_000, options.seed)
    else:
        files(options.count or 5_000, rest, options.programs, source).summary("files")


if __name__ == "__main__":
    main()
