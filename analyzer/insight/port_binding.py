"""Finds how much a figure depends on the rule that binds uops to ports, and on a loop's steady state.

A uop is bound to a port when it issues, and no vendor publishes the rule. If nearly all ports are busy, rules
that fit measurements equally well give different figures for a short loop (docs/insight.md).
"""

from __future__ import annotations

from cyclelens.analyzer.insight.confidence import has_unknown_costs
from cyclelens.analyzer.insight.hazards import page_aliasing
from cyclelens.analyzer.insight.runs import Runs
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.result import PortBinding, Prediction
from cyclelens.analyzer.model.units import Role, UopKind
from cyclelens.analyzer.model.uops import Block, InstructionTemplate, Trait, ValueKind
from cyclelens.analyzer.simulator.variants import other_bindings, unbound
from msgspec.structs import replace

LEAST_FACTOR = 1.05
"""Smallest ratio of two figures that counts as a difference."""
_ACCESSES = (UopKind.LOAD, UopKind.STORE_ADDRESS)
_CARRY = "C"
_EIGHTHS = 8
_FEW_VECTOR_UOPS = 8
"""In a loop of more, choices of pipes average out."""
NEAR = 0.9
"""Share of the largest bound at which the ports may be the limit."""


def port_binding(block: Block, prediction: Prediction, runs: Runs) -> PortBinding | None:
    """The smallest and largest figure of ``block``, whose prediction is ``prediction``, under other binding
    rules and in other steady states; None if none differs by more than five percent. Raises like
    ``simulate``."""
    if runs.options.port_seed is not None or has_unknown_costs(prediction):
        return None
    cycles = prediction.cycles_per_iteration
    found = _under_other_rules(block, prediction, runs) or PortBinding(cycles, cycles)
    found = _with_other_third_sources(block, found, runs) or found
    found = _under_other_forwarding(block, found, runs) or found
    slowest = max(
        cycles * _slowest_state(block, cycles, runs.microarchitecture),
        _repeating(block, prediction, runs.microarchitecture),
        _leaving_singly(block, runs.microarchitecture),
    )
    if slowest > max(found.most, LEAST_FACTOR * cycles):
        found = PortBinding(found.least, slowest, steady_states=True)
    return found if found.least < found.most else None


def _with_other_third_sources(block: Block, found: PortBinding, runs: Runs) -> PortBinding | None:
    """The range ``found``, widened to the fewest and most operations with three sources that a store of a
    vector or a transfer keeps from their pipes (M44). None if it does not become wider. Raises like
    ``simulate``."""
    core = runs.microarchitecture
    rules = core.macro_ops
    if rules is None or not rules.third_source_eighths:
        return None
    uops = [uop for template in block.instructions for uop in template.uops]
    transfer = core.units.having(Role.TRANSFER).mask
    if not any(uop.traits & Trait.THREE_SOURCES for uop in uops):
        return None
    if not any(uop.units.mask & transfer for uop in uops):
        return None
    ends = []
    for eighths in (0, rules.most_third_source_eighths):
        other = replace(core, macro_ops=replace(rules, third_source_eighths=eighths))
        ends.append(replace(runs, microarchitecture=other).cycles(block))
    return _widened(found, *ends)


def _widened(found: PortBinding, least: float, most: float, *, states: bool = False) -> PortBinding | None:
    """The range with these ends where they differ from its own by more than five percent; None if neither
    does."""
    if found.least <= LEAST_FACTOR * least:
        least = found.least
    if most <= LEAST_FACTOR * found.most:
        most = found.most
    if (least, most) == (found.least, found.most):
        return None
    return PortBinding(least, most, steady_states=states or found.steady_states)


def _under_other_forwarding(block: Block, found: PortBinding, runs: Runs) -> PortBinding | None:
    """The range ``found``, widened to the states in which forwarding takes a cycle less or, to an instruction
    that changes a word, a cycle more, and two if it reads the carry, its stores leave singly, and it is two
    accesses (M43). None if it does not become wider. Raises like ``simulate``."""
    core = runs.microarchitecture
    rules = core.macro_ops
    if rules is None or not rules.forwarding_varies or not _may_forward(block):
        return None
    least, most = found.least, found.most
    # Where less time passes, no iteration waits for what the one before has stored.
    if least >= (rules.change_forwarding or rules.forwarding - 1):
        fast = replace(rules, forwarding=rules.forwarding - 1)
        least = replace(runs, microarchitecture=replace(core, macro_ops=fast)).cycles(block)
    changing = [template for template in block.instructions if _changes_memory(template)]
    if changing:
        inputs = [value for template in changing for uop in template.uops for value in uop.inputs]
        more = 2 if (ValueKind.FLAGS, _CARRY) in inputs else 1
        slow = replace(rules, forwarding=rules.forwarding + more)
        if rules.memory_change_has_one_address:
            slow = replace(
                rules,
                change_forwarding=rules.change_forwarding + more,
                changes_leave_singly=True,
                change_load_eighths=_EIGHTHS,
            )
        most = replace(runs, microarchitecture=replace(core, macro_ops=slow)).cycles(block)
    return _widened(found, least, most, states=True)


