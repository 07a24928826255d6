"""Result types of the library: immutable values that can be compared, pickled, and converted to dictionaries
and tables.

Cycles are core cycles per iteration: of one copy of a block, or of one iteration of a loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import asdict

FRAMES = ("pandas", "polars")
"""Libraries that ``to_frame`` supports; the default is the first one installed."""

_Row = TypeVar("_Row", bound="_TableRow")


class _TableRow(Struct, frozen=True):
    """A result that is one row of a table."""

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, as plain Python values."""
        return {name: _plain(value) for name, value in asdict(self).items()}


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _without(record: Struct, hidden: str) -> str:
    """As a record is shown, but for a field that says what others say, or too much."""
    shown = [f"{name}={value!r}" for name, value in asdict(record).items() if name != hidden]
    return f"{type(record).__name__}({', '.join(shown)})"


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
    """A tuple of rows that converts to a data frame."""

    __slots__ = ()

    def to_frame(self, library: str | None = None) -> Any:
        """A data frame of ``library`` (``pandas`` or ``polars``) with one row per result. None: the first one
        installed. Raises ImportError if it is not installed, ValueError for another name."""
        return _frame([row.to_dict() for row in self], library)


class Prediction(_TableRow, frozen=True):
    """The figure of one block of machine code."""

    code: bytes
    """The block as given, without a loop's counter; empty if the text was not hexadecimal."""
    arch: str
    mode: str
    """``unroll`` or ``loop``."""
    cycles_per_iteration: float | None
    """None if the block cannot be predicted, or only a lower bound is known."""
    problem: str = ""
    """Why there is no figure."""
    least: float | None = None
    """Lower bound in cycles per iteration if the tables lack an instruction, which ``problem`` names; else
    None."""

    def __repr__(self) -> str:
        return _without(self, "code")

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
    """Predictions of many blocks, in the order of the blocks."""

    __slots__ = ()


class Measurement(_TableRow, frozen=True):
    """The measured cycles of code on this machine, beside a model's prediction."""

    name: str
    """Name of the region; empty for a block."""
    cycles_per_iteration: float | None
    """None if the code cannot be measured."""
    spread: float
    """Spread of repeated runs, as a share of the figure."""
    predicted: float | None
    """Cycles per iteration predicted by the model ``arch``; None without a model or a figure."""
    arch: str
    """Name of the model; empty if there is none for this machine."""
    clock: str
    """Source of the cycles: the processor's counters or its time stamps."""
    agrees: bool
    """Whether prediction and measurement differ by no more than the spread, or a small tolerance."""
    causes: tuple[str, ...] = ()
    """Assumptions of the prediction that would explain a difference."""
    problem: str = ""
    """Why there is no figure."""
    steady_states: tuple[tuple[float, float], ...] = ()
    """Cycles and share of the runs for each steady state; a single one if all runs agree."""


class Measurements(_Table[Measurement]):
    """One measurement per region, in text order."""

    __slots__ = ()


class Problem(_TableRow, frozen=True):
    """An error or warning about a text."""

    code: str
    """Stable, kebab-case: ``syntax-error``, ``unknown-instruction`` ..."""
    severity: str
    """``error``, ``warning`` or ``information``."""
    line: int | None
    """Counted from 1; None: the text as a whole."""
    message: str


class Hazard(_TableRow, frozen=True):
    """An instruction-specific cause of lost time, such as a stall or an erratum."""

    code: str
    """Stable, kebab-case: ``lcp-stall``, ``jcc-erratum`` ..."""
    severity: str
    arch: str
    """Core on which it occurs; empty: all cores."""
    line: int | None
    message: str


class Assumption(_TableRow, frozen=True):
    """An assumption of a figure that the region gives a reason to doubt."""

    code: str
    """Stable, kebab-case (docs/json.md lists them)."""
    message: str
    lines: tuple[int, ...]
    """Lines concerned; empty: the region as a whole."""


class Position(_TableRow, frozen=True):
    """Offsets within a 64-byte line at which a region has the same figure."""

    cycles_per_iteration: float
    offsets: tuple[int, ...]


class PortBinding(_TableRow, frozen=True):
    """Range of a figure that depends on the rule by which uops are bound to ports, or on the steady state in
    which a loop settles."""

    least: float
    most: float
    """Both in cycles per iteration."""
    steady_states: bool
    """Whether an end is the figure of another steady state."""


class OnePass(_TableRow, frozen=True):
    """Cycles of one pass, from an empty pipeline to the retirement of the last instruction."""

    cycles: int
    path_cycles: int
    """Length of the longest dependency path in cycles."""
    path: tuple[int, ...]
    """Instructions of that path, by index."""


class Mispredictions(_TableRow, frozen=True):
    """What mispredicted branches add to a figure."""

    cycles_per_iteration: float
    """``base`` and the penalties; ``base`` alone if the penalty is not known."""
    base: float
    """Cycles per iteration if every branch is predicted."""
    per_iteration: float
    """Mispredicted branches per iteration."""
    penalty: float | None
    """Cycles per mispredicted branch; None if not known."""
    at_least: bool


