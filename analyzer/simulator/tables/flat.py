"""One instruction template flattened to integers, once; programs are put together from these rows.

Operands are rename keys: numbers of canonical registers and flag groups, the same in every program.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import (
    Entry,
    InstructionTemplate,
    MemoryAccess,
    UopTemplate,
    ValueKind,
)
from cyclelens.analyzer.simulator.tables.column_classes import INSTRUCTIONS, UOPS
from cyclelens.analyzer.simulator.tables.rename_keys import KEYS, NO_KEY
from cyclelens.analyzer.simulator.tables.values import symbol_delta, symbol_rule, value_rule
from cyclelens.analyzer.uops.memory_renaming import access_bytes, takes_over
from cyclelens.analyzer.uops.operands import added_constant
from cyclelens.analyzer.uops.rebinding import Names, Original, Sibling

_NAMELESS = 1 << 16
"""Above all keys: a class of registers in the place of one of them."""

_HEAD = {name: position for position, name in enumerate(INSTRUCTIONS)}
_ROW = {name: position for position, name in enumerate(UOPS)}
_in_instruction: Callable[[dict[str, int]], tuple[int, ...]] = itemgetter(*INSTRUCTIONS)
_in_uop: Callable[[dict[str, int]], tuple[int, ...]] = itemgetter(*UOPS)
"""The values of a row, in the order in which the columns are declared."""
_LENGTH, _OPCODE, _LCP, _EXTRA_SLOT = (_HEAD[name] for name in ("length", "opcode", "lcp", "extra_slot"))
_KEY_FIELDS = ("move_source", "move_target", "symbol_source", "offset_key0", "offset_key1")
_ADDS, _ADDED = _HEAD["adds"], _HEAD["added"]
_KEY_PLACES = tuple(_HEAD[name] for name in _KEY_FIELDS)
_DECODED = tuple(
    [_HEAD[name] for name in ("length", "opcode", "lcp", "fusible", "complex", "simple_decoders")]
)
"""What ``Layout.key`` has where it counts."""
_BASE, _INDEX, _SCALE, _DISPLACEMENT, _CHASING = (
    _ROW[name] for name in ("base", "index", "scale", "displacement", "pointer_chasing")
)

_POINTER_LOADS = frozenset(
    {
        "MOV (R64, M64)",
        "MOV (RAX, M64)",
        "MOV (R32, M32)",
        "MOV (EAX, M32)",
        "MOVSXD (R64, M32)",
        "POP (R64)",
    }
)
_MAX_POINTER_CHASING_DISPLACEMENT = 2047
_MOST_NAMES = 64
"""Of siblings, whose keys an instruction keeps."""
_HIGH8 = ("AH", "BH", "CH", "DH")


class FlatInstruction:
    """An instruction as integers: ``rows`` are its fields, then the keys of its register outputs and merges,
    the sizes of IDQ uops and fused uops, and a row for every uop, uop operand and uop result."""

    __slots__ = ("instruction", "macro_row", "rows", "symbol_delta", "template", "tp_name")

    def __init__(
        self,
        template: InstructionTemplate,
        instruction: Instruction,
        rows: array[int],
        tp_name: str,
        symbol_delta: int,
    ) -> None:
        """``template``: its own or, but for names and numbers, a sibling's."""
        self.template = template
        self.instruction = instruction
        self.rows = rows
        self.tp_name = tp_name
        self.symbol_delta = symbol_delta
        self.macro_row: Any = None
        """What cores that count macro-ops ask of it (``Operations``)."""

    def value(self) -> tuple[int, int, int, int, int]:
        """What the only register result is made of: kind, keys of base and index, scale and constant."""
        rule = value_rule(self.template, self.instruction)
        return rule.kind, KEYS.register(rule.base), KEYS.register(rule.index), rule.scale, rule.delta


