"""Lists all microarchitectures by name: Intel's in order of appearance, then AMD's. New
families are registered here."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

from cyclelens.analyzer.common.suggestions import nearest
from cyclelens.analyzer.microarchitectures import processors
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.provenance import Certainty
from msgspec import Struct

if TYPE_CHECKING:
    from cyclelens.analyzer.microarchitectures.processors import Processor

_FAMILIES = {
    "sandybridge": ("SNB", "IVB"),
    "haswell": ("HSW", "BDW"),
    "skylake": ("SKL", "SKX", "KBL", "CFL", "CLX"),
    "icelake": ("ICL", "TGL", "RKL"),
    "goldencove": ("ADL", "SPR", "MTL", "GNR"),
    "lioncove": ("LNL", "ARL"),
    "zen": ("ZEN", "ZEN+", "ZEN2"),
    "zen3": ("ZEN3",),
    "zen4": ("ZEN4",),
    "zen5": ("ZEN5",),
}
"""File in this folder -> names of its cores; only the requested file is loaded."""

_FILES = {name: family for family, names in _FAMILIES.items() for name in names}
_MODELS: dict[str, Microarchitecture] = {}
"""Cores loaded so far: the requested ones and others in their files."""


_NOT_SIMULATED = {
    "CNL": "Cannon Lake",
    "ADL": "Alder Lake",
    "MTL": "Meteor Lake",
    "ARL": "Arrow Lake",
    "LNL": "Lunar Lake",
    "SPR": "Sapphire Rapids",
    "GNR": "Granite Rapids",
    "ADL-E": "Gracemont",
    "MTL-E": "Crestmont",
    "SRF": "Sierra Forest",
    "LNL-E": "Skymont",
    "CWF": "Darkmont",
}
"""Known cores without a model. A model of the same name takes precedence."""


_EFFICIENCY_CORES = frozenset({"ADL-E", "MTL-E", "SRF", "LNL-E", "CWF"})
_EFFICIENT = "-E"
"""Suffix of a product's name that selects its efficiency cores."""
_ANY_EFFICIENCY_CORE = "E-CORE"
_SAME_CORE = {"RPL": "ADL", "EMR": "SPR"}
"""Products that share another product's core."""


NATIVE = "native"
FALLBACK = "SKL"
"""Core if none is named and this machine's is not simulated."""
DEFAULT_ARCH = "CYCLELENS_ARCH"
"""Environment variable with the default cores, instead of this machine's."""


class UnknownMicroarchitecture(ValueError):
    """There is no model of that name; the message lists the existing ones."""


def get(name: str) -> Microarchitecture:
    """The model with this name, ignoring case; ``native`` is this machine's. Raises
    UnknownMicroarchitecture."""
    if (model := _model(name)) is not None:  # the usual case
        return model
    if is_native(name):
        own = native()
        if own is None:
            raise UnknownMicroarchitecture(f"this machine's processor is not simulated: {own_name()}")
        return own
    wanted = name.strip().upper()
    model = _model(_SAME_CORE.get(wanted, wanted))
    if model is None:
        raise UnknownMicroarchitecture(f"unknown microarchitecture '{name}'{_hint(name)}")
    return model


def is_native(name: str) -> bool:
    """True if the name requests this machine's model."""
    return name.strip().lower() == NATIVE


def _model(name: str) -> Microarchitecture | None:
    if name not in _MODELS and name in _FILES:
        family = import_module(f"cyclelens.analyzer.microarchitectures.{_FILES[name]}")
        _MODELS.update((model.name, model) for model in family.MODELS)
    return _MODELS.get(name)


def native() -> Microarchitecture | None:
    """The model of this machine's processor; None if there is none."""
    found = _identity()
    return None if found is None else _model(found.name)


class Default(Struct, frozen=True):
    """The cores to analyse for if none are named."""

    names: tuple[str, ...]
    reason: str
    """``this machine``, or why another core is used; empty if the environment names it."""
    is_simulated: bool = True
    """False if this machine's core is not simulated and ``FALLBACK`` is used."""


