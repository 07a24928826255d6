"""Checks that two versions of a loop give the same results on the same random registers and memory.

The check compares memory and the registers that code after the loop may read. Floating-point inputs are small
whole numbers, so that sums are exact in any order; if an operation still rounds, a difference proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from random import Random

from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.frontend.source.dialect import comment_sign
from cyclelens.analyzer.frontend.source.lexer import leading_labels
from cyclelens.analyzer.frontend.source.surroundings import words_around
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.isa.effects import effects
from cyclelens.analyzer.isa.register_use import used_registers
from cyclelens.analyzer.measuring.harness import Harness
from cyclelens.analyzer.measuring.loops import measurable
from cyclelens.analyzer.measuring.refusals import refusal
from cyclelens.analyzer.measuring.region import vector_bits
from cyclelens.analyzer.measuring.requests import PATTERN, REGISTERS, Inputs, OutputDifference, PairRequest
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.model.instruction import Instruction, OperandKind
from cyclelens.analyzer.model.result import RegionAnalysis
from msgspec import Struct
from msgspec.structs import replace

INPUTS = 10_000
_EACH = 50
"""Inputs per process; they share their pointers and number of iterations."""
_MOST_ROUNDS = 12
"""Most iterations of the rewritten loop."""
_OVERLAPPING = 4
"""One in this many starts has pointers that lie close together."""
_LOWER_HALF = 128
"""Bits of a vector register that legacy SSE and VEX treat in the same way."""
_NEAR = 128
"""Bytes within which such pointers lie."""
_SYMBOLS, _SYMBOL_BYTES = 0x30000000, 0x10000
"""Address of the data that the text names, and the distance between two names in bytes."""
_PAGES = 0x200000
_STACK = "RSP"
_KEPT = frozenset(["RBX", "RBP", "RSP", "R12", "R13", "R14", "R15"])
_RETURNED = frozenset(["RAX", "RDX", "XMM0", "XMM1"])
"""Return registers, which a caller may read besides those that a function preserves (System V ABI)."""
_FLAGS = frozenset("CPAZSO")
_MARKER = re.compile(r"\b(cyclelens|llvm-mca|osaca)-(begin|end)\b", re.IGNORECASE)
_DATA = (
    re.compile(r"([A-Za-z_.$@][\w.$@]*)((?:[+-]\w+)*)\(%rip\)"),
    re.compile(
        r"(?<=\[)(?:rip\s*\+|rel)\s*([A-Za-z_.$@][\w.$@]*)((?:\s*[+-]\s*\w+)*)\s*(?=\])", re.IGNORECASE
    ),
)
"""Matches a data name and its offset in a RIP-relative address."""
_COMPUTING = re.compile(r"(?!v?mov|v?broadcast)\w*(?P<kind>[sp])(?P<data>[sd])(?:2\w+)?")
_JUMP = re.compile(r"\s*(?:j\w+|call\w?|ret\w?|loop\w*|syscall|ud2|hlt)\b", re.IGNORECASE)
_RETURN = re.compile(r"\s*ret\w?\b", re.IGNORECASE)
_ALTERNATIVES = ((8, True), (64, True), (8, False), (64, False))
"""Pointer alignment in bytes, and whether registers that hold no address are random; the first alternative
with which the code runs is used."""
_FOREIGN = re.compile(r"f(?!xsave|xrstor)|emms")


class Equality(Struct, frozen=True):
    """Result of a comparison."""

    inputs: int = 0
    """Number of inputs whose results were compared."""
    problem: str = ""
    """Why nothing was compared; empty if results were compared."""
    differs: tuple[str, ...] = ()
    """Differing results: ``memory``, or registers by name."""
    left: tuple[str, ...] = ()
    """Temporary registers whose final values differ; no known code reads them."""
    overlapping: tuple[str, ...] = ()
    """Results that differ only where pointers lie close together."""
    rounded: int = 0
    """Inputs whose results differ after rounding, which proves nothing."""
    cleared: tuple[str, ...] = ()
    """Registers that differ only in their upper half, as the rewrite announces."""

    @property
    def sound(self) -> bool:
        """True if results were compared and agree where data do not overlap."""
        return not self.problem and not self.differs

    @property
    def brief(self) -> str:
        """The result without its details: ``checked``."""
        if self.problem:
            return "not checked"
        return "results differ on random inputs" if self.differs else "checked"

    def __str__(self) -> str:
        if self.problem or self.differs:
            return f"{self.brief}: {self.problem or ', '.join(self.differs)}"
        text = f"{self.brief}: the same results on {self.inputs:,} random inputs"
        if self.rounded:
            text += f" (with {self.rounded:,} others they differ, but are rounded)"
        if self.left:
            text += f", apart from what stays in {', '.join(self.left)}"
        if self.cleared:
            text += f", apart from the upper halves of {', '.join(self.cleared)}, as the rewrite says"
        if self.overlapping:
            text += f"; other results where its data overlap: {', '.join(self.overlapping)}"
        return text


class _NotComparable(Exception):
    """The two versions cannot be compared; the message says why."""


class _PlacedVersion(Struct, frozen=True):
    code: bytes
    instructions: Sequence[Instruction]


class VersionPair(Struct, frozen=True):
    """A text and its rewritten version, of which one iteration does ``times`` original ones."""

    old: str
    new: str
    times: int
    cleared: frozenset[str] = frozenset()
    """Canonical names of the vector registers whose upper halves the rewrite clears."""


def compare(
    harness: Harness,
    versions: VersionPair,
    source: SourceOptions,
    region: RegionAnalysis,
    inputs: int = INPUTS,
) -> Equality:
    """Compare the results of a text and its rewritten version. Raises ``CannotMeasure``."""
    old, new, times, cleared = versions.old, versions.new, versions.times, versions.cleared
    try:
        before, after = _stretches(old, new, region)
        symbols: dict[str, int] = {}
        one = _assembled(old, before, source, symbols)
        other = _assembled(new, after, source, symbols)
        bits = vector_bits(one.code)
        found = _compared(harness, one, other, _Use(old, before, source, one, region, bits), times, inputs)
        if found.differs and cleared and bits > _LOWER_HALF:
            lower = _Use(old, before, source, one, region, _LOWER_HALF)
            return _apart_from(cleared, found, _compared(harness, one, other, lower, times, inputs))
        return found
    except _NotComparable as error:
        return Equality(problem=str(error))


def _apart_from(cleared: frozenset[str], whole: Equality, lower: Equality) -> Equality:
    """Move registers whose upper halves may differ, and that differ in nothing else, to ``cleared``."""
    if lower.problem:
        return lower
    allowed = {f"{letter}mm{name[3:]}" for name in cleared for letter in "yz"}
    upper = [name for name in whole.differs if name in allowed and f"x{name[1:]}" not in lower.differs]
    rest = [name for name in whole.differs if name not in upper]
    return replace(whole, differs=tuple(rest), cleared=tuple(upper))


def _stretches(old: str, new: str, region: RegionAnalysis) -> tuple[range, range]:
    """Line ranges, in both texts, of the region and everything that differs."""
    one, other = old.split("\n"), new.split("\n")
    place = region.region
    most = min(len(one), len(other))
    # Lines after the region belong to the range only if they differ.
    head = next((line for line in range(min(most, place.first_line)) if one[line] != other[line]), None)
    head = min(most, place.first_line) if head is None else head
    tail = next((line for line in range(most - head) if one[-1 - line] != other[-1 - line]), most - head)
    last = max(len(one) - tail, place.last_line + 1)
    return range(head, last), range(head, last + len(other) - len(one))


def _assembled(
    text: str, region_lines: range, source: SourceOptions, symbols: dict[str, int]
) -> _PlacedVersion:
    """Assemble a range of lines. Raises _NotComparable."""

    def place(match: re.Match[str]) -> str:
        start = _SYMBOLS + _SYMBOL_BYTES * symbols.setdefault(match[1], len(symbols))
        try:
            number = start + sum(int(part, 0) for part in re.findall(r"[+-]\w+", re.sub(r"\s", "", match[2])))
        except ValueError:
            raise _NotComparable(f"the address '{match[0]}' is not understood") from None
        return f"{number:#x}"

    lines = _MARKER.sub("marker", text).split("\n")
    for number in region_lines:
        for pattern in _DATA:
            lines[number] = pattern.sub(place, lines[number])
    code = _code(lines, region_lines, source)
    instructions = decode(code)
    reason = refusal(instructions)
    if reason:
        raise _NotComparable(reason)
    start = 0
    for each in instructions:
        start += each.length
        if any(operand.base in ("RIP", "EIP") for operand in each.operands):
            raise _NotComparable(f"'{each.text}': the address of its data is not understood")
        if _FOREIGN.match(each.mnemonic) or any((o.register or "").startswith("MM") for o in each.operands):
            raise _NotComparable(f"'{each.text}': registers of x87 and MMX are not compared")
        if each.branch_displacement is not None and not 0 <= start + each.branch_displacement <= len(code):
            raise _NotComparable(f"'{each.text}' leaves the code")
        if each.mnemonic == "ret":
            raise _NotComparable("the code returns")
    return _PlacedVersion(code, instructions)


def _code(lines: Sequence[str], region_lines: range, source: SourceOptions) -> bytes:
    sign = comment_sign(SourceText("\n".join(lines)))
    marked = [
        *lines[: region_lines.start],
        f"{sign} cyclelens-begin check",
        *lines[region_lines.start : region_lines.stop],
    ]
    marked += [f"{sign} cyclelens-end", *lines[region_lines.stop :]]
    found = assemble(
        "\n".join(marked),
        replace(source, regions=Regions.MARKERS, region=None, function=None, profile=""),
    )
    if not found.regions or any(each.incomplete for each in found.regions):
        raise _NotComparable("the code around the loop cannot be assembled by itself")
    return b"".join(each.code for each in found.regions)


class _Use:
    """Registers that code after the loop is known to read."""

    def __init__(
        self,
        text: str,
        region_lines: range,
        source: SourceOptions,
        code: _PlacedVersion,
        region: RegionAnalysis,
        bits: int,
    ):
        self.bits = bits
        self._lines = tuple(text.split("\n"))
        self._region_lines = region_lines
        self.read, self.dead = self._behind(source)
        self.body = region.region.instructions
        carried, known = set[str](), set[str]()
        for each in self.body:
            found = effects(each.code, self.bits)
            carried |= found.read - known
            known |= found.overwritten
        self.touched = {name for each in code.instructions for name in self._names(each)}
        self.carried = carried if region.region.ends_in_jump_to_start else self.touched

    def _names(self, instruction: Instruction) -> frozenset[str]:
        found = effects(instruction.code, self.bits)
        return found.read | found.written

    def _behind(self, source: SourceOptions) -> tuple[set[str], set[str]]:
        """Registers that the following code reads, and those it overwrites first, up to its first jump."""
        lines = _MARKER.sub("marker", "\n".join(self._lines)).split("\n")
        start = self._region_lines.stop
        end = next((line for line in range(start, len(lines)) if _begins_with(_JUMP, lines[line])), None)
        read, dead = set[str](), set[str]()
        if end is None:
            return read, dead
        try:
            code = _code(lines, range(start, end), source) if lines[start:end] != [] else b""
        except _NotComparable:
            return read, dead
        for each in decode(code):
            found = effects(each.code, self.bits)
            read |= found.read - dead
            dead |= found.overwritten - read
        if _begins_with(_RETURN, lines[end]):
            kept = _KEPT | _RETURNED | read
            every = {*REGISTERS, *_FLAGS, *(f"XMM{n}" for n in range(32)), *(f"K{n}" for n in range(8))}
            dead |= every - kept
        return read, dead

    def judged(self, registers: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Differing registers: those that matter, and those that no known code reads."""
        differs, left = [], []
        around = words_around(self._lines, self._region_lines.start, self._region_lines.stop - 1)
        for name in sorted(registers):
            if name == "flags":
                if self.read & _FLAGS:
                    differs.append(name)
            elif name in self.dead:
                continue
            elif name in self.read or name in self.carried or name in _KEPT:
                differs.append(self._shown(name))
            elif name in self.touched:
                left.append(self._shown(name))
            elif _is_named(name, around):
                differs.append(self._shown(name))
        return tuple(differs), tuple(left)

    def _shown(self, name: str) -> str:
        return name.lower().replace("xmm", {128: "xmm", 256: "ymm", 512: "zmm"}[self.bits])