class FlatOriginal(FlatInstruction):
    """One that has a template of its own."""

    __slots__ = (
        *("_chases", "_names", "_renamed", "addresses", "key_places", "keys", "merges", "slots", "stores"),
        "symbol_sign",
    )

    def __init__(self, template: InstructionTemplate, names: Names = ()) -> None:
        """``names``: registers in whose place siblings have theirs."""
        instruction = template.instruction
        self.template, self.instruction = template, instruction
        self._names = bytes(map(KEYS.register, names))
        self._renamed: dict[Names, bytes] = {}
        self.tp_name = template.name if template.tp else ""
        continues, self.symbol_sign = symbol_rule(template, instruction)
        self.symbol_delta = symbol_delta(self.symbol_sign, instruction)
        inputs, outputs = template.register_inputs, template.register_outputs
        read, written = [each.canonical for each in inputs], [each.canonical for each in outputs]
        source = KEYS.register(read[0]) if continues else NO_KEY
        eliminable = template.eliminable_move
        adds = template.added is not None
        moves = eliminable or adds
        owed = (*map(KEYS.register, template.offset_registers), NO_KEY, NO_KEY)
        results = [latency for uop in template.uops for _, latency in uop.outputs]
        head = {
            "length": instruction.length,
            "opcode": instruction.opcode_offset,
            "lcp": template.length_changing_prefix,
            "branch": template.is_branch,
            "jump": template.is_jump,
            "second": template.fused_with_previous,
            "first": template.fused_with_next,
            "fusible": template.macro_fusible,
            "complex": template.complex_decoder,
            "simple_decoders": template.available_simple_decoders,
            "mite_uops": template.mite_uops,
            "ms_uops": template.ms_uops,
            "extra_slot": _needs_extra_slot(template, instruction),
            "jcc": template.jcc_erratum,
            "idq_count": len(template.idq_uops),
            "decoded_count": min(template.mite_uops, len(template.idq_uops)),
            "uop_count": len(template.uops),
            "rsp_change": template.rsp_change,
            "rsp_explicit": template.reads_stack_offset
            and (
                "RSP" in read
                or any(r.canonical == "RSP" and not r.implicit_stack for r in template.address_inputs)
            ),
            "rsp_written": "RSP" in written,
            "high8_written": any(r.name in _HIGH8 for r in outputs),
            "no_uops": template.uop_count == 0,
            "eliminable": eliminable,
            "move_source": KEYS.register(read[0]) if moves and inputs else NO_KEY,
            "move_target": KEYS.register(written[0]) if moves else NO_KEY,
            "move_32": eliminable and outputs[0].width == 32,
            "adds": adds,
            "added": template.added or 0,
            "offset_key0": owed[0],
            "offset_key1": owed[1],
            "takes_over": takes_over(template),
            "joins": template.joins_next,
            "serializing": template.serializing,
            "load_fence": template.load_serializing,
            "store_fence": template.store_serializing,
            "tp": template.tp or 0,
            "symbol_source": source,
            "pointer_load": template.name in _POINTER_LOADS,
            "wait": max(template.tp or 0, *results, 0)
            + max([uop.divider_cycles for uop in template.uops], default=0),
            "outputs_count": len(outputs),
            "merge_count": len(template.merge_uops),
            "fused_count": len(template.fused_uops),
            "operands_count": sum([len(uop.inputs) for uop in template.uops]),
            "results_count": len(results),
        }
        self.merges = bool(template.merge_uops)
        self.stores = any(uop.kind is UopKind.STORE_ADDRESS for uop in template.uops)
        self.macro_row = None
        self._lay(
            _in_instruction(head),
            [*map(KEYS.register, written)],
            [*map(KEYS.register, template.merge_uops)],
            (template.idq_uops, template.fused_uops),
            template.uops,
            template,
        )

    def numbers(self, instruction: Instruction) -> tuple[int, ...]:
        """Of itself or a sibling: by how much a result differs from what it continues, and its addresses."""
        numbers = [symbol_delta(self.symbol_sign, instruction)]
        for row, _, is_encoded in self.addresses:
            if is_encoded:
                numbers += (instruction.scale, _in_32_bits(instruction.displacement))
            else:
                numbers += self.rows[row + _SCALE : row + _DISPLACEMENT + 1]
        return tuple(numbers)

    def renamed(self, names: Names) -> bytes:
        """Registers and flags, each once, of a sibling with these names."""
        keys = self._renamed.get(names)
        if keys is None:
            if len(self._renamed) >= _MOST_NAMES:
                self._renamed.clear()
            new = bytes.maketrans(self._names, bytes(map(KEYS.register, names)))
            keys = self._renamed[names] = self.keys.translate(new)
        return keys

    def own(self, instruction: Instruction) -> tuple[object, ...]:
        """All in which the rows of siblings differ, but for names and addresses."""
        encoding = instruction.encoding
        return (
            self,
            encoding,
            self._chases and 0 <= _in_32_bits(instruction.displacement) <= _MAX_POINTER_CHASING_DISPLACEMENT,
            encoding.immediate_bits and _needs_extra_slot(self.template, instruction),
            self.rows[_ADDS] and added_constant(instruction),
        )

    def without_names(self, rows: array[int]) -> tuple[bytes, bytes]:
        """Rows of itself or a sibling with classes in the place of registers and flags, and which of these
        are the same, without addresses; and the same without what only predecoder and decoders need."""
        rows, slots = rows[:], bytes(self.slots)
        for place, slot in zip(self.key_places, self.slots, strict=True):
            rows[place] = _NAMELESS + KEYS.classes[self.keys[slot]]
        for row, _, _ in self.addresses:
            rows[row + _SCALE] = rows[row + _DISPLACEMENT] = 0
        decoded = rows.tobytes() + slots
        for place in _DECODED:
            rows[place] = 0
        return decoded, rows.tobytes() + slots

    def _lay(
        self,
        head: Sequence[int],
        outputs: Sequence[int],
        merges: Sequence[int],
        sizes: tuple[Sequence[int], Sequence[int]],
        uops: Sequence[UopTemplate],
        template: InstructionTemplate | None,
    ) -> None:
        rows = [*head, *outputs, *merges, *sizes[0], *sizes[1]]
        outputs0 = len(head)
        places = [*_KEY_PLACES, *range(outputs0, outputs0 + len(outputs))]
        addresses = []
        last = len(uops) - 1
        for position, uop in enumerate(uops):
            row = len(rows)
            rows += _uop_row(uop, template, first=position == 0, last=position == last)
            places += (row + _BASE, row + _INDEX)
            if template is not None and uop.memory_operand >= 0:
                access = template.memory_operands[uop.memory_operand]
                addresses.append((row, uop.kind is UopKind.LOAD, _is_encoded(template, access)))
        for value in [value for uop in uops for value in uop.inputs]:
            internal = value[0] is ValueKind.INTERNAL
            if not internal:
                places.append(len(rows) + 1)
            rows += (internal, int(value[1]) if internal else KEYS.number(value))
        for value, latency in [result for uop in uops for result in uop.outputs]:
            internal = value[0] is ValueKind.INTERNAL
            if not internal:
                places.append(len(rows) + 1)
            rows += (internal, int(value[1]) if internal else KEYS.number(value), latency)
        self.rows = array("i", rows)
        self.key_places = tuple([place for place in places if rows[place] != NO_KEY])
        """Where registers and flags stand in the rows, but for the merges, which siblings share."""
        found = [rows[place] for place in self.key_places]
        self.keys = bytes(dict.fromkeys(found))
        """Registers and flags, each once."""
        self.slots = tuple(map(self.keys.index, found))
        """Which of them stands in each of these places."""
        self.addresses = tuple(addresses)
        """Of every uop with a known address: where its row begins, whether it loads, and whether scale and
        displacement stand in the instruction."""
        self._chases = any(
            loads and is_encoded and rows[row + _BASE] >= 0 for row, loads, is_encoded in addresses
        )
        """The address of a load decides whether it may be a pointer."""


