"""Every policy that a core can name, and the construction of those that one does. A new policy is a file in
``front_end/`` or ``back_end/`` with a class that has the interface, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.back_end.bound_unit import BoundUnit
from cyclelens.analyzer.simulator.back_end.commit_rule import CommitRule
from cyclelens.analyzer.simulator.back_end.dispatch_rule import DispatchRule
from cyclelens.analyzer.simulator.back_end.eight_ports import EightPorts
from cyclelens.analyzer.simulator.back_end.fewest_waiting import FewestWaiting
from cyclelens.analyzer.simulator.back_end.line_commit import LineCommit
from cyclelens.analyzer.simulator.back_end.load_words import LoadWords
from cyclelens.analyzer.simulator.back_end.picker import Picker
from cyclelens.analyzer.simulator.back_end.random_ports import RandomPorts
from cyclelens.analyzer.simulator.back_end.six_ports import SixPorts
from cyclelens.analyzer.simulator.back_end.store_pairs import StorePairs
from cyclelens.analyzer.simulator.back_end.ten_ports import TenPorts
from cyclelens.analyzer.simulator.back_end.wide_memory import WideMemory
from cyclelens.analyzer.simulator.front_end.front_end import FrontEnd
from cyclelens.analyzer.simulator.front_end.intel import MiteDsbLsd
from cyclelens.analyzer.simulator.front_end.simple_front_end import SimpleFrontEnd
from cyclelens.analyzer.simulator.tables.arrays import Column
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.queues import Queues

FRONT_ENDS: dict[str, Callable[[Columns, Microarchitecture, Queues], FrontEnd]] = {
    "mite_dsb_lsd": MiteDsbLsd,
}
BINDINGS: dict[str, Callable[[Columns, Microarchitecture, Queues, Entries], Binding]] = {
    "six_ports": SixPorts,
    "eight_ports": EightPorts,
    "ten_ports": TenPorts,
    "fewest_waiting": FewestWaiting,
}
PICKERS: dict[str, Callable[[Columns, Microarchitecture, Entries, Column, DispatchRule | None], Picker]] = {
    "bound_unit": BoundUnit,
}
DISPATCH_RULES: dict[str, Callable[[Columns, Microarchitecture], DispatchRule]] = {
    "load_words": LoadWords,
    "store_pairs": StorePairs,
    "wide_memory": WideMemory,
}

STORE_COMMITS: dict[str, Callable[[Columns, Microarchitecture], CommitRule]] = {
    "one_line": LineCommit,
}

_Class = TypeVar("_Class")


def _named(name: str, classes: Mapping[str, _Class], core: Microarchitecture) -> _Class:
    if name not in classes:
        raise ValueError(f"{core.name} names the policy '{name}'; there are {', '.join(classes)}")
    return classes[name]


def front_end(
    columns: Columns, microarchitecture: Microarchitecture, queues: Queues, options: ModelOptions
) -> FrontEnd:
    """The front end of a core, or the one without limits. Raises ValueError for an unknown policy, as the
    others do."""
    if options.simple_front_end:
        return SimpleFrontEnd(columns, microarchitecture, queues)
    named = _named(microarchitecture.policies.front_end, FRONT_ENDS, microarchitecture)
    return named(columns, microarchitecture, queues)


def binding(
    columns: Columns,
    microarchitecture: Microarchitecture,
    queues: Queues,
    entries: Entries,
    options: ModelOptions,
) -> Binding:
    """The rule by which a core binds uops to units, or chance."""
    if options.port_seed is not None:
        return RandomPorts(columns, microarchitecture, queues, entries, options.port_seed)
    named = _named(microarchitecture.policies.binding, BINDINGS, microarchitecture)
    return named(columns, microarchitecture, queues, entries)


def picker(
    columns: Columns, microarchitecture: Microarchitecture, entries: Entries, binding: Binding
) -> Picker:
    """The rule by which uops leave a core's schedulers."""
    rule: DispatchRule | None = None
    if microarchitecture.policies.dispatch_rule:
        name = microarchitecture.policies.dispatch_rule
        rule = _named(name, DISPATCH_RULES, microarchitecture)(columns, microarchitecture)
    named = _named(microarchitecture.policies.picker, PICKERS, microarchitecture)
    return named(columns, microarchitecture, entries, binding.usage, rule)


def store_commit(columns: Columns, microarchitecture: Microarchitecture) -> CommitRule | None:
    """The rule by which a core's stores go to the cache; None: they do not hold each other back."""
    if not microarchitecture.policies.store_commit:
        return None
    named = _named(microarchitecture.policies.store_commit, STORE_COMMITS, microarchitecture)
    return named(columns, microarchitecture)
