"""Lists the assumptions behind a figure that this region gives reason to doubt.

Every kind has a code and one line in ``assumption_codes.CODES``. Kinds that follow from the instructions
alone are functions listed in ``assumptions``. Other modules add the rest: the position in memory, the path
through a region (``paths.py``), aliasing accesses (``overlaps.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from cyclelens.analyzer.insight import amounts
from cyclelens.analyzer.insight.addresses import Access, line_crossings
from cyclelens.analyzer.insight.assumption_codes import LINE_CROSSINGS, ONE_POSITION, WARM_CACHES
from cyclelens.analyzer.insight.confidence import is_lower_bound
from cyclelens.analyzer.insight.measured_otherwise import (
    counts_not_zero,
    differences,
    owed_constants,
    published_throughput,
    same_page,
)
from cyclelens.analyzer.insight.memory_levels.streams import data_levels, instructions_of
from cyclelens.analyzer.insight.memory_levels.wording import bytes_per_iteration, sentences
from cyclelens.analyzer.insight.store_timing import store_timing
from cyclelens.analyzer.microarchitectures import caveats, extensions, loop_caveats, registry
from cyclelens.analyzer.microarchitectures.misprediction_penalty import misprediction_penalty_for
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.label import AT_LEAST
from cyclelens.analyzer.model.result import Assumption, Prediction
from cyclelens.analyzer.model.units import Role, unit_cycles
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.uops.left_out import listed
from cyclelens.analyzer.uops.registers import is_simd

_DIVISION = re.compile(r"i?div|v?(div|sqrt)[ps][sdh]|f(i?divr?p?|sqrt)")
_FLOAT_ARITHMETIC = re.compile(
    r"v?(add|sub|mul|div|sqrt|hadd|hsub|addsub|dp)[ps][sdh]|vfn?m(add|sub|addsub|subadd)\d+[ps][sdh]"
    r"|f(i?(add|sub|subr|mul|div|divr)p?|sqrt)"
)
_CONDITIONAL = r"j(?!mp)|loop"
_SHORT = 2
"""Most instructions of a loop that consists of one instruction and its end."""
_BEYOND = 1.05
"""Times the figure from which the cycles of accesses across lines are worth a word."""

Templates = Sequence[InstructionTemplate]


def assumptions(
    prediction: Prediction, accessed: Sequence[Sequence[Access]], inner: Collection[int] = ()
) -> tuple[Assumption, ...]:
    """Assumptions that follow from the instructions alone; empty for most blocks.

    ``accessed``: their ``accesses`` in two iterations; ``inner``: indices of branches within the region,
    which have assumptions of their own.
    """
    kinds: tuple[Callable[[Prediction], Iterator[Assumption]], ...] = (
        _older_meaning,
        _call_not_counted,
        partial(_predicted_branches, inner=inner),
        partial(_warm_caches, accessed=accessed),
        _operand_values,
        _few_mask_bits,
        _masks_not_empty,
        _gather_neighbours,
        _inferred_latency,
        _half_cycles,
        _target_not_awaited,
        _loop_branch,
        _fastest_state,
        _slower_conversions,
        _ternary_logic,
        _locked_neighbours,
        _measured_otherwise,
        _published_throughput,
        _counts_not_zero,
        partial(_line_crossings, accessed=accessed),
        same_page,
        owed_constants,
        _store_timing,
        _older_microcode,
        _no_denormals,
    )
    return tuple(found for kind in kinds for found in kind(prediction))


def heading(assumption: Assumption) -> str:
    """The word in front of an assumption's message: ``Data`` for the figures by level, else ``Assumed``."""
    return "Data" if assumption.code == WARM_CACHES else "Assumed"


def one_position(prediction: Prediction) -> Assumption | None:
    """The assumption that is present until the figures of the other positions are known; otherwise None."""
    return next((each for each in prediction.assumptions if each.code == ONE_POSITION), None)


