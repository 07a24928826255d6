"""One instruction template flattened to integers, once; programs are assembled from these rows.

Operands are rename keys: numbers of canonical registers and flag groups, the same in every program.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from cyclelens.analyzer.model.instruction import Encoding, Instruction
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import (
    Entry,
    InstructionTemplate,
    MemoryAccess,
    UopTemplate,
    ValueKind,
)
from cyclelens.analyzer.simulator.tables.arrays import Column, Long, ints
from cyclelens.analyzer.simulator.tables.column_classes import INSTRUCTIONS, UOPS
from cyclelens.analyzer.simulator.tables.rename_keys import KEYS, NO_KEY
from cyclelens.analyzer.simulator.tables.values import symbol_delta, symbol_rule, value_rule
from cyclelens.analyzer.uops.memory_renaming import access_bytes, takes_over
from cyclelens.analyzer.uops.operands import added_constant
from cyclelens.analyzer.uops.rebinding import Names, Original, Sibling

if TYPE_CHECKING:
    from typing import Any

_NAMELESS = 1 << 16
"""Larger than all keys; marks a class of registers that replaces a key."""

_in_instruction: Callable[[dict[str, int]], tuple[int, ...]] = itemgetter(*INSTRUCTIONS)
_in_uop: Callable[[dict[str, int]], tuple[int, ...]] = itemgetter(*UOPS)
"""Extracts the values of a row in the order in which the columns are declared."""
_LENGTH = INSTRUCTIONS.index("length")
_OPCODE = INSTRUCTIONS.index("opcode")
_LCP = INSTRUCTIONS.index("lcp")
_EXTRA_SLOT = INSTRUCTIONS.index("extra_slot")
_ADDED = INSTRUCTIONS.index("added")
_BASE = UOPS.index("base")
_INDEX = UOPS.index("index")
_SCALE = UOPS.index("scale")
_DISPLACEMENT = UOPS.index("displacement")
_CHASING = UOPS.index("pointer_chasing")
_KEY_FIELDS = ("move_source", "move_target", "symbol_source", "offset_key0", "offset_key1")
_KEY_PLACES = tuple(map(INSTRUCTIONS.index, _KEY_FIELDS))
_DECODED = tuple(
    map(INSTRUCTIONS.index, ("length", "opcode", "lcp", "fusible", "complex", "simple_decoders"))
)
"""Fields that ``Layout.key`` contains where they matter."""

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
_LOAD, _STORE_ADDRESS, _INTERNAL = UopKind.LOAD, UopKind.STORE_ADDRESS, ValueKind.INTERNAL
"""Local names, because Python looks up a member of an enumeration in a slower way."""
_HIGH8 = ("AH", "BH", "CH", "DH")


class FlatOriginal:
    """An instruction with its own template, as integers. ``rows`` has its fields, then the keys of its
    register outputs and merges, the sizes of IDQ uops and fused uops, and a row for every uop, uop operand
    and uop result. The rows of siblings (``FlatInstruction``) differ only in names and numbers."""

    def __init__(self, template: InstructionTemplate, names: Names = ()) -> None:
        """``names``: registers that siblings replace by their own."""
        instruction = template.instruction
        self.template: InstructionTemplate = template
        self.instruction: Instruction = instruction
        self.encoding: Encoding = instruction.encoding
        self._names: bytes = bytes(map(KEYS.register, names))
        self.tp_name: str = template.name if template.tp else ""
        continues, sign = symbol_rule(template, instruction)
        self.symbol_sign: int = sign
        inputs, outputs = template.register_inputs, template.register_outputs
        read, written = [each.canonical for each in inputs], [each.canonical for each in outputs]
        source = KEYS.register(read[0]) if continues else NO_KEY
        eliminable = template.eliminable_move
        self.adds: bool = template.added is not None
        moves = eliminable or self.adds
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
            "extra_slot": instruction.immediate is not None
            and _needs_extra_slot(template, instruction.immediate),
            "jcc": template.jcc_erratum,
            "idq_count": len(template.idq_uops),
            "decoded_count": min(template.mite_uops, len(template.idq_uops)),
            "uop_count": len(template.uops),
            "rsp_change": template.rsp_change,
            "rsp_step": template.rsp_step,
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
            "adds": self.adds,
            "added": template.added or 0,
            "offset_key0": owed[0],
            "offset_key1": owed[1],
            "takes_over": len(template.memory_operands) > 0 and takes_over(template),
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
        self.merges: bool = len(template.merge_uops) > 0
        self.stores: bool = _STORE_ADDRESS in [uop.kind for uop in template.uops]
        self._lay(
            _in_instruction(head),
            [*map(KEYS.register, written)],
            [*map(KEYS.register, template.merge_uops)],
            (template.idq_uops, template.fused_uops),
            template.uops,
            template,
        )

    def _renamed_keys(self, names: Names) -> bytes:
        """Registers and flags, each once, of a sibling with these names."""
        new = [KEYS.register(name) for name in names]
        keys, named = self.keys, self._named
        return bytes([keys[i] if named[i] < 0 else new[named[i]] for i in range(len(keys))])

    def without_names(self, rows: array[int]) -> tuple[bytes, bytes]:
        """The rows of this instruction or a sibling, without addresses, with classes instead of registers
        and flags, and with marks for equal ones. The second value also omits what only predecoder and
        decoders need."""
        slots, classes = bytes(self.slots), KEYS.classes
        for place in range(len(self.key_places)):
            rows[self.key_places[place]] = _NAMELESS + classes[self.keys[self.slots[place]]]
        for place in range(len(self.addresses)):
            rows[self.addresses[place] + _SCALE] = rows[self.addresses[place] + _DISPLACEMENT] = 0
        decoded = rows.tobytes() + slots
        for each in _DECODED:
            rows[each] = 0
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
        addresses: list[int] = []
        loads: list[int] = []
        encoded: list[int] = []
        last = len(uops) - 1
        for position, uop in enumerate(uops):
            row = len(rows)
            rows += self._uop_row(uop, template, position == 0, position == last)
            places += (row + _BASE, row + _INDEX)
            if template is not None and uop.memory_operand >= 0:
                access = template.memory_operands[uop.memory_operand]
                addresses.append(row)
                loads.append(uop.kind is _LOAD)
                encoded.append(_is_encoded(template, access))
        for value in [value for uop in uops for value in uop.inputs]:
            internal = value[0] is _INTERNAL
            if not internal:
                places.append(len(rows) + 1)
            rows += (internal, int(value[1]) if internal else KEYS.number(value))
        for value, latency in [result for uop in uops for result in uop.outputs]:
            internal = value[0] is _INTERNAL
            if not internal:
                places.append(len(rows) + 1)
            rows += (internal, int(value[1]) if internal else KEYS.number(value), latency)
        self.rows: Column = self._put(rows, ints(len(rows)))
        key_places = [place for place in places if rows[place] != NO_KEY]
        self.key_places: Column = self._put(key_places, ints(len(key_places)))
        """Indices of registers and flags in the rows, except the merges, which siblings share."""
        found = [rows[place] for place in key_places]
        self.keys: bytes = bytes(dict.fromkeys(found))
        """Registers and flags, each once."""
        slots = [self.keys.index(key) for key in found]
        self.slots: Column = self._put(slots, ints(len(slots)))
        """Number of the register or flag at each of these indices."""
        named = [self._names.find(key) for key in self.keys]
        self._named: Column = self._put(named, ints(len(named)))
        """Index of the name that siblings replace; -1 for none."""
        self.addresses: Column = self._put(addresses, ints(len(addresses)))
        """For every uop with a known address: where its row begins, ..."""
        self.loads: Column = self._put(loads, ints(len(loads)))
        """... whether it loads, ..."""
        self.encoded: Column = self._put(encoded, ints(len(encoded)))
        """... and whether the instruction encodes scale and displacement."""
        self.chases = False
        """Whether the address of a load decides if it may chase a pointer."""
        for place in range(len(addresses)):
            if loads[place] and encoded[place] and rows[addresses[place] + _BASE] >= 0:
                self.chases = True

    def _put(self, numbers: list[int], column: Column) -> Column:
        """Store the numbers in a new column. (Creating an array from them takes five times as long.)"""
        for place in range(len(numbers)):
            column[place] = numbers[place]
        return column

    def _uop_row(
        self, uop: UopTemplate, template: InstructionTemplate | None, first: bool, last: bool
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
            chasing = uop.kind is _LOAD and _may_chase(base, displacement)
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


class FlatUop(FlatOriginal):
    """A uop outside any instruction: stack synchronisation or register merge. Only the fields that give the
    sizes of the rest are set."""

    def __init__(self, uop: UopTemplate) -> None:
        self._names = b""
        counts = {
            "idq_count": 1,
            "uop_count": 1,
            "fused_count": 1,
            "operands_count": len(uop.inputs),
            "results_count": len(uop.outputs),
        }
        head = [counts.get(name, NO_KEY if name in _KEY_FIELDS else 0) for name in INSTRUCTIONS]
        self._lay(head, (), (), ((1,), (1,)), (uop,), None)


class FlatInstruction:
    """An instruction of a block as integers: the part shared with its siblings, and its own part."""

    def __init__(self, original: FlatOriginal, instruction: Instruction, names: Names) -> None:
        """``names``: the registers that replace those that ``original`` was made with."""
        self.like: FlatOriginal = original
        like = self.like
        self.instruction: Instruction = instruction
        self.macro_row: Any = None
        """The values that cores that count macro-ops need (``Operations``)."""
        self.maker: Any = None
        self.kinds: bytes = b""
        """The part of it that alike blocks share, and the ``Alike`` that computed it."""
        self.keys: bytes = like._renamed_keys(names) if names else like.keys
        self.symbol_delta: Long = symbol_delta(like.symbol_sign, instruction) if like.symbol_sign else 0
        self.encoding: Encoding = instruction.encoding
        self._differs: bool = instruction is not like.instruction
        """Whether it is another instruction than that of ``like``."""
        immediate = instruction.immediate
        self._extra_slot: bool = immediate is not None and _needs_extra_slot(like.template, immediate)
        self._added: int = added_constant(instruction) or 0 if like.adds else 0
        self._scale: int = instruction.scale
        self._displacement: int = _in_32_bits(instruction.displacement)
        numbers = [self.symbol_delta]
        for place in range(len(like.addresses)):
            if like.encoded[place]:
                numbers += (self._scale, self._displacement)
            else:
                row = like.addresses[place]
                numbers += (like.rows[row + _SCALE], like.rows[row + _DISPLACEMENT])
        self.numbers: tuple[int, ...] = tuple(numbers)
        """The constant by which its result differs from the value that it continues, and its addresses."""

    def size(self) -> int:
        """Number of integers in its rows."""
        return len(self.like.rows)

    def lay(self, rows: Column, start: int) -> None:
        """Write its rows at ``start``."""
        like = self.like
        for place in range(len(like.rows)):
            rows[start + place] = like.rows[place]
        if self._differs:
            self._lay_own(rows, start)

    def _lay_own(self, rows: Column, start: int) -> None:
        """Overwrite the names and numbers of ``like`` by its own."""
        like = self.like
        if self.encoding is not like.encoding:
            rows[start + _LENGTH] = len(self.instruction.code)
            rows[start + _OPCODE] = self.encoding.opcode_offset
            rows[start + _LCP] = self.instruction.has_length_changing_prefix
        rows[start + _EXTRA_SLOT] = self._extra_slot
        if like.adds:
            rows[start + _ADDED] = self._added
        for place in range(len(like.key_places)):
            rows[start + like.key_places[place]] = self.keys[like.slots[place]]
        for place in range(len(like.addresses)):
            row = start + like.addresses[place]
            if like.encoded[place]:
                rows[row + _SCALE] = self._scale
                rows[row + _DISPLACEMENT] = self._displacement
            rows[row + _CHASING] = like.loads[place] != 0 and _may_chase(
                rows[row + _BASE], rows[row + _DISPLACEMENT]
            )

    def rows(self) -> array[int]:
        """Its rows as a new array."""
        rows = array("i", [0]) * self.size()
        self.lay(rows, 0)  # type: ignore[arg-type]
        return rows

    def kind(self) -> tuple[object, ...]:
        """Everything in which siblings' rows differ, except names and addresses."""
        like = self.like
        chases = like.chases and 0 <= self._displacement <= _MAX_POINTER_CHASING_DISPLACEMENT
        return (like, self.encoding, chases, self._extra_slot, self._added)

    def value(self) -> tuple[int, int, int, int, int]:
        """Composition of the only register result: kind, keys of base and index, scale and constant."""
        rule = value_rule(self.like.template, self.instruction)
        return rule.kind, KEYS.register(rule.base), KEYS.register(rule.index), rule.scale, rule.delta


