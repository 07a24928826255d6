"""The measured sets of Zen 5 that name their code instead of giving its bytes: loops by op-cache entries in
each window, loops at all alignments, and small cases. ``accuracy_tables.py`` makes tables of them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cyclelens.analyzer.evaluation.blocks import BlockBuilder, Unpredictable
from cyclelens.analyzer.evaluation.datasets import Sample
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.choices import Repetition
from msgspec import Struct

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
_TIMES = re.compile(r"(?P<code>.*?) x(?P<count>\d+)")
_FORMS = ("{d}, {a}, {b}", "{d}, {a}", "{d}, {a}, {b}, 1", "{d}, {a}, 1", "{d}, 1", "{d}", "")
"""Operands that an instruction may have of which only the name is given."""
_CHAINS = {"": ("{d}", "{b}"), "(op2)": ("{d}", "{b}"), "(op3)": ("{b}", "{d}")}
"""By the end of a latency's name: which of the sources continues the chain."""
_GENERAL = (*(f"r{n}" for n in range(8, 14)), "ax", "cx", "dx", "bx", "bp", "di", "si", "r14", "r15")
_INDEPENDENT = 12
"""Results that a throughput is measured with; further registers are only read."""
_AMBIGUOUS = ("imul", "xadd")
"""Names that do not say which instruction was measured, or whose copies would depend on each other here."""
_PLACE = re.compile(r"r(?:64|32|16|8)?")
_NAMES = Path(__file__).parent / "zen5_cases.txt"
_WINDOWS = re.compile(r"(?P<name>.*/window) W=(?P<count>\d+)")
_LOOP_OF = re.compile(r"loop of (\d+) (nop4|mov rr)")
_REPEATED = re.compile(r"(\d+)\(((?:[^()]|\(\))*)\)")
_NUMBERED = re.compile(r"(\d+)#(?:\+(\w+))?")
_COPIES = re.compile(r"(\d+): ")
_BRANCH = re.compile(r"\bj(o|no|b|ae|z|nz|be|a|s|ns|p|np|l|ge|le|g|mp)\b( 9f| 5f;5:)?( \(whichever dir\))?")
_CONDITIONS = ["o", "no", "b", "ae", "z", "nz", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"]
"""In the order of their codes."""
_TAKEN = re.compile(r"taken=1\.")
_MODES = re.compile(r"unroll\(decode\)=(?P<unroll>\S+) loop=(?P<loop>\S+)")
_HARNESS_INSTRUCTIONS = 100
"""In a loop of the harness, where a case does not say how many copies it has."""
_LEAST_SHARE = 0.015
"""Of a branch; smaller ones are rounded too far to say how many copies shared it."""
_MIXED_INSTRUCTIONS = 120
"""In a loop of several instructions in turn: all numbers of them that occur divide it."""
_MIXED_GENERAL, _MIXED_VECTORS = 6, 10
"""Registers that those instructions write in turn."""

_PARTS = {"": "r64", "d": "r32", "w": "r16", "b": "r8"}
"""Of a general register, by the letter behind ``@``."""


class Case(Struct, frozen=True):
    """A measured figure with the code that it is about."""

    group: str
    """What it is reported under."""
    sample: Sample
    name: str = ""


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
            yield Case(group, Sample(code, CORE, Repetition.LOOP, float(cycles)))


def alignments(path: Path) -> Iterator[Case]:
    """Loops at all offsets, as far as their name is their code."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            count, _, body = row["loop"].partition(" ")
            if body in _BODIES:
                code = _BODIES[body](int(count))
                yield Case(body, Sample(code, CORE, Repetition.LOOP, float(row["cycles"]), int(row["align"])))


def cases(path: Path, builder: BlockBuilder) -> Iterator[Case]:
    """Small cases as the harness measured them: copies in a loop of some hundred instructions. Those whose
    name says no code that could be simulated are left out."""
    codes = Codes(builder)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found = codes.described(row)
            if found:
                yield from _measured(row, found, codes.code(found.lines))
            elif row["kind"] == "block":
                lines = _lines(row["case"])
                yield from _measured(row, _Described(lines, 0), codes.code(lines))
            elif row["kind"] in ("latency", "throughput"):
                lines = _alone(row["case"], row["kind"] == "latency", builder)
                yield from _measured(row, _Described(lines, 0), codes.code(lines))


def _measured(row: Mapping[str, str], described: _Described, code: str) -> Iterator[Case]:
    if not code:
        return
    cycles = float(row["cycles"])
    if described.each or row["kind"] in ("throughput", "mix"):
        cycles *= len(described.lines)
    copies = described.copies or _copies(float(row["retired_ops"] or 0), len(described.lines))
    group = f"{row['set']}, {row['kind']}" if row["set"] in ("ex1", "ex2") else row["set"]
    modes = _MODES.fullmatch(row["extra"])
    if modes:
        yield Case(f"{group}, decoded", Sample(code, CORE, Repetition.UNROLL, float(modes["unroll"])))
        yield Case(f"{group}, loop", Sample(code, CORE, Repetition.LOOP, float(modes["loop"])))
    yield Case(group, Sample(code * copies, CORE, Repetition.LOOP, cycles * copies), row["case"])


def _copies(ops: float, lines: int) -> int:
    """In a loop of the harness: its branch is one macro-op more of each copy's share."""
    own, shared = divmod(round(ops, 3), 1)
    if own and _LEAST_SHARE < shared <= 1 / 2:
        return round(1 / shared)
    return max(1, _HARNESS_INSTRUCTIONS // lines)


class _Described(Struct, frozen=True):
    """The code of a case as the table of names gives it."""

    lines: Sequence[str]
    copies: int
    """In the loop; 0: as many as the harness makes of them."""
    each: bool = False
    """The figure is that of one instruction."""


class Codes:
    """What the names of the small cases stand for, from ``zen5_cases.txt``."""

    def __init__(self, builder: BlockBuilder) -> None:
        self._builder = builder
        self._codes: dict[str, dict[str, str]] = {}
        names: dict[str, str] = {}
        for line in _NAMES.read_text(encoding="utf-8").splitlines():
            if re.fullmatch(r"\[[\w ]+\]", line):
                names = self._codes.setdefault(line[1:-1], {})
            elif line and not line.startswith("#"):
                name, _, code = line.partition(" = ")
                names[name] = code
        self._bytes: dict[str, str] = {}

    def described(self, row: Mapping[str, str]) -> _Described | None:
        """None: the name says no code that could be simulated."""
        names = self._codes.get(row["set"]) or self._codes.get(f"{row['set']} {row['kind']}", {})
        if row["kind"] == "mix":
            return _mixed([names[part] for part in row["case"].split("+")])
        windows = _WINDOWS.fullmatch(row["case"])
        name = windows["name"] if windows else row["case"]
        code = names.get(name)
        if code is None and (loop := _LOOP_OF.match(name)):
            return _Described(["{0f1f4000}" if loop[2] == "nop4" else "mov rax, rbx"] * int(loop[1]), 1)
        if code is None and row["set"] in ("ex5", "ex6"):
            # The name is the code; which way a conditional branch goes is not in it.
            if _TAKEN.search(row["extra"]) and "jmp" not in name:
                return None
            code = _BRANCH.sub(_branch, name.removeprefix("LAT ").replace(" + ", ";"))
        if code is None or code.startswith("- "):
            return None
        copies = _COPIES.match(code)
        if copies:
            code = code[copies.end() :]
        each = code.startswith("each: ")
        code = code.removeprefix("each: ")
        many = int(windows["count"]) if windows else int(copies[1]) if copies else 0
        return _Described(_written_out(code), many, each)

    def code(self, lines: Sequence[str]) -> str:
        """The bytes of these instructions; empty if they are none."""
        parts = []
        for line in lines:
            if line not in self._bytes:
                raw = line.startswith("{") and line.endswith("}")
                self._bytes[line] = line[1:-1] if raw else _assembled([line], self._builder)
            if not self._bytes[line]:
                return ""
            parts.append(self._bytes[line])
        return "".join(parts)


def _branch(found: re.Match[str]) -> str:
    if found[1] == "mp":
        return "{eb00}"
    return f"{{{0x70 + _CONDITIONS.index(found[1]):x}00}}"


def _written_out(code: str) -> list[str]:
    """Instructions, each as often as it is there."""
    whole = _REPEATED.sub(lambda found: ";".join(_copied(found[2], int(found[1]))), code)
    return [line.strip() for line in whole.split(";") if line.strip()]


def _copied(code: str, count: int) -> list[str]:
    return [_numbered(code, n, _INDEPENDENT, _INDEPENDENT) for n in range(count)]


def _mixed(codes: Sequence[str]) -> _Described:
    """Instructions in turn, whose targets differ."""
    lines = []
    for n in range(_MIXED_INSTRUCTIONS):
        code = codes[n % len(codes)].replace("^", "@")
        lines.append(_numbered(code, n, _MIXED_GENERAL, _MIXED_VECTORS))
    return _Described(lines, 1)


def _numbered(code: str, n: int, general: int, vectors: int) -> str:
    """The registers and displacements of the n-th of several copies."""
    code = _NUMBERED.sub(lambda found: str(int(found[1]) * n + int(found[2] or "0", 0)), code)
    code = re.sub(r"@([dwb]?)(?!\w)", lambda found: _register(_PARTS[found[1]], n % general), code)
    return re.sub(r"%([xyz])", lambda found: f"{found[1]}mm{n % vectors}", code)


def _alone(name: str, chain: bool, builder: BlockBuilder) -> list[str]:
    """An instruction by the name of a latency or throughput, as often as the block has it."""
    words = name.split()
    end = words.pop() if words[-1] in _CHAINS else ""
    width = words.pop() if len(words) > 1 and words[-1] in ("x", "y", "z") else ""
    same = len(words) > 1 and words[-1] in ("zero", "same", "self")
    words = words[:-1] if same else words
    forms: Sequence[str] = _FORMS
    if not width and len(words) == 2:
        places = [place.strip() for place in words[1].split(",")]
        if not _PLACE.fullmatch(places[0]) or words[0] in _AMBIGUOUS:
            return []
        width = places[0]
        names = ["{d}", "{a}", "{b}"]
        forms = [", ".join(_PLACE.sub(names[n], each) for n, each in enumerate(places)).replace("imm8", "5")]
        forms[0] = forms[0].replace("imm64", "0x1122334455667788").replace("imm", "5")
    elif len(words) > 1:
        return []
    first, second = _CHAINS[end] if chain or same else ("{a}", "{b}")
    for form in forms:
        form = form.replace("{b}", "{second}").replace("{a}", first).replace("{second}", second)
        read = {"a": _register(width, -2), "b": _register(width, -1)}
        written = [_register(width, n) for n in range(1 if chain else _INDEPENDENT)]
        lines = [f"{words[0]} {form.format(d=each, **read)}" for each in written]
        code = _assembled(lines, builder)
        if code and (not chain or "{d}" in form.replace("{d}", "", 1)):
            return lines
    return []


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
        templates = builder.build(Sample(code, CORE, Repetition.UNROLL, 0.0)).instructions
    except Unpredictable:
        return ""
    return "" if any(template.facts is None for template in templates) else code
