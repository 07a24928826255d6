"""Finds loops of kinds that took other times than the figure on a core, by rules that are not known,
instructions that were published with more cycles than the figure has, and what else a figure cannot know."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from cyclelens.analyzer.insight import access_kinds, amounts, loop_kinds
from cyclelens.analyzer.insight.assumption_codes import OWED_CONSTANTS, SAME_PAGE
from cyclelens.analyzer.insight.dependencies import dependencies
from cyclelens.analyzer.insight.loop_features import Difference
from cyclelens.analyzer.microarchitectures import caveats, loop_caveats, registry
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.facts import Figures
from cyclelens.analyzer.model.result import Assumption, Prediction
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.uops.registers import is_simd
from msgspec import Struct

_HORIZONTAL = re.compile(r"v?h(add|sub)p[sd]")
"""Two shuffles of a cycle, then a longer operation, so that one alone is slower."""
_EXTRACTS = re.compile(r"v?p?extract\w+")
_WIDE_MASKS = re.compile(r"k(add|and|andn|or|xor|xnor|not)q|kunpckdq")
_OF_BRANCHES = re.compile(r"(set|cmov)(?!(n?[bc]|n?ae)$)\w+")
"""Conditions on flags that DEC writes: all but those on the carry alone."""
_DEPENDENT = 0.95
"""Share of the figure from which dependencies explain it."""
_SHORT = 2
"""Most cycles of a vector operation that was seen to wait."""
_FEW_STORES = 2
_WORD = 16
"""Bits of an operand."""
_SHIFTS_BY_CL = re.compile(r"s[ah][lr]|ro[lr]|sh[lr]d")
"""Those that keep the flags if CL is 0; RCL and RCR are microcode."""
_BEYOND = 1.1
"""Times the figure from which a published throughput counts."""
_LEAST = 0.1
"""Cycles beyond the figure: published figures are measurements."""
_OWED_CYCLES = 2
"""Cycles by which a shift takes longer whose count is owed a constant (V9)."""
_DIFFERENT = 0.05
"""Least share of the figure that counts as a difference."""


class Faster(Struct, frozen=True):
    """Instructions of one mnemonic that take longer by what is published."""

    instructions: tuple[int, ...]
    mnemonic: str
    core: str
    """Where it was measured: another core if nothing is published for this one."""
    each: float
    """Published cycles of one; most of any form."""
    cycles: float
    """Published cycles of all of them in an iteration."""


def differences(prediction: Prediction) -> Iterator[Difference]:
    """The kinds that a loop belongs to, of those measured on its core. The widest kinds count where no other
    does."""
    yield from _across_lanes(prediction)
    yield from _beyond_units(prediction)
    if prediction.mode is Mode.LOOP and caveats.measured_otherwise(prediction.microarchitecture):
        found = [each for kind in _KINDS for each in kind(prediction)]
        found += loop_kinds.of_loop(prediction)
        yield from found or access_kinds.of_loop(prediction)


def _across_lanes(prediction: Prediction) -> Iterator[Difference]:
    instructions, core = prediction.instructions, prediction.microarchitecture
    more = {
        index: caveats.lane_crossing_cycles(instructions[index].instruction.mnemonic, core)
        for index, _ in prediction.chain
        if _has_lanes(instructions[index])
    }
    found = tuple(index for index, cycles in more.items() if cycles)
    bound = prediction.bounds.get("Dependencies", 0.0)
    if found and bound >= _DEPENDENT * prediction.cycles_per_iteration:
        yield Difference(found, "in which a chain crosses the lanes of a register", sum(more.values()))


def _beyond_units(prediction: Prediction) -> Iterator[Difference]:
    """Instructions that take longer than their units explain, unless a chain does, but that of the stack."""
    core, bound = prediction.microarchitecture, prediction.bounds.get("Dependencies", 0.0)
    waits = bound >= _DEPENDENT * prediction.cycles_per_iteration
    more = {
        index: cycles
        for index, template in enumerate(prediction.instructions)
        if (cycles := caveats.beyond_units(_with_words(template), core))
        and (not waits or any(access.implicit_stack for access in template.memory_operands))
    }
    if sum(more.values()) > _DIFFERENT * prediction.cycles_per_iteration:
        names = dict.fromkeys(_with_words(prediction.instructions[index]) for index in more)
        yield Difference(tuple(more), f"with {' and '.join(names)}", sum(more.values()))


def _with_words(template: InstructionTemplate) -> str:
    """The mnemonic, and what distinguishes a slow form of it."""
    name = template.instruction.mnemonic
    if name in ("push", "pop") and template.facts is not None:
        words = any(each.width == _WORD for each in template.facts.operands if each.kind != "flags")
        return f"{name} of 16 bits" if words else name
    return name


def _has_lanes(template: InstructionTemplate) -> bool:
    return any((operand.register or "").startswith("YMM") for operand in template.instruction.operands)


def _chains(prediction: Prediction) -> Iterator[Difference]:
    """The rule that explains more, if a loop is of both kinds."""
    found = [*_result_conflict(prediction), *_read_chain(prediction)]
    if found:
        yield max(found, key=lambda each: each.cycles)


def _result_conflict(prediction: Prediction) -> Iterator[Difference]:
    instructions, bound = prediction.instructions, prediction.bounds.get("Dependencies", 0.0)
    if bound < _DEPENDENT * prediction.cycles_per_iteration:
        return
    chain = {index: cycles for index, cycles in prediction.chain if _is_vector(instructions[index])}
    waiting = {
        index: 1 if _pipe_uops(instructions[index]) > 1 else cycles
        for index, cycles in chain.items()
        if cycles <= _SHORT or _pipe_uops(instructions[index]) > 1
    }
    if not waiting:
        return
    least = min(waiting.values())
    longer = tuple(index for index, template in enumerate(instructions) if _is_longer(template, least))
    # Both parts may be in one instruction.
    if set(longer) - set(waiting) or any(_is_horizontal(instructions[index]) for index in waiting):
        kind = "in which a chain of vector operations has short uops beside longer ones"
        yield Difference(longer, kind, caveats.result_conflict_cycles(len(longer)))


def _is_vector(template: InstructionTemplate) -> bool:
    return any(is_simd(register.name) for register in template.register_outputs)


def _pipe_uops(template: InstructionTemplate) -> int:
    """Uops on the pipes; 0 for gathers, which have a caveat of their own."""
    if "gather" in template.instruction.mnemonic:
        return 0
    return sum(uop.kind is UopKind.COMPUTE for uop in template.uops)


def _is_horizontal(template: InstructionTemplate) -> bool:
    return _HORIZONTAL.fullmatch(template.instruction.mnemonic) is not None


def _is_longer(template: InstructionTemplate, least: int) -> bool:
    """True if a pipe takes more cycles to its result."""
    if _EXTRACTS.fullmatch(template.instruction.mnemonic) and template.memory_operands:
        return True
    return _is_vector(template) and any(
        uop.kind is UopKind.COMPUTE and any(cycles > least for _, cycles in uop.outputs)
        for uop in template.uops
    )


def _read_chain(prediction: Prediction) -> Iterator[Difference]:
    """Updates of a register that other operations read, which want the pipes in the same cycle."""
    instructions = prediction.instructions
    updates: dict[str, list[int]] = {}
    for index, template in enumerate(instructions):
        read = {register.canonical for register in template.register_inputs}
        for register in template.register_outputs:
            if register.canonical in read and is_simd(register.canonical) and _most_cycles(template) == 1:
                updates.setdefault(register.canonical, []).append(index)
    found: tuple[float, tuple[int, ...]] = (_DIFFERENT * prediction.cycles_per_iteration, ())
    for name, chain in updates.items():
        readers = _readers(instructions, name, chain)
        weight = sum(_pipe_cycles(instructions[index]) for index in readers)
        # Both kinds of operations may have to wait for something else anyway.
        most = len(chain) + caveats.read_chain_cycles(len(chain), weight)
        found = max(found, (most - prediction.cycles_per_iteration, (*chain, *readers)))
    if found[1]:
        kind = "in which other vector operations use what a chain of short ones updates"
        yield Difference(tuple(sorted(found[1])), kind, found[0])


def _readers(
    instructions: Sequence[InstructionTemplate], register: str, chain: Sequence[int]
) -> tuple[int, ...]:
    """Vector operations beside a chain that use its register, or what others made of it."""
    made, found = {register}, set[int]()
    # What the last one made is used in the next iteration.
    for index, template in 2 * tuple(enumerate(instructions)):
        if index in chain:
            continue
        uses = any(each.canonical in made for each in template.register_inputs)
        if uses and _pipe_cycles(template):
            found.add(index)
        outputs = {each.canonical for each in template.register_outputs}
        made = made | outputs if uses else made - outputs
    return tuple(sorted(found))


def _pipe_cycles(template: InstructionTemplate) -> float:
    """Cycles for which the operations of a vector instruction are on pipes."""
    vectors = (*template.register_inputs, *template.register_outputs)
    if not any(is_simd(register.name) for register in vectors):
        return 0
    uops = [uop for uop in template.uops if uop.kind is UopKind.COMPUTE]
    return sum(max(1.0, uop.busy_eighths / 8) for uop in uops)


def _most_cycles(template: InstructionTemplate) -> int:
    """Most cycles of a pipe to a result."""
    return max(
        (cycles for uop in template.uops if uop.kind is UopKind.COMPUTE for _, cycles in uop.outputs),
        default=0,
    )


def _wide_masks(prediction: Prediction) -> Iterator[Difference]:
    found = _named(prediction.instructions, _WIDE_MASKS)
    if found:
        yield Difference(found, "with operations on masks of 64 bits", caveats.WIDE_MASK_CYCLES * len(found))


def _store_fence(prediction: Prediction) -> Iterator[Difference]:
    found = _named(prediction.instructions, re.compile("sfence"))
    stores = any(
        access.written for template in prediction.instructions for access in template.memory_operands
    )
    if found and stores:
        yield Difference(found, "with SFENCE beside stores", float(len(found)))


def _pushed_constants(prediction: Prediction) -> Iterator[Difference]:
    found = tuple(
        index
        for index, template in enumerate(prediction.instructions)
        if template.instruction.mnemonic == "push" and template.instruction.immediate is not None
    )
    if len(found) >= _FEW_STORES:
        yield Difference(found, "that push constants", caveats.PUSHED_CONSTANT_CYCLES)


def _counter_flags(prediction: Prediction) -> Iterator[Difference]:
    """Readers of the flags that the end of the loop leaves, while the branch waits for the same units."""
    found = []
    for index, template in enumerate(prediction.instructions):
        if _OF_BRANCHES.fullmatch(template.instruction.mnemonic):
            found.append(index)
        elif template.flag_outputs:
            break
    bound = max(prediction.bounds.values(), default=0.0)
    if len(found) > 1 and bound < _DEPENDENT * prediction.cycles_per_iteration:
        kind = "that read the flags of the loop's counter"
        yield Difference(tuple(found), kind, bound - prediction.cycles_per_iteration)


def _merged(prediction: Prediction) -> Iterator[Difference]:
    """Operations that keep elements and need their mask before their other inputs."""
    instructions = prediction.instructions
    found = tuple(
        index
        for index, _ in prediction.chain
        if instructions[index].instruction.mask
        and any(max(uop.late, default=0) for uop in instructions[index].uops)
    )
    bound = max(prediction.bounds.values(), default=0.0)
    if found and bound < _DEPENDENT * prediction.cycles_per_iteration:
        kind = "in which a chain passes masked operations"
        yield Difference(found, kind, bound - prediction.cycles_per_iteration)


def _transferred_masks(prediction: Prediction) -> Iterator[Difference]:
    found = _named(prediction.instructions, re.compile("v?pmovmskb"))
    bound = max(prediction.bounds.values(), default=0.0)
    if found and bound < _DEPENDENT * prediction.cycles_per_iteration:
        kind = "with pmovmskb beside operations of integers"
        yield Difference(found, kind, bound - prediction.cycles_per_iteration)


def _named(instructions: Sequence[InstructionTemplate], pattern: re.Pattern[str]) -> tuple[int, ...]:
    return tuple(
        index for index, each in enumerate(instructions) if pattern.fullmatch(each.instruction.mnemonic)
    )


_KINDS: tuple[Callable[[Prediction], Iterator[Difference]], ...] = (
    _chains,
    _wide_masks,
    _store_fence,
    _pushed_constants,
    _counter_flags,
    _merged,
    _transferred_masks,
)


def faster_than_published(prediction: Prediction) -> Iterator[Faster]:
    """One per mnemonic. Instructions that something else decides have remarks of their own."""
    if prediction.mode is Mode.ONCE:
        return
    core, figure = prediction.microarchitecture, prediction.cycles_per_iteration
    found: dict[tuple[str, str], dict[int, float]] = {}
    for index, template in enumerate(prediction.instructions):
        mnemonic = template.instruction.mnemonic
        own, elsewhere = _published_cycles(template), caveats.throughput_elsewhere(mnemonic, core)
        source, cycles = (core, own) if own or elsewhere is None else elsewhere
        if template.is_branch and index == len(prediction.instructions) - 1:
            continue  # The way back of a loop has the time that the front end needs.
        has_remark = caveats.decided_by(mnemonic) or caveats.beyond_units(_with_words(template), core)
        if cycles and not has_remark:
            found.setdefault((mnemonic, source), {})[index] = cycles
    for (mnemonic, source), cycles_of in found.items():
        total = sum(cycles_of.values())
        if total > max(_BEYOND * figure, figure + _LEAST):
            yield Faster(tuple(cycles_of), mnemonic, source, max(cycles_of.values()), total)


def published_throughput(prediction: Prediction) -> Iterator[Assumption]:
    """The assumption that these take the time of their units."""
    core = prediction.microarchitecture
    for found in faster_than_published(prediction):
        unpublished = "" if found.core == core else f"; none is published for {core}"
        message = (
            f"By published measurements {found.mnemonic} takes up to {amounts.cycles(found.each)} on "
            f"{found.core}{unpublished}. Its units alone need less, and the reason is not known: an "
            f"iteration can take up to {amounts.cycles(found.cycles)}."
        )
        yield Assumption(
            "published-throughput", message, found.instructions, {"published_cycles": found.cycles}
        )


def _published_cycles(template: InstructionTemplate) -> float | None:
    """None also if all operands are one register and the record distinguishes that."""
    facts = template.facts
    if facts is None or not template.uops:
        return None
    registers = {operand.register for operand in template.instruction.operands}
    if facts.same_register != Figures() and len(registers) == 1:
        return None
    return facts.base.published


def counts_not_zero(prediction: Prediction) -> Iterator[Assumption]:
    """At most one, with the shifts, on the core where that was measured and on its relatives. The flags of
    the iteration before count too."""
    core, cycles = prediction.microarchitecture, loop_caveats.ZERO_COUNT_CYCLES
    measured_on = caveats.zero_counts_measured_on(core)
    templates = prediction.instructions
    writers: dict[str, int] = {}
    found, reads = dict[int, str](), 0
    for _ in range(1 if prediction.mode is Mode.ONCE else 2):
        reads = 0
        for index, template in enumerate(templates):
            shift = _by_cl(template)
            sources = {writers[flag] for flag in template.flag_inputs if flag in writers} - {-1}
            if sources and not shift:
                reads += 1
                found |= {source: templates[source].instruction.mnemonic for source in sources}
            writers |= dict.fromkeys(template.flag_outputs, index if shift else -1)
    if found:
        names = " and ".join(dict.fromkeys(found.values()))
        not_here = "" if measured_on == core else f"; on {core} it was not measured"
        message = (
            f"No count in CL is zero: on {measured_on}, an instruction that reads the flags of {names} by "
            f"zero took {cycles} cycles longer, {reads * cycles} in an iteration{not_here}."
        )
        yield Assumption("counts-not-zero", message, tuple(sorted(found)), {"most_cycles": reads * cycles})


def _by_cl(template: InstructionTemplate) -> bool:
    instruction = template.instruction
    by_register = bool(instruction.operands) and instruction.operands[-1].register == "CL"
    return by_register and _SHIFTS_BY_CL.fullmatch(instruction.mnemonic) is not None


def owed_constants(prediction: Prediction) -> Iterator[Assumption]:
    """At most one, with the shifts that would lengthen the figure if the code before the loop had left a
    constant owed to their counts (V9):

    mov rcx, 1                                   before the loop: 3 cycles per iteration; 1 after `mov ecx, 1`
    shlx rax, rax, rcx
    """
    if prediction.mode is not Mode.LOOP:
        return
    templates = prediction.instructions
    if not any(each.offset_registers for each in templates):
        return
    written = {output.canonical for each in templates for output in each.register_outputs}
    kept = {
        index: names
        for index, each in enumerate(templates)
        if (names := [name for name in each.offset_registers if name not in written])
    }
    if not kept:
        return
    known = dependencies(prediction)
    chain, figure = float(known.cycles_per_iteration), prediction.cycles_per_iteration
    longer = {
        index: chain - float(slack) + _OWED_CYCLES
        for index in kept
        if (slack := known.slack[index]) is not None and chain - slack + _OWED_CYCLES > figure + _DIFFERENT
    }
    if longer:
        names = list(dict.fromkeys(name for index in longer for name in kept[index]))
        most = max(longer.values()) + _OWED_CYCLES * (len(longer) - 1)
        message = (
            f"The code before the loop leaves no constant owed to {' and '.join(names)}. After a `mov` or "
            f"`add` of a small constant with 64 bits, the renamer only notes the constant, and each shift by "
            f"the register adds it first, {_OWED_CYCLES} cycles more: an iteration takes up to {most:.4g} "
            "cycles."
        )
        yield Assumption(OWED_CONSTANTS, message, tuple(longer), {"most_cycles": round(most, 2)})


def same_page(prediction: Prediction) -> Iterator[Assumption]:
    """At most one, if the critical chain is nothing but loads that begin with the page of their pointer
    (OTHER_PAGES)."""
    if prediction.mode is Mode.ONCE:
        return
    chain = [(prediction.instructions[index], cycles) for index, cycles in prediction.chain]
    loaded = {
        output.canonical for each, _ in chain if each.memory_operands for output in each.register_outputs
    }
    found = [index for index, _ in prediction.chain if _adds(prediction.instructions[index], loaded)]
    if not found or not all(each.memory_operands for each, _ in chain):
        return
    core = registry.get(prediction.microarchitecture)
    if core.fast_pointer_chasing and all(cycles < core.load_latency for _, cycles in chain):
        slower = loop_caveats.OTHER_PAGE_CYCLES
        message = (
            f"Pointer and address are on the same page: a load takes {slower} cycles, not "
            f"{core.load_latency - 1}, if its displacement leads to another one."
        )
        yield Assumption(SAME_PAGE, message, tuple(sorted(set(found))), {"other_page_cycles": slower})


def _adds(template: InstructionTemplate, loaded: Collection[str]) -> bool:
    """True if the address is a loaded pointer plus a displacement that the core adds late."""
    return any(
        each.read and each.base in loaded and not each.index and (each.displacement or 0) > 0
        for each in template.memory_operands
    )
