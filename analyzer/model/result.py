"""What the explanation of a simulation and a whole analysis look like."""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.common.data_classes import dataclass, field
from cyclelens.analyzer.common.named_tuple import NamedTuple
from cyclelens.analyzer.model.account import Account
from cyclelens.analyzer.model.choices import Assembler, Mode, Regions, Syntax
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.model.paths import BranchingAnalysis, Weight
from cyclelens.analyzer.model.simulation import Simulation
from cyclelens.analyzer.model.source import NOWHERE, CompiledInstruction, Origin, Problem, Region, Severity
from cyclelens.analyzer.model.uops import InstructionTemplate


class Position(NamedTuple):
    """A place in memory where a region may lie."""

    offset: int
    """Of its first byte within a 64-byte line."""
    cycles_per_iteration: float
    """What it takes there."""
    erratum: frozenset[int]
    """Instructions that the JCC erratum hits there."""


class PortBinding(NamedTuple):
    """Cycles per iteration of a figure that hangs on the rule by which uops are bound to ports."""

    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something that a figure takes for granted, and that the region at hand gives a reason to doubt."""

    code: str
    """Stable, kebab-case; ``insight/assumptions.py`` lists them."""
    message: str
    """One or two sentences."""
    instructions: tuple[int, ...] = ()
    """Indices of the region's instructions that it is about; empty: the region as a whole."""
    values: Mapping[str, float | int | str] = field(default_factory=dict)
    """What programs want to know without taking the message apart; figures in cycles per iteration."""


@dataclass(frozen=True, slots=True)
class Work:
    """What one iteration of a region does."""

    amount: int
    unit: str
    """``element`` or ``byte``."""
    source: str
    """How it is known: ``per=8``, ``step of rsi``."""

    def __str__(self) -> str:
        """``32 bytes per iteration (step of rsi)``."""
        plural = "" if self.amount == 1 else "s"
        return f"{self.amount} {self.unit}{plural} per iteration ({self.source})"


@dataclass(frozen=True, slots=True)
class OnePass:
    """What code takes once: from an empty pipeline, with the code in the uop cache and the data in the
    first-level cache, to the retirement of its last instruction."""

    cycles: int
    """From the first fetch to that retirement, both included."""
    path: tuple[tuple[int, int, str], ...]
    """The longest way along dependencies: instruction, its latency in cycles, and the value that it hands
    on."""
    path_cycles: int


@dataclass(frozen=True, slots=True)
class Prediction:
    """One region on one microarchitecture: the figure and why."""

    microarchitecture: str
    mode: Mode
    """``LOOP``, ``UNROLL`` or ``ONCE``."""
    alignment: int
    """Offset within a 64-byte line that all of this is about."""
    cycles_per_iteration: float
    """Of the steady state where it is known; ``simulation`` has the figure of the window (5.2)."""
    bottlenecks: tuple[str, ...]
    """Names of docs/pipeline.md 5.5, alphabetical; ("unknown",) if nothing bounds the figure."""
    bounds: Mapping[str, float]
    """Analytic bounds, cycles per iteration, by name."""
    front_end: Mapping[str, float]
    """IDQ uops per iteration by source."""
    instructions: tuple[InstructionTemplate, ...]
    simulation: Simulation
    account: Account | None = None
    """What became of every issue slot, if the simulation was asked for it."""
    chain: tuple[tuple[int, int], ...] = ()
    """The instructions of the critical chains, and the cycles that each adds to one of them."""
    tied_chains: int = 0
    """How many chains are critical: they take equally long. 0 if nothing is carried between iterations."""
    assumptions: tuple[Assumption, ...] = ()
    """What the figure takes for granted."""
    positions: tuple[Position, ...] = ()
    """Everywhere the region may lie, by rising offset, as far as it was simulated; ``alignment`` is one of
    them."""
    work: Work | None = None
    """What an iteration does, as far as the instructions alone tell."""
    port_binding: PortBinding | None = None
    """What other rules of binding uops to ports make of the figure; None if they change little, or if nobody
    asked for it."""
    once: OnePass | None = None
    """One pass, if that was asked for, and of functions."""
    tracks_values: bool = False
    """As ``Block`` has it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A hazard tied to one instruction of a region: a stall, an erratum hit, an unknown instruction."""

    code: str
    """Stable, kebab-case: ``lcp-stall``, ``jcc-erratum``, ``unknown-instruction`` ..."""
    severity: Severity
    instruction: int
    """Index within the region's instructions."""
    message: str
    label: str = ""
    """A few characters for a hint at the line's end."""
    microarchitecture: str = ""
    cost: float | None = None
    """Cycles per iteration that the region takes because of it; None if that is not known."""
    price: str = ""
    """The sentence at the end of ``message`` about a cost that was found by another simulation."""
    outside: bool = False
    """What it costs is no part of the figure, and so cannot be found by another simulation."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A microarchitecture that was asked for and has no figure: it cannot run the region, or what counts in
    it has no record."""

    microarchitecture: str
    extensions: tuple[str, ...]
    """What it does not have, as people write it: ``FMA``, ``AVX-512 VNNI``; empty if it can run the code."""
    instructions: tuple[int, ...]
    """Indices of the instructions that need them, or that have no record."""
    left_out: str = ""
    """Why a figure without them would say nothing: ``AMX is not modelled``; empty if it cannot run them."""
    names: str = ""
    """Of instructions without a record: ``tdpbssd and tileloadd``."""

    @property
    def brief(self) -> str:
        """The same for a line that has little room: ``SPR: no figure, AMX is not modelled``."""
        return f"{self.microarchitecture}: no figure, {self.left_out}" if self.left_out else self.reason

    @property
    def reason(self) -> str:
        """``SNB has no FMA``, ``SPR has no figures for tdpbssd and tileloadd (AMX is not modelled)``."""
        if self.left_out:
            return f"{self.microarchitecture} has no figures for {self.names} ({self.left_out})"
        return f"{self.microarchitecture} has no {' and no '.join(self.extensions)}"


