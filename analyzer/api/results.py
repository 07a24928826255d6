"""What the functions of the library return: values that do not change, can be compared and pickled, and turn
themselves into dictionaries and tables.

Cycles are core cycles per iteration: of one copy of a block, or of one round of a loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any, TypeVar

FRAMES = ("pandas", "polars")
"""Libraries whose tables ``to_frame`` makes, the first that is installed by default."""

_Row = TypeVar("_Row", bound="_Record")


class _Record:
    """A result that is one row of a table."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, as plain Python values."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]


def _frame(rows: Sequence[Mapping[str, Any]], library: str | None) -> Any:
    if library is not None and library not in FRAMES:
        raise ValueError(f"unknown library '{library}'; known are {', '.join(FRAMES)}")
    for name in FRAMES if library is None else (library,):
        try:
            tables = import_module(name)
        except ImportError:
            continue
        return tables.DataFrame(list(rows))
    raise ImportError(
        f"a table needs {' or '.join(FRAMES if library is None else (library,))} to be installed"
    )


class _Table(tuple[_Row, ...]):
    """Rows in their order; a tuple in all else."""

    __slots__ = ()

    def to_frame(self, library: str | None = None) -> Any:
        """A data frame of ``library`` (``pandas`` or ``polars``), a row for each result. None: the one that
        is installed. Raises ImportError if it is not, ValueError for another name."""
        return _frame([row.to_dict() for row in self], library)


@dataclass(frozen=True, slots=True)
class Prediction(_Record):
    """The figure of one block of machine code."""

    code: bytes = field(repr=False)
    """As it was given, without the counter of a loop; empty for a text that is not hexadecimal."""
    arch: str
    mode: str
    """``unroll`` or ``loop``."""
    cycles_per_iteration: float | None
    """None where the block cannot be predicted, or only a lower bound is known."""
    problem: str = ""
    """Why there is no figure."""
    least: float | None = None
    """What it takes at least, where the tables lack an instruction that ``problem`` names; else None."""

    def to_dict(self) -> dict[str, Any]:
        """The fields by name; the code in hexadecimal."""
        return {
            "hex": self.code.hex(),
            "arch": self.arch,
            "mode": self.mode,
            "cycles_per_iteration": self.cycles_per_iteration,
            "problem": self.problem,
            "least": self.least,
        }


class Predictions(_Table[Prediction]):
    """Figures of many blocks, in the order of the blocks."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Measurement(_Record):
    """What code took on this machine, beside what a model says."""

    name: str
    """Of the region; empty for a block."""
    cycles_per_iteration: float | None
    """None where the code cannot be measured."""
    spread: float
    """Of repeated runs, as a share of the figure."""
    predicted: float | None
    """Cycles per iteration by the model ``arch``; None without a model or a figure."""
    arch: str
    """The model; empty if there is none of this machine."""
    clock: str
    """Where the cycles come from: the processor's counters or its time stamps."""
    agrees: bool
    """Whether prediction and measurement differ by no more than the spread, or a small tolerance."""
    causes: tuple[str, ...] = ()
    """Assumptions of the prediction that would explain a difference."""
    problem: str = ""
    """Why there is no figure."""
    steady_states: tuple[tuple[float, float], ...] = ()
    """Cycles and share of the runs of each state that the runs settle in; one where they all agree."""


