"""Caches what is known of a core's instructions, so that each encoding is examined once per core,
and what siblings share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

from cyclelens.analyzer.common.recent import Caches, Recent
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.facts.siblings import completed
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.uops import Entry, InstructionTemplate
from cyclelens.analyzer.uops.ablations import ablated
from cyclelens.analyzer.uops.binding import Binder, BoundOperand, fixed_registers
from cyclelens.analyzer.uops.chained_adds import is_addition
from cyclelens.analyzer.uops.courses import with_jump_units
from cyclelens.analyzer.uops.operands import (
    Prepared,
    added_at_rename,
    added_constant,
    pops_rsp_or_r12,
    prepare,
)
from cyclelens.analyzer.uops.rebinding import (
    Names,
    Original,
    Sibling,
    rebind_prepared,
    shape_of,
    signature_of,
)
from cyclelens.analyzer.uops.target_dependencies import with_target_dependency
from cyclelens.analyzer.uops.templates import ALONE, Context, make_template, unfused
from cyclelens.analyzer.uops.transfers import with_shorter_transfers
from cyclelens.analyzer.uops.upper_halves import changed_by_upper_halves

if TYPE_CHECKING:
    from typing import Any

_MOST_KEPT = 8192
"""Most entries per core; the templates that they share are few and stay."""


BRANCH, HIGH8, ADDS, WIDE, KEEPS_UPPER, WRITES_UPPER = 1, 2, 4, 8, 16, 32
"""Reasons why an instruction and its neighbours may interact: it is a branch, touches high bytes, is slower
after an addition (U12), is 512 bits wide, or may keep or write upper halves of vector registers."""


class Shape:
    """What an instruction shares with its siblings."""

    __slots__ = (
        *("as_branch", "binder", "effects", "fusible", "meets", "name", "plain", "sibling", "templates"),
    )

    def __init__(
        self, sibling: Prepared, plain: Original, as_branch: int, binder: Binder, *, adds: bool
    ) -> None:
        self.binder = binder
        self.sibling = sibling
        """Prepared for the first instruction of this shape; siblings differ only in
        registers and addresses."""
        self.plain = plain
        """The first instruction in a context without effects from neighbours."""
        self.as_branch = as_branch
        """Equal for branches with equal effects on the instruction that absorbs them;
        0 for other instructions."""
        self.name = sibling.facts.name
        self.fusible = sibling.facts.macro_fusible_with
        """Names of the branches that it absorbs."""
        self.meets = (
            (BRANCH if sibling.is_branch else 0)
            | (HIGH8 if _touches_high8(sibling) else 0)
            | (ADDS if adds else 0)
            | (WIDE if sibling.has_zmm_operand else 0)
            | (meets_of(sibling.instruction) if sibling.has_simd_operand else 0)
        )
        """Sum of the reasons above; 0 for most instructions."""
        self.templates: dict[tuple[object, ...], Original] = {}
        """Templates by the relevant context (``Context``), if there is one."""
        self.effects: Any = None
        """Effects of its siblings on later instructions, on a core that counts macro-ops."""


class Pattern:
    """Instructions with one encoding and one pattern of repeated registers."""

    __slots__ = ("asks", "shapes")

    def __init__(self, asks: Sequence[Callable[[Instruction, Names], object]]) -> None:
        self.asks = asks
        """Further questions that tell their records and shapes apart; usually none."""
        self.shapes: dict[tuple[object, ...], tuple[Shape, Callable[[Names], Names] | None] | None] = {}
        """Answers -> (shape, function from the encoding's register names to the shape's; None if they are
        equal); None without a record."""


class KnownInstruction(Sibling):
    """An instruction with its shape; it serves as a block's entry if no neighbour matters, the usual case."""

    __slots__ = ("_operands", "alone", "shape")

    def __init__(self, instruction: Instruction, shape: Shape, names: Names) -> None:
        Sibling.__init__(self, shape.plain, instruction, names)
        self.shape = shape
        self.alone: Entry | None = None
        """Its entry if no neighbour matters, on a core that counts macro-ops; made on first use."""
        self._operands: tuple[BoundOperand, ...] | None = None

    def operands(self) -> tuple[BoundOperand, ...]:
        """The bound operands of the record."""
        if self._operands is None:
            self._operands = self.shape.binder.bind(self.instruction, self.shape.sibling.facts)
        return self._operands

    def prepared(self) -> Prepared:
        """``Prepared`` with this instruction's own registers and addresses."""
        sibling = self.shape.sibling
        if sibling.instruction is self.instruction:
            return sibling
        return rebind_prepared(sibling, self.instruction, self.operands())