@dataclass(frozen=True, slots=True)
class RegionAnalysis:
    """All that is known about one region."""

    region: Region
    instruction_lines: tuple[int, ...]
    """For every instruction the index of its statement in ``region.lines``."""
    predictions: tuple[Prediction, ...]
    """One per requested microarchitecture that can run it, the first is the primary one; empty if it could
    not be done."""
    findings: tuple[Finding, ...] = ()
    note: str = ""
    """Why there is no prediction, if there is none; else what was added to make the region a loop."""
    latencies: Mapping[int, int] = field(default_factory=dict)
    """Latencies in cycles that the text asks for, by index of instruction."""
    missing: tuple[Missing, ...] = ()
    """The requested microarchitectures that cannot run it; ``predictions`` has none for them."""
    weight: Weight | None = None
    """Of a region that has a place in a recorded profile; None without one."""
    versions: tuple[int, ...] = ()
    """Of the predictions: the same number from the same workspace is the same answer."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The whole answer for one text."""

    regions: tuple[RegionAnalysis, ...]
    problems: tuple[Problem, ...]
    branchings: tuple[BranchingAnalysis, ...] = ()
    """Of the regions that branch within themselves, as far as it is known where their jumps go."""
    dialect: str = "att"
    account: bool = False
    """The account of issue slots was asked for in full."""
    pending: bool = False
    """More regions follow: this is what there is so far."""
    unmarked: bool = False
    """The regions are loops that nobody asked for: the text has no markers."""
    made: tuple[CompiledInstruction, ...] = ()
    """Of object files all instructions whose line is known."""
    calls: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)
    """Of compiled sources the instructions that intrinsics became, by their names."""
    by_default: str = ""
    """Why regions that name no core are analysed for these: ``this machine``; empty if somebody named one."""


@dataclass(frozen=True, slots=True)
class Hint:
    """Something to show at a place in the text, in editor words."""

    line: int
    column: int
    """Where the label goes; at or behind the last character of the statement or marker."""
    label: str
    tooltip: str = ""
    kind: str = ""
    """Which file of ``hints/`` made it: ``region``, ``ports``, ``stalls`` ..."""


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """What to analyse and for what. Marker options of a region win over these."""

    microarchitectures: tuple[str, ...] = ("SKL",)
    """Commands, editors and the library name those of this machine if nobody named any. Here it is one and
    the same everywhere: no answer of the engine depends on the machine that gives it."""
    by_default: str = ""
    """Why these, if nobody named any: ``this machine``; empty if somebody did."""
    mode: Mode = Mode.AUTO
    alignment: int | None = None
    """Offset of every region within a 64-byte line; None: the places that the text itself gives."""
    anywhere: bool = False
    """Every region may lie anywhere within a 64-byte line, whatever its text says."""
    syntax: Syntax = Syntax.AUTO
    region: str | None = None
    """Only the region of this name."""
    function: str | None = None
    """Of a text: only this function, its loops or, if it has none, all of it; empty: no region, only which
    functions there are."""
    model: ModelOptions = DEFAULT
    """Which variant of the model simulates; ``bounds`` does not, and is for batches only."""
    quick: bool = False
    """Of the positions of a region that an earlier text had, or that is long, only the one shown last is
    simulated; the prediction says so by an assumption."""
    trace: bool = False
    trace_rounds: int | None = None
    """Iterations at its beginning that the trace is about, then without causes; all by default."""
    account: bool = False
    """The report is to have the account of issue slots in full."""
    taken: tuple[tuple[str, str], ...] = ()
    """Regions, or nothing for all of them, and how often their inner branches jump, as ``taken=`` of a marker
    says it; later ones win, and all of them over the markers."""
    forced: frozenset[str] = frozenset()
    """Marker options (``arch mode alignment align``) that do not win: the user gave them explicitly."""
    causes: bool = True
    """The prediction is to say what limits the figure and what it takes for granted; else it is the figure
    alone, everywhere the region may lie."""
    prices: bool = False
    """The findings are to say what they cost; each is another simulation."""
    alternatives: bool = True
    """The prediction is to say what it costs where accesses meet in memory that are taken to differ, and,
    unless ``quick``, what other rules of port binding make of its figure."""
    regions: Regions = Regions.AUTO
    allow_external_programs: bool = True
    """Assemblers and the C compiler of the machine may be run; false for texts nobody trusts."""
    assembler: Assembler = Assembler.AUTO
    profile: str = ""
    """The file of a recorded profile; empty without one."""
    origin: Origin = NOWHERE
    """The text's file and what may be read for it."""
    extra: Mapping[str, str] = field(default_factory=dict)