def _where(instructions: Templates, holds: Callable[[str], object]) -> tuple[int, ...]:
    return tuple(index for index, template in enumerate(instructions) if holds(template.instruction.mnemonic))


def _mnemonics(instructions: Templates, indices: Sequence[int]) -> list[str]:
    return list(dict.fromkeys(instructions[index].instruction.mnemonic for index in indices))


def _operand_values(prediction: Prediction) -> Iterator[Assumption]:
    divisions = _where(prediction.instructions, _DIVISION.fullmatch)
    core = prediction.microarchitecture
    mnemonics = {index: prediction.instructions[index].instruction.mnemonic for index in divisions}
    slow = tuple(index for index, name in mnemonics.items() if caveats.is_slow_division(name, core))
    enters = _where(prediction.instructions, lambda name: name == "enter")
    codes = {index: prediction.instructions[index].instruction.code for index in enters}
    if frames := tuple(i for i, code in codes.items() if loop_caveats.has_slow_frame(code, core)):
        message = "The figure is for an enter with nested levels; with level 0 it takes some 8 cycles."
        yield Assumption("operand-values", message, frames)
    for found, speed in ((tuple(each for each in divisions if each not in slow), "fast"), (slow, "slow")):
        if found:
            names = listed(_mnemonics(prediction.instructions, found))
            message = f"The time of {names} depends on the operands; the figure is for {speed} ones."
            yield Assumption("operand-values", message, found)


def _few_mask_bits(prediction: Prediction) -> Iterator[Assumption]:
    core = prediction.microarchitecture
    found = _where(prediction.instructions, lambda name: caveats.bit_moves(name, core))
    if found:
        names = _mnemonics(prediction.instructions, found)
        moves = caveats.bit_moves(names[0], core)
        assert moves is not None
        message = (
            f"The time of {listed(names)} depends on the bits that the mask has set: {moves.least} to "
            f"{moves.most} cycles on {core}. The figure is for the fastest case."
        )
        yield Assumption(
            "few-mask-bits", message, found, {"least_cycles": moves.least, "most_cycles": moves.most}
        )


def _masks_not_empty(prediction: Prediction) -> Iterator[Assumption]:
    found = tuple(
        index
        for index, template in enumerate(prediction.instructions)
        if template.memory_operands
        and caveats.masks_memory(template.instruction.mnemonic, opmask=template.instruction.mask is not None)
    )
    if found:
        message = (
            "No mask is empty: a masked access without an element, on a page that is not mapped or was not "
            "written yet, can take an assist of hundreds of cycles."
        )
        yield Assumption("masks-not-empty", message, found)


def _gather_neighbours(prediction: Prediction) -> Iterator[Assumption]:
    core = prediction.microarchitecture
    found = _where(prediction.instructions, lambda name: caveats.gather_spread(name, core))
    if found:
        spread = caveats.gather_spread(prediction.instructions[found[0]].instruction.mnemonic, core)
        assert spread is not None
        message = (
            f"The code around a gather changes its time by an unknown rule: on {core}, loops with a gather "
            f"took {-spread[0]} % less to {spread[1]} % more than the figure."
        )
        values = {"least_percent": spread[0], "most_percent": spread[1]}
        yield Assumption("gather-neighbours", message, found, values)


def _inferred_latency(prediction: Prediction) -> Iterator[Assumption]:
    core = prediction.microarchitecture
    found = _where(
        prediction.instructions, lambda name: "gather" in name and caveats.has_inferred_mask(name, core)
    )
    if found:
        names = listed(_mnemonics(prediction.instructions, found))
        message = (
            f"On {core}, the latency of {names} from the mask was not measured: the figure has a little less "
            "than from the index, as on ZEN4."
        )
        yield Assumption("inferred-latency", message, found)


