"""What is known of a core's instructions, and what siblings share: the bytes of an instruction are looked at
once on each core."""

from __future__ import annotations

from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.uops import Entry
from cyclelens.analyzer.recent import Caches, Recent
from cyclelens.analyzer.uops.ablations import ablated
from cyclelens.analyzer.uops.binding import Binder, BoundOperand
from cyclelens.analyzer.uops.chained_adds import is_addition
from cyclelens.analyzer.uops.operands import Prepared, prepare
from cyclelens.analyzer.uops.rebinding import Names, Original, rebind_prepared, shape_of

_MOST_KEPT = 16_384
"""Entries per microarchitecture; the templates that they share are few and stay."""


class Shape:
    """What an instruction shares with its siblings."""

    __slots__ = ("adds", "as_branch", "fusible", "high8", "meets", "sibling", "templates")

    def __init__(self, sibling: Prepared, as_branch: int, *, adds: bool) -> None:
        self.sibling = sibling
        """Prepared for the first instruction of this shape: the same but for registers and addresses."""
        self.as_branch = as_branch
        """Equal for branches that change the instruction that absorbs them alike."""
        self.fusible = sibling.facts.macro_fusible_with
        self.high8 = _touches_high8(sibling)
        self.adds = adds
        """Its latency depends on whether an addition made what it adds (U12)."""
        self.meets = bool(self.fusible) or self.high8 or adds or sibling.is_branch or sibling.has_zmm_operand
        """Whether it and its neighbours may matter to each other."""
        self.templates: dict[tuple[object, ...], tuple[Original, Names]] = {}
        """By all that matters of the neighbours (``Context``), with the names of their registers."""


class Known:
    """An instruction with its operands and its shape."""

    __slots__ = ("instruction", "names", "operands", "plain", "shape")

    def __init__(
        self, instruction: Instruction, operands: tuple[BoundOperand, ...], shape: Shape, names: Names
    ) -> None:
        self.instruction = instruction
        self.operands = operands
        self.shape = shape
        self.names = names
        self.plain: Entry | None = None
        """Its entry where nothing about its neighbours matters, as is most often the case."""

    def prepared(self) -> Prepared:
        """Prepared for this very instruction."""
        sibling = self.shape.sibling
        if sibling.instruction is self.instruction:
            return sibling
        return rebind_prepared(sibling, self.instruction, self.operands)


class Core:
    """Prepared instructions and templates of one microarchitecture and one choice of fusions; entries never
    change."""

    def __init__(self, microarchitecture: Microarchitecture, options: ModelOptions, caches: Caches) -> None:
        self.microarchitecture = microarchitecture
        self.options = options
        self.matcher = Matcher(microarchitecture.facts_name)
        self.binder = Binder()
        self.prepared: Recent[bytes, Known] = caches.recent(_MOST_KEPT)
        self.shapes: dict[tuple[object, ...], Shape] = {}
        self.branches: dict[tuple[object, ...], int] = {}
        self.entries: Recent[tuple[object, ...], Entry] = caches.recent(_MOST_KEPT)


class Cores:
    """What is known of the microarchitectures that were asked for."""

    def __init__(self, caches: Caches) -> None:
        self._caches = caches
        self._by_core: dict[tuple[object, ...], Core] = {}

    def cache(self, microarchitecture: Microarchitecture, options: ModelOptions) -> Core:
        """Of one of them and one choice of fusions."""
        key = (microarchitecture, options.micro_fusion, options.macro_fusion, options.simple_front_end)
        cache = self._by_core.get(key)
        if cache is None:
            cache = self._by_core[key] = Core(microarchitecture, options, self._caches)
        return cache


def known_of(instruction: Instruction, cache: Core, store: FactsStore) -> Known | None:
    """An instruction that is met for the first time."""
    facts = cache.matcher.find(instruction, store)
    if facts is None:
        return None
    operands = cache.binder.bind(instruction, facts)
    tokens, names = shape_of(instruction, operands, cache.microarchitecture)
    key = (facts.name, tokens)
    shape = cache.shapes.get(key)
    if shape is None:
        sibling = ablated(prepare(instruction, facts, operands, cache.microarchitecture), cache.options)
        effect = (sibling.uses, sibling.uop_count)
        as_branch = cache.branches.setdefault(effect, len(cache.branches) + 1)
        adds = cache.microarchitecture.chained_addition_cycles > 0 and is_addition(sibling)
        shape = cache.shapes[key] = Shape(sibling, as_branch, adds=adds)
    known = cache.prepared[instruction.code] = Known(instruction, operands, shape, names)
    return known


def _touches_high8(prepared: Prepared) -> bool:
    for operand in (*prepared.register_inputs, *prepared.register_outputs):
        if operand.name in ("AH", "BH", "CH", "DH"):
            return True
    return False