class InContext(Sibling):
    """A known instruction in a context where neighbours matter."""

    __slots__ = ("_known",)

    def __init__(self, original: Original, known: KnownInstruction) -> None:
        super().__init__(original, known.instruction, known.names)
        self._known = known

    def operands(self) -> tuple[BoundOperand, ...]:
        """The bound operands of the record."""
        return self._known.operands()


class CoreCache:
    """Cached instructions and templates for one core, one choice of fusions and one
    model; entries never change."""

    def __init__(self, microarchitecture: Microarchitecture, options: ModelOptions, caches: Caches) -> None:
        self.microarchitecture = microarchitecture
        self.options = options
        self.matcher = Matcher(microarchitecture.facts_name)
        self.binder = Binder()
        self.prepared: Recent[bytes, KnownInstruction] = caches.recent(_MOST_KEPT)
        self.signatures: Recent[Sequence[str | None], tuple[tuple[object, ...], Names]] = caches.recent(
            _MOST_KEPT
        )
        """Registers of an instruction -> ``signature_of``."""
        self.patterns: Recent[tuple[object, ...], Pattern] = caches.recent(_MOST_KEPT)
        self.forms: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        """Instruction form -> (attributes of its records, registers that some of them name)."""
        self.shapes: dict[tuple[object, ...], Shape] = {}
        self.branches: dict[tuple[object, ...], int] = {}
        self.entries: Recent[tuple[KnownInstruction, Hashable], Entry] = caches.recent(_MOST_KEPT)
        """(instruction, relevant context) -> entry."""


class Cores:
    """The caches of all requested cores."""

    def __init__(self, caches: Caches) -> None:
        self._caches = caches
        self._by_core: dict[tuple[object, ...], CoreCache] = {}
        self._last: tuple[Microarchitecture, ModelOptions, CoreCache] | None = None

    def cache(self, microarchitecture: Microarchitecture, options: ModelOptions) -> CoreCache:
        """The cache for a core, a choice of fusions and a model."""
        if (last := self._last) and last[0] is microarchitecture and last[1] is options:
            return last[2]
        fusions = options.micro_fusion, options.macro_fusion, options.simple_front_end
        key = (microarchitecture, *fusions, options.hardware)
        cache = self._by_core.get(key)
        if cache is None:
            cache = self._by_core[key] = CoreCache(microarchitecture, options, self._caches)
        self._last = (microarchitecture, options, cache)
        return cache


def known_of(instruction: Instruction, cache: CoreCache, store: FactsStore) -> KnownInstruction | None:
    """Classifies an instruction that is new to the cache; None if it has no record."""
    registers = instruction.registers
    signature = cache.signatures.get(registers)
    if signature is None:
        signature = cache.signatures[registers] = signature_of(registers)
    repeats, names = signature
    key = (instruction.encoding, repeats)
    pattern = cache.patterns.get(key)
    if pattern is None:
        pattern = cache.patterns[key] = Pattern(_asks(instruction, cache, store))
    answers = tuple([ask(instruction, names) for ask in pattern.asks]) if pattern.asks else ()
    found = pattern.shapes.get(answers)
    if found is None:
        if answers in pattern.shapes:
            return None
        found = pattern.shapes[answers] = _shape(instruction, names, cache, store)
        if found is None:
            return None
    shape, bound = found
    if bound is not None:
        names = bound(names)
    known = cache.prepared[instruction.code] = KnownInstruction(instruction, shape, names)
    return known