class Instruction(_TableRow, frozen=True):
    """One instruction of a region, with averages per iteration in uops."""

    line: int | None
    source: str
    """As written."""
    text: str
    """As decoded, in Intel syntax."""
    code: bytes
    ports: Mapping[str, float]
    """Port -> uops executed on it."""
    issued: float
    executed: float

    def __repr__(self) -> str:
        return _without(self, "code")

    def to_dict(self) -> dict[str, Any]:
        """The fields by name; the code in hexadecimal as ``hex``."""
        fields = super().to_dict()
        return {"hex" if name == "code" else name: value for name, value in fields.items()} | {
            "hex": self.code.hex()
        }


class LevelFigure(_TableRow, frozen=True):
    """The figure of a region with the data of its streams in one level of memory (docs/data.md)."""

    level: str
    """``L1``, ``L2``, ``L3`` or ``memory``."""
    cycles_per_iteration: float | None
    """None if not known."""
    latency: float | None
    """Cycles of a single load; None if not known."""


class RegionPrediction(Struct, frozen=True):
    """One region on one core."""

    region: str
    """Name of the region."""
    arch: str
    mode: str
    """``loop`` or ``unroll``."""
    cycles_per_iteration: float
    """Figure of the steady state if one was found, else of the simulated window."""
    at_least: bool
    """Whether the figure is a lower bound because the tables lack an instruction, which ``reservations``
    name."""
    bottlenecks: tuple[str, ...]
    bounds: Mapping[str, float]
    """Analytic lower bounds, cycles per iteration, by name."""
    port_binding: PortBinding | None
    """Range of the figure under other rules of binding uops to ports; None if it changes by at most five
    percent."""
    positions: tuple[Position, ...]
    """Possible positions of the region, grouped by figure; all other fields refer to the first one."""
    assumptions: tuple[Assumption, ...]
    reservations: tuple[str, ...]
    """Sentences on why to treat the figure with caution."""
    instructions: tuple[Instruction, ...]
    document: Mapping[str, Any]
    once: OnePass | None = None
    """One pass; for functions, and with ``mode="once"``."""
    mispredictions: Mispredictions | None = None
    """None unless ``mispredicted`` is given, by an argument or a marker."""
    data: tuple[LevelFigure, ...] = ()
    """The figure by where the data are, the nearest level first; empty if they stay in the first-level cache,
    or if nothing is known of the core's levels."""

    def __repr__(self) -> str:
        return _without(self, "document")

    def to_dict(self) -> dict[str, Any]:
        """The complete prediction, in the format of docs/json.md."""
        return dict(self.document)

    def to_frame(self, library: str | None = None) -> Any:
        """A data frame with one row per instruction, and one column for each port that the region uses."""
        ports = sorted({port for each in self.instructions for port in each.ports})
        rows = []
        for each in self.instructions:
            row = each.to_dict()
            used = row.pop("ports")
            rows.append(row | {f"port {port}": used.get(port, 0.0) for port in ports})
        return _frame(rows, library)

    @classmethod
    def of(cls, region: str, document: Mapping[str, Any]) -> RegionPrediction:
        """Create from a prediction of the JSON report."""
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
            data=tuple(LevelFigure(**each) for each in (document["data"] or {}).get("levels", ())),
            once=None
            if "once" not in document
            else OnePass(
                document["once"]["cycles"],
                document["once"]["path_cycles"],
                tuple(step["instruction"] for step in document["once"]["path"]),
            ),
            mispredictions=_mispredictions(document.get("mispredictions")),
        )


def _mispredictions(document: Mapping[str, Any] | None) -> Mispredictions | None:
    names = Mispredictions.__struct_fields__
    return None if document is None else Mispredictions(**{name: document[name] for name in names})


class Region(Struct, frozen=True):
    """One region of a text or a loop of an object file."""

    name: str
    first_line: int | None
    last_line: int | None
    predictions: tuple[RegionPrediction, ...]
    """One prediction for each requested core that can run the region, in the order requested."""
    hazards: tuple[Hazard, ...]
    note: str
    """Why there is no prediction, or what was added to make the region a loop."""

    @property
    def cycles_per_iteration(self) -> float | None:
        """Figure of the first prediction; None if there is none, or only a lower bound."""
        first = self.predictions[0] if self.predictions else None
        return None if first is None or first.at_least else first.cycles_per_iteration

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Region:
        """Create from a region of the JSON report."""
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


class Report(Struct, frozen=True):
    """The analysis of a text or an object file."""

    regions: tuple[Region, ...]
    problems: tuple[Problem, ...]
    document: Mapping[str, Any]

    def __repr__(self) -> str:
        return _without(self, "document")

    def region(self, name: str) -> Region:
        """The region with this name. Raises KeyError, which lists the names."""
        for each in self.regions:
            if each.name == name:
                return each
        names = ", ".join(repr(each.name) for each in self.regions) or "none"
        raise KeyError(f"there is no region '{name}'; known: {names}")

    def to_dict(self) -> dict[str, Any]:
        """The complete report, in the format of docs/json.md."""
        return dict(self.document)

    def to_frame(self, library: str | None = None) -> Any:
        """A data frame with one row per region and core."""
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
        """Create from the JSON report."""
        return cls(
            regions=tuple(Region.of(each) for each in document["regions"]),
            problems=tuple(
                Problem(each["code"], each["severity"], each["line"], each["message"])
                for each in document["problems"]
            ),
            document=document,
        )
