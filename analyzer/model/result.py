"""Results: predictions, findings and the analysis of a text."""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.model.account import Account
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.machine_file import MachineFile
from cyclelens.analyzer.model.memory_levels import DataLevels
from cyclelens.analyzer.model.mispredictions import Mispredictions
from cyclelens.analyzer.model.paths import BranchingAnalysis, Weight
from cyclelens.analyzer.model.simulation import Simulation
from cyclelens.analyzer.model.source import CompiledInstruction, Problem, Region, Severity
from cyclelens.analyzer.model.uops import InstructionTemplate
from msgspec import Struct, field


class Position(Struct, frozen=True):
    """A position in memory where a region may lie."""

    offset: int
    """Offset of the first byte within a 64-byte line."""
    cycles_per_iteration: float
    """Figure at this position."""
    erratum: frozenset[int]
    """Instructions that the JCC erratum hits at this position."""


class PortBinding(Struct, frozen=True):
    """Range of a figure that depends on the rule of port binding, or on the steady state in which a loop
    settles, in cycles per iteration."""

    least: float
    most: float
    steady_states: bool = False
    """Whether an end is the figure of another steady state of a loop."""


class Assumption(Struct, frozen=True):
    """An assumption behind a figure that the region gives reason to doubt."""

    code: str
    """Stable kebab-case name; ``insight/assumptions.py`` lists them."""
    message: str
    """One or two sentences."""
    instructions: tuple[int, ...] = ()
    """Indices of the instructions it concerns; empty for the whole region."""
    values: Mapping[str, float | int | str] = field(default_factory=dict)
    """Values of the message for programs; figures are in cycles per iteration."""


class Work(Struct, frozen=True):
    """Work of one iteration of a region."""

    amount: int
    unit: str
    """``element``, ``byte``, ``float`` or ``double``."""
    source: str
    """Where it comes from: ``per=8``, ``step of rsi``."""

    def __str__(self) -> str:
        """For example ``32 bytes per iteration (step of rsi)``."""
        plural = "" if self.amount == 1 else "s"
        return f"{self.amount} {self.unit}{plural} per iteration ({self.source})"


class OnePass(Struct, frozen=True):
    """Cost of a single pass: from an empty pipeline to the retirement of the last instruction.

    The code is in the uop cache and the data in the first-level cache.
    """

    cycles: int
    """From the first fetch to that retirement, inclusive."""
    path: tuple[tuple[int, int, str], ...]
    """The longest dependency path: (instruction, latency in cycles, value passed on)."""
    path_cycles: int


class Prediction(Struct, frozen=True):
    """The figure of one region on one core, and its explanation."""

    microarchitecture: str
    mode: Mode
    """``LOOP``, ``UNROLL`` or ``ONCE``."""
    alignment: int
    """Offset within a 64-byte line for which all fields hold."""
    cycles_per_iteration: float
    """Steady state if it is known; ``simulation`` has the figure of the window (5.2)."""
    bottlenecks: tuple[str, ...]
    """Names from docs/pipeline.md 5.5, alphabetical; ("unknown",) if nothing bounds the figure."""
    bounds: Mapping[str, float]
    """Analytic bounds by name, in cycles per iteration."""
    front_end: Mapping[str, float]
    """IDQ uops per iteration by source."""
    instructions: tuple[InstructionTemplate, ...]
    simulation: Simulation
    account: Account | None = None
    """What happened to every issue slot; None unless requested."""
    chain: tuple[tuple[int, int], ...] = ()
    """(instruction of a critical chain, cycles that it adds)."""
    tied_chains: int = 0
    """Number of equally long critical chains; 0 if no value is carried between iterations."""
    assumptions: tuple[Assumption, ...] = ()
    """Assumptions behind the figure."""
    positions: tuple[Position, ...] = ()
    """Possible positions of the region, by ascending offset, as far as they were
    simulated; includes ``alignment``."""
    work: Work | None = None
    """Work of an iteration, as far as the instructions tell."""
    data: DataLevels | None = None
    """The figure by where the data are; None if they stay in the first-level cache."""
    port_binding: PortBinding | None = None
    """Range of the figure under other rules of port binding and in other steady states; None if they change
    little or were not tried."""
    once: OnePass | None = None
    """A single pass; only for functions and on request."""
    tracks_values: bool = False
    """As in ``Block``."""
    machine: MachineFile | None = None
    """Measured values of this core, in place of published ones for its memory and for mispredictions."""
    mispredictions: Mispredictions | None = None
    """What mispredicted branches add; None unless the user or a profile says how often they are."""

    @property
    def placed_cycles(self) -> float:
        """The figure for the place of the data that the user names; that of L1 if none is named or known."""
        chosen = None if self.data is None else self.data.chosen
        return self.cycles_per_iteration if chosen is None or chosen.cycles is None else chosen.cycles

    @property
    def shown_cycles(self) -> float:
        """The figure that a headline shows: for the place of the data (``placed_cycles``), and with
        mispredicted branches, if their shares are given."""
        given = self.mispredictions
        return self.placed_cycles if given is None else given.cycles


