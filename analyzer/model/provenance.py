"""Sources of a core's values, and how certain they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct


class Certainty(StrEnum):
    """How much a value can be trusted, the most certain first."""

    MEASURED = "measured"
    """Measured on this core."""
    PUBLISHED = "published"
    """Published for this core by its vendor, or by authors who compared a model with it."""
    INFERRED = "inferred"
    """Inferred from another core or from other values."""
    ASSUMED = "assumed"
    """A plausible value without evidence."""
    UNUSED = "unused"
    """The value has no effect on this core."""
    UNRECORDED = "unrecorded"
    """The core's file gives no source."""


class Source(Struct, frozen=True, order=True):
    """Where values come from. A core's file uses a name of one or two words in its table."""

    certainty: Certainty
    name: str
    text: str
    """A citation that locates the source, or the reason for the value."""


UNRECORDED = Source(Certainty.UNRECORDED, "-", "The core's file does not say it.")


class Sources:
    """The source of every value of a core, by the value's name.

    Names are fields of ``Microarchitecture``, or parts of them after a dot (``macro_ops.decode_bytes``,
    ``units.ALU0``). A part without a source has that of its field, and a field without one has the core's
    common source.
    """

    def __init__(self, rest: Source = UNRECORDED, named: Mapping[Source, str] | None = None) -> None:
        """``rest``: the common source. ``named``: source -> names, separated by blanks. Raises ValueError for
        a name with two sources."""
        self.rest = rest
        self._by_name: dict[str, Source] = {}
        for source, names in (named or {}).items():
            for name in names.split():
                if name in self._by_name:
                    raise ValueError(f"'{name}' has two sources")
                self._by_name[name] = source

    def __iter__(self) -> Iterator[str]:
        """Names with a source of their own."""
        return iter(self._by_name)

    def of(self, name: str) -> Source:
        """The source of a value."""
        while name not in self._by_name and "." in name:
            name = name.rpartition(".")[0]
        return self._by_name.get(name, self.rest)

    def derived(self, named: Mapping[Source, str], inherited: Source | None) -> Sources:
        """Sources of a core that is described by its differences from this one.

        ``inherited``: source of values that do not differ; None if they are as certain as here. Unused and
        assumed values stay so.
        """
        sources = Sources(self._inherited(self.rest, inherited), named)
        for name, source in self._by_name.items():
            if sources.of(name) is sources.rest:
                sources._by_name[name] = self._inherited(source, inherited)
        return sources

    def _inherited(self, source: Source, inherited: Source | None) -> Source:
        if inherited is None or source.certainty in (Certainty.ASSUMED, Certainty.UNUSED):
            return source
        return inherited


NO_SOURCES = Sources()
"""For a core whose file gives no sources."""
