# Every policy that a core can name, and the factories of the named ones. A new policy is a file in
# ``front_end/`` or ``back_end/`` with a class that has the interface, and a line here.

# The classes of every kind of policy, by the name that a core gives. ``macro_``: for cores that count
# macro-ops, whose kinds ``scheduler_choice``, ``load_renaming`` and ``late_operands`` others have not.
POLICIES = {
    "front_end": {"mite_dsb_lsd": MiteDsbLsd},
    "macro_front_end": {"op_cache": OpCache},
    "binding": {
        "six_ports": SixPorts,
        "eight_ports": EightPorts,
        "ten_ports": TenPorts,
        "twelve_ports": TwelvePorts,
        "fewest_waiting": FewestWaiting,
        "loads_in_turn": LoadsInTurn,
        "least_bound": LeastBound,
    },
    # Random rules need a seed (``ModelOptions.port_seed``).
    "random_binding": {"near_chance": NearChance},
    "scheduler_choice": {
        "emptiest_scheduler": EmptiestScheduler,
        "first_scheduler": FirstScheduler,
        "any_scheduler": AnyScheduler,
    },
    "random_scheduler_choice": {"chance_scheduler": ChanceScheduler},
    "elimination": {"shared_slots": SharedSlots},
    "macro_elimination": {"every_move": EveryMove},
    "addition": {"owed_constants": OwedConstants},
    "memory_renaming": {"learnt_pairs": LearntPairs, "learnt_loads": LearntLoads},
    "load_renaming": {
        "same_registers": SameRegisters,
        "same_names": SameNames,
        "stack_or_learnt": StackOrLearnt,
    },
    "picker": {"bound_unit": BoundUnit, "shared_results": SharedResults, "every_ready": EveryReady},
    "macro_picker": {"oldest_ready": OldestReady},
    "random_macro_picker": {"chance_pipe": ChancePipe},
    "late_operands": {"wasted_slots": WastedSlots},
    "dispatch_rule": {"load_words": LoadWords, "store_pairs": StorePairs, "wide_memory": WideMemory},
    "store_commit": {"one_line": LineCommit},
    "macro_store_commit": {"two_stores": TwoStores, "gathered": GatheredStores},
    # By these, options replace a core's own.
    "ablation": {
        "simple_front_end": SimpleFrontEnd,
        "random_ports": RandomPorts,
        "least_loaded": LeastLoaded,
    },
}
# Of the rules above, those that depend on the offset of an access within its line.
_ASK_FOR_LINES = {"load_words", "one_line"}


def _named(name, kind, core):
    """The class of a policy."""
    classes = POLICIES[kind]
    if name not in classes:
        raise ValueError(f"{core.name} names the policy '{name}'; there are {', '.join(classes)}")
    return classes[name]


def _binding_of(microarchitecture, options):
    """The name of the core's own binding rule."""
    policies = microarchitecture.policies
    return (options.hardware and policies.hardware_binding) or policies.binding


def check_kinds(microarchitecture):
    """Raises ValueError if a core names a rule that no stage of its pipeline uses."""
    if microarchitecture.macro_ops is None:
        counts, never = "uops", ["late_operands"]
    else:
        counts, never = "macro-ops", ["addition", "dispatch_rule"]
    for kind in never:
        if getattr(microarchitecture.policies, kind):
            raise ValueError(f"{microarchitecture.name} counts {counts} and can have no {kind}")


def lines_matter(microarchitecture):
    """Whether a rule of the core depends on the offset of an access within its line."""
    names = microarchitecture.policies
    return not _ASK_FOR_LINES.isdisjoint((names.dispatch_rule, names.store_commit))


def make_front_end(Tables tables, microarchitecture, Queues queues, options):
    """The front end of a core, or the one without limits. Raises ValueError for an unknown policy, as do the
    other factories."""
    cdef FrontEnd made
    if options.simple_front_end:
        named = _named("simple_front_end", "ablation", microarchitecture)
    else:
        named = _named(microarchitecture.policies.front_end, "front_end", microarchitecture)
    made = named(tables, microarchitecture, queues)
    return made


def make_macro_front_end(Tables tables, microarchitecture, Queues queues, operations, in_flight):
    """The front end of a core that counts macro-ops."""
    cdef FrontEnd made
    named = _named(microarchitecture.policies.front_end, "macro_front_end", microarchitecture)
    made = named(tables, microarchitecture, queues, operations, in_flight)
    return made


def make_binding(Tables tables, microarchitecture, Queues queues, Entries entries, options):
    """The rule by which a core binds uops to units, or the random one."""
    cdef Binding made
    if options.port_seed is not None:
        name = microarchitecture.policies.binding
        if name in POLICIES["random_binding"]:
            chance = _named(name, "random_binding", microarchitecture)
        else:
            chance = _named("random_ports", "ablation", microarchitecture)
        made = chance(tables, microarchitecture, queues, entries, options.port_seed)
    else:
        if options.binding == "ufs":
            named = _named("least_loaded", "ablation", microarchitecture)
        else:
            named = _named(_binding_of(microarchitecture, options), "binding", microarchitecture)
        made = named(tables, microarchitecture, queues, entries)
    return made


