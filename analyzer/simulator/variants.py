"""Cores with other rules of port binding, which show how much a figure depends on the rule."""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from msgspec.structs import replace

_BINDINGS = ("loads_in_turn", "least_bound")
"""Rules that fit measured blocks about as well as the cores' own."""
_RANDOM_BINDINGS = ("near_chance",)
_SCHEDULER_CHOICES = ("first_scheduler",)
"""The same for cores that count macro-ops."""
_RANDOM_SCHEDULER_CHOICES = ("chance_scheduler",)
_RANDOM_PICKER = "chance_pipe"
_SEEDS = range(1, 9)
_FEW_SEEDS = range(1, 3)


def other_bindings(
    microarchitecture: Microarchitecture, options: ModelOptions, *, pipes: bool = False
) -> Iterator[tuple[Microarchitecture, ModelOptions]]:
    """The core with every alternative rule that binds its uops to units, and the options of a run.

    ``pipes``: the random rules choose the pipe of a vector uop, too, on a core whose pipes no scheduler
    divides.
    """
    others: tuple[str, ...] = _BINDINGS
    random = _RANDOM_BINDINGS
    rules = microarchitecture.macro_ops
    if rules is not None:
        others, random = _SCHEDULER_CHOICES, _RANDOM_SCHEDULER_CHOICES
        if rules.vector_pipes_shared:
            # No scheduler limits vector uops: of several free pipes, they take the first one in an order.
            yield (
                replace(microarchitecture, macro_ops=replace(rules, pipes=tuple(reversed(rules.pipes)))),
                options,
            )
        if pipes and rules.vector_schedulers_plausible:
            divided = _bound(microarchitecture, _RANDOM_SCHEDULER_CHOICES[0])
            divided = replace(divided, macro_ops=replace(rules, vector_pipes_shared=False))
            for seed in _FEW_SEEDS:
                yield divided, replace(options, port_seed=seed)
    policies = microarchitecture.policies
    own = (options.hardware and policies.hardware_binding) or policies.binding
    for name in others:
        if name != own:
            yield _bound(microarchitecture, name), options
    for name in random:
        core = _bound(microarchitecture, name)
        if pipes:
            core = replace(core, policies=replace(core.policies, picker=_RANDOM_PICKER))
        for seed in _SEEDS:
            yield core, replace(options, port_seed=seed)


def unbound(microarchitecture: Microarchitecture) -> Microarchitecture:
    """The core without waiting for a unit while another one that fits is free."""
    if microarchitecture.macro_ops is not None:
        return _bound(microarchitecture, "any_scheduler")
    return replace(microarchitecture, policies=replace(microarchitecture.policies, picker="every_ready"))


def _bound(microarchitecture: Microarchitecture, binding: str) -> Microarchitecture:
    policies = replace(microarchitecture.policies, binding=binding, hardware_binding="")
    return replace(microarchitecture, policies=policies)
