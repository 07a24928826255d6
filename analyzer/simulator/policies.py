"""Every policy that a core can name, and the factories of the named ones. A new policy is a file in
``front_end/`` or ``back_end/`` with a class that has the interface, and a line here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.simulator.back_end.addition import Addition
from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.back_end.commit_rule import CommitRule
from cyclelens.analyzer.simulator.back_end.dispatch_rule import DispatchRule
from cyclelens.analyzer.simulator.back_end.elimination import Elimination
from cyclelens.analyzer.simulator.back_end.memory_renaming import MemoryRenaming
from cyclelens.analyzer.simulator.back_end.picker import Picker
from cyclelens.analyzer.simulator.front_end.front_end import FrontEnd
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.queues import Queues
from msgspec.structs import replace

if TYPE_CHECKING:
    from typing import Any

    from cyclelens.analyzer.simulator.back_end.late_operands import LateOperands
    from cyclelens.analyzer.simulator.back_end.load_renaming import LoadRenaming
    from cyclelens.analyzer.simulator.back_end.scheduler_choice import SchedulerChoice
    from cyclelens.analyzer.simulator.tables.in_flight import InFlight
    from cyclelens.analyzer.simulator.tables.operations import Operations

FRONT_ENDS = {
    "mite_dsb_lsd": ("front_end.intel", "MiteDsbLsd"),
}
MACRO_FRONT_ENDS = {
    "op_cache": ("front_end.op_cache", "OpCache"),
}
BINDINGS = {
    "six_ports": ("back_end.six_ports", "SixPorts"),
    "eight_ports": ("back_end.eight_ports", "EightPorts"),
    "ten_ports": ("back_end.ten_ports", "TenPorts"),
    "twelve_ports": ("back_end.twelve_ports", "TwelvePorts"),
    "fewest_waiting": ("back_end.fewest_waiting", "FewestWaiting"),
    "loads_in_turn": ("back_end.fewest_waiting", "LoadsInTurn"),
    "least_bound": ("back_end.fewest_waiting", "LeastBound"),
}
BINDINGS_BY_CHANCE = {
    "near_chance": ("back_end.fewest_waiting", "NearChance"),
}
"""Policies that need a seed (``ModelOptions.port_seed``)."""
OTHER_BINDINGS = ("loads_in_turn", "least_bound")
"""Rules that fit measured blocks about as well as the cores' own. A figure that they change depends on the
rule."""
SEEDS = range(1, 9)
"""Seeds of the random bindings that are tried besides them."""
SCHEDULER_CHOICES = {
    "emptiest_scheduler": ("back_end.emptiest_scheduler", "EmptiestScheduler"),
    "first_scheduler": ("back_end.emptiest_scheduler", "FirstScheduler"),
    "any_scheduler": ("back_end.emptiest_scheduler", "AnyScheduler"),
}
SCHEDULER_CHOICES_BY_CHANCE = {
    "chance_scheduler": ("back_end.emptiest_scheduler", "ChanceScheduler"),
}
OTHER_SCHEDULER_CHOICES = ("first_scheduler",)
ELIMINATIONS = {
    "shared_slots": ("back_end.move_elimination", "SharedSlots"),
    "every_move": ("back_end.every_move", "EveryMove"),
}
ADDITIONS = {
    "owed_constants": ("back_end.owed_constants", "OwedConstants"),
}
MEMORY_RENAMINGS = {
    "learnt_pairs": ("back_end.learnt_pairs", "LearntPairs"),
}
LOAD_RENAMINGS = {
    "same_registers": ("back_end.same_registers", "SameRegisters"),
}
PICKERS = {
    "bound_unit": ("back_end.bound_unit", "BoundUnit"),
    "every_ready": ("back_end.bound_unit", "EveryReady"),
}
MACRO_PICKERS = {
    "oldest_ready": ("back_end.oldest_ready", "OldestReady"),
}
LATE_OPERANDS = {
    "wasted_slots": ("back_end.wasted_slots", "WastedSlots"),
}
DISPATCH_RULES = {
    "load_words": ("back_end.load_words", "LoadWords"),
    "store_pairs": ("back_end.store_pairs", "StorePairs"),
    "wide_memory": ("back_end.wide_memory", "WideMemory"),
}
STORE_COMMITS = {
    "one_line": ("back_end.line_commit", "LineCommit"),
}
MACRO_STORE_COMMITS = {
    "two_stores": ("back_end.two_stores", "TwoStores"),
    "one_chunk": ("back_end.two_stores", "OneChunk"),
}
ASK_FOR_LINES = {"load_words", "one_line"}
"""Of the rules above, those that depend on the offset of an access within its line."""
ABLATIONS = {
    "simple_front_end": ("front_end.simple_front_end", "SimpleFrontEnd"),
    "random_ports": ("back_end.random_ports", "RandomPorts"),
}
"""Policies by which options replace a core's own.