def _is_named(name: str, words: Iterable[str]) -> bool:
    """Whether one of the words names the canonical register ``name`` at any width."""
    if name.startswith("XMM"):
        return any(f"{letter}mm{name[3:]}" in words for letter in "xyz")
    if name.startswith("K"):
        return name.lower() in words
    short = name[1:].lower() if not name[1:].isdecimal() else name.lower()
    parts = [f"r{short}", f"e{short}", short, *(f"{name.lower()}{part}" for part in "dwb")]
    parts += [f"{short[0]}l", f"{short[0]}h", f"{short}l"]
    return any(part in words for part in parts)


def _compared(
    harness: Harness, one: _PlacedVersion, other: _PlacedVersion, use: _Use, times: int, inputs: int
) -> Equality:
    both = [*one.instructions, *other.instructions]
    if any(each.repeat for each in both):
        raise _NotComparable("it repeats an instruction as often as a register says")
    random = Random(1)
    pair = PairRequest(
        one=one.code,
        other=other.code,
        registers={},
        random=(),
        data=_kind(use.body),
        vector_bits=vector_bits(one.code + other.code),
        compared_bits=use.bits,
        inputs=_EACH,
    )
    alternatives = list(_ALTERNATIVES)
    apart, together = OutputDifference(), OutputDifference()
    for start in range(max(inputs // _EACH, 1)):
        close = start % _OVERLAPPING == _OVERLAPPING - 1
        rounds = times * random.randint(1, _MOST_ROUNDS)
        while True:
            beginning = _Beginning(*alternatives[0], close, rounds)
            prepared = _start(pair, both, use, beginning, random)
            found = harness.compare(replace(prepared, seed=1 + start * _EACH))
            if not found.problem or found.second or len(alternatives) == 1 or start:
                break
            del alternatives[0]
        if found.problem and found.second:
            return Equality(differs=(f"only the rewritten code fails ({found.problem})",))
        if found.problem:
            raise _NotComparable(found.problem)
        if close:
            together = _added(together, found)
        else:
            apart = _added(apart, found)
    if apart.compared < apart.rounded:
        raise _NotComparable("its results are rounded, and depend on the order of operations")
    differs, left = use.judged(apart.registers)
    if apart.memory:
        differs = ("memory", *differs)
    overlapping, _ = use.judged(together.registers - apart.registers)
    if together.memory and not apart.memory:
        overlapping = ("memory", *overlapping)
    return Equality(apart.compared + together.compared, "", differs, left, overlapping, apart.rounded)


def _added(one: OutputDifference, other: OutputDifference) -> OutputDifference:
    return replace(
        one,
        compared=one.compared + other.compared,
        rounded=one.rounded + other.rounded,
        registers=one.registers | other.registers,
        memory=one.memory or other.memory,
    )


def _begins_with(pattern: re.Pattern[str], line: str) -> bool:
    """Whether the statement after a line's labels matches."""
    return pattern.match(line, leading_labels(line)[1]) is not None


def _kind(body: Sequence[Instruction]) -> str:
    """Kind of numbers that the code computes with: floats, doubles, or any."""
    found = [match["data"] for each in body if (match := _COMPUTING.fullmatch(each.mnemonic))]
    return max(found, key=found.count) if found else "w"


class _Beginning(Struct, frozen=True):
    """Choices for the registers at the start."""

    multiple: int
    """Alignment of all pointers, in bytes."""
    freely: bool
    """True if registers that hold no address are random."""
    close: bool
    """True if pointers may overlap."""
    rounds: int
    """Iterations of the first version."""


def _start(
    pair: PairRequest, both: Sequence[Instruction], use: _Use, beginning: _Beginning, random: Random
) -> PairRequest:
    """The pair with its registers set. Raises _NotComparable."""
    multiple, close = beginning.multiple, beginning.close
    addressing = set(_addressing(both))
    registers = {}
    for number, name in enumerate(REGISTERS):
        page = PATTERN + number * _PAGES
        registers[name] = page + multiple * random.randrange(_PAGES // 8 // multiple)
        if close and name != _STACK:
            registers[name] = PATTERN + multiple * random.randrange(_NEAR // multiple)
    loop = b"".join(each.code for each in use.body)
    known = set[str]()
    if use.body and use.body[-1].branch_displacement is not None:
        found = measurable(loop, Inputs(registers=registers))
        if isinstance(found, str) or not found.closed:
            raise _NotComparable("its number of iterations depends on its data")
        counter = REGISTERS[found.counter.register]
        known = {counter, *used_registers(use.body[-2].code)}
        registers[counter] = found.counter.base + found.counter.factor * beginning.rounds
    free = (
        [name for name in REGISTERS if name not in addressing | known | {_STACK}] if beginning.freely else []
    )
    return replace(pair, registers=registers, random=free)


def _addressing(instructions: Iterable[Instruction]) -> Iterator[str]:
    """Registers used in addresses."""
    for each in instructions:
        for operand in each.operands:
            if operand.kind is OperandKind.MEMORY:
                for name in (operand.base, operand.index):
                    if name:
                        yield name if name in REGISTERS else next(iter(used_registers(each.code)), name)
        if each.mnemonic in ("push", "pop"):
            yield _STACK
