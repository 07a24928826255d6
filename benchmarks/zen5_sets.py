"""The measured sets of Zen 5 that name their code instead of giving its bytes: loops by op-cache entries in
each window, loops at all alignments, and small cases. ``accuracy_tables.py`` makes tables of them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cyclelens.analyzer.api import Analyzer
from cyclelens.analyzer.evaluation.datasets import Sample
from cyclelens.analyzer.model.result import AnalysisOptions

CORE = "ZEN5"
_WINDOW = 64
_NOPS = ("", "90", "6690", "0f1f00", "0f1f4000", "0f1f440000", "660f1f440000", "0f1f8000000000")
_LONGEST_PLAIN = "0f1f840000000000"
_BODIES = {
    "nop4": lambda count: _NOPS[4] * count,
    "mov r64": lambda count: "4889d8" * count,
    "mov r32 (2B)": lambda count: "89d8" * count,
    # vaddps ymm0 to ymm5, ymm7, ymm7
    "vaddps ymm": lambda count: "".join(f"c5c458{0xC7 + 8 * n:02x}" for n in range(count)),
    # eight chains of vpaddd xmm, xmm, xmm
    "vpaddd": lambda count: "".join(f"c5{0xF9 - 8 * n:02x}fe{0xC0 + 9 * n:02x}" for n in range(count)),
    "movabs": lambda count: "".join(f"48b{8 + n:x}8877665544332211" for n in range(count)),
}
"""Code of the loops by alignment, by the second half of their name."""
_LOOP = re.compile(r"loop of (\d+) nop4 \+ dec/jnz")
_TIMES = re.compile(r"(?P<code>.*?) x(?P<count>\d+)")


class Case(NamedTuple):
    """A measured figure with the code that it is about."""

    group: str
    """What it is reported under."""
    sample: Sample


def _nop(length: int) -> str:
    if length < len(_NOPS):
        return _NOPS[length]
    return "66" * (length - 8) + _LONGEST_PLAIN


def window(entries: int) -> str:
    """So many NOPs in 64 bytes."""
    shorter, longer = divmod(_WINDOW, entries)
    return "".join(_nop(shorter + (number < longer)) for number in range(entries))


def grid(path: Path) -> Iterator[Case]:
    """Loops of two or three windows of NOPs. The last one's count has the fused branch in it."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            *counts, cycles = row.values()
            *full, last = map(int, counts)
            code = "".join(map(window, full)) + _NOPS[3] * (last - 1)
            group = "the loop begins with one pair of lines" if full[0] <= 12 else "with more"
            yield Case(group, Sample(code, CORE, "loop", float(cycles)))


def alignments(path: Path) -> Iterator[Case]:
    """Loops at all offsets, as far as their name is their code."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            count, _, body = row["loop"].partition(" ")
            if body in _BODIES:
                code = _BODIES[body](int(count))
                yield Case(body, Sample(code, CORE, "loop", float(row["cycles"]), int(row["align"])))


def cases(path: Path, analyzer: Analyzer) -> Iterator[Case]:
    """Small cases whose name is their code in Intel syntax: blocks, copied in a loop, and loops of NOPs."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            loop = _LOOP.fullmatch(row["case"])
            if loop:
                yield Case(row["set"], Sample(_NOPS[4] * int(loop[1]), CORE, "loop", float(row["cycles"])))
            elif row["kind"] == "block":
                code = _assembled(row["case"], analyzer)
                if code:
                    yield Case(row["set"], Sample(code, CORE, "copies", float(row["cycles"])))


def _assembled(name: str, analyzer: Analyzer) -> str:
    """The bytes of a case; empty if its name is no code."""
    name = name.removeprefix("LAT ").split(" (")[0]
    times = _TIMES.fullmatch(name)
    count = 1
    if times:
        name, count = times["code"], int(times["count"])
    lines = [part.strip() for part in re.split(r"[;+]", name) if part.strip()] * count
    if not lines or any("[" not in line and " " not in line for line in lines):
        return ""
    text = "\n".join([".intel_syntax noprefix", "# cyclelens-begin", *lines, "# cyclelens-end", ""])
    analysis = analyzer.analyze(text, AnalysisOptions(microarchitectures=(CORE,)))
    if analysis.problems or len(analysis.regions) != 1 or not analysis.regions[0].predictions:
        return ""
    templates = analysis.regions[0].predictions[0].instructions
    if any(template.facts is None or template.is_branch for template in templates):
        return ""
    return "".join(template.instruction.code.hex() for template in templates)
