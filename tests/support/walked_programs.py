"""Programs whose way through their code is known, instruction by instruction, and what `perf` would write."""

from __future__ import annotations

import re
import subprocess
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

SOURCE = """\
__attribute__((noinline)) long walk(const long *a, long n) {
    long s = 1;
    for (long i = 0; i < n; i++) {
        if (a[i] & 1) { s = s * a[i] * 3; s *= a[i]; __asm__ volatile("" : "+r"(s)); }
        else { s += a[i]; __asm__ volatile("" : "+r"(s)); }
    }
    return s;
}
__attribute__((noinline)) long chain(const long *a, long n) {
    long s = 0;
    for (long i = 0; i < n; i++) { s = s * 5 + a[i]; __asm__ volatile("" : "+r"(s)); }
    return s;
}
int main(void) {
    static long a[100];
    for (int i = 0; i < 100; i++) a[i] = i % 4 == 3;
    return (walk(a, 100) + walk(a, 100) + walk(a, 100) + chain(a, 100)) == 0;
}
"""
ODD = 0.25
"""Of the elements."""
WALKED, CHAINED = 300, 100
"""Iterations."""
DEPTH = 32
"""Branches that a processor remembers."""


@dataclass
class Run:
    """A program and the addresses through which it went."""

    path: Path
    code: str
    """The line of the program in ``/proc/PID/maps``."""
    addresses: list[int]
    functions: list[tuple[int, int, str]]
    """First address, the one behind the last, and name; in their order."""
    base: int
    """What the loader added to the file's addresses."""

    def branches(self) -> Iterator[tuple[int, int]]:
        """Those that jumped."""
        listing = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", self.path], check=True, capture_output=True, text=True
        ).stdout
        known = sorted(int(found[1], 16) for found in re.finditer(r"^\s*([0-9a-f]+):", listing, re.MULTILINE))
        following = dict(pairwise(known))
        for here, there in pairwise(self.addresses):
            if following.get(here - self.base) != there - self.base:
                yield here, there

    def symbol(self, address: int) -> str:
        """As ``perf`` writes it."""
        at = bisect_right(self.functions, (address - self.base, 1 << 64, "")) - 1
        first, end, name = self.functions[at]
        if first <= address - self.base < end:
            return f"{name}+{address - self.base - first:#x}"
        return "[unknown]"

    def script(self, *, symbols: bool) -> str:
        """Every branch, in samples as deep as a processor's memory of them; neighbours share a branch, so
        that no run is lost and none is counted twice."""

        def place(address: int) -> str:
            return self.symbol(address) if symbols else f"{address:#x}"

        found = list(self.branches())
        lines = []
        for start in range(0, len(found), DEPTH - 1):
            entries = " ".join(
                f"{place(a)}/{place(b)}/P/-/-/2" for a, b in reversed(found[start : start + DEPTH])
            )
            lines.append(f"prog  4711 1.000: 1000003 branches:u:  {entries} ")
        return "\n".join(lines) + "\n"

    def mapping(self) -> str:
        """As ``perf script --show-mmap-events`` writes it."""
        span, _, offset, device, inode, path = self.code.split()
        first, end = (int(part, 16) for part in span.split("-"))
        return (
            f"prog  4711 0.000: PERF_RECORD_MMAP2 4711/4711: [{first:#x}({end - first:#x}) @ "
            f"{int(offset, 16):#x} {device} {inode} 0]: r-xp {path}\n"
        )


def steps(folder: Path) -> Path:
    """A program that follows others, built in a folder."""
    source = Path(__file__).with_name("steps.c")
    built = folder / "steps"
    subprocess.run(["gcc", "-O1", "-Wall", "-o", built, source], check=True)
    return built


def follow(folder: Path, steps: Path, *options: str) -> Run:
    source, program = folder / "prog.c", folder / "prog"
    source.write_text(SOURCE)
    subprocess.run(
        ["gcc", "-O2", "-g", "-fno-if-conversion", *options, "-o", program, source], check=True, cwd=folder
    )
    try:
        told = subprocess.run(
            [steps, program], check=True, capture_output=True, text=True
        ).stdout.splitlines()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"programs cannot be followed here: {error}")
    names = subprocess.run(["nm", "-S", program], check=True, capture_output=True, text=True).stdout
    functions = [
        (int(first, 16), int(first, 16) + int(size, 16), name)
        for first, size, name in re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [Tt] (\S+)$", names, re.MULTILINE)
    ]
    (code,) = (line for line in told if line.endswith(str(program)))
    span, _, offset, *_ = code.split()
    base = 0 if "-no-pie" in options else int(span.split("-")[0], 16) - int(offset, 16)
    addresses = [int(line, 16) for line in told if " " not in line]
    return Run(program, code, addresses, sorted(functions), base)
