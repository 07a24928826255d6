"""All microarchitectures by name, Intel's in order of their appearance, then AMD's. A new family registers
here."""

from __future__ import annotations

from cyclelens.analyzer.microarchitectures import (
    goldencove,
    haswell,
    icelake,
    lioncove,
    processors,
    sandybridge,
    skylake,
    zen,
    zen4,
    zen5,
)
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.suggestions import nearest

_MODELS = {
    model.name: model
    for model in (
        *sandybridge.MODELS,
        *haswell.MODELS,
        *skylake.MODELS,
        *icelake.MODELS,
        *goldencove.MODELS,
        *lioncove.MODELS,
        *zen.MODELS,
        *zen4.MODELS,
        *zen5.MODELS,
    )
}


_NOT_SIMULATED = {
    "CNL": "Cannon Lake",
    "ADL": "Alder Lake",
    "MTL": "Meteor Lake",
    "ARL": "Arrow Lake",
    "LNL": "Lunar Lake",
    "SPR": "Sapphire Rapids",
    "GNR": "Granite Rapids",
    "ZEN": "Zen",
    "ADL-E": "Gracemont",
    "MTL-E": "Crestmont",
    "SRF": "Sierra Forest",
    "LNL-E": "Skymont",
}
"""What users may ask for, and nobody has described here yet. A model of the name takes its place."""


_EFFICIENCY_CORES = frozenset({"ADL-E", "MTL-E", "SRF", "LNL-E"})
_SAME_CORE = {"RPL": "ADL", "EMR": "SPR"}
"""Products whose core is that of others."""


NATIVE = "native"


class UnknownMicroarchitecture(ValueError):
    """No model of that name; the message lists those that exist."""


def get(name: str) -> Microarchitecture:
    """The model of this name, in any case; ``native`` is that of this machine. Raises
    UnknownMicroarchitecture."""
    if name.strip().lower() == NATIVE:
        own = native()
        if own is None:
            raise UnknownMicroarchitecture(f"this machine's processor is not simulated: {own_name()}")
        return own
    wanted = name.strip().upper()
    model = _MODELS.get(_SAME_CORE.get(wanted, wanted))
    if model is None:
        raise UnknownMicroarchitecture(f"unknown microarchitecture '{name}'{_hint(name)}")
    return model


def native() -> Microarchitecture | None:
    """The model of this machine's processor, None if there is none."""
    processor = processors.this_processor()
    return None if processor is None else _MODELS.get(processors.microarchitecture_of(processor))


def own_name() -> str:
    """What this machine's processor calls itself, and what it is if that is not simulated."""
    processor = processors.this_processor()
    if processor is None:
        return "the system does not say which one it is"
    title = not_simulated().get(processors.microarchitecture_of(processor), "")
    return f"{processor.name}, {title}" if title else processor.name


def _hint(name: str) -> str:
    """What was probably meant, by name or title, and all that there is."""
    for missing, title in not_simulated().items():
        if name.strip().lower() in (missing.lower(), title.lower(), title.replace(" ", "").lower()):
            kind = " is an efficiency core, and those are" if missing in _EFFICIENCY_CORES else " is"
            return f": {title}{kind} not simulated; known are {', '.join(_MODELS)}"
    titles = {each.title: each for each in _MODELS.values()}
    found = nearest(name.replace(" ", ""), [*_MODELS, *titles])
    if not found:
        return f"; known are {', '.join(_MODELS)}"
    meant = titles[found] if found in titles else _MODELS[found]
    return f"; did you mean {meant.name} ({meant.title})? Known are {', '.join(_MODELS)}"


def not_simulated() -> dict[str, str]:
    """Names and titles of well-known microarchitectures that there is no model of."""
    return {name: title for name, title in _NOT_SIMULATED.items() if name not in _MODELS}


def names() -> tuple[str, ...]:
    """Names of all models, each maker's oldest first."""
    return tuple(_MODELS)
