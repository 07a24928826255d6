"""The measured sets of Zen 5 that name their code instead of giving its bytes: loops by op-cache entries in
each window, loops at all alignments, and small cases. ``accuracy_tables.py`` makes tables of them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cyclelens.analyzer.assembly.frontend import assemble
from cyclelens.analyzer.evaluation.blocks import BlockBuilder, Unpredictable
from cyclelens.analyzer.evaluation.datasets import Sample

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
_FORMS = ("{d}, {a}, {b}", "{d}, {a}", "{d}, {a}, {b}, 1", "{d}, {a}, 1", "{d}, 1", "{d}", "")
"""Operands that an instruction may have of which only the name is given."""
_CHAINS = {"": ("{d}", "{b}"), "(op2)": ("{d}", "{b}"), "(op3)": ("{b}", "{d}")}
"""By the end of a latency's name: which of the sources continues the chain."""
_GENERAL = ("ax", "cx", "dx", "bx", "si", "di", *(f"r{n}" for n in range(8, 16)))
_INDEPENDENT = 12
"""Results that a throughput is measured with; further registers are only read."""
_AMBIGUOUS = ("imul", "xadd")
"""Names that do not say which instruction was measured, or whose copies would depend on each other here."""
_PLACE = re.compile(r"r(?:64|32|16|8)?")


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


def cases(path: Path, builder: BlockBuilder) -> Iterator[Case]:
    """Small cases whose name is their code in Intel syntax: blocks, copied in a loop, loops of NOPs, and
    instructions alone, as a chain or beside each other."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            cycles = float(row["cycles"])
            loop = _LOOP.fullmatch(row["case"])
            if loop:
                yield Case(row["set"], Sample(_NOPS[4] * int(loop[1]), CORE, "loop", cycles))
            elif row["kind"] == "block":
                code = _assembled(_lines(row["case"]), builder)
                if code:
                    yield Case(row["set"], Sample(code, CORE, "copies", cycles))
            elif row["kind"] in ("latency", "throughput"):
                lines, code = _alone(row["case"], row["kind"] == "latency", builder)
                if code:
                    group = f"{row['set']}, {row['kind']}"
                    yield Case(group, Sample(code, CORE, "copies", cycles * lines))


def _alone(name: str, chain: bool, builder: BlockBuilder) -> tuple[int, str]:
    """An instruction by the name of a latency or throughput: how often the block has it, and its bytes."""
    words = name.split()
    end = words.pop() if words[-1] in _CHAINS else ""
    width = words.pop() if len(words) > 1 and words[-1] in ("x", "y", "z") else ""
    same = len(words) > 1 and words[-1] in ("zero", "same", "self")
    words = words[:-1] if same else words
    forms: Sequence[str] = _FORMS
    if not width and len(words) == 2:
        places = [place.strip() for place in words[1].split(",")]
        if not _PLACE.fullmatch(places[0]) or words[0] in _AMBIGUOUS:
            return 0, ""
        width = places[0]
        names = ["{d}", "{a}", "{b}"]
        forms = [", ".join(_PLACE.sub(names[n], each) for n, each in enumerate(places)).replace("imm8", "5")]
        forms[0] = forms[0].replace("imm64", "0x1122334455667788").replace("imm", "5")
    elif len(words) > 1:
        return 0, ""
    first, second = _CHAINS[end] if chain or same else ("{a}", "{b}")
    for form in forms:
        form = form.replace("{b}", "{second}").replace("{a}", first).replace("{second}", second)
        read = {"a": _register(width, -2), "b": _register(width, -1)}
        written = [_register(width, n) for n in range(1 if chain else _INDEPENDENT)]
        lines = [f"{words[0]} {form.format(d=each, **read)}" for each in written]
        code = _assembled(lines, builder)
        if code and (not chain or "{d}" in form.replace("{d}", "", 1)):
            return len(lines), code
    return 0, ""


def _register(width: str, number: int) -> str:
    """The register of a class: ``x``, ``y`` and ``z`` for vectors, ``r64`` to ``r8`` for general ones."""
    if width and width in "xyz":
        return f"{width}mm{number % 16}"
    name = _GENERAL[number]
    if name.startswith("r"):
        return name + {"r32": "d", "r16": "w", "r8": "b"}.get(width, "")
    if width == "r8":
        return name[0] + "l" if name.endswith("x") else name + "l"
    return {"r32": "e", "r16": ""}.get(width, "r") + name


def _lines(name: str) -> list[str]:
    """The instructions of a block by its name; empty if that is no code."""
    name = name.removeprefix("LAT ").split(" (")[0]
    times = _TIMES.fullmatch(name)
    count = 1
    if times:
        name, count = times["code"], int(times["count"])
    lines = [part.strip() for part in re.split(r"[;+]", name) if part.strip()] * count
    return [] if any("[" not in line and " " not in line for line in lines) else lines


def _assembled(lines: Sequence[str], builder: BlockBuilder) -> str:
    """The bytes of these instructions; empty if they are none."""
    if not lines:
        return ""
    text = "\n".join([".intel_syntax noprefix", "# cyclelens-begin", *lines, "# cyclelens-end", ""])
    assembled = assemble(text)
    if assembled.problems or len(assembled.regions) != 1:
        return ""
    code = assembled.regions[0].code.hex()
    try:
        templates = builder.build(Sample(code, CORE, "unroll", 0.0)).instructions
    except Unpredictable:
        return ""
    return "" if any(template.facts is None or template.is_branch for template in templates) else code