def _half_cycles(prediction: Prediction) -> Iterator[Assumption]:
    core = prediction.microarchitecture
    found = _where(prediction.instructions, lambda name: caveats.takes_half_cycles(name, core))
    if found and prediction.mode is Mode.LOOP:
        names = listed(_mnemonics(prediction.instructions, found))
        message = (
            f"On {core}, {names} can take half a cycle more or less than the figure in every iteration, "
            "because they take whole cycles in turn, and half of one is their mean."
        )
        yield Assumption("half-cycles", message, found)


def _target_not_awaited(prediction: Prediction) -> Iterator[Assumption]:
    core = prediction.microarchitecture
    found = tuple(
        index
        for index, template in enumerate(prediction.instructions)
        if caveats.may_wait_for_target(template.instruction.mnemonic, core) and _only_writes_target(template)
    )
    if found:
        names = listed(_mnemonics(prediction.instructions, found))
        message = (
            f"The figure assumes that the result of {names} does not wait for the old value of its target. "
            "Some processors with this core, or its relatives, do wait. To find out, put a zero idiom of the "
            "target in front and measure both."
        )
        yield Assumption("target-not-awaited", message, found)


def _loop_branch(prediction: Prediction) -> Iterator[Assumption]:
    core = prediction.microarchitecture
    found = _where(prediction.instructions, lambda name: caveats.longer_in_loops(name, core))
    if found and prediction.mode is Mode.LOOP:
        names = _mnemonics(prediction.instructions, found)
        most = max(caveats.longer_in_loops(name, core) for name in names)
        message = (
            f"A loop's branch seems to wait for {listed(names)} by an unknown rule: on {core}, loops with "
            f"such instructions took up to {amounts.cycles(most)} more per iteration than the figure."
        )
        yield Assumption("loop-branch", message, found, {"most_cycles": most})


def _fastest_state(prediction: Prediction) -> Iterator[Assumption]:
    """Of loops that access memory, the range has the other states (M38)."""
    core = prediction.microarchitecture
    percent = caveats.short_loop_percent(prediction.cycles_per_iteration, core)
    others = [each for each in prediction.instructions if not each.is_branch]
    short = len(others) <= _SHORT and not any(each.memory_operands for each in others)
    if percent and short and prediction.mode is Mode.LOOP:
        message = (
            f"The loop settles in its fastest state: on {core}, one in eight measured loops of one "
            f"instruction took up to {percent} % more than a cycle, by an unknown rule."
        )
        yield Assumption("fastest-state", message, (), {"most_percent": percent})


def _slower_conversions(prediction: Prediction) -> Iterator[Assumption]:
    core = prediction.microarchitecture
    for percent_of, is_one, message in (
        (
            caveats.slower_conversion_percent,
            _halves_zmm,
            "The figure has the published time of {names} with 512 bits. On {core}, loops of such "
            "conversions took up to {percent} % longer, by an unknown rule.",
        ),
        (
            caveats.width_conversion_percent,
            _is_wide,
            "The figure has the time that the pipes allow {names}. On {core}, copies of such "
            "conversions took 20 % longer, and up to {percent} % if they store, by an unknown rule.",
        ),
    ):
        found = tuple(
            index
            for index, template in enumerate(prediction.instructions)
            if percent_of(template.instruction.mnemonic, core) and is_one(template)
        )
        if found:
            names = _mnemonics(prediction.instructions, found)
            percent = percent_of(names[0], core)
            text = message.format(names=listed(names), core=core, percent=percent)
            yield Assumption("slower-conversions", text, found, {"most_percent": percent})


def _is_wide(template: InstructionTemplate) -> bool:
    """True if it uses a register of 256 or 512 bits."""
    return any((each.register or "")[:3] in ("YMM", "ZMM") for each in template.instruction.operands)


def _halves_zmm(template: InstructionTemplate) -> bool:
    """True if a conversion to half the width makes a register of 256 bits."""
    return (template.instruction.operands[0].register or "").startswith("YMM")


