"""Microarchitectures with parts switched off or idealised, for ablation studies."""

from __future__ import annotations

from cyclelens.analyzer.model.choices import Binding, MoveElimination
from cyclelens.analyzer.model.microarchitecture import UNLIMITED, Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from msgspec.structs import replace


class NoSuchVariant(Exception):
    """The ablation does not exist for this core."""


def variant(microarchitecture: Microarchitecture, options: ModelOptions) -> Microarchitecture:
    """The core with its parameters changed by the options, under the same name; itself if nothing
    changes. Raises NoSuchVariant."""
    if microarchitecture.macro_ops is not None:
        unknown = {
            "a simple front end": options.simple_front_end,
            "random ports": options.port_seed is not None,
            "UFS's binding of ports": options.binding is not Binding.OWN,
            "a reorder buffer without micro-fusion": options.unfused_reorder_buffer,
        }
        for ablation in (name for name, wanted in unknown.items() if wanted):
            raise NoSuchVariant(
                f"{microarchitecture.name} counts macro-ops: there is no model of it with {ablation}"
            )
    changed = microarchitecture
    if not options.lsd_unrolling:
        changed = replace(changed, lsd_unroll={})
    if options.move_elimination is MoveElimination.NONE:
        changed = replace(changed, policies=replace(changed.policies, elimination=""))
    if options.move_elimination is MoveElimination.FULL:
        changed = replace(
            changed, move_elimination_gpr_slots=UNLIMITED, move_elimination_simd_slots=UNLIMITED
        )
    return changed