class FlatUop(FlatOriginal):
    """A uop that stands alone: stack synchronisation or register merge. Of its fields only those are set that
    say how the rest is cut."""

    __slots__ = ()

    def __init__(self, uop: UopTemplate) -> None:
        counts = {
            "idq_count": 1,
            "uop_count": 1,
            "fused_count": 1,
            "operands_count": len(uop.inputs),
            "results_count": len(uop.outputs),
        }
        head = [counts.get(name, NO_KEY if name in _KEY_FIELDS else 0) for name in INSTRUCTIONS]
        self._lay(head, (), (), ((1,), (1,)), (uop,), None)


def _uop_row(
    uop: UopTemplate, template: InstructionTemplate | None, *, first: bool, last: bool
) -> tuple[int, ...]:
    base = index = scale = NO_KEY
    displacement = 0
    has_address = template is not None and uop.memory_operand >= 0
    chasing = False
    size = stack_offset = 0
    if template is not None and has_address:
        access = template.memory_operands[uop.memory_operand]
        base, index = KEYS.register(access.base), KEYS.register(access.index)
        scale = NO_KEY if access.scale is None else access.scale
        displacement = _in_32_bits(access.displacement or 0)
        size = access_bytes(template, access)
        if access.implicit_stack and access.written:
            stack_offset = min(0, template.rsp_change)
        chasing = uop.kind is UopKind.LOAD and _may_chase(base, displacement)
    row = {
        "kind": int(uop.kind),
        "port_mask": uop.units.mask,
        "divider": uop.divider_cycles,
        "first": first,
        "last": last,
        "in_count": len(uop.inputs),
        "out_count": len(uop.outputs),
        "has_address": has_address,
        "base": base,
        "index": index,
        "scale": scale,
        "displacement": displacement,
        "pointer_chasing": chasing,
        "wide": template is not None and "M256" in template.name,
        "bytes": size,
        "stack_offset": stack_offset,
    }
    return _in_uop(row)


