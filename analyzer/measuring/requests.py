"""Requests to the harness and its answers, each one line of text (``native/main.c``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from cyclelens.analyzer.measuring.states import State, steady_states
from msgspec import Struct, field

REGISTERS = ("RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", *(f"R{n}" for n in range(8, 16)))
"""General-purpose registers in encoding order."""
PATTERN = 0x2324000
"""Default value of every word of memory; it is a valid address."""
_BHIVE_CONSTANT = 0x12345600
"""Value of every register and word in BHive's paper (Chen and others, 2019, section on its profiler)."""


class Counter(Struct, frozen=True):
    """The register that ends a loop: N rounds if the register starts at ``base + factor * N``."""

    register: int
    base: int = 0
    factor: int = 1


class Inputs(Struct, frozen=True, kw_only=True):
    """Initial registers and memory; all other registers hold ``PATTERN``."""

    registers: Mapping[str, int] = field(default_factory=dict)
    """Initial values by 64-bit name."""
    words: Mapping[int, int] = field(default_factory=dict)
    """64-bit words by address."""
    fill: int = PATTERN
    """Value of every other word, and of the vector registers."""


SAME = Inputs()
"""Every register and every word holds the same value, as in the BHive profiler."""
BHIVE = Inputs(registers=dict.fromkeys(REGISTERS, _BHIVE_CONSTANT), fill=_BHIVE_CONSTANT)
"""The same with the constant of BHive's paper."""
DISTINCT = Inputs(registers={name: PATTERN + n * 0x200000 + n * 192 for n, name in enumerate(REGISTERS)})
"""Every register points to a page of its own, at a different cache line within the page."""


class PointerChain(Struct, frozen=True):
    """A cyclic chain of pointers in random order."""

    first: int
    """Address of the link in the first node."""
    nodes: int
    node_bytes: int
    displacement: int
    """Of the link within its node: a link holds the address of the next node."""


class Walk(Struct, frozen=True):
    """Passes of a loop over one working set."""

    bytes: int
    """From the first byte of the first buffer to the end of the last."""
    rounds: int
    """Iterations of one pass."""
    chain: PointerChain | None = None


class MeasurementRequest(Struct, frozen=True, kw_only=True):
    """A request to measure one block."""

    code: bytes
    instructions: int
    loop: bool = False
    """True for copies in a loop, False for straight-line code."""
    copies: int = 1
    closed: bool = False
    """True if the code ends in its own jump to its start."""
    counter: Counter = Counter(15)
    cached: bool = False
    """True to run straight-line code from the uop cache; otherwise every run starts with the code evicted."""
    offset: int = 0
    """Offset of the first byte within a line of 64 bytes."""
    vector_bits: int = 128
    inputs: Inputs = SAME
    walk: Walk | None = None
    """The working set of a loop; None to keep its data in the first-level cache."""

    def line(self) -> str:
        """The request line for the harness."""
        fields: dict[str, object] = {
            "mode": "walk" if self.walk is not None else "loop" if self.loop else "unroll",
            "cached": int(self.cached),
            "copies": self.copies,
            "closed": int(self.closed),
            "offset": self.offset,
            "counter": self.counter.register,
            "base": self.counter.base,
            "factor": self.counter.factor,
            "instructions": self.instructions,
            "vectors": self.vector_bits,
        }
        if self.inputs.fill != PATTERN:
            fields["fill"] = f"{self.inputs.fill:x}"
        if self.inputs.registers:
            fields["registers"] = _registers(self.inputs.registers)
        if self.inputs.words:
            fields["words"] = _pairs(self.inputs.words.items())
        if self.walk is not None:
            fields |= {"walked": self.walk.bytes, "rounds": self.walk.rounds}
            if (chain := self.walk.chain) is not None:
                fields["chain"] = f"{chain.first:x}:{chain.nodes}:{chain.node_bytes}:{chain.displacement}"
        return " ".join(f"{key}={value}" for key, value in (fields | {"code": self.code.hex()}).items())


def _registers(values: Mapping[str, int]) -> str:
    return _pairs((REGISTERS.index(name), value) for name, value in values.items())


def _pairs(pairs: object) -> str:
    return ",".join(f"{key:x}:{value & (1 << 64) - 1:x}" for key, value in pairs)  # type: ignore[attr-defined]


FAULTS = "rejected: page faults in every sample"
BUSY = "the machine is busy: no undisturbed measurement was possible"
_PROBLEMS = {
    "signal": "the code raises an exception",
    "privileged-or-wild-address": "the code uses a privileged instruction or a non-canonical address",
    "wrote-to-code": "the code writes to itself",
    "jumped-out": "the code jumps out of the measured block",
    "null-page": "the code uses an address near 0",
    "high-page": "the code uses memory where programs have libraries and stack",
    "too-many-pages": "the code uses too much memory",
    "not-mapped": "the code uses memory that cannot be provided",
    "time-limit": "the code does not end within the time limit",
    "killed": "the code makes a system call",
    "impossible": "the code changes what times it: its figure is larger than the time limit allows",
    "busy": BUSY,
}