def _may_forward(block: Block) -> bool:
    """True if it stores and loads general-purpose registers."""
    uops = [uop for template in block.instructions for uop in template.uops]
    loads = any(uop.kind is UopKind.LOAD and not uop.traits & Trait.VECTOR for uop in uops)
    return loads and any(uop.kind is UopKind.STORE_DATA for uop in uops)


def _changes_memory(template: InstructionTemplate) -> bool:
    """True if it stores to the operand in general registers that it loads."""
    loaded = {uop.memory_operand for uop in template.uops if uop.kind is UopKind.LOAD}
    return any(
        uop.kind is UopKind.STORE_DATA and uop.memory_operand in loaded and not uop.traits & Trait.VECTOR
        for uop in template.uops
    )


def _slowest_state(block: Block, cycles: float, microarchitecture: Microarchitecture) -> float:
    """How many times as long an iteration takes in the slowest steady state of a loop (M38)."""
    rules = microarchitecture.macro_ops
    if rules is None or not block.loop or cycles >= rules.steady_states_below:
        return 1.0
    uses = (use for template in block.instructions for use in template.uses)
    if not any(use.kind in _ACCESSES for use in uses):
        return 1.0
    return 1 + rules.slowest_state_percent / 100


def _repeating(block: Block, prediction: Prediction, microarchitecture: Microarchitecture) -> float:
    """Cycles of a loop in the state in which every load that meets 4K aliasing is executed again; 0 if none
    does (docs/zen5.md)."""
    rules = microarchitecture.macro_ops
    if rules is None or not block.loop or not rules.page_aliasing_cycles:
        return 0.0
    again = {finding.instruction for finding in page_aliasing.find(prediction)}
    cycles = 0.0
    for index, template in enumerate(block.instructions):
        vector = any(not output.width for output in template.register_outputs)
        loads = sum(access.read for access in template.memory_operands) * (1 + (index in again))
        cycles += loads / (rules.vector_loads_per_cycle if vector else rules.loads_per_cycle)
    return cycles if again else 0.0


def _leaving_singly(block: Block, microarchitecture: Microarchitecture) -> float:
    """Cycles in the state in which stores of vectors and transfers leave one after the other (M47); 0 without
    both."""
    stores = microarchitecture.units.having(Role.VECTOR_STORE).mask
    if not stores:
        return 0.0
    leaving = microarchitecture.units.having(Role.TRANSFER).mask
    uops = [uop for template in block.instructions for uop in template.uops if uop.units.mask & leaving]
    if not any(uop.units.mask == stores for uop in uops) or all(uop.units.mask == stores for uop in uops):
        return 0.0
    return sum(max(_EIGHTHS, uop.busy_eighths) for uop in uops) / _EIGHTHS


def _under_other_rules(block: Block, prediction: Prediction, runs: Runs) -> PortBinding | None:
    """The smallest and largest figure under other binding rules.

    Either end is the predicted figure itself if it is within five percent of it; None if both are. The
    smallest is never below the ports' bound, nor below the figure if uops with a choice of ports never wait
    for one. The largest comes from other rules, random choice among them. Raises like ``simulate``.
    """
    cycles = prediction.cycles_per_iteration
    largest = max(prediction.bounds.values(), default=0.0)
    ports = prediction.bounds.get("Ports", 0.0)
    unexplained = cycles > LEAST_FACTOR * largest
    if not _has_choice(block):
        return None
    if ports < NEAR * largest and not unexplained:
        return None
    least = most = cycles
    pipes = _shares_pipes(block, runs.microarchitecture)
    if unexplained:
        ideal = replace(runs, microarchitecture=unbound(runs.microarchitecture)).cycles(block)
        least = min(cycles, max(ideal, ports))
        if ports < NEAR * largest and cycles <= LEAST_FACTOR * least and not pipes:
            return None
    for core, options in other_bindings(runs.microarchitecture, runs.options, pipes=pipes):
        other = replace(runs, microarchitecture=core, options=options).cycles(block)
        least, most = min(least, other), max(most, other)
    if cycles <= LEAST_FACTOR * least:
        least = cycles
    if most <= LEAST_FACTOR * cycles:
        most = cycles
    return PortBinding(least, most) if least < most else None


def _shares_pipes(block: Block, microarchitecture: Microarchitecture) -> bool:
    """True if some of few vector uops can use one of several pipes that no scheduler divides (M32): then the
    ideal run has the core's own order of pipes, too."""
    rules = microarchitecture.macro_ops
    if rules is None or not rules.vector_pipes_shared:
        return False
    pipes = microarchitecture.units.having(Role.VECTOR).mask
    uses = [use for template in block.instructions for use in template.uses if use.units.mask & pipes]
    choices = [use for use in uses if (use.units.mask & pipes).bit_count() > 1]
    return bool(choices) and sum(use.uops for use in uses) <= _FEW_VECTOR_UOPS


def _has_choice(block: Block) -> bool:
    """True if some uop can use one of several ports."""
    return any(
        use.units.mask.bit_count() > 1
        for template in block.instructions
        if not template.fused_with_previous
        for use in template.uses
    )
