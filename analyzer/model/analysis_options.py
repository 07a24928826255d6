"""The options of an analysis: what to read, what to simulate for, and how much to explain."""

from __future__ import annotations

from cyclelens.analyzer.model.choices import Assembler, Mode, Regions, Syntax
from cyclelens.analyzer.model.machine_file import MachineFile
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.model.source import NOWHERE, Origin
from msgspec import Struct, field
from msgspec.structs import replace


class SourceOptions(Struct, frozen=True):
    """What to read from a text or an object file, and with which programs."""

    syntax: Syntax = Syntax.AUTO
    regions: Regions = Regions.AUTO
    region: str | None = None
    """The name of the only region to analyse; None: all regions."""
    function: str | None = None
    """The only function of a text to analyse: its loops or, if it has none, all of it. None: all functions.
    Empty: no region is analysed, and the functions are listed."""
    assembler: Assembler = Assembler.AUTO
    allow_external_programs: bool = True
    """Whether the machine's assemblers and C compiler may run; False for texts that are not trusted."""
    origin: Origin = NOWHERE
    """The file of the text, and what else may be read for it."""
    profile: str = ""
    """The path of a recorded profile; empty: there is none."""


class Target(Struct, frozen=True):
    """What to simulate for: the cores, how the code is repeated, and where it lies. The options of a region's
    marker win over these."""

    microarchitectures: tuple[str, ...] = ("SKL",)
    """The cores. Commands, editors and the library fill in this machine's core if the user names none. The
    default here is fixed, so that the engine gives the same answer on every machine."""
    by_default: str = ""
    """Where the cores come from if the user names none: ``this machine``; empty if the user names some."""
    mode: Mode = Mode.AUTO
    alignment: int | None = None
    """The offset of every region within a 64-byte line, in bytes; None: where the text puts each region."""
    anywhere: bool = False
    """Whether every region is simulated at all offsets within a 64-byte line, whatever the text says."""
    model: ModelOptions = DEFAULT
    """The variant of the model. ``bounds``, which does not simulate, is for batches only."""
    taken: tuple[tuple[str, str], ...] = ()
    """Pairs of a region's name (empty: all regions) and how often its inner branches jump, written like a
    marker's ``taken=``. A later pair wins over an earlier one, and every pair wins over a marker."""
    mispredicted: tuple[tuple[str, str], ...] = ()
    """The same pairs with how often branches are mispredicted, written like a marker's ``mispredicted=``."""
    data: str = ""
    """Where the data of every region are, written like a marker's ``data=`` or ``working-set=``, over which
    it wins."""
    machine: MachineFile | None = None
    """What was measured on the user's machine. It counts for the core that the machine has."""
    forced: frozenset[str] = frozenset()
    """The marker options (``arch mode alignment align``) that do not win, because the user set them."""

    def only_on(self, *names: str) -> Target:
        """The same target on these cores, whatever a marker names."""
        return replace(self, microarchitectures=names, forced=self.forced | {"arch"})


class Detail(Struct, frozen=True):
    """How much of a figure to explain."""

    causes: bool = True
    """Whether a prediction says what limits the figure and what it assumes. Otherwise it has only the figures
    of the region's possible offsets."""
    alternatives: bool = True
    """Whether a prediction says what it costs if accesses overlap in memory that are assumed to be distinct
    and, unless ``quick``, how the figure changes under other rules of port binding."""
    prices: bool = False
    """Whether each finding says what it costs; every cost takes another simulation."""
    account: bool = False
    """Whether a report has the full account of issue slots."""
    trace: bool = False
    trace_rounds: int | None = None
    """How many iterations from the start the trace covers, without causes; None: all, with causes."""
    quick: bool = False
    """Whether a region that was analysed before, or that is long, is simulated only at the offset that was
    shown last. The prediction then has an assumption that says so."""


class AnalysisOptions(Struct, frozen=True):
    """All options of an analysis. A function takes only the part that it needs."""

    source: SourceOptions = field(default_factory=SourceOptions)
    target: Target = field(default_factory=Target)
    detail: Detail = field(default_factory=Detail)