def default() -> Default:
    """The environment's cores, otherwise this machine's, otherwise ``FALLBACK``. Raises
    UnknownMicroarchitecture for an unknown name in the environment."""
    named = os.environ.get(DEFAULT_ARCH, "")
    if named.strip():
        try:
            return Default(
                tuple(dict.fromkeys(get(name).name for name in named.split(",") if name.strip())), ""
            )
        except UnknownMicroarchitecture as error:
            raise UnknownMicroarchitecture(f"{DEFAULT_ARCH} of the environment: {error}") from None
    own = native()
    if own is None:
        return Default((FALLBACK,), "this machine's processor is not simulated", is_simulated=False)
    return Default((own.name,), "this machine")


def own_name() -> str:
    """This machine's processor by its own name, with its core if that is not simulated."""
    found = _identity()
    if found is None:
        return "the system does not say which one it is"
    return ", ".join(filter(None, (found.processor.name, not_simulated().get(found.name, ""), found.doubt)))


def native_doubt() -> str:
    """Evidence against the model that this machine's processor reports, and the evidence used
    instead; empty if there is none."""
    found = _identity()
    return "" if found is None else found.doubt


class _Identity(Struct, frozen=True):
    """How a processor was identified."""

    processor: Processor
    name: str
    """Name of its microarchitecture, simulated or not; empty if unknown."""
    doubt: str = ""


_SWITCHED_OFF = {"ADL": ("AVX512",)}
"""Prefixes of extensions that a core's first steppings had and that were later switched off."""


def _identity() -> _Identity | None:
    processor = processors.this_processor()
    if processor is None:
        return None
    name = processors.microarchitecture_of(processor)
    model = _model(name)
    if model is None:
        return _Identity(processor, name)
    surplus = _surplus(processor, model)
    if not surplus:
        return _Identity(processor, name)
    absent = " or ".join(filter(None, (", ".join(surplus[:-1]), surplus[-1])))
    says = f"whose model number is that of {model.title}, which has no {absent}"
    real = processors.by_features(processor)
    if not real or _surplus(processor, get(real)):
        return _Identity(processor, "", says)
    return _Identity(
        processor,
        real,
        f"{says}; taken for {get(real).title} by that and the size of its first-level caches "
        f"({Certainty.INFERRED})",
    )


def _surplus(processor: Processor, model: Microarchitecture) -> tuple[str, ...]:
    """Extensions that the processor has and the model's core lacks."""
    hidden = _SWITCHED_OFF.get(model.name, ())
    return tuple(
        name.replace("_", "-")
        for name in sorted(processor.features - model.extensions)
        if not name.startswith(hidden)
    )


def _hint(name: str) -> str:
    """A suggestion by name or title, and all known names."""
    for missing, title in not_simulated().items():
        if name.strip().lower() in (missing.lower(), title.lower(), title.replace(" ", "").lower()):
            kind = " is an efficiency core, and those are" if missing in _EFFICIENCY_CORES else " is"
            return f": {title}{kind} not simulated; known are {', '.join(_FILES)}"
    wanted = name.strip().upper()
    if wanted == "ALL":
        return f"; cyclelens compare shows all of them; known are {', '.join(_FILES)}"
    product = wanted.removesuffix(_EFFICIENT)
    if wanted == _ANY_EFFICIENCY_CORE or (product != wanted and _SAME_CORE.get(product, product) in _FILES):
        return f": efficiency cores are not simulated; known are {', '.join(_FILES)}"
    titles = {each.title: each for each in map(get, _FILES)}
    found = nearest(name.replace(" ", ""), [*_FILES, *titles])
    if not found:
        return f"; known are {', '.join(_FILES)}"
    meant = titles[found] if found in titles else get(found)
    return f"; did you mean {meant.name} ({meant.title})? Known are {', '.join(_FILES)}"


def not_simulated() -> dict[str, str]:
    """Name -> title of well-known microarchitectures without a model."""
    return {name: title for name, title in _NOT_SIMULATED.items() if name not in _FILES}


def names() -> tuple[str, ...]:
    """Names of all models, each vendor's oldest first."""
    return tuple(_FILES)