def _ternary_logic(prediction: Prediction) -> Iterator[Assumption]:
    found = _where(prediction.instructions, lambda name: name.startswith("vpternlog"))
    if not found or prediction.mode is not Mode.LOOP:
        return
    core = prediction.microarchitecture
    stores = any(
        access.written and any(is_simd(operand.name) for operand in template.register_inputs)
        for template in prediction.instructions
        for access in template.memory_operands
    )
    if percent := caveats.ternary_logic_percent(core, stores=stores):
        names, others = _mnemonics(prediction.instructions, found), " and vector stores" if stores else ""
        message = (
            f"The figure has the published time of {listed(names)}. On {core}, loops of such instructions"
            f"{others} took up to {percent} % longer, by an unknown rule."
        )
        yield Assumption("ternary-logic", message, found, {"most_percent": percent})


def _locked_neighbours(prediction: Prediction) -> Iterator[Assumption]:
    instructions, core = prediction.instructions, prediction.microarchitecture
    locked = [index for index, template in enumerate(instructions) if _is_locked(template)]
    beside = [
        template
        for index, template in enumerate(instructions)
        if index not in locked and any(access.read for access in template.memory_operands)
    ]
    names = _mnemonics(instructions, locked)
    percent = max((caveats.locked_percent(name, core) for name in names), default=0)
    if percent and (beside or len(locked) > 1):
        message = (
            f"On {core}, loops with {listed(names)} beside loads or other locked instructions took up to "
            f"{percent} % longer than the figure, by an unknown rule."
        )
        yield Assumption("locked-neighbours", message, tuple(locked), {"most_percent": percent})


def _measured_otherwise(prediction: Prediction) -> Iterator[Assumption]:
    core = prediction.microarchitecture
    mnemonics = [each.instruction.mnemonic for each in prediction.instructions]
    for each in differences(prediction) if caveats.may_differ(mnemonics, core) else ():
        most, compared = abs(each.cycles), "more" if each.cycles > 0 else "less"
        message = (
            f"On {core}, loops {each.kind} took up to {amounts.cycles(most)} per iteration "
            f"{compared} than the figure, by an unknown rule."
        )
        values = {"difference_cycles": each.cycles}
        yield Assumption("measured-otherwise", message, each.instructions, values)


def _published_throughput(prediction: Prediction) -> Iterator[Assumption]:
    core = prediction.microarchitecture
    for each in prediction.instructions:
        published = each.facts is not None and each.facts.base.published
        if published or caveats.throughput_elsewhere(each.instruction.mnemonic, core):
            yield from published_throughput(prediction)
            return


def _counts_not_zero(prediction: Prediction) -> Iterator[Assumption]:
    if caveats.zero_counts_measured_on(prediction.microarchitecture):
        yield from counts_not_zero(prediction)


def _is_locked(template: InstructionTemplate) -> bool:
    exchanges = template.instruction.mnemonic == "xchg" and len(template.memory_operands) > 0
    return exchanges or (template.facts is not None and template.facts.locked)


def _only_writes_target(template: InstructionTemplate) -> bool:
    """True if no result is also an input."""
    read = {operand.canonical for operand in template.register_inputs}
    return all(operand.canonical not in read for operand in template.register_outputs)


