"""Microarchitectures with parts switched off or made perfect, for ablation studies."""

from __future__ import annotations

from functools import cache

from cyclelens.analyzer.model.frozen import replace
from cyclelens.analyzer.model.microarchitecture import UNLIMITED, Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions


class NoSuchVariant(Exception):
    """An ablation is not made for a core."""


def variant(microarchitecture: Microarchitecture, options: ModelOptions) -> Microarchitecture:
    """The microarchitecture with its parameters changed as the options say; always the same object for the
    same choice, so that caches by identity work. Its name stays. Raises NoSuchVariant."""
    if microarchitecture.macro_ops is not None and (
        options.simple_front_end or options.port_seed is not None
    ):
        ablation = "a simple front end" if options.simple_front_end else "random ports"
        raise NoSuchVariant(
            f"{microarchitecture.name} counts macro-ops: there is no model of it with {ablation}"
        )
    if options.lsd_unrolling and options.move_elimination == "model":
        return microarchitecture
    return _variant(_ById(microarchitecture), options.lsd_unrolling, options.move_elimination)


class _ById:
    """Makes a microarchitecture a key: its table of LSD counts cannot be hashed."""

    def __init__(self, microarchitecture: Microarchitecture) -> None:
        self.microarchitecture = microarchitecture

    def __hash__(self) -> int:
        return id(self.microarchitecture)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.microarchitecture is self.microarchitecture


@cache
def _variant(key: _ById, lsd_unrolling: bool, move_elimination: str) -> Microarchitecture:
    changed = key.microarchitecture
    if not lsd_unrolling:
        changed = replace(changed, lsd_unroll={})
    if move_elimination == "none":
        changed = replace(changed, policies=replace(changed.policies, elimination=""))
    if move_elimination == "full":
        changed = replace(
            changed, move_elimination_gpr_slots=UNLIMITED, move_elimination_simd_slots=UNLIMITED
        )
    return changed