class Measurement(Struct, frozen=True):
    """Result of one request."""

    cycles: float | None
    """Core cycles of one copy of the code, the median; None if it could not be measured."""
    problem: str = ""
    spread: float = 0.0
    """Interquartile range of the samples as a share of the median."""
    states: tuple[State, ...] = ()
    """Steady states of the samples: with more than one, the figure depends on how runs begin."""
    pages: int = 0
    """Pages of memory that the code touches."""
    huge: int = 0
    """Bytes of the working set in huge pages; 0 without a working set."""
    events: tuple[float, ...] = ()
    """Event counts per copy, in the order of the request."""
    figures: tuple[float, ...] = ()
    """Cycles of one copy in each sample."""
    switched: int = 0
    """Samples left out because the system switched to another program meanwhile."""
    faulted: int = 0
    """Samples left out because of a page fault."""

    @classmethod
    def read(cls, line: str) -> Measurement:
        """Parse a line of the harness."""
        fields = [part.partition("=")[::2] for part in line.split()]
        known = dict(fields)
        status = known.get("status", "")
        switched, faulted = int(known.get("switched", 0)), int(known.get("faulted", 0))
        if status == "busy" and faulted == int(known["attempts"]) > 0:
            return cls(None, FAULTS, switched=switched, faulted=faulted)
        if status != "ok":
            return cls(None, _PROBLEMS.get(status, "the harness failed"), switched=switched, faulted=faulted)
        figures = _numbers(known["cycles"])
        middle = median(figures)
        return cls(
            cycles=middle,
            spread=_interquartile_range(figures) / abs(middle) if middle else 0.0,
            states=steady_states([figures]),
            pages=int(known["pages"]),
            huge=int(known["huge"]),
            events=tuple(median(_numbers(value)) for key, value in fields if key == "event"),
            figures=figures,
            switched=switched,
            faulted=faulted,
        )


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split(",")))


def _interquartile_range(numbers: Sequence[float]) -> float:
    ordered = sorted(numbers)
    return ordered[len(ordered) * 3 // 4] - ordered[len(ordered) // 4]


class PairRequest(Struct, frozen=True, kw_only=True):
    """A request to run two pieces of code on the same random inputs."""

    one: bytes
    other: bytes
    registers: Mapping[str, int]
    """Initial values by 64-bit name; registers in ``random`` hold random numbers, all others ``PATTERN``."""
    random: Sequence[str]
    data: str = "w"
    """Kind of data in memory and vector registers: ``w``, any numbers; ``s`` or ``d``, small whole numbers as
    floats or doubles."""
    vector_bits: int = 128
    compared_bits: int = 128
    """Bits of each vector register that are compared."""
    inputs: int = 1
    seed: int = 1

    def line(self) -> str:
        """The request line for the harness."""
        fields = {
            "mode": "check",
            "instructions": 1,
            "vectors": self.vector_bits,
            "compared": self.compared_bits,
            "inputs": self.inputs,
            "seed": self.seed,
            "data": self.data,
            "random": f"{sum(1 << REGISTERS.index(name) for name in self.random):x}",
            "registers": _registers(self.registers),
            "code": self.one.hex(),
            "other": self.other.hex(),
        }
        return " ".join(f"{key}={value}" for key, value in fields.items())


class OutputDifference(Struct, frozen=True):
    """Differences between the results of two pieces of code."""

    problem: str = ""
    """Why one of them did not finish; empty if both did."""
    second: bool = False
    """True if only the second one failed on inputs with which the first one finished."""
    compared: int = 0
    """Number of inputs whose results could be compared."""
    rounded: int = 0
    """Number of inputs whose results differed, but were rounded."""
    registers: frozenset[str] = frozenset()
    """Registers that differed with any input: ``RAX``, ``XMM0``, ``K1``, and ``flags``."""
    memory: bool = False

    @classmethod
    def read(cls, line: str) -> OutputDifference:
        """Parse a line of the harness."""
        fields = dict(part.partition("=")[::2] for part in line.split())
        status = fields.get("status", "")
        if status not in ("ok", *_PROBLEMS) or "compared" not in fields:
            return cls("the harness failed")
        names = {
            *_named(fields["registers"], REGISTERS),
            *_named(fields["vectors"], [f"XMM{n}" for n in range(32)]),
            *_named(fields["opmasks"], [f"K{n}" for n in range(8)]),
        }
        return cls(
            problem=_PROBLEMS.get(status, ""),
            second=fields["second"] == "1",
            compared=int(fields["compared"]),
            rounded=int(fields["rounded"]),
            registers=frozenset(names | ({"flags"} if fields["flags"] != "0" else set())),
            memory=fields["memory"] != "0",
        )


def _named(bits: str, names: Sequence[str]) -> list[str]:
    return [name for number, name in enumerate(names) if int(bits, 16) >> number & 1]