class Finding(Struct, frozen=True):
    """A hazard tied to one instruction of a region: a stall, an erratum hit, an unknown instruction."""

    code: str
    """Stable kebab-case name: ``lcp-stall``, ``jcc-erratum``, ``unknown-instruction`` ..."""
    severity: Severity
    instruction: int
    """Index within the region's instructions."""
    message: str
    label: str = ""
    """Short label for a hint at the end of the line."""
    microarchitecture: str = ""
    cost: float | None = None
    """Cycles per iteration that it costs the region; None if not known."""
    price: str = ""
    """The sentence at the end of ``message`` with a cost that a further simulation found."""
    outside: bool = False
    """True if the figure does not include its cost, so that a further simulation cannot find it."""
    is_likely: bool = True
    """False if the hazard is at few positions of the code only: it gets no hint."""


class MissingPrediction(Struct, frozen=True):
    """A requested core without a figure: it cannot run the region, or an instruction
    that matters has no record."""

    microarchitecture: str
    extensions: tuple[str, ...]
    """Missing extensions, as usually written: ``FMA``, ``AVX-512 VNNI``; empty if
    the core can run the code."""
    instructions: tuple[int, ...]
    """Indices of the instructions that need the extensions, or that have no record."""
    left_out: str = ""
    """Why a figure without these instructions is meaningless: ``AMX is not modelled``; empty if
    the core cannot run them."""
    names: str = ""
    """Instructions without a record: ``tdpbssd and tileloadd``."""
    with_vex: str = ""
    """The instruction that the core can run if its text asks for the VEX encoding: ``vpdpbusd``."""

    @property
    def brief(self) -> str:
        """Short reason for a narrow line: ``SPR: no figure, AMX is not modelled``."""
        return f"{self.microarchitecture}: no figure, {self.left_out}" if self.left_out else self.reason

    @property
    def reason(self) -> str:
        """``SNB has no FMA``, ``SPR has no figures for tdpbssd and tileloadd (AMX is not modelled)``."""
        if self.left_out:
            return f"{self.microarchitecture} has no figures for {self.names} ({self.left_out})"
        absent = f"{self.microarchitecture} has no {' and no '.join(self.extensions)}"
        return f"{absent}; '{{vex}} {self.with_vex}' is the form that it has" if self.with_vex else absent


class RegionAnalysis(Struct, frozen=True):
    """Everything known about one region."""

    region: Region
    instruction_lines: tuple[int, ...]
    """Index in ``region.lines`` of each instruction's statement."""
    predictions: tuple[Prediction, ...]
    """One per requested core that can run the region, the primary one first; empty if there are none."""
    findings: tuple[Finding, ...] = ()
    note: str = ""
    """Why there is no prediction; otherwise what was added to make the region a loop."""
    latencies: Mapping[int, int] = field(default_factory=dict)
    """Instruction index -> latency in cycles requested by the text."""
    missing: tuple[MissingPrediction, ...] = ()
    """Requested cores that cannot run the region; they have no prediction."""
    weight: Weight | None = None
    """Weight in a recorded profile; None without one."""
    version: int = 0
    """Equal numbers from one workspace mean the same analysis, except that the region may have moved; 0: not
    known."""


class Analysis(Struct, frozen=True):
    """The whole answer for one text."""

    regions: tuple[RegionAnalysis, ...]
    problems: tuple[Problem, ...]
    branchings: tuple[BranchingAnalysis, ...] = ()
    """Regions with inner branches, as far as the targets of their jumps are known."""
    dialect: str = "att"
    account: bool = False
    """True if the full account of issue slots was requested."""
    pending: bool = False
    """True if more regions follow."""
    unmarked: bool = False
    """True if the regions are loops found in a text without markers."""
    made: tuple[CompiledInstruction, ...] = ()
    """For object files: all instructions whose line is known."""
    calls: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)
    """For compiled sources: intrinsic -> its instructions."""
    by_default: str = ""
    """Why the default cores were chosen: ``this machine``; empty if the user named cores."""


class Hint(Struct, frozen=True):
    """A label to show at a place in the text."""

    line: int
    column: int
    """Column of the label, at or after the last character of the statement or marker."""
    label: str
    tooltip: str = ""
    kind: str = ""
    """Name of the file in ``hints/`` that made it: ``region``, ``ports``, ``stalls`` ..."""
