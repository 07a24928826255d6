"""Prices hazards: the code is simulated again without them.

A hazard can be present and cost nothing, because something else limits the figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from cyclelens.analyzer.insight.capacities import ChangeError
from cyclelens.analyzer.insight.hazards import (
    failed_forwarding,
    false_renaming,
    jcc_erratum,
    length_changing_prefix,
    load_words,
    long_instruction,
    microcode,
    move_elimination,
    op_cache_windows,
    partial_word_store,
    register_merge,
    serialization,
    split_by_index,
    sse_avx_mix,
    stack_sync,
    unlamination,
)
from cyclelens.analyzer.insight.whatif import BlockEdit, ChangeResult, Experiment
from cyclelens.analyzer.model.microarchitecture import UNLIMITED
from cyclelens.analyzer.model.result import Finding
from cyclelens.analyzer.model.uops import InstructionTemplate
from msgspec.structs import replace

LEAST = 0.005
"""Smallest cost that is shown, in cycles per iteration; figures have two decimals."""
_MOST = 40
"""Most findings per region that are priced: each takes a simulation."""
_LONGEST = 15
"""Bytes of the longest instruction."""


def _laminated(template: InstructionTemplate) -> InstructionTemplate:
    """The instruction fused as the front end delivers it."""
    sizes, start = [], 0
    for count in template.idq_uops:
        sizes.append(sum(template.fused_uops[start : start + count]))
        start += count
    return replace(template, fused_uops=tuple(sizes), idq_uops=(1,) * len(sizes), retire_slots=len(sizes))


def _unsplit(template: InstructionTemplate) -> InstructionTemplate:
    """The instruction as a single macro-op."""
    return replace(template, fused_uops=(sum(template.fused_uops),), idq_uops=(1,), retire_slots=1)


def _of_unknown_size(template: InstructionTemplate) -> InstructionTemplate:
    """Loads whose size the memory rules do not know: they can always forward and are
    never mistaken for others."""
    accesses = (replace(access, name="") if access.read else access for access in template.memory_operands)
    return replace(template, memory_operands=tuple(accesses))


_WITHOUT: Mapping[str, Callable[[InstructionTemplate], InstructionTemplate]] = {
    length_changing_prefix.CODE: lambda template: replace(template, length_changing_prefix=False),
    jcc_erratum.CODE: lambda template: replace(template, jcc_erratum=False),
    unlamination.CODE: _laminated,
    split_by_index.CODE: _unsplit,
    register_merge.CODE: lambda template: replace(template, merge_uops=()),
    serialization.CODE: lambda template: replace(template, serializing=False),
    microcode.CODE: lambda template: replace(
        template, mite_uops=template.mite_uops + template.ms_uops, ms_uops=0
    ),
    failed_forwarding.CODE: _of_unknown_size,
    false_renaming.CODE: _of_unknown_size,
}


def _in_step(experiment: Experiment) -> ChangeResult:
    """The experiment without stack synchronisation: no instruction needs the stack engine's offset."""
    return experiment.replaced_everywhere(
        lambda template: replace(template, reads_stack_offset=False),
        replace(experiment.model, stack_offset_limit=None),
    )


def _one_line(experiment: Experiment) -> ChangeResult:
    """The experiment with op cache lines that hold a whole window."""
    rules = experiment.model.macro_ops
    assert rules is not None
    rules = replace(rules, line_entries=UNLIMITED, line_fields=UNLIMITED, full_lines=())
    return experiment.with_model(replace(experiment.model, macro_ops=rules))


def _all_short(experiment: Experiment) -> ChangeResult:
    rules = experiment.model.macro_ops
    assert rules is not None
    return experiment.with_model(
        replace(experiment.model, macro_ops=replace(rules, long_instruction_bytes=_LONGEST))
    )


def _whole_words(experiment: Experiment) -> ChangeResult:
    """The experiment with a cache that makes no chunk wait for an earlier one."""
    rules = experiment.model.macro_ops
    assert rules is not None
    assert rules.store_gathering is not None
    rules = replace(rules, store_gathering=replace(rules.store_gathering, restart=0))
    return experiment.with_model(replace(experiment.model, macro_ops=rules))


_WITHOUT_ALL: Mapping[str, Callable[[Experiment], ChangeResult]] = {
    stack_sync.CODE: _in_step,
    long_instruction.CODE: _all_short,
    partial_word_store.CODE: _whole_words,
    sse_avx_mix.CODE: lambda experiment: experiment.edited(BlockEdit(apart=True)),
    load_words.CODE: lambda experiment: experiment.with_model(
        replace(experiment.model, policies=replace(experiment.model.policies, dispatch_rule=""))
    ),
    move_elimination.CODE: lambda experiment: experiment.with_model(
        replace(
            experiment.model,
            move_elimination_gpr_slots=UNLIMITED,
            move_elimination_simd_slots=UNLIMITED,
        )
    ),
    op_cache_windows.CROWDED: _one_line,
    op_cache_windows.STRADDLING: lambda experiment: experiment.edited(BlockEdit(alignment=0)),
}
"""Hazards that are removed together, because removing one would move its cost to the next."""


def priced(experiment: Experiment, findings: Sequence[Finding], unit: str) -> tuple[Finding, ...]:
    """The findings with a price where the hazard can be removed; a finding that has a price keeps it.

    ``unit``: of the figure, in words (``cycles per iteration``). Some kinds are priced together: each of
    their findings gives the price of all.
    """
    base: float | None = None
    counts = Counter(finding.code for finding in findings)
    together: dict[str, float] = {}
    result = []
    for number, finding in enumerate(findings):
        code = finding.code
        alone = _WITHOUT.get(code)
        known = alone or code in _WITHOUT_ALL
        if not known or finding.cost is not None or finding.outside or number >= _MOST:
            result.append(finding)
            continue
        try:
            if base is None:
                base = experiment.baseline().cycles_per_iteration
            if alone is not None:
                changed = experiment.replaced(finding.instruction, alone)
                cost = _difference(base, changed)
            elif code not in together:
                cost = together[code] = _difference(base, _WITHOUT_ALL[code](experiment))
            else:
                cost = together[code]
        except ChangeError:
            result.append(finding)
            continue
        words = _sentence(code, f"{cost:.2f} {unit}", counts[code])
        result.append(replace(finding, cost=cost, price=words, message=f"{finding.message} {words}"))
    return tuple(result)


def _difference(base: float, changed: ChangeResult) -> float:
    cost = max(base - changed.cycles_per_iteration, 0.0)
    return 0.0 if cost < LEAST else cost


def _sentence(code: str, cost: str, count: int) -> str:
    """The sentence on a finding's price, in a region with ``count`` findings of its kind."""
    if code in _WITHOUT_ALL and count > 1:
        return f"The {count} findings of this kind together cost {cost} here."
    return f"It costs {cost} here."
