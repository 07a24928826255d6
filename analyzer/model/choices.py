"""What an analysis can be told to choose from, as words that users write and names that the code uses."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """How a region is repeated."""

    AUTO = "auto"
    """A loop if it ends in a jump to its start, else end to end."""
    LOOP = "loop"
    UNROLL = "unroll"
    ONCE = "once"
    """Not at all: one pass from an empty pipeline."""


class Repetition(StrEnum):
    """How a block of machine code was repeated where it was measured, or is to be."""

    UNROLL = "unroll"
    LOOP = "loop"
    """With a counter and a jump behind it."""
    COPIES = "copies"
    """As many copies as usual in such a loop; the figure is that of one."""


class Clocks(StrEnum):
    """Where measured cycles come from."""

    AUTO = "auto"
    """Counters where programs may read them, else time stamps."""
    COUNTERS = "counters"
    TIME_STAMPS = "time-stamps"
    NONE = "none"
    """Nothing is measured, codes are only compared."""


class Pages(StrEnum):
    """The memory of measured code."""

    PRIVATE = "private"
    """Every page is its own."""
    SHARED = "shared"
    """All are one physical page."""


class Regions(StrEnum):
    """Which code of a text is analysed."""

    AUTO = "auto"
    """What is marked, or the innermost loops where nothing is."""
    MARKERS = "markers"
    LOOPS = "loops"
    BOTH = "both"


class Syntax(StrEnum):
    """The dialect at a text's beginning."""

    AUTO = "auto"
    ATT = "att"
    INTEL = "intel"


class Assembler(StrEnum):
    """Who assembles a whole text."""

    AUTO = "auto"
    """Cyclelens itself, except for NASM files with macros."""
    GAS = "gas"
    NASM = "nasm"


FORMER_UICA = "reference"
"""What the published model was called; whoever says it means it still."""


class Model(StrEnum):
    """Which rules answer."""

    HARDWARE = "hardware"
    """What real cores do: the published model with better rules for memory, and limited buffers."""
    UICA = "uica"
    """The published uiCA model, also under its former name ``reference``."""
    BOUNDS = "bounds"
    """The analytic bounds alone, without a simulation."""

    @classmethod
    def _missing_(cls, value: object) -> Model | None:
        return cls.UICA if value == FORMER_UICA else None


class Pointers(StrEnum):
    """Where the registers point at the start."""

    DIFFERENT = "diff"
    SAME = "same"
    STACK = "stack"
    """All to the same memory except RSP and RBP."""
    BHIVE = "bhive"
    """In the BHive profiler: as ``STACK``; all memory words hold the same pointer, and all pages are one."""


class MeasuredIn(StrEnum):
    """What the figures to compare with owe to the harness that measured them."""

    ANY = "none"
    """Nothing."""
    ONE_PAGE = "one-page"
    """All pages of memory are one physical page, and the stack walks on through them. It matters on cores
    with rules for it (Zen 5)."""


class MoveElimination(StrEnum):
    """Which moves the renamer carries out."""

    MODEL = "model"
    """Those that it does on the microarchitecture."""
    NONE = "none"
    FULL = "full"
