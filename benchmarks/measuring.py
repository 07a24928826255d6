"""Shared code of the benchmarks: real and measured blocks, processor time of commands, and llvm-mca."""

from __future__ import annotations

import argparse
import csv
import lzma
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from cyclelens.analyzer.evaluation.datasets import Sample, Selection, read_samples
from cyclelens.analyzer.evaluation.metrics import mean_error, share_within
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.isa.counted_loop import counted_loop
from cyclelens.analyzer.isa.decoder import decode
from iced_x86 import Decoder, Formatter, FormatterSyntax

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
CORPUS = SHARED / "corpus" / "blocks.hex.xz"
REFERENCE = SHARED / "reference" / "throughput-dev.csv"
CYCLELENS = [sys.executable, "-c", "from cyclelens.analyzer.cli.main import command; command()"]
MCA = os.environ.get("LLVM_MCA", "llvm-mca")


# ---------------------------------------------------------------------------------------------------------
# Blocks


def real_blocks(count: int, source: str = "auto") -> tuple[str, list[str]]:
    """A description, and up to ``count`` different blocks in hexadecimal that can be made a loop.

    ``source``: ``corpus`` or ``reference`` (files beside the project), ``examples``, or ``auto`` for the
    first available one.
    """
    found = {"corpus": CORPUS.exists(), "reference": REFERENCE.exists(), "examples": True}
    if source == "auto":
        source = next(name for name, there in found.items() if there)
    elif not found[source]:
        raise SystemExit(f"the {source} is not there: {CORPUS if source == 'corpus' else REFERENCE}")
    if source == "corpus":
        with lzma.open(CORPUS, "rt") as file:
            every = file.read().split()
        # Evenly spread, with a few spare ones because some cannot be made a loop.
        blocks = every[:: max(len(every) // (count + count // 10 + 1), 1)]
    elif source == "reference":
        with REFERENCE.open(newline="") as file:
            blocks = [row["hex"] for row in csv.DictReader(file)]
    else:
        blocks = _pieces_of_examples()
    usable = [block for block in dict.fromkeys(blocks) if _can_be_a_loop(bytes.fromhex(block))][:count]
    return f"{len(usable)} blocks of the {source}", usable


def _can_be_a_loop(code: bytes) -> bool:
    return all(instruction.mnemonic for instruction in decode(code)) and counted_loop(code) is not None


def _pieces_of_examples() -> list[str]:
    """Every sequence of two to eight instructions without a jump in a region of the examples."""
    pieces = []
    for file in sorted((ROOT / "examples").glob("*.s")):
        for region in assemble(file.read_text(encoding="utf-8")).regions:
            instructions = decode(region.code)
            for start in range(len(instructions)):
                for end in range(start + 2, min(start + 8, len(instructions)) + 1):
                    piece = instructions[start:end]
                    if not any(item.branch_displacement for item in piece):
                        pieces.append("".join(item.code.hex() for item in piece))
    return pieces


# ---------------------------------------------------------------------------------------------------------
# Measured blocks, and the errors of another tool on them


def sample_parser(tool: str) -> argparse.ArgumentParser:
    """The arguments that choose measured blocks (``chosen_samples``)."""
    parser = argparse.ArgumentParser(description=f"The errors of {tool} on measured blocks.")
    parser.add_argument("file", type=Path, metavar="FILE.csv")
    parser.add_argument("--arch", required=True, help="the processor that the file is about")
    parser.add_argument("--max-spread", type=float, metavar="P%")
    parser.add_argument("--max-pages", type=int, metavar="N")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth figure")
    return parser


def chosen_samples(options: argparse.Namespace) -> list[Sample]:
    """The measured figures that the arguments choose."""
    selection = Selection(
        microarchitectures=(options.arch,),
        max_spread=None if options.max_spread is None else options.max_spread / 100,
        max_pages=options.max_pages,
    )
    return read_samples(options.file, selection)[:: options.every]


def print_errors(mode: str, pairs: Sequence[tuple[float, float]], count: int) -> None:
    """One line about (predicted, measured) cycles; ``count``: all blocks, also those without a prediction."""
    if not pairs:
        print(f"{mode}: none of {count} blocks")
        return
    print(
        f"{mode}: {len(pairs)} of {count} blocks, "
        f"mean error {mean_error(pairs):.1%}, within 5 % {share_within(pairs, 0.05):.1%}"
    )


# ---------------------------------------------------------------------------------------------------------
# Time


def cpu_seconds(
    command: Sequence[str | Path], stdin: Path | None = None, environment: dict[str, str] | None = None
) -> float:
    """User and system time of a command and its children, in seconds; its output is discarded."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with (stdin or Path(os.devnull)).open("rb") as source:
        subprocess.run(command, stdin=source, stdout=subprocess.DEVNULL, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def with_bytecode(folder: str) -> dict[str, str]:
    """An environment in which a command caches its bytecode in ``folder``.

    An installed package has its bytecode, a changed checkout may not."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Median, and minimum and maximum in brackets."""
    low, middle, high = (
        f"{value:.{digits}f}" for value in (min(values), statistics.median(values), max(values))
    )
    return f"{middle} ({low}..{high})"


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table with right-aligned columns, except the first."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]

    def line(row: Sequence[str]) -> str:
        padded = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        return f"| {' | '.join([row[0].ljust(widths[0]), *padded[1:]])} |"

    print(line(head))
    print(f"|{'|'.join(['-' * (widths[0] + 2), *('-' * (width + 1) + ':' for width in widths[1:])])}|")
    for row in rows:
        print(line(row))


def describe() -> None:
    """Print one line that names the version and the machine."""
    run = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    load = os.getloadavg()[0]
    print(
        f"commit {run.stdout.strip() or 'unknown'}; Python {platform.python_version()}, "
        f"{_processor()}, {os.cpu_count()} cores, load {load:.1f}\n"
    )


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


# ---------------------------------------------------------------------------------------------------------
# llvm-mca


def llvm_mca_version() -> str:
    """The version of llvm-mca, installing it if possible; otherwise ends the program."""
    if shutil.which(MCA) is None:
        if shutil.which("apt-get") is None or os.geteuid() != 0:
            raise SystemExit(f"{MCA} is not there: install the package llvm (its installation needs root)")
        print("installing llvm", file=sys.stderr)
        subprocess.run(["apt-get", "update", "-qq"], check=True, stdout=sys.stderr)
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "llvm"],
            check=True,
            stdout=sys.stderr,
        )
    run = subprocess.run([MCA, "--version"], capture_output=True, text=True, check=True)
    return next(line.strip() for line in run.stdout.splitlines() if "version" in line)