Only the classes that a core in use names are loaded, which shortens the start.
"""


def _named(name: str, classes: Mapping[str, tuple[str, str]], core: Microarchitecture) -> Any:
    """The class of a policy."""
    if name not in classes:
        raise ValueError(f"{core.name} names the policy '{name}'; there are {', '.join(classes)}")
    file, policy = classes[name]
    return getattr(import_module(f"cyclelens.analyzer.simulator.{file}"), policy)


def other_bindings(
    microarchitecture: Microarchitecture, options: ModelOptions
) -> Iterator[tuple[Microarchitecture, ModelOptions]]:
    """The core with every alternative rule that binds its uops to units, and the options of a run."""
    others: Iterable[str] = OTHER_BINDINGS
    by_chance = BINDINGS_BY_CHANCE
    if microarchitecture.macro_ops is not None:
        others, by_chance = OTHER_SCHEDULER_CHOICES, SCHEDULER_CHOICES_BY_CHANCE
    own = _binding_of(microarchitecture, options)
    for name in others:
        if name != own:
            yield _bound(microarchitecture, name), options
    for name in by_chance:
        core = _bound(microarchitecture, name)
        for seed in SEEDS:
            yield core, replace(options, port_seed=seed)


def unbound(microarchitecture: Microarchitecture) -> Microarchitecture:
    """The core without waiting for a unit while another one that fits is free."""
    if microarchitecture.macro_ops is not None:
        return _bound(microarchitecture, "any_scheduler")
    return replace(microarchitecture, policies=replace(microarchitecture.policies, picker="every_ready"))


def _bound(microarchitecture: Microarchitecture, binding: str) -> Microarchitecture:
    policies = replace(microarchitecture.policies, binding=binding, hardware_binding="")
    return replace(microarchitecture, policies=policies)


def _binding_of(microarchitecture: Microarchitecture, options: ModelOptions) -> str:
    """The name of the core's own binding rule."""
    policies = microarchitecture.policies
    return (options.hardware and policies.hardware_binding) or policies.binding


def check_kinds(microarchitecture: Microarchitecture) -> None:
    """Raises ValueError if a core names a rule that no stage of its pipeline uses."""
    if microarchitecture.macro_ops is None:
        counts, never = "uops", ["late_operands"]
    else:
        counts, never = "macro-ops", ["addition", "dispatch_rule"]
    for kind in never:
        if getattr(microarchitecture.policies, kind):
            raise ValueError(f"{microarchitecture.name} counts {counts} and can have no {kind}")


def lines_matter(microarchitecture: Microarchitecture) -> bool:
    """Whether a rule of the core depends on the offset of an access within its line."""
    names = microarchitecture.policies
    return not ASK_FOR_LINES.isdisjoint((names.dispatch_rule, names.store_commit))


def front_end(
    columns: Columns, microarchitecture: Microarchitecture, queues: Queues, options: ModelOptions
) -> FrontEnd:
    """The front end of a core, or the one without limits. Raises ValueError for an unknown policy, as do the
    other factories."""
    if options.simple_front_end:
        named = _named("simple_front_end", ABLATIONS, microarchitecture)
    else:
        named = _named(microarchitecture.policies.front_end, FRONT_ENDS, microarchitecture)
    made: FrontEnd = named(columns, microarchitecture, queues)
    return made


def macro_front_end(
    columns: Columns,
    microarchitecture: Microarchitecture,
    queues: Queues,
    operations: Operations,
    in_flight: InFlight,
) -> FrontEnd:
    """The front end of a core that counts macro-ops."""
    named = _named(microarchitecture.policies.front_end, MACRO_FRONT_ENDS, microarchitecture)
    made: FrontEnd = named(columns, microarchitecture, queues, operations, in_flight)
    return made


def binding(
    columns: Columns,
    microarchitecture: Microarchitecture,
    queues: Queues,
    entries: Entries,
    options: ModelOptions,
) -> Binding:
    """The rule by which a core binds uops to units, or the random one."""
    if options.port_seed is not None:
        name = microarchitecture.policies.binding
        if name in BINDINGS_BY_CHANCE:
            chance = _named(name, BINDINGS_BY_CHANCE, microarchitecture)
        else:
            chance = _named("random_ports", ABLATIONS, microarchitecture)
        made: Binding = chance(columns, microarchitecture, queues, entries, options.port_seed)
    else:
        named = _named(_binding_of(microarchitecture, options), BINDINGS, microarchitecture)
        made = named(columns, microarchitecture, queues, entries)
    return made


