"""What a mispredicted branch costs a core: measured on the user's machine, else published."""

from __future__ import annotations

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.machine_file import MachineFile
from msgspec import Struct


class MispredictionPenalty(Struct, frozen=True):
    """What a mispredicted branch costs a core."""

    cycles: float | None
    """None: not known."""
    source: str
    """How certain the value is and where it comes from: ``measured: machine.toml``."""


def misprediction_penalty_for(core: str, machine: MachineFile | None) -> MispredictionPenalty:
    """What a mispredicted branch costs a core. A machine with another core does not count."""
    own = machine.of(core) if machine is not None else None
    if own is not None and own.misprediction_penalty is not None:
        return MispredictionPenalty(own.misprediction_penalty, f"measured: {own.file}")
    model = registry.get(core)
    source = model.sources.of("misprediction_penalty")
    return MispredictionPenalty(model.misprediction_penalty, f"{source.certainty}: {source.name}")
