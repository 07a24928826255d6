"""What an analysis can be told to choose from, as words that users write and names that the code uses."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """How a region is repeated."""

    AUTO = "auto"
    """A loop if it ends in a jump to its start, else end to end."""
    LOOP = "loop"
    UNROLL = "unroll"


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