def flatten(entry: Entry) -> FlatInstruction:
    """The rows of an instruction of a block. Entries of blocks that were built keep theirs; those of a
    template that somebody changed are made anew."""
    if not isinstance(entry, Sibling):
        return flat_original(entry)
    flat: FlatInstruction | None = entry.flat
    if flat is None:
        like = flat_original(entry.original)
        own = entry.instruction is entry.original.instruction
        flat = entry.flat = like if own else _renamed(like, entry)
    return flat


def flat_original(entry: Entry) -> FlatOriginal:
    """The rows of an instruction that has a template of its own."""
    if not isinstance(entry, Original):
        return FlatOriginal(entry.template())
    flat: FlatOriginal | None = entry.flat
    if flat is None:
        flat = entry.flat = FlatOriginal(entry.template(), entry.names)
    return flat


def _renamed(flat: FlatOriginal, sibling: Sibling) -> FlatInstruction:
    """The rows of a sibling: registers renamed, its own length, addresses and constants."""
    template, instruction = flat.template, sibling.instruction
    rows = flat.rows[:]
    encoding = instruction.encoding
    if encoding is not flat.instruction.encoding:
        rows[_LENGTH] = len(instruction.code)
        rows[_OPCODE] = encoding.opcode_offset
        rows[_LCP] = encoding.has_66_prefix and encoding.immediate_bits == 16
    if encoding.immediate_bits:
        rows[_EXTRA_SLOT] = _needs_extra_slot(template, instruction)
    if rows[_ADDS]:
        rows[_ADDED] = added_constant(instruction) or 0
    if sibling.names != sibling.original.names:
        keys = flat.renamed(sibling.names)
        for place, slot in zip(flat.key_places, flat.slots, strict=True):
            rows[place] = keys[slot]
    for row, loads, is_encoded in flat.addresses:
        if is_encoded:
            rows[row + _SCALE] = instruction.scale
            rows[row + _DISPLACEMENT] = _in_32_bits(instruction.displacement)
        rows[row + _CHASING] = loads and _may_chase(rows[row + _BASE], rows[row + _DISPLACEMENT])
    return FlatInstruction(
        template, instruction, rows, flat.tp_name, symbol_delta(flat.symbol_sign, instruction)
    )


def _is_encoded(template: InstructionTemplate, access: MemoryAccess) -> bool:
    """Whether the whole address stands in the instruction; that of the stack does not."""
    operands = template.facts.operands if template.facts is not None else ()
    return access.scale is not None and any(o.name == access.name and not o.suppressed for o in operands)


def _may_chase(base: int, displacement: int) -> bool:
    """A load whose address may be a loaded pointer (uiCA model, 3.11.3)."""
    return base >= 0 and 0 <= displacement <= _MAX_POINTER_CHASING_DISPLACEMENT


def _in_32_bits(displacement: int) -> int:
    """The displacement itself; the 64-bit address of a MOV folded, as all that counts of it is which others
    are the same."""
    if -(1 << 31) <= displacement < 1 << 31:
        return displacement
    return (displacement ^ displacement >> 32) & 0x7FFFFFFF


def _needs_extra_slot(template: InstructionTemplate, instruction: Instruction) -> bool:
    """Immediates that take a second DSB slot (K1)."""
    immediate = instruction.immediate
    if immediate is None or template.facts is None:
        return False
    return not -(1 << 31) <= immediate < 1 << 31 or (
        not -(1 << 15) <= immediate < 1 << 15 and bool(template.address_inputs)
    )