def llvm_mca_command(file: Path, cpu: str, iterations: int = 100) -> list[str | Path]:
    """The command that runs llvm-mca with its defaults on a file of regions."""
    return [MCA, f"--mcpu={cpu}", f"--iterations={iterations}", file]


def write_for_llvm_mca(blocks: Sequence[str], file: Path, cpu: str) -> list[str]:
    """Write the blocks that llvm-mca can analyse as regions of an AT&T file, and return them.

    llvm-mca stops at the first instruction that it cannot parse or has no figures for: such blocks are
    omitted.
    """
    texts = {block: att_text(bytes.fromhex(block)) for block in blocks}
    waiting = _without_errors(blocks, texts, file, cpu)
    kept: list[str] = []
    while waiting:
        run = _try_llvm_mca([texts[block] for block in waiting], file, cpu)
        # The error has no position: it is in the region after the last analysed one.
        good = len(waiting) if run.returncode == 0 else run.stdout.count("Code Region - ")
        kept += waiting[:good]
        waiting = waiting[good + 1 :]
    file.write_text(_regions([texts[block] for block in kept]), encoding="utf-8")
    return kept


def _without_errors(blocks: Sequence[str], texts: dict[str, str], file: Path, cpu: str) -> list[str]:
    """The blocks whose instructions llvm-mca can parse."""
    run = _try_llvm_mca([texts[block] for block in blocks], file, cpu)
    errors = [line.split(":")[1] for line in run.stderr.splitlines() if ": error: " in line]
    bad = {int(line) for line in errors if line.isdecimal()}
    kept = []
    line = 0
    for block in blocks:
        first, line = line, line + len(texts[block].splitlines()) + 2
        if not bad.intersection(range(first + 1, line + 1)):
            kept.append(block)
    return kept


def _try_llvm_mca(texts: Sequence[str], file: Path, cpu: str) -> subprocess.CompletedProcess[str]:
    file.write_text(_regions(texts), encoding="utf-8")
    return subprocess.run(llvm_mca_command(file, cpu, 1), capture_output=True, text=True, check=False)


def _regions(texts: Sequence[str]) -> str:
    return "".join(
        f"# LLVM-MCA-BEGIN b{number}\n{text}\n# LLVM-MCA-END b{number}\n" for number, text in enumerate(texts)
    )


_FORMATTER = Formatter(FormatterSyntax.GAS)
_FORMATTER.rip_relative_addresses = True


def att_text(code: bytes) -> str:
    """AT&T text, one instruction per line."""
    return "\n".join(_FORMATTER.format(instruction) for instruction in Decoder(64, code))