class Measurements(_Table[Measurement]):
    """One for each region, in the order of the text."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Problem(_Record):
    """Something that is wrong with a text."""

    code: str
    """Stable, kebab-case: ``syntax-error``, ``unknown-instruction`` ..."""
    severity: str
    """``error``, ``warning`` or ``information``."""
    line: int | None
    """From 1; None: the text as a whole."""
    message: str


@dataclass(frozen=True, slots=True)
class Hazard(_Record):
    """Something that costs time, tied to an instruction: a stall, an erratum hit."""

    code: str
    """Stable, kebab-case: ``lcp-stall``, ``jcc-erratum`` ..."""
    severity: str
    arch: str
    """Where it happens; empty: everywhere."""
    line: int | None
    message: str


@dataclass(frozen=True, slots=True)
class Assumption(_Record):
    """What a figure takes for granted, where the region gives a reason to doubt it."""

    code: str
    """Stable, kebab-case (docs/json.md lists them)."""
    message: str
    lines: tuple[int, ...]
    """Empty: the region as a whole."""


@dataclass(frozen=True, slots=True)
class Position(_Record):
    """Offsets within a 64-byte line at which a region has the same figure."""

    cycles_per_iteration: float
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PortBinding(_Record):
    """A figure that hangs on the rule by which uops are bound to ports."""

    least: float
    most: float
    """In cycles per iteration."""


@dataclass(frozen=True, slots=True)
class OnePass(_Record):
    """What code takes once, from an empty pipeline to the retirement of its last instruction."""

    cycles: int
    path_cycles: int
    """Of the longest way along dependencies."""
    path: tuple[int, ...]
    """Its instructions, by index."""


@dataclass(frozen=True, slots=True)
class Instruction(_Record):
    """One instruction of a region, with averages per iteration in uops."""

    line: int | None
    source: str
    """As written."""
    text: str
    """As decoded, in Intel syntax."""
    code: bytes = field(repr=False)
    ports: Mapping[str, float]
    """Uops by the port that executed them."""
    issued: float
    executed: float

    def to_dict(self) -> dict[str, Any]:
        """The fields by name; the code in hexadecimal as ``hex``."""
        fields = asdict(self)
        return {"hex" if name == "code" else name: _plain(value) for name, value in fields.items()}


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


@dataclass(frozen=True, slots=True)
class RegionPrediction:
    """One region on one core."""

    region: str
    """Its name."""
    arch: str
    mode: str
    """``loop`` or ``unroll``."""
    cycles_per_iteration: float
    """Of the steady state where that was found, else of the simulated window."""
    at_least: bool
    """The figure is a lower bound: the tables lack an instruction, which ``reservations`` say."""
    bottlenecks: tuple[str, ...]
    bounds: Mapping[str, float]
    """Analytic lower bounds, cycles per iteration, by name."""
    port_binding: PortBinding | None
    """What other rules of binding uops to ports make of the figure; None if they change it by five percent at
    most."""
    positions: tuple[Position, ...]
    """Everywhere the region may lie, by figure; the first is the one that all else is about."""
    assumptions: tuple[Assumption, ...]
    reservations: tuple[str, ...]
    """Sentences on why to read the figure with care."""
    instructions: tuple[Instruction, ...]
    document: Mapping[str, Any] = field(repr=False)
    once: OnePass | None = None
    """Of functions, and with ``mode="once"``."""

    def to_dict(self) -> dict[str, Any]:
        """Everything that is known, as docs/json.md describes a prediction."""
        return dict(self.document)

    def to_frame(self, library: str | None = None) -> Any:
        """A data frame with a row for each instruction, and a column for each port that the region uses."""
        ports = sorted({port for each in self.instructions for port in each.ports})
        rows = []
        for each in self.instructions:
            row = each.to_dict()
            used = row.pop("ports")
            rows.append(row | {f"port {port}": used.get(port, 0.0) for port in ports})
        return _frame(rows, library)

    @classmethod
    def of(cls, region: str, document: Mapping[str, Any]) -> RegionPrediction:
        """From a prediction of the JSON report."""
        return cls(
            region=region,
            arch=document["microarchitecture"],
            mode=document["mode"],
            cycles_per_iteration=document["cycles_per_iteration"],
            at_least=document["at_least"],
            bottlenecks=tuple(document["bottlenecks"]),
            bounds=document["bounds"],
            port_binding=document["port_binding"] and PortBinding(**document["port_binding"]),
            positions=tuple(
                Position(each["cycles_per_iteration"], tuple(each["offsets"]))
                for each in document["positions"]
            ),
            assumptions=tuple(
                Assumption(each["code"], each["message"], tuple(filter(None, each["lines"])))
                for each in document["assumptions"]
            ),
            reservations=tuple(document["reservations"]),
            instructions=tuple(
                Instruction(
                    line=row["line"],
                    source=row["source_text"],
                    text=row["text"],
                    code=bytes.fromhex(row["bytes"]),
                    ports=row["ports"],
                    issued=row["issued"],
                    executed=row["executed"],
                )
                for row in document["rows"]
                if row["kind"] == "instruction"
            ),
            document=document,
            once=None
            if "once" not in document
            else OnePass(
                document["once"]["cycles"],
                document["once"]["path_cycles"],
                tuple(step["instruction"] for step in document["once"]["path"]),
            ),
        )


@dataclass(frozen=True, slots=True)
class Region:
    """One region of a text or a loop of an object file."""

    name: str
    first_line: int | None
    last_line: int | None
    predictions: tuple[RegionPrediction, ...]
    """One for each core that was asked for and can run the region, in that order."""
    hazards: tuple[Hazard, ...]
    note: str
    """Why there is no prediction, or what was added to make the region a loop."""

    @property
    def cycles_per_iteration(self) -> float | None:
        """Of the first prediction; None if there is none, or only a lower bound."""
        first = self.predictions[0] if self.predictions else None
        return None if first is None or first.at_least else first.cycles_per_iteration

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Region:
        """From a region of the JSON report."""
        return cls(
            name=document["name"],
            first_line=document["first_line"],
            last_line=document["last_line"],
            predictions=tuple(
                RegionPrediction.of(document["name"], each) for each in document["predictions"]
            ),
            hazards=tuple(
                Hazard(
                    each["code"], each["severity"], each["microarchitecture"], each["line"], each["message"]
                )
                for each in document["findings"]
            ),
            note=document["note"],
        )


@dataclass(frozen=True, slots=True)
class Report:
    """The analysis of a text or an object file."""

    regions: tuple[Region, ...]
    problems: tuple[Problem, ...]
    document: Mapping[str, Any] = field(repr=False)

    def region(self, name: str) -> Region:
        """The region of this name. Raises KeyError, which lists the names."""
        for each in self.regions:
            if each.name == name:
                return each
        names = ", ".join(repr(each.name) for each in self.regions) or "none"
        raise KeyError(f"there is no region '{name}'; known: {names}")

    def to_dict(self) -> dict[str, Any]:
        """Everything that is known, as docs/json.md describes the report."""
        return dict(self.document)

    def to_frame(self, library: str | None = None) -> Any:
        """A data frame with a row for each region and core."""
        rows = [
            {
                "region": each.region,
                "first_line": region.first_line,
                "arch": each.arch,
                "mode": each.mode,
                "cycles_per_iteration": each.cycles_per_iteration,
                "at_least": each.at_least,
                "bottlenecks": ", ".join(each.bottlenecks),
            }
            for region in self.regions
            for each in region.predictions
        ]
        return _frame(rows, library)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Report:
        """From the JSON report."""
        return cls(
            regions=tuple(Region.of(each) for each in document["regions"]),
            problems=tuple(
                Problem(each["code"], each["severity"], each["line"], each["message"])
                for each in document["problems"]
            ),
            document=document,
        )
