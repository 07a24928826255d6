"""Choices of an analysis: the user's word for each and the name in the code."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """How a region is repeated."""

    AUTO = "auto"
    """A loop if the region ends in a jump to its start, otherwise unrolled."""
    LOOP = "loop"
    UNROLL = "unroll"
    ONCE = "once"
    """One pass from an empty pipeline, not repeated."""


class Repetition(StrEnum):
    """How a measured block of machine code is repeated."""

    UNROLL = "unroll"
    LOOP = "loop"
    """In a loop with a counter and a jump."""
    COPIES = "copies"
    """In a loop of several copies; the figure is per copy."""


class Binding(StrEnum):
    """Rule that binds uops to ports."""

    OWN = "own"
    """That of the core."""
    UFS = "ufs"
    """The least loaded port, the lowest number on a tie, as in UFS's paper."""


class Clocks(StrEnum):
    """Source of measured cycles."""

    AUTO = "auto"
    """Performance counters if programs may read them, otherwise time stamps."""
    COUNTERS = "counters"
    TIME_STAMPS = "time-stamps"
    NONE = "none"
    """No measurement; only machine code is compared."""


class Pages(StrEnum):
    """Memory mapping of measured code."""

    PRIVATE = "private"
    """Every page has memory of its own."""
    SHARED = "shared"
    """All pages map to one physical page."""


class Regions(StrEnum):
    """Which code of a text is analysed."""

    AUTO = "auto"
    """Marked regions, or the innermost loops if there are none."""
    MARKERS = "markers"
    LOOPS = "loops"
    BOTH = "both"


class Syntax(StrEnum):
    """Dialect at the beginning of a text."""

    AUTO = "auto"
    ATT = "att"
    INTEL = "intel"


class Assembler(StrEnum):
    """The assembler of a whole text."""

    AUTO = "auto"
    """Cyclelens, except for NASM files with macros."""
    GAS = "gas"
    NASM = "nasm"


FORMER_UICA = "reference"
"""Former name of the published model, still accepted."""


class Model(StrEnum):
    """Which model makes the prediction."""

    HARDWARE = "hardware"
    """Real cores: the published model with better memory rules and limited buffers."""
    UICA = "uica"
    """The published uiCA model; its former name ``reference`` is accepted."""
    BOUNDS = "bounds"
    """Analytic bounds only, no simulation."""
    BASELINE = "baseline"
    """The baseline of uiCA's paper: instructions and memory accesses are counted."""

    @property
    def simulates(self) -> bool:
        """Whether the prediction comes from the pipeline."""
        return self in (Model.HARDWARE, Model.UICA)

    @classmethod
    def _missing_(cls, value: object) -> Model | None:
        return cls.UICA if value == FORMER_UICA else None


class Pointers(StrEnum):
    """Initial targets of pointer registers."""

    DIFFERENT = "diff"
    SAME = "same"
    STACK = "stack"
    """All point to the same memory, except RSP and RBP."""
    BHIVE = "bhive"
    """As in the BHive profiler: like ``STACK``; all memory words hold the same pointer,
    and all pages map to one."""


class MeasuredIn(StrEnum):
    """The harness that measured the figures to compare with."""

    ANY = "none"
    """No particular harness."""
    ONE_PAGE = "one-page"
    """All pages map to one physical page, and the stack pointer walks through them. This matters on cores
    with rules for it (Zen 5)."""


class MoveElimination(StrEnum):
    """Which moves the renamer eliminates."""

    MODEL = "model"
    """Those that the core eliminates."""
    NONE = "none"
    FULL = "full"