def flatten(entry: Entry) -> FlatInstruction:
    """The rows of an instruction of a block. Entries of built blocks keep theirs; those of a template that
    was changed are created anew."""
    flat: FlatInstruction | None = getattr(entry, "flat", None)
    if flat is not None:
        return flat
    if isinstance(entry, Sibling):
        original = entry.original
        names = () if entry.names == original.names else entry.names
        like: FlatInstruction = original.flat or flatten(original)
        flat = entry.flat = FlatInstruction(like.like, entry.instruction, names)
        return flat
    if isinstance(entry, Original):
        made = FlatOriginal(entry.template(), entry.names)
        flat = entry.flat = FlatInstruction(made, entry.instruction, ())
        return flat
    return FlatInstruction(FlatOriginal(entry.template()), entry.instruction, ())


def _is_encoded(template: InstructionTemplate, access: MemoryAccess) -> bool:
    """Whether the instruction encodes the whole address; the stack's address is not encoded."""
    operands = template.facts.operands if template.facts is not None else ()
    return access.scale is not None and any(o.name == access.name and not o.suppressed for o in operands)


def _may_chase(base: int, displacement: int) -> bool:
    """Whether the address of a load may be a loaded pointer (uiCA model, 3.11.3)."""
    return base >= 0 and 0 <= displacement <= _MAX_POINTER_CHASING_DISPLACEMENT


def _in_32_bits(displacement: Long) -> int:
    """The displacement itself. The 64-bit address of a MOV is hashed, because only equality matters."""
    if -(1 << 31) <= displacement < 1 << 31:
        return displacement
    return (displacement ^ displacement >> 32) & 0x7FFFFFFF


def _needs_extra_slot(template: InstructionTemplate, immediate: int) -> bool:
    """Whether the immediate takes a second DSB slot (K1)."""
    if template.facts is None:
        return False
    return not -(1 << 31) <= immediate < 1 << 31 or (
        not -(1 << 15) <= immediate < 1 << 15 and bool(template.address_inputs)
    )