def _asks(
    instruction: Instruction, cache: CoreCache, store: FactsStore
) -> list[Callable[[Instruction, Names], object]]:
    """Questions that can tell instructions apart despite equal encodings and register patterns."""
    asks: list[Callable[[Instruction, Names], object]] = []
    form = cache.forms.get(instruction.iform)
    if form is None:
        candidates = cache.matcher.candidates(instruction.iform, store)
        form = cache.forms[instruction.iform] = (
            frozenset([name for facts in candidates for name in facts.attributes]),
            frozenset([name for facts in candidates for name in fixed_registers(facts)]),
        )
    attributes, fixed = form
    if "immzero" in attributes:
        asks.append(lambda each, _: each.immediate == 0)
    if "rm" in attributes:
        asks.append(lambda each, _: each.rm)
    if fixed and instruction.registers:
        asks.append(lambda _, names: tuple([name if name in fixed else None for name in names]))
    if instruction.mnemonic == "pop":
        asks.append(lambda each, _: pops_rsp_or_r12(each))
    microarchitecture = cache.microarchitecture
    if microarchitecture.add_offset_limit and added_constant(instruction) is not None:
        asks.append(lambda each, _: added_at_rename(each, microarchitecture) is not None)
    return asks


def _shape(
    instruction: Instruction, names: Names, cache: CoreCache, store: FactsStore
) -> tuple[Shape, Callable[[Names], Names] | None] | None:
    facts = cache.matcher.find(instruction, store)
    if facts is None:
        return None
    if cache.options.hardware:
        facts = completed(facts, partial(cache.matcher.candidates, store=store))
    operands = cache.binder.bind(instruction, facts)
    tokens, bound = shape_of(instruction, operands, cache.microarchitecture)
    key = (facts.name, tokens)
    shape = cache.shapes.get(key)
    if shape is None:
        options = cache.options
        prepared = prepare(instruction, facts, operands, cache.microarchitecture, hardware=options.hardware)
        if options.hardware:
            prepared = with_target_dependency(prepared, cache.microarchitecture)
            if cache.microarchitecture.transfer_excess:
                prepared = with_shorter_transfers(prepared, cache.microarchitecture.transfer_excess)
            if cache.microarchitecture.passed_branch_units.mask:
                prepared = with_jump_units(prepared, cache.microarchitecture)
        sibling = ablated(prepared, options)
        as_branch = 0
        if sibling.is_branch:
            effect = (sibling.uses, sibling.uop_count)
            as_branch = cache.branches.setdefault(effect, len(cache.branches) + 1)
        adds = cache.microarchitecture.chained_addition_cycles > 0 and is_addition(sibling)
        plain = Original(instruction, facts, partial(template_of, sibling, ALONE, None, cache), bound)
        shape = cache.shapes[key] = Shape(sibling, plain, as_branch, cache.binder, adds=adds)
    return shape, None if bound == names else _in_order(names, bound)


def _in_order(names: Names, bound: Names) -> Callable[[Names], Names]:
    """A function that reorders such names like ``bound``; names of ``bound`` that are
    not among them are fixed."""
    fixed = tuple([name for name in bound if name not in names])
    places = [(names + fixed).index(name) for name in bound]
    if len(places) < 2:
        return lambda each: tuple([(each + fixed)[place] for place in places])
    chosen = itemgetter(*places)
    return lambda each: chosen(each + fixed)


def template_of(
    prepared: Prepared, context: Context, branch: Prepared | None, cache: CoreCache
) -> InstructionTemplate:
    """The template of an instruction in a context; ``branch``: the branch that it absorbs."""
    template = make_template(prepared, context, branch, cache.microarchitecture)
    template = changed_by_upper_halves(template, context[-2], cache.microarchitecture)
    return unfused(template) if cache.options.simple_front_end else template


def meets_of(instruction: Instruction) -> int:
    """Whether an instruction with vector registers may write or keep their upper halves."""
    return WRITES_UPPER if instruction.mnemonic.startswith("v") else KEEPS_UPPER


def _touches_high8(prepared: Prepared) -> bool:
    for operand in (*prepared.register_inputs, *prepared.register_outputs):
        if operand.name in ("AH", "BH", "CH", "DH"):
            return True
    return False