def _line_crossings(prediction: Prediction, accessed: Sequence[Sequence[Access]]) -> Iterator[Assumption]:
    """At most one, if the cycles are more than the figure (TWICE_IN_A_UNIT)."""
    if prediction.mode is Mode.ONCE or any(each.macro_ops is not None for each in prediction.instructions):
        return
    busy, figure = prediction.bounds.get("Ports", 0.0), prediction.cycles_per_iteration
    if busy + len(accessed[0]) <= _BEYOND * figure:  # not even if all of them crossed
        return
    crossing = line_crossings(prediction.instructions, accessed)
    if not crossing:
        return
    core = registry.get(prediction.microarchitecture)
    uses = [
        (use.units.mask, float(use.uops))
        for each in prediction.instructions
        if not each.fused_with_previous
        for use in each.uses
    ]
    loads, stores = (core.units.having(role).mask for role in (Role.LOAD, Role.STORE_DATA))
    again = [(stores if each.written else loads, share) for each, share in crossing.items()]
    cycles = unit_cycles([*uses, *again])
    if cycles > _BEYOND * figure:
        message = (
            f"No access crosses the end of a cache line. Wherever the pointers point, "
            f"{sum(crossing.values()):.3g} per iteration do, and need a unit twice: an iteration takes "
            f"{cycles:.2f} cycles or more."
        )
        where = tuple(sorted({each.instruction for each in crossing}))
        yield Assumption(LINE_CROSSINGS, message, where, {"least_cycles": round(cycles, 2)})


def _store_timing(prediction: Prediction) -> Iterator[Assumption]:
    if prediction.microarchitecture in loop_caveats.FORWARDING_TIMES:
        yield from store_timing(prediction)


def _older_microcode(prediction: Prediction) -> Iterator[Assumption]:
    core = prediction.microarchitecture
    found = _where(prediction.instructions, lambda name: caveats.is_slowed_gather(name, core))
    if found:
        message = (
            "The figure is for microcode from before August 2023. The update (Downfall, Intel-SA-00828) "
            f"makes gathers slower on {core}, often slower than single loads; by how much is not published."
        )
        yield Assumption("older-microcode", message, found)


def _no_denormals(prediction: Prediction) -> Iterator[Assumption]:
    found = _where(prediction.instructions, _FLOAT_ARITHMETIC.fullmatch)
    if found:
        message = "No floating-point value is denormal: those can take more than a hundred cycles each."
        yield Assumption("no-denormals", message, found)


def _call_not_counted(prediction: Prediction) -> Iterator[Assumption]:
    found = _where(prediction.instructions, lambda name: name == "call")
    if found:
        functions = "The called function takes" if len(found) == 1 else "The called functions take"
        message = f"{functions} no time here: only the call itself is counted, not what is called."
        yield Assumption("call-not-counted", message, found)


def _older_meaning(prediction: Prediction) -> Iterator[Assumption]:
    core = prediction.microarchitecture
    for index, template in enumerate(prediction.instructions):
        instead = extensions.older_meaning(template.instruction, core)
        if instead:
            name = template.instruction.mnemonic
            message = f"{core} has no {name}: it runs {instead}, which can give another result."
            yield Assumption("older-meaning", message, (index,))


def _warm_caches(prediction: Prediction, accessed: Sequence[Sequence[Access]]) -> Iterator[Assumption]:
    """Only loops that touch new addresses per iteration: a loop that repeats its
    addresses has them cached."""
    data = prediction.data or data_levels(prediction, accessed)
    if data is not None:
        least = AT_LEAST if is_lower_bound(prediction) else ""
        values = {"bytes_per_iteration": bytes_per_iteration(data)}
        yield Assumption(WARM_CACHES, sentences(data, least), instructions_of(data), values)


def _predicted_branches(prediction: Prediction, inner: Collection[int]) -> Iterator[Assumption]:
    """All branches out of the region except a loop's jump back, which is mispredicted only at the end."""
    last = len(prediction.instructions) - (prediction.mode is Mode.LOOP)
    found = tuple(
        index
        for index, template in enumerate(prediction.instructions[:last])
        if index not in inner and re.match(_CONDITIONAL, template.instruction.mnemonic)
    )
    if found:
        what = "The branch is" if len(found) == 1 else "The branches are"
        penalty = misprediction_penalty_for(prediction.microarchitecture, prediction.machine).cycles
        cost = "more than ten" if penalty is None else f"about {penalty:g}"
        price = f"a wrong prediction costs {cost} cycles (mispredicted= adds them)"
        message = f"{what} not taken, and predicted so: {price}."
        yield Assumption("predicted-branches", message, found)