def make_picker(Tables tables, microarchitecture, Entries entries, Binding binding):
    """The rule by which uops leave a core's schedulers."""
    cdef DispatchRule rule
    cdef Picker made
    rule = None
    if microarchitecture.policies.dispatch_rule:
        name = microarchitecture.policies.dispatch_rule
        rule = _named(name, "dispatch_rule", microarchitecture)(tables, microarchitecture)
    named = _named(microarchitecture.policies.picker, "picker", microarchitecture)
    made = named(tables, microarchitecture, entries, binding.usage, rule)
    return made


def make_elimination(Tables tables, microarchitecture):
    """The rule by which a core's renamer eliminates moves."""
    cdef Elimination made
    if not microarchitecture.policies.elimination:
        return Elimination()
    named = _named(microarchitecture.policies.elimination, "elimination", microarchitecture)
    made = named(tables, microarchitecture)
    return made


def make_macro_elimination(Tables tables, microarchitecture):
    """The same for a core that counts macro-ops. Its registers may share values without limit."""
    if not microarchitecture.policies.elimination:
        return Elimination()
    named = _named(microarchitecture.policies.elimination, "macro_elimination", microarchitecture)
    return named(tables, microarchitecture)


def make_addition(Tables tables, microarchitecture):
    """The rule by which a core's renamer carries out additions of constants."""
    cdef Addition made
    if not microarchitecture.policies.addition:
        return Addition(tables.program)
    named = _named(microarchitecture.policies.addition, "addition", microarchitecture)
    made = named(tables.program, microarchitecture)
    return made


def make_memory_renaming(Tables tables, microarchitecture, options):
    """The rule by which a core's loads take over the values of stores in flight."""
    cdef MemoryRenaming made
    known = options.hardware or microarchitecture.tracks_values
    if not microarchitecture.policies.memory_renaming or not known:
        return MemoryRenaming(tables)
    named = _named(microarchitecture.policies.memory_renaming, "memory_renaming", microarchitecture)
    made = named(tables)
    return made


def make_load_renaming(Tables tables, microarchitecture, operations, in_flight):
    """The same for a core that counts macro-ops."""
    if not microarchitecture.policies.memory_renaming:
        return LoadRenaming(tables, operations, in_flight)
    named = _named(microarchitecture.policies.memory_renaming, "load_renaming", microarchitecture)
    made = named(tables, microarchitecture, operations, in_flight)
    return made


def make_store_commit(Tables tables, microarchitecture):
    """The rule by which a core's stores are written to the cache; None if stores do not delay each other."""
    cdef CommitRule made
    if not microarchitecture.policies.store_commit:
        return None
    named = _named(microarchitecture.policies.store_commit, "store_commit", microarchitecture)
    made = named(tables, microarchitecture)
    return made


def make_scheduler_choice(Tables tables, microarchitecture, Queues queues, in_flight, options):
    """The rule by which a core that counts macro-ops assigns uops to schedulers, or the random one."""
    name = microarchitecture.policies.binding
    if options.port_seed is not None:
        rule = name if name in POLICIES["random_scheduler_choice"] else "chance_scheduler"
        by_chance = _named(rule, "random_scheduler_choice", microarchitecture)
        made = by_chance(tables, microarchitecture, queues, in_flight, options.port_seed)
    else:
        made = _named(name, "scheduler_choice", microarchitecture)(
            tables, microarchitecture, queues, in_flight
        )
    return made


def make_macro_picker(Tables tables, microarchitecture, operations, in_flight, options):
    """The rule by which uops leave the schedulers of a core that counts macro-ops, or the random one."""
    cdef Picker made
    name = microarchitecture.policies.picker
    if name in POLICIES["random_macro_picker"]:
        by_chance = _named(name, "random_macro_picker", microarchitecture)
        made = by_chance(tables, microarchitecture, operations, in_flight, options.port_seed)
    else:
        made = _named(name, "macro_picker", microarchitecture)(
            tables, microarchitecture, operations, in_flight
        )
    return made


def make_late_operands(Tables tables, microarchitecture, operations, in_flight):
    """The rule by which operations waste slots on a core that counts macro-ops."""
    if not microarchitecture.policies.late_operands:
        return LateOperands()
    named = _named(microarchitecture.policies.late_operands, "late_operands", microarchitecture)
    made = named(tables, microarchitecture, operations, in_flight)
    return made


def make_macro_store_commit(Tables tables, microarchitecture, in_flight):
    """The rule by which stores are written to the cache on a core that counts macro-ops."""
    cdef CommitRule made
    named = _named(microarchitecture.policies.store_commit, "macro_store_commit", microarchitecture)
    made = named(tables, microarchitecture, in_flight)
    return made