def picker(
    columns: Columns, microarchitecture: Microarchitecture, entries: Entries, binding: Binding
) -> Picker:
    """The rule by which uops leave a core's schedulers."""
    rule: DispatchRule | None = None
    if microarchitecture.policies.dispatch_rule:
        name = microarchitecture.policies.dispatch_rule
        rule = _named(name, DISPATCH_RULES, microarchitecture)(columns, microarchitecture)
    named = _named(microarchitecture.policies.picker, PICKERS, microarchitecture)
    made: Picker = named(columns, microarchitecture, entries, binding.usage, rule)
    return made


def elimination(columns: Columns, microarchitecture: Microarchitecture) -> Elimination:
    """The rule by which a core's renamer eliminates moves."""
    if not microarchitecture.policies.elimination:
        return Elimination()
    named = _named(microarchitecture.policies.elimination, ELIMINATIONS, microarchitecture)
    made: Elimination = named(columns, microarchitecture)
    return made


def addition(columns: Columns, microarchitecture: Microarchitecture) -> Addition:
    """The rule by which a core's renamer carries out additions of constants."""
    if not microarchitecture.policies.addition:
        return Addition(columns.program)
    named = _named(microarchitecture.policies.addition, ADDITIONS, microarchitecture)
    made: Addition = named(columns.program, microarchitecture)
    return made


def memory_renaming(columns: Columns, microarchitecture: Microarchitecture) -> MemoryRenaming:
    """The rule by which a core's loads take over the values of stores in flight."""
    if not microarchitecture.policies.memory_renaming:
        return MemoryRenaming(columns)
    named = _named(microarchitecture.policies.memory_renaming, MEMORY_RENAMINGS, microarchitecture)
    made: MemoryRenaming = named(columns)
    return made


def load_renaming(
    columns: Columns, microarchitecture: Microarchitecture, operations: Operations, in_flight: InFlight
) -> LoadRenaming:
    """The same for a core that counts macro-ops."""
    if not microarchitecture.policies.memory_renaming:
        # Imported here, because cores that count uops start faster without it.
        from cyclelens.analyzer.simulator.back_end.load_renaming import LoadRenaming

        return LoadRenaming(columns, operations, in_flight)
    named = _named(microarchitecture.policies.memory_renaming, LOAD_RENAMINGS, microarchitecture)
    made: LoadRenaming = named(columns, microarchitecture, operations, in_flight)
    return made


def store_commit(columns: Columns, microarchitecture: Microarchitecture) -> CommitRule | None:
    """The rule by which a core's stores are written to the cache; None if stores do not delay each other."""
    if not microarchitecture.policies.store_commit:
        return None
    named = _named(microarchitecture.policies.store_commit, STORE_COMMITS, microarchitecture)
    made: CommitRule = named(columns, microarchitecture)
    return made


def scheduler_choice(
    columns: Columns,
    microarchitecture: Microarchitecture,
    queues: Queues,
    in_flight: InFlight,
    options: ModelOptions,
) -> SchedulerChoice:
    """The rule by which a core that counts macro-ops assigns uops to schedulers, or the random one."""
    name = microarchitecture.policies.binding
    if options.port_seed is not None:
        rule = name if name in SCHEDULER_CHOICES_BY_CHANCE else "chance_scheduler"
        by_chance = _named(rule, SCHEDULER_CHOICES_BY_CHANCE, microarchitecture)
        made: SchedulerChoice = by_chance(columns, microarchitecture, queues, in_flight, options.port_seed)
    else:
        made = _named(name, SCHEDULER_CHOICES, microarchitecture)(
            columns, microarchitecture, queues, in_flight
        )
    return made


def macro_picker(
    columns: Columns, microarchitecture: Microarchitecture, operations: Operations, in_flight: InFlight
) -> Picker:
    """The rule by which uops leave the schedulers of a core that counts macro-ops."""
    named = _named(microarchitecture.policies.picker, MACRO_PICKERS, microarchitecture)
    made: Picker = named(columns, microarchitecture, operations, in_flight)
    return made


def late_operands(
    columns: Columns, microarchitecture: Microarchitecture, operations: Operations, in_flight: InFlight
) -> LateOperands:
    """The rule by which operations waste slots on a core that counts macro-ops."""
    if not microarchitecture.policies.late_operands:
        # Imported here, because cores that count uops start faster without it.
        from cyclelens.analyzer.simulator.back_end.late_operands import LateOperands

        return LateOperands()
    named = _named(microarchitecture.policies.late_operands, LATE_OPERANDS, microarchitecture)
    made: LateOperands = named(columns, microarchitecture, operations, in_flight)
    return made


def macro_store_commit(
    columns: Columns, microarchitecture: Microarchitecture, in_flight: InFlight
) -> CommitRule:
    """The rule by which stores are written to the cache on a core that counts macro-ops."""
    named = _named(microarchitecture.policies.store_commit, MACRO_STORE_COMMITS, microarchitecture)
    made: CommitRule = named(columns, microarchitecture, in_flight)
    return made
